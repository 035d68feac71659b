//! A peer that breaks the protocol causes a typed error. Nothing panics, and no memory is allocated for merely claimed
//! sizes.

use super::super::messages::Header;
use super::{LETTERS, as_in_the_paper, cohort, key, rng, short_key, spec};
use crate::{
    Answer, Engine, Job, Misbehaviour, PaillierOptions, PairRule, ProtocolError, Role, Spec,
};
use num_bigint::BigUint;
use proptest::prelude::*;
use std::sync::{Arc, OnceLock};
use veilpath_channel::{Channel, ChannelError};
use veilpath_metrics::{Cohort, LocalScoring, Metric, Scanpath};
use veilpath_paillier::{KeyFault, KeySize, Plaintext, SecretKey};

/// Sends a script, and ignores what it receives.
struct ScriptedChannel(Vec<u8>, usize);

impl Channel for ScriptedChannel {
    fn send(&mut self, _: &[u8]) -> Result<(), ChannelError> {
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let end = self.1 + buffer.len();
        let bytes = self.0.get(self.1..end).ok_or(ChannelError::Closed)?;
        buffer.copy_from_slice(bytes);
        self.1 = end;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

pub(super) fn secret() -> &'static Arc<SecretKey> {
    static KEY: OnceLock<Arc<SecretKey>> = OnceLock::new();
    KEY.get_or_init(|| key().secret)
}

/// One side of a comparison of two letters with two, against a script.
fn against(role: Role, options: PaillierOptions, script: &[Vec<u8>]) -> ProtocolError {
    results_against(role, options, script).unwrap_err()
}

fn results_against(
    role: Role,
    options: PaillierOptions,
    script: &[Vec<u8>],
) -> Result<Vec<Answer>, ProtocolError> {
    let both: Cohort = cohort(&[vec![1, 2]]);
    let spec: Spec = spec(options, Metric::Levenshtein, &both, &both);
    let own = Scanpath::new(vec![1, 2]);
    let own = [&own];
    let pairs = [(0, 0)];
    let job = Job::new(&spec, role, &own, 1, &pairs).unwrap();
    let job = job.with_key(Arc::clone(secret()));
    let mut channel = ScriptedChannel(script.concat(), 0);
    Engine::Paillier(options).run(&job, &mut channel, &())
}

pub(super) fn length(length: u64) -> Vec<u8> {
    length.to_le_bytes().to_vec()
}

pub(super) fn header(rows: u32, sets: u32, results: u32) -> Vec<u8> {
    [rows, sets, results]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect()
}

pub(super) fn encrypted(value: i64) -> Vec<u8> {
    let public = secret().public_key();
    let randomizer = public.fresh_randomizers(1, &mut rng(3)).pop().unwrap();
    let ciphertext = public.encrypt(&Plaintext::from(value), randomizer).unwrap();
    public.ciphertext_to_bytes(&ciphertext).unwrap()
}

fn host(script: &[Vec<u8>]) -> ProtocolError {
    against(Role::Host, short_key(), script)
}

fn join(script: &[Vec<u8>]) -> ProtocolError {
    against(Role::Join, as_in_the_paper(), script)
}

#[track_caller]
fn assert_misbehaved(error: ProtocolError) {
    assert!(
        matches!(error, ProtocolError::PeerMisbehaved(_)),
        "{error:?}"
    );
}

#[track_caller]
fn assert_refused(error: ProtocolError) {
    assert!(
        matches!(error, ProtocolError::CiphertextRejected(_)),
        "{error:?}"
    );
}

#[track_caller]
fn assert_closed(error: ProtocolError) {
    assert_eq!(error, ProtocolError::Channel(ChannelError::Closed));
}

#[test]
fn the_key_holder_answers_only_valid_requests() {
    let two = || length(2);
    assert_misbehaved(host(&[length(u64::MAX)]));
    assert_misbehaved(host(&[length((1 << 31) + 1)]));
    assert_closed(host(&[length(1 << 31)]));
    assert_closed(host(&[two(), header(1, 0, 0)]));
    assert_misbehaved(host(&[two(), header(0, 0, 0)]));
    // More than a batch, more than the cells there are, more rows than letters.
    assert_misbehaved(host(&[two(), header(0, 257, 0)]));
    assert_misbehaved(host(&[two(), header(0, 5, 0)]));
    assert_misbehaved(host(&[two(), header(3, 0, 0)]));
    assert_misbehaved(host(&[two(), header(u32::MAX, 0, 0)]));
    assert_misbehaved(host(&[two(), header(0, 0, u32::MAX)]));
    // Not below n², and not a unit.
    assert_refused(host(&[two(), header(0, 1, 0), vec![255; 128]]));
    assert_refused(host(&[two(), header(0, 1, 0), vec![0; 128]]));
}

/// A number that no mask produces, negative or beyond the slots, is reported only at the end, when all pairs are
/// charged: whether a number computed from encrypted costs is such a number depends on the key holder's letters.
#[test]
fn masked_values_out_of_range_are_refused_at_the_end() {
    let open = || [header(0, 0, 1), length(0), encrypted(2)].concat();
    let with = |value: i64| vec![length(2), header(0, 1, 0), encrypted(value)];
    assert_closed(host(&with(-1)));
    assert_closed(host(&[with(-1), with(-1)[1..].to_vec()].concat()));
    let at_the_end = host(&[with(-1), vec![open()]].concat());
    let refused = Misbehaviour::MaskedValueOutOfRange;
    assert_eq!(at_the_end, ProtocolError::PeerMisbehaved(refused));
}

/// With hardened masks and this key, a cell takes two ciphertexts, and a minimum three.
#[test]
fn hardened_messages_are_checked_like_the_others() {
    let options = short_key().with_hardening(true);
    let host =
        |masked: Vec<u8>| against(Role::Host, options, &[length(2), header(0, 1, 0), masked]);
    assert_closed(host(encrypted(1)));
    assert_closed(host(encrypted(1).repeat(2)));
    assert_refused(host([encrypted(1), vec![255; 128]].concat()));
    assert_refused(host([vec![0; 128], encrypted(1)].concat()));
    assert_closed(host([encrypted(1), encrypted(-1)].concat()));
    let modulus = secret().public_key().modulus().to_be_bytes().to_vec();
    let rows = encrypted(1).repeat(2 * LETTERS as usize);
    let join = |minima: Vec<u8>| {
        let options = options.with_batch(1).unwrap();
        against(
            Role::Join,
            options,
            &[length(2), modulus.clone(), rows.clone(), minima],
        )
    };
    assert_closed(join(encrypted(1).repeat(3)));
    assert_refused(join([encrypted(1).repeat(2), vec![0; 128]].concat()));
    // Four cells with arbitrary minima, then an impossible result.
    let minima = encrypted(i64::MAX).repeat(12);
    assert_closed(join(minima.clone()));
    assert_misbehaved(join([minima, length(4)].concat()));
}

#[test]
fn the_key_holder_decrypts_a_valid_result_once() {
    let result = |pair: u64, value: i64| [length(pair), encrypted(value)].concat();
    let one = |message: Vec<u8>| host(&[length(2), header(0, 0, 1), message]);
    assert_misbehaved(one(result(1, 2)));
    assert_misbehaved(one(result(u64::MAX, 2)));
    assert_misbehaved(one(result(0, -1)));
    // Two letters against two differ by at most 2; candidates reach 3.
    assert_misbehaved(one(result(0, 3)));
    assert_misbehaved(one(result(0, i64::MAX)));
    assert_refused(one([length(0), vec![255; 128]].concat()));
    let twice = [result(0, 1), result(0, 1)].concat();
    assert_misbehaved(host(&[length(2), header(0, 0, 2), twice]));
}

/// A number that is possible for the longest pair is refused for a shorter one.
#[test]
fn the_bound_of_a_result_is_that_of_its_pair() {
    let a = cohort(&[vec![1, 2], vec![3; 9]]);
    let b = cohort(&[vec![1, 2]]);
    let local = Metric::SmithWaterman {
        scoring: LocalScoring::Unit {
            reward: 2.0,
            mismatch: 1.0,
        },
        gap: 1.0,
        scale: Some(1),
    };
    let open = |metric: &Metric, pair: u64, value: i64| {
        let spec = spec(short_key(), metric.clone(), &a, &b);
        let own: Vec<&Scanpath> = a.entries.iter().map(|e| &e.scanpath).collect();
        let job = Job::new(&spec, Role::Host, &own, 1, &[(0, 0), (1, 0)]).unwrap();
        let job = job.with_key(Arc::clone(secret()));
        let message = [length(2), header(0, 0, 1), length(pair), encrypted(value)];
        spec.engine
            .run(&job, &mut ScriptedChannel(message.concat(), 0), &())
            .unwrap_err()
    };
    let possible = |metric: &Metric, pair: u64| -> Vec<i64> {
        let values = -1..=12;
        let closed = ProtocolError::Channel(ChannelError::Closed);
        values
            .filter(|&v| open(metric, pair, v) == closed)
            .collect()
    };
    assert_eq!(possible(&Metric::Levenshtein, 0), [0, 1, 2]);
    // Seven of nine letters are deleted in any case.
    assert_eq!(possible(&Metric::Levenshtein, 1), [7, 8, 9]);
    // Values are 4 minus the score.
    assert_eq!(possible(&local, 0), [0, 1, 2, 3, 4]);
}

/// The matrix owner uses letters 1 and 2. An entry that it does not use is parsed like the others. Otherwise, timing and
/// refused entries would reveal which letters it has.
#[test]
fn the_matrix_owner_parses_all_entries() {
    let modulus = secret().public_key().modulus().to_be_bytes().to_vec();
    for bad in 0..LETTERS as usize {
        let mut entries = vec![encrypted(1); 2 * LETTERS as usize];
        entries[bad] = vec![0; 128];
        assert_refused(join(&[length(2), modulus.clone(), entries.concat()]));
    }
}

#[test]
fn the_matrix_owner_checks_the_key() {
    let modulus = |n: &BigUint| {
        let bytes = n.to_bytes_be();
        [vec![0; 64 - bytes.len()], bytes].concat()
    };
    let n = BigUint::from_bytes_be(&secret().public_key().modulus().to_be_bytes());
    let refused = |n: BigUint| match join(&[length(2), modulus(&n)]) {
        ProtocolError::KeyRejected(fault) => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&n + 1u32), KeyFault::Even);
    assert!(matches!(refused(&n >> 8u32), KeyFault::Size { bits: 504 }));
    assert!(matches!(refused(BigUint::ZERO), KeyFault::Size { .. }));
    let multiple_of_three = (BigUint::from(1u32) << 511u32) + 1u32;
    assert_eq!(refused(multiple_of_three), KeyFault::SmallFactor);
    assert_closed(join(&[length(2), modulus(&n)]));
}

#[test]
fn the_matrix_owner_checks_answers() {
    let bytes = secret().public_key().modulus().to_be_bytes();
    let begin = || vec![length(2), bytes.to_vec()];
    let with = |more: Vec<Vec<u8>>| join(&[begin(), more].concat());
    let row = || encrypted(1).repeat(LETTERS as usize);
    assert_misbehaved(join(&[length(1 << 32)]));
    assert_closed(with(vec![row()]));
    assert_refused(with(vec![vec![255; 2 * 128 * LETTERS as usize]]));
    assert_refused(with(vec![row(), row(), vec![0; 128]]));
    // Four cells with arbitrary minima, then an impossible result.
    let minima = || vec![row(), row(), encrypted(7).repeat(4)];
    for raw in [3, u64::MAX, 1 << 63] {
        assert_misbehaved(with([minima(), vec![length(raw)]].concat()));
    }
    assert_closed(with(minima()));
}

/// Nothing authenticates minima and results: two equal scanpaths with a distance of 2.
#[test]
fn a_cheating_key_holder_can_make_results_wrong() {
    let modulus = secret().public_key().modulus().to_be_bytes().to_vec();
    let entries = encrypted(1).repeat(2 * LETTERS as usize);
    let script = [
        length(2),
        modulus,
        entries,
        encrypted(7).repeat(4),
        length(2),
    ];
    let results = results_against(Role::Join, as_in_the_paper(), &script).unwrap();
    assert!(
        matches!(results[..], [Answer::Score(score)] if score.score() == 2.0),
        "{results:?}"
    );
}

#[test]
fn a_claimed_length_allocates_nothing() {
    // 2³¹ letters: an honest key holder would have to send a terabyte of substitution costs.
    let bytes = secret().public_key().modulus().to_be_bytes();
    assert_closed(join(&[length(1 << 31), bytes.to_vec()]));
}

#[test]
fn weak_keys_need_consent_and_batches_have_limits() {
    assert!(PaillierOptions::new(KeySize::Bits1024, false).is_err());
    assert!(PaillierOptions::new(KeySize::Bits2048, false).is_ok());
    for batch in [0, PaillierOptions::MAX_BATCH + 1] {
        assert!(short_key().with_batch(batch).is_err());
    }
    let a = cohort(&[vec![1]]);
    let spec = Spec::new(
        Engine::Paillier(PaillierOptions::DEFAULT),
        Metric::Levenshtein,
        PairRule::All,
        &a,
        &a,
    )
    .unwrap();
    // A key of a size that was not agreed on.
    let own = [&a.entries[0].scanpath];
    let job = Job::new(&spec, Role::Host, &own, 1, &[(0, 0)]).unwrap();
    let job = job.with_key(Arc::clone(secret()));
    let mut channel = ScriptedChannel(length(1), 0);
    let error = spec.engine.run(&job, &mut channel, &()).unwrap_err();
    assert!(matches!(error, ProtocolError::Job(_)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_bytes_end_in_an_error(prefix in 0..3usize, small in prop::collection::vec(0..4u8, 0..12), bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let chunks = match prefix {
            0 => vec![],
            1 => vec![length(2)],
            // Headers with small numbers pass the checks.
            _ => vec![length(2), small.iter().flat_map(|&n| u32::from(n).to_le_bytes()).collect()],
        };
        let script = [chunks, vec![bytes]].concat();
        let _ = host(&script);
        let _ = join(&script);
    }
}

#[test]
fn headers_round_trip() {
    let sent = Header {
        rows: 7,
        sets: 3,
        results: 1,
    };
    struct RecordingChannel(Vec<u8>);
    impl Channel for RecordingChannel {
        fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
            self.0.extend_from_slice(bytes);
            Ok(())
        }
        fn receive(&mut self, _: &mut [u8]) -> Result<(), ChannelError> {
            Err(ChannelError::Closed)
        }
        fn flush(&mut self) -> Result<(), ChannelError> {
            Ok(())
        }
    }
    let mut channel = RecordingChannel(Vec::new());
    sent.send(&mut channel).unwrap();
    assert_eq!(channel.0, header(7, 3, 1));
}
