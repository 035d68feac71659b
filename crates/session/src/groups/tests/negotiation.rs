//! A peer that lies about its groups, or opens coins other than those it committed to.

mod labels;
mod minimum;

use super::*;
use crate::control::Tag;
use crate::disclosure::DisclosureLedger;
use crate::error::{Fault, Misbehaviour, SessionError};
use crate::groups::budget::BITS_OF_A_NUMBER;
use crate::groups::{GroupAgreement, GroupNegotiation, MAX_MINIMUM, commitment};
use crate::identity::hex;
use crate::journal::Journal;
use veilpath_channel::{Channel, ChannelError};
use veilpath_protocol::{GroupSizes, ScanpathId};

/// A peer that sends these bytes, whatever it receives.
pub(in crate::groups) struct Script(pub(in crate::groups) Vec<u8>);

impl Channel for Script {
    fn send(&mut self, _: &[u8]) -> Result<(), ChannelError> {
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

pub(in crate::groups) fn message(tag: Tag, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_le_bytes();
    [&[tag as u8][..], &length, content].concat()
}

const AGREEMENT: [u8; 32] = [1; 32];

const PART: [u8; 32] = [5; 32];

/// Three participants of each of two groups.
const LABELS: [u8; 6] = [1, 1, 0, 0, 1, 0];

/// The peer's first message about groups.
fn terms(sizes: &str, minimum: u64, commitment: Option<String>) -> String {
    let commitment = commitment.map_or("null".into(), |it| format!("{it:?}"));
    format!(r#"{{"sizes":{sizes},"minimum":{minimum},"commitment":{commitment}}}"#)
}

/// The commitment of a peer of the side with this role.
fn committed(role: Role) -> Option<String> {
    committed_with(role, &[])
}

/// A commitment that also covers labels.
fn committed_with(role: Role, labels: &[u8]) -> Option<String> {
    let committed = commitment(&AGREEMENT, role.other(), &PART, Some(labels));
    Some(hex(&committed))
}

fn opening(coins: &str) -> String {
    format!(r#"{{"coins":{coins:?}}}"#)
}

/// Negotiates with a peer that has this many participants and sends these messages.
fn negotiate(
    role: Role,
    question: &str,
    participants: usize,
    messages: [&str; 2],
) -> Result<GroupAgreement, SessionError> {
    negotiate_labels(role, question, participants, messages, &LABELS)
}

/// Negotiates with a peer that publishes these labels.
fn negotiate_labels(
    role: Role,
    question: &str,
    participants: usize,
    [groups, coins]: [&str; 2],
    labels: &[u8],
) -> Result<GroupAgreement, SessionError> {
    let reveal: Reveal = question.parse().unwrap();
    let labels = match reveal.group_question().unwrap().publishes_groups() {
        true => message(Tag::Labels, labels),
        false => Vec::new(),
    };
    let script = [
        message(Tag::Groups, groups.as_bytes()),
        labels,
        message(Tag::Coins, coins.as_bytes()),
    ];
    negotiate_over(&mut Script(script.concat()), role, reveal, participants)
}

/// Negotiates over this channel.
fn negotiate_over(
    channel: &mut dyn Channel,
    role: Role,
    reveal: Reveal,
    participants: usize,
) -> Result<GroupAgreement, SessionError> {
    let proposal = proposal(Engine::Shares, reveal, cohort(0));
    let id = |participant: usize| ScanpathId {
        participant: format!("P{participant}"),
        stimulus: None,
    };
    let ours: Vec<ScanpathId> = (0..6).map(id).collect();
    let theirs: Vec<ScanpathId> = (0..participants).map(id).collect();
    let (scanpath_ids, pairs) = match role {
        Role::Host => ([ours, theirs], (6, participants)),
        Role::Join => ([theirs, ours], (participants, 6)),
    };
    let pairs: Vec<(usize, usize)> = (0..pairs.0)
        .flat_map(|a| (0..pairs.1).map(move |b| (a, b)))
        .collect();
    let identity = Identity::ephemeral().unwrap();
    let peer = Identity::ephemeral().unwrap().fingerprint();
    let negotiation = GroupNegotiation {
        role,
        identity: &identity,
        proposal: &proposal,
        agreement: &AGREEMENT,
        pairs: &pairs,
        scanpath_ids,
        peer_lengths: &vec![8; participants],
        ledger: DisclosureLedger::open(None, &identity, peer),
    };
    let mut agreed = negotiation.agree(reveal.group_question().unwrap(), channel)?;
    agreed.open_committed(role, channel)?;
    Ok(agreed)
}

/// A peer that has seen this side's part returns with another commitment.
#[test]
fn a_commitment_cannot_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let reveal = "test:sites".parse().unwrap();
    let open = || Journal::open(folder.path(), [3; 32], 2, reveal).unwrap();
    open().store_group_digest(&[1; 32]).unwrap();
    open().store_group_digest(&[1; 32]).unwrap();
    assert!(matches!(
        open().store_group_digest(&[2; 32]),
        Err(SessionError::Misbehaved(Misbehaviour::ChangedGroups))
    ));
}

/// The result for each role, given this first message.
fn both_roles(
    question: &str,
    participants: usize,
    groups: impl Fn(Role) -> String,
    coins: &str,
) -> [SessionError; 2] {
    [Role::Host, Role::Join].map(|role| {
        let groups = groups(role);
        negotiate(role, question, participants, [&groups, coins])
            .err()
            .unwrap()
    })
}

const SIZES: &str = r#"{"control":3,"patient":3}"#;

#[test]
fn an_honest_peer_is_accepted() {
    let coins = opening(&hex(&PART));
    for role in [Role::Host, Role::Join] {
        let groups = terms(SIZES, 2, committed(role));
        let agreed = negotiate(role, "test:groups,30", 6, [&groups, &coins]).unwrap();
        // The larger minimum of both.
        assert_eq!(agreed.groups.minimum, 3);
        let groups = terms("null", 2, None);
        negotiate(role, "histogram:4", 6, [&groups, ""]).unwrap();
    }
}

/// A modified side can get any function of the same number of bits instead.
#[test]
fn every_answer_counts_by_the_bits_that_it_opens() {
    let coins = opening(&hex(&PART));
    for (question, counts_as) in [
        ("mean", 1),
        ("mean:overall", 1),
        ("groups", 2),
        ("test:sites,1000", 2),
        ("test:groups,1000", 2),
        ("nearest:3", 1),
        ("nearest:3,rate", 1),
        ("histogram:2", 1),
        ("histogram:12", 11),
    ] {
        let reveal: Reveal = question.parse().unwrap();
        let asked = reveal.group_question().unwrap();
        for role in [Role::Host, Role::Join] {
            let needed = asked.sides_with_groups()[usize::from(role == Role::Host)];
            let sizes = if needed { SIZES } else { "null" };
            let has_coins = asked.permutations().is_some();
            let committed = committed(role).filter(|_| has_coins);
            let groups = terms(sizes, 2, committed);
            let coins = if has_coins { &coins } else { "" };
            let agreed = negotiate(role, question, 6, [&groups, coins]).unwrap();
            assert_eq!(agreed.answers(), Some(counts_as), "{question}, {role:?}");
            let bits: usize = agreed.schema.used_bits().map(|it| it.len()).sum();
            // A scanpath is in one of two groups, and each of the host's has one nearest group.
            let about_others = match (question, role) {
                ("groups", _) => 2,
                ("nearest:3", Role::Host) => 6,
                _ => 1,
            };
            let most = u64::from(counts_as) * BITS_OF_A_NUMBER;
            let bits = (bits / about_others) as u64;
            assert!(bits <= most, "{question}: {bits} bits");
        }
    }
}

#[test]
fn inconsistent_groups_are_misbehaviour() {
    let name = "g".repeat(GroupSizes::MAX_NAME_BYTES + 1);
    let many: Vec<String> = (0..=GroupSizes::MAX_GROUPS)
        .map(|group| format!(r#""g{group}":1"#))
        .collect();
    let many = format!("{{{}}}", many.join(","));
    let lies = [
        // More participants than in the roster, fewer, none, and so many that a 32-bit sum would wrap around to the right one.
        (6, r#"{"control":3,"patient":4}"#.to_string()),
        (6, r#"{"control":3,"patient":2}"#.into()),
        (6, "{}".into()),
        (6, r#"{"a":4294967295,"b":7}"#.into()),
        (6, r#"{"control":6,"patient":0}"#.into()),
        (33, many),
        (6, r#"{"":6}"#.into()),
        (6, format!(r#"{{"{name}":6}}"#)),
        (6, r#"{"con\u0007trol":6}"#.into()),
        (6, r#"{"\u001b[2J":6}"#.into()),
        (6, r#"{"\u202elortnoc":6}"#.into()),
        (6, "null".into()),
    ];
    for (participants, sizes) in &lies {
        let groups = |role| terms(sizes, 3, committed(role));
        let coins = opening(&hex(&PART));
        for error in both_roles("test:groups,30", *participants, groups, &coins) {
            assert!(
                matches!(error, SessionError::Misbehaved(Misbehaviour::InvalidGroups)),
                "{sizes}: {error}"
            );
            assert_eq!(error.fault(), Fault::PeerMisbehaves);
            assert_eq!(error.ban(), None);
        }
    }
    // Groups that the question does not need are rejected, and those that it needs must be present.
    for (question, groups) in [
        ("mean", terms(SIZES, 3, None)),
        ("mean", terms("null", 3, committed(Role::Host))),
        ("test:groups,30", terms(SIZES, 3, None)),
        ("mean", terms("null", u64::from(MAX_MINIMUM) + 1, None)),
    ] {
        for error in both_roles(question, 6, |_| groups.clone(), "") {
            assert!(
                matches!(error, SessionError::Misbehaved(Misbehaviour::InvalidGroups)),
                "{groups}: {error}"
            );
        }
    }
}

#[test]
fn malformed_and_long_messages_are_rejected() {
    let long = format!("{{{}}}", " ".repeat(Tag::Groups.max_bytes()));
    for groups in [
        r#"{"sizes":null,"minimum":3,"commitment":null,"members":["P1"]}"#,
        r#"{"sizes":null,"minimum":-1,"commitment":null}"#,
        r#"{"sizes":{"a":-6},"minimum":3,"commitment":null}"#,
        "[]",
        &long,
    ] {
        for error in both_roles("mean", 6, |_| groups.into(), "") {
            assert!(
                matches!(
                    error,
                    SessionError::Misbehaved(
                        Misbehaviour::MalformedMessage { .. } | Misbehaviour::MessageTooLong { .. }
                    )
                ),
                "{error}"
            );
        }
    }
}

#[test]
fn coins_other_than_committed_are_misbehaviour() {
    let other = hex(&[6; 32]);
    for coins in [&other, &other[..62], "", "zz"] {
        for question in ["test:groups,30", "test:sites,30"] {
            let sizes = match question {
                "test:sites,30" => "null",
                _ => SIZES,
            };
            let groups = |role| terms(sizes, 3, committed(role));
            for error in both_roles(question, 6, groups, &opening(coins)) {
                assert!(
                    matches!(error, SessionError::Misbehaved(Misbehaviour::InvalidCoins)),
                    "{coins}: {error}"
                );
            }
        }
    }
}
