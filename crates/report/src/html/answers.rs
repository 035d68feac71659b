//! Group answers: matrices, tests, classifications and distributions, each with its table.

mod distributions;
mod heat_map;
mod matrices;

use super::table::{Column, Field, folded, table};
use super::{cut, numbers};
use maud::{Markup, html};
use veilpath_metrics::MeasureKind;
use veilpath_protocol::{GroupAnswer, GroupTest, NearestLabels, Outcome, StimulusMeans};

/// The section with all answers; empty if there are none.
pub(crate) fn section(outcome: &Outcome, sides: &[String; 2]) -> Markup {
    let answers = &outcome.answers;
    let sides = &cut::cohorts(sides);
    let tests: Vec<(usize, &GroupTest)> = answers
        .iter()
        .enumerate()
        .filter_map(|(number, answer)| match answer {
            GroupAnswer::Test(test) => Some((number, test)),
            _ => None,
        })
        .collect();
    html! {
        @if !answers.is_empty() {
            section id="groups" {
                h2 { @match answers.len() { 1 => "Group answer", _ => "Group answers" } }
                @for (number, answer) in answers.iter().enumerate() {
                    @let id = format!("answer-{number}");
                    @match answer {
                        GroupAnswer::StimulusMeans(means) => (stimulus_means(means, outcome)),
                        GroupAnswer::GroupMeans(means) => (matrices::means(means, outcome, sides, &id)),
                        GroupAnswer::NearestLabels(labels) => (nearest_labels(labels)),
                        GroupAnswer::NearestRate(rate) => (matrices::rate(rate, &id)),
                        GroupAnswer::Histogram(histogram) => (distributions::histogram(histogram, outcome, &id)),
                        GroupAnswer::Test(_) => {},
                    }
                }
                (distributions::tests(&tests))
            }
        }
    }
}

/// The kind of a measure. Files with group answers only have no list of measures.
fn kind(outcome: &Outcome, name: &str) -> MeasureKind {
    let mut measures = outcome.results.measures().iter();
    match measures.find(|measure| measure.name == name) {
        Some(measure) => measure.kind,
        None if name == "similarity" => MeasureKind::Fraction,
        None if outcome.spec.metric.is_distance() => MeasureKind::Distance,
        None => MeasureKind::Similarity,
    }
}

#[allow(clippy::cast_precision_loss)] // used for sorting only
fn stimulus_means(answer: &StimulusMeans, outcome: &Outcome) -> Markup {
    let means = answer.means.iter().filter_map(|mean| mean.mean);
    let decimals = numbers::spread_decimals(means);
    let shown = |number: f64| numbers::aligned(number, decimals);
    let has_intervals = answer.means.iter().any(|mean| mean.interval.is_some());
    let mut columns = vec![
        Column::Words("stimulus"),
        Column::Numbers("mean"),
        Column::Numbers("pairs"),
    ];
    columns.extend(has_intervals.then_some(Column::Words("interval")));
    let rows: Vec<Vec<Field>> = answer
        .means
        .iter()
        .map(|mean| {
            let interval = mean.interval.as_ref();
            vec![
                Field::words(mean.stimulus.as_deref().unwrap_or("(all)")),
                mean.mean
                    .map_or_else(Field::none, |mean| Field::number(shown(mean), mean)),
                Field::number(numbers::count(mean.pairs), mean.pairs as f64),
                interval.map_or_else(Field::none, |interval| {
                    Field::words(crate::answers::confidence(interval, shown))
                }),
            ]
        })
        .collect();
    let of_stimuli = answer.means.iter().any(|mean| mean.stimulus.is_some());
    let caption = match of_stimuli {
        true => "Mean of each stimulus",
        false => "Mean over all pairs",
    };
    html! {
        h3 { (crate::answers::means_of(&answer.measure, outcome)) }
        (table(caption, &columns, &rows))
    }
}

fn nearest_labels(answer: &NearestLabels) -> Markup {
    let columns = [
        "participant",
        "stimulus",
        "group of the nearest",
        "own group",
    ];
    let columns = columns.map(Column::Words);
    let rows: Vec<Vec<Field>> = answer
        .labels
        .iter()
        .map(|label| {
            let optional =
                |text: &Option<String>| text.as_ref().map_or_else(Field::none, Field::words);
            vec![
                Field::words(&label.scanpath.participant),
                optional(&label.scanpath.stimulus),
                Field::words(&label.majority),
                optional(&label.group),
            ]
        })
        .collect();
    let sizes = answer.groups.iter().map(|group| {
        let given = answer
            .labels
            .iter()
            .filter(|label| label.majority == *group);
        format!("{group} {}", numbers::count(given.count() as u64))
    });
    html! {
        h3 { "Most common group among the " (answer.k) " nearest scanpaths, by " (answer.measure) }
        p { (numbers::counted(answer.labels.len(), "scanpath")) ": " (sizes.collect::<Vec<_>>().join(", ")) "." }
        (folded("All scanpaths as a table", &table("The group of most of the nearest scanpaths", &columns, &rows)))
    }
}

fn about(measure: &str, stimulus: Option<&str>) -> String {
    match stimulus {
        Some(stimulus) => format!("{measure}, stimulus {stimulus}"),
        None => measure.to_string(),
    }
}
