//! A peer that does not publish the labels that it has committed to, or commits to what it does not know.

use super::*;

fn committed_by(agreement: &[u8; 32], role: Role, part: &[u8; 32]) -> Option<String> {
    Some(hex(&commitment(agreement, role, part, Some(&LABELS))))
}

fn misbehaviour(result: Result<GroupAgreement, SessionError>) -> Misbehaviour {
    match result.err().unwrap() {
        SessionError::Misbehaved(misbehaviour) => misbehaviour,
        error => panic!("{error}"),
    }
}

const QUESTIONS: [&str; 2] = ["groups,published", "test:groups,30,published"];

#[test]
fn published_labels_are_taken_as_committed() {
    for role in [Role::Host, Role::Join] {
        for question in QUESTIONS {
            let groups = terms(SIZES, 2, committed_with(role, &LABELS));
            let messages = [groups.as_str(), &opening(&hex(&PART))];
            let agreed = negotiate(role, question, 6, messages).unwrap();
            let published = agreed.groups.peer_groups.unwrap();
            let expected = LABELS.map(|it| ["control", "patient"][usize::from(it)]);
            assert_eq!(published, expected);
        }
    }
}

/// Labels other than the committed ones, a commitment without labels, and labels that do not fit the roster or the
/// sizes: for too few participants, for too many, for none, and for groups without a name.
#[test]
fn labels_other_than_committed_are_misbehaviour() {
    let coins = opening(&hex(&PART));
    let other = [0, 1, 0, 1, 0, 1];
    let more = [1, 1, 0, 0, 1, 0, 0];
    let nameless = [1, 1, 0, 0, 1, 2];
    for (committed, labels, expected) in [
        (&LABELS[..], &other[..], Misbehaviour::InvalidCoins),
        (&[], &LABELS, Misbehaviour::InvalidCoins),
        (&LABELS, &[], Misbehaviour::InvalidCoins),
        (&LABELS[..5], &LABELS[..5], Misbehaviour::InvalidGroups),
        (&more, &more, Misbehaviour::InvalidGroups),
        (&[0; 6], &[0; 6], Misbehaviour::InvalidGroups),
        (&nameless, &nameless, Misbehaviour::InvalidGroups),
        (&[255; 6], &[255; 6], Misbehaviour::InvalidGroups),
        (&[], &[], Misbehaviour::InvalidGroups),
    ] {
        for (question, role) in QUESTIONS
            .map(|it| [(it, Role::Host), (it, Role::Join)])
            .concat()
        {
            let groups = terms(SIZES, 3, committed_with(role, committed));
            let result = negotiate_labels(role, question, 6, [&groups, &coins], labels);
            assert_eq!(misbehaviour(result), expected, "{labels:?}");
        }
    }
    // Published groups without a commitment.
    for error in both_roles(QUESTIONS[0], 6, |_| terms(SIZES, 3, None), &coins) {
        assert!(matches!(
            error,
            SessionError::Misbehaved(Misbehaviour::InvalidGroups)
        ));
    }
}

/// The length is checked before memory is reserved, and a side that publishes nothing gets no further.
#[test]
fn oversized_and_missing_labels_are_misbehaviour() {
    let groups = |role| terms(SIZES, 3, committed_with(role, &LABELS));
    let mut huge = message(Tag::Labels, &[]);
    huge[1..5].copy_from_slice(&u32::MAX.to_le_bytes());
    let coins = message(Tag::Coins, opening(&hex(&PART)).as_bytes());
    for role in [Role::Host, Role::Join] {
        for (labels, too_long) in [(&huge, true), (&Vec::new(), false)] {
            let groups = message(Tag::Groups, groups(role).as_bytes());
            let mut script = Script([&groups[..], labels, &coins].concat());
            let reveal = QUESTIONS[0].parse().unwrap();
            let found = misbehaviour(negotiate_over(&mut script, role, reveal, 6));
            match found {
                Misbehaviour::MessageTooLong { length, .. } => {
                    assert!(too_long && length == u32::MAX as usize);
                }
                Misbehaviour::UnexpectedMessage { expected, .. } => {
                    assert!(!too_long && expected == "Labels");
                }
                other => panic!("{other}"),
            }
        }
    }
}

/// A peer that sends back whatever it receives.
struct Echo(Vec<u8>);

impl Channel for Echo {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        if self.0.len() < buffer.len() {
            return Err(ChannelError::Closed);
        }
        let rest = self.0.split_off(buffer.len());
        buffer.copy_from_slice(&self.0);
        self.0 = rest;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

/// A joining side that sends back the host's commitment, and then the host's labels and coins, would have committed to
/// labels that it did not know.
#[test]
fn a_commitment_cannot_be_reflected() {
    for question in [
        "groups,published",
        "test:groups,30,published",
        "test:sites,30",
    ] {
        let reveal = question.parse().unwrap();
        let result = negotiate_over(&mut Echo(Vec::new()), Role::Host, reveal, 6);
        assert_eq!(
            misbehaviour(result),
            Misbehaviour::InvalidCoins,
            "{question}"
        );
    }
}

/// A partner of two institutions forwards the commitment of one to the other, and then its opening; or reuses those of
/// an earlier agreement.
#[test]
fn a_commitment_of_another_agreement_is_misbehaviour() {
    let coins = opening(&hex(&PART));
    for role in [Role::Host, Role::Join] {
        for question in QUESTIONS {
            let commitment = committed_by(&[2; 32], role.other(), &PART);
            let groups = terms(SIZES, 3, commitment);
            let result = negotiate(role, question, 6, [&groups, &coins]);
            assert_eq!(misbehaviour(result), Misbehaviour::InvalidCoins);
        }
    }
}
