//! What a party sees has the same shape for all inputs and no pattern in its bytes; random bytes cause no harm.

use super::*;
use crate::circuit::cells::UnitCell;
use crate::kernel::Kernel;
use crate::label::Delta;
use crate::ot::ideal::ideal_pair;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use veilpath_channel::{ChannelError, MemoryChannel, memory_pair};

/// Records what arrives.
struct Recorder {
    channel: MemoryChannel,
    seen: Vec<u8>,
}

impl Channel for Recorder {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.channel.send(bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.channel.receive(buffer)?;
        self.seen.extend_from_slice(buffer);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.channel.flush()
    }
}

const ALPHABET: usize = 4;

fn table() -> Vec<Vec<u64>> {
    (0..ALPHABET)
        .map(|x| (0..ALPHABET).map(|y| UnitCell.input(x == y)).collect())
        .collect()
}

/// Runs Levenshtein with real transfers. Returns what each side received, and the distance.
fn views(ours: &[usize], theirs: &[usize], seed: u64) -> ([Vec<u8>; 2], u64) {
    let (left, right) = memory_pair();
    let record = |channel| Recorder {
        channel,
        seen: Vec::new(),
    };
    let (mut left, mut right) = (record(left), record(right));
    let table = table();
    let sum = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let mut session = GarblerSession::start(Kernel::best(), &mut rng, &mut left).unwrap();
            let letters = session.letters(ALPHABET, theirs.len(), &mut left).unwrap();
            let comparison = GarblerComparison {
                rows: ours
                    .iter()
                    .map(|letter| &table[*letter][..])
                    .collect::<Vec<_>>(),
                columns: 0..theirs.len(),
            };
            let numbers = session.align(
                &UnitCell,
                Fold::Sum,
                &letters,
                &[comparison],
                &mut left,
                &|_| (),
            );
            session
                .reveal_to_peer(&numbers.unwrap(), &mut left)
                .unwrap();
        });
        let mut rng = ChaCha20Rng::seed_from_u64(seed + 1000);
        let mut session = EvaluatorSession::start(Kernel::best(), &mut rng, &mut right).unwrap();
        let letters = session.letters(ALPHABET, theirs, &mut right).unwrap();
        let comparison = EvaluatorComparison {
            rows: ours.len(),
            columns: 0..theirs.len(),
        };
        let numbers = session.align(
            &UnitCell,
            Fold::Sum,
            &letters,
            &[comparison],
            &mut right,
            &|_| (),
        );
        session.decode(&numbers.unwrap(), &mut right).unwrap()[0]
    });
    (
        [left.seen, right.seen],
        ours.len() as u64 + sum - theirs.len() as u64,
    )
}

/// Pearson's statistic of the bytes against the uniform distribution: about 255 ± 23 when they have no pattern.
fn chi_squared(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let expected = bytes.len() as f64 / 256.0;
    let term = |count: &u32| (f64::from(*count) - expected).powi(2) / expected;
    counts.iter().map(term).sum()
}

#[test]
fn views_of_different_inputs_have_one_shape_and_no_pattern() {
    // Both of the garbler's strings are one substitution away from the evaluator's.
    let theirs: Vec<usize> = (0..40).map(|i| i * i % ALPHABET).collect();
    let changed = |at: usize| {
        let mut ours = theirs.clone();
        ours[at] = (ours[at] + 1) % ALPHABET;
        ours
    };
    let (first, distance) = views(&changed(3), &theirs, 1);
    let (second, same_distance) = views(&changed(30), &theirs, 2);
    assert_eq!([distance, same_distance], [1, 1]);
    for side in 0..2 {
        assert_eq!(first[side].len(), second[side].len());
        // Skips the points of the base transfers (their top bits are zero) and the last byte, which has the outputs.
        let skip = [32, 64 * 128][side];
        for view in [&first[side], &second[side]] {
            let chi = chi_squared(&view[skip..view.len() - 2]);
            assert!((130.0..400.0).contains(&chi), "χ² of {chi} for side {side}");
        }
    }
}

#[test]
fn bytes_on_the_wire_are_frozen() {
    // Changing these bytes makes two versions of the product incompatible.
    let ([to_garbler, to_evaluator], distance) = views(&[0, 1, 2, 3, 1], &[1, 1, 2, 0], 7);
    assert_eq!(distance, 3);
    assert_eq!([to_garbler.len(), to_evaluator.len()], [5204, 10337]);
    let digest = |bytes: &[u8]| u64::from_be_bytes(Sha256::digest(bytes)[..8].try_into().unwrap());
    assert_eq!(
        [digest(&to_garbler), digest(&to_evaluator)],
        [0x098a_8073_aa08_68e6, 0x8080_5a4b_4892_8257]
    );
}

/// An endless stream of random bytes.
struct Noise(ChaCha20Rng);

impl Channel for Noise {
    fn send(&mut self, _: &[u8]) -> Result<(), ChannelError> {
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.0.fill_bytes(buffer);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

#[test]
fn random_bytes_from_the_peer_never_panic() {
    let table = table();
    for seed in 0..5 {
        let mut noise = Noise(ChaCha20Rng::seed_from_u64(seed));
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let kernel = Kernel::best();
        // Random bytes may encode one point, but not 128.
        let _ = GarblerSession::start(kernel, &mut rng, &mut noise);
        assert!(EvaluatorSession::start(kernel, &mut rng, &mut noise).is_err());

        let delta = Arc::new(Delta::random(&mut rng));
        let (dealt, other) = ideal_pair(Arc::clone(&delta), seed);
        let mut session =
            GarblerSession::with_transfers(kernel, delta, dealt, &mut rng, &mut noise).unwrap();
        let letters = session.letters(ALPHABET, 9, &mut noise).unwrap();
        let comparison = GarblerComparison {
            rows: (0..150)
                .map(|i| &table[i % ALPHABET][..])
                .collect::<Vec<_>>(),
            columns: 0..9,
        };
        let numbers = session.align(
            &UnitCell,
            Fold::Sum,
            &letters,
            &[comparison],
            &mut noise,
            &|_| (),
        );
        let _ = session.decode(&numbers.unwrap(), &mut noise);

        let mut session = EvaluatorSession::with_transfers(kernel, other, &mut noise).unwrap();
        let letters = session.letters(ALPHABET, &[0, 3, 1], &mut noise).unwrap();
        let comparison = EvaluatorComparison {
            rows: 150,
            columns: 0..3,
        };
        let numbers = session.align(
            &UnitCell,
            Fold::Sum,
            &letters,
            &[comparison],
            &mut noise,
            &|_| (),
        );
        let _ = session.decode(&numbers.unwrap(), &mut noise);
    }
}

#[test]
fn letters_outside_the_alphabet_are_refused() {
    let mut noise = Noise(ChaCha20Rng::seed_from_u64(1));
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let delta = Arc::new(Delta::random(&mut rng));
    let (_, dealt) = ideal_pair(delta, 1);
    let mut session = EvaluatorSession::with_transfers(Kernel::best(), dealt, &mut noise).unwrap();
    let letters = session.letters(ALPHABET, &[0, 3, 1], &mut noise).unwrap();
    let comparison = EvaluatorComparison {
        rows: 5,
        columns: 1..4,
    };
    let refused = session.align(
        &UnitCell,
        Fold::Sum,
        &letters,
        &[comparison],
        &mut noise,
        &|_| (),
    );
    assert!(matches!(refused, Err(MpcError::Misuse(_))));
}
