//! The exact bytes of every rendering. Other programs rely on them.
#![allow(clippy::unwrap_used)] // test helpers may panic

mod common;

use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric};
use veilpath_protocol::{Cost, Engine, Outcome, PairRule, Results, Spec, Value, compare_locally};
use veilpath_report::{csv, json, table};

fn cohort(rows: &[(&str, Option<&str>, &str)]) -> Cohort {
    let alphabet = Alphabet::letters(52).unwrap();
    Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: rows
            .iter()
            .map(|(participant, stimulus, text)| Entry {
                participant: (*participant).to_string(),
                group: None,
                stimulus: stimulus.map(str::to_string),
                scanpath: alphabet.parse(text).unwrap(),
                fixations: None,
            })
            .collect(),
    }
}

fn outcome() -> Outcome {
    outcome_of("score")
}

fn outcome_of(reveal: &str) -> Outcome {
    let a = cohort(&[("P1", Some("cows"), "ABCD"), ("P,2", Some("boat"), "AAB")]);
    let b = cohort(&[
        ("Q1", Some("cows"), "ABD"),
        ("Q\u{1b}[31m2", Some("boat"), "C"),
    ]);
    let spec = Spec::new(
        Engine::Plain,
        Metric::Levenshtein,
        PairRule::SameStimulus,
        &a,
        &b,
    );
    let mut spec = spec.unwrap();
    spec.reveal = reveal.parse().unwrap();
    let mut outcome = compare_locally(spec, &a, &b, &()).unwrap();
    outcome.cost.seconds = 0.25;
    outcome
}

fn render(write: impl Fn(&Outcome, &mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    render_of(&outcome(), write)
}

fn render_of(
    outcome: &Outcome,
    write: impl Fn(&Outcome, &mut dyn std::io::Write) -> std::io::Result<()>,
) -> String {
    let mut bytes = Vec::new();
    write(outcome, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The first result in a file. It is on its own line.
fn result_line(text: &str) -> &str {
    let mut lines = text.lines();
    lines.find(|line| *line == "\"results\": [").unwrap();
    lines.next().unwrap()
}

#[test]
fn threshold_results_are_rendered() {
    let bits = outcome_of("threshold:2.5");
    insta::assert_snapshot!(render_of(&bits, csv::write).replace('\u{fffd}', "?"), @r#"
    a,b,stimulus,within
    P1,Q1,cows,true
    "P,2",Q?[31m2,boat,false
    "#);
    insta::assert_snapshot!(render_of(&bits, table::write), @r"
     a    b        stimulus  within
     P1   Q1       cows      yes
     P,2  Q�[31m2  boat      no
    ");
    insta::assert_snapshot!(table::summary(&bits), @r"
    2 pairs by levenshtein: 1 with a score of at most 2.5
    0.25 s; 2 bytes sent, 24 bytes received
    What each side learned (plain engine):
      host  every scanpath of the joining side: this engine does not protect anything
      host  and therefore every score, although only bits are reported
      host  a yes or no for every pair: whether its score is at most 2.5
      join  a yes or no for every pair: whether its score is at most 2.5
    Repeating the comparison with other thresholds narrows down the score of a pair.
    ");
    let text = render_of(&bits, json::write);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["spec"]["reveal"], "threshold:2.5");
    insta::assert_snapshot!(result_line(&text), @r#"{"a":"P1","b":"Q1","stimulus":"cows","a_index":0,"b_index":0,"within":true},"#);
    let mut hidden = bits;
    hidden.results.clear();
    assert_eq!(render_of(&hidden, csv::write), "a,b,stimulus,within\n");
}

#[test]
fn csv_quotes_ids_and_keeps_numbers_exact() {
    insta::assert_snapshot!(render(csv::write).replace('\u{fffd}', "?"), @r#"
    a,b,stimulus,score,similarity
    P1,Q1,cows,1,0.75
    "P,2",Q?[31m2,boat,3,0
    "#);
}

#[test]
fn json_is_one_object_that_parses() {
    let text = render(json::write);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["results"][0]["score"], 1);
    assert_eq!(value["results"][0]["similarity"], 0.75);
    assert_eq!(value["cost"]["cells"], 15);
    assert_eq!(value["cost"]["rounds"], 1);
    assert_eq!(value["spec"]["metric"]["name"], "levenshtein");
    assert_eq!(value["revealed"][0]["to"], "host");
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    let expected =
        "veilpath_result spec cohorts one_cohort pairs measures results answers cost revealed";
    assert_eq!(keys, expected.split(' ').collect::<Vec<_>>());
    insta::assert_snapshot!(result_line(&text), @r#"{"a":"P1","b":"Q1","stimulus":"cows","a_index":0,"b_index":0,"score":1,"similarity":0.75},"#);
}

#[test]
fn ids_cannot_contain_control_characters_in_the_table() {
    let text = render(table::write);
    assert!(!text.contains('\u{1b}'));
    insta::assert_snapshot!(text);
    insta::assert_snapshot!(table::summary(&outcome()));
}

#[test]
fn wide_letters_keep_the_table_aligned() {
    let a = cohort(&[("山田", None, "AB"), ("P2", None, "ABCDEFGHIJKL")]);
    let spec = Spec::new(Engine::Plain, Metric::Levenshtein, PairRule::All, &a, &a);
    let outcome = compare_locally(spec.unwrap(), &a, &a, &()).unwrap();
    let mut bytes = Vec::new();
    table::write(&outcome, &mut bytes).unwrap();
    insta::assert_snapshot!(String::from_utf8(bytes).unwrap(), @r"
     a     b     score  similarity
     山田  山田      0           1
     山田  P2       10    0.166667
     P2    山田     10    0.166667
     P2    P2        0           1
    ");
}

#[test]
fn the_table_has_the_names_of_the_cohorts() {
    let long = "The University Hospital, Department of Neurology";
    let named = outcome().with_names(["clinic".into(), long.into()]);
    let table = render_of(&named, table::write);
    let header = table.lines().next().unwrap();
    let expected = " a: clinic  b: The Univers… Neurology  stimulus  score  similarity";
    assert_eq!(header, expected);
    assert!(table::is_first_line(header));
    assert!(render_of(&named, csv::write).starts_with("a,b,stimulus,"));
}

#[test]
fn the_preview_counts_the_remaining_rows() {
    let mut bytes = Vec::new();
    let more = table::write_first(&outcome(), 1, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!((text.lines().count(), more.pairs), (2, 1), "{text}");
    let all = table::write_first(&outcome(), 2, &mut Vec::new()).unwrap();
    assert_eq!((all.pairs, all.answer_rows), (0, 0));
}

#[test]
fn summaries_count_undefined_pairs_even_if_there_are_no_others() {
    let mut outcome = outcome();
    let mut results = Results::new(outcome.results.measures()[..1].to_vec());
    for pair in outcome.results.iter() {
        results.push(pair.a, pair.b, &[Value::Missing]);
    }
    outcome.results = results;
    let summary = table::summary(&outcome);
    assert!(summary.contains("undefined for 2 pairs\n"), "{summary}");
}

#[test]
fn withheld_results_are_not_reported_as_no_pairs() {
    let mut hidden = outcome();
    hidden.results.clear();
    let message = "2 pairs were compared; the results are for the other side only";
    assert_eq!(render_of(&hidden, table::write).trim_end(), message);
    assert!(table::summary(&hidden).starts_with(message));
}

#[test]
fn summaries_of_group_answers_count_pairs_and_repeat_no_answer() {
    let mut outcome = outcome_of("score");
    outcome.spec.reveal = "groups".parse().unwrap();
    outcome.spec.engine = Engine::Garbled;
    outcome.results.clear();
    let header = csv::ANSWER_COLUMNS.join(",");
    assert_eq!(render_of(&outcome, csv::write).trim_end(), header);
    outcome.answers = common::answers();
    let answer = table::answers(&outcome);
    // As read from the state folder, without any computation.
    outcome.cost = Cost::default();
    let summary = table::summary(&outcome);
    assert!(summary.starts_with("2 pairs by levenshtein\n"), "{summary}");
    assert!(summary.contains("results of earlier runs"), "{summary}");
    assert!(!summary.contains(answer.lines().next().unwrap()));
}

#[test]
fn self_comparisons_count_each_pair_once() {
    let a = cohort(&[
        ("p", None, "AAAA"),
        ("q", None, "AAAB"),
        ("r", None, "AABB"),
    ]);
    let spec = Spec::new(Engine::Plain, Metric::Levenshtein, PairRule::All, &a, &a);
    let mut outcome = compare_locally(spec.unwrap(), &a, &a, &()).unwrap();
    outcome.one_cohort = true;
    let summary = table::summary(&outcome);
    assert!(
        summary.starts_with(
            "3 pairs by levenshtein (smaller is more alike): mean 1.333333, from 1 to 2\n"
        ),
        "{summary}"
    );
}

#[test]
fn group_answers_are_written_below_the_pairs() {
    let mut outcome = outcome();
    outcome.answers = common::answers();
    insta::assert_snapshot!(render_of(&outcome, table::write).replace('\u{fffd}', "?"), @r"
     a    b        stimulus  score  similarity
     P1   Q1       cows          1        0.75
     P,2  Q?[31m2  boat          3           0
    Group means of score (pairs of participants):
     the first cohort \ the second cohort   experts   novices
     experts                               4.25 (6)  7.5 (12)
     novices                               7.5 (12)         –
    Are experts more alike than novices?
      The difference of means (stimulus cows) was -3.25 (permutation test, 9,999 permutations, p = 0.0312).
    ");
}

/// A terminal has room for names in full. Cohorts with only the names of roles are called the same everywhere.
#[test]
fn text_names_the_cohorts_in_full() {
    let long = "The University Hospital, Department of Neurology";
    for (names, shown) in [
        (["clinic", long], ["clinic", long]),
        (["host", "join"], ["the host", "the joining side"]),
    ] {
        let mut outcome = outcome().with_names(names.map(String::from));
        outcome.results.clear();
        outcome.answers = common::every_answer();
        let text = render_of(&outcome, table::write);
        let [first, second] = shown;
        for expected in [
            format!("Statistics of {first} and {second} by levenshtein\n"),
            format!("Means of similarity between {first} and {second} ["),
            format!(" {first} \\ {second} "),
        ] {
            assert!(text.contains(&expected), "{expected}\n{text}");
        }
    }
}

#[test]
fn group_answers_have_their_own_table() {
    let mut outcome = outcome();
    outcome.results.clear();
    outcome.answers = common::every_answer();
    insta::assert_snapshot!(render_of(&outcome, csv::write));
    let text = render_of(&outcome, table::write);
    insta::assert_snapshot!(text.replace('\u{fffd}', "?"));
}
