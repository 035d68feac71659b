//! The few requests to valgrind that are needed, as its header defines them for x86-64.

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the requests to valgrind are written for x86-64");

use core::arch::asm;

const RUNNING_ON_VALGRIND: usize = 0x1001;
/// `'M' << 24 | 'C' << 16`, the number of memcheck's first request.
const MEMCHECK: usize = 0x4d43_0000;
const MAKE_UNDEFINED: usize = MEMCHECK + 1;
const MAKE_DEFINED: usize = MEMCHECK + 2;

/// Whether this program runs under valgrind.
pub fn is_running() -> bool {
    request(RUNNING_ON_VALGRIND, 0, 0) != 0
}

/// Marks memory as secret: valgrind treats it, and everything computed from it, as uninitialised.
pub fn mark_secret<T>(memory: &[T]) {
    request(
        MAKE_UNDEFINED,
        memory.as_ptr() as usize,
        size_of_val(memory),
    );
}

/// Marks memory as public: its contents may decide branches and addresses.
pub fn mark_public<T>(memory: &[T]) {
    request(MAKE_DEFINED, memory.as_ptr() as usize, size_of_val(memory));
}

fn request(number: usize, address: usize, bytes: usize) -> usize {
    let arguments = [number, address, bytes, 0, 0, 0];
    let mut result = 0usize;
    // SAFETY: without valgrind, the four rotations add up to 128 bits and change nothing, and the exchange swaps a register
    // with itself. Under valgrind the sequence is a request, which reads the six words that `rax` points to and changes only
    // valgrind's own state about memory.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") result,
            options(nostack)
        );
    }
    result
}
