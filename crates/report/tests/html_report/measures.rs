//! Result files with several measures.

use super::{between, page_of, page_with, read};
use crate::common;
use veilpath_metrics::MeasureKind;
use veilpath_protocol::{MeasureColumn, Outcome, Results, Value};
use veilpath_report::ResultFile;
use veilpath_report::html::{NotInFile, Options, Report};

const NONE: f64 = f64::NAN;

/// Two stimuli with two participants each. `det` and `shift` are undefined for some pairs, and `shift` for all pairs of
/// one participant.
fn outcome() -> Outcome {
    let rows = [
        ("p", "x", "cows", [25.0, 40.0, -3.5, 4.0]),
        ("p", "y", "cows", [0.0, NONE, NONE, 9.0]),
        ("q", "x", "cows", [12.5, 0.0, NONE, 6.0]),
        ("q", "y", "cows", [50.0, 80.0, NONE, 1.0]),
        ("p", "x", "boat", [20.0, 30.0, 2.0, 5.0]),
        ("q", "y", "boat", [0.0, NONE, NONE, 8.0]),
    ];
    let values = rows.map(|(.., numbers)| {
        numbers.map(|number| match number.is_nan() {
            true => Value::Missing,
            false => Value::Number(number),
        })
    });
    let rows: Vec<(&str, &str, &str, &[Value])> = rows
        .iter()
        .zip(&values)
        .map(|(&(a, b, stimulus, _), values)| (a, b, stimulus, values.as_slice()))
        .collect();
    let mut outcome = common::outcome(common::spec("score"), &rows);
    let mut results = Results::new(vec![
        MeasureColumn::new("rec", MeasureKind::Similarity),
        MeasureColumn::new("det", MeasureKind::Similarity),
        MeasureColumn::new("shift", MeasureKind::Number),
        MeasureColumn::new("far", MeasureKind::Distance),
    ]);
    for (pair, values) in outcome.results.iter().zip(&values) {
        results.push(pair.a, pair.b, values);
    }
    outcome.results = results;
    outcome
}

fn view(page: &str, heading: &str) -> String {
    let heading = format!("<h2>{heading}</h2>");
    between(page, &heading, "</section>").to_string()
}

#[test]
fn every_measure_has_a_view_of_every_stimulus() {
    let page = page_of(outcome());
    assert_eq!(page.matches("class=\"view\"").count(), 4 * 3);
    for measure in ["rec", "det", "shift", "far"] {
        for part in ["Mean over 2 stimuli", "cows", "boat"] {
            assert!(page.contains(&format!("<h2>{measure}: {part}</h2>")));
        }
    }
    let measures = between(&page, "id=\"pick-measure\"", "</select>");
    assert!(
        measures.contains("<option value=\"2\">shift</option>"),
        "{measures}"
    );
    assert!(page.contains("data-measure=\"2\" data-part=\"1\""));
    let summary = between(&page, "class=\"summary\"", "</dl>");
    for expected in ["<dt>pairs</dt><dd>6</dd>", "mean rec", "mean far"] {
        assert!(summary.contains(expected), "{expected} in {summary}");
    }
}

#[test]
fn bright_means_similar_only_for_measures_with_a_direction() {
    let page = page_of(outcome());
    assert!(view(&page, "rec: cows").contains("A larger rec means more alike."));
    assert!(view(&page, "far: cows").contains("A smaller far means more alike."));
    for (measure, is_said) in [("rec", true), ("far", true), ("shift", false)] {
        let view = view(&page, &format!("{measure}: cows"));
        assert_eq!(view.contains("bright: alike"), is_said, "{measure}");
    }
    let shift = view(&page, "shift: cows");
    assert!(shift.contains("shift does not say which of two pairs is more alike"));
    assert!(!shift.contains("A result file in JSON does"), "this is one");
    // The scale of a distance is reversed: the smallest number has the brightest colour.
    let ramp = |measure: &str| {
        let view = view(&page, &format!("{measure}: cows"));
        between(&view, "<linearGradient", "</linearGradient>").to_string()
    };
    assert!(ramp("far").contains("offset=\"0%\" stop-color=\"#f7ed6c\""));
    assert!(ramp("rec").contains("offset=\"100%\" stop-color=\"#f7ed6c\""));
}

#[test]
fn undefined_numbers_are_not_called_missing_pairs() {
    let page = page_of(outcome());
    let det = view(&page, "det: cows");
    assert!(det.contains("Hatched: undefined (1 pair)."), "{det}");
    assert!(
        det.contains("3 pairs: mean 40.00") && det.contains("For 1 more pair it is undefined.")
    );
    assert!(det.contains(">undefined</td>"), "in the table");
    // No pair of q has a number, but q still has a row.
    let shift = view(&page, "shift: cows");
    assert!(shift.contains("<th scope=\"row\">q</th>"), "{shift}");
    assert!(shift.contains("Hatched: undefined (3 pairs)."));
    let boat = view(&page, "rec: boat");
    assert!(boat.contains("Hatched: not compared (2 pairs)."), "{boat}");
    let both = view(&page, "det: boat");
    assert!(both.contains("Hatched: not compared (2 pairs), undefined (1 pair)."));
    let all = between(&page, "<h2>All measures</h2>", "</section>");
    let row = between(all, "<th scope=\"row\">shift</th>", "</tr>");
    assert!(row.contains(">2<") && row.contains(">4<"), "{row}");
}

#[test]
fn a_measure_without_any_number_has_no_heat_map() {
    let page = page_with(
        &read("a,b,stimulus,rec,det\np,x,,4,\np,y,,5,\n"),
        Options::default(),
    );
    assert!(view(&page, "det: All pairs").contains("There is no heat map: no pair has a number."));
    assert!(view(&page, "rec: All pairs").contains("class=\"heat\""));
}

#[test]
fn measures_can_be_chosen_by_name() {
    let file = ResultFile::from(outcome());
    let names = ["far".to_string()];
    let options = Options {
        measures: &names,
        ..Options::default()
    };
    let page = page_with(&file, options);
    assert_eq!(page.matches("class=\"view\"").count(), 3);
    assert!(page.contains("mean far") && !page.contains("mean rec"));
    let names = ["near".to_string()];
    let options = Options {
        measures: &names,
        ..Options::default()
    };
    let refused = Report::new(&file, options).err();
    assert!(matches!(refused, Some(NotInFile::Measure(_))));
    // A score is shown with its similarity, and can also be drawn itself.
    let small = ResultFile::from(common::small());
    let names = ["score".to_string()];
    let options = Options {
        measures: &names,
        ..Options::default()
    };
    let page = page_with(&small, options);
    assert!(page.contains("A smaller score means more alike.") && page.contains("mean score"));
}

#[test]
fn percentages_have_their_unit() {
    let mut outcome = outcome();
    outcome.spec.metric = veilpath_metrics::Metric::Crqa(veilpath_metrics::Crqa {
        rule: veilpath_metrics::RecurrenceRule::SameLetter,
        line: 2,
        measures: veilpath_metrics::CrqaMeasure::ALL.to_vec(),
        undefined: veilpath_metrics::Undefined::Missing,
        rounded: false,
    });
    let page = page_of(outcome);
    let rec = view(&page, "rec: cows");
    for expected in ["from 0 % to 50 %.", ">rec (%)</text>", "\"unit\":\"%\""] {
        assert!(rec.contains(expected), "{expected} in {rec}");
    }
    assert!(page.contains("<dt>mean rec</dt><dd>17.92 %</dd>"));
}

/// Another measure may be symmetric without everybody being most similar to themselves.
#[test]
fn a_map_needs_everyone_to_be_most_similar_to_themselves() {
    let ids = ["p", "q", "r"];
    let rec = [[10.0, 30.0, 5.0], [30.0, 20.0, 8.0], [5.0, 8.0, 40.0]];
    let values: Vec<[Value; 2]> = (0..9)
        .map(|at| [Value::Number(rec[at / 3][at % 3]), Value::Missing])
        .collect();
    let rows: Vec<(&str, &str, &str, &[Value])> = (0..9)
        .map(|at| (ids[at / 3], ids[at % 3], "", values[at].as_slice()))
        .collect();
    let mut outcome = common::outcome(common::spec("score"), &rows);
    let mut results = Results::new(vec![
        MeasureColumn::new("rec", MeasureKind::Similarity),
        MeasureColumn::new("det", MeasureKind::Similarity),
    ]);
    for pair in outcome.results.iter() {
        results.push(pair.a, pair.b, pair.values);
    }
    outcome.results = results;
    outcome.one_cohort = true;
    let page = page_of(outcome);
    let rec = view(&page, "rec: All pairs");
    assert!(rec.contains("one is more similar to another"), "{rec}");
    assert!(rec.contains("3 pairs: mean 14.33"), "each pair once");
    assert!(page.contains("<dt>pairs</dt><dd>3</dd>"));
}

#[test]
fn many_measures_of_many_stimuli_are_bounded() {
    let mut text = String::from("a,b,stimulus,u,v,w,x\n");
    for stimulus in 0..30 {
        text.push_str(&format!("p,q,s{stimulus},1,2,3,4\n"));
    }
    let page = page_with(&read(&text), Options::default());
    assert_eq!(page.matches("class=\"view\"").count(), 4 * (10 + 1));
    assert!(page.contains("The first 10 stimuli are shown; 20 more are included only in the mean, because the page shows several measures"));
}
