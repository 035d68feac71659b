//! An engine accepts an opened output only if the plan allows its numbers: a later check would end the session early, and whether it
//! does would depend on letters.

use crate::{Engine, Job, PairRule, Role, Spec};
use veilpath_metrics::{
    Alphabet, Cohort, Encoding, Grid, LocalScoring, Metric, Scanpath, Substitution,
};

fn needleman_wunsch(substitution: Substitution, gap: f64) -> Metric {
    Metric::NeedlemanWunsch {
        substitution,
        insert: gap,
        delete: gap,
        scale: None,
    }
}

#[test]
fn accepted_outputs_are_allowed() {
    let unit = |mismatch| Substitution::Unit { mismatch };
    let metrics = [
        (Metric::Levenshtein, 5),
        // Costs above that of replacing all four letters could be opened, but do not occur.
        (needleman_wunsch(unit(1.5), 1.0), 13),
        (needleman_wunsch(unit(3.0), 2.0), 13),
        (needleman_wunsch(unit(2.0), 1.0), 9),
        (needleman_wunsch(Substitution::Index, 20.0), 97),
        (
            Metric::NeedlemanWunschScore {
                reward: 1.0,
                mismatch: 1.0,
                gap: 1.0,
                scale: None,
            },
            17,
        ),
        (
            Metric::SmithWaterman {
                scoring: LocalScoring::Unit {
                    reward: 2.0,
                    mismatch: 1.0,
                },
                gap: 1.0,
                scale: None,
            },
            9,
        ),
        (
            Metric::ScanMatch {
                grid: Grid::new(5, 5).unwrap(),
                wrap: false,
                threshold: 3.5,
                gap: 0.0,
                scale: Some(10.0),
            },
            141,
        ),
    ];
    let scanpath = Scanpath::new(vec![0, 1, 2, 3]);
    let cohort = Cohort {
        alphabet: Alphabet::letters(25).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: Vec::new(),
    };
    for (metric, possible) in metrics {
        let spec = Spec::new(Engine::Garbled, metric, PairRule::All, &cohort, &cohort).unwrap();
        let own = [&scanpath];
        let job = Job::new(&spec, Role::Host, &own, 1, &[(0, 0)]).unwrap();
        let job = job.with_peer_lengths(&[4]).unwrap();
        let outputs = (0..1 << 16).map(|output| (0, output));
        let answers = spec.engine.decode(&job, &outputs.collect::<Vec<_>>());
        let accepted: Vec<_> = answers.unwrap().into_iter().flatten().collect();
        assert_eq!(accepted.len(), possible, "{:?}", spec.metric);
        assert!(accepted.iter().all(|answer| spec.allows(answer)));
    }
}
