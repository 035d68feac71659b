//! Answers that are not sums of scores: histograms and group sizes.

use super::*;

/// Another number of bins, another metric and late recruits all give differences of counts.
#[test]
fn a_participant_is_in_one_histogram() {
    let fixture = Fixture::new();
    let histogram = AnswerKind::Histogram;
    assert_eq!(fixture.ask(1, histogram, &members(0..10)), Ok(1));
    // The same agreement again.
    assert_eq!(fixture.ask(1, histogram, &members(0..10)), Ok(1));
    let refused = |participants| Err(DisclosureRefusal::HistogramOverlap { participants });
    assert_eq!(fixture.ask(2, histogram, &members(0..10)), refused(10));
    assert_eq!(fixture.ask(3, histogram, &members(0..15)), refused(10));
    assert_eq!(fixture.ask(4, histogram, &members(5..15)), refused(5));
    // Other participants, and other answers.
    assert_eq!(fixture.ask(5, histogram, &members(20..25)), Ok(2));
    assert_eq!(fixture.ask(6, AnswerKind::Mean, &members(0..10)), Ok(3));
}

/// A histogram minus the scores of all but a few counts the few.
#[test]
fn a_participant_is_in_a_histogram_or_in_scores() {
    for pairs in [AnswerKind::Score, AnswerKind::Threshold] {
        let kinds = [pairs, AnswerKind::Histogram];
        for (first, second) in [(kinds[0], kinds[1]), (kinds[1], kinds[0])] {
            let fixture = Fixture::new();
            let both = |kind| match kind == pairs {
                true => members(0..6),
                false => members(0..9),
            };
            assert!(fixture.ask(1, first, &both(first)).is_ok());
            let refused = DisclosureRefusal::HistogramOverlap { participants: 6 };
            assert_eq!(fixture.ask(2, second, &both(second)), Err(refused));
        }
    }
}

/// The groups of the nearest tell about single scanpaths by their names.
#[test]
fn a_participant_is_in_a_histogram_or_named_with_nearest_groups() {
    let histogram = answer_request(1, AnswerKind::Histogram);
    let nearest = AnswerRequest {
        nearest: Some(5),
        names_scanpaths: true,
        by_group: false,
        ..answer_request(2, AnswerKind::Nearest)
    };
    for [first, second] in [[&histogram, &nearest], [&nearest, &histogram]] {
        let fixture = Fixture::new();
        let ask = |answer, range| fixture.ask_for(answer, &members(range), LIMITS);
        assert_eq!(ask(first, 0..6), Ok(1));
        let refused = DisclosureRefusal::HistogramOverlap { participants: 6 };
        assert_eq!(ask(second, 0..11), Err(refused));
        assert_eq!(ask(second, 20..25), Ok(2));
    }
    // The references are not named.
    let fixture = Fixture::new();
    let references = AnswerRequest {
        names_scanpaths: false,
        ..nearest
    };
    for answer in [&histogram, &references] {
        assert!(fixture.ask_for(answer, &members(0..6), LIMITS).is_ok());
    }
}

fn charge_sizes(
    fixture: &Fixture,
    key: u8,
    members: &[GroupMember],
) -> Result<u32, DisclosureRefusal> {
    let key = [key; 32];
    fixture.ask_for(&AnswerRequest::sizes(&key), members, LIMITS)
}

/// Participants with their groups, as group sizes need them.
fn grouped(numbers: std::ops::Range<u32>) -> Vec<GroupMember> {
    let without_stimuli = |member| GroupMember {
        stimuli: vec!["\0".into()],
        ..member
    };
    members(numbers).into_iter().map(without_stimuli).collect()
}

#[test]
fn group_sizes_that_differ_by_a_few_participants_are_refused() {
    let fixture = Fixture::new();
    // Group sizes cost nothing.
    assert_eq!(charge_sizes(&fixture, 1, &grouped(0..20)), Ok(0));
    assert_eq!(charge_sizes(&fixture, 1, &grouped(0..20)), Ok(0));
    assert_eq!(
        charge_sizes(&fixture, 2, &grouped(0..19)),
        Err(differencing(1))
    );
    // Four more participants, two in each group.
    assert_eq!(
        charge_sizes(&fixture, 3, &grouped(0..24)),
        Err(differencing(2))
    );
    assert_eq!(charge_sizes(&fixture, 4, &grouped(0..30)), Ok(0));
    assert!(matches!(
        charge_sizes(&fixture, 5, &grouped(40..48)),
        Err(DisclosureRefusal::SmallPart {
            participants: 4,
            ..
        })
    ));
    // Group sizes say nothing about scores.
    assert_eq!(fixture.ask(6, AnswerKind::Mean, &members(0..9)), Ok(1));
}
