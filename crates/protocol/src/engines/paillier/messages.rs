//! Wire format: little-endian counts, then contents. Ciphertexts and the modulus are big-endian numbers of fixed
//! length.
//!
//! Every count is checked against the agreed parameters before anything is allocated for it.
//!
#![doc = include_str!("messages.md")]

use super::run_parameters::RunParameters;
use crate::{Misbehaviour, ProtocolError};
use veilpath_channel::Channel;
use veilpath_paillier::{BoxedUint, KeySize, PublicKey};

/// The number of bytes to receive at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// The header of the matrix owner's request: how many items of each kind follow or are requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    /// Rows of D that the key holder must send next.
    pub(super) rows: u32,
    /// Sets of masked candidates whose minimum the key holder must send (step 4).
    pub(super) sets: u32,
    /// Finished comparisons whose result the key holder must decrypt.
    pub(super) results: u32,
}

impl Header {
    const BYTES: usize = 12;

    pub(super) fn send(&self, channel: &mut dyn Channel) -> Result<(), ProtocolError> {
        let mut bytes = [0; Self::BYTES];
        for (index, number) in [self.rows, self.sets, self.results].iter().enumerate() {
            bytes[4 * index..4 * index + 4].copy_from_slice(&number.to_le_bytes());
        }
        Ok(channel.send(&bytes)?)
    }

    /// Receives a header. It must request something, and no more at once than was agreed.
    pub(super) fn receive(
        channel: &mut dyn Channel,
        agreed: &RunParameters,
    ) -> Result<Self, ProtocolError> {
        let mut bytes = [0; Self::BYTES];
        channel.receive(&mut bytes)?;
        let number = |index: usize| {
            let mut four = [0; 4];
            four.copy_from_slice(&bytes[4 * index..4 * index + 4]);
            u32::from_le_bytes(four)
        };
        let header = Self {
            rows: number(0),
            sets: number(1),
            results: number(2),
        };
        if header == Self::default() {
            return Err(ProtocolError::PeerMisbehaved(Misbehaviour::EmptyRequest));
        }
        if header.sets.max(header.results) > agreed.batch() {
            return Err(ProtocolError::PeerMisbehaved(Misbehaviour::RequestTooLarge));
        }
        Ok(header)
    }
}

/// Setup: the key holder sends pk.
pub(super) fn send_key(channel: &mut dyn Channel, key: &PublicKey) -> Result<(), ProtocolError> {
    let bytes = key.modulus().to_be_bytes();
    let length = key.size().bits() as usize / 8;
    channel.send(&bytes[bytes.len().saturating_sub(length)..])?;
    Ok(channel.flush()?)
}

/// Receives the key. Rejects it if it does not have the agreed size, or has a defect that this side can detect.
pub(super) fn receive_key(
    channel: &mut dyn Channel,
    size: KeySize,
) -> Result<PublicKey, ProtocolError> {
    let mut bytes = vec![0; size.bits() as usize / 8];
    channel.receive(&mut bytes)?;
    let modulus = BoxedUint::from_be_slice_vartime(&bytes);
    Ok(PublicKey::from_modulus(&modulus, size)?)
}

/// Receives ciphertexts without checking them. Memory is allocated as bytes arrive, not as they are announced.
pub(super) fn receive_ciphertexts(
    channel: &mut dyn Channel,
    count: usize,
    size: KeySize,
) -> Result<Vec<u8>, ProtocolError> {
    let total = count
        .checked_mul(size.ciphertext_bytes())
        .ok_or(ProtocolError::PeerMisbehaved(Misbehaviour::MessageTooLong))?;
    let mut bytes = Vec::new();
    while bytes.len() < total {
        let start = bytes.len();
        bytes.resize(start + CHUNK_BYTES.min(total - start), 0);
        channel.receive(&mut bytes[start..])?;
    }
    Ok(bytes)
}

/// The bytes of each ciphertext.
pub(super) fn split(bytes: &[u8], size: KeySize) -> Vec<&[u8]> {
    bytes.chunks_exact(size.ciphertext_bytes()).collect()
}

pub(super) fn send_u64(channel: &mut dyn Channel, number: u64) -> Result<(), ProtocolError> {
    Ok(channel.send(&number.to_le_bytes())?)
}

pub(super) fn receive_u64(channel: &mut dyn Channel) -> Result<u64, ProtocolError> {
    let mut bytes = [0; 8];
    channel.receive(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
