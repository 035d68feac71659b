//! The measures that are drawn, and what they mean.

use crate::result_file::{PairRow, ResultFile};
use crate::threshold_side::ThresholdSide;
use crate::units::measure_unit;
use veilpath_metrics::{MeasureKind, Symmetry};
use veilpath_protocol::{MeasureColumn, Value};

/// The measure to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShownMeasure<'a> {
    /// Its index in the file.
    index: usize,
    /// The name, for headings.
    pub(crate) name: &'a str,
    pub(crate) kind: MeasureKind,
    /// The meaning of a yes/no measure.
    pub(crate) threshold: ThresholdSide,
    /// The unit of the numbers.
    pub(crate) unit: Option<&'static str>,
    /// What happens to the number when the two scanpaths are swapped.
    symmetry: Symmetry,
    /// Whether the file does not say what kind of measure it is.
    pub(crate) is_from_csv: bool,
    /// The measure that the tables show next to it, and its name.
    secondary: Option<(usize, &'a str)>,
}

/// Which numbers mean that two scanpaths are similar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScoreKind {
    /// Smaller numbers.
    Distance,
    /// Larger numbers.
    Similarity,
}

/// A measure that is not in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the result file has no measure {0:?}")]
pub struct NoSuchMeasure(pub String);

impl<'a> ShownMeasure<'a> {
    /// The measures with these names, or all if `only` is empty. A score and its similarity count as one, and so does a
    /// bit.
    pub(crate) fn all(file: &'a ResultFile, only: &[String]) -> Result<Vec<Self>, NoSuchMeasure> {
        let measures = file.measures();
        if !only.is_empty() {
            let index = |name: &String| {
                let index = measures.iter().position(|measure| &measure.name == name);
                index.ok_or_else(|| NoSuchMeasure(name.clone()))
            };
            let named = only.iter().map(|name| Ok(Self::at(file, index(name)?)));
            return named.collect();
        }
        let one =
            |measure: &MeasureColumn| ["score", "similarity", "within"].contains(&&*measure.name);
        if measures.iter().all(one) {
            return Ok(vec![Self::of(file)]);
        }
        Ok((0..measures.len())
            .map(|index| Self::at(file, index))
            .collect())
    }

    /// The first measure from 0 to 1 that every pair has; otherwise the first that says what is similar; otherwise the
    /// first. The score is shown next to it.
    fn of(file: &'a ResultFile) -> Self {
        let measures = file.measures();
        let complete = |&index: &usize| {
            let value = |row: PairRow<'_>| row.values.get(index).copied();
            file.rows().all(|row| value(row) != Some(Value::Missing))
        };
        let of_kind = |fits: fn(MeasureKind) -> bool| {
            (0..measures.len()).find(move |&at| fits(measures[at].kind))
        };
        let index = of_kind(|kind| kind == MeasureKind::Fraction)
            .filter(complete)
            .or_else(|| {
                of_kind(|kind| kind != MeasureKind::Number && kind != MeasureKind::Fraction)
            })
            .unwrap_or_default();
        let first = measures.first().filter(|_| index > 0);
        Self {
            secondary: first.map(|first| (0, first.name.as_str())),
            ..Self::at(file, index)
        }
    }

    /// The measure at this index.
    pub(crate) fn at(file: &'a ResultFile, index: usize) -> Self {
        let measure = file.measures().get(index);
        let threshold = ThresholdSide::of(file.outcome());
        let metric = file.outcome().map(|outcome| outcome.spec.metric.name());
        Self {
            index,
            threshold,
            name: match measure {
                Some(measure) if measure.kind == MeasureKind::Bit => threshold.name(),
                measure => measure.map_or("", |measure| &measure.name),
            },
            kind: measure.map_or(MeasureKind::Number, |measure| measure.kind),
            unit: metric
                .zip(measure)
                .and_then(|(metric, measure)| measure_unit(metric, &measure.name)),
            symmetry: file
                .outcome()
                .map_or(Symmetry::Symmetric, |outcome| outcome.symmetry(index)),
            is_from_csv: metric.is_none(),
            secondary: None,
        }
    }

    /// A pair's number. A bit is 1 or 0.
    pub(crate) fn value(self, row: PairRow<'_>) -> Option<f64> {
        number(*row.values.get(self.index)?)
    }

    /// The number that is shown next to it.
    pub(crate) fn secondary_value(self, row: PairRow<'_>) -> Option<f64> {
        number(*row.values.get(self.secondary?.0)?)
    }

    /// The name of the number that is shown next to it.
    pub(crate) fn secondary_name(self) -> &'a str {
        self.secondary.map_or("", |(_, name)| name)
    }

    /// The name with the unit, for axes and column headers.
    pub(crate) fn label(self) -> String {
        match self.unit {
            Some(unit) => format!("{} ({unit})", self.name),
            None => self.name.to_string(),
        }
    }

    /// Appends the unit to a number.
    pub(crate) fn with_unit(self, number: String) -> String {
        match self.unit {
            Some(unit) => format!("{number} {unit}"),
            None => number,
        }
    }

    pub(crate) fn is_bit(self) -> bool {
        self.kind == MeasureKind::Bit
    }

    /// Which numbers mean that two scanpaths are similar; `None` if the measure does not say.
    pub(crate) fn score_kind(self) -> Option<ScoreKind> {
        match self.kind {
            MeasureKind::Similarity | MeasureKind::Fraction | MeasureKind::Bit => {
                Some(ScoreKind::Similarity)
            }
            MeasureKind::Distance => Some(ScoreKind::Distance),
            MeasureKind::Number => None,
        }
    }

    /// Whether both orders of a pair count if a cohort is compared with itself.
    pub(crate) fn depends_on_order(self) -> bool {
        self.symmetry.depends_on_order()
    }

    /// Whether the two orders of a pair cancel each other in a mean.
    pub(crate) fn is_antisymmetric(self) -> bool {
        self.symmetry == Symmetry::Antisymmetric
    }

    /// Used by tests of figures.
    #[cfg(test)]
    pub(crate) fn of_kind(kind: MeasureKind) -> Self {
        Self {
            index: 0,
            name: "score",
            kind,
            threshold: ThresholdSide::AtMost,
            unit: None,
            symmetry: Symmetry::Symmetric,
            is_from_csv: false,
            secondary: None,
        }
    }
}

fn number(value: Value) -> Option<f64> {
    match value {
        Value::Missing => None,
        Value::Number(number) => Some(number),
        Value::Bit(bit) => Some(f64::from(u8::from(bit))),
    }
}
