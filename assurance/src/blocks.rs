//! Finds the memory of a secret key without knowing its fields: all heap blocks that its creation leaves behind.
//!
//! So fields that are added later are marked, too.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

const MAX_BLOCKS: usize = 4096;

static RECORDING: AtomicBool = AtomicBool::new(false);
static ADDRESSES: [AtomicUsize; MAX_BLOCKS] = [const { AtomicUsize::new(0) }; MAX_BLOCKS];
static LENGTHS: [AtomicUsize; MAX_BLOCKS] = [const { AtomicUsize::new(0) }; MAX_BLOCKS];

/// The system's allocator, which records blocks while recording is on.
pub struct Recorder;

// SAFETY: every call is passed unchanged to the system's allocator; the records are atomics.
unsafe impl GlobalAlloc for Recorder {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract, which is the same.
        let block = unsafe { System.alloc(layout) };
        if RECORDING.load(SeqCst) {
            let free = ADDRESSES.iter().zip(&LENGTHS).find(|(address, _)| {
                address
                    .compare_exchange(0, block as usize, SeqCst, SeqCst)
                    .is_ok()
            });
            match free {
                Some((_, length)) => length.store(layout.size(), SeqCst),
                // A block that was not recorded might contain a secret that is not marked.
                None => std::process::abort(),
            }
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if RECORDING.load(SeqCst) {
            for address in &ADDRESSES {
                let _ = address.compare_exchange(block as usize, 0, SeqCst, SeqCst);
            }
        }
        // SAFETY: the caller keeps to the contract, which is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The blocks that `make` leaves behind, and its result. No other thread may run.
fn blocks_of<T>(make: impl FnOnce() -> T) -> (T, Vec<&'static [u64]>) {
    for address in &ADDRESSES {
        address.store(0, SeqCst);
    }
    RECORDING.store(true, SeqCst);
    let made = make();
    RECORDING.store(false, SeqCst);
    let blocks = ADDRESSES
        .iter()
        .zip(&LENGTHS)
        .map(|(address, length)| (address.load(SeqCst), length.load(SeqCst) / 8))
        .filter(|&(address, words)| address != 0 && address % 8 == 0 && words > 0)
        // SAFETY: the block lives as long as `made`, which the callers below keep until the program ends, and blocks of
        // numbers are initialised.
        .map(|(address, words)| unsafe { std::slice::from_raw_parts(address as *const u64, words) })
        .collect();
    (made, blocks)
}

/// Returns the value that `secret` makes, with its secret memory: the heap blocks that are not also in the value that
/// `public` makes, such as a key's public half. A block with the address of another block is a structure, not a number.
pub fn secret_memory<P, S>(
    public: impl FnOnce() -> P,
    secret: impl FnOnce() -> S,
) -> (&'static S, Vec<&'static [u64]>) {
    let (public, public_blocks) = blocks_of(public);
    let public_blocks: Vec<Vec<u64>> = public_blocks.into_iter().map(<[u64]>::to_vec).collect();
    std::mem::forget(public);
    let (secret, blocks) = blocks_of(|| Box::leak(Box::new(secret())));
    let starts: Vec<u64> = blocks.iter().map(|block| block.as_ptr() as u64).collect();
    let numbers = blocks
        .iter()
        .copied()
        .filter(|block| !block.iter().any(|word| starts.contains(word)))
        .filter(|block| !public_blocks.iter().any(|public| public == block))
        .collect();
    (secret, numbers)
}
