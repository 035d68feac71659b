//! The figures and tables of each view.

use super::cut::cut;
use super::encoded::{base64, json_in_script};
use super::heat_map::HeatMap;
use super::histogram::{self, Spread};
use super::matrix::Matrix;
use super::table::{Column, Field, folded, table};
use super::view::View;
use super::{Report, neighbours, numbers, scatter};
use maud::{Markup, PreEscaped, html};
use std::io;
use veilpath_metrics::MeasureKind;
use veilpath_metrics::text::printable;

/// The most tiles that are written out as a table. Above this, a table of the rows and columns summarises the figure.
const MAX_TABLE_TILES: usize = 2500;

/// The most tiles that get a second number on hover.
const MAX_SECONDARY: usize = 500_000;

pub(crate) fn of_view(report: &Report<'_>, view: &View<'_>, number: usize) -> io::Result<Markup> {
    let measure = view.measure;
    let id = format!("view-{number}");
    let names = &report.names;
    let spread = histogram::figure(view, report.scale_of(view), &format!("{id}-spread"));
    let figures = match &view.matrix {
        None => html! {
            (spread)
            p class="note" { "There is no heat map: " (no_heat_map(view)) "." }
        },
        Some(matrix) => {
            let map = HeatMap::new(matrix, measure, report.scale_of(view), names);
            let title = format!("Heat map: {}", report.heading(view));
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
                p { (caption(matrix, view, &map)) }
                (matrix_as_table(&map))
                h3 { @if measure.is_bit() { "Pairs " (measure.name) } @else { "Nearest neighbours" } }
                (neighbours::tables(matrix, measure, view.one_cohort, names))
                h3 { "Map" }
                (scatter::figure(matrix, measure, names, &format!("{id}-map")))
            }
        }
    };
    Ok(html! {
        section class="view" id=(id) data-measure=(view.measure_index) data-part=(view.index) {
            h2 { (report.heading(view)) }
            (figures)
        }
    })
}

/// The reason a view has no heat map.
pub(crate) fn no_heat_map(view: &View<'_>) -> &'static str {
    if view.values.is_empty() {
        return "no pair has a number";
    }
    match view.is_omitted {
        true => {
            "the file has too many pairs to draw all of its measures. A report of this measure alone can show it"
        }
        false => {
            "the pairs are spread over so many ids that it would have too many rows, columns or tiles"
        }
    }
}

fn caption(matrix: &Matrix, view: &View<'_>, map: &HeatMap<'_>) -> String {
    let measure = view.measure;
    let mut text = match measure.kind {
        MeasureKind::Fraction => {
            format!(
                "The {} runs from 0 to 1, and 1 is most alike.",
                measure.name
            )
        }
        MeasureKind::Distance => format!("A smaller {} means more alike.", measure.name),
        MeasureKind::Similarity => format!("A larger {} means more alike.", measure.name),
        MeasureKind::Number if !measure.is_from_csv => format!(
            "{} does not say which of two pairs is more alike; bright is large.",
            measure.name
        ),
        MeasureKind::Number => format!(
            "The file does not say whether a small or a large {} means alike.",
            measure.name
        ),
        MeasureKind::Bit => {
            format!(
                "Only a yes or no is known for each pair: whether it {}.",
                measure.threshold.verb()
            )
        }
    };
    if view.mean {
        match measure.is_bit() {
            true => text.push_str(&format!(
                " A heat-map tile shows the fraction of stimuli, among those that both looked at, for which the pair {}.",
                measure.threshold.verb()
            )),
            false => text.push_str(" A heat-map tile shows the mean over the stimuli that both looked at."),
        }
    }
    if view.counts_both_orders() {
        text.push_str(&format!(" One cohort was compared with itself, and {} depends on the order of a pair: both orders count, and the diagonal does not.", measure.name));
        if measure.is_antisymmetric() {
            text.push_str(" There is no mean over all pairs: swapping the two scanpaths of a pair changes the sign, so the mean would always be 0.");
        }
    } else if view.one_cohort {
        text.push_str(" One cohort was compared with itself: each pair of two scanpaths counts once, and the diagonal does not count.");
    }
    if view.one_cohort && map.exceeds_scale() {
        text.push_str(
            " Numbers beyond the colour scale, such as those on the diagonal, are drawn in the colour of the nearer end.",
        );
    }
    text.push_str(match (map.is_by_means(), view.one_cohort) {
        (true, _) => " If there are too many rows or columns to cluster, they are ordered by their means.",
        (false, true) => " Rows and columns are ordered by average-linkage clustering of the dissimilarities.",
        (false, false) => {
            " Rows and columns are ordered by average-linkage clustering: those with similar profiles are next to each other."
        }
    });
    let [missing, undefined] = view.hatched(matrix);
    let hatched = [(missing, "not compared"), (undefined, "undefined")];
    let hatched = hatched.into_iter().filter(|&(count, _)| count > 0);
    let hatched: Vec<String> = hatched
        .map(|(count, what)| format!("{what} ({})", numbers::counted(count, view.noun())))
        .collect();
    if !hatched.is_empty() {
        text.push_str(&format!(" Hatched: {}.", hatched.join(", ")));
    }
    if matrix.averaged > 0 && !view.mean {
        text.push_str(&format!(
            " Several pairs of the file have the same ids; their mean is shown ({}).",
            numbers::counted(matrix.averaged, "tile")
        ));
    }
    text
}

/// The numbers for hovering and the arrow keys, in drawing order.
fn data(map: &HeatMap<'_>) -> String {
    let matrix = map.matrix;
    let packed = |number: &dyn Fn(usize, usize) -> Option<f64>| {
        let mut bytes = Vec::with_capacity(matrix.rows() * matrix.columns() * 4);
        for &row in &map.rows.order {
            for &column in &map.columns.order {
                // The script uses these values to tell pairs that were not compared from undefined numbers.
                let none = match matrix.is_undefined(row, column) {
                    true => f64::INFINITY,
                    false => f64::NAN,
                };
                #[allow(clippy::cast_possible_truncation)] // more digits are not shown
                let value = number(row, column).unwrap_or(none) as f32;
                bytes.extend(value.to_le_bytes());
            }
        }
        base64(&bytes)
    };
    let with_secondary =
        matrix.has_secondary() && matrix.rows() * matrix.columns() <= MAX_SECONDARY;
    let is_yes_or_no = map.is_yes_or_no();
    json_in_script(&serde_json::json!({
        "a": map.rows.order.iter().map(|&row| printable(&matrix.a[row])).collect::<Vec<_>>(),
        "b": map.columns.order.iter().map(|&column| printable(&matrix.b[column])).collect::<Vec<_>>(),
        "sides": map.names.each_ref().map(|name| printable(name)),
        "name": map.measure.name,
        "unit": map.measure.unit,
        "bits": is_yes_or_no.then(|| {
            let threshold = map.measure.threshold;
            [threshold.negated_verb(), threshold.verb()]
        }),
        "percent": map.measure.is_bit() && !is_yes_or_no,
        "values": packed(&|row, column| matrix.get(row, column)),
        "beside": with_secondary.then(|| packed(&|row, column| matrix.secondary(row, column))),
        "beside_name": map.measure.secondary_name(),
    }))
}

fn matrix_as_table(map: &HeatMap<'_>) -> Markup {
    let matrix = map.matrix;
    let decimals = numbers::decimals(matrix.numbers());
    let is_yes_or_no = map.is_yes_or_no();
    let field = |row: usize, column: usize| match matrix.get(row, column) {
        None if matrix.is_undefined(row, column) => Field::words("undefined"),
        None => Field::none(),
        Some(value) if is_yes_or_no => {
            Field::number(if value == 1.0 { "yes" } else { "no" }.into(), value)
        }
        Some(value) if map.measure.is_bit() => {
            Field::number(format!("{} %", numbers::fixed(value * 100.0, 0)), value)
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
        let fields = |&row: &usize| {
            let mut fields = vec![Field::words(&matrix.a[row])];
            fields.extend(map.columns.order.iter().map(|&column| field(row, column)));
            fields
        };
        let rows: Vec<Vec<Field>> = map.rows.order.iter().map(fields).collect();
        return folded(
            "Heat map as a table",
            &table(
                &format!("All numbers: {}", map.measure.label()),
                &columns,
                &rows,
            ),
        );
    }
    let fields = |&row: &usize| {
        let numbers: Vec<f64> = matrix
            .row(row)
            .iter()
            .copied()
            .filter(|value| !value.is_nan())
            .collect();
        let mut fields = vec![Field::words(&matrix.a[row])];
        let spread = Spread::of(&numbers);
        for number in [
            spread.as_ref().and_then(|s| s.mean),
            spread.as_ref().map(|s| s.smallest),
            spread.as_ref().map(|s| s.largest),
        ] {
            fields.push(number.map_or_else(Field::none, |value| {
                Field::number(numbers::short(value), value)
            }));
        }
        fields
    };
    let rows: Vec<Vec<Field>> = map.rows.order.iter().take(2000).map(fields).collect();
    let first = cut(&map.names[0]);
    let columns = [
        Column::Words(&first),
        Column::Numbers("mean"),
        Column::Numbers("least"),
        Column::Numbers("greatest"),
    ];
    html! {
        (folded("Heat map as a table", &table("Summary of each row of the heat map; the result file has every number", &columns, &rows)))
    }
}
