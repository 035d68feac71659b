//! Randomness from the operating system.

use core::convert::Infallible;

use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use rand::{Rng, TryCryptoRng, TryRng};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::error::{Error, Result};

/// Bytes per system call.
const BLOCK: usize = 512;

/// The operating system's generator. Reads a block at a time, because a system call costs more than a short number.
/// Bytes are erased from the block as they are used, and the rest on drop.
#[derive(ZeroizeOnDrop)]
pub struct SystemRng {
    block: [u8; BLOCK],
    used: usize,
}

/// The operating system's generator, after checking that it works.
pub fn system_rng() -> Result<SystemRng> {
    let mut block = [0; BLOCK];
    SysRng
        .try_fill_bytes(&mut block)
        .map_err(|_| Error::NoRandomness)?;
    let rng = SystemRng { block, used: 0 };
    block.zeroize();
    Ok(rng)
}

impl SystemRng {
    fn next_bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        if bytes.len() > BLOCK / 4 {
            return UnwrapErr(SysRng).fill_bytes(bytes);
        }
        if bytes.len() > BLOCK - self.used {
            UnwrapErr(SysRng).fill_bytes(&mut self.block);
            self.used = 0;
        }
        let used_bytes = &mut self.block[self.used..self.used + bytes.len()];
        bytes.copy_from_slice(used_bytes);
        used_bytes.zeroize();
        self.used += bytes.len();
    }
}

impl TryRng for SystemRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> core::result::Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.next_bytes()))
    }

    fn try_next_u64(&mut self) -> core::result::Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.next_bytes()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> core::result::Result<(), Infallible> {
        self.fill(bytes);
        Ok(())
    }
}

impl TryCryptoRng for SystemRng {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all lengths, across block boundaries.
    #[test]
    fn no_byte_is_returned_twice() {
        let mut rng = system_rng().unwrap();
        let mut seen = std::collections::HashSet::new();
        for round in 0..2000 {
            assert!(seen.insert(rng.next_u64()));
            let mut longer = vec![0; 8 + round % 90];
            rng.fill_bytes(&mut longer);
            assert!(seen.insert(u64::from_le_bytes(*longer.last_chunk().unwrap())));
            rng.next_u32();
        }
        // Used bytes are erased from the block.
        let used = rng.used;
        assert!(rng.block[..used].iter().all(|&byte| byte == 0));
    }
}
