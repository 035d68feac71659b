//! Participants who have withdrawn their consent.

use super::*;
use crate::{RecordEntry, SignedRecord};

#[test]
fn a_withdrawal_is_allowed_and_recorded() {
    let fixture = Fixture::new();
    let mean = AnswerKind::Mean;
    assert_eq!(fixture.ask(1, mean, &members(0..9)), Ok(1));
    assert_eq!(fixture.ask(2, mean, &members(1..9)), Err(differencing(1)));
    let withdrawn = ["P0", "P99"].map(String::from);
    // An unknown participant may be in a session that was agreed on, and not charged.
    for new in [2, 0] {
        let found = fixture.ledger().withdraw(&withdrawn).unwrap();
        let unknown = vec!["P99".to_string()];
        assert_eq!(found, Withdrawn { new, unknown });
    }
    assert_eq!(
        fixture.ask(2, mean, &members(0..9)),
        Err(DisclosureRefusal::Withdrawn { participants: 1 })
    );
    // Also scores, which are about each participant.
    for kind in [AnswerKind::Score, AnswerKind::Threshold] {
        assert_eq!(
            fixture.ask(2, kind, &members(0..9)),
            Err(DisclosureRefusal::Withdrawn { participants: 1 })
        );
    }
    // Only for this participant.
    assert_eq!(fixture.ask(2, mean, &members(2..9)), Err(differencing(1)));
    assert_eq!(fixture.ask(2, mean, &members(1..9)), Ok(2));
    let owner = Some(fixture.identity.fingerprint());
    let record = SignedRecord::read(&fixture.state_dir().record(), owner).unwrap();
    let record = record.require_intact().unwrap();
    assert_eq!(record.lines.len(), 1);
    assert!(matches!(
        &record.lines[0].entry,
        RecordEntry::Withdrawal(entry) if entry.participants == 2 && entry.partner == fixture.partner
    ));
}

/// A session about pairs is charged when it starts. If its connection breaks and a participant withdraws, it is not
/// resumed.
#[test]
fn a_withdrawal_stops_a_started_answer() {
    for kind in [AnswerKind::Score, AnswerKind::Threshold, AnswerKind::Mean] {
        let fixture = Fixture::new();
        let resumed = fixture.ask(1, kind, &members(0..9));
        assert!(resumed.is_ok());
        assert_eq!(fixture.ask(1, kind, &members(0..9)), resumed);
        let held = fixture.ledger();
        let held = held
            .check(&answer_request(1, kind), &members(0..9), LIMITS)
            .unwrap();
        fixture.ledger().withdraw(&["P3".into()]).unwrap();
        let refused = DisclosureRefusal::Withdrawn { participants: 1 };
        assert_eq!(fixture.ask(1, kind, &members(0..9)), Err(refused));
        // The same holds if the sides had agreed before.
        assert!(fixture.ledger().charge(held).is_err());
    }
}

/// Sides may have agreed on a first session, which is charged only when it starts. The partner decides when that is.
#[test]
fn a_withdrawal_stops_a_first_answer_that_was_agreed_on() {
    for kind in [AnswerKind::Score, AnswerKind::Mean] {
        let fixture = Fixture::new();
        let ledger = fixture.ledger();
        let held = ledger.check(&answer_request(1, kind), &members(0..9), LIMITS);
        let withdrawn = ledger.withdraw(&["P3".into()]).unwrap();
        assert_eq!(withdrawn.unknown, ["P3"]);
        assert!(ledger.charge(held.unwrap()).is_err());
        let refused = DisclosureRefusal::Withdrawn { participants: 1 };
        assert_eq!(fixture.ask(1, kind, &members(0..9)), Err(refused));
    }
}

/// A session keeps its watch, and others change the ledger.
#[test]
fn a_watch_notices_a_withdrawal_and_keeps_to_it() {
    let fixture = Fixture::new();
    let ledger = fixture.ledger();
    let request = answer_request(1, AnswerKind::Score);
    let charge = ledger.check(&request, &members(0..9), LIMITS).unwrap();
    let mut watch = ledger.watch([&charge]);
    // There is no ledger yet.
    watch.check().unwrap();
    fixture.ask(2, AnswerKind::Mean, &members(0..9)).unwrap();
    watch.check().unwrap();
    fixture.ledger().withdraw(&["P10".into()]).unwrap();
    watch.check().unwrap();
    fixture.ledger().withdraw(&["P3".into()]).unwrap();
    for _ in 0..2 {
        let refused = watch.check().unwrap_err();
        assert!(refused.to_string().contains("withdrawn"), "{refused}");
    }
}

/// What a partner has learned about somebody who withdraws still counts.
#[test]
fn a_withdrawal_frees_no_budget() {
    let fixture = Fixture::new();
    let limits = DisclosureLimits {
        answers_per_partner: 1,
        ..LIMITS
    };
    let ask = |number, from| {
        let answer = answer_request(number, AnswerKind::Mean);
        fixture.ask_for(&answer, &members(from..9), limits)
    };
    assert_eq!(ask(1, 0), Ok(1));
    fixture.ledger().withdraw(&["P0".into()]).unwrap();
    assert!(matches!(ask(2, 1), Err(DisclosureRefusal::Budget { .. })));
    assert_eq!(fixture.ledger().answers().unwrap(), 1);
}
