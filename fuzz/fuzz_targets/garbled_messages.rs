//! What the two roles of the engine `garbled` receive. No script may bring a side into contradiction with itself.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::scripts;
use veilpath_protocol::ProtocolError;

fuzz_target!(|data: &[u8]| {
    if let Some(Err(error)) = scripts::garbled(data) {
        assert!(!matches!(error, ProtocolError::Internal(_)), "{error}");
    }
});
