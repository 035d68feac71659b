//! The distinguisher on group answers: does a side's view tell which of two inputs the other side had?
//!
//! The inputs are two sets of scanpaths and labels that agree in everything that both sides may know: ids, lengths,
//! group names and sizes, labels if they are published, and the answer. The view consists of the messages of the
//! statistics, this side's halves of the pairs' numbers, and its shares of the answer.

use crate::AuditError;
use crate::transcript::{Recorder, Transcript, Transcripts, judge, shuffled_inputs};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use veilpath_channel::memory_pair;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, Scanpath};
use veilpath_protocol::{
    Engine, GroupInputs, GroupQuestion, GroupSizes, Job, PairRule, PairStore, PreparedGroupAnswer,
    ProtocolError, Refused, Reveal, RevealTo, Role, ScanpathId, Spec, TreeLevels,
    compare_locally_with_coins, pairs_of,
};

/// The findings about one question.
#[derive(Clone, Debug, Serialize)]
pub struct GroupTranscripts {
    /// The engine that compared the pairs.
    pub engine: &'static str,
    /// The question.
    pub question: String,
    /// The findings of the distinguisher.
    #[serde(flatten)]
    pub seen: Transcripts,
    /// Pearson's statistic of the bytes of kept halves and shares: 255 ± 23 if they are uniform.
    pub kept_chi_square: f64,
}

/// Participants per side, half of them in each of two groups.
const PARTICIPANTS: usize = 4;

/// Letters per scanpath. This is not a power of two, so that fractions of the length use all bits of a share.
const LENGTH: usize = 5;

const LETTERS: u32 = 4;

/// The bits of a half: those of the largest Levenshtein distance.
const HALF_BITS: u32 = LENGTH.ilog2() + 1;

/// The coins of permutations, which both sides know.
const COINS: [u8; 32] = [11; 32];

/// How many random sets of scanpaths and labels are tried to find two with the same answer.
const TRIES: usize = 20_000;

/// The view of one side once the answer is computed: received messages, its halves of pairs, and its shares of the
/// answer.
pub(crate) struct View {
    received: Vec<u8>,
    lengths: Vec<usize>,
    pub(crate) halves: Vec<u64>,
    pub(crate) shares: Vec<u64>,
    /// The bits of each share that can vary. The low bits of rounded numbers, and the bits above the number, are 0.
    used: Vec<Range<u32>>,
}

/// Changes one side's view, given the other's, to test that the distinguisher finds flaws.
pub(crate) type Flaw<'a> = &'a dyn Fn(&mut View, &View);

/// Lets each side observe this many runs.
pub fn observe(
    engine: Engine,
    question: GroupQuestion,
    runs: usize,
    seed: u64,
) -> Result<[GroupTranscripts; 2], AuditError> {
    observe_with(engine, question, runs, seed, &|_, _| ())
}

pub(crate) fn observe_with(
    engine: Engine,
    question: GroupQuestion,
    runs: usize,
    seed: u64,
    flaw: Flaw<'_>,
) -> Result<[GroupTranscripts; 2], AuditError> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let observe = |seen_by: Role, rng: &mut ChaCha20Rng| -> Result<GroupTranscripts, AuditError> {
        let fixed = cohort(rng)?;
        let spec = spec(engine, question, fixed.alphabet);
        let others = with_equal_answers(&spec, seen_by, &fixed, rng)?;
        let mut transcripts = Vec::new();
        let (mut halves, mut shares) = (Vec::new(), Vec::new());
        for input in shuffled_inputs(runs, rng) {
            let (host, join) = by_role(seen_by, &fixed, &others[input]);
            let [mut host, mut join] = run(&spec, question, host, join)?;
            let (own, other) = by_role(seen_by, &mut host, &mut join);
            flaw(own, other);
            halves.extend(own.half_bits());
            shares.extend(own.share_bits());
            let mut seen = std::mem::take(&mut own.received);
            seen.extend(bytes(&own.halves));
            seen.extend(bytes(&own.shares));
            transcripts.push(Transcript {
                input,
                bytes: seen,
                lengths: std::mem::take(&mut own.lengths),
            });
        }
        Ok(GroupTranscripts {
            engine: engine.name(),
            question: question.to_string(),
            seen: judge(seen_by, &transcripts),
            kept_chi_square: uniform(&[packed(&halves), packed(&shares)].concat()),
        })
    };
    Ok([
        observe(Role::Host, &mut rng)?,
        observe(Role::Join, &mut rng)?,
    ])
}

impl View {
    /// The bits of all halves that can vary.
    fn half_bits(&self) -> impl Iterator<Item = bool> + '_ {
        let halves = self.halves.iter();
        halves.flat_map(|half| (0..HALF_BITS).map(move |bit| half >> bit & 1 == 1))
    }

    /// The bits of all shares that can vary.
    fn share_bits(&self) -> impl Iterator<Item = bool> + '_ {
        let both = self.shares.iter().zip(&self.used);
        both.flat_map(|(share, used)| used.clone().map(move |bit| share >> bit & 1 == 1))
    }
}

/// Packs bits into whole bytes.
fn packed(bits: &[bool]) -> Vec<u8> {
    let byte = |bits: &[bool]| bits.iter().fold(0, |sum, bit| sum << 1 | u8::from(*bit));
    bits.chunks_exact(8).map(byte).collect()
}

/// Reorders the observer's and the other side's values to the host's and the joining side's, or back.
fn by_role<T>(seen_by: Role, own: T, other: T) -> (T, T) {
    match seen_by {
        Role::Host => (own, other),
        Role::Join => (other, own),
    }
}

fn bytes(numbers: &[u64]) -> impl Iterator<Item = u8> + '_ {
    numbers.iter().flat_map(|number| number.to_le_bytes())
}

fn spec(engine: Engine, question: GroupQuestion, alphabet: Alphabet) -> Spec {
    Spec {
        engine,
        metric: Metric::Levenshtein,
        alphabet,
        encoding: BTreeMap::new(),
        pair_rule: PairRule::All,
        reveal: Reveal::Group(question),
        reveal_to: RevealTo::Both,
        pad_to: None,
    }
}

/// Random scanpaths and labels; group sizes are fixed.
fn cohort(rng: &mut ChaCha20Rng) -> Result<Cohort, AuditError> {
    let alphabet = Alphabet::letters(LETTERS);
    let alphabet = alphabet.map_err(|_| AuditError::Internal("no such alphabet"))?;
    let mut labels: Vec<usize> = (0..PARTICIPANTS).map(|it| it % 2).collect();
    for last in (1..PARTICIPANTS).rev() {
        labels.swap(last, rng.random_range(0..=last));
    }
    let last = u16::try_from(LETTERS - 1).unwrap_or(0);
    let mut entry = |(participant, label): (usize, usize)| Entry {
        participant: format!("P{participant}"),
        group: Some(["control", "patient"][label].into()),
        stimulus: None,
        scanpath: Scanpath::new((0..LENGTH).map(|_| rng.random_range(0..=last)).collect()),
        fixations: None,
    };
    let entries = labels.into_iter().enumerate().map(&mut entry).collect();
    Ok(Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries,
    })
}

/// Two cohorts of the other side with the same answer.
fn with_equal_answers(
    spec: &Spec,
    seen_by: Role,
    fixed: &Cohort,
    rng: &mut ChaCha20Rng,
) -> Result<[Cohort; 2], AuditError> {
    let plain = Spec {
        engine: Engine::Plain,
        ..spec.clone()
    };
    let mut by_answer: HashMap<String, Cohort> = HashMap::new();
    for _ in 0..TRIES {
        let other = cohort(rng)?;
        let (host, join) = by_role(seen_by, fixed, &other);
        let outcome = compare_locally_with_coins(plain.clone(), host, join, COINS, &())?;
        let mut answer = format!("{:?}", outcome.answers);
        if spec
            .reveal
            .group_question()
            .is_some_and(GroupQuestion::publishes_groups)
        {
            let groups = other.entries.iter().map(|entry| &entry.group);
            answer += &format!("{:?}", groups.collect::<Vec<_>>());
        }
        match by_answer.remove(&answer) {
            Some(earlier) if earlier.entries != other.entries => return Ok([earlier, other]),
            _ => by_answer.insert(answer, other),
        };
    }
    Err(AuditError::Internal("no two cohorts have the same answer"))
}

/// Keeps halves in memory.
struct HalvesInMemory(Mutex<Vec<u64>>);

impl PairStore for HalvesInMemory {
    fn store_halves(&self, pairs: &[usize], halves: &[u64]) -> Result<(), Refused> {
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (&pair, &half) in pairs.iter().zip(halves) {
            *stored.get_mut(pair).ok_or(Refused)? = half;
        }
        Ok(())
    }
}

/// Both sides of one run, and what each has seen.
fn run(
    spec: &Spec,
    question: GroupQuestion,
    host: &Cohort,
    join: &Cohort,
) -> Result<[View; 2], AuditError> {
    let ids = [host, join].map(|cohort| -> Vec<ScanpathId> {
        let id = |entry: &Entry| ScanpathId {
            participant: entry.participant.clone(),
            stimulus: None,
        };
        cohort.entries.iter().map(id).collect()
    });
    let groups = [host, join].map(|cohort| -> Vec<String> {
        let groups = cohort.entries.iter().map(|entry| entry.group.clone());
        groups.map(Option::unwrap_or_default).collect()
    });
    let sizes = [0, 1].map(|side: usize| GroupSizes::of(&ids[side], &groups[side]));
    let pairs = pairs_of(spec.pair_rule, host, join);
    let lengths = vec![LENGTH; PARTICIPANTS];
    let side = |role: Role, mut channel: Recorder| -> Result<View, ProtocolError> {
        let (cohort, groups, peer_groups) = match role {
            Role::Host => (host, &groups[0], &groups[1]),
            Role::Join => (join, &groups[1], &groups[0]),
        };
        let own: Vec<&Scanpath> = cohort.entries.iter().map(|entry| &entry.scanpath).collect();
        let job = || Job::new(spec, role, &own, lengths.len(), &pairs)?.with_peer_lengths(&lengths);
        let inputs = GroupInputs {
            question,
            engine: spec.engine,
            rule: spec.pair_rule,
            ids: [&ids[0], &ids[1]],
            own_groups: Some(groups),
            peer_groups: question.publishes_groups().then_some(&peer_groups[..]),
            sizes: sizes.clone(),
            minimum: 0,
            coins: COINS,
        };
        let (whole, stored) = (job()?, HalvesInMemory(Mutex::new(vec![0; pairs.len()])));
        let prepared = PreparedGroupAnswer::new(&whole, inputs)?;
        spec.engine
            .run(&job()?.with_store(&stored), &mut channel, &())?;
        let halves = stored
            .0
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        // The comparisons have their own distinguisher.
        channel.received.clear();
        channel.lengths.clear();
        let shares = prepared.run(&halves, TreeLevels::default(), &mut channel)?;
        Ok(View {
            received: channel.received,
            lengths: channel.lengths,
            halves,
            shares: shares.to_vec(),
            used: prepared.schema().used_bits().collect(),
        })
    };
    let (host_end, join_end) = memory_pair();
    let (host_end, join_end) = (Recorder::new(host_end), Recorder::new(join_end));
    let (host, join) = std::thread::scope(|scope| {
        let side = &side;
        let join = scope.spawn(move || side(Role::Join, join_end));
        (side(Role::Host, host_end), join.join())
    });
    let join = match join {
        Ok(seen) => seen,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    Ok([host?, join?])
}

/// Pearson's chi-square statistic of bytes against a uniform distribution.
fn uniform(bytes: &[u8]) -> f64 {
    let mut counts = [0.0f64; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1.0;
    }
    let expected = (bytes.len() as f64 / 256.0).max(f64::MIN_POSITIVE);
    let squares = counts.iter().map(|count| (count - expected).powi(2));
    squares.sum::<f64>() / expected
}
