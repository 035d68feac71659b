//! Cohort files; the first byte chooses whether and which alphabet the caller gives.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_encode::{Input, cohort_file};
use veilpath_metrics::Alphabet;

fuzz_target!(|data: &[u8]| {
    let [letters, file @ ..] = data else { return };
    let alphabet = match letters {
        0..=127 => None,
        letters => Alphabet::letters(u32::from(letters % 52) + 1).ok(),
    };
    if let Ok(input) = Input::from_bytes("a.csv", file.to_vec()) {
        let _ = cohort_file::read(input, alphabet);
    }
});
