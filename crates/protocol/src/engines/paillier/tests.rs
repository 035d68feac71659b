//! The engine beyond correct scores: its messages, its randomness, its choices, and what it refuses.

mod charging;
mod choices;
mod extremes;
mod hardened;
mod hostile;
mod long_pairs;
mod masks;
mod randomness;
mod storage;
mod window;
mod wire;

use super::PaillierOptions;
use crate::{Engine, Job, PairRule, Role, Spec};
use num_bigint::BigUint;
use rand::{CryptoRng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::Arc;
use veilpath_channel::{Channel, ChannelError, MemoryChannel, memory_pair};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, PairScore, Scanpath};
use veilpath_paillier::{KeySize, SecretKey};

const LETTERS: u32 = 12;

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn short_key() -> PaillierOptions {
    PaillierOptions::new(KeySize::Bits512, true).unwrap()
}

/// The paper's own pattern.
fn as_in_the_paper() -> PaillierOptions {
    short_key().with_batch(1).unwrap().with_packing(false)
}

fn cohort(scanpaths: &[Vec<u16>]) -> Cohort {
    Cohort {
        alphabet: Alphabet::letters(LETTERS).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: scanpaths
            .iter()
            .map(|letters| Entry {
                participant: String::new(),
                group: None,
                stimulus: None,
                scanpath: Scanpath::new(letters.clone()),
                fixations: None,
            })
            .collect(),
    }
}

fn spec(options: PaillierOptions, metric: Metric, a: &Cohort, b: &Cohort) -> Spec {
    Spec::new(Engine::Paillier(options), metric, PairRule::All, a, b).unwrap()
}

/// A key with its primes.
struct Key {
    secret: Arc<SecretKey>,
    p: BigUint,
    q: BigUint,
}

/// A key whose p − 1 and q − 1 have small factors besides 2, so that there are characters to test.
fn key() -> Key {
    let mut rng = rng(99);
    loop {
        let secret = SecretKey::generate(KeySize::Bits512, &mut rng).unwrap();
        let text = secret.to_file_text();
        let number = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            BigUint::parse_bytes(line.unwrap().as_bytes(), 16).unwrap()
        };
        let (p, q) = (number("p "), number("q "));
        let one = BigUint::from(1u32);
        if &p % 3u32 == one && &q % 5u32 == one {
            return Key {
                secret: Arc::new(secret),
                p,
                q,
            };
        }
    }
}

/// Records the bytes of each call.
struct Recorded {
    inner: MemoryChannel,
    sent: Vec<Vec<u8>>,
    received: Vec<Vec<u8>>,
}

impl Channel for Recorded {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.sent.push(bytes.to_vec());
        self.inner.send(bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.inner.receive(buffer)?;
        self.received.push(buffer.to_vec());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.inner.flush()
    }
}

/// Runs both sides on all pairs, and returns the key holder's recorded channel.
fn recorded_run(
    options: PaillierOptions,
    metric: &Metric,
    key: &Arc<SecretKey>,
    a: &Cohort,
    b: &Cohort,
) -> (Recorded, Vec<PairScore>) {
    recorded_run_with(options, metric, key, (a, b), &mut rng(5))
}

/// The same with all choices and masks of the matrix owner from this generator.
fn recorded_run_with<R: CryptoRng + Send>(
    options: PaillierOptions,
    metric: &Metric,
    key: &Arc<SecretKey>,
    (a, b): (&Cohort, &Cohort),
    rng: &mut R,
) -> (Recorded, Vec<PairScore>) {
    let spec = spec(options, metric.clone(), a, b);
    let pairs = crate::pairs_of(PairRule::All, a, b);
    let own = |cohort: &Cohort| -> Vec<Scanpath> {
        cohort.entries.iter().map(|e| e.scanpath.clone()).collect()
    };
    let (host_scanpaths, join_scanpaths) = (own(a), own(b));
    let (host_scanpaths, join_scanpaths): (Vec<_>, Vec<_>) = (
        host_scanpaths.iter().collect(),
        join_scanpaths.iter().collect(),
    );
    let host = Job::new(
        &spec,
        Role::Host,
        &host_scanpaths,
        join_scanpaths.len(),
        &pairs,
    )
    .unwrap();
    let host = host.with_key(Arc::clone(key));
    let join = Job::new(
        &spec,
        Role::Join,
        &join_scanpaths,
        host_scanpaths.len(),
        &pairs,
    )
    .unwrap();
    let (host_end, join_end) = memory_pair();
    let mut channel = Recorded {
        inner: host_end,
        sent: Vec::new(),
        received: Vec::new(),
    };
    std::thread::scope(|scope| {
        let matrix_owner = scope.spawn(|| {
            // Drop this end here, or the key holder would wait for it.
            let mut channel = join_end;
            super::matrix_owner::join_with(&join, options, &mut channel, &(), rng)
        });
        let pair_scores = super::host(&host, options, &mut channel, &());
        if pair_scores.is_err() {
            // Likewise, the matrix owner would wait for this end.
            drop(channel);
            panic!("{pair_scores:?}, {:?}", matrix_owner.join());
        }
        assert_eq!(pair_scores, matrix_owner.join().unwrap());
        (channel, pair_scores.unwrap())
    })
}

/// The ciphertexts in these buffers, as numbers.
fn ciphertexts(buffers: &[Vec<u8>]) -> Vec<BigUint> {
    let length = KeySize::Bits512.ciphertext_bytes();
    buffers
        .iter()
        .filter(|bytes| bytes.len() % length == 0)
        .flat_map(|bytes| bytes.chunks(length))
        .map(BigUint::from_bytes_be)
        .collect()
}

/// Checks that counts of equally likely classes look uniform.
#[track_caller]
fn assert_uniform(what: &str, counts: &[usize]) {
    assert!(looks_uniform(counts), "{what}: {counts:?}");
}

/// Compares χ² with a bound that a fair source passes at most once in ten million times, for any number of classes.
fn looks_uniform(counts: &[usize]) -> bool {
    let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    let chi_square: f64 = counts
        .iter()
        .map(|&count| (count as f64 - expected).powi(2) / expected)
        .sum();
    let degrees_of_freedom = (counts.len() - 1) as f64;
    chi_square < degrees_of_freedom + 6.0 * (2.0 * degrees_of_freedom).sqrt() + 20.0
}
