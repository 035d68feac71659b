//! Everything that the other side of a session can send, and the records of a journal; the first byte chooses the decoder.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::targets;

fuzz_target!(|data: &[u8]| targets::session_messages(data));
