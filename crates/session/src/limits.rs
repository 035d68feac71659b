//! How much the other side may ask of this one. Everything that it announces is held against these before memory is
//! reserved for it.

use std::time::{Duration, Instant};

/// The version of what is said between two sides. Both must speak the same.
pub const PROTOCOL_VERSION: u16 = 2;

/// Scanpaths in one cohort.
pub const MAX_SCANPATHS: usize = 1 << 20;

/// Letters in one scanpath.
pub const MAX_LETTERS: u64 = 1 << 24;

/// Letters in one cohort.
pub const MAX_COHORT_LETTERS: u64 = 1 << 28;

/// Pairs in one session.
pub const MAX_PAIRS: u64 = 1 << 24;

/// Bytes of an id or the name of a stimulus.
pub const MAX_ID_BYTES: usize = 1024;

/// Time-outs of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The longest silence: not even a sign of life came. A side that computes gives one four times as often.
    pub idle: Duration,
    /// The longest time in which a side gives signs of life and nothing else while the other waits for its part of the
    /// work.
    pub stall: Duration,
    /// The longest time for the other side to arrive.
    pub connect: Duration,
}

impl Timeouts {
    /// For a longest silence; stalls may last sixty times as long.
    pub fn new(idle: Duration, connect: Duration) -> Self {
        Self {
            idle,
            stall: idle.saturating_mul(60),
            connect,
        }
    }
}

/// The end of a wait that begins now. A clock cannot name every moment: a wait beyond what it can lasts thirty years.
pub(crate) fn deadline(wait: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
    let now = Instant::now();
    now.checked_add(wait).unwrap_or_else(|| now + FAR)
}

/// The longest time for a connection to prove who it is: until then it is a stranger that keeps the true peer waiting.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The shortest and the longest silence that a side may ask the other to respect.
pub(crate) const IDLE_TIMEOUT_RANGE: (Duration, Duration) =
    (Duration::from_millis(200), Duration::from_secs(24 * 3600));

/// The longest time for which a host may let a peer wait for its turn.
pub(crate) const MAX_QUEUE_TIME: Duration = Duration::from_secs(24 * 3600);

/// Peers that one host may expect. Each has at most three connections (one that is worked with, one that waits for it to
/// end, one that is being declined), of at most three open files and four threads each: all of them have room in the thousand
/// files that systems allow.
pub const MAX_PEERS: usize = 64;
