//! The page: what comes out first, then the figures, then how it came about.

use super::encoded::policy_hash;
use super::histogram::Spread;
use super::matrix::Quantity;
use super::{Report, figures, numbers, plan, scanpaths};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::io;
use veilpath_protocol::{Cost, Revealed};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole page.
pub(crate) fn page(report: &Report<'_>) -> io::Result<Markup> {
    let views = &report.views.views;
    let mut drawn = Vec::with_capacity(views.len());
    for (number, view) in views.iter().enumerate() {
        drawn.push(figures::of_view(report, view, number)?);
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
                title { @if report.options.own.is_some() { "Private: " } "Scanpath comparison – " (report.options.source) }
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
                    @if report.options.own.is_some() {
                        p class="warning" { strong { "This page is for your institution alone:" } " it shows the scanpaths of your participants. A report without --cohort is for everybody who may see the scores." }
                    }
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
                        (figures::by_stimulus(report))
                    }
                    @if let Some(own) = &report.options.own {
                        (scanpaths::section(own, report.options.stimuli))
                    }
                    (cost(file.cost.as_ref()))
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
    let sides = match file.rows.len() {
        0 => "No pairs".into(),
        _ => format!(
            "{} of A with {} of B",
            numbers::counted(file.a.len(), "participant"),
            numbers::count(file.b.len() as u64)
        ),
    };
    let all = file.stimuli.len();
    let stimuli = match report.options.stimuli.len() {
        0 if all == 1 => ", 1 stimulus".into(),
        0 if all == 0 => String::new(),
        0 => format!(", {} stimuli", numbers::count(all as u64)),
        asked => format!(", {asked} of {} stimuli", numbers::count(all as u64)),
    };
    let metric = plan::metric_name(file.spec.as_ref())
        .map_or_else(String::new, |name| format!(", by {name}"));
    let engine = plan::engine_name(file.spec.as_ref())
        .map_or_else(String::new, |name| format!(", with the engine {name}"));
    format!("{sides}{stimuli}{metric}{engine}.")
}

fn tiles(report: &Report<'_>) -> Markup {
    let file = report.file;
    let values = report
        .views
        .views
        .first()
        .map(|view| view.values.as_slice());
    let pairs = values.map_or(0, <[f64]>::len);
    let noun = if pairs == 1 { "pair" } else { "pairs" };
    let mut tiles = vec![(numbers::count(pairs as u64), noun.to_string())];
    if let Some(spread) = values.and_then(Spread::of) {
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
        let of_which = match cost.pairs_from_journal {
            0 => "time",
            _ => "time of the last run",
        };
        tiles.push((numbers::time(cost.seconds), of_which.into()));
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

fn cost(cost: Option<&Cost>) -> Markup {
    html! {
        section aria-labelledby="cost" {
            h2 id="cost" { "Cost and time" }
            @match cost {
                None => p { "A CSV file does not say it. `veilpath compare … -o scores.json` does." }
                Some(cost) => {
                    @if cost.pairs_from_journal > 0 {
                        p class="note" { "These numbers are of the last run alone: it had the answers of " (numbers::counted(cost.pairs_from_journal, "pair")) " from earlier ones." }
                    }
                    dl class="plan" {
                        dt { "Time" } dd {
                            (numbers::time(cost.seconds))
                            @if cost.seconds > 0.0 { ", " (numbers::short((cost.cells as f64 / cost.seconds).round())) " matrix cells a second" }
                        }
                        dt { "Matrix cells" } dd { (numbers::count(cost.cells)) }
                        dt { "Sent by the side of this file" } dd { (numbers::bytes(cost.bytes_sent)) }
                        dt { "Received by it" } dd { (numbers::bytes(cost.bytes_received)) }
                        dt { "Rounds" } dd { (numbers::count(cost.rounds)) }
                    }
                }
            }
        }
    }
}
