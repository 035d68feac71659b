//! The pairs of a result that enter the statistics.

use super::layout::{Layout, Matrix};
use super::{Groups, NamedResult, SitesProblem, StatsError, StatsOptions};
use crate::Note;
use std::collections::{BTreeMap, BTreeSet};
use veilpath_metrics::{MeasureKind, Symmetry};
use veilpath_protocol::{MeasureColumn, Outcome, ScanpathId, Value};
use veilpath_report::pairs_of_one_id;
use veilpath_statistics::{FixedPoint, Participants};

/// The pairs of one result that are analysed. Scanpaths without a pair are ignored.
pub(super) struct Sample<'a> {
    pub(super) outcome: &'a Outcome,
    pub(super) measure: &'a MeasureColumn,
    /// The index of the measure in the results.
    column: usize,
    /// The scanpaths of each side.
    pub(super) scanpaths: [Vec<&'a ScanpathId>; 2],
    pub(super) participants: [Participants; 2],
    pub(super) pairs: Vec<Pair>,
    /// The stimuli of the pairs.
    pub(super) stimuli: Vec<Option<String>>,
    /// The number of every pair in each order, if both orders of a pair count.
    ordered: Vec<f64>,
}

/// A pair of scanpaths. If a cohort is compared with itself, each pair of scanpaths of different participants occurs
/// once, with the mean of both orders.
pub(super) struct Pair {
    pub(super) a: usize,
    pub(super) b: usize,
    /// Index into the stimuli.
    pub(super) stimulus: usize,
    pub(super) number: f64,
}

/// Scores of participant pairs, as integers.
pub(super) struct Scores {
    pub(super) matrix: Matrix,
    pub(super) unit: f64,
}

/// The groups of a sample's participants.
#[derive(Clone)]
pub(super) struct Grouping {
    /// The names of all groups, in alphabetical order.
    pub(super) names: Vec<String>,
    /// For each side, the index of each participant's group in `names`.
    pub(super) by_participant: [Vec<usize>; 2],
}

impl<'a> Sample<'a> {
    pub(super) fn new(result: NamedResult<'a>, options: &StatsOptions) -> Result<Self, StatsError> {
        let file = || result.name.to_string();
        let outcome = result.file.outcome();
        let outcome = outcome.ok_or_else(|| StatsError::NumbersOnly { file: file() })?;
        if outcome.results.is_empty() {
            return Err(StatsError::NoPairs { file: file() });
        }
        if outcome.is_incomplete() {
            return Err(StatsError::Incomplete { file: file() });
        }
        let available = result.file.stimuli();
        for stimulus in &options.stimuli {
            if !available.contains(stimulus) {
                return Err(StatsError::NoSuchStimulus {
                    file: file(),
                    stimulus: stimulus.clone(),
                });
            }
        }
        let column = column(outcome, options.measure.as_deref()).ok_or_else(|| {
            let measures = outcome.results.measures().iter();
            StatsError::NoSuchMeasure {
                file: file(),
                name: options.measure.clone().unwrap_or_default(),
                known: measures.map(|measure| measure.name.clone()).collect(),
            }
        })?;
        let measure = &outcome.results.measures()[column];
        let found = collect(outcome, column, &options.stimuli);
        if found.missing > 0 {
            return Err(StatsError::MissingValues {
                file: file(),
                measure: measure.name.clone(),
                pairs: found.missing,
            });
        }
        if found.pairs.is_empty() {
            return Err(StatsError::NoPairs { file: file() });
        }
        Ok(found.into_sample(outcome, column))
    }

    /// Whether a cohort is compared with itself.
    pub(super) fn is_one_cohort(&self) -> bool {
        self.outcome.one_cohort
    }

    /// A note about the other measures, if none was chosen explicitly. A score and its similarity count as one.
    pub(super) fn note_of_other_measures(&self, chosen: Option<&str>) -> Option<Note> {
        let is_other = |it: &&MeasureColumn| it.name != self.measure.name && it.name != "score";
        let others = self.outcome.results.measures().iter().filter(is_other);
        let others: Vec<String> = others.map(|it| it.name.clone()).collect();
        (chosen.is_none() && !others.is_empty()).then(|| Note::OneMeasure {
            measure: self.measure.name.clone(),
            others,
        })
    }

    /// A note that both orders of a pair enter the numbers.
    pub(super) fn note_of_order(&self) -> Option<Note> {
        (self.outcome.counts_both_orders(self.column)).then(|| Note::BothOrders {
            measure: self.measure.name.clone(),
        })
    }

    /// A note that participants of one cohort are compared with those of the same id in the other.
    pub(super) fn note_of_same_participants(&self) -> Option<Note> {
        let [first, second] = &self.scanpaths;
        let ids = |pair: &Pair| [&*first[pair.a].participant, &*second[pair.b].participant];
        let same = pairs_of_one_id(self.pairs.iter().map(ids));
        let same = same.filter(|_| !self.is_one_cohort())?;
        let pairs = self.pairs.len();
        Some(Note::SameParticipants { same, pairs })
    }

    /// Fails if a mean says nothing, because the two orders of a pair cancel each other.
    pub(super) fn check_mean(&self) -> Result<(), StatsError> {
        let cancels = self.outcome.symmetry(self.column) == Symmetry::Antisymmetric;
        match self.is_one_cohort() && cancels {
            true => Err(StatsError::NoMean {
                measure: self.measure.name.clone(),
            }),
            false => Ok(()),
        }
    }

    /// 1 if larger numbers mean more similar, −1 if smaller ones do.
    pub(super) fn direction(&self) -> Result<f64, StatsError> {
        match self.measure.kind {
            MeasureKind::Distance => Ok(-1.0),
            MeasureKind::Similarity | MeasureKind::Fraction | MeasureKind::Bit => Ok(1.0),
            MeasureKind::Number => Err(StatsError::NoDirection {
                measure: self.measure.name.clone(),
            }),
        }
    }

    /// What to call the numbers in a sentence.
    pub(super) fn noun(&self) -> &'static str {
        match self.measure.kind {
            MeasureKind::Distance => "distance",
            MeasureKind::Similarity | MeasureKind::Fraction => "similarity",
            MeasureKind::Bit => "fraction of alike pairs",
            MeasureKind::Number => "value",
        }
    }

    /// The numbers of all pairs as integers.
    pub(super) fn values(&self, sign: f64) -> Result<(Vec<i64>, f64), StatsError> {
        let format = fixed_point([self])?;
        let values = self
            .pairs
            .iter()
            .map(|pair| format.value(sign * pair.number));
        Ok((values.collect::<Result<_, _>>()?, format.unit()))
    }

    /// The numbers of all pairs as integers, or, if the measure depends on the order, those of both orders.
    pub(super) fn values_in_each_order(&self) -> Result<(Vec<i64>, f64), StatsError> {
        if self.ordered.is_empty() {
            return self.values(1.0);
        }
        let sizes = self.ordered.iter().map(|number| number.abs());
        let format = FixedPoint::fitting(self.ordered.len() as u64, sizes.fold(0.0, f64::max))?;
        let values = self.ordered.iter().map(|&number| format.value(number));
        Ok((values.collect::<Result<_, _>>()?, format.unit()))
    }

    /// The score of each pair of participants: the mean over their pairs of scanpaths.
    pub(super) fn scores(&self, sign: f64) -> Result<Scores, StatsError> {
        let layout = self.layout()?;
        let format = fixed_point([self])?;
        let divisor = layout.uniform_count();
        let matrix = self.score_matrix(&layout, format, divisor, sign)?;
        Ok(Scores {
            matrix,
            unit: format.unit() / divisor.map_or(1.0, f64::from),
        })
    }

    /// For each two participants, the sum over their pairs of scanpaths. If all have the same number of pairs, that is
    /// the `divisor`, by which the caller divides. Otherwise there is none: each value is divided by the number of
    /// pairs of its two participants, so that the sum is their mean.
    pub(super) fn score_matrix(
        &self,
        layout: &Layout,
        format: FixedPoint,
        divisor: Option<u32>,
        sign: f64,
    ) -> Result<Matrix, StatsError> {
        let value = |pair: &Pair| {
            let count = match divisor {
                Some(_) => 1,
                None => {
                    let [a, b] = self.participants_of(pair);
                    layout.count(a, b)
                }
            };
            format.value(sign * pair.number / f64::from(count))
        };
        let values = self
            .pairs
            .iter()
            .map(value)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(layout.sums(&values)?)
    }

    /// The pair of participants for each pair of scanpaths. Fails if two participants share no stimulus.
    pub(super) fn layout(&self) -> Result<Layout, StatsError> {
        let pairs = self.pairs.iter().map(|pair| (pair.a, pair.b));
        Layout::new(&self.participants, self.is_one_cohort(), pairs)
    }

    /// The participants of a pair.
    pub(super) fn participants_of(&self, pair: &Pair) -> [usize; 2] {
        [
            self.participants[0].of_scanpaths()[pair.a],
            self.participants[1].of_scanpaths()[pair.b],
        ]
    }

    /// The groups of all participants, if given.
    pub(super) fn groups(
        &self,
        groups: &[Option<Groups>; 2],
    ) -> Result<Option<Grouping>, StatsError> {
        let [Some(first), Some(second)] = groups else {
            return Ok(None);
        };
        let mut names = BTreeSet::new();
        let mut of_sides = Vec::new();
        for (side, groups) in [first, second].into_iter().enumerate() {
            let ids = self.ids(side);
            let found: Vec<&str> = ids.iter().filter_map(|id| groups.group_of(id)).collect();
            if found.len() < ids.len() {
                return Err(StatsError::WithoutGroup {
                    side: self.outcome.names[side].clone(),
                    missing: ids.len() - found.len(),
                    participants: ids.len(),
                });
            }
            names.extend(found.iter().copied());
            of_sides.push(found);
        }
        let names: Vec<&str> = names.into_iter().collect();
        let index_of = |name: &&str| names.binary_search(name).unwrap_or_default();
        let by_participant = [0, 1].map(|side| of_sides[side].iter().map(index_of).collect());
        Ok(Some(Grouping {
            names: names.into_iter().map(String::from).collect(),
            by_participant,
        }))
    }

    /// The ids of a side's participants, in the order of their indices.
    pub(super) fn ids(&self, side: usize) -> Vec<&'a str> {
        let mut ids = Vec::new();
        let scanpaths = self.scanpaths[side].iter();
        for (label, &participant) in scanpaths.zip(self.participants[side].of_scanpaths()) {
            if participant == ids.len() {
                ids.push(label.participant.as_str());
            }
        }
        ids
    }
}

impl Grouping {
    /// Whether a group on one side has at least two participants. Drawing the same participant repeatedly gives no
    /// interval.
    pub(super) fn has_several(&self, side: usize, group: usize) -> bool {
        self.by_participant[side]
            .iter()
            .filter(|&&it| it == group)
            .nth(1)
            .is_some()
    }
}

/// The fixed-point format in which sums over all pairs of these samples cannot overflow.
pub(super) fn fixed_point<'a>(
    samples: impl IntoIterator<Item = &'a Sample<'a>>,
) -> Result<FixedPoint, StatsError> {
    let (mut terms, mut largest) = (0, 0.0_f64);
    for pair in samples.into_iter().flat_map(|sample| &sample.pairs) {
        terms += 1;
        largest = largest.max(pair.number.abs());
    }
    Ok(FixedPoint::fitting(terms, largest)?)
}

/// The result between two cohorts, and those within the first and the second.
pub(super) fn sites<'a>(
    samples: &'a [Sample<'a>],
) -> Result<(&'a Sample<'a>, [&'a Sample<'a>; 2]), StatsError> {
    let refuse = |problem| Err(StatsError::Sites(problem));
    let (within, between): (Vec<_>, Vec<_>) = samples.iter().partition(|it| it.is_one_cohort());
    let ([one, other], [between]) = (&within[..], &between[..]) else {
        return refuse(SitesProblem::Kinds);
    };
    let name = |sample: &Sample<'_>| sample.outcome.names[0].clone();
    let names = &between.outcome.names;
    let within = match [name(one), name(other)] {
        found if found == *names => [*one, *other],
        [first, second] if [&second, &first] == [&names[0], &names[1]] => [*other, *one],
        found => {
            return refuse(SitesProblem::Names {
                within: found,
                between: names.clone(),
            });
        }
    };
    for (side, sample) in within.iter().enumerate() {
        let comparable = sample.outcome.spec.metric == between.outcome.spec.metric
            && sample.measure == between.measure;
        if !comparable {
            return refuse(SitesProblem::Metrics);
        }
        if sample.ids(0) != between.ids(side) {
            return refuse(SitesProblem::Participants {
                name: names[side].clone(),
            });
        }
    }
    Ok((between, within))
}

/// The measure with this name, or the default one for statistics.
fn column(outcome: &Outcome, name: Option<&str>) -> Option<usize> {
    match name {
        Some(name) => outcome.results.measure(name),
        None => {
            let similarity = outcome.results.measure("similarity");
            similarity.or_else(|| (!outcome.results.measures().is_empty()).then_some(0))
        }
    }
}

/// The pairs found, with indices into the outcome's scanpaths.
struct FoundPairs {
    pairs: BTreeMap<(usize, usize), (f64, u32, Option<String>)>,
    /// Each number, if both orders of a pair count.
    ordered: Vec<f64>,
    missing: usize,
}

fn collect(outcome: &Outcome, column: usize, stimuli: &[String]) -> FoundPairs {
    let mut found = FoundPairs {
        pairs: BTreeMap::new(),
        ordered: Vec::new(),
        missing: 0,
    };
    let both_orders = outcome.counts_both_orders(column);
    for (pair, row) in outcome.results.iter().zip(outcome.rows()) {
        let stimulus = row.stimulus.as_deref();
        if !stimuli.is_empty() && !stimulus.is_some_and(|it| stimuli.iter().any(|one| one == it)) {
            continue;
        }
        if outcome.one_cohort && row.a == row.b {
            continue;
        }
        let number = match pair.values[column] {
            Value::Number(number) => number,
            Value::Bit(bit) => f64::from(u8::from(bit)),
            Value::Missing => {
                found.missing += 1;
                continue;
            }
        };
        if both_orders {
            found.ordered.push(number);
        }
        let key = match outcome.one_cohort {
            true => (pair.a.min(pair.b), pair.a.max(pair.b)),
            false => (pair.a, pair.b),
        };
        let entry = found.pairs.entry(key);
        let (sum, count, _) = entry.or_insert_with(|| (0.0, 0, stimulus.map(String::from)));
        *sum += number;
        *count += 1;
    }
    found
}

impl FoundPairs {
    fn into_sample(self, outcome: &Outcome, column: usize) -> Sample<'_> {
        let ordered = self.ordered;
        let used = |indices: BTreeSet<usize>| indices.into_iter().collect::<Vec<usize>>();
        let [mut first, mut second] = [BTreeSet::new(), BTreeSet::new()];
        for &(a, b) in self.pairs.keys() {
            first.insert(a);
            second.insert(b);
        }
        if outcome.one_cohort {
            first.append(&mut second);
            second = first.clone();
        }
        let used = [used(first), used(second)];
        let position = |side: usize, index| used[side].binary_search(&index).unwrap_or_default();
        let mut stimuli: Vec<Option<String>> = Vec::new();
        let mut stimulus_indices = BTreeMap::new();
        let mut pairs = Vec::with_capacity(self.pairs.len());
        for ((a, b), (sum, count, name)) in self.pairs {
            let stimulus = *stimulus_indices.entry(name.clone()).or_insert_with(|| {
                stimuli.push(name);
                stimuli.len() - 1
            });
            pairs.push(Pair {
                a: position(0, a),
                b: position(1, b),
                stimulus,
                number: sum / f64::from(count),
            });
        }
        let labels = [&outcome.a, &outcome.b];
        let scanpaths = [0, 1].map(|side| {
            let used = used[side].iter();
            used.map(|&index| &labels[side][index]).collect::<Vec<_>>()
        });
        let participants = [&scanpaths[0], &scanpaths[1]]
            .map(|labels| Participants::new(labels.iter().map(|label| label.participant.as_str())));
        Sample {
            outcome,
            measure: &outcome.results.measures()[column],
            column,
            scanpaths,
            participants,
            pairs,
            stimuli,
            ordered,
        }
    }
}
