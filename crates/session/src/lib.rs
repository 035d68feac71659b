//! Connects two institutions: who is there, what they agree on, what is left to do, and what came out.
//!
//! ```text
//! Listener::accept ─┐                    Conversation::greet ─▶ agree ─▶ Agreed::run ─▶ Ended (an Outcome)
//! join ─────────────┴─▶ SecureChannel ─▶      versions,          terms,      an engine,
//!      TLS 1.3, two pinned keys               patience           rosters,    every score in the journal
//!                                                                journal     as soon as it is known
//! ```
//!
//! [`compare_on_loopback`] runs all of it for both sides in one process.
//!
//! Both sides run the same code; only the order of speaking differs. Everything that comes from the other side is held
//! against [`limits`] before memory is reserved for it, every wait has an end, and every error says whose fault it is
//! ([`SessionError::fault`]).
//!
//! The engines of `veilpath-protocol` run unchanged: a session agrees on every field of the plan, whatever an engine adds to
//! it, and hands the engine a [`Channel`](veilpath_protocol::Channel).

mod agreement;
mod channel;
mod connect;
mod control;
mod door;
mod error;
pub mod frames;
#[doc(hidden)]
pub mod fuzzing;
mod home;
mod host_key;
mod identity;
mod journal;
mod ledger;
pub mod limits;
mod line;
mod loopback;
mod one_agreement;
mod reception;
mod roster;
mod sealed;
mod seals;
mod session;
mod throttle;
mod tls;
mod turns;
mod work;

pub use agreement::Letters;
pub use channel::SecureChannel;
pub use connect::{Listener, join};
pub use door::{Door, Visit};
pub use error::{Difference, Fault, SessionError};
pub use home::Home;
pub use host_key::HostKey;
pub use identity::{Fingerprint, FingerprintError, Identity};
pub use loopback::compare_on_loopback;
pub use one_agreement::OneAgreement;
pub use reception::{Guest, Hold, Parting, Reception, Standing};
pub use sealed::Sealed;
pub use session::{Agreed, Conversation, Plan, Summary, Wish};
pub use turns::{Turn, Turns};
pub use work::Ended;
