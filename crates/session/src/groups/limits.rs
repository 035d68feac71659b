//! Whether the other side may learn a group answer.
//!
//! Each side chooses its minimum, and may choose another one in every session. A refusal that depends on the other
//! side's minimum is an answer to a question of its choice: with a few of them, it could find the size of this side's
//! smallest group within a stimulus, or of the smallest difference from earlier answers. So the other side's minimum
//! applies only to sizes that it knows: of the whole, of stimuli and of groups. What it does not know is compared with
//! this side's own minimum alone.

use super::{AgreedGroups, GroupNegotiation, index_of, members};
use crate::digests::ScanpathDigests;
use crate::disclosure::{
    AnswerRequest, Charge, DisclosureLedger, DisclosureLimits, DisclosureRefusal,
};
use crate::error::{Limit, SessionError};
use veilpath_protocol::{GroupQuestion, GroupSizes, PairRule, Role, ScanpathId};

impl GroupNegotiation<'_> {
    /// Refuses what this side's own limits do not allow, before it sends anything about its groups.
    pub(crate) fn check_own(&self, question: GroupQuestion) -> Result<(), SessionError> {
        let sizes = self.own_sizes(question).unwrap_or_default();
        // The other side sees sizes even if it does not learn the answer.
        check_groups(&sizes, self.proposal.disclosure.minimum_group)?;
        self.allow_sizes(question)?;
        self.allow(&self.scanpath_ids, 1).map(|_| ())
    }

    /// Checks whether the other side may see the sizes of this side's groups, if the question needs them. Charges nothing.
    pub(super) fn allow_sizes(
        &self,
        question: GroupQuestion,
    ) -> Result<Option<Charge>, SessionError> {
        if self.own_sizes(question).is_none() {
            return Ok(None);
        }
        let members = members::with_groups(&self.proposal.cohort);
        let key = members::key(self.identity, &members);
        let (sizes, limits) = (AnswerRequest::sizes(&key), self.proposal.disclosure);
        self.ledger.check(&sizes, &members, limits).map(Some)
    }

    /// Checks whether the other side may learn the answer, if it does, under this side's limits. Charges nothing.
    pub(super) fn allow(
        &self,
        scanpath_ids: &[Vec<ScanpathId>; 2],
        counts_as: u32,
    ) -> Result<Option<Charge>, SessionError> {
        if !self.proposal.spec.reveal_to.includes(self.role.other()) {
            return Ok(None);
        }
        let answer = self.request(scanpath_ids, counts_as)?;
        let members = members::that_hide_others(
            &self.proposal.cohort,
            &self.proposal.spec.metric,
            self.taking_part(),
        );
        let limits = self.proposal.disclosure;
        self.ledger.check(&answer, &members, limits).map(Some)
    }

    /// Checks the sizes that the other side knows against the larger of both minimums.
    pub(super) fn check_public_sizes(
        &self,
        agreed: &AgreedGroups,
        counts_as: u32,
    ) -> Result<(), SessionError> {
        check_groups(&agreed.sizes[index_of(self.role)], agreed.minimum)?;
        let answer = AnswerRequest {
            by_group: false,
            ..self.request(&agreed.scanpath_ids, counts_as)?
        };
        let (cohort, metric) = (&self.proposal.cohort, &self.proposal.spec.metric);
        let members = match self.proposal.spec.pad_to {
            None => members::that_hide_others(cohort, metric, self.taking_part()),
            // Padding hides lengths.
            Some(_) => members::with_empty_scanpaths(cohort, metric, self.taking_part()),
        };
        let limits = DisclosureLimits {
            minimum_group: agreed.minimum,
            answers_per_partner: u32::MAX,
            allow_changed_encoding: true,
        };
        // Nothing about earlier answers.
        let peer = self.ledger.partner();
        let empty = DisclosureLedger::open(None, self.identity, peer);
        empty.check(&answer, &members, limits).map(|_| ())
    }

    /// What the plan asks for.
    fn request(
        &self,
        scanpath_ids: &[Vec<ScanpathId>; 2],
        counts_as: u32,
    ) -> Result<AnswerRequest<'_>, SessionError> {
        let mut answer = AnswerRequest::of(self.agreement, self.proposal.spec.reveal);
        // Groups that the question does not need are ignored, and may be missing.
        let question = self.proposal.spec.reveal.group_question();
        answer.by_group = question.is_some_and(|it| it.sides_with_groups()[index_of(self.role)]);
        let has_stimuli = |ids: &Vec<ScanpathId>| ids.iter().any(|it| it.stimulus.is_some());
        answer.by_stimulus = self.proposal.spec.pair_rule == PairRule::SameStimulus
            && scanpath_ids.iter().all(has_stimuli);
        answer.has_references = self.role == Role::Join;
        answer.names_scanpaths =
            self.role == Role::Host && question.is_some_and(|it| it.names_scanpaths());
        answer.counts_as = counts_as;
        let proposal = self.proposal;
        let digests = ScanpathDigests::of(&proposal.cohort, &proposal.spec.metric);
        answer.encoding = Some(digests.settings());
        Ok(answer)
    }

    /// This side's scanpaths that are in a pair.
    fn taking_part(&self) -> impl Iterator<Item = usize> + '_ {
        self.pairs.iter().map(|&(host, join)| match self.role {
            Role::Host => host,
            Role::Join => join,
        })
    }
}

/// Refuses groups of fewer than `minimum` participants.
fn check_groups(sizes: &GroupSizes, minimum: u32) -> Result<(), SessionError> {
    let smallest = sizes.0.values().copied().min();
    match smallest.filter(|&size| size < minimum) {
        None => Ok(()),
        Some(size) => Err(Limit::from(DisclosureRefusal::SmallPart {
            participants: size.into(),
            minimum,
        })
        .into()),
    }
}
