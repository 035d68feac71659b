//! A table for people at a terminal, and the summary below it.

use crate::answers;
use crate::csv::IDS;
use crate::html::cut::cut;
use crate::units::{
    bytes, counted, error_bound, fixation_rounding, grouped, measure_unit, seconds,
};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::iter;
use unicode_width::UnicodeWidthStr;
use veilpath_metrics::text;
use veilpath_metrics::{MeasureKind, Symmetry};
use veilpath_protocol::{Engine, Outcome, ResultRow, Reveal, Spec, Value};

/// Writes all rows as an aligned table, followed by the group answers.
pub fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    write_first(outcome, usize::MAX, out)?;
    Ok(())
}

/// What [`write_first`] did not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// Pairs.
    pub pairs: usize,
    /// Rows of group answers; a line below each shortened answer says how many.
    pub answer_rows: usize,
}

/// Writes at most `limit` pairs, and as many rows of each group answer, and returns how many remain. If the results are for
/// the other side only, one line says so.
///
/// One pass finds the column widths and another writes the rows, so millions of rows need no memory.
pub fn write_first(outcome: &Outcome, limit: usize, out: &mut dyn Write) -> io::Result<Remaining> {
    if outcome.is_incomplete() {
        writeln!(out, "{}", incomplete(outcome))?;
    }
    if outcome.is_withheld() {
        writeln!(out, "{}", withheld(outcome))?;
    } else if !outcome.results.is_empty() || outcome.answers.is_empty() {
        write_rows(outcome, limit, out)?;
    }
    if outcome.results.is_empty() && !outcome.answers.is_empty() {
        writeln!(out, "{}", answers_title(outcome))?;
    }
    let answer_rows = write_first_answers(outcome, limit, out)?;
    out.flush()?;
    Ok(Remaining {
        pairs: outcome.results.len().saturating_sub(limit),
        answer_rows,
    })
}

/// Writes the first rows of each group answer, and returns the number of remaining ones.
fn write_first_answers(outcome: &Outcome, limit: usize, out: &mut dyn Write) -> io::Result<usize> {
    // A table has two more lines than rows: its title and its header.
    let limit = limit.saturating_add(2);
    let mut remaining = 0;
    for answer in answer_texts(outcome) {
        for line in answer.lines().take(limit) {
            writeln!(out, "{line}")?;
        }
        let more = answer.lines().skip(limit).count();
        if more > 0 {
            writeln!(out, "… and {}", counted(more as u64, "more row"))?;
        }
        remaining += more;
    }
    Ok(remaining)
}

/// The group answers as text, with sentences ready for publication.
pub fn answers(outcome: &Outcome) -> String {
    answer_texts(outcome).collect()
}

/// Each group answer as text.
fn answer_texts(outcome: &Outcome) -> impl Iterator<Item = String> {
    let answers = outcome.answers.iter();
    answers.map(move |it| answers::text(it, outcome))
}

/// The start of the first line of group answers without pairs.
const STATISTICS: &str = "Statistics of ";

fn answers_title(outcome: &Outcome) -> String {
    let [first, second] = crate::plan::cohorts(&outcome.names);
    let metric = outcome.spec.metric.name();
    match outcome.one_cohort {
        true => format!("{STATISTICS}{first} by {metric}"),
        false => format!("{STATISTICS}{first} and {second} by {metric}"),
    }
}

/// Whether a table of results starts with this line.
pub fn is_first_line(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_unnamed = IDS[..2].iter().all(|id| words.next() == Some(id));
    let is_named = line.starts_with(" a: ") && line.contains("  b: ");
    is_unnamed
        || is_named
        || line.ends_with(WITHHELD)
        || line.starts_with(MISSING)
        || line.starts_with(STATISTICS)
}

/// The start of the line above a table with missing results.
const MISSING: &str = "incomplete: ";

/// Says that results are missing.
pub(crate) fn incomplete(outcome: &Outcome) -> String {
    format!("{MISSING}{}", result_count(outcome))
}

/// How many pairs have results, as in `12 of 900 pairs`.
pub(crate) fn result_count(outcome: &Outcome) -> String {
    let results = grouped(outcome.results.len() as u64);
    format!("{results} of {}", counted(outcome.pairs, "pair"))
}

/// The end of the line that replaces a table for the other side only.
const WITHHELD: &str = "compared; the results are for the other side only";

/// Says that the results are for the other side only.
pub(crate) fn withheld(outcome: &Outcome) -> String {
    let pairs = counted(outcome.pairs, "pair");
    let verb = if outcome.pairs == 1 { "was" } else { "were" };
    format!("{pairs} {verb} {WITHHELD}")
}

fn write_rows(outcome: &Outcome, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    let rows = || outcome.rows().take(limit);
    let with_stimulus = rows().any(|row| row.stimulus.is_some());
    let measures = outcome.results.measures();
    let names = measures.iter().map(|measure| printable(&measure.name));
    let header: Vec<String> = id_columns(outcome).into_iter().chain(names).collect();
    // Numbers are right-aligned.
    let is_number = |column: usize| {
        let measure = column
            .checked_sub(IDS.len())
            .and_then(|at| measures.get(at));
        measure.is_some_and(|measure| measure.kind != MeasureKind::Bit)
    };
    let mut widths: Vec<usize> = header.iter().map(|field| field.width()).collect();
    for row in rows() {
        for (width, field) in widths.iter_mut().zip(fields(&row)) {
            *width = field.width().max(*width);
        }
    }
    let mut line = String::new();
    for fields in iter::once(header).chain(rows().map(|row| fields(&row))) {
        line.clear();
        for (column, (field, width)) in fields.iter().zip(&widths).enumerate() {
            if column == STIMULUS && !with_stimulus {
                continue;
            }
            push_aligned(&mut line, field, *width, is_number(column));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// The id columns as in CSV, with the cohorts' names unless these are the defaults or `a` and `b`.
fn id_columns(Outcome { names, .. }: &Outcome) -> [String; IDS.len()] {
    let [a, b, stimulus] = IDS;
    let [a, b] = match *names == Outcome::UNNAMED || *names == [a, b] {
        true => [a, b].map(String::from),
        false => [(a, &names[0]), (b, &names[1])].map(|(id, name)| format!("{id}: {}", cut(name))),
    };
    [a, b, stimulus.into()]
}

/// The column that is omitted if there are no stimuli.
const STIMULUS: usize = 2;

pub(crate) fn push_aligned(line: &mut String, field: &str, width: usize, right: bool) {
    let padding = " ".repeat(width.saturating_sub(field.width()));
    let _ = if right {
        write!(line, " {padding}{field} ")
    } else {
        write!(line, " {field}{padding} ")
    };
}

fn fields(row: &ResultRow<'_>) -> Vec<String> {
    let stimulus = row.stimulus.as_deref().unwrap_or_default();
    let ids = [row.a, row.b, stimulus].map(printable);
    let values = row.values.iter().map(|value| match value {
        Value::Missing => String::new(),
        Value::Number(number) => rounded(*number),
        Value::Bit(true) => "yes".into(),
        Value::Bit(false) => "no".into(),
    });
    ids.into_iter().chain(values).collect()
}

/// The plan for comparing two cohorts on this machine, in words, one part per line.
pub fn plan(spec: &Spec) -> String {
    let names = Outcome::UNNAMED.map(String::from);
    let mut text = String::from("plan:\n");
    let in_the_clear = spec.engine == Engine::Plain;
    for (name, words) in crate::plan::describe(spec, &names, in_the_clear) {
        let _ = writeln!(text, "  {}: {words}", name.to_lowercase());
    }
    text
}

/// The results and their cost: the number of pairs with the mean and range of their scores, time and traffic, and what
/// each side learned. Group answers are not included.
pub fn summary(outcome: &Outcome) -> String {
    headline(outcome) + &details(outcome) + &learned(outcome)
}

/// The number of pairs, with the mean and range of their scores.
pub fn headline(outcome: &Outcome) -> String {
    let mut text = String::new();
    if outcome.is_incomplete() {
        let _ = writeln!(text, "{}", incomplete(outcome));
    }
    let _ = writeln!(text, "{}", results_line(outcome));
    text
}

/// Precision, time and traffic.
pub fn details(outcome: &Outcome) -> String {
    let mut text = String::new();
    if let Some(bound) = outcome.error_bound {
        let bound = error_bound(bound);
        let near = match outcome.spec.reveal {
            Reveal::Score | Reveal::Group(_) => "",
            Reveal::Threshold(_) => {
                ", so a pair this close to the threshold may fall on the wrong side of it"
            }
        };
        let _ = writeln!(text, "scores are accurate to ±{bound}{near}");
    }
    if let Some(rounding) = outcome.spec.fixation_rounding() {
        let _ = writeln!(text, "fixations are {}", fixation_rounding(&rounding));
    }
    let question = outcome.spec.reveal.group_question();
    if let Some(rounding) = question.and_then(|question| question.rounding(&outcome.spec)) {
        let _ = writeln!(text, "{rounding}");
    }
    let _ = writeln!(text, "{}", cost_line(outcome));
    text
}

/// The size of the computation, for those who want details; empty if nothing was computed.
pub fn work(Outcome { cost, .. }: &Outcome) -> String {
    let cells = counted(cost.cells, "matrix cell");
    match (cost.cells, cost.rounds) {
        (0, 0) => String::new(),
        (_, 0) => format!("{cells}\n"),
        (_, rounds) => format!("{cells}, {}\n", counted(rounds, "round")),
    }
}

/// What each side learned.
pub fn learned(outcome: &Outcome) -> String {
    let mut text = String::new();
    if !outcome.revealed.is_empty() {
        let engine = outcome.spec.engine.name();
        let pairs = match outcome.is_incomplete() {
            true => " about the pairs that were computed",
            false => "",
        };
        let _ = writeln!(text, "What each side learned{pairs} ({engine} engine):");
    }
    for revealed in &outcome.revealed {
        let _ = writeln!(text, "  {:<5} {}", revealed.to, revealed.what);
    }
    if !outcome.revealed.is_empty() && matches!(outcome.spec.reveal, Reveal::Threshold(_)) {
        let _ = writeln!(text, "{REPEATED_THRESHOLDS}");
    }
    text
}

/// What several results with thresholds reveal together.
pub(crate) const REPEATED_THRESHOLDS: &str =
    "Repeating the comparison with other thresholds narrows down the score of a pair.";

fn results_line(outcome: &Outcome) -> String {
    if outcome.is_withheld() {
        return withheld(outcome);
    }
    let metric = outcome.spec.metric.name();
    if outcome.results.is_empty() && !outcome.answers.is_empty() {
        return format!("{} by {metric}", counted(outcome.pairs, "pair"));
    }
    let noun = match (outcome.spec.reveal, outcome.counts_both_orders(0)) {
        (Reveal::Threshold(_), true) => "ordered pair",
        _ => "pair",
    };
    let pairs = counted(distinct_pairs(outcome).count() as u64, noun);
    if let Reveal::Threshold(threshold) = outcome.spec.reveal {
        let within = distinct_pairs(outcome).filter(|value| value.bit() == Some(true));
        let side = if outcome.spec.metric.is_distance() {
            "most"
        } else {
            "least"
        };
        let within = grouped(within.count() as u64);
        return format!("{pairs} by {metric}: {within} with a score of at {side} {threshold}");
    }
    let measures = outcome.results.measures();
    let several = measures.len() > 1 && measures.iter().all(|measure| measure.name != "score");
    if !several {
        let spread = spread(outcome, 0, "");
        return match spread.is_empty() {
            true => format!("{pairs} by {metric}"),
            false if outcome.spec.metric.is_distance() => {
                format!("{pairs} by {metric} (smaller is more alike): {spread}")
            }
            false => format!("{pairs} by {metric}: {spread}"),
        };
    }
    let mut text = format!("{pairs} by {metric}");
    let mut separator = ": ";
    for (column, measure) in measures.iter().enumerate() {
        let spread = spread(outcome, column, &format!("{} ", printable(&measure.name)));
        if !spread.is_empty() {
            let _ = write!(text, "{separator}{spread}");
            separator = "\n  ";
        }
    }
    text
}

/// The mean and range of a measure; empty if there are no pairs. `name` is the measure's, before its numbers.
fn spread(outcome: &Outcome, column: usize, name: &str) -> String {
    // A pair that occurs in both directions may have two scores. Both enter the mean.
    let others = outcome
        .results
        .iter()
        .filter(|pair| !outcome.one_cohort || pair.a != pair.b);
    let ordered = outcome.counts_both_orders(column);
    let mut undefined = 0;
    let mut numbers: Vec<f64> = Vec::new();
    for pair in others {
        match pair.values.get(column).and_then(|value| value.number()) {
            Some(number) => numbers.push(number),
            None if outcome.one_cohort && !ordered && pair.a > pair.b => {}
            None => undefined += 1,
        }
    }
    let measure = outcome.results.measures().get(column);
    let unit = measure.and_then(|it| measure_unit(outcome.spec.metric.name(), &it.name));
    let shown = |number: f64| match unit {
        Some(unit) => format!("{} {unit}", rounded(number)),
        None => rounded(number),
    };
    let noun = if ordered { "ordered pair" } else { "pair" };
    let Some(spread) = Spread::of(&numbers) else {
        return match undefined {
            0 => String::new(),
            _ => format!("{name}undefined for {}", counted(undefined, noun)),
        };
    };
    let mut text = match (outcome.one_cohort, outcome.symmetry(column)) {
        // The two orders of a pair cancel each other.
        (true, Symmetry::Antisymmetric) => name.to_string(),
        _ => format!("mean {name}{}, ", shown(spread.mean)),
    };
    let range = [shown(spread.smallest), shown(spread.largest)];
    let _ = write!(text, "from {} to {}", range[0], range[1]);
    if ordered {
        text.push_str(", over both orders of each pair");
    }
    if undefined > 0 {
        let _ = write!(text, "; undefined for {}", counted(undefined, noun));
    }
    text
}

/// The first value of every pair. If a cohort is compared with itself, a scanpath paired with itself is skipped, and a
/// pair that occurs in both directions counts once, unless its bit depends on the order.
fn distinct_pairs(outcome: &Outcome) -> impl Iterator<Item = Value> {
    let is_bit = matches!(outcome.spec.reveal, Reveal::Threshold(_));
    let ordered = is_bit && outcome.counts_both_orders(0);
    let counts = move |a: usize, b: usize| !outcome.one_cohort || a < b || ordered && a != b;
    let pairs = outcome.results.iter();
    pairs
        .filter(move |pair| counts(pair.a, pair.b))
        .filter_map(|pair| pair.values.first().copied())
}

struct Spread {
    mean: f64,
    smallest: f64,
    largest: f64,
}

impl Spread {
    #[allow(clippy::cast_precision_loss)]
    fn of(scores: &[f64]) -> Option<Self> {
        (!scores.is_empty()).then(|| Self {
            mean: scores.iter().sum::<f64>() / scores.len() as f64,
            smallest: scores.iter().copied().fold(f64::INFINITY, f64::min),
            largest: scores.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

fn cost_line(Outcome { cost, spec, .. }: &Outcome) -> String {
    // A private engine always needs rounds.
    let is_stored = cost.pairs_from_journal > 0 || spec.engine != Engine::Plain;
    if cost.rounds == 0 && is_stored {
        return "results of earlier runs".into();
    }
    let time = seconds(cost.seconds);
    if cost.rounds == 0 {
        return format!("{time}, on this machine");
    }
    format!(
        "{time}; {} sent, {} received",
        bytes(cost.bytes_sent),
        bytes(cost.bytes_received)
    )
}

/// At most six decimals, without trailing zeros.
pub(crate) fn rounded(number: f64) -> String {
    let text = format!("{number:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".into()
    } else {
        text.into()
    }
}

/// Makes ids from files and other institutions safe to print.
pub(crate) fn printable(text: &str) -> String {
    text::printable(text).into_owned()
}
