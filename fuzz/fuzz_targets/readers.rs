//! Every reader: the first byte chooses the format, the second the user's wishes, the rest is the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_encode::Input;
use veilpath_encode::readers::FORMATS;
use veilpath_fuzz::{Checker, options};

fuzz_target!(|data: &[u8]| {
    let [format, wishes, file @ ..] = data else {
        return;
    };
    let Some(format) = FORMATS.get(usize::from(*format) % FORMATS.len().max(1)) else {
        return;
    };
    let Ok(input) = Input::from_bytes("sub-1_task-a_eyetrack.tsv", file.to_vec()) else {
        return;
    };
    let read = format.read(input, &options(*wishes), &mut Checker::default());
    if let Err(error) = read {
        assert!(!error.problem.is_empty());
    }
});
