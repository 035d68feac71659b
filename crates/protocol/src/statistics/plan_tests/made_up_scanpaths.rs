//! What a partner that makes scanpaths up learns from means, if it knows lengths. `docs/security.md` describes this attack.

use super::*;

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
