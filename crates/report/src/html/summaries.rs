//! Tables over all views: distributions by stimulus and by measure.

use super::Report;
use super::histogram::Spread;
use super::measure::ShownMeasure;
use super::numbers;
use super::table::{Column, Field, table};
use super::view::{MAX_VIEWS, View};
use maud::{Markup, html};

/// One row for each stimulus that is drawn.
pub(crate) fn by_stimulus(report: &Report<'_>) -> Markup {
    let of_measure = |index: usize| {
        let views = report.views.views.iter();
        views.filter(move |view| view.measure_index == index && !view.mean)
    };
    let shown = of_measure(0).count();
    html! {
        @if shown > 1 {
            section {
                h2 { "By stimulus" }
                div class="below" {
                    @for (index, &measure) in report.views.measures.iter().enumerate() {
                        div { (of_stimuli(&of_measure(index).collect::<Vec<_>>(), measure)) }
                    }
                }
                @if report.views.omitted_stimuli > 0 {
                    p class="note" {
                        "The first " (shown) " stimuli are shown; " (report.views.omitted_stimuli) " more are included only in the mean"
                        @if shown < MAX_VIEWS { ", because the page shows several measures" }
                        ". A report of those alone shows them."
                    }
                }
            }
        }
    }
}

fn of_stimuli(views: &[&View<'_>], measure: ShownMeasure<'_>) -> Markup {
    let decimals =
        numbers::spread_decimals(views.iter().flat_map(|view| view.values.iter().copied()));
    let rows = views
        .iter()
        .map(|view| stimulus_row(view, measure, decimals));
    let rows: Vec<Vec<Field>> = rows.collect();
    let mut columns = vec![Column::Words("stimulus"), Column::Numbers("pairs")];
    let of_bits = [measure.threshold.heading(), "percentage"];
    let names: &[&str] = match measure.is_bit() {
        true => &of_bits,
        false => &["mean", "standard deviation", "least", "greatest"],
    };
    columns.extend(names.iter().map(|name| Column::Numbers(name)));
    let caption = match measure.is_bit() {
        true => format!("Pairs {} by stimulus", measure.name),
        false => format!("Spread of {} by stimulus", measure.label()),
    };
    table(&caption, &columns, &rows)
}

fn stimulus_row(view: &View<'_>, measure: ShownMeasure<'_>, decimals: Option<usize>) -> Vec<Field> {
    let pairs = view.values.len();
    let count = |number: usize| Field::number(numbers::count(number as u64), number as f64);
    let mut fields = vec![Field::words(&view.title), count(pairs)];
    let spread = view.spread_of(&view.values);
    if measure.is_bit() {
        let within = view.values.iter().filter(|&&value| value == 1.0).count();
        fields.push(count(within));
        fields.push(
            spread
                .and_then(|it| it.mean)
                .map_or_else(Field::none, |fraction| {
                    Field::number(
                        format!("{} %", numbers::fixed(fraction * 100.0, 1)),
                        fraction,
                    )
                }),
        );
        return fields;
    }
    let of = |pick: fn(&Spread) -> Option<f64>| {
        let number = spread.as_ref().and_then(pick);
        number.map_or_else(Field::none, |value| {
            Field::number(numbers::aligned(value, decimals), value)
        })
    };
    fields.extend([
        of(|s| s.mean),
        of(|s| s.deviation),
        of(|s| Some(s.smallest)),
        of(|s| Some(s.largest)),
    ]);
    fields
}

/// One row for each measure, if there are several.
pub(crate) fn by_measure(report: &Report<'_>) -> Markup {
    if report.views.measures.len() < 2 {
        return html! {};
    }
    let row = |view: &View<'_>| {
        let spread = view.spread_of(&view.values);
        let count = |count: usize| Field::number(numbers::count(count as u64), count as f64);
        let mut fields = vec![
            Field::words(view.measure.label()),
            count(view.values.len()),
            count(view.undefined),
        ];
        let picks: [fn(&Spread) -> Option<f64>; 4] = [
            |s| s.mean,
            |s| s.deviation,
            |s| Some(s.smallest),
            |s| Some(s.largest),
        ];
        fields.extend(picks.map(|pick| {
            let found = spread.as_ref().and_then(|s| Some((pick(s)?, s.decimals)));
            found.map_or_else(Field::none, |(value, decimals)| {
                Field::number(numbers::aligned(value, decimals), value)
            })
        }));
        fields
    };
    let rows: Vec<Vec<Field>> = report.views.first_of_each().map(row).collect();
    let columns = [
        Column::Words("measure"),
        Column::Numbers("pairs"),
        Column::Numbers("undefined"),
        Column::Numbers("mean"),
        Column::Numbers("standard deviation"),
        Column::Numbers("least"),
        Column::Numbers("greatest"),
    ];
    html! {
        section {
            h2 { "All measures" }
            (table("Spread of each measure over all pairs", &columns, &rows))
        }
    }
}
