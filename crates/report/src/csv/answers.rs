//! Group answers as rows of numbers.

use crate::exact;
use veilpath_protocol::{Bins, GroupAnswer, Interval};

/// The columns of a table of answers: the answer and measure; the stimulus and participant, if the row is about one; the
/// groups of the first and second side, or the actual and assigned group of a scanpath; the number; the number of pairs
/// or scanpaths behind it; the ends of its confidence interval or bin; its p value.
pub const ANSWER_COLUMNS: [&str; 11] = [
    "answer",
    "measure",
    "stimulus",
    "participant",
    "group_a",
    "group_b",
    "value",
    "count",
    "low",
    "high",
    "p",
];

/// One row of the table. Unset fields stay empty.
#[derive(Default)]
struct Row<'a> {
    answer: &'static str,
    measure: &'a str,
    stimulus: Option<&'a str>,
    participant: &'a str,
    groups: [&'a str; 2],
    value: Option<f64>,
    count: Option<u64>,
    range: Option<[f64; 2]>,
    p: Option<f64>,
}

impl Row<'_> {
    fn fields(&self) -> [String; 11] {
        let number = |number: Option<f64>| number.map_or_else(String::new, exact);
        [
            self.answer.into(),
            self.measure.into(),
            self.stimulus.unwrap_or_default().into(),
            self.participant.into(),
            self.groups[0].into(),
            self.groups[1].into(),
            number(self.value),
            self.count
                .map_or_else(String::new, |count| count.to_string()),
            number(self.range.map(|[low, _]| low)),
            number(self.range.map(|[_, high]| high)),
            number(self.p),
        ]
    }
}

fn ends(interval: Option<&Interval>) -> Option<[f64; 2]> {
    interval.map(|interval| [interval.low, interval.high])
}

pub(super) fn answer_rows(answer: &GroupAnswer) -> Vec<[String; 11]> {
    rows(answer).iter().map(Row::fields).collect()
}

#[allow(clippy::cast_precision_loss)] // a fraction; counts are far below 2⁵³
fn rows(answer: &GroupAnswer) -> Vec<Row<'_>> {
    match answer {
        GroupAnswer::StimulusMeans(means) => means
            .means
            .iter()
            .map(|mean| Row {
                answer: "mean",
                measure: &means.measure,
                stimulus: mean.stimulus.as_deref(),
                value: mean.mean,
                count: Some(mean.pairs),
                range: ends(mean.interval.as_ref()),
                ..Row::default()
            })
            .collect(),
        GroupAnswer::GroupMeans(means) => {
            let mut rows = Vec::new();
            for (row, row_name) in means.rows.iter().enumerate() {
                for (column, column_name) in means.columns.iter().enumerate() {
                    let interval = means.intervals.get(row).and_then(|it| it[column].as_ref());
                    rows.push(Row {
                        answer: "groups",
                        measure: &means.measure,
                        stimulus: means.stimulus.as_deref(),
                        groups: [row_name, column_name],
                        value: means.means[row][column],
                        count: Some(means.counts[row][column]),
                        range: ends(interval),
                        ..Row::default()
                    });
                }
            }
            rows
        }
        GroupAnswer::Test(test) => {
            let about = |answer| Row {
                answer,
                measure: &test.measure,
                stimulus: test.stimulus.as_deref(),
                ..Row::default()
            };
            let mut rows = vec![Row {
                value: Some(test.value),
                count: test.permutations,
                range: ends(test.interval.as_ref()),
                p: Some(test.p_value),
                ..about("test")
            }];
            let null = test.null_distribution.iter();
            rows.extend(null.flat_map(move |null| bins(null, move || about("null-distribution"))));
            rows
        }
        GroupAnswer::NearestLabels(labels) => labels
            .labels
            .iter()
            .map(|label| Row {
                answer: "nearest",
                measure: &labels.measure,
                stimulus: label.scanpath.stimulus.as_deref(),
                participant: &label.scanpath.participant,
                groups: [label.group.as_deref().unwrap_or_default(), &label.majority],
                ..Row::default()
            })
            .collect(),
        GroupAnswer::NearestRate(rate) => {
            let about = |answer| Row {
                answer,
                measure: &rate.measure,
                count: Some(rate.scanpaths),
                ..Row::default()
            };
            let mut rows = vec![
                Row {
                    value: Some(rate.correct as f64 / rate.scanpaths.max(1) as f64),
                    range: ends(rate.interval.as_ref()),
                    p: rate.p_value,
                    ..about("rate")
                },
                Row {
                    value: Some(rate.chance),
                    ..about("chance")
                },
            ];
            for (own, counts) in rate.groups.iter().zip(&rate.confusion) {
                for (given, &count) in rate.groups.iter().zip(counts) {
                    rows.push(Row {
                        groups: [own, given],
                        count: Some(count),
                        ..about("confusion")
                    });
                }
            }
            rows
        }
        GroupAnswer::Histogram(histogram) => bins(&histogram.bins, || Row {
            answer: "histogram",
            measure: &histogram.measure,
            stimulus: histogram.stimulus.as_deref(),
            ..Row::default()
        })
        .collect(),
    }
}

/// One row per bin, with what it is about.
fn bins<'a>(
    bins: &'a Bins,
    about: impl Fn() -> Row<'a> + 'a,
) -> impl Iterator<Item = Row<'a>> + 'a {
    let edges = bins.edges.windows(2).zip(&bins.counts);
    edges.map(move |(edges, &count)| Row {
        count,
        range: Some([edges[0], edges[1]]),
        ..about()
    })
}
