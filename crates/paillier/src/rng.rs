//! Randomness from the operating system.

use rand::TryRng;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;

use crate::error::{Error, Result};

/// The operating system's generator.
pub type SystemRng = UnwrapErr<SysRng>;

/// The operating system's generator, once it has shown that it works.
pub fn system_rng() -> Result<SystemRng> {
    SysRng.try_next_u64().map_err(|_| Error::NoRandomness)?;
    Ok(UnwrapErr(SysRng))
}
