//! Who is most like whom.

use super::matrix::{Alike, Matrix, Quantity};
use super::numbers;
use super::table::{Column, Field, table};
use maud::{Markup, html};

/// The most rows of a table; a browser sorts as many without a pause.
const MAX_ROWS: usize = 2000;

/// The two most alike of one line, the nearest first. A line that is compared with itself is not its own neighbour.
pub(crate) fn nearest(
    matrix: &Matrix,
    row: usize,
    alike: Alike,
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
        let closer = |other: f64| match alike {
            Alike::Smaller => value < other,
            Alike::Greater => value > other,
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

/// The tables of both sides, or why there are none.
pub(crate) fn tables(matrix: &Matrix, quantity: Quantity) -> Markup {
    let Some(alike) = quantity.alike() else {
        return html! {
            p class="note" { "There is no table of nearest neighbours: the file does not say whether small or large scores mean alike. A result file in JSON does." }
        };
    };
    let turned = matrix.transposed();
    if quantity == Quantity::Within {
        return html! {
            div class="below" {
                (within(matrix, ["A", "B"]))
                (within(&turned, ["B", "A"]))
            }
        };
    }
    let one_cohort = matrix.within_one_cohort(quantity).is_ok();
    let finder = |matrix: &Matrix| -> Vec<Vec<(usize, f64)>> {
        (0..matrix.rows())
            .map(|row| nearest(matrix, row, alike, one_cohort))
            .collect()
    };
    let (ours, theirs) = (finder(matrix), finder(&turned));
    html! {
        div class="below" {
            (of_side(matrix, quantity, &ours, &theirs, ["A", "B"]))
            @if !one_cohort {
                (of_side(&turned, quantity, &theirs, &ours, ["B", "A"]))
            }
        }
    }
}

fn of_side(
    matrix: &Matrix,
    quantity: Quantity,
    ours: &[Vec<(usize, f64)>],
    theirs: &[Vec<(usize, f64)>],
    [own, other]: [&str; 2],
) -> Markup {
    let decimals = numbers::decimals(matrix.known());
    let shown = |value: f64| Field::number(numbers::fixed(value, decimals), value);
    let with_scores = matrix.has_scores();
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
                let score = first.and_then(|(column, _)| matrix.score(row, column));
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
    let nearest = format!("nearest in {other}");
    let mut columns = vec![
        Column::Words(own),
        Column::Words(&nearest),
        Column::Numbers(quantity.name()),
    ];
    if with_scores {
        columns.push(Column::Numbers("score"));
    }
    columns.extend([
        Column::Words("second"),
        Column::Numbers(quantity.name()),
        Column::Words("mutual"),
    ]);
    html! {
        div {
            (table(&format!("Nearest neighbours of {own}"), &columns, &rows))
            (left_out(ours.len()))
        }
    }
}

/// Where only yes and no are known there is no nearest; there is how many are near.
fn within(matrix: &Matrix, [own, other]: [&str; 2]) -> Markup {
    let rows: Vec<Vec<Field>> = (0..matrix.rows().min(MAX_ROWS))
        .map(|row| {
            let known: Vec<(usize, f64)> = (0..matrix.columns())
                .filter_map(|column| Some((column, matrix.get(row, column)?)))
                .collect();
            let near: Vec<usize> = known
                .iter()
                .filter(|(_, value)| *value == 1.0)
                .map(|(column, _)| *column)
                .collect();
            let mut names: Vec<String> = near
                .iter()
                .take(6)
                .map(|&column| matrix.b[column].clone())
                .collect();
            if near.len() > names.len() {
                names.push("…".into());
            }
            let share = near.len() as f64 / known.len().max(1) as f64;
            vec![
                Field::words(&matrix.a[row]),
                Field::number(numbers::count(near.len() as u64), near.len() as f64),
                Field::number(numbers::count(known.len() as u64), known.len() as f64),
                Field::number(format!("{} %", numbers::fixed(share * 100.0, 0)), share),
                Field::words(names.join(", ")),
            ]
        })
        .collect();
    let who = format!("who, in {other}");
    // In a mean over stimuli some are within for one and not for another.
    let within = match matrix.known().all(|value| value.fract() == 0.0) {
        true => "within",
        false => "within for every stimulus",
    };
    let columns = [
        Column::Words(own),
        Column::Numbers(within),
        Column::Numbers("of"),
        Column::Numbers("share"),
        Column::Words(&who),
    ];
    html! {
        div {
            (table(&format!("{own}: how many are within the threshold"), &columns, &rows))
            (left_out(matrix.rows()))
        }
    }
}

fn left_out(rows: usize) -> Markup {
    html! {
        @if rows > MAX_ROWS {
            p class="note" { "The first " (numbers::count(MAX_ROWS as u64)) " of " (numbers::count(rows as u64)) " are listed." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::matrix::Cell;

    fn matrix(cells: &[(&str, &str, f64)]) -> Matrix {
        Matrix::new(cells.iter().map(|&(a, b, value)| Cell {
            a,
            b,
            value,
            score: value,
        }))
        .unwrap()
    }

    #[test]
    fn the_two_nearest_come_in_order_and_ties_by_place() {
        let matrix = matrix(&[
            ("p", "x", 0.2),
            ("p", "y", 0.9),
            ("p", "z", 0.9),
            ("q", "y", 0.1),
        ]);
        assert_eq!(
            nearest(&matrix, 0, Alike::Greater, false),
            [(1, 0.9), (2, 0.9)]
        );
        assert_eq!(
            nearest(&matrix, 0, Alike::Smaller, false),
            [(0, 0.2), (1, 0.9)]
        );
        assert_eq!(
            nearest(&matrix, 1, Alike::Greater, false),
            [(1, 0.1)],
            "what was not compared is no neighbour"
        );
    }

    #[test]
    fn nobody_is_their_own_neighbour() {
        let matrix = matrix(&[
            ("p", "p", 1.0),
            ("p", "q", 0.4),
            ("q", "p", 0.4),
            ("q", "q", 1.0),
        ]);
        assert_eq!(nearest(&matrix, 0, Alike::Greater, true), [(1, 0.4)]);
    }
}
