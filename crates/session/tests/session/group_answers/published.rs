//! Both sides publish who belongs to which group.

use super::*;
use veilpath_metrics::Entry;

/// Who belongs to which group is published only if both sides ask for it.
#[test]
fn one_side_alone_publishes_nothing() {
    for (questions, field) in [
        (["groups,published", "groups"], "reveal"),
        (["test:groups,30", "test:groups,30,published"], "reveal"),
    ] {
        let mut setup = setup(Engine::Shares, questions[0], 3);
        setup.proposals[1].spec.reveal = questions[1].parse().unwrap();
        for result in setup.run_through(i64::MAX).0 {
            let Err(SessionError::Differs(differences)) = result else {
                panic!("{questions:?}")
            };
            assert!(differences.iter().all(|it| it.field.starts_with(field)));
        }
    }
}

/// Published or not, no part of an answer is about few participants, alone or together with earlier answers.
#[test]
fn published_groups_do_not_bypass_the_minimum_or_differencing_rules() {
    for published in ["groups,published", "test:groups,30,published"] {
        let small = setup(Engine::Shares, published, 4);
        let refused = error(&small);
        assert!(
            matches!(
                refused,
                SessionError::Limit(Limit::Disclosure(DisclosureRefusal::SmallPart {
                    participants: 3,
                    minimum: 4
                }))
            ),
            "{published}: {refused}"
        );
        assert_eq!([small.disclosed(0), small.disclosed(1)], [0, 0]);
        for (earlier, change) in [
            ("mean:overall", remove_one as fn(&mut Vec<Entry>)),
            ("groups", remove_one),
            ("groups", regroup_one),
            ("groups,published", remove_one),
            ("groups,published", regroup_one),
            ("test:groups,30", regroup_one),
            ("nearest:5,rate", regroup_one),
        ] {
            let mut setup = setup(Engine::Shares, earlier, 2);
            let _ = run(&setup).map(Result::unwrap);
            let counted = setup.disclosed(0);
            for proposal in &mut setup.proposals {
                proposal.spec.reveal = published.parse().unwrap();
            }
            change(&mut setup.proposals[0].cohort.entries);
            let refused = error(&setup);
            assert!(
                matches!(
                    refused,
                    SessionError::Limit(Limit::Disclosure(DisclosureRefusal::Differencing {
                        participants: 1,
                        ..
                    }))
                ),
                "{earlier}, then {published}: {refused}"
            );
            assert_eq!(setup.disclosed(0), counted);
        }
    }
}

fn remove_one(entries: &mut Vec<Entry>) {
    entries.pop();
}

fn regroup_one(entries: &mut Vec<Entry>) {
    let mut first = entries.remove(0);
    first.group = Some("patient".into());
    entries.insert(0, first);
}
