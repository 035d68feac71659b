//! Pictures of the user's own scanpaths, over the grid or over a picture of the stimulus.
//!
//! Nothing of the other institution's is drawn: its scanpaths never left it.

use super::encoded::base64;
use super::heat_map::accent;
use super::image::Image;
use super::numbers;
use super::pairs::OwnPair;
use super::scarf::durations;
use super::table::{Column, Field, folded, table};
use maud::{Markup, html};
use std::fmt::Write as _;
use veilpath_metrics::{Cohort, Entry, Grid};

/// The user's own cohort, to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct OwnCohort<'a> {
    /// The scanpaths.
    pub cohort: &'a Cohort,
    /// The grid whose cells are the letters. Without one, scanpaths are drawn as sequences, not as lines.
    pub grid: Option<Grid>,
    /// The width-to-height ratio of the stimulus; `None` makes grid cells square.
    pub aspect: Option<f64>,
    /// Pictures of the stimuli, by name. `None` is the picture for scanpaths without a stimulus.
    pub images: &'a [(Option<String>, Image)],
    /// Pairs of scanpaths to show side by side.
    pub pairs: &'a [OwnPair],
}

/// The most scanpaths that are drawn.
const MAX_PICTURES: usize = 120;

/// The most letters of a scanpath that are drawn. Longer paths are unreadable.
const MAX_LETTERS: usize = 1000;

/// The longer side of a picture, in SVG units.
const SIDE: f64 = 240.0;

/// The number of colours along a path.
const STEPS: usize = 12;

/// The scanpaths on these stimuli, or all if none is named.
pub(crate) fn asked<'a>(own: &OwnCohort<'a>, stimuli: &[String]) -> Vec<&'a Entry> {
    let asked = |entry: &&Entry| {
        let name = entry.stimulus.as_deref().unwrap_or_default();
        stimuli.is_empty() || stimuli.iter().any(|stimulus| stimulus == name)
    };
    own.cohort.entries.iter().filter(asked).collect()
}

/// All scanpaths, stimulus by stimulus; empty if there is no grid to draw them on.
/// With `wraps`, the left and right edges are joined, as in the metric.
pub(crate) fn section(own: &OwnCohort<'_>, stimuli: &[String], wraps: bool) -> Markup {
    let Some(grid) = own.grid else {
        return html! {};
    };
    let grid = grid.with_wrap(grid.wrap() || wraps);
    let all = asked(own, stimuli);
    let mut names: Vec<Option<&str>> = Vec::new();
    for entry in all.iter().take(MAX_PICTURES) {
        if !names.contains(&entry.stimulus.as_deref()) {
            names.push(entry.stimulus.as_deref());
        }
    }
    html! {
        section id="scanpaths" {
            h2 { "Your own scanpaths" }
            p { "A line follows the letters from dark to bright; a dot is a letter, and rings mark the first and the last. Repeated visits to a grid cell are drawn side by side."
                @if grid.wrap() { " The left and right edges are joined: a line that leaves at one continues at the other." }
            }
            @for (number, name) in names.iter().enumerate() {
                @let image = own.images.iter().find(|(known, _)| known.as_deref() == *name);
                @if let Some(name) = name { h3 { (name) } }
                @if let Some((_, image)) = image { (defined(image, number, size(own, grid, Some(image)))) }
                div class="cards" {
                    @for entry in all.iter().take(MAX_PICTURES).filter(|entry| entry.stimulus.as_deref() == *name) {
                        (card(entry, own, grid, image.map(|(_, image)| image), number))
                    }
                }
            }
            @if all.len() > MAX_PICTURES {
                p class="note" { "The first " (MAX_PICTURES) " of " (numbers::counted(all.len(), "scanpath")) " are drawn. A report of a single stimulus shows more." }
            }
        }
    }
}

/// The size of a picture: that of the image, of the stimulus, or of square grid cells.
fn size(own: &OwnCohort<'_>, grid: Grid, image: Option<&Image>) -> (f64, f64) {
    let (wide, high) = match (image, own.aspect) {
        (Some(image), _) => (f64::from(image.width), f64::from(image.height)),
        (None, Some(aspect)) => (aspect, 1.0),
        (None, None) => (f64::from(grid.columns()), f64::from(grid.rows())),
    };
    // Keep a grid of one row visible as a strip.
    let longest = wide.max(high);
    (
        (wide / longest).max(0.1) * SIDE,
        (high / longest).max(0.1) * SIDE,
    )
}

/// Defines the image once for all pictures of its stimulus.
fn defined(image: &Image, number: usize, (wide, high): (f64, f64)) -> Markup {
    html! {
        svg class="defined" width="0" height="0" aria-hidden="true" focusable="false" {
            defs {
                image id=(format!("stimulus-{number}")) width=(format!("{wide:.1}")) height=(format!("{high:.1}")) preserveAspectRatio="none"
                    href=(format!("data:{};base64,{}", image.media_type, base64(&image.bytes))) {}
            }
        }
    }
}

fn card(
    entry: &Entry,
    own: &OwnCohort<'_>,
    grid: Grid,
    image: Option<&Image>,
    number: usize,
) -> Markup {
    let (wide, high) = size(own, grid, image);
    let letters = entry.scanpath.letters();
    let positions = positions(letters, grid, wide, high);
    let class = if image.is_some() { "path over" } else { "path" };
    let fixations = numbers::counted(letters.len(), "letter");
    html! {
        figure class="card" {
            svg class=(class) viewBox=(format!("-2 -2 {:.0} {:.0}", wide + 4.0, high + 4.0)) role="img"
                aria-label=(format!("Scanpath of {}: {fixations}", entry.participant)) {
                @if image.is_some() {
                    use href=(format!("#stimulus-{number}")) {}
                }
                rect class="paper" width=(format!("{wide:.1}")) height=(format!("{high:.1}")) {}
                path class="cells" d=(lines(grid, wide, high)) {}
                (path_segments(&positions, grid.wrap().then_some(wide)))
                @for (at, &(x, y)) in positions.iter().enumerate() {
                    circle cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="3" fill=(color_at(at, positions.len())) {}
                }
                @for &(x, y) in positions.first().into_iter().chain(positions.last()) {
                    circle class="end" cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="6.5" {}
                }
            }
            figcaption {
                b { (entry.participant) } " · " (fixations)
                @if letters.len() > MAX_LETTERS { ", the first " (MAX_LETTERS) " drawn" }
            }
        }
    }
}

/// The path as segments, each in its own colour. If the edges are joined, `seam` is the width of the picture.
fn path_segments(positions: &[(f64, f64)], seam: Option<f64>) -> Markup {
    let pieces = positions.len().saturating_sub(1).min(STEPS);
    let bound = |piece: usize| piece * positions.len().saturating_sub(1) / pieces.max(1);
    html! {
        @for piece in 0..pieces {
            @let (from, to) = (bound(piece), bound(piece + 1));
            @for line in cut_at_seam(positions.get(from..=to).unwrap_or_default(), seam) {
                polyline points=(line.iter().fold(String::new(), |mut text, (x, y)| {
                    let _ = write!(text, "{x:.1},{y:.1} ");
                    text
                }).trim_end()) stroke=(color_at(from, positions.len())) {}
            }
        }
    }
}

/// A path as lines: a step that is shorter across the seam ends at one edge and continues at the other.
fn cut_at_seam(path: &[(f64, f64)], seam: Option<f64>) -> Vec<Vec<(f64, f64)>> {
    let mut lines: Vec<Vec<(f64, f64)>> = vec![path.iter().take(1).copied().collect()];
    for pair in path.windows(2) {
        let &[(x, y), (to_x, to_y)] = pair else {
            continue;
        };
        if let Some(wide) = seam.filter(|wide| (to_x - x).abs() > wide / 2.0) {
            let (edge, opposite) = if to_x > x { (0.0, wide) } else { (wide, 0.0) };
            let (before, after) = ((x - edge).abs(), (to_x - opposite).abs());
            let fraction = before / (before + after).max(f64::MIN_POSITIVE);
            let crossing = y + (to_y - y) * fraction;
            if let Some(line) = lines.last_mut() {
                line.push((edge, crossing));
            }
            lines.push(vec![(opposite, crossing)]);
        }
        if let Some(line) = lines.last_mut() {
            line.push((to_x, to_y));
        }
    }
    lines
}

fn color_at(at: usize, count: usize) -> String {
    // The brightest colours of the ramp are too bright for lines on paper.
    accent(0.8 * at as f64 / count.saturating_sub(1).max(1) as f64)
}

fn lines(grid: Grid, wide: f64, high: f64) -> String {
    let mut path = String::new();
    // A finer grid would hide the picture.
    if grid.columns() <= 60 && grid.rows() <= 60 {
        for column in 1..grid.columns() {
            let _ = write!(
                path,
                "M{:.1} 0V{high:.1}",
                wide * f64::from(column) / f64::from(grid.columns())
            );
        }
        for row in 1..grid.rows() {
            let _ = write!(
                path,
                "M0 {:.1}H{wide:.1}",
                high * f64::from(row) / f64::from(grid.rows())
            );
        }
    }
    let _ = write!(path, "M0 0H{wide:.1}V{high:.1}H0Z");
    path
}

/// The centre of each letter's cell. Repeated visits spiral around it.
fn positions(letters: &[u16], grid: Grid, wide: f64, high: f64) -> Vec<(f64, f64)> {
    let (cell_wide, cell_high) = (
        wide / f64::from(grid.columns()),
        high / f64::from(grid.rows()),
    );
    let mut visits: std::collections::HashMap<u16, u32> = std::collections::HashMap::new();
    letters
        .iter()
        .take(MAX_LETTERS)
        .map(|&letter| {
            let visit = visits.entry(letter).or_default();
            let turn = f64::from(*visit) * 2.399_963; // the golden angle
            let away = 0.32 * (1.0 - 1.0 / (1.0 + f64::from(*visit) / 2.0));
            *visit += 1;
            let number = u32::from(letter);
            let column = f64::from(number % grid.columns()) + 0.5 + away * turn.cos();
            let row = f64::from(number / grid.columns()) + 0.5 + away * turn.sin();
            (column * cell_wide, row * cell_high)
        })
        .collect()
}

/// The content of the pictures and the sequences as a table.
pub(crate) fn as_table(own: &OwnCohort<'_>, entries: &[&Entry]) -> Markup {
    let has_groups = own.cohort.has_groups();
    let has_durations = entries.iter().all(|entry| durations(entry).is_some());
    let rows: Vec<Vec<Field>> = entries
        .iter()
        .take(2000)
        .map(|entry| {
            let letters = entry.scanpath.letters();
            let count = |count: usize| Field::number(numbers::count(count as u64), count as f64);
            let cells: std::collections::BTreeSet<u16> = letters.iter().copied().collect();
            let mut text = own.cohort.alphabet.format(&entry.scanpath);
            if text.chars().count() > 200 {
                text = text.chars().take(200).chain(['…']).collect();
            }
            let mut fields = vec![
                Field::words(&entry.participant),
                Field::words(entry.stimulus.as_deref().unwrap_or("–")),
            ];
            if has_groups {
                fields.push(Field::words(entry.group.as_deref().unwrap_or("–")));
            }
            fields.extend([count(letters.len()), count(cells.len())]);
            if let Some(durations) = durations(entry).filter(|_| has_durations) {
                let seconds = durations.iter().sum::<f64>() / 1000.0;
                fields.push(Field::number(numbers::fixed(seconds, 2), seconds));
            }
            fields.push(Field::words(text));
            fields
        })
        .collect();
    let mut columns = vec![Column::Words("participant"), Column::Words("stimulus")];
    if has_groups {
        columns.push(Column::Words("group"));
    }
    columns.push(Column::Numbers("letters"));
    columns.push(Column::Numbers(match own.grid {
        Some(_) => "grid cells visited",
        None => "different letters",
    }));
    if has_durations {
        columns.push(Column::Numbers("seconds"));
    }
    columns.push(Column::Words("scanpath"));
    folded(
        "Scanpaths as a table",
        &table("Your own scanpaths", &columns, &rows),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_across_the_seam_end_at_one_edge_and_continue_at_the_other() {
        let path = [(230.0, 10.0), (20.0, 40.0), (100.0, 40.0), (200.0, 0.0)];
        assert_eq!(cut_at_seam(&path, None), [path.to_vec()]);
        let expected = [
            vec![(230.0, 10.0), (240.0, 20.0)],
            vec![(0.0, 20.0), (20.0, 40.0), (100.0, 40.0), (200.0, 0.0)],
        ];
        assert_eq!(cut_at_seam(&path, Some(240.0)), expected);
        let back = cut_at_seam(&[(20.0, 40.0), (230.0, 10.0)], Some(240.0));
        let expected = [
            vec![(20.0, 40.0), (0.0, 20.0)],
            vec![(240.0, 20.0), (230.0, 10.0)],
        ];
        assert_eq!(back, expected);
    }
}
