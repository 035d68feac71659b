//! The tests of the Paillier crate, in one program: each of their files would link everything again.

mod appendix;
mod bench_report;
mod common;
mod foreign_input;
mod key_files;
mod known_answers;
mod packing;
mod randomness;
