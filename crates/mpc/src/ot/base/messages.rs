//! The bytes of base transfers: compressed Ristretto points, one from the sender and two per transfer from the
//! receiver.

use crate::error::{Misbehaviour, MpcError};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::traits::IsIdentity;
use veilpath_channel::Channel;

/// Bytes of a point.
pub const POINT_BYTES: usize = 32;

/// Sends points one after the other.
pub(super) fn send_points(
    points: &[CompressedRistretto],
    channel: &mut dyn Channel,
) -> Result<(), MpcError> {
    for point in points {
        channel.send(point.as_bytes())?;
    }
    Ok(channel.flush()?)
}

/// Receives a point, in both its forms. Rejects the neutral element, with which keys would not depend on any secret.
pub(super) fn receive_point(
    channel: &mut dyn Channel,
) -> Result<(CompressedRistretto, RistrettoPoint), MpcError> {
    let mut bytes = [0; POINT_BYTES];
    channel.receive(&mut bytes)?;
    let compressed = CompressedRistretto(bytes);
    let point = compressed.decompress().ok_or(Misbehaviour::InvalidPoint)?;
    if point.is_identity() {
        return Err(Misbehaviour::IdentityPoint.into());
    }
    Ok((compressed, point))
}
