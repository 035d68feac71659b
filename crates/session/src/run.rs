//! Computes the pairs that are left.

use crate::control::{self, Tag};
use crate::error::{InternalError, Misbehaviour, SessionError};
use crate::identity::hex;
use crate::journal::Journal;
use crate::roster::Roster;
use crate::session::{AgreedSession, Agreement};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use veilpath_channel::Channel;
use veilpath_metrics::Scanpath;
use veilpath_protocol::{
    Answer, Cost, Job, Label, Observer, Outcome, Results, RevealTo, Revealed, Role, Spec, Work,
};

/// The pairs whose answer somebody still needs, as ascending indices into the agreed list.
#[derive(Debug)]
pub(crate) struct Remaining(Vec<usize>);

/// A session that has finished.
#[derive(Debug)]
pub struct CompletedSession {
    /// The answers, what they cost, and what was revealed.
    pub outcome: Outcome,
    /// Pairs that were compared, also where this side learns no answers.
    pub pairs: usize,
    /// Pairs that were started more than once, in this session and earlier ones.
    pub restarted_pairs: u64,
    /// The largest number of times any pair was started.
    pub max_starts: u32,
    /// The largest number of agreements with the other side, over all sessions, that any scanpath of this side is in. Each
    /// may give one answer for a pair.
    pub max_agreements: u64,
    /// Why the journal could not be written; the answers are complete anyway.
    pub journal_failure: Option<SessionError>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Finished {
    /// A digest of all answers, where both sides learn them.
    answers_digest: Option<String>,
}

impl Remaining {
    /// Exchanges which pairs each side has. A pair is done when every side that learns its answer has it.
    pub(crate) fn find(
        channel: &mut dyn Channel,
        role: Role,
        to: RevealTo,
        journal: &Journal,
    ) -> Result<Self, SessionError> {
        let learns = to.includes(role);
        let ours: Vec<bool> = journal.done().map(|done| done || !learns).collect();
        let map = pack(&ours);
        let theirs = match role {
            Role::Host => {
                control::send_bytes(channel, Tag::Done, &map)?;
                control::receive_bytes(channel, Tag::Done)?
            }
            Role::Join => {
                let theirs = control::receive_bytes(channel, Tag::Done)?;
                control::send_bytes(channel, Tag::Done, &map)?;
                theirs
            }
        };
        if theirs.len() != map.len() {
            return Err(Misbehaviour::FinishedPairsLength.into());
        }
        let done = |pair: &usize| ours[*pair] && theirs[pair / 8] >> (pair % 8) & 1 == 1;
        Ok(Self((0..ours.len()).filter(|pair| !done(pair)).collect()))
    }

    pub(crate) fn pairs(&self) -> &[usize] {
        &self.0
    }

    pub(crate) fn work(
        &self,
        pairs: &[(usize, usize)],
        host: &Roster,
        join: &Roster,
        spec: &Spec,
    ) -> Work {
        let required = RequiredScanpaths::new(self, pairs);
        let letters = |roster: &Roster, indices: &[usize]| {
            indices.iter().map(|&index| roster.length(index)).sum()
        };
        let cells = |&pair: &usize| cells(pairs, host, join, pair);
        Work {
            pairs: self.0.len() as u64,
            cells: self.0.iter().map(cells).fold(0, u64::saturating_add),
            host_scanpaths: required.host.len() as u64,
            join_scanpaths: required.join.len() as u64,
            host_letters: letters(host, &required.host),
            join_letters: letters(join, &required.join),
            alphabet: spec.alphabet.size().into(),
            reveal: spec.reveal,
            padded: spec.pad_to.is_some(),
        }
    }
}

/// The scanpaths in the pairs that are left; no others take part.
struct RequiredScanpaths {
    host: Vec<usize>,
    join: Vec<usize>,
    /// The pairs, as indices into these.
    pairs: Vec<(usize, usize)>,
}

impl RequiredScanpaths {
    fn new(remaining: &Remaining, pairs: &[(usize, usize)]) -> Self {
        let sorted = |index: fn(&(usize, usize)) -> usize| {
            let mut all: Vec<usize> = remaining
                .0
                .iter()
                .map(|&pair| index(&pairs[pair]))
                .collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let (host, join) = (sorted(|pair| pair.0), sorted(|pair| pair.1));
        let place = |all: &[usize], index: usize| all.partition_point(|&other| other < index);
        let pairs = remaining.0.iter().map(|&pair| {
            let (i, j) = pairs[pair];
            (place(&host, i), place(&join, j))
        });
        Self {
            pairs: pairs.collect(),
            host,
            join,
        }
    }
}

impl AgreedSession {
    /// Computes what is left, stores every answer as soon as it is known, and checks that both sides have the same. The
    /// observer gets pairs by their index in the whole list.
    pub fn run(mut self, observer: &dyn Observer) -> Result<CompletedSession, SessionError> {
        let start = Instant::now();
        let computed = self.compute(observer);
        let journal_failure = self.agreement.journal.finish().err();
        if let Err(error) = computed {
            return Err(self.session.explain(error));
        }
        let (restarted_pairs, max_starts) = self.agreement.journal.repeated_starts();
        let mut outcome = self.outcome();
        outcome.cost.seconds = start.elapsed().as_secs_f64();
        Ok(CompletedSession {
            outcome,
            pairs: self.agreement.pairs.len(),
            restarted_pairs,
            max_starts,
            max_agreements: self.agreement.charge.max_agreements,
            journal_failure,
        })
    }

    fn compute(&mut self, observer: &dyn Observer) -> Result<(), SessionError> {
        let Self { session, agreement } = self;
        session.pin(&agreement.charge)?;
        session.allow_long_work();
        let role = session.role;
        let reveal_to = agreement.proposal.spec.reveal_to;
        if !agreement.remaining.0.is_empty() {
            session.charge(&agreement.proposal, &agreement.charge)?;
            agreement.journal.start_pairs(&agreement.remaining.0)?;
            let answers = self.compare(observer)?;
            let agreement = &mut self.agreement;
            let learns = reveal_to.includes(role);
            let expected = if learns {
                agreement.remaining.0.len()
            } else {
                0
            };
            if answers.len() != expected {
                return Err(InternalError::LostResults.into());
            }
            for (&pair, answer) in agreement.remaining.0.iter().zip(answers) {
                check_revealed(&agreement.proposal.spec, &answer)?;
                agreement.journal.store(pair, answer)?;
            }
        }
        let both = reveal_to == RevealTo::Both;
        let ours = Finished {
            answers_digest: both.then(|| self.agreement.answers_digest()),
        };
        let channel = &mut self.session.channel;
        let theirs: Finished = control::exchange(channel, role, Tag::Finished, &ours)?;
        if ours != theirs {
            return Err(Misbehaviour::DifferentAnswers.into());
        }
        Ok(())
    }

    fn compare(&mut self, observer: &dyn Observer) -> Result<Vec<Answer>, SessionError> {
        let Self { session, agreement } = self;
        let Agreement {
            proposal,
            host,
            join,
            pairs,
            journal,
            remaining,
            ..
        } = agreement;
        let spec = &proposal.spec;
        let required = RequiredScanpaths::new(remaining, pairs);
        let (own, theirs, roster) = match session.role {
            Role::Host => (&required.host, &required.join, &*join),
            Role::Join => (&required.join, &required.host, &*host),
        };
        let entries = &proposal.cohort.entries;
        let own: Vec<&Scanpath> = own.iter().map(|&index| &entries[index].scanpath).collect();
        let lengths = theirs
            .iter()
            .map(|&index| usize::try_from(roster.length(index)));
        let lengths = lengths
            .collect::<Result<Vec<usize>, _>>()
            .map_err(|_| Misbehaviour::CohortBeyondLimits)?;
        let mut job = Job::new(spec, session.role, &own, theirs.len(), &required.pairs)?
            .with_peer_lengths(&lengths)?;
        if let Some(key) = &proposal.key {
            job = job.with_key(key.share());
        }
        let journaling = JournalingObserver {
            spec,
            journal: Mutex::new((journal, None)),
            pairs: &remaining.0,
            cells: &|pair| cells(pairs, host, join, pair),
            engine_counts: AtomicBool::new(false),
            observer,
        };
        let answers = spec.engine.run(&job, &mut session.channel, &journaling);
        let (_, failure) = journaling
            .journal
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        match failure {
            Some(failure) => Err(failure),
            None => Ok(answers?),
        }
    }

    fn outcome(&self) -> Outcome {
        let (session, agreement) = (&self.session, &self.agreement);
        let (spec, cohort) = (&agreement.proposal.spec, &agreement.proposal.cohort);
        let names = agreement.parties.names(cohort);
        let own: Vec<Label> = cohort
            .entries
            .iter()
            .map(|entry| Label {
                participant: entry.participant.clone(),
                stimulus: entry.stimulus.clone(),
            })
            .collect();
        let (a, b) = match session.role {
            Role::Host => (own, agreement.join.labels(&names)),
            Role::Join => (agreement.host.labels(&names), own),
        };
        let learns = spec.reveal_to.includes(session.role);
        let pairs = &agreement.pairs;
        let results = pairs.iter().enumerate().filter_map(|(pair, &(a, b))| {
            let answer = agreement.journal.answer(pair).filter(|_| learns)?;
            Some((a, b, answer))
        });
        let (host, join) = (&agreement.host, &agreement.join);
        let cells = agreement.remaining.work(pairs, host, join, spec).cells;
        let cost = Cost {
            pairs_from_journal: pairs.len() - agreement.remaining.pairs().len(),
            ..Cost::of(session.channel.traffic(), cells)
        };
        let mut revealed = spec.engine.revealed(spec);
        let lengths = match spec.pad_to {
            None => "their lengths".into(),
            Some(most) => format!("that none is longer than {most} letters"),
        };
        let by_session = Revealed {
            to: "both".into(),
            what: format!(
                "how many scanpaths there are, {lengths}, their ids and stimuli (or pseudonyms and hashes), the metric and the encoding"
            ),
        };
        // In the order of the session, so that "nothing else" stays last.
        revealed.insert(0, by_session);
        Outcome {
            names: ["host", "join"].map(String::from),
            one_cohort: false,
            a,
            b,
            pairs: pairs.len() as u64,
            results: Results::of_answers(spec.outputs(), results),
            answers: Vec::new(),
            cost,
            revealed,
            spec: spec.clone(),
        }
    }
}

impl Agreement {
    fn answers_digest(&self) -> String {
        let mut context = Context::new(&SHA256);
        for pair in 0..self.pairs.len() {
            match self.journal.answer(pair) {
                None => {}
                Some(Answer::Within(within)) => context.update(&[u8::from(within)]),
                Some(Answer::Score(reading)) => {
                    context.update(&reading.score.to_bits().to_le_bytes());
                    context.update(&[u8::from(reading.similarity.is_some())]);
                    let similarity = reading.similarity.unwrap_or_default();
                    context.update(&similarity.to_bits().to_le_bytes());
                }
            }
        }
        hex(context.finish().as_ref())
    }
}

/// The matrix cells of a pair.
fn cells(pairs: &[(usize, usize)], host: &Roster, join: &Roster, pair: usize) -> u64 {
    let (i, j) = pairs[pair];
    host.length(i).saturating_mul(join.length(j))
}

/// Writes every answer to the journal before the user's observer gets it.
struct JournalingObserver<'a> {
    spec: &'a Spec,
    journal: Mutex<(&'a mut Journal, Option<SessionError>)>,
    pairs: &'a [usize],
    cells: &'a (dyn Fn(usize) -> u64 + Sync),
    /// Progress is measured by answers for a role that does not count cells.
    engine_counts: AtomicBool,
    observer: &'a dyn Observer,
}

impl Observer for JournalingObserver<'_> {
    fn work(&self, work: &mut dyn FnMut()) {
        self.observer.work(work);
    }

    fn cells(&self, finished: u64) {
        self.engine_counts.store(true, Ordering::Relaxed);
        self.observer.cells(finished);
    }

    fn scored(&self, pair: usize, answer: Answer) {
        let Some(&pair) = self.pairs.get(pair) else {
            return;
        };
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) =
            check_revealed(self.spec, &answer).and_then(|()| journal.0.store(pair, answer))
        {
            journal.1.get_or_insert(error);
        }
        drop(journal);
        if !self.engine_counts.load(Ordering::Relaxed) {
            self.observer.cells((self.cells)(pair));
        }
        self.observer.scored(pair, answer);
    }
}

/// An answer that reveals more than was agreed on must not reach the disk.
fn check_revealed(spec: &Spec, answer: &Answer) -> Result<(), SessionError> {
    if spec.allows(answer) {
        return Ok(());
    }
    Err(InternalError::UnagreedAnswer.into())
}

/// Packs eight bits per byte, lowest first.
fn pack(done: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| {
        let bits = eight.iter().enumerate();
        bits.fold(0, |byte, (bit, &done)| byte | u8::from(done) << bit)
    };
    done.chunks(8).map(byte).collect()
}
