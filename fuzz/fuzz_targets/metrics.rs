//! Runs [`metrics::metrics`].

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::metrics;

fuzz_target!(|data: &[u8]| metrics::metrics(data));
