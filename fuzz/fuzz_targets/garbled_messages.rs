//! What the two roles of the engine `garbled` receive. No script may bring a side into contradiction with itself.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::targets;

fuzz_target!(|data: &[u8]| targets::garbled_messages(data));
