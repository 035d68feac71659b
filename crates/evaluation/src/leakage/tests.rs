#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail

use super::study::Study;
use super::*;
use veilpath_metrics::Substitution;

fn options(letters: u32) -> Options {
    Options {
        metric: Metric::NeedlemanWunsch {
            substitution: Substitution::Index,
            insert: 1.0,
            delete: 1.0,
            scale: None,
        },
        alphabet: Alphabet::letters(letters).unwrap(),
        length: 4,
        repetitions: 6,
        group_size: 2,
        hypotheses: 300,
        key_size: KeySize::Bits512,
        seed: 1,
    }
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn a_small_study_finds_the_known_leaks() {
    let report = study(&options(12));
    check_files(&report);
    let correct = |view: &str, attack: &str| {
        let mut rows = report.paillier.iter();
        let found = rows.find(|row| row.view == view && row.attack == attack);
        found.unwrap_or_else(|| panic!("{view}")).correct
    };
    assert!(correct("public order", ALL) > 0.8);
    assert!(correct("paper's order", ALL) > correct("the score", SCORE));
    // The test below measures how much less the hardened masks reveal, with a larger alphabet.
    assert!(correct("public order, hardened, compared 2 times", ALL) < 0.6);
    let randomness = "ciphertext randomness";
    assert!(correct("first cell, no fresh randomness", randomness) > 0.8);
    assert!(correct("first cell, one randomiser for all three", randomness) > 0.8);
    let score = correct("first cell", SCORE);
    assert_eq!(correct("first cell, the engine", randomness), score);
}

/// Runs a study, which must find nothing in the views of the proven engines.
fn study(options: &Options) -> Report {
    let steps = std::sync::atomic::AtomicU64::new(0);
    let report = run(options, &|| {
        steps.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    })
    .unwrap();
    assert_eq!(steps.into_inner(), STEPS);
    for side in report.garbled.iter().chain(&report.shares) {
        assert!(side.same_lengths);
        assert!(side.chi_square < 255.0 + 7.0 * 22.6, "{}", side.chi_square);
    }

    assert_eq!(report.groups.len(), 10);
    for row in &report.groups {
        assert!(row.seen.same_lengths, "{}", row.question);
        for chi_square in [row.seen.chi_square, row.kept_chi_square] {
            assert!(chi_square < 255.0 + 7.0 * 22.6, "{chi_square}");
        }
    }
    report
}

/// Every row is in every file.
fn check_files(report: &Report) {
    let rows = report.paillier.len() + report.garbled.len() + report.shares.len();
    let rows = rows + report.groups.len();
    assert_eq!(report.csv().lines().count(), 1 + rows);
    let json: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
    assert_eq!(json["key_bits"], 512);
    assert_eq!(
        json["paillier"].as_array().unwrap().len(),
        report.paillier.len()
    );
    let table = report.table();
    for row in &report.paillier {
        assert!(table.contains(&row.view), "{table}");
    }
}

#[test]
fn five_comparisons_with_hardened_masks_and_a_public_order_give_few_letters() {
    let options = Options {
        length: 8,
        group_size: 5,
        hypotheses: 150,
        ..options(52)
    };
    let study = Study::new(&options, &|| ()).unwrap();
    let engine = study.engine().unwrap().with_hardening(true);
    let rows = study.repeated(engine, "").unwrap();
    let correct = rows.last().unwrap().correct;
    println!("five comparisons {correct}");
    assert!(correct < 0.35, "{correct}");
}
