//! Runs [`measures::measures`].

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::measures;

fuzz_target!(|data: &[u8]| measures::measures(data));
