//! Runs [`targets::relay_messages`].

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::targets;

fuzz_target!(|data: &[u8]| targets::relay_messages(data));
