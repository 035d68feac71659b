//! What a page shows one after the other: for each output a view for each stimulus, and one of their mean.

use super::matrix::{Matrix, PairValue, range};
use super::quantity::{NoSuchOutput, Quantity};
use crate::result_file::{MAX_ROWS, ResultFile, Row};
use std::collections::HashMap;
use veilpath_protocol::PairRule;

/// One part of the pairs, with its matrix.
pub(crate) struct View<'a> {
    /// The stimulus, or a title for the view of all stimuli.
    pub(crate) title: String,
    /// Whether this is the mean over all stimuli.
    pub(crate) mean: bool,
    /// Which of the outputs that are shown it is.
    pub(crate) output: usize,
    /// Which of the views of this output it is.
    pub(crate) place: usize,
    pub(crate) quantity: Quantity<'a>,
    /// Every pair's number. In one cohort that is compared with itself each pair of two scanpaths counts once.
    pub(crate) values: Vec<f64>,
    /// How many pairs were compared but have no number.
    pub(crate) undefined: usize,
    /// Whether one cohort was compared with itself.
    pub(crate) one_cohort: bool,
    /// `None` where no pair has a number, or a matrix cannot be drawn: [`Self::is_left_out`] or too many ids.
    pub(crate) matrix: Option<Matrix>,
    /// Whether there is no matrix because the file has too many pairs for those of all outputs.
    pub(crate) is_left_out: bool,
}

impl View<'_> {
    /// The smallest and the greatest number that is drawn; scanpaths compared with themselves are
    /// ignored.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let matrix = self.matrix.as_ref()?;
        if !self.one_cohort {
            return matrix.range();
        }
        range(self.drawn().into_iter()).or_else(|| matrix.range())
    }

    /// The numbers of the heat map's tiles, without those of a scanpath with itself. In one cohort that is compared with
    /// itself a tile and its mirror image count once.
    pub(crate) fn drawn(&self) -> Vec<f64> {
        let Some(matrix) = &self.matrix else {
            return self.values.clone();
        };
        let place = |ids: &'_ [String]| -> HashMap<String, usize> {
            ids.iter().cloned().zip(0..).collect()
        };
        let (rows, columns) = (place(&matrix.a), place(&matrix.b));
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
                if a < b {
                    numbers.push(mirror.map_or(value, |mirror| f64::midpoint(value, mirror)));
                }
            }
        }
        numbers
    }
}

/// The views of a file.
pub(crate) struct Views<'a> {
    /// The outputs that are shown.
    pub(crate) quantities: Vec<Quantity<'a>>,
    /// Those of the first output come first.
    pub(crate) views: Vec<View<'a>>,
    /// Stimuli that are not drawn because there are too many.
    pub(crate) left_out: usize,
}

/// Something requested for a report that the file does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotInFile {
    /// A stimulus.
    #[error("no pair of the result file has the stimulus {0:?}")]
    Stimulus(String),
    /// An output.
    #[error(transparent)]
    Output(#[from] NoSuchOutput),
}

/// The most views of stimuli, over all outputs.
pub(crate) const MAX_VIEWS: usize = 40;

impl<'a> Views<'a> {
    /// The views of these stimuli and outputs, or of all where none is named.
    pub(crate) fn of(
        file: &'a ResultFile,
        stimuli: &[String],
        outputs: &[String],
    ) -> Result<Self, NotInFile> {
        let quantities = Quantity::all(file, outputs)?;
        let parts = Parts::of(file, stimuli, (MAX_VIEWS / quantities.len().max(1)).max(1))?;
        // As many tiles as one output of the largest file has.
        let drawn = (MAX_ROWS / file.len().max(1)).max(1);
        let mut views = Vec::new();
        for (output, &quantity) in quantities.iter().enumerate() {
            let maker = ViewBuilder {
                file,
                output,
                quantity,
                is_left_out: output >= drawn,
            };
            views.extend(maker.views(&parts));
        }
        Ok(Self {
            quantities,
            views,
            left_out: parts.left_out,
        })
    }

    /// The first view of every output: of all pairs, or of the mean over the stimuli.
    pub(crate) fn first_of_each(&self) -> impl Iterator<Item = &View<'a>> {
        self.views.iter().filter(|view| view.place == 0)
    }

    /// The views of the first output.
    pub(crate) fn of_first(&self) -> impl Iterator<Item = &View<'a>> {
        self.views.iter().filter(|view| view.output == 0)
    }
}

/// The pairs of a file, as the views of every output show them.
enum Part<'a> {
    /// All scanpaths with all, where scanpaths of different stimuli were compared.
    AcrossStimuli,
    /// All stimuli, and how many there are.
    Mean(Vec<Row<'a>>, usize),
    /// One stimulus, or all pairs where there are none.
    Stimulus(String, Vec<Row<'a>>),
}

struct Parts<'a> {
    parts: Vec<Part<'a>>,
    left_out: usize,
}

impl<'a> Parts<'a> {
    fn of(file: &'a ResultFile, only: &[String], most: usize) -> Result<Self, NotInFile> {
        let mut by_stimulus: Vec<(Option<usize>, Vec<Row<'_>>)> = Vec::new();
        let mut places = HashMap::new();
        for row in file.rows() {
            let place = *places.entry(row.stimulus).or_insert_with(|| {
                by_stimulus.push((row.stimulus, Vec::new()));
                by_stimulus.len() - 1
            });
            by_stimulus[place].1.push(row);
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
                left_out: 0,
            });
        }
        let mut parts = Vec::new();
        let stimuli = by_stimulus.len();
        if stimuli > 1 {
            let rows = by_stimulus.iter().flat_map(|(_, rows)| rows).copied();
            parts.push(Part::Mean(rows.collect(), stimuli));
        }
        for (stimulus, rows) in by_stimulus.into_iter().take(most) {
            let title = match name(stimulus) {
                "" => "All pairs",
                name => name,
            };
            parts.push(Part::Stimulus(title.into(), rows));
        }
        Ok(Self {
            parts,
            left_out: stimuli.saturating_sub(most),
        })
    }
}

struct ViewBuilder<'a> {
    file: &'a ResultFile,
    output: usize,
    quantity: Quantity<'a>,
    is_left_out: bool,
}

impl<'a> ViewBuilder<'a> {
    fn views(&self, parts: &Parts<'_>) -> Vec<View<'a>> {
        let parts = parts.parts.iter().enumerate();
        parts
            .map(|(place, part)| {
                let (view, mean) = match part {
                    Part::AcrossStimuli => (self.across_stimuli(), false),
                    Part::Mean(rows, stimuli) => (
                        self.view(format!("Mean over {stimuli} stimuli"), rows),
                        true,
                    ),
                    Part::Stimulus(title, rows) => (self.view(title.clone(), rows), false),
                };
                View {
                    place,
                    mean,
                    ..view
                }
            })
            .collect()
    }

    fn view(&self, title: String, rows: &[Row<'_>]) -> View<'a> {
        let (a, b) = (self.file.a(), self.file.b());
        let pairs = rows
            .iter()
            .map(|&row| (row.stimulus, self.pair_value(row, &a[row.a], &b[row.b])));
        self.of_pairs(title, pairs)
    }

    /// Scanpaths of different stimuli were compared: then a line of the matrix is a scanpath, not a participant.
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
        self.of_pairs("All scanpaths with all".into(), pairs)
    }

    fn pair_value<'b>(&self, row: Row<'_>, a: &'b str, b: &'b str) -> PairValue<'b> {
        PairValue {
            a,
            b,
            value: self.quantity.value(row),
            secondary: self.quantity.secondary_value(row),
        }
    }

    fn of_pairs<'b>(
        &self,
        title: String,
        pairs: impl Iterator<Item = (Option<usize>, PairValue<'b>)> + Clone,
    ) -> View<'a> {
        let draws = (!self.is_left_out).then_some(());
        let matrix = draws.and_then(|()| Matrix::new(pairs.clone().map(|(_, pair)| pair)));
        let looks_like_one = |matrix: &Matrix| matrix.within_one_cohort(self.quantity).is_ok();
        let outcome = self.file.outcome();
        let one_cohort = outcome.is_some_and(|outcome| outcome.one_cohort)
            || matrix.as_ref().is_some_and(looks_like_one);
        let (values, undefined) = match one_cohort {
            true => each_pair_once(pairs),
            false => {
                let count = pairs.clone().count();
                let values: Vec<f64> = pairs.filter_map(|(_, pair)| pair.value).collect();
                let undefined = count - values.len();
                (values, undefined)
            }
        };
        View {
            title,
            mean: false,
            output: self.output,
            place: 0,
            quantity: self.quantity,
            values,
            undefined,
            one_cohort,
            matrix,
            is_left_out: self.is_left_out,
        }
    }
}

/// The mean of both directions for each pair, and how many pairs have no number. A scanpath with itself is not a pair.
fn each_pair_once<'a>(
    pairs: impl Iterator<Item = (Option<usize>, PairValue<'a>)>,
) -> (Vec<f64>, usize) {
    let mut places: HashMap<(Option<usize>, &str, &str), usize> = HashMap::new();
    let mut sums: Vec<(f64, f64)> = Vec::new();
    for (stimulus, pair) in pairs.filter(|(_, pair)| pair.a != pair.b) {
        let (first, second) = (pair.a.min(pair.b), pair.a.max(pair.b));
        let place = *places.entry((stimulus, first, second)).or_insert_with(|| {
            sums.push((0.0, 0.0));
            sums.len() - 1
        });
        if let Some(value) = pair.value {
            sums[place].0 += value;
            sums[place].1 += 1.0;
        }
    }
    let count = sums.len();
    sums.retain(|&(_, count)| count > 0.0);
    let undefined = count - sums.len();
    let means = sums.into_iter().map(|(sum, count)| sum / count);
    (means.collect(), undefined)
}

/// Whether scanpaths of different stimuli were compared: the plan says so, or, in CSV, which has no plan, a stimulus of the
/// form `x|y` does.
fn crosses_stimuli(file: &ResultFile) -> bool {
    let crossed = file
        .stimuli()
        .iter()
        .any(|stimulus| sides(stimulus).is_some_and(|(x, y)| x != y));
    let all = file
        .outcome()
        .map(|outcome| outcome.spec.pairs == PairRule::All);
    all.unwrap_or(true) && crossed
}

/// The two stimuli of `x|y`.
fn sides(stimulus: &str) -> Option<(&str, &str)> {
    stimulus.split_once('|').filter(|(_, y)| !y.contains('|'))
}
