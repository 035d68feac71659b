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

use crate::error::{BanReason, FileProblem, InternalError, Limit};
use crate::identity::hex;
use crate::scanpath_limit::Limits;
use crate::state_dir::{self, create_private_dir};
use crate::{Fingerprint, Identity, SessionError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use veilpath_metrics::Cohort;

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
    /// Agreements whose answers may concern any scanpath.
    #[serde(default)]
    of_all: BTreeSet<String>,
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

    /// The comparisons of each scanpath that count for all of them.
    fn comparisons_of_all(&self) -> BTreeMap<String, u64> {
        let of_all = |agreements: &BTreeMap<String, u64>| {
            let counts = agreements.iter();
            let counts = counts.filter(|(agreement, _)| self.of_all.contains(*agreement));
            saturating_sum(counts.map(|(_, count)| count))
        };
        let scanpaths = self.scanpaths.iter();
        scanpaths
            .map(|(name, it)| (name.clone(), of_all(it)))
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

/// What this side's scanpaths are part of, over all sessions with a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Totals {
    /// The most agreements of one scanpath.
    pub(crate) max_agreements: u64,
    /// The most comparisons that the limit of one scanpath counts.
    pub(crate) needed: u64,
}

/// The comparisons of this side's scanpaths with one peer under one agreement.
#[derive(Debug)]
pub(crate) struct Account {
    file: LedgerFile,
    agreement: String,
    /// The limit that this side's user has set, by the name of the scanpath; `None` for the default.
    chosen_limits: Option<BTreeMap<String, u64>>,
    /// The default limit of this plan; scanpaths with one name share the smallest.
    default_limits: BTreeMap<String, u64>,
    /// Whether the answers of this agreement may concern any scanpath.
    of_all: bool,
    /// The name of each scanpath of the cohort in the ledger.
    names: Vec<String>,
    counts: BTreeMap<String, u64>,
    /// Whether the file has less than `counts`.
    behind: bool,
}

impl Account {
    /// Opens the account. `known` are the comparisons of each scanpath that this side's journal knows of: after a crash they
    /// may be more than were counted. Returns also which scanpaths were counted more often than the journal knows: it has
    /// been lost, or a part of it.
    pub(crate) fn open(
        file: LedgerFile,
        identity: &Identity,
        cohort: &Cohort,
        agreement: &[u8; 32],
        limits: &Limits,
        known: &[u64],
    ) -> Result<(Self, Vec<bool>), SessionError> {
        let ledger = file.read()?;
        let names: Vec<String> = cohort
            .entries
            .iter()
            .map(|entry| {
                let stimulus = entry.stimulus.as_deref();
                let parts: [&[u8]; 3] = [
                    entry.participant.as_bytes(),
                    &[u8::from(stimulus.is_some())],
                    stimulus.unwrap_or_default().as_bytes(),
                ];
                hex(&identity.tag("ledger", &parts)[..16])
            })
            .collect();
        let mut account = Self {
            file,
            agreement: key(agreement),
            chosen_limits: limits.chosen.as_ref().map(|it| least(&names, it)),
            default_limits: least(&names, &limits.default),
            of_all: limits.of_all,
            names,
            counts: BTreeMap::new(),
            behind: false,
        };
        account.counts = account.sums(known);
        let counted = |name: &String| {
            let agreements = ledger.scanpaths.get(name);
            agreements.and_then(|counts| counts.get(&account.agreement).copied())
        };
        let mut lost: BTreeMap<&String, bool> = BTreeMap::new();
        let mut behind = false;
        for (name, count) in &mut account.counts {
            let counted = counted(name).unwrap_or(0);
            lost.insert(name, counted > *count);
            behind |= counted < *count;
            *count = counted.max(*count);
        }
        account.behind = behind;
        let lost = account.names.iter().map(|name| lost[name]).collect();
        Ok((account, lost))
    }

    /// Checks that the limit allows these comparisons, in addition to those so far, and counts nothing: asking is free. Returns
    /// what this side's scanpaths are part of then.
    pub(crate) fn check(&self, more: &[u64]) -> Result<Totals, SessionError> {
        let mut counts = self.counts.clone();
        add(&mut counts, &self.sums(more));
        self.insert(&mut self.file.read()?, &counts)
    }

    /// Counts these comparisons, durably, if the limit allows all of them; otherwise none.
    pub(crate) fn charge(&mut self, more: &[u64]) -> Result<(), SessionError> {
        let mut counts = self.counts.clone();
        add(&mut counts, &self.sums(more));
        let file = self.file.clone();
        file.update(|ledger| self.insert(ledger, &counts).map(|_| ()))?;
        self.counts = counts;
        Ok(())
    }

    /// Counts what the journal knows and a crash kept from being counted.
    pub(crate) fn catch_up(&mut self) -> Result<(), SessionError> {
        if std::mem::take(&mut self.behind) {
            self.charge(&[])?;
        }
        Ok(())
    }

    /// The limits that apply now.
    pub(crate) fn limits(&self) -> Result<Vec<u64>, SessionError> {
        let earlier = self.file.read()?.default_limits;
        let names = self.default_limits.keys();
        Ok(names.map(|name| self.limit(name, &earlier)).collect())
    }

    /// The limit of a scanpath. A default counts all answers as if each said as much as one of this plan. Where an earlier plan
    /// had answers that say more, its smaller limit holds: otherwise plans in a suitable order would add up to a scanpath.
    fn limit(&self, name: &str, earlier: &BTreeMap<String, u64>) -> u64 {
        let of = |limits: &BTreeMap<String, u64>| limits.get(name).copied().unwrap_or(u64::MAX);
        match &self.chosen_limits {
            Some(chosen) => of(chosen),
            None => of(&self.default_limits).min(of(earlier)),
        }
    }

    /// The sum by name: a cohort may have several scanpaths with one name.
    fn sums(&self, comparisons: &[u64]) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for (name, comparisons) in self.names.iter().zip(comparisons) {
            let sum: &mut u64 = sums.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*comparisons);
        }
        sums
    }

    /// Whether comparisons of other scanpaths count, too.
    pub(crate) fn counts_all(&self) -> bool {
        self.of_all && self.chosen_limits.is_none()
    }

    fn insert(
        &self,
        ledger: &mut Ledger,
        counts: &BTreeMap<String, u64>,
    ) -> Result<Totals, SessionError> {
        for (name, count) in counts {
            let agreements = ledger.scanpaths.entry(name.clone()).or_default();
            agreements.insert(self.agreement.clone(), *count);
        }
        if self.of_all {
            ledger.of_all.insert(self.agreement.clone());
        }
        let of_others = match self.chosen_limits {
            Some(_) => BTreeMap::new(),
            None => ledger.comparisons_of_all(),
        };
        let all: u64 = saturating_sum(of_others.values());
        let grows = |name: &String| counts.get(name) > self.counts.get(name);
        let any_grows = counts.keys().any(grows);
        let (mut exceeded, mut least, mut own) = (0, u64::MAX, 0);
        let (mut max_agreements, mut needed) = (0, 0);
        for (name, count) in counts {
            let agreements = &ledger.scanpaths[name];
            let compared = agreements.values().filter(|&&count| count > 0);
            max_agreements = max_agreements.max(compared.count() as u64);
            let of_scanpath = saturating_sum(agreements.values());
            own = own.max(of_scanpath);
            let of_others = all - of_others.get(name).copied().unwrap_or(0).min(all);
            let total = of_scanpath.saturating_add(of_others);
            needed = needed.max(total);
            let limit = self.limit(name, &ledger.default_limits);
            // What was revealed before may be sent again under any limit.
            if total > limit && (grows(name) || self.counts_all() && any_grows) {
                exceeded += 1;
                least = least.min(limit);
            }
            let default = self.default_limits.get(name).copied();
            if let Some(default) = default.filter(|_| *count > 0) {
                let smallest = ledger.default_limits.entry(name.clone());
                let smallest = smallest.or_insert(default);
                *smallest = default.min(*smallest);
            }
        }
        // Earlier comparisons of other scanpaths may count, too.
        if exceeded > 0 && (self.counts_all() || all > 0) {
            return Err(Limit::ComparisonsOfAll {
                limit: least,
                needed,
                per_scanpath: own,
            }
            .into());
        }
        if exceeded > 0 {
            return Err(Limit::ComparisonsPerScanpath {
                limit: least,
                needed,
                exceeded,
                scanpaths: counts.len() as u64,
            }
            .into());
        }
        Ok(Totals {
            max_agreements,
            needed,
        })
    }
}

/// A sum that a manipulated file cannot make wrap around to below a limit.
fn saturating_sum<'a>(counts: impl Iterator<Item = &'a u64>) -> u64 {
    counts.fold(0, |sum, count| sum.saturating_add(*count))
}

/// The least value by name.
fn least(names: &[String], values: &[u64]) -> BTreeMap<String, u64> {
    let mut by_name = BTreeMap::new();
    for (name, &value) in names.iter().zip(values) {
        let least = by_name.entry(name.clone()).or_insert(value);
        *least = value.min(*least);
    }
    by_name
}

fn add(counts: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    for (name, more) in more {
        let count = counts.entry(name.clone()).or_default();
        *count = count.saturating_add(*more);
    }
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
