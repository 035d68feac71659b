//! The pairs that are left, and the work on them.

use crate::SessionError;
use crate::control::{self, Tag};
use crate::identity::hex;
use crate::journal::Journal;
use crate::roster::Roster;
use crate::session::AgreedSession;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use veilpath_metrics::Scanpath;
use veilpath_protocol::{
    Answer, Channel, Cost, Job, Label, Observer, Outcome, Results, RevealTo, Revealed, Role, Spec,
    Work,
};

/// The pairs that not everyone who is to know has an answer for, as indices into the agreed list, in order.
#[derive(Debug)]
pub(crate) struct Remaining(Vec<usize>);

/// A session that came to its end.
#[derive(Debug)]
pub struct CompletedSession {
    /// The answers, what they cost, what was revealed.
    pub outcome: Outcome,
    /// Pairs that were compared, also where this side is told of none.
    pub pairs: usize,
    /// Pairs that were begun more than once, in this session and those before it.
    pub restarted_pairs: u64,
    /// How often the one was that was begun most often.
    pub max_starts: u32,
    /// The most agreements with the other side, over all sessions, that one scanpath of this side has been in: so many
    /// answers may there be for one of its pairs.
    pub max_agreements: u64,
    /// A journal that could not be written; the answers are complete all the same.
    pub journal_failure: Option<SessionError>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Finished {
    /// A hash of all answers, where both sides know them.
    scores: Option<String>,
}

impl Remaining {
    /// Tells the other side what this one has, and hears what that one has. A pair is done when everyone who is to know
    /// its answer has it.
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
            return Err(SessionError::misbehaved(
                "a list of finished pairs of another length",
            ));
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
        let needed = RequiredScanpaths::new(self, pairs);
        let letters = |roster: &Roster, indices: &[usize]| {
            indices.iter().map(|&index| roster.length(index)).sum()
        };
        let cells = |&pair: &usize| cells(pairs, host, join, pair);
        Work {
            pairs: self.0.len() as u64,
            cells: self.0.iter().map(cells).fold(0, u64::saturating_add),
            host_scanpaths: needed.host.len() as u64,
            join_scanpaths: needed.join.len() as u64,
            host_letters: letters(host, &needed.host),
            join_letters: letters(join, &needed.join),
            alphabet: spec.alphabet.size().into(),
            reveal: spec.reveal,
            padded: spec.pad_to.is_some(),
        }
    }
}

/// The scanpaths that are in a pair that is left: no other takes part.
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
    /// Computes what is left, keeps every answer as soon as it is known, and makes sure that both sides ended alike. The
    /// observer hears of pairs by their place in the whole list.
    pub fn run(mut self, observer: &dyn Observer) -> Result<CompletedSession, SessionError> {
        let begin = Instant::now();
        let done = self.work(observer);
        let journal_failure = self.journal.finish().err();
        if let Err(error) = done {
            return Err(self.session.explain(error));
        }
        let (restarted_pairs, max_starts) = self.journal.repeated_starts();
        let mut outcome = self.outcome();
        outcome.cost.seconds = begin.elapsed().as_secs_f64();
        Ok(CompletedSession {
            outcome,
            pairs: self.pairs.len(),
            restarted_pairs,
            max_starts,
            max_agreements: self.ledger.max_agreements,
            journal_failure,
        })
    }

    fn work(&mut self, observer: &dyn Observer) -> Result<(), SessionError> {
        self.session.begin(&self.ledger)?;
        self.session.allow_long_work();
        let role = self.session.role;
        let learns = self.proposal.spec.reveal_to.includes(role);
        if !self.remaining.0.is_empty() {
            self.session.charge(&self.proposal, &self.ledger)?;
            self.journal.begin(&self.remaining.0)?;
            let answers = self.compare(observer)?;
            let expected = if learns { self.remaining.0.len() } else { 0 };
            if answers.len() != expected {
                return Err(SessionError::Ours("an engine lost results".into()));
            }
            for (&pair, answer) in self.remaining.0.iter().zip(answers) {
                check_revealed(&self.proposal.spec, &answer)?;
                self.journal.keep(pair, answer)?;
            }
        }
        let both = self.proposal.spec.reveal_to == RevealTo::Both;
        let ours = Finished {
            scores: both.then(|| self.digest()),
        };
        let channel = &mut self.session.channel;
        let theirs: Finished = control::exchange(channel, role, Tag::Finished, &ours)?;
        if ours != theirs {
            return Err(SessionError::misbehaved("it ended with other scores"));
        }
        Ok(())
    }

    fn compare(&mut self, observer: &dyn Observer) -> Result<Vec<Answer>, SessionError> {
        let needed = RequiredScanpaths::new(&self.remaining, &self.pairs);
        let role = self.session.role;
        let (own, theirs, roster) = match role {
            Role::Host => (&needed.host, &needed.join, &self.join),
            Role::Join => (&needed.join, &needed.host, &self.host),
        };
        let entries = &self.proposal.cohort.entries;
        let own: Vec<&Scanpath> = own.iter().map(|&index| &entries[index].scanpath).collect();
        let lengths = theirs
            .iter()
            .map(|&index| usize::try_from(roster.length(index)));
        let lengths = lengths
            .collect::<Result<Vec<usize>, _>>()
            .map_err(|_| SessionError::misbehaved("a scanpath beyond all limits"))?;
        let mut job = Job::new(&self.proposal.spec, role, &own, theirs.len(), &needed.pairs)?
            .with_peer_lengths(&lengths)?;
        if let Some(key) = &self.proposal.key {
            job = job.with_key(key.share());
        }
        let keeper = JournalingObserver {
            spec: &self.proposal.spec,
            journal: Mutex::new((&mut self.journal, None)),
            pairs: &self.remaining.0,
            cells: &|pair| cells(&self.pairs, &self.host, &self.join, pair),
            engine_counts: AtomicBool::new(false),
            observer,
        };
        let engine = self.proposal.spec.engine;
        let answers = engine.run(&job, &mut self.session.channel, &keeper);
        let (_, failure) = keeper
            .journal
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        match failure {
            Some(failure) => Err(failure),
            None => Ok(answers?),
        }
    }

    fn digest(&self) -> String {
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

    fn outcome(&self) -> Outcome {
        let names = self.parties.names(&self.proposal.cohort);
        let own: Vec<Label> = self
            .proposal
            .cohort
            .entries
            .iter()
            .map(|entry| Label {
                participant: entry.participant.clone(),
                stimulus: entry.stimulus.clone(),
            })
            .collect();
        let (a, b) = match self.session.role {
            Role::Host => (own, self.join.labels(&names)),
            Role::Join => (self.host.labels(&names), own),
        };
        let spec = &self.proposal.spec;
        let learns = spec.reveal_to.includes(self.session.role);
        let results = self.pairs.iter().enumerate().filter_map(|(pair, &(a, b))| {
            let answer = self.journal.answer(pair).filter(|_| learns)?;
            Some((a, b, answer))
        });
        let cells = self
            .remaining
            .work(&self.pairs, &self.host, &self.join, spec)
            .cells;
        let cost = Cost {
            pairs_from_journal: self.pairs.len() - self.remaining.pairs().len(),
            ..Cost::of(self.session.channel.traffic(), cells)
        };
        let mut revealed = spec.engine.revealed(spec);
        let lengths = match spec.pad_to {
            None => "their lengths".into(),
            Some(most) => format!("that none is longer than {most} letters"),
        };
        let told = Revealed {
            to: "both".into(),
            what: format!(
                "how many scanpaths there are, {lengths}, their ids and stimuli (or pseudonyms and hashes), the metric and the encoding"
            ),
        };
        // In the order in which it happens, and so that "no more" comes last.
        revealed.insert(0, told);
        Outcome {
            names: ["host", "join"].map(String::from),
            one_cohort: false,
            a,
            b,
            pairs: self.pairs.len() as u64,
            results: Results::of_answers(spec.outputs(), results),
            answers: Vec::new(),
            cost,
            revealed,
            spec: spec.clone(),
        }
    }
}

/// The matrix cells of a pair.
fn cells(pairs: &[(usize, usize)], host: &Roster, join: &Roster, pair: usize) -> u64 {
    let (i, j) = pairs[pair];
    host.length(i).saturating_mul(join.length(j))
}

/// Writes every answer to the journal before anyone else hears of it.
struct JournalingObserver<'a> {
    spec: &'a Spec,
    journal: Mutex<(&'a mut Journal, Option<SessionError>)>,
    pairs: &'a [usize],
    cells: &'a (dyn Fn(usize) -> u64 + Sync),
    /// A role that does not count cells has its progress measured by its answers.
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
        let mut kept = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) =
            check_revealed(self.spec, &answer).and_then(|()| kept.0.keep(pair, answer))
        {
            kept.1.get_or_insert(error);
        }
        drop(kept);
        if !self.engine_counts.load(Ordering::Relaxed) {
            self.observer.cells((self.cells)(pair));
        }
        self.observer.scored(pair, answer);
    }
}

/// An answer that tells more than was agreed on must not reach the disk.
fn check_revealed(spec: &Spec, answer: &Answer) -> Result<(), SessionError> {
    if spec.allows(answer) {
        return Ok(());
    }
    Err(SessionError::Ours(
        "an engine told something else than was agreed on".into(),
    ))
}

/// Eight to a byte, the first lowest.
fn pack(done: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| {
        let bits = eight.iter().enumerate();
        bits.fold(0, |byte, (bit, &done)| byte | u8::from(done) << bit)
    };
    done.chunks(8).map(byte).collect()
}
