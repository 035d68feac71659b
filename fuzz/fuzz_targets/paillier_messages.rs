//! Runs [`targets::paillier_messages`].

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_fuzz::targets;

// All work stays on the fuzzer's thread: dispatching short tasks would take longer than the tasks.
fuzz_target!(init: {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1);
    let _ = one.use_current_thread().build_global();
}, |data: &[u8]| targets::paillier_messages(data));
