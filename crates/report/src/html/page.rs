//! The page: what comes out first, then the figures, then how it came about.

use super::encoded::{base64, json_in_script, policy_hash};
use super::heat_map::HeatMap;
use super::histogram::{self, Spread};
use super::matrix::{Matrix, Quantity};
use super::table::{Column, Field, folded, table};
use super::view::{MAX_VIEWS, View};
use super::{Report, neighbours, numbers, plan, scanpaths, scatter};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::io;
use veilpath_protocol::{Cost, Revealed};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The most cells that are written out as a table; beyond, a table of the lines says what the figure shows.
const MAX_TABLE_CELLS: usize = 2500;

/// The most cells whose scores are put into the page beside the similarities.
const MAX_SCORES: usize = 500_000;

/// The whole page.
pub(crate) fn page(report: &Report<'_>) -> io::Result<Markup> {
    let views = &report.views.views;
    let mut drawn = Vec::with_capacity(views.len());
    for (number, view) in views.iter().enumerate() {
        drawn.push(section(report, view, number)?);
    }
    let policy = format!(
        "default-src 'none'; img-src data:; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        policy_hash(STYLE),
        policy_hash(SCRIPT)
    );
    let file = report.file;
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { "Scanpath comparison – " (report.options.source) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a class="skip" href="#figures" { "To the figures" }
                header {
                    div class="controls" {
                        button id="theme" type="button" { "Light or dark" }
                    }
                    h1 { "Scanpath comparison" }
                    p class="under" { (subtitle(report)) }
                    (tiles(report))
                }
                main {
                    div class="pair boxes" {
                        (computed(report))
                        (learned(file.revealed.as_deref()))
                    }
                    @if views.is_empty() {
                        p class="note" { "The file has no scores: this side did not get them, or nothing was compared." }
                    }
                    div id="figures" tabindex="-1" {
                        (selector(report))
                        @for markup in &drawn { (markup) }
                        (by_stimulus(report))
                    }
                    @if let Some(own) = &report.options.own {
                        (scanpaths::section(own, report.options.stimuli))
                    }
                    (cost(file.cost.as_ref(), file.rows.len()))
                }
                footer {
                    p { "Made by veilpath " (env!("CARGO_PKG_VERSION")) " from " (report.options.source) ". This file needs no network and sends nothing." }
                }
                div id="tip" role="status" aria-live="polite" hidden {}
                script { (PreEscaped(SCRIPT)) }
            }
        }
    })
}

fn subtitle(report: &Report<'_>) -> String {
    let file = report.file;
    let sides = format!(
        "{} of A with {} of B",
        numbers::counted(file.a.len(), "participant"),
        numbers::count(file.b.len() as u64)
    );
    let stimuli = match file.stimuli.len() {
        0 => String::new(),
        1 => ", 1 stimulus".into(),
        count => format!(", {} stimuli", numbers::count(count as u64)),
    };
    let metric = plan::metric_name(file.spec.as_ref())
        .map_or_else(String::new, |name| format!(", by {name}"));
    let engine = plan::engine_name(file.spec.as_ref())
        .map_or_else(String::new, |name| format!(", with the engine {name}"));
    format!("{sides}{stimuli}{metric}{engine}.")
}

fn tiles(report: &Report<'_>) -> Markup {
    let file = report.file;
    let values: Vec<f64> = file
        .rows
        .iter()
        .map(|row| report.views.quantity.value(row.answer))
        .collect();
    let mut tiles = vec![(
        numbers::count(file.rows.len() as u64),
        if file.rows.len() == 1 {
            "pair"
        } else {
            "pairs"
        }
        .to_string(),
    )];
    if let Some(spread) = Spread::of(&values) {
        let name = report.views.quantity.name();
        if report.views.quantity == Quantity::Within {
            tiles.push((
                format!("{} %", numbers::fixed(spread.mean * 100.0, 1)),
                name.to_string(),
            ));
        } else {
            tiles.push((numbers::short(spread.mean), format!("mean {name}")));
            tiles.push((
                format!(
                    "{} – {}",
                    numbers::short(spread.least),
                    numbers::short(spread.greatest)
                ),
                format!("range of {name}"),
            ));
        }
    }
    if let Some(cost) = &file.cost {
        tiles.push((numbers::time(cost.seconds), "time".into()));
        let bytes = cost.bytes_sent.saturating_add(cost.bytes_received);
        tiles.push((numbers::bytes(bytes), "between the sides".into()));
    }
    html! {
        dl class="tiles" {
            @for (number, name) in &tiles {
                div { dt { (name) } dd { (number) } }
            }
        }
    }
}

fn computed(report: &Report<'_>) -> Markup {
    html! {
        section class="box" aria-labelledby="computed" {
            h2 id="computed" { "What was computed" }
            @match &report.file.spec {
                Some(spec) => {
                    dl class="plan" {
                        @for (name, words) in plan::in_words(spec) {
                            dt { (name) }
                            dd { (words) }
                        }
                    }
                }
                None => p { "A CSV file has the scores alone: metric, engine and encoding are not in it. `veilpath compare … -o scores.json` keeps them." }
            }
        }
    }
}

fn learned(revealed: Option<&[Revealed]>) -> Markup {
    let mut sides: Vec<(&str, Vec<&str>)> = Vec::new();
    for item in revealed.unwrap_or_default() {
        match sides.iter_mut().find(|(side, _)| *side == item.to) {
            Some((_, list)) => list.push(&item.what),
            None => sides.push((&item.to, vec![&item.what])),
        }
    }
    html! {
        section class="box learned" aria-labelledby="learned" {
            h2 id="learned" { "What each side learned" }
            @match revealed {
                None => p { "A CSV file does not say it. `veilpath compare … -o scores.json` does." }
                Some(_) => {
                    @for (side, list) in &sides {
                        h3 {
                            @match *side {
                                "host" => "The host (A) learned",
                                "join" => "The joining side (B) learned",
                                "both" => "Both learned",
                                other => (other),
                            }
                        }
                        ul { @for what in list { li { (what) } } }
                    }
                    p class="note" { "Beyond that, each side knows its own cohort, the plan, and the ids that the results name." }
                }
            }
        }
    }
}

fn selector(report: &Report<'_>) -> Markup {
    let views = &report.views.views;
    html! {
        @if views.len() > 1 {
            div class="controls choose" {
                label for="pick" { "Show " }
                select id="pick" {
                    @for (number, view) in views.iter().enumerate() {
                        option value=(format!("view-{number}")) { (view.title) }
                    }
                    option value="all" { "all, one below the other" }
                }
            }
        }
    }
}

fn section(report: &Report<'_>, view: &View, number: usize) -> io::Result<Markup> {
    let quantity = report.views.quantity;
    let id = format!("view-{number}");
    let figures = match &view.matrix {
        None => html! {
            p class="note" { "There is no heat map: the pairs are so scattered that the matrix would be nearly empty, and too large." }
        },
        Some(matrix) => {
            let map = HeatMap::new(matrix, quantity, &report.scale);
            let drawing = map.svg(&id, &format!("Heat map: {}", view.title))?;
            html! {
                h3 { "Heat map" }
                p { (explained(quantity, matrix, view, &map)) }
                figure class="heat" {
                    div class="scroll" tabindex="0" role="region" aria-label="Heat map" {
                        (drawing)
                    }
                    script type="application/json" { (PreEscaped(data(&map))) }
                    (matrix_as_table(&map))
                }
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
            h3 { "Distribution" }
            (histogram::figure(&view.values, quantity, &report.scale, &format!("{id}-spread")))
            (figures)
        }
    })
}

fn explained(quantity: Quantity, matrix: &Matrix, view: &View, map: &HeatMap<'_>) -> String {
    let mut text = String::from(match quantity {
        Quantity::Similarity => "Similarity runs from 0 to 1, and 1 is most alike.",
        Quantity::Score(Some(super::matrix::Alike::Smaller)) => {
            "A small score is a short distance: most alike."
        }
        Quantity::Score(Some(super::matrix::Alike::Greater)) => "A great score is most alike.",
        Quantity::Score(None) => "The file does not say whether small or large scores mean alike.",
        Quantity::Within => {
            "Of each pair only one bit is known: whether it is within the threshold."
        }
    });
    if view.mean {
        text.push_str(" A cell is the mean over the stimuli that both looked at.");
    }
    let one_cohort = matrix.within_one_cohort(quantity).is_ok();
    text.push_str(match (map.rows.merges.is_empty() && matrix.rows() > 1, one_cohort) {
        (true, _) => " Lines are ordered by their means: there are too many to cluster.",
        (false, true) => " Lines are ordered by average-linkage clustering of the dissimilarities.",
        (false, false) => " Lines are ordered by average-linkage clustering: two lines are close when their numbers are.",
    });
    if matrix.missing > 0 {
        text.push_str(&format!(
            " {} were not compared and are hatched.",
            numbers::counted(matrix.missing, "pair")
        ));
    }
    if matrix.averaged > 0 && !view.mean {
        text.push_str(&format!(
            " {} come more than once in the file; their mean is shown.",
            numbers::counted(matrix.averaged, "pair")
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
fn by_stimulus(report: &Report<'_>) -> Markup {
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

fn cost(cost: Option<&Cost>, pairs: usize) -> Markup {
    html! {
        section aria-labelledby="cost" {
            h2 id="cost" { "Cost and time" }
            @match cost {
                None => p { "A CSV file does not say it. `veilpath compare … -o scores.json` does." }
                Some(cost) => {
                    @let per_pair = cost.seconds / pairs.max(1) as f64;
                    dl class="plan" {
                        dt { "Time" } dd {
                            (numbers::time(cost.seconds)) ", " (numbers::time(per_pair)) " a pair"
                            @if cost.seconds > 0.0 { ", " (numbers::short((cost.cells as f64 / cost.seconds).round())) " matrix cells a second" }
                        }
                        dt { "Matrix cells" } dd { (numbers::count(cost.cells)) }
                        dt { "Sent by the host" } dd { (numbers::bytes(cost.bytes_sent)) }
                        dt { "Received by the host" } dd { (numbers::bytes(cost.bytes_received)) }
                        dt { "Rounds" } dd { (numbers::count(cost.rounds)) }
                    }
                }
            }
        }
    }
}
