//! Computes a group answer and opens it.

use super::GroupAgreement;
use super::resume::AnswerStep;
use crate::control::{self, Tag};
use crate::counted_store::AgreedPairs;
use crate::disclosure::WithdrawalWatch;
use crate::error::{InternalError, Limit, Misbehaviour, SessionError};
use crate::journal::Journal;
use crate::ledger::Account;
use crate::session::AgreedSession;
use std::ops::Range;
use veilpath_channel::Channel;
use veilpath_protocol::{GroupAnswer, Job, Role};

/// One side of the opening.
struct Opening<'a> {
    role: Role,
    group: &'a mut GroupAgreement,
    journal: &'a mut Journal,
    account: &'a mut Account,
    withdrawals: &'a mut WithdrawalWatch,
    /// The comparisons that the answer counts as, for each scanpath of this side; none if it names no scanpath.
    comparisons: Vec<u64>,
    /// The indices of the answer's numbers in the journal.
    numbers: Range<usize>,
}

impl AgreedSession {
    /// Finishes the group answer, if the agreement is about one.
    pub(crate) fn compute_group_answer(&mut self) -> Result<(), SessionError> {
        let Self {
            session, agreement, ..
        } = self;
        let Some(group) = &mut agreement.group else {
            return Ok(());
        };
        let (role, pairs) = (session.role, agreement.pairs.len());
        let agreed = AgreedPairs {
            role,
            spec: &agreement.proposal.spec,
            pairs: &agreement.pairs,
            cells: &agreement.cells,
            scanpaths: agreement.proposal.cohort.entries.len(),
        };
        let mut opening = Opening {
            role,
            numbers: pairs..pairs + group.schema.count(),
            group,
            journal: &mut agreement.journal,
            account: &mut agreement.account,
            withdrawals: &mut agreement.withdrawals,
            comparisons: agreed.counted_by_answer().unwrap_or_default(),
        };
        if !agreement.resume.unrecorded.is_empty() {
            opening.release()?;
        }
        let channel = &mut session.channel;
        match agreement.resume.answer {
            AnswerStep::Nothing => Ok(()),
            AnswerStep::SendShares { host, join } => opening.exchange_shares(channel, [host, join]),
            AnswerStep::SendNumbers(sender) => opening.transfer_numbers(channel, sender),
            AnswerStep::Compute => {
                let proposal = &agreement.proposal;
                let roster = match role {
                    Role::Host => &agreement.join,
                    Role::Join => &agreement.host,
                };
                let lengths = crate::run::lengths(roster, 0..roster.len())?;
                let own = crate::run::scanpaths(&proposal.cohort);
                let job = Job::new(&proposal.spec, role, &own, lengths.len(), &agreement.pairs)?
                    .with_peer_lengths(&lengths)?;
                let halves = (0..pairs).map(|pair| match agreed.is_informative(pair) {
                    false => Ok(0),
                    true => match opening.journal.half(pair) {
                        Some(half) => Ok(half.half),
                        None => Err(SessionError::from(InternalError::LostResults)),
                    },
                });
                let halves = halves.collect::<Result<Vec<u64>, _>>()?;
                let levels = agreement
                    .decision
                    .map_or_else(Default::default, |it| it.tree_levels);
                opening.start(agreement.max_starts)?;
                let prepared = opening.group.groups.prepare(&job, &proposal.spec)?;
                let shares = prepared.run(&halves, levels, channel)?;
                opening.store_shares(channel, &shares, agreement.run)?;
                let to = proposal.spec.reveal_to;
                opening.exchange_shares(
                    channel,
                    [Role::Host, Role::Join].map(|role| to.includes(role)),
                )
            }
        }
    }

    /// The answer, once its numbers are known. They may be impossible: the other side may have sent wrong shares.
    pub(crate) fn group_answer(&self) -> Result<Option<GroupAnswer>, SessionError> {
        let agreement = &self.agreement;
        let Some(group) = &agreement.group else {
            return Ok(None);
        };
        if !agreement
            .proposal
            .spec
            .reveal_to
            .includes(self.session.role)
        {
            return Ok(None);
        }
        let first = agreement.pairs.len();
        let numbers = (first..first + group.schema.count())
            .map(|at| agreement.journal.number(at))
            .collect::<Option<Vec<u64>>>()
            .ok_or(InternalError::LostResults)?;
        let numbers: Vec<i64> = numbers.into_iter().map(u64::cast_signed).collect();
        Ok(Some(group.schema.answer(&numbers)?))
    }
}

impl Opening<'_> {
    /// Records that the answer is about to be computed. As for a pair, the number of starts without a result is limited.
    fn start(&mut self, max_starts: u32) -> Result<(), SessionError> {
        self.withdrawals.check()?;
        let first = self.numbers.start;
        if self.journal.starts(first) >= max_starts {
            return Err(Limit::TooManyStarts { starts: max_starts }.into());
        }
        self.journal.start_pairs(&[first])
    }

    /// Stores this side's shares durably, and waits until the other side has done the same.
    fn store_shares(
        &mut self,
        channel: &mut dyn Channel,
        shares: &[u64],
        run: u64,
    ) -> Result<(), SessionError> {
        if shares.len() != self.numbers.len() {
            return Err(InternalError::LostResults.into());
        }
        let numbers: Vec<usize> = self.numbers.clone().collect();
        if numbers.iter().any(|&at| self.journal.may_be_sent(at)) {
            return Err(InternalError::ComparedAgain.into());
        }
        if self.role == Role::Join {
            control::receive_bytes(channel, Tag::SharesStored)?;
        }
        self.journal.store_halves(&numbers, shares, run)?;
        control::send_bytes(channel, Tag::SharesStored, &[])?;
        if self.role == Role::Host {
            control::receive_bytes(channel, Tag::SharesStored)?;
        }
        Ok(())
    }

    /// Records that the other side may know the answer and charges it, before any of it is sent. If the limit of comparisons refuses it,
    /// nothing is recorded; if the ledger of answers does, the record stays, and the next attempt meets the ledger again.
    fn release(&mut self) -> Result<(), SessionError> {
        self.withdrawals.check()?;
        let new = self.numbers.clone().filter(|&at| !self.journal.is_sent(at));
        let new: Vec<usize> = new.collect();
        let (group, journal) = (&mut *self.group, &mut *self.journal);
        let counts_nothing = new.is_empty() || self.comparisons.is_empty();
        // The journal comes first: if only the ledger knows of the answer, part of the journal was lost.
        let mut record = || {
            if !new.is_empty() {
                journal.mark_sent(&new)?;
            }
            match group.charge.take() {
                Some(charge) => group.ledger.charge(charge),
                None => Ok(()),
            }
        };
        match counts_nothing {
            true => {
                self.account.check_allowed()?;
                record()
            }
            false => self.account.charge_for(&self.comparisons, record),
        }
    }

    /// Exchanges shares: the joining side sends first.
    fn exchange_shares(
        &mut self,
        channel: &mut dyn Channel,
        [to_host, to_join]: [bool; 2],
    ) -> Result<(), SessionError> {
        for (sender, is_needed) in [(Role::Join, to_host), (Role::Host, to_join)] {
            match (is_needed, sender == self.role) {
                (false, _) => {}
                (true, true) => {
                    self.release()?;
                    let half = |at: usize| self.journal.half(at).map_or(0, |half| half.half);
                    let shares: Vec<u64> = self.numbers.clone().map(half).collect();
                    self.send(channel, &shares)?;
                }
                (true, false) => {
                    for (at, theirs) in self.numbers.clone().zip(self.receive(channel)?) {
                        let ours = self.journal.half(at).map_or(0, |half| half.half);
                        self.journal.store_number(at, ours.wrapping_add(theirs))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends or receives the numbers themselves.
    fn transfer_numbers(
        &mut self,
        channel: &mut dyn Channel,
        sender: Role,
    ) -> Result<(), SessionError> {
        if sender == self.role {
            self.release()?;
            let number = |at: usize| self.journal.number(at).unwrap_or(0);
            let numbers: Vec<u64> = self.numbers.clone().map(number).collect();
            return self.send(channel, &numbers);
        }
        for (at, number) in self.numbers.clone().zip(self.receive(channel)?) {
            self.journal.store_number(at, number)?;
        }
        Ok(())
    }

    fn send(&self, channel: &mut dyn Channel, numbers: &[u64]) -> Result<(), SessionError> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        control::send_bytes(channel, Tag::Answer, &bytes)
    }

    fn receive(&self, channel: &mut dyn Channel) -> Result<Vec<u64>, SessionError> {
        let bytes = control::receive_bytes(channel, Tag::Answer)?;
        let (numbers, rest) = bytes.as_chunks();
        if !rest.is_empty() || numbers.len() != self.numbers.len() {
            return Err(Misbehaviour::InvalidAnswer.into());
        }
        Ok(numbers.iter().map(|it| u64::from_le_bytes(*it)).collect())
    }
}

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod opening;
#[cfg(test)]
mod tests;
