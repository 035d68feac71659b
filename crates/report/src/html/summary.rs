//! A short summary for embedding in another page, such as a notebook.

use super::Report;
use super::page::{capitalised, headline, learned_by_side, subtitle};
use crate::{plan, table};
use maud::{Markup, html};
use std::io;
use veilpath_protocol::Outcome;

/// The numbers, the answers, what each side learned, and the first heat map. Styles are inline, because a style sheet
/// would affect the surrounding page.
pub(super) fn summary(report: &Report<'_>) -> io::Result<Markup> {
    let outcome = report.file.outcome();
    let headline = headline(report);
    let map = match report.first_heat_map() {
        Ok((view, map)) => Some(map.svg("heat-map", &table::printable(&report.heading(view)))?),
        Err(_) => None,
    };
    Ok(html! {
        div {
            p { strong { (report.options.title.unwrap_or("Scanpath comparison")) } ": " (subtitle(report)) }
            @if let Some(count) = report.file.incomplete() {
                p { strong { "Incomplete: " (count) "." } }
            }
            @if !headline.is_empty() {
                table {
                    tr { @for (_, name) in &headline { th { (name) } } }
                    tr { @for (number, _) in &headline { td { (number) } } }
                }
            }
            @if let Some(outcome) = outcome {
                @if !outcome.answers.is_empty() {
                    pre { (table::answers(outcome)) }
                }
                (learned(outcome, &report.names))
            }
            @if let Some(map) = map {
                div style="max-width: 40em; background: #fff; color: #000" { (map) }
            }
        }
    })
}

fn learned(outcome: &Outcome, names: &[String; 2]) -> Markup {
    html! {
        @for (side, list) in learned_by_side(outcome) {
            details {
                summary { (capitalised(&plan::side(side, names))) " learned" }
                ul { @for what in list { li { (what) } } }
            }
        }
    }
}
