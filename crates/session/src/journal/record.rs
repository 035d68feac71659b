//! The records of a journal: a kind, three numbers, and a checksum.
//!
//! | kind | first number | second number | third | meaning |
//! |---|---|---|---|---|
//! | 1 | pair | score | similarity | a score without a similarity |
//! | 2 | pair | score | similarity | a score |
//! | 3 | first pair | pairs | – | these were started: whatever an engine lets a side see, it may have seen once more |
//! | 5 | pair | 0 or 1 | – | whether the score is within the threshold |
//! | 6 | pair | half | run | this side's half of the output, from the computation with this tag |
//! | 7 | first pair | pairs | – | this side's halves of these may have been sent |
//! | 8 | pair | – | – | the output was not a possible result |
//! | 9 | 1 or 2 | levels | – | decided on the engine garbled or shares, with seed trees of this many levels |
//! | 10 | place after the pairs | number | – | a number of an answer about groups |
//! | 11 | 0 | commitment | commitment | the first 16 bytes of the peer's commitment to its part of the coins |

use crate::engine_decision::EngineDecision;
use ring::digest::{Context, SHA256};
use veilpath_metrics::PairScore;
use veilpath_protocol::{Answer, Engine, TreeLevels};

/// Bytes of a record.
pub(crate) const RECORD: usize = 32;

/// Bytes of its content; the checksum follows.
const CONTENT: usize = 28;

/// The engines with the numbers 1 and 2.
const PROVEN: [Engine; 2] = [Engine::Garbled, Engine::Shares];

/// A record of a journal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Record {
    /// The answer for a pair.
    Answer(usize, Answer),
    /// The first of the pairs that were started, and how many.
    Started(usize, usize),
    /// This side's half of a pair's output, and the tag of the run that it belongs to.
    Half(usize, u64, u64),
    /// The first of the pairs whose halves may have been sent, and how many.
    Sent(usize, usize),
    /// A pair whose output was not a possible result.
    Rejected(usize),
    /// A number of an answer about groups, and its place after the pairs.
    Number(usize, u64),
    /// The first 16 bytes of the peer's commitment to its part of the coins.
    Commitment([u64; 2]),
    /// Which of the proven engines computes, and how.
    Engine(EngineDecision),
}

impl Record {
    /// The bytes in the journal with this id.
    pub(crate) fn encode(&self, id: &[u8; 32]) -> [u8; RECORD] {
        let (kind, numbers): (u32, _) = match *self {
            Record::Answer(pair, Answer::Score(reading)) => (
                1 + u32::from(reading.similarity.is_some()),
                [
                    pair as u64,
                    reading.score.to_bits(),
                    reading.similarity.unwrap_or_default().to_bits(),
                ],
            ),
            Record::Started(first, count) => (3, [first as u64, count as u64, 0]),
            Record::Half(pair, half, run) => (6, [pair as u64, half, run]),
            Record::Sent(first, count) => (7, [first as u64, count as u64, 0]),
            Record::Rejected(pair) => (8, [pair as u64, 0, 0]),
            Record::Commitment([first, second]) => (11, [0, first, second]),
            Record::Number(place, number) => (10, [place as u64, number, 0]),
            Record::Engine(decision) => {
                let place = PROVEN.iter().position(|it| *it == decision.engine);
                let number = place.map_or(0, |place| place as u64 + 1);
                let levels = u8::from(decision.tree_levels);
                (9, [number, levels.into(), 0])
            }
            Record::Answer(pair, Answer::Within(within)) => {
                (5, [pair as u64, u64::from(within), 0])
            }
        };
        let mut content = [0; CONTENT];
        content[..4].copy_from_slice(&kind.to_le_bytes());
        for (slot, number) in content[4..].chunks_mut(8).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        with_checksum(id, &content)
    }

    /// The record in these bytes; `None` where they are not a record of this journal.
    pub(crate) fn decode(id: &[u8; 32], bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; RECORD] = bytes.try_into().ok()?;
        let content: &[u8; CONTENT] = bytes.first_chunk()?;
        if *bytes != with_checksum(id, content) {
            return None;
        }
        let number = |at: usize| -> Option<u64> {
            Some(u64::from_le_bytes(
                content.get(at..at + 8)?.try_into().ok()?,
            ))
        };
        let (first, second, third) = (number(4)?, number(12)?, number(20)?);
        let pair = usize::try_from(first).ok()?;
        match u32::from_le_bytes(*content.first_chunk()?) {
            kind @ (1 | 2) => Some(Record::Answer(
                pair,
                Answer::Score(PairScore {
                    score: f64::from_bits(second),
                    similarity: (kind == 2).then(|| f64::from_bits(third)),
                }),
            )),
            3 => Some(Record::Started(pair, usize::try_from(second).ok()?)),
            5 if second < 2 => Some(Record::Answer(pair, Answer::Within(second == 1))),
            6 => Some(Record::Half(pair, second, third)),
            7 => Some(Record::Sent(pair, usize::try_from(second).ok()?)),
            8 => Some(Record::Rejected(pair)),
            9 => Some(Record::Engine(EngineDecision {
                engine: *PROVEN.get(pair.checked_sub(1)?)?,
                tree_levels: TreeLevels::try_from(u8::try_from(second).ok()?).ok()?,
            })),
            10 => Some(Record::Number(pair, second)),
            11 if first == 0 => Some(Record::Commitment([second, third])),
            _ => None,
        }
    }
}

/// The content with its checksum, which depends on the journal.
pub(crate) fn with_checksum(id: &[u8; 32], content: &[u8; CONTENT]) -> [u8; RECORD] {
    let mut context = Context::new(&SHA256);
    context.update(id);
    context.update(content);
    let mut bytes = [0; RECORD];
    let (start, checksum) = bytes.split_at_mut(CONTENT);
    start.copy_from_slice(content);
    let length = checksum.len();
    checksum.copy_from_slice(&context.finish().as_ref()[..length]);
    bytes
}
