//! The most similar participants.

use super::cut::cohorts;
use super::matrix::Matrix;
use super::measure::{ScoreKind, ShownMeasure};
use super::numbers;
use super::table::{Column, Field, table};
use crate::threshold_side::ThresholdSide;
use maud::{Markup, html};

/// The most rows in a table. A browser sorts this many without a noticeable delay.
const MAX_ROWS: usize = 2000;

/// The two columns that are most similar to a row, nearest first. A participant is not its own neighbour.
pub(crate) fn nearest(
    matrix: &Matrix,
    row: usize,
    score_kind: ScoreKind,
    one_cohort: bool,
) -> Vec<(usize, f64)> {
    let mut best: Vec<(usize, f64)> = Vec::with_capacity(3);
    for column in 0..matrix.columns() {
        let Some(value) = matrix.get(row, column) else {
            continue;
        };
        if one_cohort && matrix.a[row] == matrix.b[column] {
            continue;
        }
        let closer = |other: f64| match score_kind {
            ScoreKind::Distance => value < other,
            ScoreKind::Similarity => value > other,
        };
        let at = best
            .iter()
            .position(|&(_, other)| closer(other))
            .unwrap_or(best.len());
        best.insert(at, (column, value));
        best.truncate(2);
    }
    best
}

/// The tables of both sides, or the reason there are none.
pub(crate) fn tables(
    matrix: &Matrix,
    measure: ShownMeasure<'_>,
    one_cohort: bool,
    names: &[String; 2],
) -> Markup {
    let Some(score_kind) = measure.score_kind() else {
        return html! {
            p class="note" {
                "There is no table of nearest neighbours: "
                @match measure.is_from_csv {
                    true => "the file does not say whether small or large scores mean similar scanpaths. A result file in JSON does.",
                    false => { (measure.name) " does not say which of two pairs is more alike." }
                }
            }
        };
    };
    let turned = matrix.transposed();
    let [first, second] = cohorts(names);
    let (there, back) = ([first.as_str(), &second], [second.as_str(), &first]);
    if measure.is_bit() {
        return html! {
            div class="below" {
                (within(matrix, measure.threshold, one_cohort, there))
                @if !one_cohort { (within(&turned, measure.threshold, one_cohort, back)) }
            }
        };
    }
    let finder = |matrix: &Matrix| -> Vec<Vec<(usize, f64)>> {
        (0..matrix.rows())
            .map(|row| nearest(matrix, row, score_kind, one_cohort))
            .collect()
    };
    let (ours, theirs) = (finder(matrix), finder(&turned));
    html! {
        div class="below" {
            (side_table(matrix, measure, &ours, &theirs, there))
            @if !one_cohort {
                (side_table(&turned, measure, &theirs, &ours, back))
            }
        }
    }
}

fn side_table(
    matrix: &Matrix,
    measure: ShownMeasure<'_>,
    ours: &[Vec<(usize, f64)>],
    theirs: &[Vec<(usize, f64)>],
    [own, other]: [&str; 2],
) -> Markup {
    let decimals = numbers::decimals(matrix.numbers());
    let shown = |value: f64| Field::number(numbers::fixed(value, decimals), value);
    let with_scores = matrix.has_secondary();
    let rows: Vec<Vec<Field>> = ours
        .iter()
        .enumerate()
        .take(MAX_ROWS)
        .map(|(row, found)| {
            let mut fields = vec![Field::words(&matrix.a[row])];
            let first = found.first().copied();
            fields.push(
                first.map_or_else(Field::none, |(column, _)| Field::words(&matrix.b[column])),
            );
            fields.push(first.map_or_else(Field::none, |(_, value)| shown(value)));
            if with_scores {
                let score = first.and_then(|(column, _)| matrix.secondary(row, column));
                fields.push(score.map_or_else(Field::none, |score| {
                    Field::number(numbers::short(score), score)
                }));
            }
            let second = found.get(1).copied();
            fields.push(
                second.map_or_else(Field::none, |(column, _)| Field::words(&matrix.b[column])),
            );
            fields.push(second.map_or_else(Field::none, |(_, value)| shown(value)));
            let back = first.and_then(|(column, _)| theirs.get(column)?.first());
            let mutual = back.is_some_and(|&(back, _)| back == row);
            fields.push(Field::words(if mutual { "yes" } else { "no" }));
            fields
        })
        .collect();
    let (nearest, label) = (format!("nearest from {other}"), measure.label());
    let mut columns = vec![
        Column::Words(own),
        Column::Words(&nearest),
        Column::Numbers(&label),
    ];
    if with_scores {
        columns.push(Column::Numbers(measure.secondary_name()));
    }
    columns.extend([
        Column::Words("second"),
        Column::Numbers(&label),
        Column::Words("mutual"),
    ]);
    html! {
        div {
            (table(&format!("Nearest neighbours of {own}"), &columns, &rows))
            (omitted_note(ours.len()))
        }
    }
}

/// If only yes and no are known, there is no nearest participant, only a number of near ones.
fn within(
    matrix: &Matrix,
    threshold: ThresholdSide,
    one_cohort: bool,
    [own, other]: [&str; 2],
) -> Markup {
    // In the mean over stimuli, two participants have several pairs.
    let single = matrix.averaged == 0;
    let rows: Vec<Vec<Field>> = (0..matrix.rows().min(MAX_ROWS))
        .map(|row| {
            let mut near: Vec<(usize, u32, u32)> = (0..matrix.columns())
                .filter(|&column| !(one_cohort && matrix.a[row] == matrix.b[column]))
                .filter_map(|column| {
                    let pairs = matrix.count(row, column);
                    Some((column, count_within(matrix.get(row, column)?, pairs), pairs))
                })
                .collect();
            let total = |pick: fn(&(usize, u32, u32)) -> u32| {
                near.iter().map(|found| u64::from(pick(found))).sum::<u64>()
            };
            let (within, pairs) = (total(|found| found.1), total(|found| found.2));
            near.retain(|&(_, within, _)| within > 0);
            // Those most often within the threshold come first.
            near.sort_by_key(|&(_, within, pairs)| std::cmp::Reverse((within, u32::MAX - pairs)));
            let mut names: Vec<String> = near
                .iter()
                .take(6)
                .map(|&(column, within, pairs)| match single {
                    true => matrix.b[column].clone(),
                    false => format!("{} ({within} of {pairs})", matrix.b[column]),
                })
                .collect();
            if near.len() > names.len() {
                names.push("…".into());
            }
            let fraction = within as f64 / pairs.max(1) as f64;
            vec![
                Field::words(&matrix.a[row]),
                Field::number(numbers::count(within), within as f64),
                Field::number(numbers::count(pairs), pairs as f64),
                Field::number(
                    format!("{} %", numbers::fixed(fraction * 100.0, 0)),
                    fraction,
                ),
                Field::words(names.join(", ")),
            ]
        })
        .collect();
    let who = format!("with these of {other}");
    let columns = [
        Column::Words(own),
        Column::Numbers(threshold.heading()),
        Column::Numbers("of"),
        Column::Numbers("percentage"),
        Column::Words(&who),
    ];
    html! {
        div class="within" {
            (table(&format!("{own}: how many pairs {}", threshold.verb_for(2)), &columns, &rows))
            (omitted_note(matrix.rows()))
        }
    }
}

/// The number of pairs within the threshold, from the mean of their ones and zeros.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and the number of pairs
fn count_within(mean: f64, pairs: u32) -> u32 {
    (mean * f64::from(pairs)).round() as u32
}

fn omitted_note(rows: usize) -> Markup {
    html! {
        @if rows > MAX_ROWS {
            p class="note" { "The first " (numbers::count(MAX_ROWS as u64)) " of " (numbers::count(rows as u64)) " are listed." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::matrix::PairValue;

    fn matrix(cells: &[(&str, &str, f64)]) -> Matrix {
        Matrix::new(cells.iter().map(|&(a, b, value)| PairValue {
            a,
            b,
            value: Some(value),
            secondary: None,
        }))
        .unwrap()
    }

    #[test]
    fn the_two_nearest_are_in_order_and_ties_by_index() {
        let matrix = matrix(&[
            ("p", "x", 0.2),
            ("p", "y", 0.9),
            ("p", "z", 0.9),
            ("q", "y", 0.1),
        ]);
        assert_eq!(
            nearest(&matrix, 0, ScoreKind::Similarity, false),
            [(1, 0.9), (2, 0.9)]
        );
        assert_eq!(
            nearest(&matrix, 0, ScoreKind::Distance, false),
            [(0, 0.2), (1, 0.9)]
        );
        assert_eq!(
            nearest(&matrix, 1, ScoreKind::Similarity, false),
            [(1, 0.1)],
            "what was not compared is no neighbour"
        );
    }

    #[test]
    fn a_participant_is_not_its_own_neighbour() {
        let matrix = matrix(&[
            ("p", "p", 1.0),
            ("p", "q", 0.4),
            ("q", "p", 0.4),
            ("q", "q", 1.0),
        ]);
        assert_eq!(nearest(&matrix, 0, ScoreKind::Similarity, true), [(1, 0.4)]);
    }
}
