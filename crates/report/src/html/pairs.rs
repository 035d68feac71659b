//! Two of this side's scanpaths side by side: how the metric aligns them, and where they recur.

use super::Report;
use super::cut::fit;
use super::measure::ShownMeasure;
use super::numbers;
use super::table::{Column, Field, folded, table};
use super::text_width::{NAME_ROOM, text_width};
use maud::{Markup, html};
use std::fmt::Write as _;
use veilpath_metrics::{
    Alignment, AlignmentStep, Alphabet, Comparison, Distance, Grid, NoAlignment, Scanpath,
};

/// Two scanpaths on the same stimulus, both on this machine.
#[derive(Clone, Debug)]
pub struct OwnPair {
    /// The participants.
    pub participants: [String; 2],
    /// The stimulus.
    pub stimulus: Option<String>,
    /// Their scanpaths.
    pub scanpaths: [Scanpath; 2],
    /// Their alphabet.
    pub alphabet: Alphabet,
    /// The metric of the plan, if known.
    pub comparison: Option<Comparison>,
    /// When two letters recur.
    pub recurrence: Recurrence,
}

/// When two letters recur.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recurrence {
    /// If they are equal.
    SameLetter,
    /// If their grid cells are at most this far apart, in cells.
    Within {
        /// The grid of the letters.
        grid: Grid,
        /// The distance.
        radius: f64,
    },
}

impl Recurrence {
    fn holds(self, a: u16, b: u16) -> bool {
        match self {
            Recurrence::SameLetter => a == b,
            Recurrence::Within { grid, radius } => {
                grid.distance(Distance::Euclidean, a, b) <= radius + 1e-9
            }
        }
    }

    fn description(self) -> String {
        match self {
            Recurrence::SameLetter => "both look at the same letter".into(),
            Recurrence::Within { radius, .. } => {
                format!(
                    "the grid cells are at most {} apart",
                    numbers::short(radius)
                )
            }
        }
    }
}

/// The most pairs that are shown.
pub const MAX_SHOWN_PAIRS: usize = 20;

/// The most columns of an alignment, and the most letters of a side of a recurrence plot.
const MAX_COLUMNS: usize = 2000;
const MAX_LETTERS: usize = 400;

/// The most rows of a table.
const MAX_ROWS: usize = 500;

/// The side of a recurrence plot.
const SIDE: f64 = 420.0;

/// The font size of its names.
const FONT: f64 = 12.0;

/// The section with all pairs; empty if there are none.
pub(crate) fn section(report: &Report<'_>, pairs: &[OwnPair]) -> Markup {
    html! {
        @if !pairs.is_empty() {
            section id="pairs" {
                h2 { "Pairs of scanpaths" }
                @for pair in pairs.iter().take(MAX_SHOWN_PAIRS) {
                    h3 { (heading(pair)) }
                    @if let Some(numbers) = numbers_of(report, pair) { p { "In the result file: " (numbers) "." } }
                    (alignment(pair))
                    (recurrence(pair))
                }
                @if pairs.len() > MAX_SHOWN_PAIRS {
                    p class="note" { "The first " (MAX_SHOWN_PAIRS) " of " (numbers::counted(pairs.len(), "pair")) " are shown. A report of a single stimulus shows more." }
                }
            }
        }
    }
}

fn heading(pair: &OwnPair) -> String {
    let [first, second] = &pair.participants;
    match &pair.stimulus {
        Some(stimulus) => format!("{first} and {second}: {stimulus}"),
        None => format!("{first} and {second}"),
    }
}

/// The pair's measures in the result file, if it is there.
fn numbers_of(report: &Report<'_>, pair: &OwnPair) -> Option<String> {
    let file = report.file;
    let stimulus = |at: usize| file.stimuli()[at].as_str();
    let row = file.rows().find(|row| {
        [&file.a()[row.a], &file.b()[row.b]] == [&pair.participants[0], &pair.participants[1]]
            && row.stimulus.map(stimulus) == pair.stimulus.as_deref()
    })?;
    let shown = |(at, value): (usize, &veilpath_protocol::Value)| {
        let number = value.number()?;
        let measure = ShownMeasure::at(file, at);
        let number = measure.with_unit(numbers::short(number));
        Some(format!("{} {number}", measure.name))
    };
    let shown: Vec<String> = row.values.iter().enumerate().filter_map(shown).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// A column of an alignment: the positions in both scanpaths, from 0.
struct AlignedColumn {
    step: AlignmentStep,
    positions: [usize; 2],
}

fn alignment(pair: &OwnPair) -> Markup {
    let Some(comparison) = &pair.comparison else {
        return html! { p class="note" { "There is no alignment: the file does not name the metric. A result file in JSON does." } };
    };
    let [a, b] = &pair.scanpaths;
    let alignment = match Alignment::of(comparison, a, b) {
        Ok(alignment) => alignment,
        Err(NoAlignment::Letters(_)) => {
            return html! { p class="note" { "There is no alignment: the scanpaths have letters that the plan does not have." } };
        }
        Err(error) => return html! { p class="note" { "There is no alignment: " (error) "." } },
    };
    let mut columns = Vec::with_capacity(alignment.steps.len());
    let mut positions = alignment.start;
    for &step in &alignment.steps {
        columns.push(AlignedColumn { step, positions });
        positions[0] += usize::from(step != AlignmentStep::Second);
        positions[1] += usize::from(step != AlignmentStep::First);
    }
    let letter = |side: usize, column: &AlignedColumn| {
        let missing = [AlignmentStep::Second, AlignmentStep::First][side];
        (column.step != missing).then(|| pair.scanpaths[side].letters()[column.positions[side]])
    };
    let kind = |column: &AlignedColumn| match (letter(0, column), letter(1, column)) {
        (Some(x), Some(y)) if x == y => Kind::Equal,
        (Some(_), Some(_)) => Kind::Different,
        _ => Kind::Gap,
    };
    let count = |wanted: Kind| {
        columns
            .iter()
            .filter(|column| kind(column) == wanted)
            .count()
    };
    let gaps = |step| {
        alignment
            .steps
            .iter()
            .filter(|&&other| other == step)
            .count()
    };
    let [first, second] = &pair.participants;
    let shown = |side: usize, column: &AlignedColumn| {
        letter(side, column).map_or_else(|| "–".into(), |letter| pair.alphabet.letter_name(letter))
    };
    let rows: Vec<Vec<Field>> = columns
        .iter()
        .take(MAX_ROWS)
        .enumerate()
        .map(|(at, column)| {
            let position = |side: usize| match letter(side, column) {
                Some(_) => {
                    let position = column.positions[side] + 1;
                    Field::number(numbers::count(position as u64), position as f64)
                }
                None => Field::none(),
            };
            vec![
                Field::words((at + 1).to_string()),
                position(0),
                Field::words(shown(0, column)),
                Field::words(shown(1, column)),
                position(1),
                Field::words(kind(column).name()),
            ]
        })
        .collect();
    let heads = [
        Column::Words("column"),
        Column::Numbers("place in the first"),
        Column::Words("first"),
        Column::Words("second"),
        Column::Numbers("place in the second"),
        Column::Words("what"),
    ];
    html! {
        figure {
            h4 { "Alignment" }
            p {
                "Above " (first) ", below " (second) ": "
                (numbers::counted(columns.len(), "column")) ", of which " (count(Kind::Equal)) " equal and " (count(Kind::Different)) " different; "
                (gaps(AlignmentStep::First)) " letters only above, " (gaps(AlignmentStep::Second)) " only below."
                (skipped_letters(&alignment, pair))
            }
            div class="alignment" role="img" aria-label="The alignment: the table below says the same" {
                @for column in columns.iter().take(MAX_COLUMNS) {
                    @let kind = kind(column);
                    span class=(kind.class()) { b { (shown(0, column)) } i { (kind.mark()) } b { (shown(1, column)) } }
                }
            }
            @if columns.len() > MAX_COLUMNS { p class="note" { "The first " (MAX_COLUMNS) " columns are shown." } }
            (folded("Alignment as a table", &table("The alignment, column by column", &heads, &rows)))
            @if columns.len() > MAX_ROWS { p class="note" { "The table has the first " (MAX_ROWS) " columns." } }
        }
    }
}

/// What a local alignment skips, in words.
fn skipped_letters(alignment: &Alignment, pair: &OwnPair) -> String {
    let lengths = alignment.lengths();
    let parts = [0, 1].map(|side| {
        let (start, length) = (alignment.start[side], lengths[side]);
        let whole = pair.scanpaths[side].len();
        (length < whole).then(|| match length {
            0 => format!("no letter of {}", pair.participants[side]),
            _ => format!(
                "letters {} to {} of the {whole} of {}",
                start + 1,
                start + length,
                pair.participants[side]
            ),
        })
    });
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(
            " The best alignment covers only a part: {}.",
            parts.join(", ")
        ),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Equal,
    Different,
    Gap,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Equal => "equal",
            Kind::Different => "different",
            Kind::Gap => "gap",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Kind::Equal => "equal",
            Kind::Different => "different",
            Kind::Gap => "gap",
        }
    }

    /// A mark, so that the figure does not depend on colour alone.
    fn mark(self) -> &'static str {
        match self {
            Kind::Equal => "|",
            Kind::Different => "×",
            Kind::Gap => "\u{a0}",
        }
    }
}

fn recurrence(pair: &OwnPair) -> Markup {
    let [a, b] = pair.scanpaths.each_ref().map(|scanpath| {
        let letters = scanpath.letters();
        &letters[..letters.len().min(MAX_LETTERS)]
    });
    let recurs = |i: usize, j: usize| pair.recurrence.holds(a[i], b[j]);
    let points = (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j)));
    let points = points.filter(|&(i, j)| recurs(i, j)).count();
    if a.is_empty() || b.is_empty() {
        return html! {};
    }
    let percentage = 100.0 * points as f64 / (a.len() * b.len()) as f64;
    let cut = pair
        .scanpaths
        .iter()
        .any(|scanpath| scanpath.len() > MAX_LETTERS);
    let [first, second] = &pair.participants;
    html! {
        figure {
            h4 { "Recurrence" }
            p {
                "A square is a letter of " (first) " (down) and a letter of " (second) " (across) where " (pair.recurrence.description()) ": "
                (numbers::counted(points, "point")) ", " (numbers::short(percentage)) " % of " (numbers::count((a.len() * b.len()) as u64))
                ". Squares along a diagonal are places that both visit in the same order."
                @if cut { " The first " (MAX_LETTERS) " letters are shown and counted." }
            }
            (dots(pair, [a.len(), b.len()], &recurs))
            (recurrence_table(pair, [a, b], &recurs))
        }
    }
}

/// The plot. Adjacent squares form one piece of the path.
fn dots(pair: &OwnPair, [m, n]: [usize; 2], recurs: &dyn Fn(usize, usize) -> bool) -> Markup {
    let unit = (SIDE / m.max(n) as f64).min(16.0);
    let (wide, high) = (unit * n as f64, unit * m as f64);
    let (left, top) = (52.0, 42.0);
    let [first, second] = pair.participants.each_ref();
    let across = format!("{} →", fit(second, NAME_ROOM));
    let down = format!("← {}", fit(first, NAME_ROOM));
    // The names may be longer than the plot.
    let [width, height] = [
        (left + wide + 12.0, left, &across),
        (top + high + 4.0, top, &down),
    ]
    .map(|(plot, start, name)| plot.max(start + FONT * text_width(name) + 2.0));
    let mut path = String::new();
    for i in 0..m {
        let mut j = 0;
        while j < n {
            let run = (j..n).take_while(|&j| recurs(i, j)).count();
            if run > 0 {
                let (x, y) = (left + unit * j as f64, top + unit * i as f64);
                let long = unit * run as f64;
                let _ = write!(path, "M{x:.1} {y:.1}h{long:.1}v{unit:.1}h-{long:.1}z");
            }
            j += run + 1;
        }
    }
    let ticks = |count: usize| -> Vec<f64> {
        let ticks = numbers::ticks(1.0, count as f64, 5).into_iter();
        let whole = ticks.filter(|tick| tick.fract() == 0.0 && (1.0..=count as f64).contains(tick));
        whole.collect()
    };
    let middle = |tick: f64| unit * (tick - 0.5);
    html! {
        svg class="recurrence" viewBox=(format!("0 0 {width:.0} {height:.0}")) width=(format!("{width:.0}"))
            height=(format!("{height:.0}")) role="img" aria-label="Recurrence plot: the table below has the same points" {
            g class="axis" {
                text x=(left) y="13" { (across) }
                text transform=(format!("translate(13 {top}) rotate(-90)")) text-anchor="end" { (down) }
                @for tick in ticks(n) { path class="grid" d=(format!("M{:.1} {top}v{high:.1}", left + middle(tick))) {} }
                @for tick in ticks(m) { path class="grid" d=(format!("M{left} {:.1}h{wide:.1}", top + middle(tick))) {} }
                @for tick in ticks(n) { text x=(format!("{:.1}", left + middle(tick))) y=(top - 8.0) text-anchor="middle" { (numbers::short(tick)) } }
                @for tick in ticks(m) { text x=(left - 7.0) y=(format!("{:.1}", top + middle(tick))) text-anchor="end" dominant-baseline="central" { (numbers::short(tick)) } }
            }
            path class="dots" d=(path) {}
            rect class="frame" x=(left) y=(top) width=(format!("{wide:.1}")) height=(format!("{high:.1}")) {}
        }
    }
}

fn recurrence_table(
    pair: &OwnPair,
    [a, b]: [&[u16]; 2],
    recurs: &dyn Fn(usize, usize) -> bool,
) -> Markup {
    let rows: Vec<Vec<Field>> = a
        .iter()
        .enumerate()
        .map(|(i, &letter)| {
            let positions: Vec<usize> = (0..b.len()).filter(|&j| recurs(i, j)).collect();
            let mut listed: Vec<String> = positions
                .iter()
                .take(30)
                .map(|j| (j + 1).to_string())
                .collect();
            if positions.len() > listed.len() {
                listed.push("…".into());
            }
            vec![
                Field::number((i + 1).to_string(), (i + 1) as f64),
                Field::words(pair.alphabet.letter_name(letter)),
                Field::number(
                    numbers::count(positions.len() as u64),
                    positions.len() as f64,
                ),
                Field::words(listed.join(", ")),
            ]
        })
        .collect();
    let columns = [
        Column::Words("place in the first"),
        Column::Words("letter"),
        Column::Numbers("points"),
        Column::Words("places in the second"),
    ];
    folded(
        "Recurrence as a table",
        &table("Where each letter of the first recurs", &columns, &rows),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_recur_within_a_radius() {
        let grid = Grid::new(3, 3).unwrap();
        let within = |radius| Recurrence::Within { grid, radius };
        assert!(Recurrence::SameLetter.holds(4, 4) && !Recurrence::SameLetter.holds(4, 5));
        // Cell 4 is the centre: 1 is above it, 0 is at a corner.
        assert!(within(1.0).holds(4, 1) && !within(1.0).holds(4, 0));
        assert!(within(f64::sqrt(2.0)).holds(4, 0));
    }
}
