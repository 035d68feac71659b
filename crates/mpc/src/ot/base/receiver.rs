//! The receiver, which has the choice bits.

use super::messages::{receive_point, send_points};
use super::{BaseKeys, COUNT, derive_key, hash_to_point, random_scalar, random_wide, transcript};
use crate::block::Block;
use crate::error::MpcError;
use curve25519_dalek::ristretto::{RistrettoBasepointTable, RistrettoPoint};
use rand::CryptoRng;
use subtle::{Choice, ConditionallySelectable};
use veilpath_channel::Channel;
use zeroize::{Zeroize, Zeroizing};

/// Gets the key of each pair that the choice bit selects. Constant-time in the choices.
pub fn receive(
    choices: &[bool; COUNT],
    rng: &mut impl CryptoRng,
    channel: &mut dyn Channel,
) -> Result<BaseKeys<Block>, MpcError> {
    let (sender_compressed, sender) = receive_point(channel)?;
    // One table for all products with the sender's point takes a third of the time.
    let table = RistrettoBasepointTable::create(&sender);
    let mut points = Vec::with_capacity(COUNT);
    let mut keys = Zeroizing::new(Vec::with_capacity(COUNT));
    for (index, choice) in choices.iter().enumerate() {
        let choice = u8::from(*choice);
        let secret = random_scalar(rng);
        let mut other = RistrettoPoint::from_uniform_bytes(&random_wide(rng));
        let hash = hash_to_point(&sender_compressed, index, choice, &other.compress());
        let mut chosen = RistrettoPoint::mul_base(&secret) - hash;
        RistrettoPoint::conditional_swap(&mut chosen, &mut other, Choice::from(choice));
        let pair = [chosen.compress(), other.compress()];
        let mut shared = &table * &*secret;
        keys.push(derive_key(
            index,
            choice,
            &sender_compressed,
            &pair,
            &shared,
        ));
        shared.zeroize();
        points.push(pair);
    }
    send_points(points.as_flattened(), channel)?;
    Ok(BaseKeys {
        keys,
        transcript: transcript(&sender_compressed, &points),
    })
}
