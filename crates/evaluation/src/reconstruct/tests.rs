#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail

use super::*;
use veilpath_metrics::{MultiMatch, MultiMatchMeasure, SubsMatch};

fn small_study(alphabet: Alphabet, metrics: Vec<(String, Metric)>) -> Options {
    Options {
        metrics,
        alphabet,
        lengths: vec![4],
        reveal: vec![Reveal::Score],
        hidden_lengths: false,
        repetitions: 2,
        effort: Effort {
            members: 8,
            sweeps: 16,
            proposals: 30,
            max_comparisons: 200,
        },
        longest_search: 5,
        seed: 1,
    }
}

#[test]
fn a_small_study_reconstructs_and_stays_above_the_limit() {
    let alphabet = Alphabet::letters(16).unwrap();
    let options = small_study(alphabet, default_metrics(alphabet));
    let steps_done = std::sync::atomic::AtomicU64::new(0);
    let report = run(&options, &|| {
        steps_done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    })
    .unwrap();
    assert_eq!(steps_done.into_inner(), steps(&options).unwrap());
    for (name, _) in &options.metrics {
        let rows = report.rows.iter().filter(|row| row.metric == *name);
        let found = rows.clone().filter(|row| row.reconstructed == 1.0);
        let strongest = found.filter_map(|row| row.median).min();
        let strongest = strongest.unwrap_or_else(|| panic!("{name} was not reconstructed"));
        for row in rows {
            let limit = row.default_limit.unwrap();
            assert!(
                2 * limit <= strongest as u64,
                "{name}: {limit} of {strongest}"
            );
        }
    }
    assert_eq!(report.csv().lines().count(), 1 + report.rows.len());
    assert_eq!(report.markdown().lines().count(), 2 + report.rows.len());
    let json: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    assert_eq!(json["rows"].as_array().unwrap().len(), report.rows.len());
    assert!(report.table().contains("levenshtein"));
}

/// An empty report would look as if nothing could be learned.
#[test]
fn metrics_that_no_private_engine_computes_are_refused_with_the_reason() {
    let alphabet = Alphabet::letters(16).unwrap();
    let multimatch = Metric::MultiMatch(MultiMatch {
        measures: MultiMatchMeasure::ALL.to_vec(),
        simplification: None,
    });
    let subsmatch = Metric::SubsMatch(SubsMatch { window: 3 });
    for (metric, reason) in [
        (multimatch, "medians of angles and lengths"),
        (subsmatch, "counts all short sequences"),
    ] {
        let options = small_study(alphabet, vec![(metric.name().into(), metric)]);
        let error = steps(&options).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}
