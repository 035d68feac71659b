//! A participant withdraws while the attacker keeps a session open, or under a plan that gives the attacker no results.

use super::*;
use crate::DisclosureLedger;
use crate::disclosure::DisclosureRefusal;
use crate::error::Limit;
use veilpath_protocol::{Answer, Observer};

impl Setup {
    /// The victim's user enters a withdrawal.
    fn withdraw(&self, participant: &str) {
        let files = StateDir::at(self.victim_files.path());
        let peer = self.attacker.fingerprint();
        let ledger = DisclosureLedger::open(Some(&files), &self.victim, peer);
        ledger.withdraw(&[participant.to_string()]).unwrap();
    }
}

/// When a withdrawal is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// The sides have agreed, and the attacker waits.
    Agreed,
    /// The computation has started, and nothing was sent.
    Started,
    /// Pairs are being computed, and no half was sent.
    Computing,
}

/// The victim's user, who enters a withdrawal while the session runs.
struct User<'a> {
    setup: &'a Setup,
    moment: Moment,
}

impl Observer for User<'_> {
    fn started(&self) {
        if self.moment == Moment::Started {
            self.setup.withdraw("P0");
        }
    }

    fn cells(&self, _: u64) {
        if self.moment == Moment::Computing {
            self.setup.withdraw("P0");
        }
    }

    fn scored(&self, _: usize, _: Answer) {}
}

/// Runs a session in which a participant withdraws, and checks why it ended.
fn withdraw_at(setup: &Setup, moment: Moment, attempt: Attempt<'_>) {
    let withdraw = || {
        if moment == Moment::Agreed {
            setup.withdraw("P0");
        }
    };
    let user = User { setup, moment };
    let result = setup.attack(&Attempt {
        before_computation: Some(&withdraw),
        observer: Some(&user),
        ..attempt
    });
    let refused = matches!(
        result.victim,
        Some(SessionError::Limit(Limit::Disclosure(
            DisclosureRefusal::Withdrawn { participants: 1 }
        )))
    );
    let case = setup.case;
    assert!(refused, "{case:?}, {moment:?}: {:?}", result.victim);
}

#[test]
fn a_withdrawal_holds_for_pairs_that_were_not_sent() {
    for moment in [Moment::Agreed, Moment::Started, Moment::Computing] {
        for_all_cases(|case| {
            // Without halves, a pair that has started cannot be taken back.
            if moment == Moment::Computing && !case.engine.opens_outputs_by_halves() {
                return;
            }
            let setup = Setup::new(case, 2);
            let files = tempfile::tempdir().unwrap();
            withdraw_at(&setup, moment, Attempt::new(files.path(), 1));
            let audit = setup.audit([files.path()]);
            assert_eq!(audit, (0, 0), "{case:?}, {moment:?}");
        });
    }
}

#[test]
fn a_withdrawal_holds_for_a_group_answer_that_was_not_sent() {
    for moment in [Moment::Agreed, Moment::Started, Moment::Computing] {
        groups::for_all_cases(|case| {
            let setup = Setup::new(case, 2);
            let files = tempfile::tempdir().unwrap();
            withdraw_at(&setup, moment, groups::attempt(files.path(), 0));
            assert!(groups::learned([files.path()]).is_empty(), "{case:?}");
            assert_eq!(setup.disclosed(), 0, "{case:?}, {moment:?}");
        });
    }
}

/// A withdrawal also stops a session whose results only the victim gets, before the next pairs start.
#[test]
fn a_withdrawal_holds_where_the_attacker_gets_no_results() {
    for (attacker, to) in [(Role::Host, RevealTo::Join), (Role::Join, RevealTo::Host)] {
        for moment in [Moment::Agreed, Moment::Started] {
            let case = Case {
                engine: Engine::Garbled,
                reveal: Reveal::Score,
                to,
                attacker,
            };
            let setup = Setup::new(case, 2);
            let files = tempfile::tempdir().unwrap();
            withdraw_at(&setup, moment, Attempt::new(files.path(), 1));
        }
    }
}

/// With `plain`, the host sees all letters, whoever learns results.
#[test]
fn a_withdrawal_holds_where_the_host_gets_no_results() {
    for to in [RevealTo::Both, RevealTo::Join] {
        let case = Case {
            engine: Engine::Plain,
            reveal: Reveal::Score,
            to,
            attacker: Role::Host,
        };
        let setup = Setup::new(case, 9);
        let files = tempfile::tempdir().unwrap();
        let attempt = |number| Attempt {
            announced: letters(number).to_vec(),
            ..Attempt::new(files.path(), number)
        };
        let secret: Vec<u8> = SECRETS[0].iter().flat_map(|it| it.to_le_bytes()).collect();
        let shows_secret = |result: &SessionEnd| {
            let [victim, _] = &result.sent;
            victim.windows(secret.len()).any(|it| it == secret)
        };
        let before = setup.attack(&attempt(1));
        assert!(before.victim.is_none() && shows_secret(&before), "{to:?}");
        setup.withdraw("P0");
        let after = setup.attack(&attempt(2));
        assert!(after.victim.is_some() && !shows_secret(&after), "{to:?}");
    }
}
