//! The side with both keys.

use super::messages::{receive_point, send_points};
use super::{COUNT, derive_key, random_scalar};
use crate::block::Block;
use crate::error::MpcError;
use curve25519_dalek::ristretto::RistrettoPoint;
use rand::CryptoRng;
use veilpath_channel::Channel;
use zeroize::{Zeroize, Zeroizing};

/// Produces [`COUNT`] pairs of random keys.
pub fn send(
    rng: &mut impl CryptoRng,
    channel: &mut impl Channel,
) -> Result<Zeroizing<Vec<[Block; 2]>>, MpcError> {
    let secret = random_scalar(rng);
    let own = RistrettoPoint::mul_base(&secret);
    let own_compressed = own.compress();
    send_points(&[own_compressed], channel)?;

    let own_squared = Zeroizing::new(*secret * own);
    let mut pairs = Zeroizing::new(Vec::with_capacity(COUNT));
    for index in 0..COUNT {
        let (compressed, point) = receive_point(channel)?;
        let mut shared = [*secret * point; 2];
        shared[1] -= *own_squared;
        pairs.push(
            shared
                .each_ref()
                .map(|shared| derive_key(index, &own_compressed, &compressed, shared)),
        );
        shared.zeroize();
    }
    Ok(pairs)
}
