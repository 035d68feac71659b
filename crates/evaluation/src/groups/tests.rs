#![allow(clippy::unwrap_used)] // a test may fail

use super::*;

#[test]
fn every_answer_is_measured() {
    let options = Options {
        engines: vec![Engine::Garbled, Engine::Shares],
        metrics: vec![GroupMetric::ScanMatch, GroupMetric::Levenshtein],
        grid: Grid::new(8, 6).unwrap(),
        permutations: 20,
        participants: 6,
        stimuli: 2,
        length: 5,
    };
    let mut steps = 0;
    let report = run(&options, &mut || steps += 1).unwrap();
    assert_eq!((report.rows.len(), report.pairs, steps), (20, 72, 20));
    for row in &report.rows {
        assert!(row.scores_seconds > 0.0 && row.answer_seconds > 0.0);
        assert!(row.bytes > 0);
    }
    assert_eq!(report.table().lines().count(), 3 + 20);
    let json: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    assert_eq!(json["rows"][0]["answer"], "test:groups,20");
}

/// Needs a release build and a quiet machine.
#[test]
#[ignore = "measures time; .ci/full runs it"]
fn tests_of_groups_add_less_than_a_tenth() {
    let options = Options {
        engines: vec![Engine::Garbled, Engine::Shares],
        metrics: vec![GroupMetric::ScanMatch],
        grid: Grid::new(8, 6).unwrap(),
        permutations: 1000,
        participants: 20,
        stimuli: 10,
        length: 40,
    };
    let report = run(&options, &mut || ()).unwrap();
    println!("{}", report.table());
    for row in report
        .rows
        .iter()
        .filter(|it| it.answer.starts_with("test"))
    {
        assert!(row.added() < 0.1, "{} by {}", row.answer, row.engine);
    }
}
