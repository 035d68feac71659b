//! The page: results first, then the figures, then how they were computed.

use super::cut::{cohorts, cut};
use super::encoded::policy_hash;
use super::letters::Letters;
use super::view::View;
use super::{Report, answers, figures, numbers, pairs, scanpaths, scarf, summaries, transitions};
use crate::result_file::PairRow;
use crate::{pairs_of_one_id, plan, table, units};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::io;
use veilpath_protocol::{Engine, Outcome, Reveal, RevealTo};

/// The report's style sheet, which Veilpath's other pages share.
pub const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The most measures whose means are shown at the top.
const MAX_MEANS: usize = 6;

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
    let outcome = report.file.outcome();
    let title = report.options.title.unwrap_or("Scanpath comparison");
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { @if report.options.own.is_some() { "Private: " } (title) " – " (report.options.source) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a class="skip" href="#figures" { "Skip to the figures" }
                header {
                    div class="controls" {
                        button id="theme" type="button" { "Light or dark" }
                    }
                    h1 { (title) }
                    p class="under" { (subtitle(report)) }
                    @if let Some(words) = same_participants(report) {
                        p class="note" { (words) }
                    }
                    @if report.options.own.is_some() {
                        p class="warning" { strong { "This page is for your institution only:" } " it shows the scanpaths of your participants. For anybody else who may see the scores, make a report without your cohort." }
                    }
                    @if let Some(count) = report.file.incomplete() {
                        p class="warning" { strong { "Incomplete: " (count) "." } " The comparison was interrupted; the other pairs have no results here, and means and figures do not include them." }
                    }
                    (tiles(report))
                }
                main {
                    div class="pair boxes" {
                        (computed(report))
                        (learned(outcome, &report.names))
                    }
                    @if views.is_empty() && !outcome.is_some_and(Outcome::is_statistics) {
                        section { p { (no_results(outcome)) } }
                    }
                    @if let Some(outcome) = outcome { (answers::section(outcome, &report.names)) }
                    div id="figures" tabindex="-1" {
                        (selector(report))
                        @for markup in &drawn { (markup) }
                        (summaries::by_stimulus(report))
                        (summaries::by_measure(report))
                    }
                    @if let Some(own) = &report.options.own {
                        @let (letters, stimuli) = (Letters::of(own), report.options.stimuli);
                        (pairs::section(report, own.pairs))
                        (scanpaths::section(own, stimuli, wraps(outcome)))
                        (scarf::section(own, &letters, stimuli))
                        (transitions::section(own, &letters, stimuli))
                    }
                    (cost(outcome))
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

/// Whether the metric joins the left and right edges of the stimulus.
fn wraps(outcome: Option<&Outcome>) -> bool {
    outcome.is_some_and(|outcome| outcome.spec.metric.wraps())
}

fn no_results(outcome: Option<&Outcome>) -> String {
    match outcome {
        Some(outcome) if outcome.pairs > 0 && outcome.answers.is_empty() => {
            format!("{}.", table::withheld(outcome))
        }
        Some(outcome) if outcome.pairs > 0 => {
            "The file has no results for individual pairs.".into()
        }
        Some(_) => "The file has no results: nothing was compared.".into(),
        // A table has only its header in both cases.
        None => {
            "No results: either no pairs were compared, or only the other side gets results.".into()
        }
    }
}

pub(super) fn subtitle(report: &Report<'_>) -> String {
    let file = report.file;
    let one_cohort = report
        .views
        .views
        .first()
        .is_some_and(|view| view.one_cohort);
    let statistics = file.outcome().is_some_and(Outcome::is_statistics);
    let [first, second] = cohorts(&report.names);
    let participants = numbers::counted(file.a().len(), "participant");
    let sides = match (file.a().len(), one_cohort) {
        _ if statistics => match file.outcome().is_some_and(|it| it.one_cohort) {
            true => format!("Statistics of {first}"),
            false => format!("Statistics of {first} and {second}"),
        },
        (0, _) if file.outcome().is_none() => "No results".into(),
        (0, _) => "No pairs".into(),
        (1, true) => format!("1 participant of {first}, compared with themselves"),
        (_, true) => format!("{participants} of {first} with each other"),
        (_, false) => {
            let others = numbers::count(file.b().len() as u64);
            format!("{participants} of {first} with {others} of {second}")
        }
    };
    let all = file.stimuli().len();
    let stimuli = match report.options.stimuli.len() {
        0 if all == 1 => ", 1 stimulus".into(),
        0 if all == 0 => String::new(),
        0 => format!(", {} stimuli", numbers::count(all as u64)),
        asked => format!(", {asked} of {} stimuli", numbers::count(all as u64)),
    };
    let how = file.outcome().map_or_else(String::new, |outcome| {
        let metric = plan::metric_name(&outcome.spec.metric);
        let engine = outcome.spec.engine.name();
        match statistics {
            true => format!(", by {metric}"),
            false => format!(", by {metric}, with the {engine} engine"),
        }
    });
    format!("{sides}{stimuli}{how}.")
}

/// A note that participants of one cohort were compared with those of the same id in the other; `None` if there are none.
fn same_participants(report: &Report<'_>) -> Option<String> {
    let file = report.file;
    let mut views = report.views.views.iter();
    if views.any(|view| view.one_cohort) {
        return None;
    }
    let ids = |row: PairRow<'_>| [&*file.a()[row.a], &*file.b()[row.b]];
    let same = pairs_of_one_id(file.rows().map(ids))?;
    let same = numbers::count(same as u64);
    let pairs = numbers::counted(file.len(), "pair");
    Some(format!(
        "In {same} of {pairs}, both scanpaths have the same participant id. If these ids stand for the same people, the cohorts look more alike than they are."
    ))
}

/// The numbers at the top of the page and their names.
pub(super) fn headline(report: &Report<'_>) -> Vec<(String, String)> {
    let outcome = report.file.outcome();
    let first = report.views.views.first();
    let pairs = match first {
        Some(view) => Some((view.values.len() + view.undefined) as u64),
        // The results are for the other side only. A table does not say how many there are.
        None => outcome.map(|outcome| outcome.pairs),
    };
    let mut tiles = Vec::new();
    if let Some(pairs) = pairs {
        let noun = first.map_or("pair", View::noun);
        let plural = if pairs == 1 { "" } else { "s" };
        tiles.push((numbers::count(pairs), format!("{noun}{plural}")));
    }
    let several = report.views.measures.len() > 1;
    for view in report.views.first_of_each().take(MAX_MEANS) {
        let measure = view.measure;
        let Some(spread) = view.spread_of(&view.values) else {
            continue;
        };
        if measure.is_bit() {
            let percentage = numbers::fixed(spread.mean.unwrap_or_default() * 100.0, 1);
            tiles.push((format!("{percentage} %"), measure.name.to_string()));
            continue;
        }
        let name = cut(measure.name);
        if let Some(mean) = spread.mean {
            let mean = numbers::aligned(mean, spread.decimals);
            tiles.push((measure.with_unit(mean), format!("mean {name}")));
        }
        if !several {
            let range = measure.with_unit(spread.ends().join(" – "));
            tiles.push((range, format!("range of {name}")));
        }
    }
    if let Some(outcome) = outcome.filter(|it| !it.is_statistics()) {
        let cost = &outcome.cost;
        let of_which = match cost.pairs_from_journal {
            0 => "time",
            _ => "time of the last run",
        };
        tiles.push((units::seconds(cost.seconds), of_which.into()));
        if !in_the_clear(outcome) {
            let bytes = cost.bytes_sent.saturating_add(cost.bytes_received);
            tiles.push((units::bytes(bytes), "between the sides".into()));
        }
    }
    tiles
}

fn tiles(report: &Report<'_>) -> Markup {
    let tiles = headline(report);
    html! {
        @if !tiles.is_empty() {
            dl class="summary" {
                @for (number, name) in &tiles {
                    div { dt { (name) } dd { (number) } }
                }
            }
        }
    }
}

fn computed(report: &Report<'_>) -> Markup {
    html! {
        section class="box" aria-labelledby="computed" {
            h2 id="computed" { "What was computed" }
            @match report.file.outcome() {
                Some(outcome) => {
                    dl class="plan" {
                        @for (name, words) in plan::describe(&outcome.spec, &report.names, in_the_clear(outcome)) {
                            // Statistics reveal nothing about a pair, and nobody sends them.
                            @if !outcome.is_statistics() || !plan::OF_RESULTS.contains(&name) {
                                dt { (name) }
                                dd { (words) }
                            }
                        }
                    }
                }
                None => p { "A CSV file contains only the numbers of the pairs. A result file in JSON also contains the metric, engine and encoding." }
            }
        }
    }
}

/// Whether one machine held both cohorts, so that there were no two sides.
fn in_the_clear(outcome: &Outcome) -> bool {
    outcome.spec.engine == Engine::Plain && outcome.revealed.is_empty()
}

/// What each side learned. What both learned comes last, because it ends with what nobody learned.
pub(super) fn learned_by_side(outcome: &Outcome) -> Vec<(RevealTo, Vec<&str>)> {
    let mut sides: Vec<(RevealTo, Vec<&str>)> = Vec::new();
    for item in &outcome.revealed {
        match sides.iter_mut().find(|(side, _)| *side == item.to) {
            Some((_, list)) => list.push(&item.what),
            None => sides.push((item.to, vec![&item.what])),
        }
    }
    sides.sort_by_key(|(side, _)| *side == RevealTo::Both);
    sides
}

fn learned(outcome: Option<&Outcome>, names: &[String; 2]) -> Markup {
    let statistics = outcome.is_some_and(Outcome::is_statistics);
    let one_cohort = outcome.is_some_and(|outcome| outcome.one_cohort);
    let has_threshold =
        outcome.is_some_and(|outcome| matches!(outcome.spec.reveal, Reveal::Threshold(_)));
    let revealed = outcome.map(|outcome| outcome.revealed.as_slice());
    let sides = outcome.map(learned_by_side).unwrap_or_default();
    html! {
        section class="box learned" aria-labelledby="learned" {
            h2 id="learned" { "What each side learned" }
            @match revealed {
                None => p { "A CSV file does not contain this; a result file in JSON does." }
                Some([]) if statistics => p { "These statistics were computed from an earlier result, and nothing was sent. The file of that result says what each side learned." }
                Some([]) if one_cohort => p { "One cohort was compared with itself on one machine, without encryption; nothing was sent and nothing was hidden." }
                Some([]) => p { "Both cohorts were on one machine and were compared without encryption; nothing was sent and nothing was hidden." }
                Some(_) => {
                    @for (side, list) in &sides {
                        h3 { (capitalised(&plan::side(*side, names))) " learned" }
                        ul { @for what in list { li { (what) } } }
                    }
                    @if has_threshold { p class="note" { (table::REPEATED_THRESHOLDS) } }
                    p class="note" { "Beyond that, each side knows its own cohort, the plan, and the ids that the results name." }
                }
            }
        }
    }
}

pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// The controls that select a view, if there are several stimuli or measures.
fn selector(report: &Report<'_>) -> Markup {
    let measures = report.views.measures.iter();
    let measures: Vec<&str> = measures.map(|measure| measure.name).collect();
    let parts: Vec<&str> = report.views.of_first().map(|view| &*view.title).collect();
    html! {
        @if measures.len() > 1 || parts.len() > 1 {
            div class="controls choose" {
                @if measures.len() > 1 { (choice("pick-measure", "Measure ", "measure", &measures)) }
                @if parts.len() > 1 { (choice("pick", "Show ", "part", &parts)) }
            }
        }
    }
}

/// A drop-down that shows the views with one value of `data-…`, or all of them.
pub(crate) fn choice(id: &str, label: &str, by: &str, names: &[&str]) -> Markup {
    html! {
        label for=(id) { (label) }
        select id=(id) data-by=(by) {
            @for (number, name) in names.iter().enumerate() {
                option value=(number) { (name) }
            }
            option value="all" { "all, one below the other" }
        }
    }
}

fn cost(outcome: Option<&Outcome>) -> Markup {
    if outcome.is_some_and(Outcome::is_statistics) {
        return html! {};
    }
    html! {
        section aria-labelledby="cost" {
            h2 id="cost" { "Cost and time" }
            @match outcome {
                None => p { "A CSV file does not contain this; a result file in JSON does." }
                Some(outcome) => {
                    @let cost = &outcome.cost;
                    @if cost.pairs_from_journal > 0 {
                        p class="note" { "These numbers are for the last run only: the results of " (numbers::counted(cost.pairs_from_journal, "pair")) " come from earlier runs." }
                    }
                    dl class="plan" {
                        dt { "Time" } dd {
                            (units::seconds(cost.seconds))
                            @if cost.seconds > 0.0 { ", " (numbers::short((cost.cells as f64 / cost.seconds).round())) " matrix cells per second" }
                        }
                        dt { "Matrix cells" } dd { (numbers::count(cost.cells)) }
                        @if !in_the_clear(outcome) {
                            dt { "Sent by this side" } dd { (units::bytes(cost.bytes_sent)) }
                            dt { "Received by this side" } dd { (units::bytes(cost.bytes_received)) }
                            dt { "Rounds" } dd { (numbers::count(cost.rounds)) }
                        }
                    }
                }
            }
        }
    }
}
