//! Result files: whatever is read makes a page, a drawing and a picture.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::targets;

fuzz_target!(|data: &[u8]| targets::result_files(data));
