//! Answers about the same participants whose scanpaths were made with other settings.

use super::*;

fn request(number: u8, kind: AnswerKind, settings: u8) -> AnswerRequest<'static> {
    AnswerRequest {
        encoding: Some([settings; 32]),
        ..answer_request(number, kind)
    }
}

fn with_contents(numbers: std::ops::Range<u32>, content: u8) -> Vec<GroupMember> {
    let mut members = members(numbers);
    for member in &mut members {
        member.contents = vec![[content; 32]; 2];
    }
    members
}

const REFUSED: Result<u32, DisclosureRefusal> =
    Err(DisclosureRefusal::ChangedEncoding { participants: 20 });

#[test]
fn answers_about_groups_need_the_same_settings() {
    let (score, mean) = (AnswerKind::Score, AnswerKind::Mean);
    for (first, second, refused) in [
        (mean, mean, true),
        (score, mean, true),
        (mean, score, true),
        (score, score, false),
    ] {
        let fixture = Fixture::new();
        let ask = |number, kind, settings, limits| {
            let members = with_contents(0..20, settings);
            fixture.ask_for(&request(number, kind, settings), &members, limits)
        };
        assert!(ask(1, first, 1, LIMITS).is_ok());
        let found = ask(2, second, 2, LIMITS);
        match refused {
            true => assert_eq!(found, REFUSED),
            false => assert!(found.is_ok()),
        }
        let allowed = DisclosureLimits {
            allow_changed_encoding: true,
            ..LIMITS
        };
        assert!(ask(3, second, 2, allowed).is_ok());
        // Other participants.
        let others = with_contents(20..40, 2);
        assert!(
            fixture
                .ask_for(&request(4, second, 2), &others, LIMITS)
                .is_ok()
        );
    }
}

/// Once settings are allowed, later answers are compared with those that had them, too.
#[test]
fn a_corrected_scanpath_is_found_among_answers_with_the_same_settings() {
    let fixture = Fixture::new();
    let mean = AnswerKind::Mean;
    let allowed = DisclosureLimits {
        allow_changed_encoding: true,
        ..LIMITS
    };
    let again = with_contents(0..20, 2);
    assert!(
        fixture
            .ask_for(&request(1, mean, 1), &with_contents(0..20, 1), LIMITS)
            .is_ok()
    );
    assert!(
        fixture
            .ask_for(&request(2, mean, 2), &again, allowed)
            .is_ok()
    );
    assert!(
        fixture
            .ask_for(&request(3, mean, 2), &again, LIMITS)
            .is_ok()
    );
    let mut corrected = again;
    corrected[0].contents[0] = [9; 32];
    assert_eq!(
        fixture.ask_for(&request(4, mean, 2), &corrected, LIMITS),
        Err(differencing(1))
    );
}

/// An answer with the same settings about another stimulus says nothing about this one.
#[test]
fn settings_are_compared_for_each_stimulus() {
    let fixture = Fixture::new();
    let mean = AnswerKind::Mean;
    let with_stimulus = |stimulus: &str, content: u8| {
        let mut members = with_contents(0..20, content);
        for member in &mut members {
            member.stimuli = vec![stimulus.into()];
        }
        members
    };
    let allowed = DisclosureLimits {
        allow_changed_encoding: true,
        ..LIMITS
    };
    let (a, b) = (with_stimulus("a", 1), with_stimulus("b", 2));
    assert!(fixture.ask_for(&request(1, mean, 1), &a, LIMITS).is_ok());
    assert!(fixture.ask_for(&request(2, mean, 2), &b, allowed).is_ok());
    assert!(fixture.ask_for(&request(3, mean, 2), &b, LIMITS).is_ok());
    let again = with_stimulus("a", 2);
    assert_eq!(
        fixture.ask_for(&request(4, mean, 2), &again, LIMITS),
        REFUSED
    );
}

/// With the new settings, one of two scanpaths of a stimulus is known. The other one was corrected in between.
#[test]
fn a_further_scanpath_of_a_stimulus_is_not_known() {
    let fixture = Fixture::new();
    let mean = AnswerKind::Mean;
    let with = |contents: &[u8], of_the_first: &[u8]| {
        let mut members = members(0..20);
        for (number, member) in members.iter_mut().enumerate() {
            let contents = if number == 0 { of_the_first } else { contents };
            member.stimuli = vec!["a".into(); contents.len()];
            member.contents = contents.iter().map(|it| [*it; 32]).collect();
        }
        members
    };
    let allowed = DisclosureLimits {
        allow_changed_encoding: true,
        ..LIMITS
    };
    let ask = |number, encoding, members: &[GroupMember], limits| {
        fixture.ask_for(&request(number, mean, encoding), members, limits)
    };
    assert!(ask(1, 1, &with(&[11, 12], &[11, 12]), LIMITS).is_ok());
    assert!(ask(2, 2, &with(&[21], &[21]), allowed).is_ok());
    assert!(ask(3, 2, &with(&[21], &[21]), LIMITS).is_ok());
    assert_eq!(ask(4, 2, &with(&[21, 22], &[21, 99]), LIMITS), REFUSED);
}
