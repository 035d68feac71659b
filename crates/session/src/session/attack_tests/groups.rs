//! The attacker asks about groups, and returns with other letters and groups under the same agreement.

use super::*;
use crate::digests::journal_id;
use crate::error::Limit;
use crate::journal::Journal;
use crate::{DisclosureLedger, DisclosureRefusal};
use veilpath_protocol::Misbehaviour;

/// Pairs of two participants on each side.
pub(super) const PAIRS: usize = 4;

pub(super) fn case(engine: Engine, question: &str, to: RevealTo, attacker: Role) -> Case {
    Case {
        engine,
        reveal: question.parse().unwrap(),
        to,
        attacker,
    }
}

/// The cases in which the attacker gets the answer.
fn cases() -> [Case; 8] {
    let (published, tested) = ("groups,published", "test:groups,20,published");
    [
        case(Engine::Shares, published, RevealTo::Both, Role::Join),
        case(Engine::Garbled, tested, RevealTo::Both, Role::Host),
        case(Engine::Shares, "nearest:1", RevealTo::Both, Role::Join),
        case(Engine::Shares, "groups", RevealTo::Both, Role::Join),
        case(Engine::Garbled, "groups", RevealTo::Both, Role::Host),
        case(Engine::Shares, "test:groups,20", RevealTo::Both, Role::Host),
        case(Engine::Garbled, "test:sites,20", RevealTo::Join, Role::Join),
        case(Engine::Shares, "mean:overall", RevealTo::Host, Role::Host),
    ]
}

pub(super) fn for_all_cases(attack: impl Fn(Case) + Sync) {
    std::thread::scope(|scope| {
        for case in cases() {
            let attack = &attack;
            scope.spawn(move || attack(case));
        }
    });
}

/// An attempt with other letters and other groups than the one before.
pub(super) fn attempt(files: &Path, number: usize) -> Attempt<'_> {
    Attempt {
        swap_groups: number % 2 == 1,
        ..Attempt::new(files, number)
    }
}

/// What an answer counts as: the means of the attacker's two groups with the victim's are two numbers about everybody.
/// If results can be about any scanpath, those of both groups of the victim count.
pub(super) fn cost(case: Case) -> u32 {
    let question = case.reveal.to_string();
    let victim = case.attacker.other();
    match question.as_str() {
        it if it.starts_with("groups") && case.engine.exposes_any_scanpath(victim) => 4,
        // A test opens a statistic and a count.
        it if it.starts_with("groups") || it.starts_with("test") => 2,
        _ => 1,
    }
}

/// The comparisons of a scanpath that an answer counts as. No pair is opened, but a group for each scanpath of the host may be. With
/// `paillier` every start of its two pairs counts.
pub(super) fn comparisons(case: Case) -> u64 {
    match case.engine.opens_outputs_by_halves() {
        true => u64::from(case.reveal.to_string() == "nearest:1"),
        false => 2,
    }
}

/// The different answers in these files of the attacker.
pub(super) fn learned<'a>(files: impl IntoIterator<Item = &'a Path>) -> BTreeSet<String> {
    let mut answers = BTreeSet::new();
    for files in files.into_iter().map(StateDir::at) {
        for comparison in files.comparisons().unwrap().entries {
            if let Ok(outcome) = files.stored_outcome(&comparison.id) {
                answers.extend(outcome.answers.iter().map(|it| format!("{it:?}")));
            }
        }
    }
    answers
}

impl Setup {
    /// The group answers that the victim has counted.
    pub(super) fn disclosed(&self) -> u32 {
        let files = StateDir::at(self.victim_files.path());
        let peer = self.attacker.fingerprint();
        let ledger = DisclosureLedger::open(Some(&files), &self.victim, peer);
        ledger.answers().unwrap()
    }

    /// The journal of the attacker, or of the victim.
    pub(super) fn journal(
        &self,
        files: &Path,
        role: Role,
        agreement: &[u8; 32],
        numbers: usize,
    ) -> Journal {
        let folder = StateDir::at(files).journals();
        let id = journal_id(agreement, role, None);
        Journal::open(&folder, id, PAIRS + numbers, self.case.reveal).unwrap()
    }
}

/// Places to break a connection after the agreement: a few in the computation, and the last ones, where the answer is opened.
fn cuts(case: Case) -> Vec<Cut> {
    let files = tempfile::tempdir().unwrap();
    let setup = Setup::new(case, 1.max(comparisons(case)));
    let result = setup.attack(&attempt(files.path(), 0));
    assert!(result.victim.is_none(), "{case:?}: {:?}", result.victim);
    assert_eq!(learned([files.path()]).len(), 1);
    assert_eq!(setup.disclosed(), cost(case));
    assert_eq!(setup.counted(), comparisons(case));
    let of = |to_victim: bool| {
        let all = result.records[usize::from(!to_victim)];
        let (step, last) = match is_long() {
            true => (1, 5),
            false => (all.div_ceil(2), 2),
        };
        let early = (0..all.saturating_sub(last)).step_by(step);
        let late = all.saturating_sub(last)..=all;
        early
            .chain(late)
            .map(move |records| Cut { to_victim, records })
            .collect::<Vec<Cut>>()
    };
    [of(false), of(true)].concat()
}

/// Hangs up everywhere, returns with other letters and groups, with files that it keeps or loses, and then asks once more.
#[test]
fn hanging_up_gives_at_most_one_answer() {
    for_all_cases(hang_up_everywhere);
}

pub(super) fn hang_up_everywhere(case: Case) {
    let cuts = cuts(case);
    for keeps_files in [true, false] {
        let limit = match case.engine.opens_outputs_by_halves() {
            true => 1,
            // Every start reveals a view and counts, so the limit must not be what stops the attacker.
            false => comparisons(case) * (cuts.len() as u64 + 1),
        };
        let setup = Setup::new(case, limit);
        let folders = folders(if keeps_files { 1 } else { cuts.len() + 1 });
        let mut sessions: Vec<Option<Cut>> = cuts.iter().copied().map(Some).collect();
        if !keeps_files {
            // From the last message to the first, so that an answer is lost early.
            sessions.reverse();
        }
        for (number, cut) in sessions.into_iter().chain([None]).enumerate() {
            let files = folders[number % folders.len()].path();
            setup.attack(&Attempt {
                cut,
                ..attempt(files, number)
            });
            let learned = learned(paths(&folders)).len();
            assert!(learned <= 1, "{case:?}, keeps files: {keeps_files}");
            assert!(learned <= setup.disclosed() as usize, "{case:?}");
        }
        assert!(setup.disclosed() <= cost(case), "{case:?}");
        if case.engine.opens_outputs_by_halves() {
            assert!(setup.counted() <= comparisons(case), "{case:?}");
        }
    }
}

/// With the answer in hand the attacker returns with other letters and groups, and with or without its files.
#[test]
fn returning_after_the_answer_gives_nothing_new() {
    for_all_cases(|case| {
        let setup = Setup::new(case, 1);
        let folders = folders(4);
        let first = setup.attack(&attempt(folders[0].path(), 0));
        assert!(first.victim.is_none(), "{case:?}");
        let known = learned(paths(&folders));
        assert_eq!(known.len(), 1);
        for number in 1..6 {
            // The files of the first session, and none.
            let files = folders[if number % 2 == 0 { 0 } else { number / 2 + 1 }].path();
            let result = setup.attack(&attempt(files, number));
            let starts_over = number % 2 == 1;
            let victim_knows = case.to == RevealTo::Both;
            match result.victim {
                None => assert!(!starts_over || victim_knows, "{case:?}"),
                Some(SessionError::Limit(Limit::LostPairs { .. })) => assert!(starts_over),
                Some(error) => panic!("{case:?}: {error}"),
            }
            assert_eq!(learned(paths(&folders)), known, "{case:?}");
            assert_eq!(setup.disclosed(), cost(case));
            assert_eq!(setup.counted(), comparisons(case));
        }
    });
}

/// Groups of single scanpaths are answers about scanpaths: with other letters each time the attacker gets as many as the limit allows.
#[test]
fn groups_of_single_scanpaths_count_as_comparisons() {
    for engine in [Engine::Shares, Engine::Garbled] {
        let case = case(engine, "nearest:1", RevealTo::Both, Role::Join);
        let setup = Setup::new(case, 2);
        let files = tempfile::tempdir().unwrap();
        for number in 1..5 {
            let attempt = Attempt {
                announced: letters(number).to_vec(),
                ..attempt(files.path(), number)
            };
            let result = setup.attack(&attempt);
            match result.victim {
                None => assert!(number <= 2, "{engine:?}"),
                Some(SessionError::Limit(Limit::Comparisons(_))) => assert!(number > 2),
                Some(error) => panic!("{engine:?}: {error}"),
            }
            assert_eq!(setup.counted(), 2.min(number as u64), "{engine:?}");
        }
    }
}

/// A histogram minus what the nearest groups tell about named scanpaths would be about the others.
#[test]
fn nearest_groups_and_histograms_are_not_about_the_same_participants() {
    let questions = ["histogram:4", "nearest:1"];
    let reversed = [questions[1], questions[0]];
    for [first, second] in [questions, reversed] {
        let case = |question| case(Engine::Shares, question, RevealTo::Both, Role::Join);
        let setup = Setup::new(case(first), 2);
        let folders = folders(2);
        let answered = setup.attack(&attempt(folders[0].path(), 0));
        assert!(answered.victim.is_none(), "{first}: {:?}", answered.victim);
        let setup = Setup {
            case: case(second),
            answers: 20,
            ..setup
        };
        let refused = setup.attack(&attempt(folders[1].path(), 1)).victim;
        let Some(SessionError::Limit(Limit::Disclosure(refusal))) = refused else {
            panic!("{second} after {first}: {refused:?}")
        };
        assert!(matches!(
            refusal,
            DisclosureRefusal::HistogramOverlap { .. }
        ));
    }
}

/// A group of a scanpath that was computed when another session used up the limit is not sent on return.
#[test]
fn groups_of_single_scanpaths_are_not_free_on_return() {
    for engine in [Engine::Shares, Engine::Garbled] {
        let case = case(engine, "nearest:1", RevealTo::Both, Role::Join);
        super::agreements::use_up_limit_between(case, |files| learned(paths(files)).len() as u64);
    }
}

/// Without its journal the victim does not know what it has sent, but its ledger has counted the answer.
#[test]
fn a_lost_journal_does_not_give_a_second_answer() {
    for_all_cases(|case| {
        let setup = Setup::new(case, 1);
        let folders = folders(2);
        let first = setup.attack(&attempt(folders[0].path(), 0));
        assert!(first.victim.is_none(), "{case:?}");
        let journals = StateDir::at(setup.victim_files.path()).journals();
        std::fs::remove_dir_all(journals).unwrap();
        let error = setup.attack(&attempt(folders[1].path(), 1)).victim;
        assert!(
            matches!(error, Some(SessionError::Limit(Limit::LostPairs { .. }))),
            "{case:?}: {error:?}"
        );
        assert_eq!(learned(paths(&folders)).len(), 1, "{case:?}");
    });
}

/// The attacker hangs up when both have their shares, changes its own so that the count of permutations that reach the
/// statistic exceeds their number, and resumes.
#[test]
fn an_impossible_number_is_reported_at_the_end() {
    let case = case(Engine::Shares, "test:sites,20", RevealTo::Both, Role::Join);
    let files = tempfile::tempdir().unwrap();
    let [to_victim, _] = Setup::new(case, 1)
        .attack(&attempt(files.path(), 0))
        .records;
    let mut tried = 0;
    for records in to_victim.saturating_sub(5)..to_victim {
        let setup = Setup::new(case, 1);
        let files = tempfile::tempdir().unwrap();
        let cut = Cut {
            to_victim: true,
            records,
        };
        let result = setup.attack(&Attempt {
            cut: Some(cut),
            ..attempt(files.path(), 0)
        });
        let (agreement, _) = result.agreed.unwrap();
        let victim = setup.journal(setup.victim_files.path(), Role::Host, &agreement, 2);
        let Some(victims) = victim.half(PAIRS + 1) else {
            continue;
        };
        if victim.number(PAIRS).is_some() {
            continue;
        }
        drop(victim);
        let mut journal = setup.journal(files.path(), Role::Join, &agreement, 2);
        let Some(half) = journal.half(PAIRS + 1) else {
            continue;
        };
        // Of five bits; there are 20 permutations.
        let wrong = 25u64.wrapping_sub(victims.half) & 31;
        journal
            .store_halves(&[PAIRS + 1], &[wrong], half.run)
            .unwrap();
        drop(journal);
        tried += 1;
        // Also when it comes back once more.
        for _ in 0..2 {
            let error = setup.attack(&attempt(files.path(), 0)).victim.unwrap();
            assert!(
                matches!(
                    error,
                    SessionError::Protocol(ProtocolError::PeerMisbehaved(
                        Misbehaviour::ResultOutOfRange
                    ))
                ),
                "{error}"
            );
            assert!(error.is_final());
        }
    }
    assert!(tried > 0, "no cut left both sides with their shares");
}

/// The attacker has an answer computed for two groups, hangs up before it is counted, has a part of it opened as an
/// answer for one group, and then the rest.
#[test]
fn changed_groups_on_resume_do_not_lower_the_charge() {
    let tried = std::thread::scope(|scope| {
        let both = [(RevealTo::Join, Role::Join), (RevealTo::Host, Role::Host)];
        let both = both.map(|(to, attacker)| scope.spawn(move || change_groups(to, attacker)));
        both.map(|it| it.join().unwrap()).iter().sum::<usize>()
    });
    assert!(tried > 1, "no cut left an answer that was not counted");
}

/// Returns how many cuts left an answer that was not counted.
fn change_groups(to: RevealTo, attacker: Role) -> usize {
    let mut tried = 0;
    let case = case(Engine::Shares, "groups", to, attacker);
    let files = tempfile::tempdir().unwrap();
    let [to_victim, _] = Setup::new(case, 1)
        .attack(&attempt(files.path(), 0))
        .records;
    for records in to_victim.saturating_sub(5)..to_victim {
        let setup = Setup::new(case, 1);
        let files = tempfile::tempdir().unwrap();
        setup.attack(&Attempt {
            cut: Some(Cut {
                to_victim: true,
                records,
            }),
            ..attempt(files.path(), 0)
        });
        if setup.disclosed() > 0 {
            continue;
        }
        tried += 1;
        let other = setup.attack(&Attempt {
            groups: Some(["x", "x"]),
            ..attempt(files.path(), 0)
        });
        let usual = setup.attack(&attempt(files.path(), 0));
        assert!(usual.victim.is_none(), "{case:?}: {:?}", usual.victim);
        assert_eq!(learned([files.path()]).len(), 1);
        assert_eq!(setup.disclosed(), cost(case), "{case:?}");
        let rejected = other.victim.map(|error| {
            let changed = crate::Misbehaviour::ChangedGroups;
            matches!(error, SessionError::Misbehaved(it) if it == changed)
        });
        assert_eq!(rejected, Some(true), "{case:?}");
    }
    tried
}

/// Four connections with one key at the same time, each with a cohort of its own, when one answer is left.
#[test]
fn concurrent_answers_share_one_budget() {
    for_all_cases(|case| {
        let setup = Setup {
            answers: cost(case),
            ..Setup::new(case, 1)
        };
        let folders = folders(4);
        std::thread::scope(|scope| {
            for (number, files) in folders.iter().enumerate() {
                let (setup, files) = (&setup, files.path());
                scope.spawn(move || {
                    setup.attack(&Attempt {
                        announced: letters(number).to_vec(),
                        ..attempt(files, number)
                    })
                });
            }
        });
        assert!(learned(paths(&folders)).len() <= 1, "{case:?}");
        assert!(setup.disclosed() <= cost(case), "{case:?}");
    });
}

/// A new agreement on the same plan is another answer.
#[test]
fn a_new_agreement_is_another_answer() {
    for_all_cases(|case| {
        let setup = Setup {
            answers: 2 * cost(case),
            fresh: true,
            ..Setup::new(case, 2)
        };
        let folders = folders(3);
        for (number, files) in folders.iter().enumerate() {
            let result = setup.attack(&Attempt {
                fresh: true,
                ..attempt(files.path(), number)
            });
            let refused = matches!(
                result.victim,
                Some(SessionError::Limit(
                    Limit::Disclosure(_) | Limit::Comparisons(_)
                ))
            );
            assert_eq!(
                refused,
                number == 2,
                "{case:?} {number}: {:?}",
                result.victim
            );
            assert_eq!(setup.disclosed(), cost(case) * 2.min(number as u32 + 1));
        }
        assert!(learned(paths(&folders)).len() <= 2, "{case:?}");
    });
}
