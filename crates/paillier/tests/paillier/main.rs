//! All integration tests of the Paillier crate in one binary, so that everything is linked once.

mod bench_report;
mod common;
mod key_files;
mod known_answers;
mod packing;
mod properties;
mod randomness;
mod untrusted_input;
