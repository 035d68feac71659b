//! The default limit: how many comparisons of one scanpath a side allows.
//!
//! A partner chooses its own scanpaths, so with any engine, enough answers reveal the other side's letters. Information
//! theory bounds how fast. A scanpath of `n` letters from an alphabet of `k` has `n·log₂ k` bits. An answer with `R`
//! possible values has at most `log₂ R` bits, so `n·log₂ k / log₂ R` comparisons are needed on average to learn random
//! letters, even if the partner adapts its questions to earlier answers. The default limit is **half of that number**:
//! answers within it carry at most half of a scanpath's information.
//!
//! Some metrics depend on less than the letters ([`Dependence`]): a Hausdorff distance depends on which letters occur, a
//! recurrence rate on how often each occurs. The entropy of that in a random scanpath replaces `n·log₂ k`.
//! Likewise, letters that the metric treats alike count as one, which is more frequent than others. What a metric with a
//! table of the users' choice depends on is not examined, so its default limit is 0. What a threshold leaves of a score
//! is not examined either; a letter counts as one bit ([`THRESHOLD_LETTERS`]).
//!
//! `R` counts the values that an answer can have *even if the partner cheats*:
//!
//! | engine | what a cheating partner can do | values |
//! |---|---|---|
//! | `garbled` or `shares`, with `nearest:K` | have another function of a scanpath opened instead of its group | 32, the largest number of groups |
//! | any, with a threshold | make the one bit mean something else | 2 |
//! | `garbled` | change looked-up costs (joining side) or garble another circuit (host) | 2 to the number of output bits |
//! | `shares` | change secret-shared numbers (either side) | 2 to the number of output bits |
//! | `paillier` | have another number opened (joining side) | `2·r + 1`, where `r` ≤ `n·c + 1` is the number of results that the key holder accepts for these lengths, and `c` is the largest cost of a substitution (in a local alignment, the largest score of two letters) |
//!
//! With `paillier`, the joining side also sees at the end whether a masked value was out of range, and the key holder may
//! refuse a result. Both can depend on the host's letters, so they count as values, too.
//!
//! The opened number may be about any scanpath of the host. So the limit of each of its scanpaths counts
//! the comparisons of *all* of them ([`Engine::exposes_any_scanpath`]), and `R` is that of the host's longest scanpath
//! ([`DefaultLimit::for_any_scanpath_up_to`]).
//!
//! A test in `veilpath-audit` compares attacks with these limits. The limit depends on the plan and on lengths that the
//! partner sees, never on letters, so a refusal reveals nothing. For the same reason it cannot depend on how many
//! different letters occur. It depends on how many letters this side declares or, for rounded fixations, on the plan's
//! grid and duration classes. If this side declares none, any letter of the notation could occur, but often few do, so
//! the limit assumes [`UNDECLARED_LETTERS`]. What the partner declares does not count, because it could raise this
//! side's limit.

#[cfg(test)]
mod tests;

use crate::engines::{garbled, paillier};
use crate::{Engine, GroupSizes, Reveal, Spec};
use veilpath_metrics::{Comparison, Costs, Dependence, Distance, MetricError, Model, Scores};
use veilpath_mpc::circuit::numbers::bits_for;

/// An alphabet counts as at most this many letters, because a declared alphabet may be larger than necessary.
const MAX_LETTERS: f64 = 64.0;

/// An undeclared alphabet counts as this many letters, because scanpaths over only a few areas of interest are common.
const UNDECLARED_LETTERS: u32 = 4;

/// With a threshold, an alphabet counts as two letters, because a bit may depend only on whether letters are of some kind:
/// on which corners of a grid a scanpath visits, for example, if only the largest distances exceed the threshold.
const THRESHOLD_LETTERS: f64 = 2.0;

/// With hidden lengths, the limit is that of scanpaths this many times shorter than the padded length.
const PADDING_PER_LETTER: u64 = 4;

/// The default limit of a plan, for scanpaths of every length.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultLimit {
    dependence: Dependence,
    /// How many letters of equal probability count.
    letters: f64,
    undeclared: bool,
    answer: AnswerSize,
    /// Letters of the longest scanpath that an answer may be about; 0 if every answer is about its own scanpath.
    longest: u64,
    /// The shortest and the longest length, if lengths are hidden.
    hidden_lengths: Option<[u64; 2]>,
}

/// How much an answer about a scanpath of `n` letters can reveal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AnswerSize {
    /// This many bits.
    Bits(usize),
    /// The bit length of this number times `n`.
    PerLetter(u64),
    /// A refusal, or one of `n`·this + 1 results, each with or without an error at the end.
    ResultsPerLetter(u64),
}

impl DefaultLimit {
    /// The default limit of this plan, on a side that declares this many letters.
    pub fn new(spec: &Spec, declared_letters: Option<u32>) -> Result<Self, MetricError> {
        let comparison = Comparison::new(spec.metric.clone(), spec.alphabet)?;
        let model = comparison.model();
        let answer = match spec.reveal {
            Reveal::Threshold(_) => AnswerSize::Bits(1),
            // The answer names one of at most this many groups for each scanpath.
            Reveal::Group(question)
                if question.names_scanpaths() && spec.engine.opens_outputs_by_halves() =>
            {
                AnswerSize::Bits(bits_for(GroupSizes::MAX_GROUPS as u64 - 1))
            }
            // A group answer has its own limits. Pairs count as if scores were revealed.
            Reveal::Score | Reveal::Group(_) => match (spec.engine, model) {
                (_, Model::Clear) => AnswerSize::Bits(NUMBER_BITS),
                (Engine::Paillier(_), _) => {
                    AnswerSize::ResultsPerLetter(paillier::result_range_per_letter(&comparison))
                }
                (Engine::Garbled | Engine::Shares | Engine::Plain, _) => {
                    garbled::answer_size(&comparison, spec.pad_to)
                }
            },
        };
        let agreed = spec.alphabet.size();
        // With rounded fixations, all letters can occur. The plan says how many there are, not the file.
        let declared = match spec.metric.quantisation() {
            Some(_) => Some(agreed),
            None => declared_letters.or(spec.metric.letters()),
        };
        let letters = declared.map_or(agreed, |declared| declared.min(agreed));
        let is_threshold = matches!(spec.reveal, Reveal::Threshold(_));
        let most = if is_threshold {
            THRESHOLD_LETTERS
        } else {
            MAX_LETTERS
        };
        Ok(Self {
            dependence: model.dependence(),
            letters: model.effective_letters(letters, agreed).min(most),
            undeclared: declared.is_none() && agreed > UNDECLARED_LETTERS && !is_threshold,
            answer,
            longest: 0,
            hidden_lengths: spec
                .pad_to
                .map(|longest| [Self::shortest_protected(longest), longest.into()]),
        })
    }

    /// The rule if every answer may be about any scanpath, and the longest has this many letters: an answer about it has the
    /// most values.
    #[must_use]
    pub fn for_any_scanpath_up_to(self, longest: u64) -> Self {
        Self { longest, ..self }
    }

    /// The largest number of comparisons of a scanpath with this many letters. With hidden lengths it is the same for
    /// all, so that it does not reveal them. An empty scanpath has no limit.
    pub fn comparisons(&self, length: u64) -> u64 {
        // For some metrics, long scanpaths are more alike than short ones.
        let lengths = self.hidden_lengths.unwrap_or([length; 2]);
        let [shortest, longest] = lengths.map(|length| self.limit_for(length));
        shortest.min(longest)
    }

    /// How many letters the limit assumes, if this side declares none.
    pub fn assumed_letters(&self) -> Option<u32> {
        self.undeclared.then_some(UNDECLARED_LETTERS)
    }

    /// The shortest scanpath that the limit protects if all are padded to this length.
    pub fn shortest_protected(pad_to: u32) -> u64 {
        (u64::from(pad_to) / PADDING_PER_LETTER).max(1)
    }

    /// The number of comparisons needed on average to learn what the metric depends on, for scanpaths of this length, even
    /// if the partner cheats.
    pub fn bound(&self, length: u64) -> f64 {
        self.bound_for(length, self.letters)
    }

    fn bound_for(&self, length: u64, letters: f64) -> f64 {
        self.dependence.bits(length, letters) / self.answer.bits(length.max(self.longest))
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    fn limit_for(&self, length: u64) -> u64 {
        let assumed = self.assumed_letters().map_or(self.letters, f64::from);
        let bound = self.bound_for(length, self.letters.min(assumed));
        if length == 0 || bound.is_nan() {
            return u64::MAX;
        }
        (bound / 2.0) as u64
    }
}

/// Bits of a double-precision number.
const NUMBER_BITS: usize = 64;

impl AnswerSize {
    /// The largest number of bits of an answer about a scanpath with this many letters.
    #[allow(clippy::cast_precision_loss)] // a rounded logarithm
    fn bits(self, length: u64) -> f64 {
        match self {
            Self::Bits(bits) => bits as f64,
            Self::PerLetter(largest) => bits_for(length.saturating_mul(largest)) as f64,
            Self::ResultsPerLetter(results) => {
                let results = length as f64 * results as f64 + 1.0;
                (2.0 * results + 1.0).log2()
            }
        }
    }
}

/// The largest change that one letter makes to a raw result, in units of the greatest common divisor of all costs.
pub(crate) fn steps_per_letter(model: &Model, letters: u32) -> f64 {
    match model {
        Model::Global(model) => {
            let largest = u64::from(model.costs.largest(letters));
            // A letter that fits badly can be deleted and another inserted.
            let gaps = u64::from(model.insert) + u64::from(model.delete);
            let cost_unit = match &model.costs {
                Costs::Unit { mismatch } => *mismatch,
                Costs::Index { step } => *step,
                Costs::Grid {
                    distance: Distance::Euclidean,
                    ..
                } => 1,
                // The cost of neighbours.
                Costs::Grid { .. } => model.costs.cost(0, 1),
                Costs::Table { costs, .. } => costs.iter().copied().fold(0, gcd),
            };
            let unit = gcd(cost_unit, gcd(model.insert, model.delete));
            ratio(largest.min(gaps), unit)
        }
        Model::Local(model) => {
            let (best, worst, score_unit) = match &model.scores {
                Scores::Unit { reward, mismatch } => (*reward, *mismatch, gcd(*reward, *mismatch)),
                Scores::Table { scores, .. } => {
                    let best = scores.iter().copied().max().unwrap_or(0).max(0);
                    let worst = scores.iter().copied().min().unwrap_or(0).min(0);
                    let unit = scores.iter().map(|score| score.unsigned_abs()).fold(0, gcd);
                    (best.unsigned_abs(), worst.unsigned_abs(), unit)
                }
            };
            let penalty = u64::from(worst).min(2 * u64::from(model.gap));
            ratio(u64::from(best) + penalty, gcd(score_unit, model.gap))
        }
        // Only user-defined tables are checked, and these models have none.
        _ => 0.0,
    }
}

#[allow(clippy::cast_precision_loss)] // sums of two costs are below 2³²
fn ratio(largest: u64, unit: u32) -> f64 {
    largest as f64 / f64::from(unit.max(1))
}

fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
