//! The names and colours of the letters in this side's scanpaths.

use super::cut::cut_to;
use super::heat_map::n;
use super::scale::{Rgb, hex};
use super::scanpaths::OwnCohort;
use maud::{Markup, html};
use std::collections::BTreeSet;
use veilpath_metrics::{Alphabet, EncodingSetting, Grid};

/// The colours of a grid's corners. Cell colours are interpolated between them, so that neighbours look similar.
const CORNERS: [[Rgb; 2]; 2] = [
    [[40, 80, 205], [220, 60, 140]],
    [[15, 160, 115], [245, 190, 50]],
];

/// The colours of areas, which have no position on a grid: as distinct as possible, also for colour-blind readers.
const AREAS: [Rgb; 12] = [
    [0, 114, 178],
    [230, 159, 0],
    [0, 158, 115],
    [204, 121, 167],
    [213, 94, 0],
    [86, 180, 233],
    [140, 110, 60],
    [120, 94, 240],
    [150, 150, 150],
    [170, 190, 40],
    [200, 50, 70],
    [60, 75, 110],
];

/// The most letters that a legend names.
const MAX_NAMED: usize = 60;

/// The side of a cell in the legend of a grid.
const CELL: f64 = 26.0;

/// The letters of a cohort.
pub(crate) struct Letters {
    alphabet: Alphabet,
    grid: Option<Grid>,
    /// The names of areas of interest, if the cohort has them.
    areas: Vec<String>,
    /// The letters that occur.
    used: BTreeSet<u16>,
}

impl Letters {
    /// The letters of a cohort.
    pub(crate) fn of(own: &OwnCohort<'_>) -> Self {
        let cohort = own.cohort;
        let areas = cohort.encoding.get(EncodingSetting::Areas);
        let areas = areas.map_or_else(Vec::new, listed);
        let entries = cohort.entries.iter();
        Self {
            alphabet: cohort.alphabet,
            grid: own.grid,
            areas: match areas.len() == cohort.alphabet.size() as usize {
                true => areas,
                false => Vec::new(),
            },
            used: entries
                .flat_map(|entry| entry.scanpath.letters().iter().copied())
                .collect(),
        }
    }

    /// The letter, or the area it stands for.
    pub(crate) fn name(&self, letter: u16) -> String {
        let area = self.areas.get(usize::from(letter));
        area.map_or_else(
            || self.alphabet.letter_name(letter),
            |area| cut_to(area, 18),
        )
    }

    /// The colour of a letter, the same wherever it is drawn.
    pub(crate) fn color(&self, letter: u16) -> Rgb {
        match self.grid {
            Some(grid) => cell_color(grid, letter),
            None => area_color(usize::from(letter)),
        }
    }

    /// A legend of letters and their colours.
    pub(crate) fn legend(&self) -> Markup {
        match self.grid {
            Some(grid) if grid.columns() <= 30 && grid.rows() <= 30 => self.grid_legend(grid),
            _ => html! {
                ul class="letters" {
                    @for &letter in self.used.iter().take(MAX_NAMED) {
                        li {
                            svg width="14" height="14" aria-hidden="true" { rect width="14" height="14" rx="3" fill=(hex(self.color(letter))) {} }
                            (self.name(letter))
                        }
                    }
                    @if self.used.len() > MAX_NAMED { li { "and " (self.used.len() - MAX_NAMED) " more" } }
                }
            },
        }
    }

    fn grid_legend(&self, grid: Grid) -> Markup {
        let (columns, rows) = (grid.columns(), grid.rows());
        let (wide, high) = (CELL * f64::from(columns), CELL * f64::from(rows));
        let cells = (0..grid.cells()).filter_map(|cell| u16::try_from(cell).ok());
        let names = self.alphabet.letter_name(0).len() <= 2;
        html! {
            svg class="letters" viewBox=(format!("0 0 {wide} {high}")) width=(wide) height=(high) role="img" aria-label="The grid, with the colours of its cells" {
                @for cell in cells {
                    @let (column, row) = (u32::from(cell) % columns, u32::from(cell) / columns);
                    @let (x, y) = (CELL * f64::from(column), CELL * f64::from(row));
                    @let color = self.color(cell);
                    rect x=(n(x + 0.5)) y=(n(y + 0.5)) width=(CELL - 1.0) height=(CELL - 1.0) rx="3" fill=(hex(color)) {}
                    @if names && u32::from(cell) < self.alphabet.size() {
                        text x=(n(x + CELL / 2.0)) y=(n(y + CELL / 2.0)) font-size="12" text-anchor="middle" dominant-baseline="central" fill=(ink(color)) { (self.alphabet.letter_name(cell)) }
                    }
                }
            }
        }
    }
}

/// The names in a list such as `face, "nose, mouth"`.
fn listed(list: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut quoted = false;
    let mut signs = list.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '"' if quoted && signs.peek() == Some(&'"') => {
                signs.next();
                push(&mut names, '"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => {
                names.push(String::new());
                signs.next_if_eq(&' ');
            }
            sign => push(&mut names, sign),
        }
    }
    names
}

fn push(names: &mut [String], sign: char) {
    if let Some(name) = names.last_mut() {
        name.push(sign);
    }
}

/// Interpolates between the corners.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and 255
fn cell_color(grid: Grid, cell: u16) -> Rgb {
    let part = |at: u32, count: u32| f64::from(at) / f64::from(count.saturating_sub(1).max(1));
    let right = part(u32::from(cell) % grid.columns(), grid.columns());
    let down = part(u32::from(cell) / grid.columns(), grid.rows()).min(1.0);
    std::array::from_fn(|channel| {
        let across = CORNERS.map(|[left, end]| {
            f64::from(left[channel]) * (1.0 - right) + f64::from(end[channel]) * right
        });
        (across[0] * (1.0 - down) + across[1] * down).round() as u8
    })
}

/// Cycles through the list, then through lighter and darker variants.
fn area_color(area: usize) -> Rgb {
    let color = AREAS[area % AREAS.len()];
    match area / AREAS.len() % 3 {
        0 => color,
        1 => color.map(|channel| channel / 2 + 127),
        _ => color.map(|channel| channel / 5 * 3),
    }
}

/// Black or white, whichever has the higher contrast.
fn ink([red, green, blue]: Rgb) -> &'static str {
    let linear = |channel: u8| (f64::from(channel) / 255.0).powf(2.2);
    let luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    // At this luminance, the contrasts with black and with white are equal.
    if luminance > 0.179 { "#000" } else { "#fff" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_areas_are_read() {
        assert_eq!(listed("face, hand"), ["face", "hand"]);
        assert_eq!(listed("\"a, b\", \"say \"\"c\"\"\""), ["a, b", "say \"c\""]);
    }

    #[test]
    fn every_letter_has_a_colour() {
        let grid = Grid::new(7, 7).unwrap();
        let colors: BTreeSet<Rgb> = (0..49).map(|cell| cell_color(grid, cell)).collect();
        assert_eq!(colors.len(), 49);
        assert_eq!(cell_color(grid, 48), CORNERS[1][1]);
        let colors: BTreeSet<Rgb> = (0..36).map(area_color).collect();
        assert_eq!(colors.len(), 36);
        let single = Grid::new(1, 1).unwrap();
        assert_eq!(cell_color(single, 0), CORNERS[0][0]);
    }
}
