//! What the two roles of the engine `plain` receive.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::scripts;

fuzz_target!(|data: &[u8]| {
    let _ = scripts::plain(data);
});
