//! Finds the memory of a secret key without knowing its fields: all heap blocks that its creation leaves behind.
//!
//! So a field that is added later is marked, too.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

const MAX_BLOCKS: usize = 4096;

static RECORDING: AtomicBool = AtomicBool::new(false);
static ADDRESSES: [AtomicUsize; MAX_BLOCKS] = [const { AtomicUsize::new(0) }; MAX_BLOCKS];
static LENGTHS: [AtomicUsize; MAX_BLOCKS] = [const { AtomicUsize::new(0) }; MAX_BLOCKS];

/// The system's allocator, which records blocks while recording is on.
pub struct Recorder;

// SAFETY: every call goes to the system's allocator with its arguments; the records are atomic numbers.
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
                // A block that is not recorded would be a secret that is not marked.
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
        // SAFETY: the block is live for as long as `made` is, which the callers below keep until the program ends, and
        // blocks of numbers are initialised.
        .map(|(address, words)| unsafe { std::slice::from_raw_parts(address as *const u64, words) })
        .collect();
    (made, blocks)
}

/// Makes something public and something secret that contains a copy of it, and returns the secret one with its secret
/// memory: numbers that are not in the public one. Structures, which contain addresses, are not numbers.
pub fn secret_memory<P, S>(
    public: impl FnOnce() -> P,
    secret: impl FnOnce() -> S,
) -> (&'static S, Vec<&'static [u64]>) {
    let (public, known) = blocks_of(public);
    let known: Vec<Vec<u64>> = known.into_iter().map(<[u64]>::to_vec).collect();
    std::mem::forget(public);
    let (secret, blocks) = blocks_of(|| Box::leak(Box::new(secret())));
    let starts: Vec<u64> = blocks.iter().map(|block| block.as_ptr() as u64).collect();
    let numbers = blocks
        .iter()
        .copied()
        .filter(|block| !block.iter().any(|word| starts.contains(word)))
        .filter(|block| !known.iter().any(|known| known == block))
        .collect();
    (secret, numbers)
}
