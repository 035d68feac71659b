//! The `veilpath` command.
fn main() {}
