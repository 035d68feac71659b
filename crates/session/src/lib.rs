//! Connects two institutions.
mod error;
mod home;
mod identity;
pub mod limits;
mod tls;

pub use error::{Difference, Fault, SessionError};
pub use home::Home;
pub use identity::{Fingerprint, FingerprintError, Identity};
