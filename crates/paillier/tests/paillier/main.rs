//! All integration tests of the Paillier crate in one binary, so that everything is linked once.

mod appendix;
mod bench_report;
mod common;
mod foreign_input;
mod key_files;
mod known_answers;
mod packing;
mod randomness;
