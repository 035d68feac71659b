//! Runs [`targets::cohort_files`].

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::targets;

fuzz_target!(|data: &[u8]| targets::cohort_files(data));
