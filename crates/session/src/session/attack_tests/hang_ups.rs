//! The attacker keeps what it announced, compares other letters in every session, and hangs up after every message in turn.

use super::*;

/// All places to break a connection after the agreement, in sessions that compare everything.
pub(super) fn cuts(case: Case) -> Vec<Cut> {
    let setup = Setup::new(case, 1);
    let files = tempfile::tempdir().unwrap();
    let result = setup.attack(&Attempt::new(files.path(), 1));
    assert!(result.victim.is_none() && result.attacker.is_none());
    assert_eq!(setup.audit([files.path()]), (1, 1), "{case:?}");
    let [to_victim, to_attacker] = result.records;
    let cuts =
        |records: usize, to_victim| (0..=records).map(move |records| Cut { to_victim, records });
    cuts(to_attacker, false)
        .chain(cuts(to_victim, true))
        .collect()
}

/// Breaks every session at another place, with files that it keeps or loses, and then asks once more.
#[test]
fn hanging_up_at_every_message_gives_no_second_answer() {
    for_all_cases(|case| {
        let cuts = chosen(cuts(case));
        std::thread::scope(|scope| {
            for keeps_files in [true, false] {
                let cuts = &cuts;
                scope.spawn(move || hang_up_everywhere(case, cuts, keeps_files));
            }
        });
    });
}

/// All places with `VEILPATH_FAULTS=long`; otherwise some, and the last ones, where results are opened.
pub(super) fn chosen(cuts: Vec<Cut>) -> Vec<Cut> {
    let (some, last) = (8, 6);
    if is_long() || cuts.len() <= some + last {
        return cuts;
    }
    let (first, end) = cuts.split_at(cuts.len() - last);
    let step = first.len().div_ceil(some);
    first.iter().step_by(step).chain(end).copied().collect()
}

pub(super) fn is_long() -> bool {
    std::env::var("VEILPATH_FAULTS").is_ok_and(|value| value == "long")
}

fn hang_up_everywhere(case: Case, cuts: &[Cut], keeps_files: bool) {
    const LIMIT: u64 = 3;
    let setup = Setup::new(case, LIMIT);
    let folders = folders(if keeps_files { 1 } else { cuts.len() + 1 });
    let mut sessions: Vec<Option<Cut>> = cuts.iter().copied().map(Some).chain([None]).collect();
    if !keeps_files {
        // From the last message to the first, so that early hang-ups do not use up the limit.
        sessions[..cuts.len()].reverse();
    }
    for (number, cut) in sessions.into_iter().enumerate() {
        let files = folders[number % folders.len()].path();
        setup.attack(&Attempt {
            cut,
            ..Attempt::new(files, number)
        });
    }
    let (learned, counted) = setup.audit(paths(&folders));
    eprintln!(
        "{}, results to {:?}, {:?} attacks in {} sessions, keeps files: {keeps_files}: {learned} learned, {counted} counted",
        case.engine.name(),
        case.to,
        case.attacker,
        cuts.len() + 1
    );
    match (case.engine, case.attacker) {
        // Every start shows another view, until both know the result.
        (Engine::Paillier(_), Role::Host) if keeps_files => assert_eq!(counted, LIMIT),
        (Engine::Paillier(_), Role::Host) => assert!(counted <= LIMIT),
        _ => assert!(counted <= 1, "one answer per pair and agreement"),
    }
}
