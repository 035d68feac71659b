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
    for new in [1, 0] {
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
        RecordEntry::Withdrawal(entry) if entry.participants == 1 && entry.partner == fixture.partner
    ));
}

/// A session about pairs is charged when it starts. If its connection breaks and somebody withdraws, it does not go on.
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
