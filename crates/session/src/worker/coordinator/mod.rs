//! The coordinator: the one process of an institution that stores, counts and releases what its workers compute.
//!
//! ```text
//! worker                                     coordinator
//!  │◀══════ TLS 1.3: the worker's key, the institution's key, which the work order pins ══════▶│
//!  │── certificate, magic, version, Order ──▶│   the tile
//!  │◀───────────────── Tile, JournalEntries … │   what is stored of it; the tile belongs to this connection now
//!  │── JournalEntries ──────────────────────▶│   pairs that start, halves of outputs, halves that are about to be sent, answers
//!  │◀──────────────────────── EntriesStored ──│   it is on disk, and counted
//! ```
//!
//! Instead of Tile or EntriesStored the coordinator may send Refused with a reason, and the connection ends. In place
//! of Order a worker may send Report: the other side was caught cheating in the worker's tile. The coordinator answers
//! with EntriesStored, and the connection ends.
//!
//! **Reports.** A report stops its tile. An event tells this side's user, who decides whether to resume the tile or to
//! ban the other side; until then nothing of the tile is computed. A worker cannot ban the other side, because then a
//! stolen key could, too. A report needs no lease, so it does not depend on a connection that may just have been lost.
//!
//! **One set of rules.** The coordinator has the journal of the tile and the ledger. It opens them, and treats every
//! journal entry, as a session of its own would ([`Bookkeeping`](crate::counted_store::Bookkeeping)). A worker's journal
//! is a copy in memory, and every entry goes to the coordinator before the message that it is about goes to the other
//! side. So a worker that dies loses nothing: the next one, on any machine, gets what is stored, and resumes like an
//! interrupted session.
//!
//! **What a worker cannot do.** The coordinator checks the certificate against agreement, tile and clock when a worker connects and
//! at every message. It takes names, limits and pairs from its own copy of the plan. It refuses to start a pair whose half may have been
//! sent, to replace such a half, to change an answer, and whatever exceeds a limit. A modified worker can still send
//! what it has to the other side without asking; a stolen work order has no more than the letters of its tiles.
//!
//! **One worker at a time.** A tile is leased to a connection, and is free again when the connection is closed or when
//! nothing, not even a keep-alive, has arrived for [`IDLE_TIMEOUT`]. The lock of the journal keeps other processes out.
//!
//! **The end of a tile.** A worker stores all answers before it says that it has them (Finished), and the entry
//! Complete after the other side has said the same. A worker that finds everything stored needs no session; the other
//! side's worker may be gone. When all tiles are complete, the letters that were kept for work orders are removed.

mod client;
mod completion;
mod leased_tile;
mod rules;
mod server;

pub(crate) use client::CoordinatorLink;
pub use client::{CoordinatedTile, TileStep};
#[cfg(test)]
pub(super) use leased_tile::LeasedTile;
pub use server::{Coordinator, CoordinatorEvent, CoordinatorOptions};
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use {client::answer, rules::Rules};

use crate::LimitSummary;
use crate::error::{
    BanReason, CoordinatorProblem, FileProblem, InternalError, Limit, NetworkError, SessionError,
    UsageError, WorkerKeyProblem,
};
use crate::journal::entry::ENTRY_BYTES;
use crate::limits::Timeouts;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long nothing may arrive on a connection between a worker and its coordinator.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of entries in one message.
const BATCH_BYTES: usize = ENTRY_BYTES << 14;

/// A worker's first request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    tile: u32,
}

/// A worker's report that the other side cheated.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Report {
    tile: u32,
    reason: BanReason,
}

/// The state of a tile at the coordinator.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TileState {
    /// Bytes of entries, which follow.
    entries: u64,
    max_agreements: u64,
    limit: LimitSummary,
}

/// Why the coordinator refuses something.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Refusal {
    Key(WorkerKeyProblem),
    Limit(Limit),
    Problem(CoordinatorProblem),
    /// The pair was revealed.
    ComparedAgain,
    /// An entry that no correct worker sends at this point.
    Entry,
}

impl Refusal {
    /// The refusal that a worker receives for an error.
    fn of(error: &SessionError) -> Self {
        match error {
            SessionError::Usage(UsageError::WorkerKey(problem)) => Refusal::Key(*problem),
            SessionError::Limit(limit) => Refusal::Limit(limit.clone()),
            SessionError::Network(NetworkError::Coordinator(problem)) => Refusal::Problem(*problem),
            SessionError::File {
                problem: FileProblem::Locked,
                ..
            } => Refusal::Problem(CoordinatorProblem::TileInUse),
            SessionError::Internal(InternalError::ComparedAgain) => Refusal::ComparedAgain,
            SessionError::File { .. } => Refusal::Problem(CoordinatorProblem::Storage),
            _ => Refusal::Entry,
        }
    }

    fn into_error(self) -> SessionError {
        match self {
            Refusal::Key(problem) => UsageError::WorkerKey(problem).into(),
            Refusal::Limit(limit) => limit.into(),
            Refusal::Problem(problem) => problem_error(problem),
            Refusal::ComparedAgain => InternalError::ComparedAgain.into(),
            Refusal::Entry => UsageError::EntryRefused.into(),
        }
    }
}

fn problem_error(problem: CoordinatorProblem) -> SessionError {
    NetworkError::Coordinator(problem).into()
}

/// The timeouts of a connection; `connect` is how long to try.
fn timeouts(connect: Duration) -> Timeouts {
    Timeouts::new(IDLE_TIMEOUT, connect)
}
