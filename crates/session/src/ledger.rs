//! What a peer has learned about this side's scanpaths, over all sessions, and whether it is banned.
//!
//! Exact scores against chosen scanpaths add up: anyone who may ask without limit can reconstruct a scanpath from scores, with
//! any engine. So a side counts, for every peer and every scanpath (by the ids of participant and stimulus, whatever its
//! letters), the comparisons that it revealed, and sets a limit.
//!
//! A comparison is counted, durably, *before* the message that reveals it: with an engine that has halves, before this side's
//! half is sent; with any other, at every start, because each start reveals a view. Within an agreement a half is never computed
//! twice once it was sent, so a pair counts once, however often the connection breaks. A key holder of `paillier` starts a pair
//! when it opens its result, and stores the result in the same step, so for it, too, a pair counts once. An agreement that is
//! repeated on purpose has a new number, and counts again.
//!
//! With some engines a peer that cheats can get answers about any scanpath of this side, whichever one is compared. Under the default
//! limit such a comparison counts for all scanpaths. A limit set by this side's user counts the comparisons of each scanpath separately.
//!
//! All tiles of a plan are one agreement. The limits apply to their sum, before each tile starts and at every comparison. Before a
//! tile starts, its missing pairs must fit in addition to all that was counted: counts of pairs that started again are not work done.
//!
//! A peer that was caught cheating is banned: until this side's user lifts the ban, it gets nothing about this side's cohort
//! but the notation, and the alphabet and grid that this side declares.
//!
//! The file contains authentication tags under this side's key, not ids.

mod account;
mod file;

use crate::SessionError;
use crate::error::{BanReason, Limit};
use crate::identity::hex;
use crate::locked_file::Stored;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use veilpath_protocol::Tile;

pub(crate) use account::{Account, LimitsInForce, Totals};
pub(crate) use file::LedgerFile;

const VERSION: u32 = 5;

/// What is known about one peer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ledger {
    version: u32,
    /// A random number that identifies this snapshot. Its log starts with the same number.
    stamp: String,
    /// The stamp of the log that this snapshot includes; empty in the first snapshot.
    #[serde(default)]
    included_log: String,
    /// Comparisons by scanpath and agreement.
    scanpaths: BTreeMap<String, BTreeMap<String, u64>>,
    /// The number of the last agreement on each plan that was repeated on purpose.
    #[serde(default)]
    numbers: BTreeMap<String, u32>,
    /// The smallest default limit of the plans under which each scanpath was compared.
    #[serde(default)]
    default_limits: BTreeMap<String, u64>,
    /// Agreements whose answers may be about any scanpath.
    #[serde(default)]
    about_any: BTreeSet<String>,
    #[serde(default)]
    pub(crate) banned: Option<BanReason>,
    /// The number of times this side's user has unblocked the peer.
    #[serde(default)]
    pub(crate) lifted: u32,
    /// Tiles that are stopped: a worker has reported that the peer cheated in them.
    #[serde(default)]
    reports: BTreeMap<String, BanReason>,
}

impl Stored for Ledger {
    fn parse(text: &[u8]) -> Option<Self> {
        let ledger: Option<Self> = serde_json::from_slice(text).ok();
        ledger.filter(|ledger| ledger.version == VERSION)
    }

    fn set_version(&mut self) {
        self.version = VERSION;
    }
}

impl Ledger {
    /// Refuses a banned peer.
    pub(crate) fn check_ban(&self) -> Result<(), SessionError> {
        match self.banned {
            Some(reason) => Err(Limit::Banned(reason).into()),
            None => Ok(()),
        }
    }

    /// The most comparisons of any scanpath.
    pub(crate) fn max_comparisons(&self) -> u64 {
        let total = |agreements: &BTreeMap<String, u64>| saturating_sum(agreements.values());
        self.scanpaths.values().map(total).max().unwrap_or(0)
    }

    /// All comparisons of all scanpaths.
    #[cfg(test)]
    pub(crate) fn all_comparisons(&self) -> u64 {
        saturating_sum(self.scanpaths.values().flat_map(BTreeMap::values))
    }

    /// The comparisons of a scanpath under one agreement or tile.
    fn count(&self, name: &str, agreement: &str) -> u64 {
        let agreements = self.scanpaths.get(name);
        agreements
            .and_then(|counts| counts.get(agreement).copied())
            .unwrap_or(0)
    }

    /// Scanpaths with comparisons.
    pub(crate) fn scanpaths(&self) -> usize {
        let compared = |agreements: &&BTreeMap<String, u64>| agreements.values().any(|&it| it > 0);
        self.scanpaths.values().filter(compared).count()
    }

    /// The number of the last agreement on this plan.
    pub(crate) fn number(&self, plan: &[u8; 32]) -> u32 {
        self.numbers.get(&hex(plan)).copied().unwrap_or(0)
    }

    /// Sets the number of the last agreement on this plan.
    pub(crate) fn set_number(&mut self, plan: &[u8; 32], number: u32) {
        self.numbers.insert(hex(plan), number);
    }

    /// Why a tile is stopped, if it is.
    pub(crate) fn report(&self, agreement: &[u8; 32], tile: Tile) -> Option<BanReason> {
        let key = tile_key(agreement, Some(tile));
        self.reports.get(&key).copied()
    }

    /// Whether sessions about a tile are allowed.
    pub(crate) fn check_tile(&self, agreement: &[u8; 32], tile: Tile) -> Result<(), Limit> {
        match (self.banned, self.report(agreement, tile)) {
            (Some(reason), _) => Err(Limit::Banned(reason)),
            (None, Some(reason)) => Err(Limit::TileStopped(reason)),
            (None, None) => Ok(()),
        }
    }

    /// Stops a tile. The peer is not banned, because anyone with a worker's key can send a report.
    pub(crate) fn set_report(&mut self, agreement: &[u8; 32], tile: Tile, reason: BanReason) {
        let key = tile_key(agreement, Some(tile));
        self.reports.entry(key).or_insert(reason);
    }

    /// Resumes stopped tiles.
    pub(crate) fn clear_reports(&mut self) {
        self.reports.clear();
    }

    /// How many tiles are stopped.
    pub(crate) fn reports(&self) -> usize {
        self.reports.len()
    }
}

/// A sum that saturates: a manipulated file cannot make it wrap around to below a limit.
fn saturating_sum<'a>(counts: impl Iterator<Item = &'a u64>) -> u64 {
    counts.fold(0, |sum, count| sum.saturating_add(*count))
}

/// The separator between the name of an agreement and the number of a tile.
const TILE_SEPARATOR: char = '/';

/// The name of an agreement or of one of its tiles in the ledger. Each tile has its own counts, because several may run
/// at a time and each is compared with its own journal. Limits apply to their sum.
fn tile_key(agreement: &[u8; 32], tile: Option<Tile>) -> String {
    match tile {
        None => hex(agreement),
        Some(tile) => format!("{}{TILE_SEPARATOR}{}", hex(agreement), tile.index()),
    }
}

/// The name of the agreement that a tile belongs to.
fn agreement_of(key: &str) -> &str {
    key.split(TILE_SEPARATOR).next().unwrap_or(key)
}

fn of_same_agreement(one: &str, other: &str) -> bool {
    agreement_of(one) == agreement_of(other)
}

/// Whether the content of a file is a ledger, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn is_ledger(text: &[u8]) -> bool {
    let Some(ledger) = Ledger::parse(text) else {
        return false;
    };
    let written = serde_json::to_vec(&ledger).ok();
    written.is_some_and(|text| Ledger::parse(&text).is_some())
}

/// Whether these lines of a log count something, for fuzzing. A torn last line changes nothing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn is_log(text: &[u8]) -> bool {
    let mut ledger = Ledger::default();
    let Some(end) = file::apply_lines(&mut ledger, text) else {
        return false;
    };
    let (complete, torn) = text.split_at(end);
    let mut again = Ledger::default();
    let same = file::apply_lines(&mut again, complete) == Some(end);
    assert!(same && again.scanpaths == ledger.scanpaths, "a torn line");
    assert!(
        !torn.contains(&b'\n') || torn.ends_with(b"\n"),
        "lost lines"
    );
    !ledger.scanpaths.is_empty()
}

#[cfg(test)]
mod tests;
