//! How glibc gives memory to threads.
#![allow(unsafe_code)] // one function without a safe wrapper

use std::ffi::c_int;

/// `M_ARENA_MAX` in glibc's `malloc.h`.
const MOST_ARENAS: c_int = -8;

/// Lets all threads take memory from one place. By default there are eight for each core, and what a thread frees in one is used
/// by no other: every session would have its own thread's, and a host with several peers would grow with each.
pub(crate) fn share_freed_memory() {
    // SAFETY: glibc declares the function like this. Any two numbers may be passed at any time; it returns 0 if it refuses them.
    unsafe extern "C" {
        safe fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }
    mallopt(MOST_ARENAS, 1);
}
