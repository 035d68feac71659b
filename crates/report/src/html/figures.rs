//! The figures and tables of each view.

use super::encoded::{base64, json_in_script};
use super::heat_map::{HeatMap, cut};
use super::histogram::{self, Spread};
use super::matrix::{Matrix, Quantity};
use super::table::{Column, Field, folded, table};
use super::view::{MAX_VIEWS, View};
use super::{Report, neighbours, numbers, scatter};
use maud::{Markup, PreEscaped, html};
use std::io;
use veilpath_metrics::text::printable;
use veilpath_protocol::OutputKind;

/// The most tiles that are written out as a table; beyond, a table of the lines says what the figure shows.
const MAX_TABLE_TILES: usize = 2500;

/// The most tiles that have a second number for the pointer.
const MAX_BESIDE: usize = 500_000;

/// All of one view.
pub(crate) fn of_view(report: &Report<'_>, view: &View, number: usize) -> io::Result<Markup> {
    let quantity = report.views.quantity;
    let id = format!("view-{number}");
    let names = &report.names;
    let spread = histogram::figure(
        view,
        quantity,
        report.scale_of(view),
        &format!("{id}-spread"),
    );
    let figures = match &view.matrix {
        None => html! {
            (spread)
            p class="note" { "There is no heat map: the pairs are spread over so many ids that it would have more lines or tiles than can be drawn." }
        },
        Some(matrix) => {
            let map = HeatMap::new(matrix, quantity, report.scale_of(view), names);
            let title = format!("Heat map: {}", view.title);
            let (drawing, narrow) = (map.svg(&id, &title)?, map.narrow_svg(&id, &title));
            html! {
                div class="beside" {
                    figure class="heat" {
                        h3 { "Heat map" }
                        div class="scroll wide" tabindex="0" role="region" aria-label="Heat map" {
                            (drawing)
                        }
                        div class="scroll narrow" tabindex="0" role="region" aria-label="Heat map" {
                            (narrow)
                        }
                        script type="application/json" { (PreEscaped(data(&map))) }
                    }
                    (spread)
                }
                p { (explained(quantity, matrix, view, &map)) }
                (matrix_as_table(&map))
                h3 { @if quantity.is_bit() { "Pairs " (quantity.name) } @else { "Nearest neighbours" } }
                (neighbours::tables(matrix, quantity, view.one_cohort, names))
                h3 { "Map" }
                (scatter::figure(matrix, quantity, names, &format!("{id}-map")))
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

fn explained(quantity: Quantity<'_>, matrix: &Matrix, view: &View, map: &HeatMap<'_>) -> String {
    let mut text = match quantity.kind {
        OutputKind::Fraction => {
            format!(
                "The {} runs from 0 to 1, and 1 is most alike.",
                quantity.name
            )
        }
        OutputKind::Distance => format!("A small {} means most alike.", quantity.name),
        OutputKind::Similarity => format!("A large {} means most alike.", quantity.name),
        OutputKind::Number => format!(
            "The file does not say whether a small or a large {} means alike.",
            quantity.name
        ),
        OutputKind::Bit => {
            format!(
                "Of each pair only one bit is known: whether it {}.",
                quantity.threshold.of_one()
            )
        }
    };
    if view.mean {
        match quantity.is_bit() {
            true => text.push_str(&format!(
                " A tile is the share of the stimuli that both looked at for which the pair {}.",
                quantity.threshold.of_one()
            )),
            false => text.push_str(" A tile is the mean over the stimuli that both looked at."),
        }
    }
    if view.one_cohort {
        text.push_str(" One cohort was compared with itself: each pair of two scanpaths counts once, and the diagonal does not count.");
    }
    text.push_str(match (map.is_by_means(), view.one_cohort) {
        (true, _) => " A side with too many lines to cluster is ordered by their means.",
        (false, true) => " Lines are ordered by average-linkage clustering of the dissimilarities.",
        (false, false) => {
            " Lines are ordered by average-linkage clustering: lines with similar profiles are next to each other."
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
            numbers::counted(matrix.averaged, "tile")
        ));
    }
    text
}

/// The numbers for the pointer and the arrow keys, in the order in which they are drawn.
fn data(map: &HeatMap<'_>) -> String {
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
    let beside = matrix.has_beside() && matrix.rows() * matrix.columns() <= MAX_BESIDE;
    json_in_script(&serde_json::json!({
        "a": map.rows.order.iter().map(|&row| printable(&matrix.a[row])).collect::<Vec<_>>(),
        "b": map.columns.order.iter().map(|&column| printable(&matrix.b[column])).collect::<Vec<_>>(),
        "sides": map.names.each_ref().map(|name| printable(name)),
        "name": map.quantity.name,
        "bits": map.quantity.is_bit().then(|| {
            let threshold = map.quantity.threshold;
            [threshold.not_of_one(), threshold.of_one()]
        }),
        "values": packed(&|row, column| matrix.get(row, column)),
        "beside": beside.then(|| packed(&|row, column| matrix.beside(row, column))),
        "beside_name": map.quantity.name_beside(),
    }))
}

fn matrix_as_table(map: &HeatMap<'_>) -> Markup {
    let matrix = map.matrix;
    let decimals = numbers::decimals(matrix.known());
    let field = |value: Option<f64>| match value {
        None => Field::none(),
        Some(value) if map.quantity.is_bit() && value.fract() == 0.0 => {
            Field::number(if value == 1.0 { "yes" } else { "no" }.into(), value)
        }
        Some(value) => Field::number(numbers::fixed(value, decimals), value),
    };
    if matrix.rows() * matrix.columns() <= MAX_TABLE_TILES {
        let corner = format!("{} \\ {}", cut(&map.names[0]), cut(&map.names[1]));
        let mut columns = vec![Column::Words(&corner)];
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
                &format!("All numbers: {}", map.quantity.name),
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
    let first = cut(&map.names[0]);
    let columns = [
        Column::Words(&first),
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
    let quantity = report.views.quantity;
    let decimals =
        numbers::spread_decimals(views.iter().flat_map(|view| view.values.iter().copied()));
    let rows = views
        .iter()
        .map(|view| stimulus_row(view, quantity, decimals));
    let rows: Vec<Vec<Field>> = rows.collect();
    let mut columns = vec![Column::Words("stimulus"), Column::Numbers("pairs")];
    let of_bits = [quantity.threshold.heading(), "share"];
    let names: &[&str] = match quantity.is_bit() {
        true => &of_bits,
        false => &["mean", "standard deviation", "least", "greatest"],
    };
    columns.extend(names.iter().map(|name| Column::Numbers(name)));
    let caption = match quantity.is_bit() {
        true => format!("Pairs {} by stimulus", quantity.name),
        false => format!("Spread of {} by stimulus", quantity.name),
    };
    html! {
        @if views.len() > 1 {
            section {
                h2 { "By stimulus" }
                (table(&caption, &columns, &rows))
                @if report.views.left_out > 0 {
                    p class="note" {
                        "The first " (MAX_VIEWS) " stimuli are shown; " (report.views.left_out) " more are in the mean only. A report can be made of them by name."
                    }
                }
            }
        }
    }
}

fn stimulus_row(view: &View, quantity: Quantity<'_>, decimals: Option<usize>) -> Vec<Field> {
    let pairs = view.values.len();
    let count = |number: usize| Field::number(numbers::count(number as u64), number as f64);
    let mut fields = vec![Field::words(&view.title), count(pairs)];
    let spread = Spread::of(&view.values);
    if quantity.is_bit() {
        let within = view.values.iter().filter(|&&value| value == 1.0).count();
        fields.push(count(within));
        fields.push(spread.map_or_else(Field::none, |spread| {
            let share = spread.mean;
            Field::number(format!("{} %", numbers::fixed(share * 100.0, 1)), share)
        }));
        return fields;
    }
    let of = |pick: fn(&Spread) -> Option<f64>| {
        let number = spread.as_ref().and_then(pick);
        number.map_or_else(Field::none, |value| {
            Field::number(numbers::aligned(value, decimals), value)
        })
    };
    fields.extend([
        of(|s| Some(s.mean)),
        of(|s| s.deviation),
        of(|s| Some(s.least)),
        of(|s| Some(s.greatest)),
    ]);
    fields
}

/// One line for each number of a pair, where there are more than a score with its similarity.
pub(crate) fn by_output(report: &Report<'_>) -> Markup {
    let outputs = report.file.outputs();
    let known = ["score", "similarity", "within"];
    if outputs
        .iter()
        .all(|output| known.contains(&output.name.as_str()))
    {
        return html! {};
    }
    let rows: Vec<Vec<Field>> = outputs
        .iter()
        .enumerate()
        .map(|(at, output)| {
            let values = report
                .file
                .rows()
                .filter_map(|row| row.values.get(at)?.number());
            let values: Vec<f64> = values.collect();
            let spread = Spread::of(&values);
            let count = values.len();
            let mut fields = vec![
                Field::words(&output.name),
                Field::number(numbers::count(count as u64), count as f64),
            ];
            let picks: [fn(&Spread) -> Option<f64>; 4] = [
                |s| Some(s.mean),
                |s| s.deviation,
                |s| Some(s.least),
                |s| Some(s.greatest),
            ];
            fields.extend(picks.map(|pick| {
                let found = spread.as_ref().and_then(|s| Some((pick(s)?, s.decimals)));
                found.map_or_else(Field::none, |(value, decimals)| {
                    Field::number(numbers::aligned(value, decimals), value)
                })
            }));
            fields
        })
        .collect();
    let columns = [
        Column::Words("number"),
        Column::Numbers("pairs"),
        Column::Numbers("mean"),
        Column::Numbers("standard deviation"),
        Column::Numbers("least"),
        Column::Numbers("greatest"),
    ];
    html! {
        section {
            h2 { "All numbers of a pair" }
            (table("Spread of each number over all pairs", &columns, &rows))
        }
    }
}
