//! Limits on what a peer may send. Everything that it announces is checked against these before memory is reserved for it, and
//! the memory that the whole plan needs against what this side's user allows (`memory.rs`).

use std::time::{Duration, Instant};

/// The version of the wire protocol. Both sides must have the same.
pub const PROTOCOL_VERSION: u16 = 16;

/// Scanpaths in one cohort.
pub const MAX_SCANPATHS: usize = 1 << 20;

/// Letters in one scanpath.
pub const MAX_LETTERS: u64 = 1 << 24;

/// Letters in one cohort.
pub const MAX_COHORT_LETTERS: u64 = 1 << 28;

/// Pairs in one session.
pub const MAX_SESSION_PAIRS: u64 = 1 << 24;

/// Bytes of an id or the name of a stimulus.
pub const MAX_ID_BYTES: usize = 1024;

/// Bytes of memory that a side uses, unless its user allows more.
pub const DEFAULT_MEMORY: u64 = 256 << 20;

/// The timeouts of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// How long nothing may arrive, not even a keep-alive. A side that computes sends four keep-alives in this time.
    pub idle: Duration,
    /// How long only keep-alives may arrive while this side waits for the other's part of the computation.
    pub stall: Duration,
    /// How long to wait for the other side to connect, or to be reached.
    pub connect: Duration,
}

impl Timeouts {
    /// Timeouts with this idle timeout and a stall timeout of sixty times that.
    pub fn new(idle: Duration, connect: Duration) -> Self {
        Self {
            idle,
            stall: idle.saturating_mul(60),
            connect,
        }
    }
}

/// The end of a wait that starts now. A wait that the clock cannot represent lasts thirty years.
pub(crate) fn deadline(wait: Duration) -> Instant {
    const LONGEST_WAIT: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
    let now = Instant::now();
    now.checked_add(wait).unwrap_or_else(|| now + LONGEST_WAIT)
}

/// How long an unauthenticated connection has for its handshake.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The shortest and the longest idle timeout that a side may announce.
pub(crate) const IDLE_TIMEOUT_RANGE: (Duration, Duration) =
    (Duration::from_millis(200), Duration::from_secs(24 * 3600));

/// How long a host may let a peer wait for a session slot.
pub(crate) const MAX_QUEUE_TIME: Duration = Duration::from_secs(24 * 3600);

/// Peers of one host. Each has at most three connections (one that is served, one that waits for it to end, one that is being
/// declined), of at most three open files and four threads each: together they stay below the usual limit of about a thousand
/// open files.
pub const MAX_PEERS: usize = 64;
