//! Group answers: what the sides agree on besides the pairs, and how the answer is opened.
//!
//! ```text
//! host                                       join
//!  │── Groups ─────────────────────────────▶│   names and sizes of groups if the question needs them, the minimum
//!  │◀────────────────────────────── Groups ──│   number of participants, a commitment to coins and published labels
//!       … Statements, and so on, until the computation starts …
//!  │── Labels ─────────────────────────────▶│   only if both sides publish them: who is in which group; see `published.rs`
//!  │◀────────────────────────────── Labels ──│
//!  │── Coins ──────────────────────────────▶│   only for tests and published labels: what was committed to; see `coins.rs`
//!  │◀─────────────────────────────── Coins ──│
//!       … all pairs are compared: both sides keep their halves, and send none …
//!       … statistics on shares, see `statistics` in veilpath-protocol …
//!  │── SharesStored ───────────────────────▶│   this side's shares of the answer are on disk
//!  │◀──────────────────────── SharesStored ──│
//!  │◀────────────────────────────── Answer ──│   the shares, if the host learns the answer
//!  │── Answer ─────────────────────────────▶│   the shares, if the joining side does
//! ```
//!
//! The numbers of an answer are stored like outputs of pairs: each side has a share, tagged with the run that it
//! belongs to. Before a side sends its share, it durably charges the answer and records that the share may have been
//! sent. From then on the answer is never computed again under this agreement; a share that did not arrive is sent
//! again. If both sides learn the answer, the host learns it first.

mod answer;
mod budget;
mod coins;
mod limits;
pub(crate) mod members;
pub(crate) mod published;
pub(crate) mod resume;
#[cfg(test)]
mod tests;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use answer::opening;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use coins::CoinsPart;

use crate::Identity;
use crate::control::{self, Tag};
use crate::disclosure::{Charge, DisclosureLedger, WithdrawalWatch};
use crate::error::{InternalError, Misbehaviour, SessionError, UsageError};
use crate::identity::{from_hex, hex};
use crate::journal::Journal;
use crate::session::Proposal;
use coins::{Committed, commitment};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use veilpath_channel::Channel;
use veilpath_metrics::Cohort;
use veilpath_metrics::text::is_printable;
use veilpath_protocol::{
    AnswerSchema, GroupInputs, GroupQuestion, GroupSizes, GroupWorkload, Job, JobError,
    PreparedGroupAnswer, ProtocolError, Role, ScanpathId, Spec,
};

/// The largest minimum that a side may ask for.
const MAX_MINIMUM: u32 = 1 << 20;

/// What both sides have agreed on for a group answer.
#[derive(Debug)]
pub(crate) struct GroupAgreement {
    groups: AgreedGroups,
    /// What the numbers of the answer mean.
    pub(crate) schema: AnswerSchema,
    /// The coins of a test and published labels, until they are opened.
    committed: Option<Committed>,
    ledger: DisclosureLedger,
    /// What is charged before the other side learns the answer; `None` if it does not learn it.
    charge: Option<Charge>,
    /// The sizes of this side's groups that the other side has seen, if any.
    sizes: Option<Charge>,
    /// A digest of what the peer has chosen.
    peer_digest: [u8; 32],
}

/// The question and its inputs.
#[derive(Debug)]
struct AgreedGroups {
    question: GroupQuestion,
    sizes: [GroupSizes; 2],
    minimum: u32,
    /// Zeros until they are opened.
    coins: [u8; 32],
    own_groups: Option<Vec<String>>,
    /// The group of each of the other side's scanpaths, once it has published them.
    peer_groups: Option<Vec<String>>,
    /// The ids of the host's scanpaths and the joining side's.
    scanpath_ids: [Vec<ScanpathId>; 2],
}

/// The message Groups.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupTerms {
    /// Names and sizes of this side's groups, if the question needs them.
    sizes: Option<GroupSizes>,
    /// The fewest participants that a part of the answer may be about.
    minimum: u32,
    /// A hash of this side's part of the coins and of the labels that it will publish, if there are any.
    commitment: Option<String>,
}

/// The inputs of the negotiation about groups.
pub(crate) struct GroupNegotiation<'a> {
    pub(crate) role: Role,
    pub(crate) identity: &'a Identity,
    pub(crate) proposal: &'a Proposal,
    pub(crate) agreement: &'a [u8; 32],
    pub(crate) pairs: &'a [(usize, usize)],
    /// The ids of the host's scanpaths and the joining side's.
    pub(crate) scanpath_ids: [Vec<ScanpathId>; 2],
    /// The lengths of the other side's scanpaths.
    pub(crate) peer_lengths: &'a [usize],
    pub(crate) ledger: DisclosureLedger,
}

/// Whether this side's cohort has the groups that a question needs, and the engine can answer it.
pub(crate) fn check_cohort(
    question: GroupQuestion,
    role: Role,
    proposal: &Proposal,
) -> Result<(), SessionError> {
    let is_needed = question.sides_with_groups()[index_of(role)];
    if is_needed && own_groups(&proposal.cohort).is_none() {
        let mut entries = proposal.cohort.entries.iter();
        let first = entries.position(|entry| entry.group.is_none());
        let number = first.map_or(0, |index| index + 1);
        return Err(UsageError::NoGroups { number }.into());
    }
    match proposal.spec.engine.supports_secret_shared_results() {
        true => Ok(proposal.spec.check()?),
        false => Err(UsageError::EngineWithoutGroups {
            engine: proposal.spec.engine.name(),
        }
        .into()),
    }
}

impl GroupNegotiation<'_> {
    /// The sizes of this side's groups, if the question needs them.
    fn own_sizes(&self, question: GroupQuestion) -> Option<GroupSizes> {
        let own = index_of(self.role);
        let groups =
            own_groups(&self.proposal.cohort).filter(|_| question.sides_with_groups()[own]);
        groups.map(|groups| GroupSizes::of(&self.scanpath_ids[own], &groups))
    }

    /// Exchanges groups and commitments to coins, and checks that the answer is allowed.
    pub(crate) fn agree(
        mut self,
        question: GroupQuestion,
        channel: &mut dyn Channel,
    ) -> Result<GroupAgreement, SessionError> {
        let role = self.role;
        let (ours, theirs) = (index_of(role), index_of(role.other()));
        let needed = question.sides_with_groups();
        let own_groups = own_groups(&self.proposal.cohort).filter(|_| needed[ours]);
        let part = self.identity.tag("coins", &[self.agreement]);
        let own_sizes = self.own_sizes(question);
        let own_labels = match (&own_groups, &own_sizes) {
            (Some(groups), Some(sizes)) if question.publishes_groups() => {
                let labels = published::encode(&self.scanpath_ids[ours], groups, sizes);
                Some(labels.ok_or(ProtocolError::Job(JobError::UnknownGroup))?)
            }
            _ => None,
        };
        let own_commitment = commitment(self.agreement, role, &part, own_labels.as_deref());
        let terms = GroupTerms {
            sizes: own_sizes.clone(),
            minimum: self.proposal.disclosure.minimum_group,
            commitment: has_commitment(question).then(|| hex(&own_commitment)),
        };
        let charged_sizes = self.allow_sizes(question)?;
        if let Some(charge) = &charged_sizes {
            self.ledger.charge(charge.clone())?;
        }
        let their_terms: GroupTerms = control::exchange(channel, role, Tag::Groups, &terms)?;
        if !their_terms.is_valid(needed[theirs], &self.scanpath_ids[theirs], question) {
            return Err(Misbehaviour::InvalidGroups.into());
        }
        let peer_digest = their_terms.digest()?;
        let their_commitment = their_terms.commitment.as_ref();
        let their_commitment =
            their_commitment.map(|text| from_hex(text).ok_or(Misbehaviour::InvalidCoins));
        let committed = their_commitment
            .transpose()?
            .map(|their_commitment| Committed {
                agreement: *self.agreement,
                own: part,
                own_labels,
                their_commitment,
            });
        let minimum = terms.minimum.max(their_terms.minimum);
        let (own, their) = (
            own_sizes.unwrap_or_default(),
            their_terms.sizes.unwrap_or_default(),
        );
        let sizes = match role {
            Role::Host => [own, their],
            Role::Join => [their, own],
        };
        let agreed = AgreedGroups {
            question,
            sizes,
            minimum,
            coins: [0; 32],
            own_groups,
            peer_groups: None,
            scanpath_ids: std::mem::take(&mut self.scanpath_ids),
        };
        let own = crate::run::scanpaths(&self.proposal.cohort);
        let peers = self.peer_lengths.len();
        let job = Job::new(&self.proposal.spec, role, &own, peers, self.pairs)?
            .with_peer_lengths(self.peer_lengths)?;
        let schema = agreed.prepare(&job, &self.proposal.spec)?.schema().clone();
        let engine = self.proposal.spec.engine;
        let counts_as = budget::counts_as(&schema, engine, role, self.pairs, &agreed.scanpath_ids);
        let charge = self.allow(&agreed.scanpath_ids, counts_as)?;
        if charge.as_ref().is_some_and(|charge| !charge.is_charged) {
            self.check_public_sizes(&agreed, counts_as)?;
        }
        Ok(GroupAgreement {
            groups: agreed,
            schema,
            committed,
            ledger: self.ledger,
            charge,
            sizes: charged_sizes,
            peer_digest,
        })
    }
}

impl GroupAgreement {
    /// The size of the question, for the estimate.
    pub(crate) fn work(&self, pairs: &[(usize, usize)]) -> GroupWorkload {
        self.groups.work(pairs)
    }

    /// A digest of the peer's groups and of its commitment. It is the same in all sessions of an agreement, because how
    /// many numbers are opened, and what they count as, depends on the groups.
    pub(crate) fn peer_digest(&self) -> &[u8; 32] {
        &self.peer_digest
    }

    /// Watches everybody whom the other side learns something about: an answer, or a group.
    pub(crate) fn watch(&self) -> WithdrawalWatch {
        self.ledger.watch(self.charge.iter().chain(&self.sizes))
    }

    /// The fewest participants of each side that a part of the answer is about.
    pub(crate) fn minimum(&self) -> u32 {
        self.groups.minimum
    }

    /// Answers for the other side, this one included, if it learns this one.
    pub(crate) fn answers(&self) -> Option<u32> {
        self.charge.as_ref().map(|charge| charge.answers)
    }

    /// If the answer was charged but the journal does not say that shares were sent, part of the journal was lost. Then this
    /// records that they may have been sent, so that the answer is not computed again, and that the shares that are left, which
    /// may be of an earlier run, are not sent. `first` is the index of the answer's first number.
    pub(crate) fn withhold_lost(
        &self,
        journal: &mut Journal,
        first: usize,
    ) -> Result<(), SessionError> {
        let was_counted = self.charge.as_ref().is_some_and(|it| it.is_charged);
        let indices = first..first + self.schema.count();
        let unknown: Vec<usize> = indices.filter(|&at| !journal.may_be_sent(at)).collect();
        match was_counted && !unknown.is_empty() {
            true => journal.withhold(&unknown),
            false => Ok(()),
        }
    }
}

impl AgreedGroups {
    /// Checks and stores the labels that the peer has published.
    fn publish(&mut self, role: Role, labels: &[u8]) -> Result<(), SessionError> {
        let theirs = index_of(role.other());
        let groups = published::decode(labels, &self.scanpath_ids[theirs], &self.sizes[theirs]);
        self.peer_groups = Some(groups.ok_or(Misbehaviour::InvalidGroups)?);
        Ok(())
    }

    fn work(&self, pairs: &[(usize, usize)]) -> GroupWorkload {
        let participants = |ids: &Vec<ScanpathId>| {
            let distinct: HashSet<&str> = ids.iter().map(|it| it.participant.as_str()).collect();
            distinct.len() as u64
        };
        let [host, join] = &self.scanpath_ids;
        GroupWorkload {
            participants: [participants(host), participants(join)],
            groups: self.sizes.iter().map(|sizes| sizes.0.len() as u64).sum(),
            pairs: pairs.len() as u64,
            queries: pairs.chunk_by(|a, b| a.0 == b.0).count() as u64,
        }
    }

    /// The computation, for a job with all pairs.
    fn prepare<'a>(
        &'a self,
        job: &'a Job<'a>,
        spec: &Spec,
    ) -> Result<PreparedGroupAnswer<'a>, SessionError> {
        let inputs = GroupInputs {
            question: self.question,
            engine: spec.engine,
            rule: spec.pair_rule,
            ids: [&self.scanpath_ids[0], &self.scanpath_ids[1]],
            own_groups: self.own_groups.as_deref(),
            peer_groups: self.peer_groups.as_deref(),
            sizes: self.sizes.clone(),
            minimum: self.minimum,
            coins: self.coins,
        };
        Ok(PreparedGroupAnswer::new(job, inputs)?)
    }
}

impl GroupTerms {
    /// A digest of everything but the minimum, which a user may change.
    fn digest(&self) -> Result<[u8; 32], SessionError> {
        let fixed = Self {
            minimum: 0,
            ..self.clone()
        };
        let text = serde_json::to_vec(&fixed)
            .map_err(|error| InternalError::Serialise(error.to_string()))?;
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, &text).as_ref());
        Ok(bytes)
    }

    /// Whether the peer's terms fit the question and the ids of its scanpaths. `needs_groups` says whether the question needs its groups.
    pub(crate) fn is_valid(
        &self,
        needs_groups: bool,
        scanpath_ids: &[ScanpathId],
        question: GroupQuestion,
    ) -> bool {
        let sizes = match &self.sizes {
            None => !needs_groups,
            Some(sizes) => {
                let printable = sizes.0.keys().all(|name| is_printable(name));
                needs_groups && printable && sizes.is_valid(scanpath_ids)
            }
        };
        sizes
            && self.minimum <= MAX_MINIMUM
            && self.commitment.is_some() == has_commitment(question)
    }
}

/// The index of a side in lists of both.
fn index_of(role: Role) -> usize {
    match role {
        Role::Host => 0,
        Role::Join => 1,
    }
}

/// Whether each side has to commit to coins or labels.
fn has_commitment(question: GroupQuestion) -> bool {
    question.permutations().is_some() || question.publishes_groups()
}

/// The group of every scanpath, if all have one.
fn own_groups(cohort: &Cohort) -> Option<Vec<String>> {
    let groups = cohort.entries.iter().map(|entry| entry.group.clone());
    groups.collect()
}
