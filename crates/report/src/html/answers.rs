//! Answers about groups, as tables.

use super::numbers;
use super::table::{Column, Field, table};
use crate::answers::p_value;
use maud::{Markup, html};
use veilpath_protocol::{GroupAnswer, GroupMeans, GroupTest};

/// The section of all answers; nothing where there are none.
pub(crate) fn section(answers: &[GroupAnswer]) -> Markup {
    let tests: Vec<&GroupTest> = answers
        .iter()
        .filter_map(|answer| match answer {
            GroupAnswer::Test(test) => Some(test),
            _ => None,
        })
        .collect();
    html! {
        @if !answers.is_empty() {
            section id="groups" {
                h2 { "Groups" }
                @for answer in answers {
                    @if let GroupAnswer::Means(group_means) = answer { (means(group_means)) }
                }
                @if !tests.is_empty() {
                    h3 { "Tests" }
                    (test_table(&tests))
                }
            }
        }
    }
}

fn means(answer: &GroupMeans) -> Markup {
    let known = answer.means.iter().flatten().flatten().copied();
    let decimals = numbers::spread_decimals(known);
    let mut columns = vec![Column::Words("group")];
    columns.extend(answer.columns.iter().map(|name| Column::Numbers(name)));
    let rows: Vec<Vec<Field>> = answer
        .rows
        .iter()
        .zip(answer.means.iter().zip(&answer.counts))
        .map(|(name, (means, counts))| {
            let mut fields = vec![Field::words(name)];
            fields.extend(means.iter().zip(counts).map(|(mean, &count)| match mean {
                None => Field::none(),
                Some(mean) => Field::number(
                    format!(
                        "{} ({})",
                        numbers::aligned(*mean, decimals),
                        numbers::count(count)
                    ),
                    *mean,
                ),
            }));
            fields
        })
        .collect();
    let of = about(&answer.output, answer.stimulus.as_deref());
    html! {
        h3 { "Group means of " (of) }
        (table("Mean, and in brackets the number of pairs", &columns, &rows))
    }
}

fn test_table(tests: &[&GroupTest]) -> Markup {
    let columns = [
        Column::Words("question"),
        Column::Words("groups"),
        Column::Words("of"),
        Column::Words("method"),
        Column::Words("statistic"),
        Column::Numbers("value"),
        Column::Numbers("p"),
        Column::Numbers("permutations"),
        Column::Words("seed"),
    ];
    let rows: Vec<Vec<Field>> = tests
        .iter()
        .map(|test| {
            vec![
                Field::words(&test.question),
                Field::words(test.groups.join(", ")),
                Field::words(about(&test.output, test.stimulus.as_deref())),
                Field::words(&test.method),
                Field::words(&test.statistic),
                Field::number(numbers::short(test.value), test.value),
                Field::number(p_value(test.p_value), test.p_value),
                test.permutations.map_or_else(Field::none, |count| {
                    Field::number(numbers::count(count), count as f64)
                }),
                test.seed
                    .map_or_else(Field::none, |seed| Field::words(seed.to_string())),
            ]
        })
        .collect();
    table("Statistical tests", &columns, &rows)
}

fn about(output: &str, stimulus: Option<&str>) -> String {
    match stimulus {
        Some(stimulus) => format!("{output}, stimulus {stimulus}"),
        None => output.to_string(),
    }
}
