//! Computes the tiles of an agreement on many machines of an institution, none of which has the institution's key.
//!
//! ```text
//! institution                                  workers
//!  │  session with the partner's institution: plan, number of tiles, limits, signed intent ─▶ AgreedPlan, in the state folder
//!  │── WorkOrder: a new key, a certificate for some tiles until some time, the plan ──▶│
//!                                               │◀═ TLS, certificates (`gate.rs`) ═▶ a worker of the partner, with the same tile
//! ```
//!
//! A [`WorkOrder`] has all that a worker needs for its tiles: who takes part, the lengths of all scanpaths, the letters
//! of this side's scanpaths *in these tiles*, and the names and limits of the ledger. The worker's key signs nothing
//! but TLS handshakes, and its certificate is checked against the pinned key of its institution, the agreement, the
//! tile and the clock before the first byte of the session.
//!
//! **What a stolen work order reveals.** The letters in its tiles, which the machine needs; the ids of this side's
//! participants, even if the partner gets pseudonyms; and both rosters of the whole plan. Until it expires, the thief
//! can take part in the sessions of its tiles, with made-up scanpaths of the institution's side, and gets what the
//! institution would get. That is at most one answer for each pair of these tiles that was not answered before, because
//! the partner counts and records every pair of the agreement once, whichever key asks. The thief also gets again the
//! answers that both sides learn and the partner already knows. If the thief is caught cheating, the partner stops the
//! tile, and its user decides whether to ban the institution. The key cannot compute another tile, agree on another
//! plan, sign a record, or make other keys. It is not an identity: nobody has pinned it. Keys cannot be revoked, so they
//! are short-lived, and sessions end when they expire.
//!
//! **What a partner with many workers gets.** What it gets from one session of the whole plan. All tiles are charged to
//! one ledger under one lock before anything is opened, the plan as a whole was checked against the limits when it was
//! agreed on, and each tile has one journal, which one worker at a time can hold. So all workers of an institution have
//! the same coordinator (`coordinator/`), or use the same state folder. A state folder without the agreement is
//! refused.

mod certificate;
mod coordinator;
mod gate;
mod gateway;
mod order;
mod plan;
mod session;
mod tile;

pub(crate) use certificate::WorkerCertificate;
pub(crate) use coordinator::CoordinatorLink;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use coordinator::{Order, Refusal, Report, Rules, TileState, answer};
pub(crate) use gate::WorkerGate;
pub(crate) use gateway::WorkerGreetings;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use gateway::is_greeting;

pub use certificate::{MAX_WORKER_KEY_TIME, TileRange, TileRangeError};
pub use coordinator::{
    CoordinatedTile, Coordinator, CoordinatorEvent, CoordinatorOptions, TileStep,
};
pub use order::WorkOrder;
pub use plan::AgreedPlan;
pub use session::TileStorage;

#[cfg(test)]
mod tests;
