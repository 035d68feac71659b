//! Settings that make answers reveal more than a comparison needs.

use crate::limit::steps_per_letter;
use std::fmt;
use std::str::FromStr;
use veilpath_metrics::{Alphabet, Comparison, Costs, Metric, MetricError, Model, Scores};

/// The largest cost in a substitution table that is not risky, in units of the greatest common divisor of all costs: four
/// decimal digits. The score of a scanpath of twenty letters then has at most 18 bits, less than four letters out of 26.
pub const MAX_TABLE_STEPS: u32 = 10_000;

/// A setting with which a few answers suffice to reconstruct a scanpath. Each side decides whether to allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RiskySetting {
    /// A substitution table in which the order of two letters matters. Entries can act as digits of one score: four
    /// scores reveal twenty letters.
    AsymmetricTable,
    /// A substitution table whose largest cost is more than [`MAX_TABLE_STEPS`] times the greatest common divisor of all costs.
    /// Entries can act as digits here, too, if the partner uses letters that this side does not have: one score reveals six
    /// letters. A small ratio of the largest entry to the smallest does not prevent this, because the same amount can be added to
    /// all entries.
    FineTable,
    /// A gap (the mean of an insertion and a deletion) that costs more than any substitution, where substitutions cost
    /// different amounts. Then alignments rarely shift, and at 1.6 times the largest substitution they never shift in
    /// the attack that uses this: a score is a sum over positions, and twenty-one scores reveal twenty letters.
    ExtremeGap,
    /// Encoding settings other than those of an earlier answer about the same participants. If a recording was corrected in
    /// between, or if the settings change a single scanpath, the difference between two means can
    /// reveal that recording alone. This applies to every metric.
    ChangedEncoding,
}

impl RiskySetting {
    /// All settings.
    pub const ALL: [Self; 4] = [
        Self::AsymmetricTable,
        Self::FineTable,
        Self::ExtremeGap,
        Self::ChangedEncoding,
    ];

    /// The name in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::AsymmetricTable => "asymmetric-table",
            Self::FineTable => "fine-table",
            Self::ExtremeGap => "extreme-gap",
            Self::ChangedEncoding => "changed-encoding",
        }
    }
}

/// The setting in words.
impl fmt::Display for RiskySetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AsymmetricTable => "an asymmetric substitution table",
            Self::FineTable => "a substitution table with too many decimals (the largest cost is more than 10,000 times the common divisor of all costs)",
            Self::ExtremeGap => "a gap that costs more than any substitution",
            Self::ChangedEncoding => "encoding settings other than in earlier answers",
        })
    }
}

impl FromStr for RiskySetting {
    type Err = UnknownRiskySetting;

    fn from_str(text: &str) -> Result<Self, UnknownRiskySetting> {
        let found = Self::ALL.into_iter().find(|setting| setting.name() == text);
        found.ok_or(UnknownRiskySetting)
    }
}

/// A text that is not the name of a risky setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected asymmetric-table, fine-table, extreme-gap or changed-encoding")]
pub struct UnknownRiskySetting;

/// The risky settings of a metric.
pub fn risky_settings(
    metric: &Metric,
    alphabet: Alphabet,
) -> Result<Vec<RiskySetting>, MetricError> {
    let comparison = Comparison::new(metric.clone(), alphabet)?;
    let letters = alphabet.size();
    let is_table = match comparison.model() {
        Model::Global(model) => matches!(model.costs, Costs::Table { .. }),
        Model::Local(model) => matches!(model.scores, Scores::Table { .. }),
        _ => false,
    };
    let fine =
        is_table && steps_per_letter(comparison.model(), letters) > f64::from(MAX_TABLE_STEPS);
    let (asymmetric, extreme) = match comparison.model() {
        Model::Global(model) => {
            let largest = model.costs.largest(letters);
            let differ = !matches!(model.costs, Costs::Unit { .. });
            let asymmetric = match &model.costs {
                Costs::Table { size, costs } => is_asymmetric(costs, *size),
                _ => false,
            };
            // A shift is an insertion and a deletion, so a cheap insertion does not help if the deletion is expensive.
            let gaps = u64::from(model.insert) + u64::from(model.delete);
            (asymmetric, differ && gaps > 2 * u64::from(largest))
        }
        Model::Local(model) => match &model.scores {
            Scores::Unit { .. } => (false, false),
            Scores::Table { size, scores } => {
                let best = scores.iter().copied().max().unwrap_or(0);
                let worst = scores.iter().copied().min().unwrap_or(0);
                let range = i64::from(best) - i64::from(worst);
                (is_asymmetric(scores, *size), i64::from(model.gap) > range)
            }
        },
        _ => (false, false),
    };
    let found = [
        (asymmetric, RiskySetting::AsymmetricTable),
        (fine, RiskySetting::FineTable),
        (extreme, RiskySetting::ExtremeGap),
    ];
    let found = found.into_iter().filter(|(is_there, _)| *is_there);
    Ok(found.map(|(_, setting)| setting).collect())
}

fn is_asymmetric<T: PartialEq>(table: &[T], size: u32) -> bool {
    let size = size as usize;
    (0..size).any(|a| (0..a).any(|b| table[a * size + b] != table[b * size + a]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_metrics::{Grid, LocalScoring, Substitution, Table};

    fn needleman_wunsch(substitution: Substitution, gap: f64) -> Metric {
        Metric::NeedlemanWunsch {
            substitution,
            insert: gap,
            delete: gap,
            scale: None,
        }
    }

    fn found(metric: &Metric) -> Vec<RiskySetting> {
        risky_settings(metric, Alphabet::letters(3).unwrap()).unwrap()
    }

    #[test]
    fn ordinary_settings_are_not_risky() {
        let table = Table::new(3, vec![0., 1., 2., 1., 0., 1., 2., 1., 0.]).unwrap();
        for metric in [
            Metric::Levenshtein,
            needleman_wunsch(Substitution::Unit { mismatch: 1.0 }, 2.0),
            needleman_wunsch(Substitution::Index, 1.0),
            needleman_wunsch(Substitution::Table { table }, 2.0),
            Metric::ScanMatch {
                grid: Grid::new(3, 1).unwrap(),
                wrap: false,
                threshold: 3.5,
                gap: 0.0,
                scale: None,
            },
        ] {
            assert_eq!(found(&metric), [], "{metric:?}");
        }
    }

    #[test]
    fn risky_settings_are_found() {
        let skewed = Table::new(3, vec![0., 1., 2., 5., 0., 1., 2., 1., 0.]).unwrap();
        let substitution = Substitution::Table {
            table: skewed.clone(),
        };
        assert_eq!(
            found(&needleman_wunsch(substitution.clone(), 1.0)),
            [RiskySetting::AsymmetricTable]
        );
        let both = [RiskySetting::AsymmetricTable, RiskySetting::ExtremeGap];
        assert_eq!(found(&needleman_wunsch(substitution, 6.0)), both);
        assert_eq!(
            found(&needleman_wunsch(Substitution::Index, 1000.0)),
            [RiskySetting::ExtremeGap]
        );
        let one_sided = Metric::NeedlemanWunsch {
            substitution: Substitution::Index,
            insert: 0.0,
            delete: 1000.0,
            scale: None,
        };
        assert_eq!(found(&one_sided), [RiskySetting::ExtremeGap]);
        let local = |gap| Metric::SmithWaterman {
            scoring: LocalScoring::Table {
                table: skewed.clone(),
            },
            gap,
            scale: None,
        };
        assert_eq!(found(&local(5.0)), [RiskySetting::AsymmetricTable]);
        assert_eq!(found(&local(6.0)), both);
    }

    /// This side has the letters A to D and the partner has the others. In the score of its scanpath, letters are
    /// digits.
    #[test]
    fn a_symmetric_table_of_digits_is_found() {
        let (letters, digits) = (4u32, 6);
        let size = letters + digits;
        let entry = |a: u32, b: u32, added: f64| match (a.min(b), a.max(b)) {
            (a, b) if a == b => 0.0,
            (a, b) if a < letters && b >= letters => {
                let exponent = i32::try_from(b - letters).unwrap();
                added + f64::from(a) * 26f64.powi(exponent)
            }
            _ => added.max(1.0),
        };
        let table = |added: f64| {
            let entries = (0..size).flat_map(|a| (0..size).map(move |b| (a, b)));
            let values = entries.map(|(a, b)| entry(a, b, added)).collect();
            Table::new(size, values).unwrap()
        };
        let alphabet = Alphabet::letters(size).unwrap();
        for added in [0.0, 1.0, 1e8] {
            let substitution = Substitution::Table {
                table: table(added),
            };
            let gap = 26f64.powi(5) * 3.0 + added;
            let metric = needleman_wunsch(substitution, gap);
            let found = risky_settings(&metric, alphabet).unwrap();
            assert_eq!(found, [RiskySetting::FineTable], "{added}");
        }
    }

    #[test]
    fn tables_with_ordinary_numbers_are_not_fine() {
        // Distances on a grid, with three decimal places.
        let grid = Grid::new(7, 7).unwrap();
        let distance = |a: u16, b: u16| {
            let exact = grid.distance(veilpath_metrics::Distance::Euclidean, a, b);
            (exact * 1000.0).round() / 1000.0
        };
        let values = (0..49).flat_map(|a| (0..49).map(move |b| (a, b)));
        let values = values.map(|(a, b)| distance(a, b)).collect();
        let substitution = Substitution::Table {
            table: Table::new(49, values).unwrap(),
        };
        let metric = needleman_wunsch(substitution, 1.0);
        let found = risky_settings(&metric, Alphabet::letters(49).unwrap()).unwrap();
        assert_eq!(found, []);
    }

    #[test]
    fn names_round_trip() {
        for setting in RiskySetting::ALL {
            assert_eq!(setting.name().parse(), Ok(setting));
        }
        assert!("gap".parse::<RiskySetting>().is_err());
    }
}
