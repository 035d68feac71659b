//! What the numbers of an answer mean. The schema and the opened numbers together give the answer.

use crate::{
    Bins, GroupAnswer, GroupMeans, GroupQuestion, GroupTest, Misbehaviour, NearestLabel,
    NearestLabels, NearestRate, ProtocolError, ScanpathId, ScoreHistogram, StimulusMean,
    StimulusMeans,
};
use serde::{Deserialize, Serialize};
use veilpath_statistics::{Contrast, p_value};

/// Everything about an answer except its numbers. Both sides know it before anything is opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerSchema {
    /// The name of the measure.
    pub measure: String,
    /// The value of one unit of a number.
    pub unit: f64,
    /// How many low bits of each number are dropped.
    pub shifts: Vec<u32>,
    /// How many bits each number has, including the dropped bits, and a sign bit if it can be negative. Shares have no
    /// more bits, so no function of the scanpaths with more bits can be opened instead.
    pub bits: Vec<u32>,
    /// The kind of numbers.
    #[serde(rename = "numbers")]
    pub kind: NumberKind,
}

/// The kinds of numbers in answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum NumberKind {
    /// A sum for each stimulus.
    StimulusMeans {
        /// The stimuli with their numbers of pairs; a single one without a name for all stimuli together.
        stimuli: Vec<(Option<String>, u64)>,
    },
    /// A sum for each pair of groups, row by row.
    GroupMeans {
        /// The host's groups, with the number of participants.
        rows: Vec<(String, u32)>,
        /// The joining side's groups.
        columns: Vec<(String, u32)>,
    },
    /// A statistic, and how many permutations reach it.
    Test {
        /// The question.
        question: GroupQuestion,
        /// The groups, or the sites.
        groups: Vec<String>,
        /// The numbers of pairs with the same label and with different labels.
        pairs: [u64; 2],
        /// The coins, as hexadecimal digits.
        coins: String,
        /// Whether smaller numbers mean more similar.
        is_distance: bool,
    },
    /// The index of a group for each scanpath.
    Nearest {
        /// How many vote.
        k: u32,
        /// The groups.
        groups: Vec<String>,
        /// The scanpaths.
        scanpaths: Vec<ScanpathId>,
    },
    /// How many scanpaths are in the majority group of their nearest scanpaths.
    NearestRate {
        /// How many vote.
        k: u32,
        /// The host's groups, with the number of participants.
        groups: Vec<(String, u32)>,
        /// The number of the host's scanpaths.
        scanpaths: u64,
    },
    /// For each bin whether its count is shown, and then the counts.
    Histogram {
        /// The edges.
        edges: Vec<f64>,
        /// The number of pairs.
        pairs: u64,
        /// Bins with pairs of fewer participants of either side are not shown; nor is the smallest other count, if any bin
        /// is hidden. 0 if all are shown.
        minimum: u64,
    },
}

impl AnswerSchema {
    /// Sets the coins of a test, which are opened after everything else is agreed on.
    pub fn set_coins(&mut self, opened: &[u8; 32]) {
        if let NumberKind::Test { coins, .. } = &mut self.kind {
            *coins = super::prepared::hex(opened);
        }
    }

    /// For each number, the bits of its shares that can be nonzero.
    pub fn used_bits(&self) -> impl Iterator<Item = std::ops::Range<u32>> + '_ {
        let both = self.shifts.iter().zip(&self.bits);
        both.map(|(shift, bits)| *shift..*bits)
    }

    /// How many numbers there are.
    pub fn count(&self) -> usize {
        match &self.kind {
            NumberKind::StimulusMeans { stimuli } => stimuli.len(),
            NumberKind::GroupMeans { rows, columns } => rows.len() * columns.len(),
            NumberKind::Test { .. } => 2,
            NumberKind::Nearest { scanpaths, .. } => scanpaths.len(),
            NumberKind::NearestRate { .. } => 1,
            NumberKind::Histogram { edges, .. } => 2 * edges.len().saturating_sub(1),
        }
    }

    /// The answer with these numbers, which may be impossible if the other side has sent wrong shares.
    pub fn answer(&self, numbers: &[i64]) -> Result<GroupAnswer, ProtocolError> {
        let impossible = || ProtocolError::PeerMisbehaved(Misbehaviour::ResultOutOfRange);
        if numbers.len() != self.count() {
            return Err(ProtocolError::Internal(
                "an answer has the wrong number of values",
            ));
        }
        if self.bits.len() != numbers.len() || self.bits.iter().any(|bits| !matches!(bits, 1..=64))
        {
            return Err(impossible());
        }
        // These are sums of two shares, so only these bits are meaningful.
        let numbers = numbers.iter().zip(&self.bits).enumerate();
        let numbers: Vec<i64> = numbers
            .map(|(at, (number, bits))| match self.kind.is_signed(at) {
                true => number << (64 - bits) >> (64 - bits),
                false => (number.cast_unsigned() & mask(*bits)).cast_signed(),
            })
            .collect();
        let is_rounded = |(number, shift): (&i64, &u32)| {
            *shift < 62 && super::rounding::without_low_bits(*number, *shift) == *number
        };
        if self.shifts.len() != numbers.len() || !numbers.iter().zip(&self.shifts).all(is_rounded) {
            return Err(impossible());
        }
        // The middle of the dropped range.
        let middle = |(number, shift): (&i64, &u32)| number.wrapping_add((1 << shift) / 2);
        let numbers: Vec<i64> = numbers.iter().zip(&self.shifts).map(middle).collect();
        let numbers = &numbers[..];
        let measure = self.measure.clone();
        let answer = match &self.kind {
            NumberKind::StimulusMeans { stimuli } => GroupAnswer::StimulusMeans(StimulusMeans {
                measure,
                means: sorted_means(stimuli, numbers, self.unit),
            }),
            NumberKind::GroupMeans { rows, columns } => {
                let count = |row: &(String, u32), column: &(String, u32)| {
                    u64::from(row.1) * u64::from(column.1)
                };
                let counts: Vec<Vec<u64>> = rows
                    .iter()
                    .map(|row| columns.iter().map(|column| count(row, column)).collect())
                    .collect();
                let sums = numbers.chunks(columns.len().max(1));
                let means = sums.zip(&counts).map(|(sums, counts)| {
                    let both = sums.iter().zip(counts);
                    both.map(|(sum, count)| mean(*sum, *count, self.unit))
                        .collect()
                });
                GroupAnswer::GroupMeans(GroupMeans {
                    measure,
                    stimulus: None,
                    rows: names(rows),
                    columns: names(columns),
                    means: means.collect(),
                    counts,
                    intervals: Vec::new(),
                })
            }
            NumberKind::Test { question, .. } => self.test(*question, numbers)?,
            NumberKind::Nearest {
                k,
                groups,
                scanpaths,
            } => {
                let label = |(scanpath, number): (&ScanpathId, &i64)| {
                    let group = usize::try_from(*number).ok().and_then(|at| groups.get(at));
                    Some(NearestLabel {
                        scanpath: scanpath.clone(),
                        majority: group?.clone(),
                        group: None,
                    })
                };
                let labels = scanpaths.iter().zip(numbers).map(label);
                GroupAnswer::NearestLabels(NearestLabels {
                    measure,
                    k: *k,
                    groups: groups.clone(),
                    labels: labels.collect::<Option<_>>().ok_or_else(impossible)?,
                })
            }
            NumberKind::NearestRate {
                k,
                groups,
                scanpaths,
            } => {
                let correct = u64::try_from(numbers[0]).ok();
                let largest = groups.iter().map(|(_, size)| *size).max().unwrap_or(0);
                let all: u64 = groups.iter().map(|(_, size)| u64::from(*size)).sum();
                GroupAnswer::NearestRate(NearestRate {
                    measure,
                    k: *k,
                    correct: correct
                        .filter(|correct| correct <= scanpaths)
                        .ok_or_else(impossible)?,
                    scanpaths: *scanpaths,
                    #[allow(clippy::cast_precision_loss)] // a fraction, for display
                    chance: f64::from(largest) / all.max(1) as f64,
                    interval: None,
                    p_value: None,
                    permutations: None,
                    seed: None,
                    groups: names(groups),
                    confusion: Vec::new(),
                })
            }
            NumberKind::Histogram {
                edges,
                pairs,
                minimum,
            } => {
                let (shown, counts) = numbers.split_at(edges.len().saturating_sub(1));
                let count = |(shown, count): (&i64, &i64)| match (*shown, u64::try_from(*count)) {
                    (0, Ok(0)) => Some(None),
                    (1, Ok(count)) if (*minimum..=*pairs).contains(&count) => Some(Some(count)),
                    _ => None,
                };
                let counts = shown.iter().zip(counts).map(count);
                GroupAnswer::Histogram(ScoreHistogram {
                    measure,
                    stimulus: None,
                    bins: Bins {
                        edges: edges.clone(),
                        counts: counts.collect::<Option<_>>().ok_or_else(impossible)?,
                    },
                    minimum: *minimum,
                })
            }
        };
        answer.check().map_err(|_| impossible())?;
        Ok(answer)
    }

    fn test(&self, question: GroupQuestion, numbers: &[i64]) -> Result<GroupAnswer, ProtocolError> {
        let NumberKind::Test {
            groups,
            pairs: [same, different],
            coins,
            is_distance,
            ..
        } = &self.kind
        else {
            return Err(ProtocolError::Internal("this answer is not a test"));
        };
        let kind = match question {
            GroupQuestion::TestSites { .. } => "site",
            _ => "group",
        };
        let permutations = u64::from(question.permutations().unwrap_or(0));
        let count = u64::try_from(numbers[1]).ok();
        let count =
            count
                .filter(|count| *count <= permutations)
                .ok_or(ProtocolError::PeerMisbehaved(
                    Misbehaviour::ResultOutOfRange,
                ))?;
        let contrast = Contrast::new(*same, *different)?;
        let measure = &self.measure;
        let statistic = match is_distance {
            true => {
                format!("mean {measure} between {kind}s minus the mean {measure} within {kind}s")
            }
            false => {
                format!("mean {measure} within {kind}s minus the mean {measure} between {kind}s")
            }
        };
        Ok(GroupAnswer::Test(GroupTest {
            question: format!(
                "Are participants of the same {kind} more alike than participants of different {kind}s?"
            ),
            method: "permutation test over participants, one-sided".into(),
            measure: measure.clone(),
            stimulus: None,
            groups: groups.clone(),
            statistic,
            value: contrast.difference(numbers[0].into(), self.unit.abs()),
            interval: None,
            p_value: p_value(count, permutations),
            permutations: Some(permutations),
            seed: None,
            coins: Some(coins.clone()),
            null_distribution: None,
        }))
    }
}

impl NumberKind {
    /// Whether a number can be negative: sums can, counts and indices cannot.
    pub(super) fn is_signed(&self, number: usize) -> bool {
        match self {
            NumberKind::StimulusMeans { .. } | NumberKind::GroupMeans { .. } => true,
            NumberKind::Test { .. } => number == 0,
            NumberKind::Nearest { .. }
            | NumberKind::NearestRate { .. }
            | NumberKind::Histogram { .. } => false,
        }
    }
}

/// A mask of this many low bits.
pub(super) fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits.clamp(1, 64))
}

fn names(groups: &[(String, u32)]) -> Vec<String> {
    groups.iter().map(|(name, _)| name.clone()).collect()
}

/// The means, sorted by name.
fn sorted_means(stimuli: &[(Option<String>, u64)], sums: &[i64], unit: f64) -> Vec<StimulusMean> {
    let both = stimuli.iter().zip(sums);
    let unnamed = (stimuli.len() > 1).then(|| StimulusMean::UNNAMED.to_string());
    let mut means: Vec<StimulusMean> = both
        .map(|((stimulus, pairs), sum)| StimulusMean {
            stimulus: stimulus.clone().or_else(|| unnamed.clone()),
            mean: mean(*sum, *pairs, unit),
            pairs: *pairs,
            interval: None,
        })
        .collect();
    means.sort_by(|a, b| a.stimulus.cmp(&b.stimulus));
    means
}

#[allow(clippy::cast_precision_loss)] // rounded as every mean is
fn mean(sum: i64, count: u64, unit: f64) -> Option<f64> {
    (count > 0).then(|| sum as f64 * unit / count as f64)
}
