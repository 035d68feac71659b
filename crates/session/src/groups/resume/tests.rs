//! Every statement that a peer can make, about every state of this side.

use super::*;
use crate::control::Tag;
use crate::groups::tests::negotiation::{Script, message};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Metric};
use veilpath_protocol::{Engine, PairRule, Reveal, RevealTo, Spec};

const PAIRS: usize = 2;
const NUMBERS: usize = 2;
const RUN: u64 = 7;
const TO: [RevealTo; 3] = [RevealTo::Both, RevealTo::Host, RevealTo::Join];

/// A journal from which this side makes statements with these flags.
fn journal(flags: [u8; PAIRS + NUMBERS], reveal: Reveal) -> Journal {
    let mut journal = Journal::in_memory([1; 32], flags.len(), reveal);
    for (at, flags) in flags.into_iter().enumerate() {
        if flags & Statement::HALF != 0 {
            journal
                .store_halves(&[at], &[100 + at as u64], RUN)
                .unwrap();
        }
        if flags & Statement::SENT != 0 {
            journal.mark_sent(&[at]).unwrap();
        }
        if flags & Statement::ANSWERED != 0 {
            journal.store_number(at, 5).unwrap();
        }
    }
    journal
}

fn spec(to: RevealTo) -> Spec {
    let cohort = Cohort {
        alphabet: Alphabet::letters(4).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: Vec::new(),
    };
    let (engine, metric) = (Engine::Shares, Metric::Levenshtein);
    let mut spec = Spec::new(engine, metric, PairRule::All, &cohort, &cohort).unwrap();
    (spec.reveal, spec.reveal_to) = ("mean".parse().unwrap(), to);
    spec
}

/// The steps of a side with the flags `ours`, if the peer claims `theirs` and that all its halves are of this run.
fn steps(
    role: Role,
    spec: &Spec,
    ours: [u8; PAIRS + NUMBERS],
    theirs: [u8; PAIRS + NUMBERS],
    run: u64,
) -> Resume {
    let packed: Vec<u8> = theirs.chunks(2).map(|two| two[0] | two[1] << 4).collect();
    let mut script = message(Tag::Statements, &packed);
    script.extend(
        [run; PAIRS + NUMBERS]
            .iter()
            .flat_map(|it| it.to_le_bytes()),
    );
    let agreed = AgreedPairs {
        role,
        spec,
        pairs: &[(0, 0); PAIRS],
        cells: &[9; PAIRS],
        scanpaths: 1,
    };
    let journal = journal(ours, spec.reveal);
    Resume::exchange_for_answer(&mut Script(script), &journal, &agreed, NUMBERS).unwrap()
}

/// All flags of the numbers, with and without halves of the pairs.
fn states() -> impl Iterator<Item = [u8; PAIRS + NUMBERS]> {
    (0..8).flat_map(|first| {
        (0..8)
            .flat_map(move |second| [0, Statement::HALF].map(|pairs| [pairs, pairs, first, second]))
    })
}

fn has_flag(state: [u8; PAIRS + NUMBERS], flag: u8) -> [bool; NUMBERS] {
    [state[PAIRS], state[PAIRS + 1]].map(|it| it & flag != 0)
}

/// The peer claims anything: that it has lost its files, that its shares are of another run, that it has never seen the answer.
#[test]
fn an_answer_whose_shares_were_sent_is_never_computed_again() {
    for to in TO {
        let spec = spec(to);
        for role in [Role::Host, Role::Join] {
            for ours in states() {
                let sent = has_flag(ours, Statement::SENT).contains(&true);
                let knows = has_flag(ours, Statement::ANSWERED) == [true; 2];
                for (theirs, run) in states().flat_map(|it| [(it, RUN), (it, RUN + 1)]) {
                    let case = format!("{role:?} {to:?}: {ours:?}, peer {theirs:?} {run}");
                    let steps = steps(role, &spec, ours, theirs, run);
                    if sent {
                        assert_ne!(steps.answer, AnswerStep::Compute, "{case}");
                        assert!(steps.compare.is_empty(), "{case}");
                    }
                    // Pairs are compared only to compute the answer, and nothing is opened for them.
                    assert!(steps.compare.is_empty() || steps.answer == AnswerStep::Compute);
                    for pairs in [&steps.halves, &steps.answers] {
                        assert!(pairs.host.is_empty() && pairs.join.is_empty(), "{case}");
                    }
                    let sends = match steps.answer {
                        AnswerStep::SendShares { host, join } => match role {
                            Role::Host => join,
                            Role::Join => host,
                        },
                        AnswerStep::SendNumbers(sender) => {
                            assert!(sender != role || knows, "{case}");
                            assert_eq!(to, RevealTo::Both, "{case}");
                            sender == role
                        }
                        _ => false,
                    };
                    assert!(!sends || to.includes(role.other()), "{case}");
                    // Shares are sent only by a side that has them all, of the run that the peer names.
                    if matches!(steps.answer, AnswerStep::SendShares { .. }) {
                        assert_eq!(has_flag(ours, Statement::HALF), [true; 2], "{case}");
                        assert_eq!(run, RUN, "{case}");
                    }
                }
            }
        }
    }
}

/// With an honest peer both sides derive the same steps.
#[test]
fn both_sides_derive_the_same_steps() {
    for to in TO {
        let spec = spec(to);
        for (host, join) in states().flat_map(|host| states().map(move |join| (host, join))) {
            let steps_of_both = [
                steps(Role::Host, &spec, host, join, RUN),
                steps(Role::Join, &spec, join, host, RUN),
            ];
            let key = |steps: &Resume| (steps.answer, steps.compare.clone(), steps.lost);
            assert_eq!(
                key(&steps_of_both[0]),
                key(&steps_of_both[1]),
                "{to:?} {host:?} {join:?}"
            );
        }
    }
}

#[test]
fn the_next_step_follows_from_both_states() {
    const NONE: u8 = 0;
    const KEPT: u8 = Statement::HALF;
    const SENT: u8 = KEPT | Statement::SENT;
    const DONE: u8 = SENT | Statement::ANSWERED;
    let both = AnswerStep::SendShares {
        host: true,
        join: true,
    };
    let to_join = AnswerStep::SendShares {
        host: false,
        join: true,
    };
    for (host, join, run, expected, lost) in [
        (NONE, NONE, RUN, AnswerStep::Compute, 0),
        (KEPT, NONE, RUN, AnswerStep::Compute, 0),
        (KEPT, KEPT, RUN + 1, AnswerStep::Compute, 0),
        (KEPT, KEPT, RUN, both, 0),
        (SENT, SENT, RUN, both, 0),
        (DONE, SENT, RUN, to_join, 0),
        (DONE, DONE, RUN, AnswerStep::Nothing, 0),
        (DONE, NONE, RUN, AnswerStep::SendNumbers(Role::Host), 0),
        (NONE, DONE, RUN, AnswerStep::SendNumbers(Role::Join), 0),
        (SENT, NONE, RUN, AnswerStep::Nothing, NUMBERS),
        (SENT, KEPT, RUN + 1, AnswerStep::Nothing, NUMBERS),
        (NONE, SENT, RUN, AnswerStep::Nothing, NUMBERS),
    ] {
        let state = |flags| [KEPT, KEPT, flags, flags];
        let steps = steps(
            Role::Host,
            &spec(RevealTo::Both),
            state(host),
            state(join),
            run,
        );
        assert_eq!(
            (steps.answer, steps.lost),
            (expected, lost),
            "{host} {join}"
        );
    }
}

/// The peer knows the answer, and this side has lost its journal: the answer is recorded and counted now.
#[test]
fn an_answer_that_only_the_peer_remembers_is_recorded() {
    let known = [0, 0, Statement::ANSWERED, Statement::ANSWERED];
    let steps = steps(Role::Host, &spec(RevealTo::Both), [0; 4], known, RUN);
    assert_eq!(steps.unrecorded, [PAIRS, PAIRS + 1]);
}
