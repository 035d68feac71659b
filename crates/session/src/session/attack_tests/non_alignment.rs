//! Metrics with several numbers per pair, and with numbers that need no matrix.

use super::*;
use veilpath_metrics::{
    Crqa, CrqaMeasure, DurationClasses, DurationDivisor, Grid, Positions, RecurrenceRule, ScaSim,
    Undefined, View,
};

/// Three numbers of a recurrence plot.
fn crqa() -> Metric {
    let positions = Positions::Grid {
        grid: Grid::new(4, 3).unwrap(),
        wrap: false,
    };
    let [rec, det, lam, ..] = CrqaMeasure::ALL;
    Metric::Crqa(Crqa {
        rule: RecurrenceRule::Within {
            positions,
            radius: 1.5,
        },
        line: 2,
        measures: vec![rec, det, lam],
        undefined: Undefined::Zero,
        rounded: true,
    })
}

/// Six grid cells and two classes of durations.
fn scasim() -> Metric {
    Metric::ScaSim(ScaSim {
        view: View {
            center: [50.0, 50.0],
            pixel: [0.1, 0.1],
            distance: 60.0,
        },
        modulator: 0.83,
        divisor: DurationDivisor::None,
        classes: Some(DurationClasses {
            grid: Grid::new(3, 2).unwrap(),
            screen: [100.0, 100.0],
            durations: vec![100.0, 250.0],
            scale: 1,
        }),
    })
}

fn setup(metric: Metric, engine: Engine, attacker: Role, limit: u64) -> Setup {
    let case = Case {
        engine,
        reveal: Reveal::Score,
        to: RevealTo::Both,
        attacker,
    };
    Setup {
        metric,
        alphabet: Alphabet::letters(12).unwrap(),
        ..Setup::new(case, limit)
    }
}

/// An attempt with letters that the metrics accept.
fn attempt(files: &Path, number: usize) -> Attempt<'_> {
    let attempt = Attempt::new(files, number);
    Attempt {
        letters: attempt.letters.iter().map(|letter| letter % 12).collect(),
        ..attempt
    }
}

/// All numbers of a pair come together, once, wherever the connection breaks.
#[test]
fn several_numbers_of_a_pair_are_one_answer() {
    for engine in [Engine::Garbled, Engine::Shares] {
        for attacker in [Role::Join, Role::Host] {
            let files = tempfile::tempdir().unwrap();
            let first = setup(crqa(), engine, attacker, 1);
            let result = first.attack(&attempt(files.path(), 1));
            assert!(result.victim.is_none(), "{:?}", result.victim);
            assert_eq!(first.audit([files.path()]), (1, 1));
            let [to_victim, to_attacker] = result.records;
            let setup = setup(crqa(), engine, attacker, 3);
            let folders = folders(9);
            let late = |all: usize| all.saturating_sub(3)..=all;
            let cuts = late(to_attacker).map(|records| (false, records));
            let cuts = cuts.chain(late(to_victim).map(|records| (true, records)));
            for (number, (files, (to_victim, records))) in folders.iter().zip(cuts).enumerate() {
                setup.attack(&Attempt {
                    cut: Some(Cut { to_victim, records }),
                    ..attempt(files.path(), number)
                });
            }
            setup.attack(&attempt(folders[8].path(), 8));
            let (_, counted) = setup.audit(paths(&folders));
            assert!(counted <= 1, "{engine:?} {attacker:?}");
        }
    }
}

/// Without letters on one side, the score is the cost of the other side's insertions. The lengths say as much, so it is
/// not counted.
#[test]
fn an_empty_scanpath_reveals_no_more_than_lengths() {
    for_all_cases(|case| {
        let setup = Setup::new(case, 0);
        let files = tempfile::tempdir().unwrap();
        let result = setup.attack(&Attempt {
            announced: Vec::new(),
            letters: Vec::new(),
            ..Attempt::new(files.path(), 1)
        });
        assert!(result.victim.is_none(), "{case:?}: {:?}", result.victim);
        assert_eq!(setup.counted(), 0, "{case:?}");
        let files = StateDir::at(files.path());
        let comparisons = files.comparisons().unwrap().entries;
        let outcome = files.stored_outcome(&comparisons[0].id).unwrap();
        let scores: Vec<_> = outcome.results.iter().map(|it| it.values).collect();
        let numbers = scores.iter().map(|it| format!("{it:?}"));
        let different: BTreeSet<String> = numbers.collect();
        // The two secrets have the same length and different letters.
        assert_eq!((scores.len(), different.len()), (2, 1), "{case:?}");
    });
}

/// Against a scanpath without letters, the result is the sum of the victim's durations.
#[test]
fn an_empty_scanpath_counts_where_durations_are_added() {
    for (engine, attacker) in [
        (Engine::Garbled, Role::Join),
        (Engine::Garbled, Role::Host),
        (Engine::Shares, Role::Join),
        (Engine::Shares, Role::Host),
    ] {
        let empty = |files| Attempt {
            announced: Vec::new(),
            letters: Vec::new(),
            ..attempt(files, 1)
        };
        let files = tempfile::tempdir().unwrap();
        let allowed = setup(scasim(), engine, attacker, 1);
        let result = allowed.attack(&empty(files.path()));
        assert!(result.victim.is_none(), "{:?}", result.victim);
        assert_eq!(allowed.audit([files.path()]), (1, 1));
        let files = tempfile::tempdir().unwrap();
        let forbidden = setup(scasim(), engine, attacker, 0);
        let result = forbidden.attack(&empty(files.path()));
        assert!(matches!(result.victim, Some(SessionError::Limit(_))));
        assert_eq!(forbidden.audit([files.path()]), (0, 0));
    }
}
