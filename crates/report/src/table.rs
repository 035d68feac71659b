//! A table for people, and the few lines around it.

use crate::csv::{HEADER, HEADER_OF_BITS};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::iter;
use unicode_width::UnicodeWidthStr;
use veilpath_protocol::{Answer, Cost, Outcome, ResultRow, Reveal};

/// Writes the rows as an aligned table: one pass for the widths of the columns and one for the rows, so that millions of
/// rows need no memory.
pub fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let with_stimulus = outcome.rows().any(|row| row.stimulus.is_some());
    let header: Vec<String> = match outcome.spec.reveal {
        Reveal::Score => HEADER.map(String::from).to_vec(),
        Reveal::Threshold(_) => HEADER_OF_BITS.map(String::from).to_vec(),
    };
    let mut widths: Vec<usize> = header.iter().map(|cell| cell.width()).collect();
    for row in outcome.rows() {
        let cells = cells(&row);
        for (width, cell) in widths.iter_mut().zip(&cells) {
            *width = cell.width().max(*width);
        }
    }
    let of_bits = header.len() == HEADER_OF_BITS.len();
    let mut line = String::new();
    for cells in iter::once(header).chain(outcome.rows().map(|row| cells(&row))) {
        line.clear();
        for (index, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            if index == STIMULUS && !with_stimulus {
                continue;
            }
            let blanks = " ".repeat(width - cell.width());
            let _ = if index > STIMULUS && !of_bits {
                write!(line, " {blanks}{cell} ")
            } else {
                write!(line, " {cell}{blanks} ")
            };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    out.flush()
}

/// What stands in the place of the table where the answers are the other side's alone.
pub fn write_nothing_told(outcome: &Outcome, pairs: usize, out: &mut dyn Write) -> io::Result<()> {
    let answers = match outcome.spec.reveal {
        Reveal::Score => "scores",
        Reveal::Threshold(_) => "answers",
    };
    let were = if pairs == 1 { "was" } else { "were" };
    let pairs = count(pairs, "pair");
    writeln!(out, "this side gets no {answers}; {pairs} {were} compared")?;
    out.flush()
}

/// The column that is left out where there are no stimuli; numbers stand behind it, aligned at the right, or yes and no.
const STIMULUS: usize = 2;

fn cells(row: &ResultRow<'_>) -> Vec<String> {
    let stimulus = row.stimulus.as_deref().unwrap_or_default();
    let mut cells = [row.a, row.b, stimulus].map(printable).to_vec();
    match row.answer {
        Answer::Score(reading) => {
            cells.push(rounded(reading.score));
            cells.push(reading.similarity.map(rounded).unwrap_or_default());
        }
        Answer::Within(within) => cells.push(if within { "yes" } else { "no" }.into()),
    }
    cells
}

/// How many pairs, their scores or how many are within, the cost, and what each side learned: for standard error below any format.
pub fn closing_lines(outcome: &Outcome) -> String {
    let mut text = String::new();
    let answers = outcome.results.iter().map(|scored| scored.answer);
    let scores: Vec<f64> = answers
        .clone()
        .filter_map(|answer| Some(answer.reading()?.score))
        .collect();
    if let (Reveal::Threshold(threshold), 1..) = (outcome.spec.reveal, outcome.results.len()) {
        let within = answers.filter(|answer| answer.within() == Some(true));
        let side = if outcome.spec.metric.is_distance() {
            "most"
        } else {
            "least"
        };
        let _ = writeln!(
            text,
            "{} by {}: {} within, with a score of at {side} {threshold}",
            count(outcome.results.len(), "pair"),
            outcome.spec.metric.name(),
            within.count(),
        );
    }
    if let Some(spread) = Spread::of(&scores) {
        let _ = writeln!(
            text,
            "{} by {}: mean {}, from {} to {}",
            count(scores.len(), "pair"),
            outcome.spec.metric.name(),
            rounded(spread.mean),
            rounded(spread.least),
            rounded(spread.greatest)
        );
    }
    let _ = writeln!(text, "{}", cost_line(&outcome.cost));
    let _ = writeln!(
        text,
        "What each side learned ({} engine):",
        outcome.spec.engine.name()
    );
    for revealed in &outcome.revealed {
        let _ = writeln!(text, "  {:<5} {}", revealed.to, revealed.what);
    }
    text
}

struct Spread {
    mean: f64,
    least: f64,
    greatest: f64,
}

impl Spread {
    #[allow(clippy::cast_precision_loss)]
    fn of(scores: &[f64]) -> Option<Self> {
        (!scores.is_empty()).then(|| Self {
            mean: scores.iter().sum::<f64>() / scores.len() as f64,
            least: scores.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: scores.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

fn cost_line(cost: &Cost) -> String {
    format!(
        "{} in {:.3} s; {} bytes sent, {} received, {}",
        count(usize::try_from(cost.cells).unwrap_or(usize::MAX), "cell"),
        cost.seconds,
        cost.bytes_sent,
        cost.bytes_received,
        count(usize::try_from(cost.rounds).unwrap_or(usize::MAX), "round")
    )
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// At most six decimals, without trailing zeros.
fn rounded(number: f64) -> String {
    let text = format!("{number:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".into()
    } else {
        text.into()
    }
}

/// Ids come from files; control characters in them must not steer the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}
