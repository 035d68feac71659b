//! Runs [`targets::paillier_messages`].

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::targets;

// All work on the fuzzer's own thread: short pieces would spend their time on the way to other threads.
fuzz_target!(init: {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1);
    let _ = one.use_current_thread().build_global();
}, |data: &[u8]| targets::paillier_messages(data));
