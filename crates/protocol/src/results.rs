//! The numbers of each pair in a comparison.
//!
//! A metric may have several measures. [`Results`] names them once, in [`Results::measures`], and every pair has one
//! [`Value`] for each, in that order.

use crate::Answer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use veilpath_metrics::{Measure, MeasureKind, Metric, PairScore};

/// Far above any metric's numbers. Squares and sums of such numbers are still finite.
const MAX_NUMBER: f64 = 1e30;

/// A measure in a result: the name and the meaning of a number that every pair has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureColumn {
    /// Its name: the key in a result file and the column in a table.
    pub name: String,
    /// The meaning of the number.
    pub kind: MeasureKind,
}

/// One number of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The measure has no value for this pair.
    Missing,
    /// A finite number.
    Number(f64),
    /// Yes or no.
    Bit(bool),
}

/// The pairs of a comparison with their numbers, in the order of the pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    measures: Vec<MeasureColumn>,
    pairs: Vec<(u32, u32)>,
    /// `measures.len()` values for each pair.
    values: Vec<Value>,
}

/// One pair of [`Results`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairResult<'a> {
    /// Index into the first side's scanpaths.
    pub a: usize,
    /// Index into the second side's scanpaths.
    pub b: usize,
    /// One value for each measure.
    pub values: &'a [Value],
}

impl MeasureColumn {
    /// A measure.
    pub fn new(name: &str, kind: MeasureKind) -> Self {
        Self {
            name: name.into(),
            kind,
        }
    }
}

impl Value {
    /// The number, if it is one.
    pub fn number(self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(number),
            Value::Missing | Value::Bit(_) => None,
        }
    }

    /// The bit, if it is one.
    pub fn bit(self) -> Option<bool> {
        match self {
            Value::Bit(bit) => Some(bit),
            Value::Missing | Value::Number(_) => None,
        }
    }

    /// Checks that a measure of this kind can have this value. The error says what is expected.
    pub fn check(self, kind: MeasureKind) -> Result<(), &'static str> {
        let (fits, expected) = match kind {
            MeasureKind::Bit => (
                matches!(self, Value::Bit(_)),
                "this value must be true or false",
            ),
            MeasureKind::Fraction => (
                self.number().is_some_and(|x| (0.0..=1.0).contains(&x)),
                "this value must be a number from 0 to 1",
            ),
            MeasureKind::Distance | MeasureKind::Similarity | MeasureKind::Number => (
                self.number().is_some_and(|x| x.abs() <= MAX_NUMBER),
                "this value must be a number between −1e30 and 1e30",
            ),
        };
        if fits || self == Value::Missing {
            return Ok(());
        }
        Err(expected)
    }
}

/// Whether a pair's numbers can be a result of this metric. A peer that cheats can have others opened: a cost above the largest of
/// these lengths, for example, gives a negative similarity.
pub(crate) fn is_possible(score: &PairScore, metric: &Metric) -> bool {
    let measures = metric.measures();
    let fits = |(number, measure): (Option<f64>, &Measure)| match number {
        Some(number) => Value::Number(number).check(measure.kind).is_ok(),
        None => measure.may_be_undefined,
    };
    score.numbers().len() == measures.len() && score.numbers().zip(&measures).all(fits)
}

impl Results {
    /// Results without pairs.
    pub fn new(measures: Vec<MeasureColumn>) -> Self {
        Self {
            measures,
            pairs: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Results from an engine's answers: indices of the two scanpaths, and the pair's answer.
    pub fn of_answers(
        measures: Vec<MeasureColumn>,
        answers: impl IntoIterator<Item = (usize, usize, Answer)>,
    ) -> Self {
        let mut results = Self::new(measures);
        for (a, b, answer) in answers {
            match answer {
                Answer::Score(score) => {
                    let numbers = score.numbers();
                    let values = numbers.map(|number| number.map_or(Value::Missing, Value::Number));
                    results.push(a, b, &values.collect::<Vec<_>>());
                }
                Answer::Within(within) => results.push(a, b, &[Value::Bit(within)]),
            }
        }
        results
    }

    /// Adds a pair. Excess values are ignored; absent values are [`Value::Missing`].
    #[allow(clippy::cast_possible_truncation)] // a cohort has far fewer than 2³² scanpaths
    pub fn push(&mut self, a: usize, b: usize, values: &[Value]) {
        self.pairs.push((a as u32, b as u32));
        let padding = std::iter::repeat(Value::Missing);
        let values = values.iter().copied().chain(padding);
        self.values.extend(values.take(self.measures.len()));
    }

    /// The numbers of each pair, in the order of its values.
    pub fn measures(&self) -> &[MeasureColumn] {
        &self.measures
    }

    /// The index of the measure with this name.
    pub fn measure(&self, name: &str) -> Option<usize> {
        self.measures
            .iter()
            .position(|measure| measure.name == name)
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The pairs.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PairResult<'_>> + Clone {
        (0..self.len()).map(|index| self.pair(index))
    }

    /// One pair, by its index.
    ///
    /// # Panics
    ///
    /// If there are not that many pairs.
    pub fn pair(&self, index: usize) -> PairResult<'_> {
        let width = self.measures.len();
        let (a, b) = self.pairs[index];
        PairResult {
            a: a as usize,
            b: b as usize,
            values: &self.values[index * width..(index + 1) * width],
        }
    }

    /// Keeps the pairs for which `keep` is true.
    pub fn retain(&mut self, keep: impl Fn(PairResult<'_>) -> bool) {
        let mut kept = Self::new(self.measures.clone());
        for pair in self.iter().filter(|&pair| keep(pair)) {
            kept.push(pair.a, pair.b, pair.values);
        }
        *self = kept;
    }

    /// Removes all pairs.
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.values.clear();
    }
}

/// As in JSON: `null`, a number, `true` or `false`. Whole numbers have no decimal point, because most metrics are
/// integers.
impl Serialize for Value {
    #[allow(clippy::cast_possible_truncation)] // checked to be whole and small
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const LARGEST_EXACT: f64 = 9e15;
        match *self {
            Value::Missing => serializer.serialize_none(),
            Value::Bit(bit) => serializer.serialize_bool(bit),
            Value::Number(number) if number.fract() == 0.0 && number.abs() < LARGEST_EXACT => {
                serializer.serialize_i64(number as i64)
            }
            Value::Number(number) => serializer.serialize_f64(number),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl serde::de::Visitor<'_> for Visitor {
            type Value = Value;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, true, false or null")
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Missing)
            }

            fn visit_bool<E>(self, bit: bool) -> Result<Value, E> {
                Ok(Value::Bit(bit))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
                Ok(Value::Number(number))
            }

            #[allow(clippy::cast_precision_loss)] // as in any program that reads JSON
            fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
                Ok(Value::Number(number as f64))
            }

            #[allow(clippy::cast_precision_loss)] // as in any program that reads JSON
            fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
                Ok(Value::Number(number as f64))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
