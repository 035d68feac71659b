//! Group means and confusion matrices.

use super::heat_map::{HeatMap, HeatMapTile};
use super::kind;
use crate::answers::{confidence, group_means_of, p_value, percent};
use crate::html::matrix::range;
use crate::html::numbers;
use crate::html::scale::Scale;
use crate::html::table::{Column, Field, table};
use maud::{Markup, html};
use veilpath_metrics::MeasureKind;
use veilpath_protocol::{GroupMeans, NearestRate, Outcome};

/// A matrix of group means as tiles and as a table.
pub(super) fn means(
    answer: &GroupMeans,
    outcome: &Outcome,
    sides: &[String; 2],
    id: &str,
) -> Markup {
    let means = answer.means.iter().flatten().flatten().copied();
    let decimals = numbers::spread_decimals(means.clone());
    let shown = |number: f64| numbers::aligned(number, decimals);
    let tile = |row: usize, column: usize| {
        let value = answer.means[row][column]?;
        Some(HeatMapTile {
            value,
            shown: shown(value),
            below: crate::units::counted(answer.counts[row][column], "pair"),
        })
    };
    let heat_map = HeatMap {
        title: group_means_of(answer, outcome),
        axes: sides.clone(),
        rows: &answer.rows,
        columns: &answer.columns,
        scale: Scale::of_kind(kind(outcome, &answer.measure), range(means)),
        tile: &tile,
    };
    let corner = match sides {
        [first, second] if first != second => format!("{first} \\ {second}"),
        _ => "group".into(),
    };
    let mut columns = vec![Column::Words(&corner)];
    columns.extend(answer.columns.iter().map(|name| Column::Numbers(name)));
    let field = |row: usize, column: usize| {
        let Some(mean) = answer.means[row][column] else {
            return Field::none();
        };
        let interval = answer.intervals.get(row).and_then(|row| row[column]);
        let interval = interval.map_or_else(String::new, |interval| {
            format!(" [{}, {}]", shown(interval.low), shown(interval.high))
        });
        let count = numbers::count(answer.counts[row][column]);
        Field::number(format!("{}{interval} ({count})", shown(mean)), mean)
    };
    let rows: Vec<Vec<Field>> = answer
        .rows
        .iter()
        .enumerate()
        .map(|(row, name)| {
            let fields = (0..answer.columns.len()).map(|column| field(row, column));
            std::iter::once(Field::words(name)).chain(fields).collect()
        })
        .collect();
    let level = answer.intervals.iter().flatten().flatten().next();
    let caption = match level {
        Some(interval) => format!(
            "Mean, {} confidence interval, and in brackets the number of pairs of participants",
            percent(interval.level)
        ),
        None => "Mean, and in brackets the number of pairs of participants".into(),
    };
    html! {
        figure {
            h3 { (heat_map.title) }
            (heat_map.drawing(id))
            (table(&caption, &columns, &rows))
        }
    }
}

/// How often the nearest scanpaths have the correct group, with the confusion matrix if it is known.
#[allow(clippy::cast_precision_loss)] // counts are far below 2⁵³
pub(super) fn rate(answer: &NearestRate, id: &str) -> Markup {
    let fraction = answer.correct as f64 / answer.scanpaths.max(1) as f64;
    let of_row = |row: usize| answer.confusion[row].iter().sum::<u64>().max(1) as f64;
    let tile = |row: usize, column: usize| {
        let value = answer.confusion[row][column] as f64 / of_row(row);
        Some(HeatMapTile {
            value,
            shown: numbers::count(answer.confusion[row][column]),
            below: percent(value),
        })
    };
    let heat_map = HeatMap {
        title: "Groups, and the groups of their nearest scanpaths".into(),
        axes: ["own group".into(), "group of the nearest".into()],
        rows: if answer.confusion.is_empty() {
            &[]
        } else {
            &answer.groups
        },
        columns: &answer.groups,
        scale: Scale::of_kind(MeasureKind::Fraction, Some((0.0, 1.0))),
        tile: &tile,
    };
    let mut columns = vec![Column::Words("own group")];
    columns.extend(answer.groups.iter().map(|name| Column::Numbers(name)));
    let rows: Vec<Vec<Field>> = answer
        .groups
        .iter()
        .zip(&answer.confusion)
        .map(|(name, counts)| {
            let counts = counts.iter();
            let counts = counts.map(|&count| Field::number(numbers::count(count), count as f64));
            std::iter::once(Field::words(name)).chain(counts).collect()
        })
        .collect();
    html! {
        figure {
            h3 { "Classification by the " (answer.k) " nearest scanpaths, by " (answer.measure) }
            p {
                strong { (percent(fraction)) }
                " of " (crate::units::counted(answer.scanpaths, "scanpath")) " have the group of most of their nearest scanpaths ("
                (numbers::count(answer.correct)) " correct"
                @if let Some(interval) = &answer.interval { "; " (confidence(interval, percent)) }
                "). Always naming the most frequent group would be correct for " (percent(answer.chance)) "."
                @if let Some(p) = answer.p_value {
                    " Permutation test: p = " (p_value(p))
                    @if let Some(permutations) = answer.permutations { ", " (crate::units::counted(permutations, "permutation")) }
                    @if let Some(seed) = answer.seed { ", seed " (seed) }
                    "."
                }
            }
            @if !answer.confusion.is_empty() {
                (heat_map.drawing(id))
                (table("Scanpaths of each group, by the group of most of their nearest", &columns, &rows))
            }
        }
    }
}
