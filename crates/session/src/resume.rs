//! What is left to do for each pair when a session starts or resumes.
//!
//! With an engine that opens outputs by halves, each side gets one half of a pair's output, which reveals nothing by itself
//! ([`PairStore`](veilpath_protocol::PairStore) defines halves). A side learns the answer when the other sends its half.
//!
//! Each side states for each pair whether it knows the answer, whether it has its half of the output, and whether it may
//! have sent that half. From both statements both sides derive the same steps:
//!
//! | situation | what happens |
//! |---|---|
//! | every side that learns the answer knows it | nothing |
//! | both have their halves, of the same run | the halves that are still needed are sent, for the first time or again |
//! | one side needs the answer, the other knows it, and both are to learn it | it is sent again |
//! | no half was sent | the pair is compared |
//! | anything else: a half was sent and the other half is lost | the pair is lost |
//!
//! A side believes the peer's statement only where that costs nothing. A pair whose half this side has sent is never
//! compared again under this agreement, whatever the peer says, and every half and every answer is counted before it is
//! sent. A lost pair needs a new agreement, which counts again and which this side's user has to ask for.

use crate::control::{self, Tag};
use crate::counted_store::AgreedPairs;
use crate::error::{Misbehaviour, SessionError};
use crate::groups::resume::AnswerStep;
use crate::journal::Journal;
use crate::roster::Roster;
use veilpath_channel::Channel;
use veilpath_protocol::{Role, Spec, Workload, newly_paired, receive_halves, send_halves};

/// The most pairs whose halves, answers or tags are sent together. This bounds memory.
pub(crate) const BATCH: usize = 4096;

/// The pairs of each kind, as ascending indices into the agreed list.
#[derive(Debug, Default)]
pub(crate) struct Resume {
    /// Pairs to compare.
    pub(crate) compare: Vec<usize>,
    /// Pairs whose half the host or the joining side sends.
    pub(crate) halves: PairsBySender,
    /// Pairs whose answer the host or the joining side sends.
    pub(crate) answers: PairsBySender,
    /// Pairs that the peer knows but that this side has not recorded as sent, because it has lost its journal.
    pub(crate) unrecorded: Vec<usize>,
    /// Pairs, or numbers of a group answer, that can neither be sent nor computed.
    pub(crate) lost: usize,
    /// What is left to do for a group answer.
    pub(crate) answer: AnswerStep,
}

/// Pairs by the side that sends something for them.
#[derive(Debug, Default)]
pub(crate) struct PairsBySender {
    pub(crate) host: Vec<usize>,
    pub(crate) join: Vec<usize>,
}

/// A side's statement about a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statement(u8);

impl Statement {
    pub(crate) const ANSWERED: u8 = 1;
    pub(crate) const HALF: u8 = 2;
    pub(crate) const SENT: u8 = 4;
    const ALL: u8 = Self::ANSWERED | Self::HALF | Self::SENT;

    pub(crate) fn of(journal: &Journal, pair: usize) -> Self {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        Self(
            flag(journal.is_answered(pair), Self::ANSWERED)
                | flag(journal.half(pair).is_some(), Self::HALF)
                | flag(journal.may_be_sent(pair), Self::SENT),
        )
    }

    /// The same without this side's half.
    pub(crate) fn without_half(self) -> Self {
        Self(self.0 & !Self::HALF)
    }

    pub(crate) fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

impl PairsBySender {
    fn push(&mut self, sender: Role, pair: usize) {
        match sender {
            Role::Host => self.host.push(pair),
            Role::Join => self.join.push(pair),
        }
    }
}

impl Resume {
    /// Exchanges what each side has, and derives the steps.
    pub(crate) fn exchange(
        channel: &mut dyn Channel,
        journal: &Journal,
        agreed: &AgreedPairs<'_>,
    ) -> Result<Self, SessionError> {
        let (role, to) = (agreed.role, agreed.spec.reveal_to);
        let pairs = agreed.pairs.len();
        let by_halves = agreed.spec.engine.opens_outputs_by_halves();
        let ours: Vec<Statement> = (0..pairs)
            .map(|pair| Statement::of(journal, pair))
            .collect();
        let theirs = exchange_statements(channel, role, &ours)?;
        let needs = |statement: Statement, role: Role| {
            to.includes(role) && !statement.has(Statement::ANSWERED)
        };
        let peer = role.other();
        let open = |&pair: &usize| needs(ours[pair], role) || needs(theirs[pair], peer);
        let both_have_halves =
            |&pair: &usize| ours[pair].has(Statement::HALF) && theirs[pair].has(Statement::HALF);
        let candidates = (0..pairs).filter(open).filter(both_have_halves).collect();
        let mut fitting = same_run(channel, role, journal, candidates)?
            .into_iter()
            .peekable();
        let mut plan = Self::default();
        for pair in 0..pairs {
            let (our, their) = (ours[pair], theirs[pair]);
            let recorded = our.has(Statement::SENT) || !by_halves && journal.starts(pair) > 0;
            if to.includes(peer) && their.has(Statement::ANSWERED) && !recorded {
                plan.unrecorded.push(pair);
            }
            let (we_need, they_need) = (needs(our, role), needs(their, peer));
            if !we_need && !they_need {
                continue;
            }
            let sent = our.has(Statement::SENT) || their.has(Statement::SENT);
            if fitting.next_if_eq(&pair).is_some() {
                for (needed, sender) in [(we_need, peer), (they_need, role)] {
                    if needed {
                        plan.halves.push(sender, pair);
                    }
                }
            } else if they_need && to.includes(role) && our.has(Statement::ANSWERED) {
                plan.answers.push(role, pair);
            } else if we_need && to.includes(peer) && their.has(Statement::ANSWERED) {
                plan.answers.push(peer, pair);
            } else if !sent {
                plan.compare.push(pair);
            } else {
                plan.lost += 1;
            }
        }
        Ok(plan)
    }

    /// What the pairs to compare will cost.
    pub(crate) fn work(
        &self,
        pairs: &[(usize, usize)],
        host: &Roster,
        join: &Roster,
        spec: &Spec,
    ) -> Workload {
        let required = RequiredScanpaths::new(&self.compare, pairs);
        let letters = |roster: &Roster, indices: &[usize]| {
            indices.iter().map(|&index| roster.length(index)).sum()
        };
        let longest = |roster: &Roster, indices: &[usize]| {
            let lengths = indices.iter().map(|&index| roster.length(index));
            lengths.max().unwrap_or(0)
        };
        let cells = |&pair: &usize| {
            let (i, j) = pairs[pair];
            host.length(i).saturating_mul(join.length(j))
        };
        Workload {
            pairs: self.compare.len() as u64,
            cells: self.compare.iter().map(cells).fold(0, u64::saturating_add),
            host_scanpaths: required.host.len() as u64,
            join_scanpaths: required.join.len() as u64,
            host_letters: letters(host, &required.host),
            join_letters: letters(join, &required.join),
            host_longest: longest(host, &required.host),
            join_longest: longest(join, &required.join),
            newly_paired: newly_paired(&required.pairs),
            alphabet: spec.alphabet.size().into(),
            reveal: spec.reveal,
            group: None,
            padded: spec.pad_to.is_some(),
        }
    }
}

/// The scanpaths in the pairs to compare; no others take part.
pub(crate) struct RequiredScanpaths {
    pub(crate) host: Vec<usize>,
    pub(crate) join: Vec<usize>,
    /// The pairs, as indices into these.
    pub(crate) pairs: Vec<(usize, usize)>,
}

impl RequiredScanpaths {
    pub(crate) fn new(compare: &[usize], pairs: &[(usize, usize)]) -> Self {
        let sorted = |index: fn(&(usize, usize)) -> usize| {
            let mut all: Vec<usize> = compare.iter().map(|&pair| index(&pairs[pair])).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let (host, join) = (sorted(|pair| pair.0), sorted(|pair| pair.1));
        let position = |all: &[usize], index: usize| all.partition_point(|&other| other < index);
        let pairs = compare.iter().map(|&pair| {
            let (i, j) = pairs[pair];
            (position(&host, i), position(&join, j))
        });
        Self {
            pairs: pairs.collect(),
            host,
            join,
        }
    }
}

/// Exchanges statements, two to a byte.
pub(crate) fn exchange_statements(
    channel: &mut dyn Channel,
    role: Role,
    ours: &[Statement],
) -> Result<Vec<Statement>, SessionError> {
    let packed: Vec<u8> = ours
        .chunks(2)
        .map(|two| two[0].0 | two.get(1).map_or(0, |second| second.0 << 4))
        .collect();
    let theirs = match role {
        Role::Host => {
            control::send_bytes(channel, Tag::Statements, &packed)?;
            control::receive_bytes(channel, Tag::Statements)?
        }
        Role::Join => {
            let theirs = control::receive_bytes(channel, Tag::Statements)?;
            control::send_bytes(channel, Tag::Statements, &packed)?;
            theirs
        }
    };
    if theirs.len() != packed.len() {
        return Err(Misbehaviour::StatementsLength.into());
    }
    let halves = theirs.iter().flat_map(|byte| [byte & 15, byte >> 4]);
    let mut statements: Vec<Statement> = halves.map(Statement).collect();
    let unused = statements.split_off(ours.len());
    let is_valid = statements.iter().all(|it| it.0 <= Statement::ALL);
    match is_valid && unused.iter().all(|it| *it == Statement::default()) {
        true => Ok(statements),
        false => Err(Misbehaviour::InvalidStatements.into()),
    }
}

/// The pairs whose halves belong to the same run on both sides.
pub(crate) fn same_run(
    mut channel: &mut dyn Channel,
    role: Role,
    journal: &Journal,
    candidates: Vec<usize>,
) -> Result<Vec<usize>, SessionError> {
    let mut fitting = Vec::new();
    for batch in candidates.chunks(BATCH) {
        let run = |&pair: &usize| journal.half(pair).map_or(0, |half| half.run);
        let ours: Vec<u64> = batch.iter().map(run).collect();
        let theirs = match role {
            Role::Host => {
                send_halves(&ours, &mut channel)?;
                receive_halves(ours.len(), &mut channel)?
            }
            Role::Join => {
                let theirs = receive_halves(ours.len(), &mut channel)?;
                send_halves(&ours, &mut channel)?;
                theirs
            }
        };
        let all = batch.iter().zip(ours.iter().zip(theirs));
        fitting.extend(
            all.filter(|(_, (ours, theirs))| *ours == theirs)
                .map(|(&pair, _)| pair),
        );
    }
    Ok(fitting)
}

#[cfg(test)]
mod tests;
