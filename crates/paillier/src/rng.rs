//! Randomness from the operating system.

use core::convert::Infallible;

use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use rand::{Rng, TryCryptoRng, TryRng};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::error::{Error, Result};

/// Bytes that are fetched at once.
const BLOCK: usize = 512;

/// The operating system's generator. It reads a block at a time, because a system call costs more than short numbers
/// do. Bytes are erased from the block when they are used, and the rest when it is dropped.
#[derive(ZeroizeOnDrop)]
pub struct SystemRng {
    block: [u8; BLOCK],
    given_out: usize,
}

/// The operating system's generator, after a test that it works.
pub fn system_rng() -> Result<SystemRng> {
    let mut block = [0; BLOCK];
    SysRng
        .try_fill_bytes(&mut block)
        .map_err(|_| Error::NoRandomness)?;
    let rng = SystemRng {
        block,
        given_out: 0,
    };
    block.zeroize();
    Ok(rng)
}

impl SystemRng {
    fn give<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        if bytes.len() > BLOCK / 4 {
            return UnwrapErr(SysRng).fill_bytes(bytes);
        }
        if bytes.len() > BLOCK - self.given_out {
            UnwrapErr(SysRng).fill_bytes(&mut self.block);
            self.given_out = 0;
        }
        let given = &mut self.block[self.given_out..self.given_out + bytes.len()];
        bytes.copy_from_slice(given);
        given.zeroize();
        self.given_out += bytes.len();
    }
}

impl TryRng for SystemRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> core::result::Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.give()))
    }

    fn try_next_u64(&mut self) -> core::result::Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.give()))
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

    /// Numbers of all lengths, across the ends of blocks, and none given out twice.
    #[test]
    fn no_byte_is_given_out_twice() {
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
        let given = rng.given_out;
        assert!(rng.block[..given].iter().all(|&byte| byte == 0));
    }
}
