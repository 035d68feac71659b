//! The comparisons of one agreement, and the limit of each scanpath.

use super::file::Counted;
use super::{Ledger, LedgerFile, agreement_of, of_same_agreement, saturating_sum, tile_key};
use crate::error::{ExceededLimit, Limit, LimitOrigin};
use crate::identity::hex;
use crate::scanpath_limit::Limits;
use crate::{Identity, SessionError};
use std::collections::BTreeMap;
use veilpath_metrics::{Cohort, Entry};
use veilpath_protocol::Tile;

/// The comparisons and agreements of this side's scanpaths, over all sessions with a peer.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    /// The most agreements of one scanpath.
    pub(crate) max_agreements: u64,
    /// The largest number that counts against the limit of any scanpath, before these comparisons and with them. The two can
    /// be about different scanpaths.
    pub(crate) before: u64,
    pub(crate) after: u64,
    /// The most that these comparisons add to any scanpath.
    pub(crate) added: u64,
    /// The limit that is exceeded, if one is.
    pub(crate) exceeded: Option<ExceededLimit>,
}

/// The limits that apply now.
#[derive(Clone, Debug)]
pub(crate) struct LimitsInForce {
    /// The limit of each scanpath.
    pub(crate) limits: Vec<u64>,
    /// What the limits would be by default.
    pub(crate) defaults: Vec<u64>,
    pub(crate) origin: LimitOrigin,
}

/// The comparisons of this side's scanpaths with one peer under one agreement or one of its tiles.
#[derive(Debug)]
pub(crate) struct Account {
    file: LedgerFile,
    agreement: String,
    /// The limit that this side's user has set, by the name of the scanpath; `None` for the default.
    chosen_limits: Option<BTreeMap<String, u64>>,
    /// The default limits of this plan. Scanpaths with the same name share the smallest.
    default_limits: BTreeMap<String, u64>,
    /// The most that the policy allows.
    policy: Option<u64>,
    /// Whether the answers of this agreement may be about any scanpath.
    about_any: bool,
    /// For messages.
    assumed_letters: Option<u32>,
    /// For messages.
    pad_to: Option<u32>,
    /// The name of each scanpath of the cohort in the ledger.
    names: Vec<String>,
    counts: BTreeMap<String, u64>,
    /// Whether the file is behind `counts`.
    behind: bool,
}

impl Account {
    /// The names of a cohort's scanpaths in this side's ledgers.
    pub(crate) fn names(identity: &Identity, cohort: &Cohort) -> Vec<String> {
        let name = |entry: &Entry| {
            let stimulus = entry.stimulus.as_deref();
            let parts: [&[u8]; 3] = [
                entry.participant.as_bytes(),
                &[u8::from(stimulus.is_some())],
                stimulus.unwrap_or_default().as_bytes(),
            ];
            hex(&identity.tag("ledger", &parts)[..16])
        };
        cohort.entries.iter().map(name).collect()
    }

    /// Opens the account. `journalled` has the comparisons of each scanpath in this side's journal: after a crash they may
    /// be more than were counted. Also returns which scanpaths were counted more often than the journal says, because
    /// all or part of the journal was lost.
    pub(crate) fn open(
        file: LedgerFile,
        names: Vec<String>,
        (agreement, tile): (&[u8; 32], Option<Tile>),
        limits: &Limits,
        journalled: &[u64],
    ) -> Result<(Self, Vec<bool>), SessionError> {
        let mut account = Self {
            file: file.clone(),
            agreement: tile_key(agreement, tile),
            chosen_limits: limits.chosen.as_ref().map(|it| min_by_name(&names, it)),
            default_limits: min_by_name(&names, &limits.default),
            policy: limits.policy,
            about_any: limits.about_any,
            assumed_letters: limits.assumed_letters,
            pad_to: limits.pad_to,
            names,
            counts: BTreeMap::new(),
            behind: false,
        };
        account.counts = account.sums(journalled);
        let mut lost: BTreeMap<&String, bool> = BTreeMap::new();
        let mut behind = false;
        let agreement = &account.agreement;
        file.inspect(|ledger| {
            for (name, count) in &mut account.counts {
                let counted = ledger.count(name, agreement);
                lost.insert(name, counted > *count);
                behind |= counted < *count;
                *count = counted.max(*count);
            }
        })?;
        account.behind = behind;
        let lost = account.names.iter().map(|name| lost[name]).collect();
        Ok((account, lost))
    }

    /// The totals with these comparisons in addition to those so far. Charges nothing.
    pub(crate) fn assess(&self, more: &[u64]) -> Result<Totals, SessionError> {
        let counts = self.counts_with(more);
        self.file.inspect(|ledger| self.totals(ledger, &counts))
    }

    /// The totals with these comparisons, if the limit allows them.
    pub(crate) fn check(&self, more: &[u64]) -> Result<Totals, SessionError> {
        within_limit(self.assess(more)?)
    }

    /// The totals with all comparisons of a plan that has tiles, whether or not the other tiles were counted yet, and at least
    /// `more` of this tile: in other tiles, some pairs may have counted more than once. Charges nothing.
    pub(crate) fn assess_plan(&self, all: &[u64], more: &[u64]) -> Result<Totals, SessionError> {
        let mut counts = self.counts_with(more);
        self.file.inspect(|ledger| {
            for (name, all) in self.sums(all) {
                let agreements = ledger.scanpaths.get(&name).into_iter().flatten();
                let others = agreements.filter(|(key, _)| {
                    **key != self.agreement && of_same_agreement(key, &self.agreement)
                });
                let others = saturating_sum(others.map(|(_, count)| count));
                let count = counts.entry(name).or_default();
                *count = all.saturating_sub(others).max(*count);
            }
            self.totals(ledger, &counts)
        })
    }

    /// The totals with all comparisons of the plan and at least `more` of this tile, if the limit allows them.
    pub(crate) fn check_plan(&self, all: &[u64], more: &[u64]) -> Result<Totals, SessionError> {
        within_limit(self.assess_plan(all, more)?)
    }

    /// Refuses a peer that is banned, and a tile that was stopped, since this account was opened.
    pub(crate) fn check_allowed(&self) -> Result<(), SessionError> {
        self.file.inspect(|ledger| self.allowed(ledger))?
    }

    fn allowed(&self, ledger: &Ledger) -> Result<(), SessionError> {
        ledger.check_ban()?;
        match ledger.reports.get(&self.agreement) {
            Some(reason) => Err(Limit::TileStopped(*reason).into()),
            None => Ok(()),
        }
    }

    /// Counts these comparisons, durably, if the limit allows all of them; otherwise none.
    pub(crate) fn charge(&mut self, more: &[u64]) -> Result<(), SessionError> {
        self.charge_for(more, || Ok(()))
    }

    /// Like [`Account::charge`], but calls `record` once the limit allows the comparisons and before they are counted, so that a
    /// refused charge leaves no record. Nothing is counted for a peer that another session has banned in the meantime.
    pub(crate) fn charge_for(
        &mut self,
        more: &[u64],
        record: impl FnOnce() -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let counts = match self.behind || self.counts_together() {
            true => self.counts_with(more),
            // The limits of other scanpaths are not affected.
            false => self.changed_counts(more),
        };
        self.file.count(|ledger| {
            self.allowed(ledger)?;
            within_limit(self.totals(ledger, &counts))?;
            record()?;
            Ok(self.entry(ledger, &counts))
        })?;
        self.counts.extend(counts);
        self.behind = false;
        Ok(())
    }

    /// Charges what the journal contains but a crash left uncounted. If the limit does not allow it, it is neither counted nor
    /// sent.
    pub(crate) fn catch_up(&mut self) -> Result<(), SessionError> {
        match self.behind {
            true => self.charge(&[]),
            false => Ok(()),
        }
    }

    /// The limits that apply now.
    pub(crate) fn limits(&self) -> Result<LimitsInForce, SessionError> {
        self.file
            .inspect(|ledger| self.limits_after(&ledger.default_limits))
    }

    fn limits_after(&self, earlier: &BTreeMap<String, u64>) -> LimitsInForce {
        let names = self.default_limits.keys();
        let default = |name: &String| self.default_limit(name, earlier);
        let from = |origin| {
            let mut names = names.clone();
            names.any(|name| self.limit(name, earlier).1 == origin)
        };
        LimitsInForce {
            limits: names
                .clone()
                .map(|name| self.limit(name, earlier).0)
                .collect(),
            defaults: names.clone().map(|name| default(name).0).collect(),
            origin: match &self.chosen_limits {
                Some(_) => LimitOrigin::Chosen,
                None if from(LimitOrigin::Policy) => LimitOrigin::Policy,
                None if from(LimitOrigin::EarlierDefault) => LimitOrigin::EarlierDefault,
                None => LimitOrigin::Default,
            },
        }
    }

    /// Whether comparisons of other scanpaths also count.
    pub(crate) fn counts_together(&self) -> bool {
        self.about_any && self.chosen_limits.is_none()
    }

    /// The limit of a scanpath.
    fn limit(&self, name: &str, earlier: &BTreeMap<String, u64>) -> (u64, LimitOrigin) {
        match &self.chosen_limits {
            Some(chosen) => (limit_of(chosen, name), LimitOrigin::Chosen),
            None => match (self.default_limit(name, earlier), self.policy) {
                ((limit, _), Some(policy)) if policy < limit => (policy, LimitOrigin::Policy),
                (default, _) => default,
            },
        }
    }

    /// The default limit of a scanpath. It counts all answers as if each revealed as much as one of this plan. If
    /// answers of an earlier plan revealed more, its smaller limit holds; otherwise plans in a suitable order would
    /// together reveal a scanpath.
    fn default_limit(&self, name: &str, earlier: &BTreeMap<String, u64>) -> (u64, LimitOrigin) {
        let (ours, earlier) = (
            limit_of(&self.default_limits, name),
            limit_of(earlier, name),
        );
        match earlier < ours {
            true => (earlier, LimitOrigin::EarlierDefault),
            false => (ours, LimitOrigin::Default),
        }
    }

    /// The totals with these comparisons added.
    fn counts_with(&self, more: &[u64]) -> BTreeMap<String, u64> {
        let mut counts = self.counts.clone();
        for (name, more) in self.sums(more) {
            let count = counts.entry(name).or_default();
            *count = count.saturating_add(more);
        }
        counts
    }

    /// The new totals of the scanpaths that get more comparisons.
    fn changed_counts(&self, more: &[u64]) -> BTreeMap<String, u64> {
        let mut sums = self.sums(more);
        sums.retain(|_, more| *more > 0);
        for (name, count) in &mut sums {
            *count = count.saturating_add(count_of(&self.counts, name));
        }
        sums
    }

    /// The sum by name: a cohort may have several scanpaths with the same name.
    fn sums(&self, comparisons: &[u64]) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for (name, comparisons) in self.names.iter().zip(comparisons) {
            let sum: &mut u64 = sums.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*comparisons);
        }
        sums
    }

    /// The entry of the ledger for these counts.
    fn entry(&self, ledger: &Ledger, counts: &BTreeMap<String, u64>) -> Counted {
        let mut entry = Counted {
            agreement: self.agreement.clone(),
            about_any: self.about_any,
            ..Counted::default()
        };
        let compared = counts.iter().filter(|(_, count)| **count > 0);
        entry.counts = compared
            .map(|(name, count)| (name.clone(), *count))
            .collect();
        for (name, &default) in &self.default_limits {
            // An answer about any scanpath may be about one that was not compared.
            let is_exposed = self.about_any || entry.counts.contains_key(name);
            if is_exposed && default < limit_of(&ledger.default_limits, name) {
                entry.default_limits.insert(name.clone(), default);
            }
        }
        entry
    }

    /// For each scanpath, its comparisons whose answers may be about any scanpath, with these counts.
    fn comparisons_about_any<'a>(
        &self,
        ledger: &'a Ledger,
        counts: &'a BTreeMap<String, u64>,
    ) -> BTreeMap<&'a str, u64> {
        let mut sums = BTreeMap::new();
        if !self.about_any && ledger.about_any.is_empty() {
            return sums;
        }
        let is_own = self.about_any || ledger.about_any.contains(&self.agreement);
        for (name, agreements) in &ledger.scanpaths {
            let about_any = agreements
                .iter()
                .filter(|(key, _)| match **key == self.agreement {
                    true => is_own && !counts.contains_key(name),
                    false => ledger.about_any.contains(*key),
                });
            sums.insert(
                name.as_str(),
                saturating_sum(about_any.map(|(_, count)| count)),
            );
        }
        for (name, count) in counts.iter().filter(|_| is_own) {
            let sum: &mut u64 = sums.entry(name).or_default();
            *sum = sum.saturating_add(*count);
        }
        sums
    }

    /// The totals if these counts were stored, and whether they exceed a limit.
    fn totals(&self, ledger: &Ledger, counts: &BTreeMap<String, u64>) -> Totals {
        // Comparisons of other scanpaths, which may have been answered about this one.
        let about_any = match self.chosen_limits {
            Some(_) => BTreeMap::new(),
            None => self.comparisons_about_any(ledger, counts),
        };
        let all_about_any = saturating_sum(about_any.values());
        // What only the journal has was never sent, because the ledger is written first. So it counts as new.
        let counted = |name: &String| match self.behind {
            true => ledger.count(name, &self.agreement),
            false => count_of(&self.counts, name),
        };
        let growth = |name: &String| counts[name].saturating_sub(counted(name));
        let all_growth = counts.keys().map(growth).fold(0, u64::saturating_add);
        let mut totals = Totals {
            max_agreements: 0,
            before: 0,
            after: 0,
            added: 0,
            exceeded: None,
        };
        let (mut exceeded, mut per_scanpath) = (0, 0);
        for (name, count) in counts {
            let others = ledger.scanpaths.get(name).into_iter().flatten();
            let others = others.filter(|(key, _)| **key != self.agreement);
            let compared = others.clone().filter(|(_, count)| **count > 0);
            // In the order of their names, so tiles of the same agreement are next to each other.
            let mut agreements: Vec<&str> = compared.map(|(key, _)| agreement_of(key)).collect();
            agreements.dedup();
            let own_agreement = agreement_of(&self.agreement);
            let is_new = *count > 0 && !agreements.contains(&own_agreement);
            let of_scanpath = agreements.len() as u64 + u64::from(is_new);
            totals.max_agreements = totals.max_agreements.max(of_scanpath);
            let own = saturating_sum(others.map(|(_, count)| count)).saturating_add(*count);
            per_scanpath = per_scanpath.max(own);
            let of_this = about_any.get(name.as_str()).copied().unwrap_or(0);
            let of_others = all_about_any - of_this.min(all_about_any);
            let after = own.saturating_add(of_others);
            let now = match self.counts_together() {
                true => all_growth,
                false => growth(name),
            };
            let before = after - now.min(after);
            totals.before = totals.before.max(before);
            totals.after = totals.after.max(after);
            totals.added = totals.added.max(now);
            let (limit, origin) = self.limit(name, &ledger.default_limits);
            // What was revealed before may be sent again under any limit.
            if after > limit && now > 0 {
                exceeded += 1;
                let worst = totals.exceeded.as_ref();
                if worst.is_none_or(|worst| (worst.needed(), limit) < (after, worst.limit)) {
                    totals.exceeded = Some(ExceededLimit {
                        limit,
                        origin,
                        before,
                        now,
                        // Earlier comparisons of other scanpaths may count, too.
                        counts_together: of_others > 0 || self.counts_together(),
                        exceeded: 0,
                        scanpaths: self.counts.len() as u64,
                        per_scanpath: 0,
                        policy: self.policy,
                        assumed_letters: self.assumed_letters,
                        pad_to: self.pad_to,
                    });
                }
            }
        }
        if let Some(worst) = &mut totals.exceeded {
            (worst.exceeded, worst.per_scanpath) = (exceeded, per_scanpath);
        }
        totals
    }
}

fn within_limit(mut totals: Totals) -> Result<Totals, SessionError> {
    match totals.exceeded.take() {
        None => Ok(totals),
        Some(exceeded) => Err(Limit::Comparisons(exceeded).into()),
    }
}

fn limit_of(limits: &BTreeMap<String, u64>, name: &str) -> u64 {
    limits.get(name).copied().unwrap_or(u64::MAX)
}

fn count_of(counts: &BTreeMap<String, u64>, name: &str) -> u64 {
    counts.get(name).copied().unwrap_or(0)
}

/// The smallest value by name.
fn min_by_name(names: &[String], values: &[u64]) -> BTreeMap<String, u64> {
    let mut by_name = BTreeMap::new();
    for (name, &value) in names.iter().zip(values) {
        let smallest = by_name.entry(name.clone()).or_insert(value);
        *smallest = value.min(*smallest);
    }
    by_name
}
