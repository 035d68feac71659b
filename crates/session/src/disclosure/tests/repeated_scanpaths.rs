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

/// Participants with these scanpaths of one stimulus: one letter for each; the first participant may have others.
fn with_contents(participants: std::ops::Range<u32>, usual: &str, first: &str) -> Vec<GroupMember> {
    let mut members = members(participants);
    for (number, member) in members.iter_mut().enumerate() {
        let contents = if number == 0 { first } else { usual };
        member.stimuli = vec!["market".into(); contents.len()];
        member.contents = contents.bytes().map(|content| [content; 32]).collect();
    }
    members
}

/// The difference of two answers is about the scanpaths that changed between them.
#[test]
fn scanpaths_that_change_are_a_difference() {
    let fixture = Fixture::new();
    let mean = AnswerKind::Mean;
    let all = |usual| with_contents(0..20, usual, usual);
    assert_eq!(fixture.ask(1, mean, &all("a")), Ok(1));
    let refused = Err(differencing(1));
    assert_eq!(
        fixture.ask(2, mean, &with_contents(0..20, "a", "b")),
        refused
    );
    // Nor may one be left out, or stay the same, while all others change.
    assert_eq!(
        fixture.ask(2, mean, &with_contents(1..20, "b", "b")),
        refused
    );
    assert_eq!(
        fixture.ask(2, mean, &with_contents(0..20, "b", "a")),
        refused
    );
    assert_eq!(
        fixture.ask(2, mean, &with_contents(1..20, "bc", "bc")),
        refused
    );
    // The same again, and everything changed.
    assert_eq!(fixture.ask(2, mean, &all("a")), Ok(2));
    assert_eq!(fixture.ask(3, mean, &all("b")), Ok(3));
    // The sum of both, with one more scanpath or another one.
    for first in ["abc", "bb", "ac"] {
        assert_eq!(
            fixture.ask(4, mean, &with_contents(0..20, "ab", first)),
            refused
        );
    }
    assert_eq!(fixture.ask(4, mean, &all("ab")), Ok(4));
}

/// Scores of all scanpaths in a mean but one give that one, in any order.
#[test]
fn scores_and_a_mean_that_differ_by_one_scanpath_are_refused() {
    let (mean, score) = (AnswerKind::Mean, AnswerKind::Score);
    let all = with_contents(0..20, "a", "a");
    let changed = with_contents(0..20, "a", "b");
    for (first, second) in [
        ((mean, &all), (score, &changed)),
        ((score, &changed), (mean, &all)),
    ] {
        let fixture = Fixture::new();
        assert!(fixture.ask(1, first.0, first.1).is_ok());
        assert_eq!(fixture.ask(2, second.0, second.1), Err(differencing(1)));
    }
    let fixture = Fixture::new();
    let two_each = with_contents(1..20, "ab", "ab");
    assert!(fixture.ask(1, score, &two_each).is_ok());
    assert_eq!(fixture.ask(2, mean, &all), Err(differencing(1)));
}

/// A scanpath without letters halves the weight of the other one, if participants have equal weights.
#[test]
fn empty_scanpaths_change_weights() {
    let mut members = with_contents(0..20, "a", "a");
    members[0].empty.push("market".into());
    let fixture = Fixture::new();
    let groups = AnswerKind::TestSites;
    assert_eq!(fixture.ask(1, groups, &members), Ok(1));
    assert_eq!(
        fixture.ask(2, AnswerKind::Mean, &members),
        Err(differencing(1))
    );
    let request = AnswerRequest {
        by_stimulus: true,
        ..answer_request(1, groups)
    };
    let refused = DisclosureRefusal::SmallPart {
        participants: 1,
        minimum: 5,
    };
    let fixture = Fixture::new();
    assert_eq!(fixture.ask_for(&request, &members, LIMITS), Err(refused));
}
