//! Wire format: little-endian numbers, counts before contents.
//!
//! | from | bytes | content |
//! |---|---|---|
//! | join | 8 + 2·length, for each scanpath | `u64` length, then letters as `u16` |
//! | host | 9 for each number of each pair, or 1 for each pair | for each number a byte (1 if it is defined) and its value as `f64` or zeros; an alignment has a score and a similarity. With a threshold one byte, 0 or 1. Not sent if results are only for the host |

use crate::{Answer, Job, Misbehaviour, Observer, ProtocolError, Reveal, Value};
use veilpath_channel::Channel;
use veilpath_metrics::{MAX_LENGTH, MAX_MEASURES, Measure, PairScore, Scanpath};

/// The number of letters to receive at a time, so that memory is not allocated for a length that the other side only
/// claims.
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
            .ok_or(ProtocolError::PeerMisbehaved(Misbehaviour::ScanpathTooLong))?;
        job.check_announced_length(index, length)?;
        let mut letters = Vec::new();
        while letters.len() < length {
            let mut bytes = vec![0; 2 * LETTERS_AT_A_TIME.min(length - letters.len())];
            channel.receive(&mut bytes)?;
            let received = bytes.chunks_exact(2);
            letters.extend(received.map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
        }
        let scanpath = Scanpath::new(letters);
        alphabet
            .check(&scanpath)
            .map_err(|_| ProtocolError::PeerMisbehaved(Misbehaviour::LetterOutsideAlphabet))?;
        scanpaths.push(scanpath);
    }
    Ok(scanpaths)
}

/// Bytes of an answer with this many numbers.
pub(super) fn answer_bytes(reveal: Reveal, numbers: u64) -> u64 {
    match reveal {
        Reveal::Score | Reveal::Group(_) => NUMBER as u64 * numbers,
        Reveal::Threshold(_) => 1,
    }
}

/// Bytes of a number: whether it is defined, and its value.
const NUMBER: usize = 9;

pub(super) fn send_answers(
    channel: &mut dyn Channel,
    answers: &[Answer],
) -> Result<(), ProtocolError> {
    for answer in answers {
        match answer {
            Answer::Score(score) => {
                let mut row = Vec::with_capacity(NUMBER * MAX_MEASURES);
                for number in score.numbers() {
                    row.push(number.is_some().into());
                    row.extend(number.unwrap_or_default().to_le_bytes());
                }
                channel.send(&row)?;
            }
            Answer::Within(within) => channel.send(&[u8::from(*within)])?,
        }
    }
    Ok(channel.flush()?)
}

pub(super) fn receive_answers(
    channel: &mut dyn Channel,
    job: &Job<'_>,
    observer: &dyn Observer,
) -> Result<Vec<Answer>, ProtocolError> {
    let measures = job.comparison.metric().measures();
    (0..job.pairs.len())
        .map(|pair| {
            let answer = match job.reveal {
                Reveal::Score | Reveal::Group(_) => {
                    Answer::Score(receive_score(channel, &measures)?)
                }
                Reveal::Threshold(_) => Answer::Within(receive_bit(channel)?),
            };
            observer.scored(pair, answer);
            Ok(answer)
        })
        .collect()
}

fn receive_score(
    channel: &mut dyn Channel,
    measures: &[Measure],
) -> Result<PairScore, ProtocolError> {
    let mut numbers = Vec::with_capacity(measures.len());
    for measure in measures {
        let is_defined = receive_bit(channel)?;
        let number = f64::from_bits(receive_u64(channel)?);
        if !is_defined && (!measure.may_be_undefined || number != 0.0) {
            return Err(ProtocolError::PeerMisbehaved(Misbehaviour::MalformedAnswer));
        }
        if Value::Number(number).check(measure.kind).is_err() {
            return Err(ProtocolError::PeerMisbehaved(
                Misbehaviour::ResultOutOfRange,
            ));
        }
        numbers.push(is_defined.then_some(number));
    }
    Ok(PairScore::from_numbers(numbers))
}

fn receive_bit(channel: &mut dyn Channel) -> Result<bool, ProtocolError> {
    let mut byte = [0];
    channel.receive(&mut byte)?;
    match byte {
        [0] => Ok(false),
        [1] => Ok(true),
        _ => Err(ProtocolError::PeerMisbehaved(Misbehaviour::MalformedAnswer)),
    }
}

fn receive_u64(channel: &mut dyn Channel) -> Result<u64, ProtocolError> {
    let mut bytes = [0; 8];
    channel.receive(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_channel::memory_pair;
    use veilpath_metrics::Metric;

    #[test]
    fn numbers_that_no_result_file_can_contain_are_refused() {
        let measures = Metric::Levenshtein.measures();
        let received = |score: f64| {
            let (mut host, mut join) = memory_pair();
            let answer = Answer::Score(PairScore::new(score, Some(0.5)));
            send_answers(&mut host, &[answer]).unwrap();
            receive_score(&mut join, &measures)
        };
        assert_eq!(received(1e30).unwrap().score().to_bits(), 1e30f64.to_bits());
        for score in [1.1e30, -1e300, f64::INFINITY] {
            let refused = ProtocolError::PeerMisbehaved(Misbehaviour::ResultOutOfRange);
            assert_eq!(received(score).unwrap_err(), refused, "{score}");
        }
    }
}
