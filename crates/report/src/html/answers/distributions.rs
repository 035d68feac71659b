//! Histograms of measures, and of a statistic under permutation.

use super::{about, kind};
use crate::html::bars::{Bar, Bars};
use crate::html::numbers;
use crate::html::scale::{Scale, hex};
use crate::html::table::{Column, Field, folded, table};
use maud::{Markup, html};
use veilpath_protocol::{Bins, GroupTest, Outcome, ScoreHistogram};

/// More bars than this cannot be told apart.
const MAX_BARS: usize = 120;

/// How pairs are distributed over ranges.
pub(super) fn histogram(answer: &ScoreHistogram, outcome: &Outcome, id: &str) -> Markup {
    let bars = bars(&answer.bins);
    let ends = bars.first().zip(bars.last());
    let kind = kind(outcome, &answer.measure);
    let scale = Scale::of_kind(kind, ends.map(|(first, last)| (first.from, last.to)));
    let title = crate::answers::histogram_of(answer, outcome);
    let drawn = Bars {
        bars: &bars,
        title: &title,
        axes: [&answer.measure, "pairs"],
        noun: "pair",
        mark: None,
        fill: &|bar| hex(scale.color(f64::midpoint(bar.from, bar.to))),
    };
    let suppressed = bars.iter().any(|bar| bar.count.is_none());
    html! {
        figure class="histogram" {
            h3 { (title) }
            @if can_be_drawn(&bars, None) { (drawn.drawing(&title, id)) }
            p class="note" {
                "Numbers beyond the outer edges are in the outer bins."
                @if suppressed { " Dashed bins are suppressed: those of fewer than " (numbers::count(answer.minimum)) " participants of a side, and one more, so that the total does not give them away." }
            }
            (drawn.as_table(&title))
        }
    }
}

/// The result of each test, a table of all tests, and the null distributions that are known.
pub(super) fn tests(tests: &[(usize, &GroupTest)]) -> Markup {
    html! {
        @if !tests.is_empty() {
            h3 { "Tests" }
            @for (_, test) in tests {
                p { strong { (test.question) } " " (crate::answers::finding(test, numbers::short)) }
            }
            (folded("All numbers as a table", &test_table(tests)))
            @for (number, test) in tests {
                @if let Some(null) = &test.null_distribution { (null_distribution(test, null, &format!("answer-{number}"))) }
            }
        }
    }
}

fn null_distribution(test: &GroupTest, null: &Bins, id: &str) -> Markup {
    let bars = bars(null);
    let value = numbers::short(test.value);
    let label = "Null distribution";
    let drawn = Bars {
        bars: &bars,
        title: &format!("Null distribution: {}", test.question),
        axes: [&test.statistic, "permutations"],
        noun: "permutation",
        mark: Some((test.value, format!("observed {value}"))),
        // Highlight bars at or beyond the observed value.
        fill: &|bar| match bar.from >= test.value {
            true => "var(--accent)".into(),
            false => "var(--line)".into(),
        },
    };
    html! {
        figure class="histogram" {
            h3 { "Null distribution: " (test.question) }
            p {
                "How the statistic is distributed over permutations of the labels. The observed value is " (value)
                "; p = " (crate::answers::p_value(test.p_value)) ", from the permutations that reach it."
            }
            @if can_be_drawn(&bars, Some(test.value)) { (drawn.drawing(label, id)) }
            (drawn.as_table(label))
        }
    }
}

fn test_table(tests: &[(usize, &GroupTest)]) -> Markup {
    let columns = [
        Column::Words("question"),
        Column::Words("groups"),
        Column::Words("of"),
        Column::Words("method"),
        Column::Words("statistic"),
        Column::Numbers("value"),
        Column::Words("interval"),
        Column::Numbers("p"),
        Column::Numbers("permutations"),
        Column::Words("seed"),
    ];
    let row = |test: &GroupTest| {
        let interval = test.interval.as_ref();
        let seed = test.seed.map(|seed| seed.to_string());
        vec![
            Field::words(&test.question),
            Field::words(test.groups.join(", ")),
            Field::words(about(&test.measure, test.stimulus.as_deref())),
            Field::words(&test.method),
            Field::words(&test.statistic),
            Field::number(numbers::short(test.value), test.value),
            interval.map_or_else(Field::none, |interval| {
                Field::words(crate::answers::confidence(interval, numbers::short))
            }),
            Field::number(crate::answers::p_value(test.p_value), test.p_value),
            #[allow(clippy::cast_precision_loss)] // used for sorting only
            test.permutations.map_or_else(Field::none, |count| {
                Field::number(numbers::count(count), count as f64)
            }),
            // A private test has both sides' coins instead.
            seed.or_else(|| test.coins.clone())
                .map_or_else(Field::none, Field::words),
        ]
    };
    let rows: Vec<Vec<Field>> = tests.iter().map(|(_, test)| row(test)).collect();
    table("Statistical tests", &columns, &rows)
}

fn bars(bins: &Bins) -> Vec<Bar> {
    let edges = bins.edges.windows(2).zip(&bins.counts);
    edges
        .filter_map(|(edges, &count)| match edges {
            &[from, to] => Some(Bar { from, to, count }),
            _ => None,
        })
        .collect()
}

/// Whether the axis can be computed and the bars are wide enough to see.
fn can_be_drawn(bars: &[Bar], mark: Option<f64>) -> bool {
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else {
        return false;
    };
    let mark = mark.unwrap_or(first.from);
    let span = last.to.max(mark) - first.from.min(mark);
    bars.len() <= MAX_BARS && span.is_finite()
}
