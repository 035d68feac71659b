//! Group answers: figures and their tables.

use super::{between, page_of};
use crate::common::{self, every_answer, small};
use veilpath_protocol::{Bins, GroupAnswer, GroupMeans, Outcome, ScoreHistogram, Value};

fn with(answers: Vec<GroupAnswer>) -> Outcome {
    let mut outcome = small();
    outcome.results.clear();
    outcome.answers = answers;
    outcome
}

fn groups_of(outcome: Outcome) -> String {
    let page = page_of(outcome);
    between(&page, "id=\"groups\"", "</section>").to_string()
}

#[test]
fn every_answer_has_its_figure_and_its_table() {
    insta::assert_snapshot!(groups_of(with(every_answer())).replace("><", ">\n<"));
}

/// They are computed from an earlier result: nothing was compared, sent or revealed.
#[test]
fn the_page_of_statistics_is_not_that_of_a_comparison() {
    let mut outcome = with(every_answer());
    outcome.revealed.clear();
    (outcome.a, outcome.b) = (Vec::new(), Vec::new());
    let page = page_of(outcome);
    assert!(page.contains("Statistics of Clinic and University, by Levenshtein."));
    assert!(page.contains("These statistics were computed from an earlier result"));
    for absent in [
        "No pairs",
        "<dt>time</dt>",
        "Revealed per pair",
        "Cost and time",
        "no results for",
    ] {
        assert!(!page.contains(absent), "{absent}");
    }
    let mut outcome = with(every_answer());
    (outcome.a, outcome.b) = (Vec::new(), Vec::new());
    outcome.one_cohort = true;
    assert!(page_of(outcome).contains("Statistics of Clinic, by Levenshtein."));
}

#[test]
fn means_of_yes_and_no_are_fractions_of_pairs() {
    let mut outcome = common::outcome(
        common::spec("threshold:3"),
        &[("p", "x", "cows", &[Value::Bit(true)])],
    );
    outcome.results.clear();
    outcome.answers = every_answer();
    for answer in &mut outcome.answers {
        match answer {
            GroupAnswer::StimulusMeans(means) => means.measure = "within".into(),
            GroupAnswer::GroupMeans(means) => means.measure = "within".into(),
            GroupAnswer::Histogram(histogram) => histogram.measure = "within".into(),
            _ => {}
        }
    }
    let text = veilpath_report::table::answers(&outcome);
    let groups = groups_of(outcome);
    for (place, text) in [("terminal", text), ("page", groups)] {
        assert!(
            text.contains("Fraction of pairs within the threshold"),
            "{place}: {text}"
        );
        assert!(
            text.contains("Fraction of pairs within the threshold, by group"),
            "{place}"
        );
        assert!(!text.contains("eans of within"), "{place}: {text}");
        assert!(
            text.contains(
                "Histogram of pairs by whether they are within the threshold (1) or not (0)"
            ),
            "{place}: {text}"
        );
    }
}

#[test]
fn narrow_bins_have_different_bounds() {
    let mut answers = every_answer();
    if let GroupAnswer::Test(test) = &mut answers[1] {
        test.statistic =
            "mean similarity within groups minus the mean similarity between groups".into();
        test.value = 0.013_491_3;
        test.null_distribution = Some(Bins {
            edges: vec![0.0115, 0.0118, 0.0121, 0.0124],
            counts: vec![Some(90), Some(8000), Some(1909)],
        });
    }
    let groups = groups_of(with(answers));
    assert!(groups.contains("0.01150 to 0.01180"), "{groups}");
    assert!(!groups.contains("0.012 to 0.012"));
    // The sentence has as many digits as the rest of the page.
    assert!(groups.contains("was 0.013 (95 % CI [−4.5, −2]"), "{groups}");
    // The axis name is too long for a line.
    assert!(
        groups.contains("between groups</text>")
            && !groups.contains(
                ">mean similarity within groups minus the mean similarity between groups</text>"
            )
    );
}

/// A small number beside larger ones is not rounded to zero.
#[test]
fn small_differences_are_shown() {
    let mut answers = every_answer();
    if let GroupAnswer::Test(test) = &mut answers[1] {
        test.value = 0.0003;
        if let Some(interval) = &mut test.interval {
            (interval.low, interval.high) = (-0.011, 0.012);
        }
    }
    let groups = groups_of(with(answers));
    assert!(
        groups.contains("was 0.0003 (95 % CI [−0.011, 0.012]"),
        "{groups}"
    );
}

/// Every drawing has an accessible name, and text below it says the same.
#[test]
fn drawings_have_names_and_tables() {
    let groups = groups_of(with(every_answer()));
    let drawings = groups.matches("<svg").count();
    assert_eq!(drawings, 5, "two matrices, two distributions, confusion");
    assert_eq!(
        groups.matches("role=\"img\" aria-labelledby").count(),
        drawings
    );
    for figure in groups.split("<figure").skip(1) {
        let (drawing, rest) = figure.split_once("</svg>").unwrap();
        assert!(
            drawing.contains("<title id=") && rest.contains("<table"),
            "{figure}"
        );
    }
    let ids: Vec<&str> = groups.split("<title id=\"").skip(1).collect();
    let ids: std::collections::BTreeSet<&str> = ids
        .iter()
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert_eq!(ids.len(), drawings);
}

/// Private answers have no intervals, confusion matrix or null distribution, and no group for a host's scanpath.
#[test]
fn private_answers_are_shown_without_what_they_do_not_have() {
    let coins = "c0".repeat(32);
    let mut answers = every_answer();
    for answer in &mut answers {
        match answer {
            GroupAnswer::StimulusMeans(means) => {
                means.means.iter_mut().for_each(|it| it.interval = None);
            }
            GroupAnswer::GroupMeans(means) => means.intervals.clear(),
            GroupAnswer::Test(test) => {
                (test.interval, test.null_distribution, test.seed) = (None, None, None);
                test.coins = Some(coins.clone());
            }
            GroupAnswer::NearestLabels(labels) => {
                labels.labels.iter_mut().for_each(|it| it.group = None);
            }
            GroupAnswer::NearestRate(rate) => {
                rate.confusion.clear();
                (rate.interval, rate.p_value) = (None, None);
                (rate.permutations, rate.seed) = (None, None);
            }
            GroupAnswer::Histogram(_) => {}
        }
    }
    let groups = groups_of(with(answers));
    let drawings = groups.matches("<svg").count();
    assert_eq!(drawings, 3, "two matrices and a histogram");
    for absent in ["Null distribution", "Permutation test", "95 %"] {
        assert!(!groups.contains(absent), "{absent}");
    }
    for shown in [
        coins.as_str(),
        "31 correct",
        "52.5 %",
        "those of fewer than 5 participants of a side",
        "p = 0.0312",
    ] {
        assert!(groups.contains(shown), "{shown} in {groups}");
    }
}

#[test]
fn names_in_answers_are_escaped() {
    let hostile = "</title></script><script>alert(1)</script><img src=x>\"'&";
    let json = serde_json::to_string(&every_answer()).unwrap();
    let hostile_json = serde_json::to_string(hostile).unwrap();
    let mut changed = json.clone();
    for name in [
        "experts",
        "novices",
        "controls",
        "patients, early",
        "cows",
        "score",
        "similarity",
        "p",
        "permutation test",
        "difference of means",
        "Are experts more alike than novices?",
    ] {
        changed = changed.replace(&format!("\"{name}\""), &hostile_json);
    }
    // JSON keys are not names.
    let changed = changed.replace(&format!("{hostile_json}:"), "\"score\":");
    let page = page_of(with(serde_json::from_str(&changed).unwrap()));
    assert!(!page.contains("<script>alert") && !page.contains("<img"));
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains("&lt;script&gt;alert(1)"));
}

/// A file may contain more than can be drawn. Its table is still shown.
#[test]
fn large_matrices_are_shown_as_tables() {
    let names: Vec<String> = (0..40).map(|number| format!("group {number}")).collect();
    let matrix = GroupAnswer::GroupMeans(GroupMeans {
        measure: "score".into(),
        stimulus: None,
        means: vec![vec![Some(1e30); 40]; 40],
        counts: vec![vec![1; 40]; 40],
        rows: names.clone(),
        columns: names,
        intervals: Vec::new(),
    });
    let histogram = |edges: Vec<f64>| {
        let counts = vec![Some(u64::MAX); edges.len() - 1];
        GroupAnswer::Histogram(ScoreHistogram {
            measure: "score".into(),
            stimulus: None,
            bins: Bins { edges, counts },
            minimum: 0,
        })
    };
    let many = histogram((0..500).map(f64::from).collect());
    let wide = histogram(vec![-f64::MAX, 0.0, f64::MAX]);
    let groups = groups_of(with(vec![matrix, many, wide]));
    assert!(!groups.contains("<svg") && groups.matches("<table").count() == 3);
    let narrow = histogram(vec![0.0, 5e-324, 1e-323]);
    let groups = groups_of(with(vec![narrow]));
    assert!(
        !groups.contains("NaN") && !groups.contains("inf"),
        "{groups}"
    );
}
