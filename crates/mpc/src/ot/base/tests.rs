//! Keys agree, and only valid points are accepted.

use super::*;
use crate::error::{Misbehaviour, MpcError};
use curve25519_dalek::traits::Identity;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use veilpath_channel::{Channel, memory_pair};

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

#[test]
fn the_receiver_gets_one_key_of_each_pair() {
    let (mut left, mut right) = memory_pair();
    let choices: [bool; COUNT] = std::array::from_fn(|i| i % 3 == 0);
    std::thread::scope(|scope| {
        let sent = scope.spawn(move || send(&mut rng(1), &mut left).unwrap());
        let received = receive(&choices, &mut rng(2), &mut right).unwrap();
        let sent = sent.join().unwrap();
        assert_eq!(sent.transcript, received.transcript);
        for (i, choice) in choices.into_iter().enumerate() {
            assert_eq!(received.keys[i], sent.keys[i][usize::from(choice)]);
            assert_ne!(received.keys[i], sent.keys[i][usize::from(!choice)]);
        }
    });
}

/// The result of a sender that receives these bytes.
fn sender_receives(bytes: &[u8]) -> Result<BaseKeys<[Block; 2]>, MpcError> {
    let (mut left, mut right) = memory_pair();
    right.send(bytes).unwrap();
    right.flush().unwrap();
    // Keep the channel open if there is enough to read, because the sender also sends.
    let _open = (bytes.len() >= 64 * COUNT).then_some(right);
    send(&mut rng(1), &mut left)
}

#[test]
fn invalid_points_are_rejected() {
    let neutral = RistrettoPoint::identity().compress().to_bytes();
    for (bad, reason) in [
        ([0xff; 32], Misbehaviour::InvalidPoint),
        (neutral, Misbehaviour::IdentityPoint),
    ] {
        let (mut left, mut right) = memory_pair();
        left.send(&bad).unwrap();
        left.flush().unwrap();
        let refused = receive(&[false; COUNT], &mut rng(1), &mut right);
        assert_eq!(refused.err(), Some(MpcError::Peer(reason)));

        // At every place in the receiver's message, for the first and the second point of a pair.
        let good = RistrettoPoint::mul_base(&random_scalar(&mut rng(5)));
        for index in [0, 1, 2, 2 * COUNT - 1] {
            let mut points = vec![good.compress().to_bytes(); 2 * COUNT];
            points[index] = bad;
            let refused = sender_receives(&points.concat());
            assert_eq!(refused.err(), Some(MpcError::Peer(reason)));
        }
    }
    assert!(matches!(
        sender_receives(&[1; 31]).err(),
        Some(MpcError::Channel(_))
    ));
}

#[test]
fn a_copied_point_gives_other_keys() {
    // A weakness of careless batching: a receiver repeats a message and gets the same key twice.
    let points = [1, 2].map(|seed| RistrettoPoint::mul_base(&random_scalar(&mut rng(seed))));
    let pair = points.map(|point| point.compress().to_bytes()).concat();
    let sent = sender_receives(&pair.repeat(COUNT)).unwrap();
    let mut keys: Vec<_> = sent
        .keys
        .as_flattened()
        .iter()
        .map(|key| key.value())
        .collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 2 * COUNT);
}

#[test]
fn the_two_points_do_not_show_the_choice() {
    // For either choice, both points are fresh in every run: neither is a function of B alone.
    let mut seen = std::collections::BTreeSet::new();
    for (seed, choice) in [(1, false), (2, false), (3, true), (4, true)] {
        let (mut left, mut right) = memory_pair();
        let base = RistrettoPoint::mul_base(&random_scalar(&mut rng(9)));
        left.send(base.compress().as_bytes()).unwrap();
        left.flush().unwrap();
        receive(&[choice; COUNT], &mut rng(seed), &mut right).unwrap();
        let mut bytes = vec![0; 64 * COUNT];
        left.receive(&mut bytes).unwrap();
        seen.extend(bytes.chunks(32).map(<[u8]>::to_vec));
    }
    assert_eq!(seen.len(), 4 * 2 * COUNT);
}

#[test]
fn changed_bytes_decode_to_other_points_or_fail() {
    let points = [1, 2].map(|seed| RistrettoPoint::mul_base(&random_scalar(&mut rng(seed))));
    let pair = points.map(|point| point.compress().to_bytes()).concat();
    let honest = pair.repeat(COUNT);
    let transcript = sender_receives(&honest).unwrap().transcript;
    let (mut refused, mut accepted) = (0, 0);
    for at in (0..64).chain(honest.len() - 3..honest.len()) {
        let mut changed = honest.clone();
        changed[at] ^= 1 << (at % 8);
        match sender_receives(&changed) {
            Ok(sent) => {
                assert_ne!(sent.transcript, transcript);
                accepted += 1;
            }
            Err(error) => {
                assert_eq!(error, Misbehaviour::InvalidPoint.into());
                refused += 1;
            }
        }
    }
    // Most strings of 32 bytes do not encode a point.
    assert!(refused > accepted, "{refused} refused, {accepted} accepted");
    for at in 0..32 {
        let (mut left, mut right) = memory_pair();
        let mut changed = points[0].compress().to_bytes();
        changed[at] ^= 1 << (at % 8);
        left.send(&changed).unwrap();
        left.flush().unwrap();
        let ended = receive(&[true; COUNT], &mut rng(3), &mut right);
        assert!(matches!(ended, Ok(_) | Err(MpcError::Peer(_))));
    }
}

/// A receiver knows a key if it made the point from a hash that covers the other point. It can do this for one point of a pair, whichever
/// it chooses last.
#[test]
fn a_receiver_cannot_know_both_keys() {
    // What `send` draws first.
    let sender = RistrettoPoint::mul_base(&random_scalar(&mut rng(1)));
    let compressed = sender.compress();
    let secrets = [2, 3].map(|seed| random_scalar(&mut rng(seed)));
    let assumed = RistrettoPoint::mul_base(&random_scalar(&mut rng(4))).compress();
    let pairs: Vec<[CompressedRistretto; 2]> = (0..COUNT)
        .map(|index| {
            let point = |choice: u8, other: &CompressedRistretto| {
                let hash = hash_to_point(&compressed, index, choice, other);
                (RistrettoPoint::mul_base(&secrets[usize::from(choice)]) - hash).compress()
            };
            let second = point(1, &assumed);
            [point(0, &second), second]
        })
        .collect();
    let bytes: Vec<u8> = pairs
        .iter()
        .flatten()
        .flat_map(|it| it.to_bytes())
        .collect();
    let sent = sender_receives(&bytes).unwrap();
    for (index, pair) in pairs.iter().enumerate() {
        let key = |choice: u8| {
            let shared = sender * *secrets[usize::from(choice)];
            derive_key(index, choice, &compressed, pair, &shared)
        };
        assert_eq!(sent.keys[index][0], key(0));
        assert_ne!(sent.keys[index][1], key(1));
    }
}
