//! Several scanpaths of one participant with the same stimulus, or without one.

use super::*;

/// Participants of whom the first has this many scanpaths without a stimulus, and the others one.
fn repeated(first: usize) -> Vec<GroupMember> {
    let mut all = members(0..10);
    for (number, member) in all.iter_mut().enumerate() {
        let count = if number == 0 { first } else { 1 };
        member.stimuli = vec![String::new(); count];
    }
    all
}

/// Two means over scanpaths that differ by one scanpath of one participant are about this scanpath alone.
#[test]
fn one_more_scanpath_of_a_participant_is_refused() {
    let mean = AnswerKind::Mean;
    for (before, after) in [(1, 2), (2, 1), (3, 2), (2, 5)] {
        for by_stimulus in [false, true] {
            let fixture = Fixture::new();
            let request = |number| AnswerRequest {
                by_stimulus,
                ..answer_request(number, mean)
            };
            assert_eq!(
                fixture.ask_for(&request(1), &repeated(before), LIMITS),
                Ok(1)
            );
            assert_eq!(
                fixture.ask_for(&request(2), &repeated(after), LIMITS),
                Err(differencing(1)),
                "{before} scanpaths, then {after}"
            );
        }
    }
}

/// A mean minus known scores is about a scanpath that had no score.
#[test]
fn a_mean_with_one_more_scanpath_than_known_scores_is_refused() {
    let fixture = Fixture::new();
    assert_eq!(fixture.ask(1, AnswerKind::Score, &repeated(1)), Ok(0));
    assert_eq!(
        fixture.ask(2, AnswerKind::Mean, &repeated(2)),
        Err(differencing(1))
    );
}

/// The same scanpaths again, and one more of enough participants, are allowed.
#[test]
fn one_more_scanpath_of_enough_participants_is_allowed() {
    let mean = AnswerKind::Mean;
    let fixture = Fixture::new();
    assert_eq!(fixture.ask(1, mean, &repeated(2)), Ok(1));
    assert_eq!(fixture.ask(2, mean, &repeated(2)), Ok(2));
    let fixture = Fixture::new();
    assert_eq!(fixture.ask(1, mean, &repeated(1)), Ok(1));
    let mut more = repeated(1);
    for member in more.iter_mut().take(5) {
        member.stimuli.push(String::new());
    }
    assert_eq!(fixture.ask(2, mean, &more), Ok(2));
}

/// Members with a content for the market; the first `changed` differ from the rest.
fn with_contents(numbers: std::ops::Range<u32>, changed: usize, content: u8) -> Vec<GroupMember> {
    let mut members = members(numbers);
    for (number, member) in members.iter_mut().enumerate() {
        let content = content + u8::from(number < changed);
        member.contents.insert("market".into(), [content; 32]);
    }
    members
}

/// The difference of two answers is about the scanpaths that changed between them.
#[test]
fn scanpaths_that_change_are_a_difference() {
    let fixture = Fixture::new();
    let mean = AnswerKind::Mean;
    assert_eq!(fixture.ask(1, mean, &with_contents(0..20, 0, 1)), Ok(1));
    let one = with_contents(0..20, 1, 1);
    assert_eq!(fixture.ask(2, mean, &one), Err(differencing(1)));
    // Nor may one be left out while all others are encoded again.
    let others = with_contents(1..20, 0, 7);
    assert_eq!(fixture.ask(2, mean, &others), Err(differencing(1)));
    // The same again, enough changes, and everything encoded again.
    assert_eq!(fixture.ask(2, mean, &with_contents(0..20, 0, 1)), Ok(2));
    assert_eq!(fixture.ask(3, mean, &with_contents(0..20, 5, 1)), Ok(3));
    assert_eq!(fixture.ask(4, mean, &with_contents(0..20, 0, 7)), Ok(4));
}
