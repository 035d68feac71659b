//! The sender, which gets both keys of each pair.

use super::messages::{receive_point, send_points};
use super::{BaseKeys, COUNT, derive_key, hash_to_point, random_scalar, transcript};
use crate::block::Block;
use crate::error::MpcError;
use curve25519_dalek::ristretto::RistrettoPoint;
use rand::CryptoRng;
use veilpath_channel::Channel;
use zeroize::{Zeroize, Zeroizing};

/// Produces [`COUNT`] pairs of random keys.
pub fn send(
    rng: &mut impl CryptoRng,
    channel: &mut dyn Channel,
) -> Result<BaseKeys<[Block; 2]>, MpcError> {
    let secret = random_scalar(rng);
    let own = RistrettoPoint::mul_base(&secret).compress();
    send_points(std::slice::from_ref(&own), channel)?;

    let mut points = Vec::with_capacity(COUNT);
    let mut keys = Zeroizing::new(Vec::with_capacity(COUNT));
    for index in 0..COUNT {
        let received = [receive_point(channel)?, receive_point(channel)?];
        let pair = received.map(|(compressed, _)| compressed);
        let key = |choice: u8| {
            let [own_place, other_place] = [usize::from(choice), usize::from(1 - choice)];
            let hash = hash_to_point(&own, index, choice, &pair[other_place]);
            let mut shared = *secret * (received[own_place].1 + hash);
            let key = derive_key(index, choice, &own, &pair, &shared);
            shared.zeroize();
            key
        };
        keys.push([key(0), key(1)]);
        points.push(pair);
    }
    Ok(BaseKeys {
        keys,
        transcript: transcript(&own, &points),
    })
}
