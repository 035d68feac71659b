//! What a page shows one after the other: a view for each stimulus, and one of their mean.

use super::matrix::{Cell, Matrix, Quantity, range};
use crate::result_file::{ResultFile, Row};
use std::collections::HashMap;

/// One part of the pairs, with its matrix.
pub(crate) struct View {
    /// The stimulus; for the only view, or that of all stimuli, what it is.
    pub(crate) title: String,
    /// Whether this is the mean over all stimuli.
    pub(crate) mean: bool,
    /// Every pair's number, in the order of the file; without those of a scanpath with itself.
    pub(crate) values: Vec<f64>,
    /// Whether one cohort was compared with itself.
    pub(crate) one_cohort: bool,
    /// `None` where the pairs are spread over so many ids that a matrix cannot be drawn.
    pub(crate) matrix: Option<Matrix>,
}

impl View {
    /// The smallest and the greatest number that is drawn; that everybody is like themselves is no news.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let matrix = self.matrix.as_ref()?;
        if !self.one_cohort {
            return matrix.range();
        }
        let numbers = (0..matrix.rows()).flat_map(|row| {
            let others =
                (0..matrix.columns()).filter(move |&column| matrix.a[row] != matrix.b[column]);
            others.filter_map(move |column| matrix.get(row, column))
        });
        range(numbers).or_else(|| matrix.range())
    }
}

/// The views of a file.
pub(crate) struct Views {
    pub(crate) quantity: Quantity,
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

impl Views {
    /// The views of these stimuli, or of all where none is named.
    pub(crate) fn of(file: &ResultFile, only: &[String]) -> Result<Self, NoSuchStimulus> {
        let quantity = Quantity::of(file);
        let mut by_stimulus: Vec<(Option<usize>, Vec<&Row>)> = Vec::new();
        let mut places = HashMap::new();
        for row in &file.rows {
            let place = *places.entry(row.stimulus).or_insert_with(|| {
                by_stimulus.push((row.stimulus, Vec::new()));
                by_stimulus.len() - 1
            });
            by_stimulus[place].1.push(row);
        }
        let name = |stimulus: Option<usize>| {
            let name = stimulus.and_then(|stimulus| file.stimuli.get(stimulus));
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
        let maker = Maker { file, quantity };
        if only.is_empty() && crosses_stimuli(file) {
            let rows: Vec<&Row> = file.rows.iter().collect();
            return Ok(maker.views(vec![maker.across_stimuli(&rows)], 0));
        }
        let mut views = Vec::new();
        if by_stimulus.len() > 1 {
            let all: Vec<&Row> = by_stimulus
                .iter()
                .flat_map(|(_, rows)| rows)
                .copied()
                .collect();
            let title = format!("Mean over {} stimuli", by_stimulus.len());
            views.push(View {
                mean: true,
                ..maker.view(title, &all)
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
    quantity: Quantity,
}

impl Maker<'_> {
    fn views(&self, views: Vec<View>, left_out: usize) -> Views {
        Views {
            quantity: self.quantity,
            views,
            left_out,
        }
    }

    fn view(&self, title: String, rows: &[&Row]) -> View {
        let cells = rows.iter().map(|row| Cell {
            a: &self.file.a[row.a],
            b: &self.file.b[row.b],
            value: self.quantity.value(row.answer),
            score: score_of(row),
        });
        self.of_cells(title, cells)
    }

    /// Scanpaths of different stimuli were compared: then a line of the matrix is a scanpath, not a participant.
    fn across_stimuli(&self, rows: &[&Row]) -> View {
        let label = |id: &str, stimulus: &str| match stimulus {
            "" => id.to_string(),
            stimulus => format!("{id} · {stimulus}"),
        };
        let labels: Vec<[String; 2]> = rows
            .iter()
            .map(|row| {
                let stimulus = row.stimulus.map_or("", |at| &self.file.stimuli[at]);
                let (x, y) = sides(stimulus).unwrap_or((stimulus, stimulus));
                [label(&self.file.a[row.a], x), label(&self.file.b[row.b], y)]
            })
            .collect();
        let cells = rows.iter().zip(&labels).map(|(row, [a, b])| Cell {
            a,
            b,
            value: self.quantity.value(row.answer),
            score: score_of(row),
        });
        self.of_cells("All scanpaths with all".into(), cells)
    }

    fn of_cells<'a>(&self, title: String, cells: impl Iterator<Item = Cell<'a>> + Clone) -> View {
        let matrix = Matrix::new(cells.clone());
        let one_cohort = matrix
            .as_ref()
            .is_some_and(|matrix| matrix.within_one_cohort(self.quantity).is_ok());
        let of_two = |cell: &Cell<'_>| !(one_cohort && cell.a == cell.b);
        View {
            title,
            mean: false,
            values: cells.filter(of_two).map(|cell| cell.value).collect(),
            one_cohort,
            matrix,
        }
    }
}

fn score_of(row: &Row) -> f64 {
    Quantity::Score(None).value(row.answer)
}

/// Whether scanpaths of different stimuli were compared: the plan says so, or, in CSV, which has no plan, a stimulus of the
/// form `x|y` does.
fn crosses_stimuli(file: &ResultFile) -> bool {
    let crossed = file
        .stimuli
        .iter()
        .any(|stimulus| sides(stimulus).is_some_and(|(x, y)| x != y));
    file.pairs_all().unwrap_or(true) && crossed
}

/// The two stimuli of `x|y`.
fn sides(stimulus: &str) -> Option<(&str, &str)> {
    stimulus.split_once('|').filter(|(_, y)| !y.contains('|'))
}
