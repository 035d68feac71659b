//! Records what a side receives in the engines `garbled` and `shares`, byte by byte. A distinguisher then tries to tell
//! apart two inputs of the other side with the same length and the same score.

use crate::AuditError;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde::Serialize;
use veilpath_channel::{Channel, ChannelError, MemoryChannel, memory_pair};
use veilpath_metrics::{Comparison, Scanpath};
use veilpath_protocol::{Answer, Engine, Job, ProtocolError, Role, Spec};

/// The findings in the transcripts of one side.
#[derive(Clone, Debug, Serialize)]
pub struct Transcripts {
    /// Which side was attacking.
    pub seen_by: &'static str,
    /// Runs, half of them with each of two inputs of the other side.
    pub runs: usize,
    /// Bytes received in each run.
    pub bytes: usize,
    /// Whether the messages had the same lengths in every run.
    pub same_lengths: bool,
    /// Pearson's statistic of the two inputs' bytes: 255 ± 23 if they have the same distribution.
    pub chi_square: f64,
    /// The fraction of the second half of the runs that a distinguisher trained on the first assigns to the right
    /// input; 0.5 is chance.
    pub distinguished: f64,
}

/// Records what one end receives.
pub(crate) struct Recorder {
    inner: MemoryChannel,
    pub(crate) received: Vec<u8>,
    pub(crate) lengths: Vec<usize>,
}

impl Recorder {
    pub(crate) fn new(inner: MemoryChannel) -> Self {
        Self {
            inner,
            received: Vec::new(),
            lengths: Vec::new(),
        }
    }
}

impl Channel for Recorder {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.inner.send(bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.inner.receive(buffer)?;
        self.received.extend_from_slice(buffer);
        self.lengths.push(buffer.len());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.inner.flush()
    }
}

pub(crate) struct Transcript {
    /// Which of the two inputs the other side had.
    pub(crate) input: usize,
    pub(crate) bytes: Vec<u8>,
    pub(crate) lengths: Vec<usize>,
}

/// Lets each side observe this many runs of the plan's engine.
pub fn observe(
    spec: &Spec,
    length: usize,
    runs: usize,
    seed: u64,
) -> Result<[Transcripts; 2], AuditError> {
    let comparison = Comparison::new(spec.metric.clone(), spec.alphabet)?;
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let (one, two) = with_equal_scores(&comparison, length, &mut rng)?;
    let fixed = &one.0;
    let others = [&one.1, &two];
    let inputs = shuffled_inputs(runs, &mut rng);
    let observe = |seen_by: Role| -> Result<Transcripts, AuditError> {
        let mut transcripts = Vec::new();
        for &input in &inputs {
            transcripts.push(transcript(spec, seen_by, fixed, others[input], input)?);
        }
        Ok(judge(seen_by, &transcripts))
    };
    Ok([observe(Role::Host)?, observe(Role::Join)?])
}

/// Both inputs, equally often in each half and in random order, so that changes over time do not distinguish them.
pub(crate) fn shuffled_inputs(runs: usize, rng: &mut ChaCha20Rng) -> Vec<usize> {
    let half = runs.div_ceil(4) * 2;
    let mut inputs: Vec<usize> = (0..2 * half).map(|run| run % 2).collect();
    for part in inputs.chunks_mut(half) {
        for last in (1..half).rev() {
            part.swap(last, rng.random_range(0..=last));
        }
    }
    inputs
}

/// A scanpath and two different ones with the same score against it, whichever side it is on.
fn with_equal_scores(
    comparison: &Comparison,
    length: usize,
    rng: &mut ChaCha20Rng,
) -> Result<((Scanpath, Scanpath), Scanpath), AuditError> {
    let last = u16::try_from(comparison.alphabet().size() - 1).unwrap_or(u16::MAX);
    let mut random =
        || -> Scanpath { Scanpath::new((0..length).map(|_| rng.random_range(0..=last)).collect()) };
    for _ in 0..100_000 {
        let (fixed, first, second) = (random(), random(), random());
        let same = |x: &Scanpath, y: &Scanpath, z: &Scanpath, w: &Scanpath| {
            Ok::<_, AuditError>(comparison.raw(x, y)? == comparison.raw(z, w)?)
        };
        if first.letters() != second.letters()
            && same(&fixed, &first, &fixed, &second)?
            && same(&first, &fixed, &second, &fixed)?
        {
            return Ok(((fixed, first), second));
        }
    }
    Err(AuditError::Internal("no two scanpaths have the same score"))
}

fn transcript(
    spec: &Spec,
    seen_by: Role,
    own: &Scanpath,
    other: &Scanpath,
    input: usize,
) -> Result<Transcript, AuditError> {
    let (hosts, joins) = match seen_by {
        Role::Host => ([own], [other]),
        Role::Join => ([other], [own]),
    };
    let host = Job::new(spec, Role::Host, &hosts, 1, &[(0, 0)])?;
    let join = Job::new(spec, Role::Join, &joins, 1, &[(0, 0)])?;
    let (host_end, join_end) = memory_pair();
    let (mut host_end, mut join_end) = (Recorder::new(host_end), Recorder::new(join_end));
    let engine: Engine = spec.engine;
    let (answers, join_end) = std::thread::scope(|scope| {
        let evaluator = scope.spawn(move || {
            let answers = engine.run(&join, &mut join_end, &());
            (answers, join_end)
        });
        let answers = engine.run(&host, &mut host_end, &());
        let (others, join_end) = match evaluator.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let check = |answers: Vec<Answer>, others: Vec<Answer>| {
            (answers == others)
                .then_some(())
                .ok_or(ProtocolError::Internal("the two roles differ"))
        };
        (answers.and_then(|a| check(a, others?)), join_end)
    });
    answers?;
    let seen = match seen_by {
        Role::Host => host_end,
        Role::Join => join_end,
    };
    Ok(Transcript {
        input,
        bytes: seen.received,
        lengths: seen.lengths,
    })
}

pub(crate) fn judge(seen_by: Role, transcripts: &[Transcript]) -> Transcripts {
    let first = transcripts.first();
    let bytes = first.map_or(0, |t| t.bytes.len());
    let same = |t: &Transcript| first.is_some_and(|first| first.lengths == t.lengths);
    let same_lengths = transcripts.iter().all(same);
    let (training, test) = transcripts.split_at(transcripts.len() / 2);
    let distinguisher = Distinguisher::trained(training, bytes);
    let is_right = |t: &&Transcript| distinguisher.input_of(&t.bytes) == t.input;
    let right = test.iter().filter(is_right).count();
    Transcripts {
        seen_by: match seen_by {
            Role::Host => "host",
            Role::Join => "join",
        },
        runs: transcripts.len(),
        bytes,
        same_lengths,
        chi_square: two_samples(transcripts),
        distinguished: right as f64 / test.len().max(1) as f64,
    }
}

/// The number of bits that a distinguisher looks at. A flaw shows in a few bits, and all others only add noise.
const TESTED_BITS: usize = 16;

/// The bits that differ most between the two inputs, and how often each is set.
struct Distinguisher {
    /// The number of a bit, and the fraction of runs with each input in which it is set.
    bits: Vec<(usize, [f64; 2])>,
}

impl Distinguisher {
    fn trained(training: &[Transcript], bytes: usize) -> Self {
        let mut ones = [vec![0u32; 8 * bytes], vec![0u32; 8 * bytes]];
        let mut runs = [0.0; 2];
        for transcript in training {
            runs[transcript.input] += 1.0;
            let ones = ones[transcript.input].chunks_mut(8);
            for (ones, byte) in ones.zip(&transcript.bytes) {
                for (bit, ones) in ones.iter_mut().enumerate() {
                    *ones += u32::from(byte >> bit & 1);
                }
            }
        }
        let [first, second] = ones;
        let mut bits: Vec<(usize, [f64; 2])> = first
            .into_iter()
            .zip(second)
            .enumerate()
            .map(|(bit, (first, second))| {
                // One pseudo-count of each kind keeps a few runs from looking certain.
                let share = |ones: u32, runs: f64| (f64::from(ones) + 1.0) / (runs + 2.0);
                (bit, [share(first, runs[0]), share(second, runs[1])])
            })
            .collect();
        let difference = |(_, [a, b]): &(usize, [f64; 2])| (a - b).abs();
        bits.sort_by(|a, b| difference(b).total_cmp(&difference(a)));
        bits.truncate(TESTED_BITS);
        Self { bits }
    }

    /// The input whose runs explain this one best, bit by bit.
    fn input_of(&self, bytes: &[u8]) -> usize {
        let mut distances = [0.0; 2];
        for &(bit, shares) in &self.bits {
            let byte = bytes.get(bit / 8).copied().unwrap_or(0);
            let is_set = byte >> (bit % 8) & 1 == 1;
            for (distance, share) in distances.iter_mut().zip(shares) {
                *distance -= if is_set {
                    share.ln()
                } else {
                    (1.0 - share).ln()
                };
            }
        }
        usize::from(distances[1] < distances[0])
    }
}

fn two_samples(transcripts: &[Transcript]) -> f64 {
    let mut counts = [[0.0f64; 256]; 2];
    for transcript in transcripts {
        for &byte in &transcript.bytes {
            counts[transcript.input][usize::from(byte)] += 1.0;
        }
    }
    let [n, m] = counts.each_ref().map(|counts| counts.iter().sum::<f64>());
    let terms = counts[0].iter().zip(&counts[1]).map(|(x, y)| {
        let difference = x * (m / n).sqrt() - y * (n / m).sqrt();
        if x + y > 0.0 {
            difference * difference / (x + y)
        } else {
            0.0
        }
    });
    terms.sum()
}
