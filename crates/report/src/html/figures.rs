//! The figures and tables of each view.

use super::encoded::{base64, json_in_script};
use super::heat_map::HeatMap;
use super::histogram::{self, Spread};
use super::matrix::{Alike, Matrix, Quantity};
use super::table::{Column, Field, folded, table};
use super::view::{MAX_VIEWS, View};
use super::{Report, neighbours, numbers, scatter};
use maud::{Markup, PreEscaped, html};
use std::io;

/// The most cells that are written out as a table; beyond, a table of the lines says what the figure shows.
const MAX_TABLE_CELLS: usize = 2500;

/// The most cells whose scores are put into the page beside the similarities.
const MAX_SCORES: usize = 500_000;

/// All of one view.
pub(crate) fn of_view(report: &Report<'_>, view: &View, number: usize) -> io::Result<Markup> {
    let quantity = report.views.quantity;
    let id = format!("view-{number}");
    let spread = histogram::figure(
        &view.values,
        quantity,
        report.scale_of(view),
        &format!("{id}-spread"),
    );
    let figures = match &view.matrix {
        None => html! {
            (spread)
            p class="note" { "There is no heat map: the pairs are spread over so many ids that it would have more lines or cells than can be drawn." }
        },
        Some(matrix) => {
            let map = HeatMap::new(matrix, quantity, report.scale_of(view));
            let drawing = map.svg(&id, &format!("Heat map: {}", view.title))?;
            html! {
                div class="beside" {
                    figure class="heat" {
                        h3 { "Heat map" }
                        div class="scroll" tabindex="0" role="region" aria-label="Heat map" {
                            (drawing)
                        }
                        script type="application/json" { (PreEscaped(data(&map))) }
                    }
                    (spread)
                }
                p { (explained(quantity, matrix, view, &map)) }
                (matrix_as_table(&map))
                h3 { "Nearest neighbours" }
                (neighbours::tables(matrix, quantity))
                h3 { "Map" }
                (scatter::figure(matrix, quantity, &format!("{id}-map")))
            }
        }
    };
    Ok(html! {
        section class="view" id=(id) {
            h2 { (view.title) }
            (figures)
        }
    })
}

fn explained(quantity: Quantity, matrix: &Matrix, view: &View, map: &HeatMap<'_>) -> String {
    let mut text = String::from(match quantity {
        Quantity::Similarity => "Similarity runs from 0 to 1, and 1 is most alike.",
        Quantity::Score(Some(Alike::Smaller)) => "A small score is a short distance: most alike.",
        Quantity::Score(Some(Alike::Greater)) => "A great score is most alike.",
        Quantity::Score(None) => "The file does not say whether small or large scores mean alike.",
        Quantity::Within => {
            "Of each pair only one bit is known: whether it is within the threshold."
        }
    });
    if view.mean {
        text.push_str(" A cell is the mean over the stimuli that both looked at.");
    }
    if view.one_cohort {
        text.push_str(" One cohort was compared with itself: the diagonal is left out of the scale and of all that is counted.");
    }
    text.push_str(match (map.is_by_means(), view.one_cohort) {
        (true, _) => " A side with too many lines to cluster is ordered by their means.",
        (false, true) => " Lines are ordered by average-linkage clustering of the dissimilarities.",
        (false, false) => {
            " Lines are ordered by average-linkage clustering: two lines are close when their numbers are."
        }
    });
    if matrix.missing > 0 {
        text.push_str(&format!(
            " Hatched: not compared ({}).",
            numbers::counted(matrix.missing, "pair")
        ));
    }
    if matrix.averaged > 0 && !view.mean {
        text.push_str(&format!(
            " Several pairs of the file have the same ids; their mean is shown ({}).",
            numbers::counted(matrix.averaged, "cell")
        ));
    }
    text
}

/// The numbers for the pointer and the arrow keys, in the order in which they are drawn.
fn data(map: &HeatMap<'_>) -> String {
    let layout = map.layout();
    let matrix = map.matrix;
    let packed = |number: &dyn Fn(usize, usize) -> Option<f64>| {
        let mut bytes = Vec::with_capacity(matrix.rows() * matrix.columns() * 4);
        for &row in &map.rows.order {
            for &column in &map.columns.order {
                #[allow(clippy::cast_possible_truncation)] // more digits are not shown
                let value = number(row, column).unwrap_or(f64::NAN) as f32;
                bytes.extend(value.to_le_bytes());
            }
        }
        base64(&bytes)
    };
    let scores = matrix.has_scores() && matrix.rows() * matrix.columns() <= MAX_SCORES;
    json_in_script(&serde_json::json!({
        "a": map.rows.order.iter().map(|&row| &matrix.a[row]).collect::<Vec<_>>(),
        "b": map.columns.order.iter().map(|&column| &matrix.b[column]).collect::<Vec<_>>(),
        "name": map.quantity.name(),
        "bits": map.quantity == Quantity::Within,
        "left": layout.left, "top": layout.top, "cell": layout.cell,
        "values": packed(&|row, column| matrix.get(row, column)),
        "scores": scores.then(|| packed(&|row, column| matrix.score(row, column))),
    }))
}

fn matrix_as_table(map: &HeatMap<'_>) -> Markup {
    let matrix = map.matrix;
    let decimals = numbers::decimals(matrix.known());
    let field = |value: Option<f64>| match value {
        None => Field::none(),
        Some(value) if map.quantity == Quantity::Within && value.fract() == 0.0 => {
            Field::number(if value == 1.0 { "yes" } else { "no" }.into(), value)
        }
        Some(value) => Field::number(numbers::fixed(value, decimals), value),
    };
    if matrix.rows() * matrix.columns() <= MAX_TABLE_CELLS {
        let mut columns = vec![Column::Words("A \\ B")];
        columns.extend(
            map.columns
                .order
                .iter()
                .map(|&column| Column::Numbers(&matrix.b[column])),
        );
        let line = |&row: &usize| {
            let mut fields = vec![Field::words(&matrix.a[row])];
            fields.extend(
                map.columns
                    .order
                    .iter()
                    .map(|&column| field(matrix.get(row, column))),
            );
            fields
        };
        let rows: Vec<Vec<Field>> = map.rows.order.iter().map(line).collect();
        return folded(
            "Heat map as a table",
            &table(
                &format!("All numbers: {}", map.quantity.name()),
                &columns,
                &rows,
            ),
        );
    }
    let line = |&row: &usize| {
        let known: Vec<f64> = matrix
            .row(row)
            .iter()
            .copied()
            .filter(|value| !value.is_nan())
            .collect();
        let mut fields = vec![Field::words(&matrix.a[row])];
        let spread = Spread::of(&known);
        for number in [
            spread.as_ref().map(|s| s.mean),
            spread.as_ref().map(|s| s.least),
            spread.as_ref().map(|s| s.greatest),
        ] {
            fields.push(number.map_or_else(Field::none, |value| {
                Field::number(numbers::short(value), value)
            }));
        }
        fields
    };
    let rows: Vec<Vec<Field>> = map.rows.order.iter().take(2000).map(line).collect();
    let columns = [
        Column::Words("A"),
        Column::Numbers("mean"),
        Column::Numbers("least"),
        Column::Numbers("greatest"),
    ];
    html! {
        (folded("Heat map as a table", &table("Each row of the heat map, summed up; the result file has every number", &columns, &rows)))
    }
}

/// One line for each stimulus, drawn or not.
pub(crate) fn by_stimulus(report: &Report<'_>) -> Markup {
    let views: Vec<&View> = report
        .views
        .views
        .iter()
        .filter(|view| !view.mean)
        .collect();
    let rows: Vec<Vec<Field>> = views
        .iter()
        .map(|view| {
            let mut fields = vec![
                Field::words(&view.title),
                Field::number(
                    numbers::count(view.values.len() as u64),
                    view.values.len() as f64,
                ),
            ];
            let spread = Spread::of(&view.values);
            let of = |pick: fn(&Spread) -> Option<f64>| {
                let number = spread.as_ref().and_then(pick);
                number.map_or_else(Field::none, |value| {
                    Field::number(numbers::fixed(value, 3), value)
                })
            };
            fields.extend([
                of(|s| Some(s.mean)),
                of(|s| s.deviation),
                of(|s| Some(s.least)),
                of(|s| Some(s.greatest)),
            ]);
            fields
        })
        .collect();
    let columns = [
        Column::Words("stimulus"),
        Column::Numbers("pairs"),
        Column::Numbers("mean"),
        Column::Numbers("standard deviation"),
        Column::Numbers("least"),
        Column::Numbers("greatest"),
    ];
    html! {
        @if views.len() > 1 {
            section {
                h2 { "By stimulus" }
                (table(&format!("Spread of {} by stimulus", report.views.quantity.name()), &columns, &rows))
                @if report.views.left_out > 0 {
                    p class="note" {
                        "The first " (MAX_VIEWS) " stimuli are shown; " (report.views.left_out) " more are in the mean alone. --stimulus NAME shows others."
                    }
                }
            }
        }
    }
}
