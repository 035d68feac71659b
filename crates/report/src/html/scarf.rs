//! The scarf plot of this side's scanpaths: one row per scanpath, one segment per letter.

use super::letters::Letters;
use super::numbers;
use super::scale::hex;
use super::scanpaths::{OwnCohort, as_table, asked};
use maud::{Markup, html};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use veilpath_metrics::Entry;

/// The most scanpaths that are drawn.
const MAX_ROWS: usize = 200;

/// The most letters in all rows together, and in one row.
const MAX_LETTERS: usize = 60_000;
const MAX_ROW_LETTERS: usize = 2000;

/// With more letters, the segments are too narrow for separators.
const MAX_SEPARATED: usize = 150;

/// All rows, by stimulus and group, with their table.
pub(crate) fn section(own: &OwnCohort<'_>, letters: &Letters, stimuli: &[String]) -> Markup {
    let all = asked(own, stimuli);
    let durations = all.iter().all(|entry| durations(entry).is_some());
    let mut left = MAX_LETTERS;
    let fits = |entry: &&&Entry| {
        let count = entry.scanpath.len().min(MAX_ROW_LETTERS);
        let fits = left >= count;
        left = left.saturating_sub(count);
        fits
    };
    let drawn: Vec<&Entry> = all
        .iter()
        .take(MAX_ROWS)
        .take_while(fits)
        .copied()
        .collect();
    let longest = drawn.iter().map(|entry| length(entry, durations));
    let longest = longest.fold(0.0, f64::max);
    let mut groups: Vec<(Option<&str>, Option<&str>)> = Vec::new();
    for entry in &drawn {
        let key = (entry.stimulus.as_deref(), entry.group.as_deref());
        if !groups.contains(&key) {
            groups.push(key);
        }
    }
    // Stimuli in file order, and the groups within each.
    let index = |stimulus: Option<&str>| groups.iter().position(|(other, _)| *other == stimulus);
    let mut sorted = groups.clone();
    sorted.sort_by_key(|&(stimulus, group)| (index(stimulus), group));
    let width = match durations {
        true => format!("{} s", numbers::short((longest / 100.0).round() / 10.0)),
        false => numbers::counted(
            drawn
                .iter()
                .map(|entry| entry.scanpath.len())
                .max()
                .unwrap_or(0),
            "letter",
        ),
    };
    html! {
        section id="sequences" {
            h2 { "Sequences" }
            p {
                "Each row is a scanpath, and each piece of it a letter, in order of time. "
                @if durations { "The width of a piece is the duration of the fixation" } @else { "All letters have the same width" }
                "; the longest row has " (width) "."
            }
            (letters.legend())
            @for (at, &(stimulus, group)) in sorted.iter().enumerate() {
                @let is_first = at == 0 || sorted[at - 1].0 != stimulus;
                @if let (true, Some(stimulus)) = (is_first, stimulus) { h3 { (stimulus) } }
                @if let Some(group) = group { h4 { (group) } }
                div class="scarf" {
                    @for entry in drawn.iter().filter(|entry| entry.stimulus.as_deref() == stimulus && entry.group.as_deref() == group) {
                        span { (entry.participant) }
                        (row(entry, letters, durations, longest))
                    }
                }
            }
            @if drawn.len() < all.len() {
                p class="note" { "The first " (drawn.len()) " of " (numbers::counted(all.len(), "scanpath")) " are drawn. A report of a single stimulus shows more." }
            }
            (as_table(own, &all))
        }
    }
}

/// The duration of each letter, if each letter is one fixation.
pub(crate) fn durations(entry: &Entry) -> Option<Vec<f64>> {
    let fixations = entry.fixations.as_ref()?.list();
    let durations = fixations.iter().map(|fixation| fixation.duration);
    (fixations.len() == entry.scanpath.len()).then(|| durations.collect())
}

fn length(entry: &Entry, by_duration: bool) -> f64 {
    match durations(entry).filter(|_| by_duration) {
        Some(durations) => durations.iter().take(MAX_ROW_LETTERS).sum(),
        None => entry.scanpath.len().min(MAX_ROW_LETTERS) as f64,
    }
}

/// Draws one path per letter instead of one per segment, because a page has thousands of segments.
fn row(entry: &Entry, letters: &Letters, by_duration: bool, longest: f64) -> Markup {
    let widths = durations(entry).filter(|_| by_duration);
    let scale = 1000.0 / longest.max(f64::MIN_POSITIVE);
    let mut paths: BTreeMap<u16, String> = BTreeMap::new();
    let mut x = 0.0;
    let count = entry.scanpath.len();
    for (at, &letter) in entry
        .scanpath
        .letters()
        .iter()
        .take(MAX_ROW_LETTERS)
        .enumerate()
    {
        let wide = scale * widths.as_ref().map_or(1.0, |widths| widths[at]);
        let path = paths.entry(letter).or_default();
        let _ = write!(path, "M{x:.1} 0h{wide:.1}v10h-{wide:.1}z");
        x += wide;
    }
    let class = if count <= MAX_SEPARATED { "pieces" } else { "" };
    let words = format!(
        "{}: {}{}",
        entry.participant,
        numbers::counted(count, "letter"),
        if count > MAX_ROW_LETTERS {
            ", of which the first are drawn"
        } else {
            ""
        }
    );
    html! {
        svg class=(class) viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=(words) {
            @for (letter, path) in &paths {
                path d=(path) fill=(hex(letters.color(*letter))) { title { (letters.name(*letter)) } }
            }
        }
    }
}
