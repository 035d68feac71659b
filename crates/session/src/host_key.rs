//! A key that the host brings to a session.

use std::fmt;
use std::sync::Arc;
use veilpath_protocol::SecretKey;

/// The host's own key, shared by everything that works with it and wiped with the last of them.
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

/// Shows its size alone.
impl fmt::Debug for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostKey({} bits)", self.0.public_key().size().bits())
    }
}
