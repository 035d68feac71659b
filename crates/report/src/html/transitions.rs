//! How often each letter of this side's scanpaths follows each other letter.

use super::cut::fit;
use super::heat_map::n;
use super::letters::Letters;
use super::numbers;
use super::page::choice;
use super::scanpaths::{OwnCohort, asked};
use super::table::{Column, Field, folded, table};
use super::text_width::text_width;
use maud::{Markup, html};
use std::collections::BTreeMap;
use veilpath_metrics::Entry;

/// The most stimuli that get a matrix.
const MAX_STIMULI: usize = 20;

/// The most letters in a matrix, and the most rows in its table.
const MAX_LETTERS: usize = 52;
const MAX_ROWS: usize = 300;

/// The font size of letters and areas.
const FONT: f64 = 12.0;

/// With more tiles than this, there are no tooltips.
const MAX_TITLES: usize = 600;

/// Counts by first letter and next letter.
type Counts = BTreeMap<(u16, u16), u64>;

/// One matrix of all stimuli together, and one of each.
pub(crate) fn section(own: &OwnCohort<'_>, letters: &Letters, stimuli: &[String]) -> Markup {
    let all = asked(own, stimuli);
    let mut names: Vec<Option<&str>> = Vec::new();
    for entry in &all {
        if !names.contains(&entry.stimulus.as_deref()) {
            names.push(entry.stimulus.as_deref());
        }
    }
    let mut parts: Vec<(String, Counts)> = Vec::new();
    if names.len() > 1 {
        let title = format!("all {} stimuli", names.len());
        parts.push((title, counted(all.iter().copied())));
    }
    for &name in names.iter().take(MAX_STIMULI) {
        let entries = all.iter().filter(|entry| entry.stimulus.as_deref() == name);
        let title = name.unwrap_or("all scanpaths").to_string();
        parts.push((title, counted(entries.copied())));
    }
    let titles: Vec<&str> = parts.iter().map(|(title, _)| title.as_str()).collect();
    html! {
        section id="transitions" {
            h2 { "Transitions" }
            p { "A tile is the fraction of a letter's transitions that lead to the next letter: every row sums to 100 %. The diagonal is a letter that follows itself." }
            @if parts.len() > 1 {
                div class="controls choose" { (choice("pick-transitions", "Show ", "transitions", &titles)) }
            }
            @for (number, (title, counts)) in parts.iter().enumerate() {
                figure class="transitions view" data-transitions=(number) {
                    @if parts.len() > 1 { h3 { (title) } }
                    (drawing(counts, letters, title))
                    (as_table(counts, letters, title))
                }
            }
            @if names.len() > MAX_STIMULI {
                p class="note" { "The first " (MAX_STIMULI) " of " (names.len()) " stimuli have a matrix. A report of the others alone shows theirs." }
            }
        }
    }
}

fn counted<'a>(entries: impl Iterator<Item = &'a Entry>) -> Counts {
    let mut counts = Counts::new();
    for entry in entries {
        for pair in entry.scanpath.letters().windows(2) {
            if let &[from, to] = pair {
                *counts.entry((from, to)).or_default() += 1;
            }
        }
    }
    counts
}

/// The number of transitions that start at each letter.
fn totals(counts: &Counts) -> BTreeMap<u16, u64> {
    let mut totals = BTreeMap::new();
    for (&(from, _), &count) in counts {
        *totals.entry(from).or_default() += count;
    }
    totals
}

fn drawing(counts: &Counts, letters: &Letters, title: &str) -> Markup {
    if counts.is_empty() {
        return html! { p class="note" { "There are no transitions: no scanpath has two letters." } };
    }
    let totals = totals(counts);
    let mut visits: BTreeMap<u16, u64> = BTreeMap::new();
    for (&(from, to), &count) in counts {
        *visits.entry(from).or_default() += count;
        *visits.entry(to).or_default() += count;
    }
    let all = visits.len();
    let mut shown: Vec<u16> = visits.keys().copied().collect();
    shown.sort_by_key(|letter| std::cmp::Reverse(visits[letter]));
    shown.truncate(MAX_LETTERS);
    shown.sort_unstable();
    let index_of: BTreeMap<u16, usize> = shown.iter().copied().zip(0..).collect();
    let tile = (480.0 / shown.len() as f64).clamp(15.0, 34.0);
    let label = |letter: u16| fit(&letters.name(letter), 8.0);
    let labels = || shown.iter().map(|&letter| label(letter));
    let widest = labels().map(|label| text_width(&label)).fold(0.0, f64::max);
    let is_level = labels().all(|label| label.chars().count() == 1);
    let room = 10.0 + FONT * widest;
    let (left, top) = (room + 20.0, room + 22.0);
    let side = tile * shown.len() as f64;
    let (width, height) = (left + side + 4.0, top + side + 4.0);
    let middle = |at: usize| tile * (at as f64 + 0.5);
    let tiles = counts.iter().filter_map(|(&(from, to), &count)| {
        Some((*index_of.get(&from)?, *index_of.get(&to)?, from, to, count))
    });
    let fraction = |from: u16, count: u64| count as f64 / totals[&from].max(1) as f64;
    let largest = counts
        .iter()
        .map(|(&(from, _), &count)| fraction(from, count));
    let largest = largest.fold(0.0, f64::max);
    let has_titles = counts.len() <= MAX_TITLES;
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(format!("Transitions: {title}")) {
            svg viewBox=(format!("0 0 {width:.0} {height:.0}")) width=(format!("{width:.0}")) height=(format!("{height:.0}")) role="img" aria-label=(format!("Transitions of {title}: the table below has the same numbers")) {
                g class="axis" {
                    text x=(n(left)) y="13" { "to →" }
                    text transform=(format!("translate(13 {}) rotate(-90)", n(top))) text-anchor="end" { "← from" }
                    @for (at, &letter) in shown.iter().enumerate() {
                        text x=(n(left - 5.0)) y=(n(top + middle(at))) text-anchor="end" dominant-baseline="central" { (label(letter)) }
                        @if is_level {
                            text x=(n(left + middle(at))) y=(n(top - 5.0)) text-anchor="middle" { (label(letter)) }
                        } @else {
                            text transform=(format!("translate({} {}) rotate(-90)", n(left + middle(at)), n(top - 5.0))) dominant-baseline="central" { (label(letter)) }
                        }
                    }
                }
                @for (row, column, from, to, count) in tiles {
                    @let fraction = fraction(from, count);
                    rect class="fraction" x=(n(left + tile * column as f64)) y=(n(top + tile * row as f64)) width=(n(tile)) height=(n(tile))
                        fill-opacity=(format!("{:.2}", 0.12 + 0.88 * fraction / largest)) {
                        @if has_titles { title { (label(from)) " → " (label(to)) ": " (numbers::count(count)) " of " (numbers::count(totals[&from])) " (" (percent(fraction)) ")" } }
                    }
                }
                path class="cells" d=(lines_between(left, top, tile, shown.len())) {}
            }
        }
        p class="note" { "The strongest colour is " (percent(largest)) "." }
        @if all > MAX_LETTERS {
            p class="note" { "The " (MAX_LETTERS) " most frequent of " (all) " letters are drawn; the percentages count all transitions." }
        }
    }
}

fn lines_between(left: f64, top: f64, tile: f64, count: usize) -> String {
    let side = tile * count as f64;
    let line = |at: usize| {
        let at = tile * at as f64;
        format!(
            "M{} {}h{s}M{} {}v{s}",
            n(left),
            n(top + at),
            n(left + at),
            n(top),
            s = n(side)
        )
    };
    (0..=count).map(line).collect()
}

fn percent(fraction: f64) -> String {
    format!("{} %", numbers::fixed(fraction * 100.0, 1))
}

fn as_table(counts: &Counts, letters: &Letters, title: &str) -> Markup {
    let totals = totals(counts);
    let mut sorted: Vec<(&(u16, u16), &u64)> = counts.iter().collect();
    sorted.sort_by_key(|&(pair, &count)| (std::cmp::Reverse(count), pair));
    let rows: Vec<Vec<Field>> = sorted
        .iter()
        .take(MAX_ROWS)
        .map(|&(&(from, to), &count)| {
            let fraction = count as f64 / totals[&from].max(1) as f64;
            vec![
                Field::words(letters.name(from)),
                Field::words(letters.name(to)),
                Field::number(numbers::count(count), count as f64),
                Field::number(percent(fraction), fraction),
            ]
        })
        .collect();
    let columns = [
        Column::Words("from"),
        Column::Words("to"),
        Column::Numbers("transitions"),
        Column::Numbers("percentage of from"),
    ];
    let caption = match counts.len() > MAX_ROWS {
        true => format!("The {MAX_ROWS} most frequent transitions of {title}"),
        false => format!("Transitions of {title}"),
    };
    html! {
        @if !counts.is_empty() { (folded("Transitions as a table", &table(&caption, &columns, &rows))) }
    }
}
