//! Participants who withdraw, before a session and during one.

use super::file::DisclosuresFile;
use super::{Charge, DisclosureLedger, DisclosureRefusal, Tag};
use crate::error::{Limit, SessionError};
use crate::locked_file::FileState;
use crate::signed_record::{RecordEntry, WithdrawalEntry};
use crate::{Fingerprint, StateDir, date};
use std::collections::BTreeSet;
use veilpath_metrics::Cohort;

/// The result of a withdrawal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Withdrawn {
    /// Participants who had not withdrawn before.
    pub new: u64,
    /// The ids of those who were in no answer for this partner so far. Their withdrawal holds, too, but an id may be
    /// misspelt.
    pub unknown: Vec<String>,
}

/// Those of this side's participants whose scanpaths a session uses. A withdrawal may come while it runs.
#[derive(Debug)]
pub(crate) struct WithdrawalWatch {
    file: DisclosuresFile,
    participants: BTreeSet<Tag>,
    /// The state of the file when it was last read.
    seen: Option<FileState>,
    /// How many of the participants had withdrawn by then.
    withdrawn: u64,
}

impl DisclosureLedger {
    /// Excludes participants from all later answers for this partner and from the rest of those that have started, and
    /// exempts them from the rule about differences. The withdrawal is entered into the record, without ids. This
    /// includes participants who were in no answer so far: a session about them may have been agreed on, and not started.
    pub fn withdraw(&self, participants: &[String]) -> Result<Withdrawn, SessionError> {
        let mut withdrawn = Withdrawn::default();
        self.file.update(|disclosed| {
            for id in participants {
                let tag = self.participant_tag(id);
                if !disclosed.contains_participant(tag) {
                    withdrawn.unknown.push(id.clone());
                }
                withdrawn.new += u64::from(disclosed.withdrawn.insert(tag));
            }
            if withdrawn.new == 0 {
                return Ok(());
            }
            // The record comes first: an override that is not recorded must not take effect.
            let entry = WithdrawalEntry {
                time: date::date_and_time(date::now()),
                partner: self.partner,
                participants: withdrawn.new,
            };
            self.record
                .append(RecordEntry::Withdrawal(entry), &self.identity)
        })?;
        Ok(withdrawn)
    }

    /// Refuses a cohort with participants who have withdrawn, whatever the plan: even a roster contains their ids and lengths.
    pub(crate) fn check_withdrawn(&self, cohort: &Cohort) -> Result<(), SessionError> {
        let withdrawn = self.file.read()?.withdrawn;
        if withdrawn.is_empty() {
            return Ok(());
        }
        let participants = cohort.entries.iter().map(|entry| &entry.participant[..]);
        let participants: BTreeSet<&str> = participants.collect();
        let tags = participants.iter().map(|id| self.participant_tag(id));
        match tags.filter(|tag| withdrawn.contains(tag)).count() as u64 {
            0 => Ok(()),
            participants => Err(Limit::from(DisclosureRefusal::Withdrawn { participants }).into()),
        }
    }

    /// Watches the participants of these answers.
    pub(crate) fn watch<'a>(
        &self,
        charges: impl IntoIterator<Item = &'a Charge>,
    ) -> WithdrawalWatch {
        let participants = charges.into_iter().flat_map(Charge::participants);
        WithdrawalWatch::new(self.file.clone(), participants.collect())
    }

    /// Watches the participants of a cohort.
    pub(crate) fn watch_cohort(&self, cohort: &Cohort) -> WithdrawalWatch {
        let participants = cohort.entries.iter();
        let participants = participants.map(|entry| self.participant_tag(&entry.participant));
        WithdrawalWatch::new(self.file.clone(), participants.collect())
    }
}

impl WithdrawalWatch {
    /// Watches participants, given by their tags.
    pub(crate) fn of(
        state_dir: &StateDir,
        partner: Fingerprint,
        participants: BTreeSet<Tag>,
    ) -> Self {
        let folder = state_dir.disclosures();
        Self::new(DisclosuresFile::of(Some(&folder), partner), participants)
    }

    /// Watches nobody: somebody else watches, such as a worker's coordinator.
    pub(crate) fn nobody() -> Self {
        Self::new(DisclosuresFile::at(None), BTreeSet::new())
    }

    fn new(file: DisclosuresFile, participants: BTreeSet<Tag>) -> Self {
        Self {
            file,
            participants,
            seen: None,
            withdrawn: 0,
        }
    }

    /// Refuses if any of the participants has withdrawn. It is called for every batch of pairs, so it reads the file only if
    /// that has changed.
    pub(crate) fn check(&mut self) -> Result<(), SessionError> {
        if self.participants.is_empty() {
            return Ok(());
        }
        if let Some(disclosed) = self.file.read_if_changed(&mut self.seen)? {
            let withdrawn = disclosed.withdrawn.intersection(&self.participants);
            self.withdrawn = withdrawn.count() as u64;
        }
        match self.withdrawn {
            0 => Ok(()),
            participants => Err(Limit::from(DisclosureRefusal::Withdrawn { participants }).into()),
        }
    }
}
