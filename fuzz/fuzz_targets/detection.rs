//! Opening, recognising and explaining; the first byte chooses the file's name.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_encode::{Input, detect, explain_unknown};

const NAMES: [&str; 8] = [
    "a.csv",
    "a.txt",
    "a.json",
    "a.edf",
    "a.mat",
    "sub-1_physio.tsv.gz",
    "sub-1_events.tsv",
    "README",
];

fuzz_target!(|data: &[u8]| {
    let [name, file @ ..] = data else { return };
    let name = NAMES[usize::from(*name) % NAMES.len()];
    let Ok(input) = Input::from_bytes(name, file.to_vec()) else {
        return;
    };
    let head = input.head();
    if detect(&head).is_none() {
        let refusal = explain_unknown(&head);
        assert!(!refusal.problem.is_empty() && !refusal.remedy.is_empty());
    }
});
