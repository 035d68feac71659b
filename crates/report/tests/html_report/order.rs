//! A cohort compared with itself, by measures that depend on the order of a pair.

use super::{between, page_with};
use crate::common;
use veilpath_metrics::{Crqa, CrqaMeasure, Metric, RecurrenceRule, Undefined};
use veilpath_protocol::{Outcome, Results, Value};
use veilpath_report::html::Options;
use veilpath_report::{ResultFile, table};

/// `corm` of three participants: 10, 20 and 30, and the negative numbers in the other order. `lam-rows` is 50 in one
/// order and 10 in the other.
fn outcome(reveal: &str) -> Outcome {
    let mut spec = common::spec(reveal);
    spec.metric = Metric::Crqa(Crqa {
        rule: RecurrenceRule::SameLetter,
        line: 2,
        measures: vec![CrqaMeasure::Corm, CrqaMeasure::LamRows],
        undefined: Undefined::Missing,
        rounded: false,
    });
    let ids = ["p", "q", "r"];
    let corm = [[0.0, 10.0, 20.0], [-10.0, 0.0, 30.0], [-20.0, -30.0, 0.0]];
    let values: Vec<Vec<Value>> = (0..9)
        .map(|at| {
            let (row, column) = (at / 3, at % 3);
            if reveal != "score" {
                return vec![Value::Bit(row <= column)];
            }
            let lam = if row < column { 50.0 } else { 10.0 };
            vec![Value::Number(corm[row][column]), Value::Number(lam)]
        })
        .collect();
    let rows: Vec<(&str, &str, &str, &[Value])> = (0..9)
        .map(|at| (ids[at / 3], ids[at % 3], "", values[at].as_slice()))
        .collect();
    let mut outcome = common::outcome(spec, &rows);
    outcome.one_cohort = true;
    outcome.names = ["Clinic".into(), "Clinic".into()];
    outcome
}

fn page(measure: &str) -> String {
    let file: ResultFile = outcome("score").into();
    let measures = [measure.to_string()];
    page_with(
        &file,
        Options {
            measures: &measures,
            ..Options::default()
        },
    )
}

#[test]
fn a_sign_that_depends_on_the_order_has_a_range_and_no_mean() {
    let page = page("corm");
    assert!(page.contains("<dt>ordered pairs</dt><dd>6</dd>"));
    assert!(page.contains("<dt>range of corm</dt><dd>−30 – 30 %</dd>"));
    assert!(!page.contains("mean corm") && !page.contains("class=\"mean\""));
    assert!(page.contains("6 ordered pairs: no mean, because the two orders of a pair differ"));
    assert!(page.contains("from −30 % to 30 %"));
    assert!(page.contains("swapping the two scanpaths of a pair changes the sign"));
    let legend = between(&page, "class=\"legend\"", "</svg>");
    assert!(
        legend.contains(">−20<") && legend.contains(">20<"),
        "{legend}"
    );
}

#[test]
fn both_orders_of_a_pair_count() {
    let page = page("lam-rows");
    assert!(page.contains("<dt>mean lam-rows</dt><dd>30.00 %</dd>"));
    assert!(page.contains("<dt>range of lam-rows</dt><dd>10 – 50 %</dd>"));
    assert!(page.contains("lam-rows depends on the order of a pair: both orders count"));
    let file: ResultFile = outcome("threshold:5").into();
    let bits = page_with(&file, Options::default());
    assert!(bits.contains("3 of 6 ordered pairs reach the threshold (50.0 %)"));
}

#[test]
fn summaries_have_no_mean_of_a_sign_that_depends_on_the_order() {
    let summary = table::summary(&outcome("score"));
    let expected = "3 pairs by crqa: corm from -30 % to 30 %, over both orders of each pair\n  \
                    mean lam-rows 30 %, from 10 % to 50 %, over both orders of each pair\n";
    assert!(summary.starts_with(expected), "{summary}");
    let bits = table::summary(&outcome("threshold:5"));
    assert!(
        bits.starts_with("6 ordered pairs by crqa: 3 with "),
        "{bits}"
    );
}

/// The first measure is undefined for `p` and `q` in both orders, the second in one.
#[test]
fn summaries_count_undefined_numbers_once_per_pair_or_order() {
    let summary_of = |first: CrqaMeasure| {
        let mut outcome = outcome("score");
        let Metric::Crqa(crqa) = &mut outcome.spec.metric else {
            unreachable!("the metric of all of these tests")
        };
        crqa.measures[0] = first;
        let mut results = Results::new(outcome.spec.measures());
        for pair in outcome.results.iter() {
            let mut values = pair.values.to_vec();
            match (pair.a, pair.b) {
                (0, 1) => values.fill(Value::Missing),
                (1, 0) => values[0] = Value::Missing,
                _ => {}
            }
            results.push(pair.a, pair.b, &values);
        }
        outcome.results = results;
        table::summary(&outcome)
    };
    let summary = summary_of(CrqaMeasure::Corm);
    for line in [
        "corm from -30 % to 30 %, over both orders of each pair; undefined for 2 ordered pairs\n",
        "lam-rows 26 %, from 10 % to 50 %, over both orders of each pair; undefined for 1 ordered pair\n",
    ] {
        assert!(summary.contains(line), "{summary}");
    }
    let summary = summary_of(CrqaMeasure::Det);
    assert!(summary.contains("; undefined for 1 pair\n"), "{summary}");
}

/// As many pairs are hatched as are missing, not as many tiles.
#[test]
fn pairs_that_are_not_compared_count_once_within_a_cohort() {
    let whole = |score: f64| [Value::Number(score)];
    let rows: [(&str, &str, [Value; 1]); 5] = [
        ("p", "p", whole(0.0)),
        ("p", "q", whole(3.0)),
        ("q", "p", whole(3.0)),
        ("q", "q", whole(0.0)),
        ("r", "r", whole(0.0)),
    ];
    let rows: Vec<(&str, &str, &str, &[Value])> = rows
        .iter()
        .map(|(a, b, values)| (*a, *b, "", values.as_slice()))
        .collect();
    let mut outcome = common::outcome(common::spec("score"), &rows);
    outcome.one_cohort = true;
    let page_of = |outcome: Outcome| page_with(&outcome.into(), Options::default());
    let page = page_of(outcome.clone());
    assert!(page.contains("Hatched: not compared (2 pairs)."), "{page}");
    outcome.one_cohort = false;
    let page = page_of(outcome.clone());
    assert!(page.contains("Hatched: not compared (4 pairs)."));
    // In a comparison on one machine, nobody learns anything from anybody.
    outcome.revealed.clear();
    let two = page_of(outcome.clone());
    assert!(two.contains("Both cohorts were on one machine and were compared without encryption"));
    assert!(two.contains("plain: on this machine, without encryption."));
    outcome.one_cohort = true;
    assert!(page_of(outcome).contains("One cohort was compared with itself on one machine"));
}

#[test]
fn a_remark_about_thresholds_is_not_among_what_was_learned() {
    let page = page_with(&outcome("threshold:3").into(), Options::default());
    let learned = between(&page, "id=\"learned\"", "</section>");
    let (lists, remarks) = learned.rsplit_once("</ul>").unwrap();
    assert!(remarks.contains("Repeating the comparison with other thresholds"));
    assert!(!lists.contains("Repeating"));
}
