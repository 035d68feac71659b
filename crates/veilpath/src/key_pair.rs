//! Paillier key pairs, stored in two files.

use crate::Error;
use std::path::{Path, PathBuf};
use veilpath_paillier::{KeySize, SecretKey, system_rng};
use veilpath_protocol::PaillierOptions;

/// The files and the key size of a new key pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPairOptions {
    /// The secret key file, which only its owner can read.
    pub secret: PathBuf,
    /// The public key file; `None` appends `.pub` to the secret key file's name.
    pub public: Option<PathBuf>,
    /// The size of the modulus.
    pub size: KeySize,
    /// Whether a size that can be broken is allowed.
    pub allow_weak: bool,
}

/// Generates and saves a key pair, and returns the path of the public key. Existing files are never overwritten.
pub fn generate_key_pair(options: &KeyPairOptions) -> Result<PathBuf, Error> {
    let KeyPairOptions { secret, size, .. } = options;
    // A key that the engine refuses is of no use.
    PaillierOptions::new(*size, options.allow_weak)?;
    let public = options.public.clone().unwrap_or_else(|| {
        let mut name = secret.clone().into_os_string();
        name.push(".pub");
        name.into()
    });
    crate::check_distinct_outputs(&[secret, &public])?;
    // Check this first, so that no half of a pair is written and no time is wasted.
    if let Some(existing) = [secret, &public].into_iter().find(|path| path.exists()) {
        return Err(Error::KeyExists {
            path: existing.clone(),
        });
    }
    let key_file_error = |path: &Path| {
        let path = path.to_path_buf();
        |error| Error::KeyFile { path, error }
    };
    let key = SecretKey::generate(*size, &mut system_rng()?)?;
    key.save(secret).map_err(key_file_error(secret))?;
    key.public_key()
        .save(&public)
        .map_err(key_file_error(&public))?;
    Ok(public)
}
