//! The side with the choice.

use super::messages::{receive_point, send_points};
use super::{COUNT, derive_key, random_scalar};
use crate::block::Block;
use crate::error::MpcError;
use curve25519_dalek::ristretto::{RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::traits::Identity;
use rand::CryptoRng;
use subtle::{Choice, ConditionallySelectable};
use veilpath_channel::Channel;
use zeroize::{Zeroize, Zeroizing};

/// Gets the key of each pair that the choice bit selects. Constant-time in the choices.
pub fn receive(
    choices: &[bool; COUNT],
    rng: &mut impl CryptoRng,
    channel: &mut impl Channel,
) -> Result<Zeroizing<Vec<Block>>, MpcError> {
    let (sender_compressed, sender) = receive_point(channel)?;
    // One table for all products with the sender's point: a third of the time.
    let table = RistrettoBasepointTable::create(&sender);
    let mut points = Vec::with_capacity(COUNT);
    let mut keys = Zeroizing::new(Vec::with_capacity(COUNT));
    for (index, choice) in choices.iter().enumerate() {
        let secret = random_scalar(rng);
        let chosen = RistrettoPoint::conditional_select(
            &RistrettoPoint::identity(),
            &sender,
            Choice::from(u8::from(*choice)),
        );
        let point = (RistrettoPoint::mul_base(&secret) + chosen).compress();
        let mut shared = &table * &*secret;
        keys.push(derive_key(index, &sender_compressed, &point, &shared));
        shared.zeroize();
        points.push(point);
    }
    send_points(&points, channel)?;
    Ok(keys)
}
