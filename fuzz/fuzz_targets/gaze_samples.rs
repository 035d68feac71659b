//! Runs [`targets::gaze_samples`].

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::targets;

fuzz_target!(|data: &[u8]| targets::gaze_samples(data));
