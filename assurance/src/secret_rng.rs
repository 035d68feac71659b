//! Randomness that is secret from the moment it is drawn: everything that depends on it is tracked.

use crate::valgrind::mark_secret;
use core::convert::Infallible;
use core::hint::black_box;
use rand::{Rng, SeedableRng, TryCryptoRng, TryRng};
use rand_chacha::ChaCha20Rng;
use std::sync::Mutex;

/// A generator whose output is marked as secret.
pub struct SecretRng(ChaCha20Rng);

impl SecretRng {
    /// The same numbers in each run, so that findings are the same.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha20Rng::seed_from_u64(seed))
    }

    fn words<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill_bytes(&mut bytes);
        mark_secret(&bytes);
        // Read again: the compiler knows the value, but not that it is now secret.
        *black_box(&bytes)
    }
}

impl TryRng for SecretRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.words()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.words()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        mark_secret(bytes);
        black_box(bytes);
        Ok(())
    }
}

impl TryCryptoRng for SecretRng {}

static SYSTEM: Mutex<Option<SecretRng>> = Mutex::new(None);

/// Replaces the operating system's generator for the engines.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    bytes: *mut u8,
    length: usize,
) -> Result<(), getrandom::Error> {
    // SAFETY: `getrandom` hands over a buffer of this length for its function to fill; zeros make it initialised.
    let bytes = unsafe {
        bytes.write_bytes(0, length);
        std::slice::from_raw_parts_mut(bytes, length)
    };
    let mut system = SYSTEM.lock().map_err(|_| getrandom::Error::UNEXPECTED)?;
    let Ok(()) = system
        .get_or_insert_with(|| SecretRng::new(77))
        .try_fill_bytes(bytes);
    Ok(())
}
