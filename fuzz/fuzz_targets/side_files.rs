//! What users give beside recordings: areas of interest, a picture for the report, thresholds, grids and alphabets. The first
//! byte chooses.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::targets;

fuzz_target!(|data: &[u8]| targets::side_files(data));
