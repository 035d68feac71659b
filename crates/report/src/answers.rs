//! Group answers as text for a terminal: a small table if there are several numbers, and a sentence ready for
//! publication.

use crate::plan;
use crate::table::{printable, push_aligned, rounded};
use crate::threshold_side::ThresholdSide;
use crate::units::{counted, grouped};
use std::fmt::Write as _;
use std::iter;
use unicode_width::UnicodeWidthStr;
use veilpath_metrics::MeasureKind;
use veilpath_protocol::{
    GroupAnswer, GroupMeans, GroupTest, Interval, MeasureColumn, NearestLabels, NearestRate,
    Outcome, ScoreHistogram, StimulusMeans,
};

/// A group answer of this outcome as lines of text.
pub(crate) fn text(answer: &GroupAnswer, outcome: &Outcome) -> String {
    match answer {
        GroupAnswer::StimulusMeans(means) => stimulus_means(means, outcome),
        GroupAnswer::GroupMeans(means) => group_means(means, outcome),
        GroupAnswer::Test(test) => sentence(test),
        GroupAnswer::NearestLabels(labels) => nearest_labels(labels),
        GroupAnswer::NearestRate(rate) => nearest_rate(rate),
        GroupAnswer::Histogram(histogram) => score_histogram(histogram, outcome),
    }
}

/// A p value with the usual number of digits.
pub(crate) fn p_value(p: f64) -> String {
    if p > 0.0 && p < 0.0001 {
        return "below 0.0001".into();
    }
    format!("{p:.4}")
}

/// The heading of means of a measure.
pub(crate) fn means_of(measure: &str, outcome: &Outcome) -> String {
    fraction_of(measure, outcome).unwrap_or_else(|| format!("Means of {}", printable(measure)))
}

/// The heading of a table of group means.
pub(crate) fn group_means_of(means: &GroupMeans, outcome: &Outcome) -> String {
    let of = about(&means.measure, means.stimulus.as_deref());
    match (fraction_of(&means.measure, outcome), &means.stimulus) {
        (None, _) => format!("Group means of {of}"),
        (Some(fraction), None) => format!("{fraction}, by group"),
        (Some(fraction), Some(stimulus)) => {
            format!("{fraction}, by group, stimulus {}", printable(stimulus))
        }
    }
}

/// The heading of a histogram.
pub(crate) fn histogram_of(histogram: &ScoreHistogram, outcome: &Outcome) -> String {
    let ScoreHistogram {
        measure, stimulus, ..
    } = histogram;
    let Some(threshold) = threshold_of(measure, outcome) else {
        return format!("Histogram of {}", about(measure, stimulus.as_deref()));
    };
    let whether = format!("whether they {} (1) or not (0)", threshold.verb_for(2));
    about(
        &format!("Histogram of pairs by {whether}"),
        stimulus.as_deref(),
    )
}

/// The mean of bits is the fraction of those that are set; `None` if the measure is a number.
fn fraction_of(measure: &str, outcome: &Outcome) -> Option<String> {
    let threshold = threshold_of(measure, outcome)?;
    Some(format!("Fraction of pairs {}", threshold.name()))
}

/// The threshold of a measure that is yes or no.
fn threshold_of(measure: &str, outcome: &Outcome) -> Option<ThresholdSide> {
    let mut measures = outcome.results.measures().iter();
    let is_bit = |it: &MeasureColumn| it.name == measure && it.kind == MeasureKind::Bit;
    measures
        .any(is_bit)
        .then(|| ThresholdSide::of(Some(outcome)))
}

fn stimulus_means(means: &StimulusMeans, outcome: &Outcome) -> String {
    let header = ["stimulus", "mean", "pairs"].map(String::from).to_vec();
    let rows = means.means.iter().map(|mean| {
        let stimulus = mean.stimulus.as_deref().unwrap_or("(all)");
        vec![
            printable(stimulus),
            mean.mean.map_or_else(
                || "–".into(),
                |number| with_interval(number, mean.interval.as_ref()),
            ),
            grouped(mean.pairs),
        ]
    });
    let between = match outcome.one_cohort {
        true => String::new(),
        false => format!(" between {}", plan::cohorts(&outcome.names).join(" and ")),
    };
    let title = format!(
        "{}{between}{}:",
        means_of(&means.measure, outcome),
        level_of(means.means.iter().filter_map(|mean| mean.interval.as_ref()))
    );
    lines(&title, 1, iter::once(header).chain(rows).collect())
}

fn group_means(means: &GroupMeans, outcome: &Outcome) -> String {
    let words = group_means_of(means, outcome);
    let level = level_of(means.intervals.iter().flatten().flatten());
    let title = format!("{words}{level} (pairs of participants):");
    let corner = match outcome.one_cohort {
        true => String::new(),
        false => plan::cohorts(&outcome.names).join(" \\ "),
    };
    let header = iter::once(corner).chain(means.columns.iter().map(|name| printable(name)));
    let rows = means.rows.iter().enumerate().map(|(row, name)| {
        let numbers = means.means[row].iter().enumerate().map(|(column, mean)| {
            let interval = means
                .intervals
                .get(row)
                .and_then(|row| row[column].as_ref());
            match mean {
                Some(mean) => format!(
                    "{} ({})",
                    with_interval(*mean, interval),
                    grouped(means.counts[row][column])
                ),
                None => "–".into(),
            }
        });
        iter::once(printable(name)).chain(numbers).collect()
    });
    lines(
        &title,
        1,
        iter::once(header.collect()).chain(rows).collect(),
    )
}

fn sentence(test: &GroupTest) -> String {
    format!(
        "{}\n  {}\n",
        printable(&test.question),
        finding(test, rounded)
    )
}

/// The result of a test, as a sentence with numbers in this form.
pub(crate) fn finding(test: &GroupTest, shown: impl Fn(f64) -> String) -> String {
    let stimulus = test.stimulus.as_deref();
    let stimulus = stimulus.map_or_else(String::new, |it| format!(" (stimulus {})", printable(it)));
    let mut details = Vec::new();
    let interval = test.interval.as_ref();
    details.extend(interval.map(|interval| confidence(interval, &shown)));
    let permutations = test.permutations.map(|count| counted(count, "permutation"));
    let method = [printable(&test.method)].into_iter().chain(permutations);
    let p = format!("p = {}", p_value(test.p_value));
    details.push(method.chain([p]).collect::<Vec<_>>().join(", "));
    format!(
        "The {}{stimulus} was {} ({}).",
        printable(&test.statistic),
        shown(test.value),
        details.join("; ")
    )
}

fn nearest_labels(labels: &NearestLabels) -> String {
    let title = format!(
        "Most common group among the {} nearest scanpaths, by {}:",
        labels.k,
        printable(&labels.measure)
    );
    let has_groups = labels.labels.iter().any(|label| label.group.is_some());
    let header = ["participant", "stimulus", "majority", "group"];
    let rows = labels.labels.iter().map(|label| {
        [
            label.scanpath.participant.as_str(),
            label.scanpath.stimulus.as_deref().unwrap_or_default(),
            &label.majority,
            label.group.as_deref().unwrap_or_default(),
        ]
    });
    let columns = header.len() - usize::from(!has_groups);
    let rows = iter::once(header).chain(rows);
    let rows = rows.map(|row| row[..columns].iter().map(|text| printable(text)).collect());
    lines(&title, columns, rows.collect())
}

#[allow(clippy::cast_precision_loss)] // a fraction; counts are far below 2⁵³
fn nearest_rate(rate: &NearestRate) -> String {
    let fraction = rate.correct as f64 / (rate.scanpaths.max(1)) as f64;
    let mut text = format!(
        "The {} nearest scanpaths by {} give the correct group, by majority, for {} of {} ({}",
        rate.k,
        printable(&rate.measure),
        grouped(rate.correct),
        counted(rate.scanpaths, "scanpath"),
        percent(fraction)
    );
    if let Some(interval) = &rate.interval {
        let _ = write!(text, ", {}", confidence(interval, percent));
    }
    let _ = write!(
        text,
        "); always naming the most frequent group would give {}",
        percent(rate.chance)
    );
    if let Some(p) = rate.p_value {
        let _ = write!(text, "; permutation test, p = {}", p_value(p));
    }
    if let Some(permutations) = rate.permutations {
        let _ = write!(text, ", {}", counted(permutations, "permutation"));
    }
    text.push_str(".\n");
    if rate.confusion.is_empty() {
        return text;
    }
    let names = || rate.groups.iter().map(|name| printable(name));
    let header = iter::once("group".into()).chain(names().map(|name| format!("as {name}")));
    let rows = names().zip(&rate.confusion).map(|(name, counts)| {
        let counts = counts.iter().map(|&count| grouped(count));
        iter::once(name).chain(counts).collect()
    });
    let rows = iter::once(header.collect()).chain(rows).collect();
    text + &lines(
        "Scanpaths of each group, and how they were classified:",
        1,
        rows,
    )
}

fn score_histogram(histogram: &ScoreHistogram, outcome: &Outcome) -> String {
    let mut title = histogram_of(histogram, outcome);
    if histogram.minimum > 1 {
        let _ = write!(title, " (–: suppressed)");
    }
    title.push(':');
    let header = ["from", "to", "pairs"].map(String::from).to_vec();
    let edges = histogram.bins.edges.windows(2);
    let rows = edges.zip(&histogram.bins.counts).map(|(edges, count)| {
        let count = count.map_or_else(|| "–".into(), grouped);
        vec![rounded(edges[0]), rounded(edges[1]), count]
    });
    lines(&title, 0, iter::once(header).chain(rows).collect())
}

fn about(measure: &str, stimulus: Option<&str>) -> String {
    match stimulus {
        Some(stimulus) => format!("{}, stimulus {}", printable(measure), printable(stimulus)),
        None => printable(measure),
    }
}

fn with_interval(number: f64, interval: Option<&Interval>) -> String {
    match interval {
        Some(interval) => format!("{} {}", rounded(number), ends(interval, rounded)),
        None => rounded(number),
    }
}

fn ends(interval: &Interval, shown: impl Fn(f64) -> String) -> String {
    format!("[{}, {}]", shown(interval.low), shown(interval.high))
}

/// An interval and its level, as in `95 % CI [0.41, 0.52]`.
pub(crate) fn confidence(interval: &Interval, shown: impl Fn(f64) -> String) -> String {
    format!("{} CI {}", percent(interval.level), ends(interval, shown))
}

/// The level of a table's intervals, if it has any.
fn level_of<'a>(mut intervals: impl Iterator<Item = &'a Interval>) -> String {
    let first = intervals.next();
    first.map_or_else(String::new, |interval| {
        format!(" [{} CI]", percent(interval.level))
    })
}

pub(crate) fn percent(fraction: f64) -> String {
    let text = format!("{:.1}", fraction * 100.0);
    format!("{} %", text.trim_end_matches(".0"))
}

/// A title and an aligned table. The first columns contain `words`, and the others numbers, which are right-aligned.
fn lines(title: &str, words: usize, rows: Vec<Vec<String>>) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let fields = rows.iter().filter_map(|row| row.get(column));
        fields.map(|field| field.width()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = format!("{title}\n");
    for fields in &rows {
        let mut line = String::new();
        for (column, (field, width)) in fields.iter().zip(&widths).enumerate() {
            push_aligned(&mut line, field, *width, column >= words);
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
