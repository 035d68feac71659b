//! What a partner that makes scanpaths up learns from means, if it knows lengths. `docs/security.md` describes this attack.

use super::*;
use veilpath_metrics::{Substitution, Table};

/// One scanpath for each participant.
fn side(scanpaths: &[Vec<u16>]) -> Cohort {
    let mut cohort = cohort(scanpaths.len(), 1..2, 0, 0);
    cohort
        .entries
        .retain(|it| it.stimulus.as_deref() == Some("x"));
    for (entry, letters) in cohort.entries.iter_mut().zip(scanpaths) {
        entry.scanpath = Scanpath::new(letters.clone());
    }
    cohort
}

/// Two means of the same participants differ only in the shortest scanpath: how often one letter occurs in it.
#[test]
fn two_means_tell_about_a_participant_whose_length_nobody_else_has() {
    for occurrences in 0..5 {
        // Scanpaths of 10, 12, 14, … letters, with some zeros in the first.
        let letter = |at: usize, place: usize| match (at, place) {
            (0, place) => u16::from(place >= occurrences),
            (at, place) => ((at * 5 + place * 3) % 4) as u16,
        };
        let victims: Vec<Vec<u16>> = (0..6)
            .map(|at| (0..10 + 2 * at).map(|place| letter(at, place)).collect())
            .collect();
        let mean = |length: usize| {
            let (a, b) = (side(&victims), side(&vec![vec![0; length]; 6]));
            let spec = spec(Engine::Shares, &Metric::Levenshtein, "mean:overall", &a, &b);
            match expected(&spec, &a, &b).unwrap() {
                GroupAnswer::StimulusMeans(means) => means.means[0].mean.unwrap(),
                _ => panic!("another answer"),
            }
        };
        let factor = (1.0 / 10.0 - 1.0 / 12.0) / victims.len() as f64;
        let found = (mean(10) - mean(12)) / factor;
        assert!((found - occurrences as f64).abs() < 0.5, "{found}");
    }
}

/// References of two lengths put a boundary between the lengths of the host's scanpaths. Two rates whose boundaries differ
/// by one scanpath tell its group.
#[test]
fn rates_of_the_nearest_tell_groups_of_scanpaths_with_known_lengths() {
    const GROUPS: [&str; 2] = ["control", "patient"];
    let labels = [0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0];
    let with_groups = |scanpaths: &[Vec<u16>], labels: &[usize]| {
        let mut cohort = side(scanpaths);
        for (entry, label) in cohort.entries.iter_mut().zip(labels) {
            entry.group = Some(GROUPS[*label].into());
        }
        cohort
    };
    let victims: Vec<Vec<u16>> = (0..labels.len())
        .map(|at| {
            (0..20 + 4 * at)
                .map(|place| ((place * 7 + at) % 11) as u16)
                .collect()
        })
        .collect();
    let victims = with_groups(&victims, &labels);
    // The partner's letter costs 1 with any other, so that scores follow from lengths.
    let costs = (0..144).map(|at| match (at / 12, at % 12) {
        (a, b) if a == b => 0.0,
        (11, _) | (_, 11) => 1.0,
        _ => 80.0,
    });
    let metric = Metric::NeedlemanWunsch {
        substitution: Substitution::Table {
            table: Table::new(12, costs.collect()).unwrap(),
        },
        insert: 80.0,
        delete: 80.0,
        scale: None,
    };
    let correct = |boundary: usize| {
        let lengths = [boundary / 2, boundary * 2];
        let references: Vec<Vec<u16>> = (0..10).map(|at| vec![11; lengths[at / 5]]).collect();
        let references = with_groups(&references, &[0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
        let spec = spec(
            Engine::Shares,
            &metric,
            "nearest:5,rate",
            &victims,
            &references,
        );
        match expected(&spec, &victims, &references).unwrap() {
            GroupAnswer::NearestRate(rate) => rate.correct,
            _ => panic!("another answer"),
        }
    };
    let rates: Vec<u64> = (0..=labels.len())
        .map(|step| correct(18 + 4 * step))
        .collect();
    // The scanpath that is now below the boundary counts as a control's.
    let found: Vec<usize> = rates
        .windows(2)
        .map(|it| usize::from(it[1] < it[0]))
        .collect();
    assert_eq!(found, labels);
}
