//! The attacker lies about what it has: it restores old files, claims to have lost them, and forges entries.

use super::*;
use crate::digests::journal_id;
use crate::error::{BanReason, Limit};
use crate::journal::Journal;
use veilpath_metrics::PairScore;
use veilpath_protocol::{Answer, Reveal};

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// The attacker breaks off at every message to it, keeps a copy of its files each time, and then comes back with each copy.
#[test]
fn old_files_give_no_second_answer() {
    for_all_cases(|case| {
        let setup = Setup::new(case, 2);
        let files = tempfile::tempdir().unwrap();
        let step = if is_long() { 2 } else { 4 };
        let copies = folders(24 / step);
        for (records, copied) in copies.iter().enumerate() {
            let cut = Cut {
                to_victim: false,
                records: records * step,
            };
            setup.attack(&Attempt {
                cut: Some(cut),
                ..Attempt::new(files.path(), records)
            });
            copy(files.path(), copied.path());
        }
        for (number, copied) in copies.iter().enumerate() {
            setup.attack(&Attempt::new(copied.path(), 100 + number));
        }
        let all = paths(&copies).chain([files.path()]);
        let (_, counted) = setup.audit(all);
        if case.engine.opens_outputs_by_halves() {
            assert!(counted <= 1, "{case:?}");
        }
    });
}

/// Every statement about both pairs that a journal can be made to say, before and after an answer was given.
#[test]
fn forged_entries_give_no_second_answer() {
    for_all_cases(|case| {
        [true, false]
            .into_iter()
            .for_each(|first_is_cut| forge(case, first_is_cut))
    });
}

fn forge(case: Case, first_is_cut: bool) {
    let setup = Setup::new(case, 3);
    let folders = folders(17);
    let cut = first_is_cut.then_some(Cut {
        to_victim: true,
        records: 2,
    });
    let first = setup.attack(&Attempt {
        cut,
        ..Attempt::new(folders[16].path(), 16)
    });
    let (agreement, run) = first.agreed.unwrap();
    for (number, files) in folders[..16].iter().enumerate() {
        // Half of the statements before an answer, and the others after it.
        let is_even = number.count_ones().is_multiple_of(2);
        if !is_long() && is_even != first_is_cut {
            continue;
        }
        let directory = StateDir::at(files.path()).journals();
        let id = journal_id(&agreement, case.attacker, None);
        let mut journal = Journal::open(&directory, id, 2, Reveal::Score).unwrap();
        if number & 1 != 0 {
            let forged = Answer::Score(PairScore::new(-1.0, None));
            journal.store(1, forged).unwrap();
        }
        if number & 2 != 0 {
            let run = if number & 8 != 0 { run } else { run + 1 };
            journal.store_halves(&[0, 1], &[5, 6], run).unwrap();
        }
        if number & 4 != 0 {
            journal.mark_sent(&[0, 1]).unwrap();
        }
        drop(journal);
        setup.attack(&Attempt::new(files.path(), number));
    }
    // Forged answers and answers decoded with forged halves count as learned, although they say nothing.
    let (counted, real) = (setup.counted(), setup.learned([folders[16].path()]));
    assert!(real <= counted && counted <= 3, "{case:?}: {counted}");
    if case.engine.opens_outputs_by_halves() {
        assert!(counted <= 1, "{case:?}: {counted}");
    }
}

/// After an interruption the attacker continues the same agreement with other costs, or with more letters.
#[test]
fn another_plan_on_resume_gives_no_second_answer() {
    let other_costs: fn(&mut Spec) = |spec| {
        spec.metric = Metric::NeedlemanWunsch {
            substitution: Substitution::Index,
            insert: 19.0,
            delete: 17.0,
            scale: None,
        };
    };
    let more_letters: fn(&mut Spec) = |spec| spec.alphabet = Alphabet::letters(52).unwrap();
    for_all_cases(|case| {
        for change in [other_costs, more_letters] {
            let setup = Setup::new(case, 2);
            let files = tempfile::tempdir().unwrap();
            for number in 0..3 {
                // The first one agrees on the plan, and hangs up before there are results.
                let cut = (number == 0).then_some(Cut {
                    to_victim: false,
                    records: 3,
                });
                setup.attack(&Attempt {
                    cut,
                    change: (number > 0).then_some(change),
                    ..Attempt::new(files.path(), number)
                });
            }
            let (_, counted) = setup.audit([files.path()]);
            if case.engine.opens_outputs_by_halves() {
                assert!(counted <= 1, "{case:?}");
            }
        }
    });
}

/// The attacker returns with files that say something else about a pair that the victim knows. The victim bans it: an honest
/// session is refused from then on.
#[test]
fn another_answer_for_a_known_pair_is_banned() {
    for_all_cases(|case| {
        if case.to != RevealTo::Both {
            return;
        }
        let setup = Setup::new(case, 2);
        let folders = folders(3);
        let first = setup.attack(&Attempt::new(folders[0].path(), 1));
        assert!(first.victim.is_none(), "{case:?}: {:?}", first.victim);
        let (agreement, _) = first.agreed.unwrap();
        let id = journal_id(&agreement, case.attacker, None);
        let known = Journal::open(
            &StateDir::at(folders[0].path()).journals(),
            id,
            2,
            Reveal::Score,
        )
        .unwrap();
        let directory = StateDir::at(folders[1].path()).journals();
        let mut forged = Journal::open(&directory, id, 2, Reveal::Score).unwrap();
        forged.store(0, known.answer(0).unwrap()).unwrap();
        let other = Answer::Score(PairScore::new(-1.0, None));
        assert_ne!(known.answer(1), Some(other), "{case:?}");
        forged.store(1, other).unwrap();
        drop((known, forged));
        let error = setup.attack(&Attempt::new(folders[1].path(), 1));
        let error = error.victim.unwrap();
        assert_eq!(error.ban(), Some(BanReason::ChangedAnswer), "{case:?}");
        assert!(error.is_final(), "{case:?}");
        let honest = setup.attack(&Attempt::new(folders[2].path(), 1));
        let banned = Limit::Banned(BanReason::ChangedAnswer);
        match honest.victim {
            Some(SessionError::Limit(limit)) => assert_eq!(limit, banned, "{case:?}"),
            other => panic!("{case:?}: {other:?}"),
        }
        assert_eq!(honest.agreed, None, "{case:?}");
        assert_eq!(setup.counted(), 1, "{case:?}");
    });
}
