//! What a page shows one after the other: a view for each stimulus, and one of their mean.

use super::matrix::{Cell, Matrix, Quantity, range};
use crate::result_file::{ResultFile, Row};
use std::collections::HashMap;
use veilpath_protocol::PairRule;

/// One part of the pairs, with its matrix.
pub(crate) struct View {
    /// The stimulus; for the only view, or that of all stimuli, what it is.
    pub(crate) title: String,
    /// Whether this is the mean over all stimuli.
    pub(crate) mean: bool,
    /// Every pair's number. In one cohort that is compared with itself each pair of two scanpaths counts once.
    pub(crate) values: Vec<f64>,
    /// Whether one cohort was compared with itself.
    pub(crate) one_cohort: bool,
    /// `None` where the pairs are spread over so many ids that a matrix cannot be drawn.
    pub(crate) matrix: Option<Matrix>,
}

impl View {
    /// The smallest and the greatest number that is drawn; that everybody is like themselves is not news.
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
    pub(crate) quantity: Quantity<'a>,
    pub(crate) views: Vec<View>,
    /// Stimuli that are not drawn because there are too many.
    pub(crate) left_out: usize,
}

/// A stimulus that is not in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no pair of the result file has the stimulus {0:?}")]
pub struct NoSuchStimulus(pub String);

/// The most stimuli that get a view of their own.
pub(crate) const MAX_VIEWS: usize = 40;

impl<'a> Views<'a> {
    /// The views of these stimuli, or of all where none is named.
    pub(crate) fn of(file: &'a ResultFile, only: &[String]) -> Result<Self, NoSuchStimulus> {
        let maker = Maker {
            file,
            quantity: Quantity::of(file),
        };
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
                return Err(NoSuchStimulus(asked.clone()));
            }
        }
        if !only.is_empty() {
            by_stimulus.retain(|(at, _)| only.iter().any(|asked| name(*at) == asked));
        }
        if only.is_empty() && crosses_stimuli(file) {
            return Ok(maker.views(vec![maker.across_stimuli()], 0));
        }
        let mut views = Vec::new();
        if by_stimulus.len() > 1 {
            let rows = by_stimulus.iter().flat_map(|(_, rows)| rows).copied();
            let title = format!("Mean over {} stimuli", by_stimulus.len());
            views.push(View {
                mean: true,
                ..maker.view(title, &rows.collect::<Vec<_>>())
            });
        }
        let left_out = by_stimulus.len().saturating_sub(MAX_VIEWS);
        for (stimulus, rows) in by_stimulus.iter().take(MAX_VIEWS) {
            let title = match name(*stimulus) {
                "" => "All pairs".to_string(),
                name => name.to_string(),
            };
            views.push(maker.view(title, rows));
        }
        Ok(maker.views(views, left_out))
    }
}

struct Maker<'a> {
    file: &'a ResultFile,
    quantity: Quantity<'a>,
}

impl<'a> Maker<'a> {
    fn views(&self, views: Vec<View>, left_out: usize) -> Views<'a> {
        Views {
            quantity: self.quantity,
            views,
            left_out,
        }
    }

    fn view(&self, title: String, rows: &[Row<'_>]) -> View {
        let (a, b) = (self.file.a(), self.file.b());
        let cells = rows
            .iter()
            .filter_map(|&row| Some((row.stimulus, self.cell(row, &a[row.a], &b[row.b])?)));
        self.of_cells(title, cells)
    }

    /// Scanpaths of different stimuli were compared: then a line of the matrix is a scanpath, not a participant.
    fn across_stimuli(&self) -> View {
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
        let cells = file
            .rows()
            .zip(&labels)
            .filter_map(|(row, [a, b])| Some((None, self.cell(row, a, b)?)));
        self.of_cells("All scanpaths with all".into(), cells)
    }

    fn cell<'b>(&self, row: Row<'_>, a: &'b str, b: &'b str) -> Option<Cell<'b>> {
        Some(Cell {
            a,
            b,
            value: self.quantity.value(row)?,
            beside: self.quantity.value_beside(row),
        })
    }

    fn of_cells<'b>(
        &self,
        title: String,
        cells: impl Iterator<Item = (Option<usize>, Cell<'b>)> + Clone,
    ) -> View {
        let matrix = Matrix::new(cells.clone().map(|(_, cell)| cell));
        let looks_like_one = |matrix: &Matrix| matrix.within_one_cohort(self.quantity).is_ok();
        let outcome = self.file.outcome();
        let one_cohort = outcome.is_some_and(|outcome| outcome.one_cohort)
            || matrix.as_ref().is_some_and(looks_like_one);
        View {
            title,
            mean: false,
            values: match one_cohort {
                true => each_pair_once(cells),
                false => cells.map(|(_, cell)| cell.value).collect(),
            },
            one_cohort,
            matrix,
        }
    }
}

/// The numbers of pairs that are there in both directions: their mean. A scanpath with itself is not a pair.
fn each_pair_once<'a>(cells: impl Iterator<Item = (Option<usize>, Cell<'a>)>) -> Vec<f64> {
    let mut places: HashMap<(Option<usize>, &str, &str), usize> = HashMap::new();
    let mut sums: Vec<(f64, f64)> = Vec::new();
    for (stimulus, cell) in cells.filter(|(_, cell)| cell.a != cell.b) {
        let (first, second) = (cell.a.min(cell.b), cell.a.max(cell.b));
        let place = *places.entry((stimulus, first, second)).or_insert_with(|| {
            sums.push((0.0, 0.0));
            sums.len() - 1
        });
        sums[place].0 += cell.value;
        sums[place].1 += 1.0;
    }
    sums.into_iter().map(|(sum, count)| sum / count).collect()
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
