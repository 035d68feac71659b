//! Everything that the other side of a session can send, and the records of a journal; the first byte chooses the decoder.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_session::fuzzing::decode;

fuzz_target!(|data: &[u8]| {
    let [decoder, message @ ..] = data else { return };
    let accepted = decode(*decoder, message);
    // A second look must not change the verdict.
    assert_eq!(accepted, decode(*decoder, message));
});
