//! Every reader: the first byte chooses the format, the second the user's wishes, the rest is the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::targets;

fuzz_target!(|data: &[u8]| targets::readers(data));
