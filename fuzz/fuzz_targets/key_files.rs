//! Paillier key files; one that is accepted must come back from its own text. The first byte chooses public or secret.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::targets;

fuzz_target!(|data: &[u8]| targets::key_files(data));
