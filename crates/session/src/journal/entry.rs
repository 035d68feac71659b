//! The entries of a journal: a kind, three numbers, and a checksum.
//!
//! | kind | first number | second number | third | meaning |
//! |---|---|---|---|---|
//! | 1 | pair | score | – | a score without a similarity |
//! | 2 | pair | score | similarity | a score with a similarity |
//! | 3 | first pair | pairs | – | these were started; with an engine without halves, every start reveals something |
//! | 5 | pair | 0 or 1 | – | whether the score is within the threshold |
//! | 6 | pair | half | run | this side's half of the output, from the computation with this tag |
//! | 7 | first pair | pairs | – | this side's halves of these may have been sent |
//! | 8 | pair | – | – | the output was not a possible result |
//! | 9 | 1 or 2 | levels | – | decided on the engine garbled or shares, with seed trees of this many levels |
//! | 10 | index after the pairs | number | – | a number of a group answer |
//! | 11 | 0 | digest | digest | the first 16 bytes of the digest of the peer's groups and of its commitment to coins |
//! | 12 | pair | index and count | number | one number of a score with more or fewer than two; the others are adjacent |
//! | 13 | 0 | – | – | the other side also has everything |
//! | 14 | first pair | pairs | times | these were started this many times |
//! | 15 | first pair | pairs | – | these may have been sent, and are not compared again: part of the journal was lost |

use crate::engine_decision::EngineDecision;
use ring::digest::{Context, SHA256};
use std::fmt;
use veilpath_metrics::{MAX_MEASURES, PairScore};
use veilpath_protocol::{Answer, Engine, TreeLevels};

/// Bytes of an entry.
pub(crate) const ENTRY_BYTES: usize = 32;

/// Bytes of its content; the checksum follows.
const CONTENT_BYTES: usize = 28;

/// The engines with the numbers 1 and 2.
const NUMBERED_ENGINES: [Engine; 2] = [Engine::Garbled, Engine::Shares];

/// An entry of a journal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Entry {
    /// The answer for a pair.
    Answer(usize, Answer),
    /// One number of the answer for a pair.
    Part(AnswerPart),
    /// The first of the pairs that were started, and how many.
    Started(usize, usize),
    /// The first of the pairs that were started, how many, and how many times.
    Restarted(usize, usize, u32),
    /// This side's half of a pair's output.
    Half(usize, Half),
    /// The first of the pairs whose halves may have been sent, and how many.
    Sent(usize, usize),
    /// The first of the pairs that are not compared again, because what was sent of them is not known, and how many.
    Withheld(usize, usize),
    /// A pair whose output was not a possible result.
    Rejected(usize),
    /// A number of a group answer, and its index after the pairs.
    Number(usize, u64),
    /// The first 16 bytes of the digest of the peer's groups and of its commitment to its part of the coins.
    Groups([u64; 2]),
    /// Which of the proven engines computes, and how.
    Engine(EngineDecision),
    /// The other side also has everything.
    Complete,
}

/// This side's half of a pair's output (see [`PairStore`](veilpath_protocol::PairStore)).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Half {
    pub(crate) half: u64,
    /// The tag of the run that it belongs to: halves of different runs do not fit.
    pub(crate) run: u64,
}

/// Without the half, which is secret.
impl fmt::Debug for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Half(of run {:016x})", self.run)
    }
}

/// One number of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AnswerPart {
    pair: usize,
    index: u8,
    count: u8,
    /// `None` if it is undefined.
    number: Option<f64>,
}

impl AnswerPart {
    /// The pair that it is about.
    pub(crate) fn pair(&self) -> usize {
        self.pair
    }
}

/// Assembles answers from their parts.
#[derive(Debug, Default)]
pub(crate) struct AnswerParts {
    pair: usize,
    numbers: Vec<Option<f64>>,
}

/// The result of adding a part.
pub(crate) enum AddedPart {
    /// More parts follow.
    Incomplete,
    /// The answer for a pair.
    Complete(usize, Answer),
    /// The part does not continue the ones before it.
    OutOfOrder,
}

impl AnswerParts {
    pub(crate) fn add(&mut self, part: AnswerPart) -> AddedPart {
        if part.index == 0 {
            self.pair = part.pair;
            self.numbers.clear();
        }
        let continues = part.pair == self.pair && usize::from(part.index) == self.numbers.len();
        if !continues || usize::from(part.count) > MAX_MEASURES {
            self.numbers.clear();
            return AddedPart::OutOfOrder;
        }
        self.numbers.push(part.number);
        if self.numbers.len() < usize::from(part.count) {
            return AddedPart::Incomplete;
        }
        let score = PairScore::from_numbers(self.numbers.drain(..));
        AddedPart::Complete(part.pair, Answer::Score(score))
    }
}

impl Entry {
    /// This side's half of a pair's output, and the tag of the run that it belongs to.
    pub(crate) fn half(pair: usize, half: u64, run: u64) -> Self {
        Entry::Half(pair, Half { half, run })
    }

    /// The entries of an answer. A score with two numbers is one entry; any other has one for each number.
    pub(crate) fn of_answer(pair: usize, answer: Answer) -> Vec<Self> {
        match answer {
            Answer::Score(score) if score.numbers().len() != 2 => {
                let count = u8::try_from(score.numbers().len()).unwrap_or(u8::MAX);
                let parts = (0..count).zip(score.numbers());
                parts
                    .map(|(index, number)| {
                        Entry::Part(AnswerPart {
                            pair,
                            index,
                            count,
                            number,
                        })
                    })
                    .collect()
            }
            answer => vec![Entry::Answer(pair, answer)],
        }
    }

    /// The bytes in the journal with this id.
    pub(crate) fn encode(&self, id: &[u8; 32]) -> [u8; ENTRY_BYTES] {
        let (kind, numbers): (u32, _) = match *self {
            Entry::Answer(pair, Answer::Score(score)) => (
                1 + u32::from(score.similarity().is_some()),
                [
                    pair as u64,
                    score.score().to_bits(),
                    score.similarity().unwrap_or_default().to_bits(),
                ],
            ),
            Entry::Part(part) => (
                12,
                [
                    part.pair as u64,
                    u64::from(part.index) | u64::from(part.count) << 8,
                    part.number.unwrap_or(f64::NAN).to_bits(),
                ],
            ),
            Entry::Started(first, count) => (3, [first as u64, count as u64, 0]),
            Entry::Restarted(first, count, times) => {
                (14, [first as u64, count as u64, times.into()])
            }
            Entry::Half(pair, Half { half, run }) => (6, [pair as u64, half, run]),
            Entry::Sent(first, count) => (7, [first as u64, count as u64, 0]),
            Entry::Withheld(first, count) => (15, [first as u64, count as u64, 0]),
            Entry::Rejected(pair) => (8, [pair as u64, 0, 0]),
            Entry::Groups([first, second]) => (11, [0, first, second]),
            Entry::Number(index, number) => (10, [index as u64, number, 0]),
            Entry::Complete => (13, [0; 3]),
            Entry::Engine(decision) => {
                let index = NUMBERED_ENGINES
                    .iter()
                    .position(|it| *it == decision.engine);
                let number = index.map_or(0, |index| index as u64 + 1);
                let levels = u8::from(decision.tree_levels);
                (9, [number, levels.into(), 0])
            }
            Entry::Answer(pair, Answer::Within(within)) => (5, [pair as u64, u64::from(within), 0]),
        };
        let mut content = [0; CONTENT_BYTES];
        content[..4].copy_from_slice(&kind.to_le_bytes());
        for (slot, number) in content[4..].chunks_mut(8).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        with_checksum(id, &content)
    }

    /// The entry in these bytes; `None` if they are not an entry of this journal.
    pub(crate) fn decode(id: &[u8; 32], bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; ENTRY_BYTES] = bytes.try_into().ok()?;
        let content: &[u8; CONTENT_BYTES] = bytes.first_chunk()?;
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
            kind @ (1 | 2) => Some(Entry::Answer(
                pair,
                Answer::Score(PairScore::new(
                    f64::from_bits(second),
                    (kind == 2).then(|| f64::from_bits(third)),
                )),
            )),
            12 => {
                let [index, count, rest @ ..] = second.to_le_bytes();
                let number = f64::from_bits(third);
                let fits = index < count && rest == [0; 6];
                fits.then_some(Entry::Part(AnswerPart {
                    pair,
                    index,
                    count,
                    number: (!number.is_nan()).then_some(number),
                }))
            }
            3 => Some(Entry::Started(pair, usize::try_from(second).ok()?)),
            14 => Some(Entry::Restarted(
                pair,
                usize::try_from(second).ok()?,
                u32::try_from(third).ok()?,
            )),
            5 if second < 2 => Some(Entry::Answer(pair, Answer::Within(second == 1))),
            6 => Some(Entry::half(pair, second, third)),
            7 => Some(Entry::Sent(pair, usize::try_from(second).ok()?)),
            15 => Some(Entry::Withheld(pair, usize::try_from(second).ok()?)),
            8 => Some(Entry::Rejected(pair)),
            9 => Some(Entry::Engine(EngineDecision {
                engine: *NUMBERED_ENGINES.get(pair.checked_sub(1)?)?,
                tree_levels: TreeLevels::try_from(u8::try_from(second).ok()?).ok()?,
            })),
            10 => Some(Entry::Number(pair, second)),
            13 if [first, second, third] == [0; 3] => Some(Entry::Complete),
            11 if first == 0 => Some(Entry::Groups([second, third])),
            _ => None,
        }
    }
}

/// The content with its checksum, which depends on the journal.
pub(crate) fn with_checksum(id: &[u8; 32], content: &[u8; CONTENT_BYTES]) -> [u8; ENTRY_BYTES] {
    let mut context = Context::new(&SHA256);
    context.update(id);
    context.update(content);
    let mut bytes = [0; ENTRY_BYTES];
    let (start, checksum) = bytes.split_at_mut(CONTENT_BYTES);
    start.copy_from_slice(content);
    let length = checksum.len();
    checksum.copy_from_slice(&context.finish().as_ref()[..length]);
    bytes
}
