//! A Paillier key that the caller supplies.

use std::fmt;
use std::sync::Arc;
use veilpath_protocol::SecretKey;

/// A Paillier key for comparisons on one machine and for measurements. Clones share it, and dropping the last one erases it.
#[derive(Clone)]
pub struct HostKey(Arc<SecretKey>);

impl HostKey {
    pub(crate) fn share(&self) -> Arc<SecretKey> {
        Arc::clone(&self.0)
    }
}

impl From<SecretKey> for HostKey {
    fn from(key: SecretKey) -> Self {
        Self(Arc::new(key))
    }
}

/// Shows only its size.
impl fmt::Debug for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostKey({} bits)", self.0.public_key().size().bits())
    }
}
