//! What both sides have signed, whatever the attacker does and wherever the connection breaks.

use super::*;
use crate::{RecordComparison, RecordEntry, SignedRecord, Step};

pub(super) fn record(files: &Path) -> SignedRecord {
    let path = StateDir::at(files).record();
    match path.exists() {
        true => SignedRecord::read(&path, None)
            .unwrap()
            .require_intact()
            .unwrap(),
        false => SignedRecord {
            path,
            lines: Vec::new(),
            problem: None,
        },
    }
}

pub(super) fn steps(record: &SignedRecord) -> Vec<Step> {
    let lines = record.lines.iter();
    lines
        .map(|line| match &line.entry {
            RecordEntry::Session(entry) => entry.step,
            RecordEntry::Withdrawal(_) => unreachable!(),
        })
        .collect()
}

/// Nothing is opened without an intent that both have signed. A session that is resumed signs no second one.
#[test]
fn interrupted_sessions_record_only_the_intent_until_resumed() {
    for_all_cases(|case| {
        let cut_points = match is_long() {
            true => &[0, 1, 2, 3, 4, 6, 8, 12, 20][..],
            false => &[1, 8],
        };
        for (records, to_victim) in cut_points
            .iter()
            .copied()
            .flat_map(|records| [(records, true), (records, false)])
        {
            let setup = Setup::new(case, 100);
            let files = tempfile::tempdir().unwrap();
            let attempt = |cut| Attempt {
                cut,
                // The same letters each time: a changed answer would be a ban.
                ..Attempt::new(files.path(), 1)
            };
            setup.attack(&attempt(Some(Cut { to_victim, records })));
            let after_cut = record(setup.victim_files.path());
            if setup.counted() > 0 {
                assert_eq!(steps(&after_cut).first(), Some(&Step::Intent), "{case:?}");
            }
            let result = setup.attack(&attempt(None));
            assert!(result.victim.is_none(), "{case:?}: {:?}", result.victim);
            let [ours, theirs] = [setup.victim_files.path(), files.path()].map(record);
            assert_eq!(steps(&ours), [Step::Intent, Step::Completion], "{case:?}");
            assert!(ours.lines.starts_with(&after_cut.lines));
            let compared = RecordComparison::new(&ours, &theirs);
            assert!(compared.is_complete() && compared.common == 2);
        }
    });
}

/// A signature of anything other than what this side has agreed on ends the session before anything is opened.
#[test]
fn a_signature_of_another_plan_is_rejected() {
    let changes: [fn(&mut Spec); 2] = [
        |spec| spec.reveal_to = RevealTo::Join,
        |spec| spec.metric = Metric::Levenshtein,
    ];
    for change in changes {
        let case = Case {
            engine: Engine::Garbled,
            reveal: Reveal::Score,
            to: RevealTo::Both,
            attacker: Role::Join,
        };
        let setup = Setup::new(case, 2);
        let files = tempfile::tempdir().unwrap();
        let result = setup.attack(&Attempt {
            change: Some(change),
            ..Attempt::new(files.path(), 1)
        });
        let error = result.victim.unwrap();
        assert!(
            matches!(
                &error,
                SessionError::Misbehaved(crate::Misbehaviour::InvalidSignature)
            ),
            "{error}"
        );
        assert_eq!(setup.counted(), 0);
        assert!(record(setup.victim_files.path()).lines.is_empty());
    }
}
