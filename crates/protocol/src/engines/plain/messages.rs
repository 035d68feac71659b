//! What travels: little-endian numbers, counts before contents.

use crate::{Channel, Job, Observer, ProtocolError};
use veilpath_metrics::{MAX_LENGTH, Reading, Scanpath};

/// Letters that are received at a time: a length that the other side merely claims must not reserve memory.
const LETTERS_AT_A_TIME: usize = 32 << 10;

pub(super) fn send_scanpaths(
    channel: &mut dyn Channel,
    scanpaths: &[&Scanpath],
) -> Result<(), ProtocolError> {
    let mut bytes = Vec::new();
    for scanpath in scanpaths {
        channel.send(&(scanpath.len() as u64).to_le_bytes())?;
        for letters in scanpath.letters().chunks(LETTERS_AT_A_TIME) {
            bytes.clear();
            bytes.extend(letters.iter().flat_map(|letter| letter.to_le_bytes()));
            channel.send(&bytes)?;
        }
    }
    Ok(channel.flush()?)
}

pub(super) fn receive_scanpaths(
    channel: &mut dyn Channel,
    job: &Job<'_>,
) -> Result<Vec<Scanpath>, ProtocolError> {
    let alphabet = job.comparison.alphabet();
    let mut scanpaths = Vec::new();
    for index in 0..job.peer_count {
        let length = receive_u64(channel)?;
        let length = usize::try_from(length)
            .ok()
            .filter(|&length| length <= MAX_LENGTH)
            .ok_or(ProtocolError::PeerMisbehaved("a scanpath is too long"))?;
        job.as_announced(index, length)?;
        let mut letters = Vec::new();
        while letters.len() < length {
            let mut bytes = vec![0; 2 * LETTERS_AT_A_TIME.min(length - letters.len())];
            channel.receive(&mut bytes)?;
            let received = bytes.chunks_exact(2);
            letters.extend(received.map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
        }
        let scanpath = Scanpath::new(letters);
        alphabet.check(&scanpath).map_err(|_| {
            ProtocolError::PeerMisbehaved("a letter is outside the agreed alphabet")
        })?;
        scanpaths.push(scanpath);
    }
    Ok(scanpaths)
}

pub(super) fn send_readings(
    channel: &mut dyn Channel,
    readings: &[Reading],
) -> Result<(), ProtocolError> {
    for reading in readings {
        let mut row = [0; 17];
        row[..8].copy_from_slice(&reading.score.to_le_bytes());
        row[8] = reading.similarity.is_some().into();
        row[9..].copy_from_slice(&reading.similarity.unwrap_or_default().to_le_bytes());
        channel.send(&row)?;
    }
    Ok(channel.flush()?)
}

pub(super) fn receive_readings(
    channel: &mut dyn Channel,
    count: usize,
    observer: &dyn Observer,
) -> Result<Vec<Reading>, ProtocolError> {
    (0..count)
        .map(|pair| {
            let score = receive_f64(channel)?;
            let mut has_similarity = [0];
            channel.receive(&mut has_similarity)?;
            let similarity = receive_f64(channel)?;
            let similarity = match has_similarity {
                [0] => None,
                [1] => Some(similarity),
                _ => return Err(ProtocolError::PeerMisbehaved("a score row is malformed")),
            };
            let reading = Reading { score, similarity };
            observer.scored(pair, reading);
            Ok(reading)
        })
        .collect()
}

fn receive_u64(channel: &mut dyn Channel) -> Result<u64, ProtocolError> {
    let mut bytes = [0; 8];
    channel.receive(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn receive_f64(channel: &mut dyn Channel) -> Result<f64, ProtocolError> {
    let number = f64::from_bits(receive_u64(channel)?);
    if number.is_finite() {
        return Ok(number);
    }
    Err(ProtocolError::PeerMisbehaved("a score is not a number"))
}
