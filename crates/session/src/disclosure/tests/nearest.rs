//! The nearest scanpaths: how many, and whose groups count.

use super::*;

#[test]
fn k_nearest_and_every_cell_must_reach_the_larger_minimum() {
    let fixture = Fixture::new();
    let limits = DisclosureLimits::new(5, 8, 20);
    let answer = |nearest| AnswerRequest {
        overall: false,
        nearest,
        ..answer_request(1, AnswerKind::Nearest)
    };
    let few = fixture.ask_for(&answer(Some(7)), &members(0..40), limits);
    let expected = DisclosureRefusal::FewNearest {
        nearest: 7,
        minimum: 8,
    };
    assert_eq!(few, Err(expected));
    assert!(matches!(
        fixture.ask_for(&answer(Some(8)), &members(0..14), limits),
        Err(DisclosureRefusal::SmallPart {
            participants: 7,
            ..
        })
    ));
    assert_eq!(
        fixture.ask_for(&answer(Some(8)), &members(0..16), limits),
        Ok(1)
    );
    // A small group in an earlier answer does not block later questions about others.
    let fixture = Fixture::new();
    assert_eq!(fixture.ask(1, AnswerKind::Mean, &members(0..5)), Ok(1));
    let later = AnswerRequest {
        agreement: &[2; 32],
        nearest: None,
        ..answer(None)
    };
    assert_eq!(fixture.ask_for(&later, &members(20..40), limits), Ok(2));
}

/// The nearest of the host's scanpaths are found whether or not its participants have groups.
#[test]
fn groups_that_an_answer_does_not_use_are_not_needed() {
    let mut without = members(0..9);
    for member in &mut without {
        member.group = None;
    }
    let answer = |by_group| AnswerRequest {
        nearest: Some(5),
        by_group,
        ..answer_request(1, AnswerKind::Nearest)
    };
    let fixture = Fixture::new();
    let refused = Err(DisclosureRefusal::NoGroups);
    assert_eq!(fixture.ask_for(&answer(true), &without, LIMITS), refused);
    // Groups of four and five play no part in it.
    let small = DisclosureRefusal::SmallPart {
        participants: 4,
        minimum: 5,
    };
    let found = fixture.ask_for(&answer(true), &members(0..9), LIMITS);
    assert_eq!(found, Err(small));
    assert_eq!(fixture.ask_for(&answer(false), &without, LIMITS), Ok(1));
    let fixture = Fixture::new();
    assert_eq!(
        fixture.ask_for(&answer(false), &members(0..9), LIMITS),
        Ok(1)
    );
}

/// Scanpaths without letters vote, too.
#[test]
fn empty_references_are_of_enough_participants() {
    let mut few = members(0..20);
    few.push(GroupMember {
        participant: "empty".into(),
        group: Some("odd".into()),
        empty: vec!["harbour".into(); 3],
        ..GroupMember::default()
    });
    let answer = |nearest| AnswerRequest {
        nearest: Some(nearest),
        has_references: true,
        ..answer_request(1, AnswerKind::Nearest)
    };
    let refused = DisclosureRefusal::NearestOfFew {
        nearest: 12,
        needed: 13,
        minimum: 5,
    };
    let ask = |nearest| Fixture::new().ask_for(&answer(nearest), &few, LIMITS);
    assert_eq!(ask(12), Err(refused));
    assert_eq!(ask(13), Ok(1));
}

/// A constant query is as near to all references, and the first ones vote.
#[test]
fn the_nearest_references_are_of_enough_participants() {
    let fixture = Fixture::new();
    let answer = |nearest, by_stimulus, has_references| AnswerRequest {
        nearest: Some(nearest),
        by_stimulus,
        has_references,
        ..answer_request(1, AnswerKind::Nearest)
    };
    // Two scanpaths of each participant, one for each stimulus.
    let refused = DisclosureRefusal::NearestOfFew {
        nearest: 8,
        needed: 9,
        minimum: 5,
    };
    let ask = |request| fixture.ask_for(&request, &members(0..20), LIMITS);
    assert_eq!(ask(answer(8, false, true)), Err(refused));
    assert_eq!(ask(answer(8, false, false)), Ok(1));
    assert_eq!(
        Fixture::new().ask_for(&answer(9, false, true), &members(0..20), LIMITS),
        Ok(1)
    );
    assert_eq!(
        Fixture::new().ask_for(&answer(5, true, true), &members(0..20), LIMITS),
        Ok(1)
    );
}
