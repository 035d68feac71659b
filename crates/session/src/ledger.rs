//! What a peer has learned about this side's scanpaths, over all sessions, and whether it is banned.
//!
//! Exact scores against chosen scanpaths add up: anyone who may ask without limit can reconstruct a scanpath from scores, with
//! any engine. So a side counts, for every peer and every scanpath (by the ids of participant and stimulus, whatever its
//! letters), the comparisons that it revealed, and sets a limit.
//!
//! A comparison is counted, durably, *before* the message that reveals it: with an engine that has halves, before this side's
//! half is sent; with any other, at every start, because a start is a view. Within an agreement a half is never computed
//! twice once it was sent, so a pair counts once, however often the connection breaks. An agreement that is repeated on purpose
//! has a new number, and counts again.
//!
//! With some engines a peer that cheats can get answers about any scanpath of this side, whichever one is compared. Under the default
//! limit such a comparison counts for all scanpaths. A limit set by this side's user counts the comparisons of each scanpath separately.
//!
//! A peer that was caught cheating is banned: no later session with it gets beyond its first messages until this side's user
//! lifts the ban.
//!
//! The file contains authentication tags under this side's key, not ids.

mod account;

use crate::error::{BanReason, FileProblem, InternalError};
use crate::identity::hex;
use crate::state_dir::{self, create_private_dir};
use crate::{Fingerprint, SessionError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub(crate) use account::{Account, LimitsInForce, Totals};

const VERSION: u32 = 2;

/// The extension of a ledger.
pub(crate) const EXTENSION: &str = "json";

/// The extension of the file that is locked while a ledger is replaced.
pub(crate) const GUARD: &str = "lock";

/// What is known about one peer.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ledger {
    version: u32,
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
    /// How often this side's user has lifted a ban.
    #[serde(default)]
    pub(crate) lifted: u32,
}

/// The ledger of one peer, on disk or, where nothing is stored, nowhere.
#[derive(Clone, Debug)]
pub(crate) struct LedgerFile(Option<PathBuf>);

impl LedgerFile {
    /// The ledger of a peer in this directory.
    pub(crate) fn of(directory: Option<&Path>, peer: Fingerprint) -> Self {
        Self(directory.map(|directory| directory.join(format!("{}.{EXTENSION}", peer.plain()))))
    }

    /// Whether there is one.
    pub(crate) fn exists(&self) -> bool {
        self.0.as_ref().is_some_and(|path| path.exists())
    }

    /// What it contains.
    pub(crate) fn read(&self) -> Result<Ledger, SessionError> {
        match &self.0 {
            None => Ok(Ledger::default()),
            Some(path) => read(path),
        }
    }

    /// Changes it, durably. An error of `change` leaves it as it was.
    pub(crate) fn update(
        &self,
        change: impl FnOnce(&mut Ledger) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let Some(path) = &self.0 else {
            return change(&mut Ledger::default());
        };
        if let Some(directory) = path.parent() {
            create_private_dir(directory)?;
        }
        let guard_path = path.with_extension(GUARD);
        let guard = state_dir::open_private(
            state_dir::private_file().create(true).truncate(false),
            &guard_path,
        )?;
        // Locked briefly, so that two sessions with one peer do not overwrite each other's counts.
        guard
            .lock()
            .map_err(|error| SessionError::io(&guard_path, error))?;
        let mut ledger = read(path)?;
        change(&mut ledger)?;
        ledger.version = VERSION;
        let text = serde_json::to_vec(&ledger)
            .map_err(|error| InternalError::Serialise(error.to_string()))?;
        state_dir::replace(path, &text)
    }
}

impl Ledger {
    /// The most comparisons of any scanpath.
    pub(crate) fn max_comparisons(&self) -> u64 {
        let total = |agreements: &BTreeMap<String, u64>| saturating_sum(agreements.values());
        self.scanpaths.values().map(total).max().unwrap_or(0)
    }

    /// The comparisons of each scanpath whose answers may be about any of them.
    fn comparisons_about_any(&self) -> BTreeMap<String, u64> {
        let sum = |agreements: &BTreeMap<String, u64>| {
            let counts = agreements.iter();
            let counts = counts.filter(|(agreement, _)| self.about_any.contains(*agreement));
            saturating_sum(counts.map(|(_, count)| count))
        };
        let scanpaths = self.scanpaths.iter();
        scanpaths
            .map(|(name, it)| (name.clone(), sum(it)))
            .collect()
    }

    /// Scanpaths with comparisons.
    pub(crate) fn scanpaths(&self) -> usize {
        let compared = |agreements: &&BTreeMap<String, u64>| agreements.values().any(|&it| it > 0);
        self.scanpaths.values().filter(compared).count()
    }

    /// The number of the last agreement on this plan.
    pub(crate) fn number(&self, plan: &[u8; 32]) -> u32 {
        self.numbers.get(&key(plan)).copied().unwrap_or(0)
    }

    /// Sets the number of the last agreement on this plan.
    pub(crate) fn set_number(&mut self, plan: &[u8; 32], number: u32) {
        self.numbers.insert(key(plan), number);
    }
}

/// A sum that a manipulated file cannot make wrap around to below a limit.
fn saturating_sum<'a>(counts: impl Iterator<Item = &'a u64>) -> u64 {
    counts.fold(0, |sum, count| sum.saturating_add(*count))
}

/// The name of an agreement or plan in the ledger.
fn key(id: &[u8; 32]) -> String {
    hex(&id[..16])
}

/// The ledger in the content of a file.
fn parse(text: &[u8]) -> Option<Ledger> {
    let ledger: Option<Ledger> = serde_json::from_slice(text).ok();
    ledger.filter(|ledger| ledger.version == VERSION)
}

/// Whether the content of a file is a ledger, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn is_ledger(text: &[u8]) -> bool {
    let Some(ledger) = parse(text) else {
        return false;
    };
    let written = serde_json::to_vec(&ledger).ok();
    written.is_some_and(|text| parse(&text).is_some())
}

/// A corrupted ledger is an error: an empty one instead would forget what a peer has learned.
fn read(path: &Path) -> Result<Ledger, SessionError> {
    let file = state_dir::open_private(OpenOptions::new().read(true), path);
    let mut text = Vec::new();
    match file {
        Ok(mut file) => file
            .read_to_end(&mut text)
            .map_err(|error| SessionError::io(path, error))?,
        Err(SessionError::File {
            problem: FileProblem::Io(error),
            ..
        }) if error.kind() == io::ErrorKind::NotFound => return Ok(Ledger::default()),
        Err(error) => return Err(error),
    };
    parse(&text).ok_or_else(|| SessionError::file(path, FileProblem::CorruptedLedger))
}

#[cfg(test)]
mod tests;
