//! The side with both keys.

use super::messages::{receive_point, send_points};
use super::{COUNT, derive_key, random_scalar};
use crate::block::Block;
use crate::error::GarbleError;
use crate::transport::Transport;
use curve25519_dalek::ristretto::RistrettoPoint;
use rand::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

/// Gives [`COUNT`] pairs of random keys.
pub fn send(
    rng: &mut impl CryptoRng,
    transport: &mut impl Transport,
) -> Result<Zeroizing<Vec<[Block; 2]>>, GarbleError> {
    let mut secret = random_scalar(rng);
    let own = RistrettoPoint::mul_base(&secret);
    let own_compressed = own.compress();
    send_points(&[own_compressed], transport)?;

    let mut own_squared = secret * own;
    let mut pairs = Zeroizing::new(Vec::with_capacity(COUNT));
    for index in 0..COUNT {
        let (compressed, point) = receive_point(transport)?;
        let shared = secret * point;
        pairs.push([
            derive_key(index, &own_compressed, &compressed, &shared),
            derive_key(index, &own_compressed, &compressed, &(shared - own_squared)),
        ]);
    }
    secret.zeroize();
    own_squared.zeroize();
    Ok(pairs)
}
