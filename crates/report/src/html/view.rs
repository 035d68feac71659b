//! The views that a page shows one after another: for each measure, one per stimulus and one of their mean.

use super::histogram::Spread;
use super::matrix::{Matrix, PairValue, range};
use super::measure::{NoSuchMeasure, ShownMeasure};
use crate::result_file::{MAX_ROWS, PairRow, ResultFile};
use std::collections::HashMap;
use veilpath_protocol::PairRule;

/// A subset of the pairs, with its matrix.
pub(crate) struct View<'a> {
    /// The stimulus, or a title for the view of all stimuli.
    pub(crate) title: String,
    /// Whether this is the mean over all stimuli.
    pub(crate) mean: bool,
    /// The index of its measure among those shown.
    pub(crate) measure_index: usize,
    /// The index of this view among those of its measure.
    pub(crate) index: usize,
    pub(crate) measure: ShownMeasure<'a>,
    /// Every pair's number. If a cohort is compared with itself, each pair of scanpaths counts once, or, if the measure
    /// depends on the order, once in each order.
    pub(crate) values: Vec<f64>,
    /// The number of pairs that were compared but have no number.
    pub(crate) undefined: usize,
    /// Whether one cohort was compared with itself.
    pub(crate) one_cohort: bool,
    /// `None` if no pair has a number, or if the matrix cannot be drawn: [`Self::is_omitted`] or too many ids.
    pub(crate) matrix: Option<Matrix>,
    /// Whether the matrix is omitted because the file has too many pairs to draw one for every measure.
    pub(crate) is_omitted: bool,
}

impl View<'_> {
    /// The smallest and the largest number that is drawn. Scanpaths compared with themselves are ignored.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let matrix = self.matrix.as_ref()?;
        if !self.one_cohort {
            return matrix.range();
        }
        range(self.drawn().into_iter()).or_else(|| matrix.range())
    }

    /// Whether both orders of a pair count, because a cohort is compared with itself and the measure depends on the
    /// order.
    pub(crate) fn counts_both_orders(&self) -> bool {
        self.one_cohort && self.measure.depends_on_order()
    }

    /// What is counted.
    pub(crate) fn noun(&self) -> &'static str {
        match self.counts_both_orders() {
            true => "ordered pair",
            false => "pair",
        }
    }

    /// The distribution of these numbers of the view. It has no mean if that is 0 whatever the numbers are.
    pub(crate) fn spread_of(&self, values: &[f64]) -> Option<Spread> {
        let spread = Spread::of(values)?;
        Some(match self.one_cohort && self.measure.is_antisymmetric() {
            true => spread.without_mean(),
            false => spread,
        })
    }

    /// The number of pairs that were not compared, and of those that were but have no number. They count as the numbers of
    /// [`Self::drawn`] do.
    pub(crate) fn hatched(&self, matrix: &Matrix) -> [usize; 2] {
        let rows: HashMap<&str, usize> = matrix.a.iter().map(String::as_str).zip(0..).collect();
        let columns: HashMap<&str, usize> = matrix.b.iter().map(String::as_str).zip(0..).collect();
        let mut counts = [0, 0];
        for (row, a) in matrix.a.iter().enumerate() {
            for (column, b) in matrix.b.iter().enumerate() {
                if matrix.get(row, column).is_some() || self.one_cohort && a == b {
                    continue;
                }
                let mirror = rows.get(b.as_str()).zip(columns.get(a.as_str()));
                let counts_at_mirror = mirror
                    .is_some_and(|(&row, &column)| a > b && matrix.get(row, column).is_none());
                if !self.one_cohort || self.counts_both_orders() || !counts_at_mirror {
                    counts[usize::from(matrix.is_undefined(row, column))] += 1;
                }
            }
        }
        counts
    }

    /// The numbers of the heat map's tiles, except those of a scanpath with itself. If a cohort is compared with
    /// itself, a tile and its mirror image count once, or both if the measure depends on the order.
    pub(crate) fn drawn(&self) -> Vec<f64> {
        let Some(matrix) = &self.matrix else {
            return self.values.clone();
        };
        let positions = |ids: &'_ [String]| -> HashMap<String, usize> {
            ids.iter().cloned().zip(0..).collect()
        };
        let (rows, columns) = (positions(&matrix.a), positions(&matrix.b));
        let mut numbers = Vec::new();
        for row in 0..matrix.rows() {
            for column in 0..matrix.columns() {
                let Some(value) = matrix.get(row, column) else {
                    continue;
                };
                if !self.one_cohort {
                    numbers.push(value);
                    continue;
                }
                let (a, b) = (&matrix.a[row], &matrix.b[column]);
                let mirror = rows.get(b).zip(columns.get(a));
                let mirror = mirror.and_then(|(&row, &column)| matrix.get(row, column));
                if a != b && self.counts_both_orders() {
                    numbers.push(value);
                } else if a < b {
                    numbers.push(mirror.map_or(value, |mirror| f64::midpoint(value, mirror)));
                }
            }
        }
        numbers
    }
}

/// The views of a file.
pub(crate) struct Views<'a> {
    /// The measures that are shown.
    pub(crate) measures: Vec<ShownMeasure<'a>>,
    /// The views, those of the first measure first.
    pub(crate) views: Vec<View<'a>>,
    /// The number of stimuli that are not drawn because there are too many.
    pub(crate) omitted_stimuli: usize,
}

/// A requested item that the file does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotInFile {
    /// A stimulus.
    #[error("no pair of the result file has the stimulus {0:?}")]
    Stimulus(String),
    /// A measure.
    #[error(transparent)]
    Measure(#[from] NoSuchMeasure),
}

/// The most stimulus views, over all measures.
pub(crate) const MAX_VIEWS: usize = 40;

impl<'a> Views<'a> {
    /// The views of these stimuli and measures, or of all if none is named.
    pub(crate) fn of(
        file: &'a ResultFile,
        stimuli: &[String],
        names: &[String],
    ) -> Result<Self, NotInFile> {
        let measures = ShownMeasure::all(file, names)?;
        let parts = Parts::of(file, stimuli, (MAX_VIEWS / measures.len().max(1)).max(1))?;
        // As many tiles as one measure of the largest file needs.
        let drawn = (MAX_ROWS / file.len().max(1)).max(1);
        let mut views = Vec::new();
        for (measure_index, &measure) in measures.iter().enumerate() {
            let maker = ViewBuilder {
                file,
                measure_index,
                measure,
                is_omitted: measure_index >= drawn,
            };
            views.extend(maker.views(&parts));
        }
        Ok(Self {
            measures,
            views,
            omitted_stimuli: parts.omitted_stimuli,
        })
    }

    /// The first view of every measure: of all pairs, or of the mean over stimuli.
    pub(crate) fn first_of_each(&self) -> impl Iterator<Item = &View<'a>> {
        self.views.iter().filter(|view| view.index == 0)
    }

    /// The views of the first measure.
    pub(crate) fn of_first(&self) -> impl Iterator<Item = &View<'a>> {
        self.views.iter().filter(|view| view.measure_index == 0)
    }
}

/// A part of a file's pairs, as shown in the views of every measure.
enum Part<'a> {
    /// All scanpaths with all others, if scanpaths on different stimuli were compared.
    AcrossStimuli,
    /// All stimuli, and their number.
    Mean(Vec<PairRow<'a>>, usize),
    /// One stimulus, or all pairs if there are no stimuli.
    Stimulus(String, Vec<PairRow<'a>>),
}

struct Parts<'a> {
    parts: Vec<Part<'a>>,
    omitted_stimuli: usize,
}

impl<'a> Parts<'a> {
    fn of(file: &'a ResultFile, only: &[String], max_stimuli: usize) -> Result<Self, NotInFile> {
        let mut by_stimulus: Vec<(Option<usize>, Vec<PairRow<'_>>)> = Vec::new();
        let mut indices = HashMap::new();
        for row in file.rows() {
            let index = *indices.entry(row.stimulus).or_insert_with(|| {
                by_stimulus.push((row.stimulus, Vec::new()));
                by_stimulus.len() - 1
            });
            by_stimulus[index].1.push(row);
        }
        let name = |stimulus: Option<usize>| {
            let name = stimulus.and_then(|stimulus| file.stimuli().get(stimulus));
            name.map_or("", String::as_str)
        };
        for asked in only {
            if !by_stimulus.iter().any(|(at, _)| name(*at) == asked) {
                return Err(NotInFile::Stimulus(asked.clone()));
            }
        }
        if !only.is_empty() {
            by_stimulus.retain(|(at, _)| only.iter().any(|asked| name(*at) == asked));
        }
        if only.is_empty() && crosses_stimuli(file) {
            return Ok(Self {
                parts: vec![Part::AcrossStimuli],
                omitted_stimuli: 0,
            });
        }
        let mut parts = Vec::new();
        let stimuli = by_stimulus.len();
        if stimuli > 1 {
            let rows = by_stimulus.iter().flat_map(|(_, rows)| rows).copied();
            parts.push(Part::Mean(rows.collect(), stimuli));
        }
        for (stimulus, rows) in by_stimulus.into_iter().take(max_stimuli) {
            let title = match name(stimulus) {
                "" => "All pairs",
                name => name,
            };
            parts.push(Part::Stimulus(title.into(), rows));
        }
        Ok(Self {
            parts,
            omitted_stimuli: stimuli.saturating_sub(max_stimuli),
        })
    }
}

struct ViewBuilder<'a> {
    file: &'a ResultFile,
    measure_index: usize,
    measure: ShownMeasure<'a>,
    is_omitted: bool,
}

impl<'a> ViewBuilder<'a> {
    fn views(&self, parts: &Parts<'_>) -> Vec<View<'a>> {
        let parts = parts.parts.iter().enumerate();
        parts
            .map(|(index, part)| {
                let (view, mean) = match part {
                    Part::AcrossStimuli => (self.across_stimuli(), false),
                    Part::Mean(rows, stimuli) => (
                        self.view(format!("Mean over {stimuli} stimuli"), rows),
                        true,
                    ),
                    Part::Stimulus(title, rows) => (self.view(title.clone(), rows), false),
                };
                View {
                    index,
                    mean,
                    ..view
                }
            })
            .collect()
    }

    fn view(&self, title: String, rows: &[PairRow<'_>]) -> View<'a> {
        let (a, b) = (self.file.a(), self.file.b());
        let pairs = rows
            .iter()
            .map(|&row| (row.stimulus, self.pair_value(row, &a[row.a], &b[row.b])));
        self.of_pairs(title, pairs)
    }

    /// Scanpaths on different stimuli were compared, so a row or column of the matrix is a scanpath, not a participant.
    fn across_stimuli(&self) -> View<'a> {
        let file = self.file;
        let label = |id: &str, stimulus: &str| match stimulus {
            "" => id.to_string(),
            stimulus => format!("{id} · {stimulus}"),
        };
        let labels: Vec<[String; 2]> = file
            .rows()
            .map(|row| {
                let stimulus = row.stimulus.map_or("", |at| &file.stimuli()[at]);
                let (x, y) = sides(stimulus).unwrap_or((stimulus, stimulus));
                [label(&file.a()[row.a], x), label(&file.b()[row.b], y)]
            })
            .collect();
        let pairs = file
            .rows()
            .zip(&labels)
            .map(|(row, [a, b])| (None, self.pair_value(row, a, b)));
        self.of_pairs("Every scanpath with every other".into(), pairs)
    }

    fn pair_value<'b>(&self, row: PairRow<'_>, a: &'b str, b: &'b str) -> PairValue<'b> {
        PairValue {
            a,
            b,
            value: self.measure.value(row),
            secondary: self.measure.secondary_value(row),
        }
    }

    fn of_pairs<'b>(
        &self,
        title: String,
        pairs: impl Iterator<Item = (Option<usize>, PairValue<'b>)> + Clone,
    ) -> View<'a> {
        let draws = (!self.is_omitted).then_some(());
        let matrix = draws.and_then(|()| Matrix::new(pairs.clone().map(|(_, pair)| pair)));
        let looks_like_one = |matrix: &Matrix| matrix.within_one_cohort(self.measure).is_ok();
        let outcome = self.file.outcome();
        let one_cohort = outcome.is_some_and(|outcome| outcome.one_cohort)
            || matrix.as_ref().is_some_and(looks_like_one);
        let (values, undefined) = match (one_cohort, self.measure.depends_on_order()) {
            (true, false) => each_pair_once(pairs),
            (true, true) => every_pair(pairs.filter(|(_, pair)| pair.a != pair.b)),
            (false, _) => every_pair(pairs),
        };
        View {
            title,
            mean: false,
            measure_index: self.measure_index,
            index: 0,
            measure: self.measure,
            values,
            undefined,
            one_cohort,
            matrix,
            is_omitted: self.is_omitted,
        }
    }
}

/// The number of each pair, and the number of pairs without one.
fn every_pair<'a>(
    pairs: impl Iterator<Item = (Option<usize>, PairValue<'a>)> + Clone,
) -> (Vec<f64>, usize) {
    let count = pairs.clone().count();
    let values: Vec<f64> = pairs.filter_map(|(_, pair)| pair.value).collect();
    let undefined = count - values.len();
    (values, undefined)
}

/// The mean of both directions for each pair, and the number of pairs without a number. A scanpath with itself is not a
/// pair.
fn each_pair_once<'a>(
    pairs: impl Iterator<Item = (Option<usize>, PairValue<'a>)>,
) -> (Vec<f64>, usize) {
    let mut indices: HashMap<(Option<usize>, &str, &str), usize> = HashMap::new();
    let mut sums: Vec<(f64, f64)> = Vec::new();
    for (stimulus, pair) in pairs.filter(|(_, pair)| pair.a != pair.b) {
        let (first, second) = (pair.a.min(pair.b), pair.a.max(pair.b));
        let index = *indices.entry((stimulus, first, second)).or_insert_with(|| {
            sums.push((0.0, 0.0));
            sums.len() - 1
        });
        if let Some(value) = pair.value {
            sums[index].0 += value;
            sums[index].1 += 1.0;
        }
    }
    let count = sums.len();
    sums.retain(|&(_, count)| count > 0.0);
    let undefined = count - sums.len();
    let means = sums.into_iter().map(|(sum, count)| sum / count);
    (means.collect(), undefined)
}

/// Whether scanpaths on different stimuli were compared. The plan says so, or, in CSV, which has no plan, a stimulus of
/// the form `x|y`.
fn crosses_stimuli(file: &ResultFile) -> bool {
    let crossed = file
        .stimuli()
        .iter()
        .any(|stimulus| sides(stimulus).is_some_and(|(x, y)| x != y));
    let all = file
        .outcome()
        .map(|outcome| outcome.spec.pair_rule == PairRule::All);
    all.unwrap_or(true) && crossed
}

/// The two stimuli of `x|y`.
fn sides(stimulus: &str) -> Option<(&str, &str)> {
    stimulus.split_once('|').filter(|(_, y)| !y.contains('|'))
}
