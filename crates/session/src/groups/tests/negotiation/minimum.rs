//! A peer that chooses its minimum to find out what this side does not tell.

use super::*;
use crate::error::Limit;
use crate::groups::members;
use crate::{AnswerRequest, DisclosureLimits, Fingerprint, StateDir};

/// Our sixteen participants in two groups of eight. The first eight have seen one stimulus, the others two.
fn uneven(is_control: impl Fn(usize) -> bool) -> Cohort {
    let stimuli = |index| {
        if index < 8 {
            &["s1"][..]
        } else {
            &["s1", "s2"]
        }
    };
    let seen = (0..16).flat_map(|index| stimuli(index).iter().map(move |it| (index, *it)));
    let entries = seen.map(|(index, stimulus)| Entry {
        participant: format!("P{index}"),
        group: Some(
            if is_control(index) {
                "control"
            } else {
                "patient"
            }
            .into(),
        ),
        stimulus: Some(stimulus.into()),
        scanpath: Scanpath::new(vec![1, 2, 3, 4]),
        fixations: None,
    });
    Cohort {
        entries: entries.collect(),
        ..cohort(0)
    }
}

/// Negotiates about this cohort with a peer that has the same participants and this minimum.
fn probe(
    cohort: &Cohort,
    reveal: &str,
    minimum: u64,
    (files, identity, peer): (&StateDir, &Identity, Fingerprint),
) -> Result<GroupAgreement, SessionError> {
    let reveal: Reveal = reveal.parse().unwrap();
    let mut proposal = proposal(Engine::Shares, reveal, cohort.clone());
    proposal.spec.pair_rule = PairRule::SameStimulus;
    let ids = cohort.entries.iter().map(|entry| ScanpathId {
        participant: entry.participant.clone(),
        stimulus: entry.stimulus.clone(),
    });
    let ids: Vec<ScanpathId> = ids.collect();
    let all = 0..ids.len();
    let pairs = all
        .clone()
        .flat_map(|a| all.clone().map(move |b| (a, b)))
        .filter(|&(a, b)| ids[a].stimulus == ids[b].stimulus);
    let pairs: Vec<(usize, usize)> = pairs.collect();
    let question = reveal.group_question().unwrap();
    let sizes = match question.sides_with_groups()[1] {
        true => r#"{"control":8,"patient":8}"#,
        false => "null",
    };
    let negotiation = GroupNegotiation {
        role: Role::Host,
        identity,
        proposal: &proposal,
        agreement: &AGREEMENT,
        pairs: &pairs,
        scanpath_ids: [ids.clone(), ids.clone()],
        peer_lengths: &vec![4; ids.len()],
        ledger: DisclosureLedger::open(Some(files), identity, peer),
    };
    negotiation.check_own(question)?;
    let terms = terms(sizes, minimum, None);
    let mut channel = Script(message(Tag::Groups, terms.as_bytes()));
    negotiation.agree(question, &mut channel)
}

/// The smallest minimum that is refused.
fn refused_from(cohort: &Cohort, reveal: &str, state: (&StateDir, &Identity, Fingerprint)) -> u64 {
    let is_refused = |minimum: &u64| match probe(cohort, reveal, *minimum, state) {
        Ok(agreed) => {
            assert_eq!(u64::from(agreed.minimum()), (*minimum).max(3));
            false
        }
        Err(SessionError::Limit(Limit::Disclosure(_))) => true,
        Err(other) => panic!("{other}"),
    };
    (1..40).find(is_refused).unwrap()
}

/// Both groups have eight participants, and both sets of stimuli; the sizes of their intersections are secret.
#[test]
fn a_refusal_does_not_tell_who_of_a_group_has_seen_a_stimulus() {
    let cohorts = [
        uneven(|index| index % 2 == 0),
        uneven(|index| matches!(index, 0..3 | 8..13)),
    ];
    for cohort in cohorts {
        let (files, identity) = (tempfile::tempdir().unwrap(), Identity::ephemeral().unwrap());
        let state_dir = StateDir::at(files.path());
        let peer = Identity::ephemeral().unwrap().fingerprint();
        let refused = refused_from(&cohort, "groups", (&state_dir, &identity, peer));
        assert_eq!(refused, 9);
    }
}

/// An earlier answer for this peer was about twelve of these sixteen participants.
#[test]
fn a_refusal_does_not_tell_differences_from_earlier_answers() {
    let (files, identity) = (tempfile::tempdir().unwrap(), Identity::ephemeral().unwrap());
    let peer = Identity::ephemeral().unwrap().fingerprint();
    let state_dir = StateDir::at(files.path());
    let mut cohort = uneven(|index| index < 8);
    cohort
        .entries
        .retain(|it| it.stimulus.as_deref() == Some("s1"));
    let count = cohort.entries.len();
    let ledger = DisclosureLedger::open(Some(&state_dir), &identity, peer);
    let earlier = AnswerRequest::of(&[9; 32], "mean".parse().unwrap());
    let limits = DisclosureLimits::new(3, 3, 20);
    let charge = ledger.check(
        &earlier,
        &members::of(&cohort, &Metric::Levenshtein, 0..count - 4),
        limits,
    );
    ledger.charge(charge.unwrap()).unwrap();
    let state = (&state_dir, &identity, peer);
    let refused = refused_from(&cohort, "mean", state);
    assert_eq!(
        refused,
        count as u64 + 1,
        "the public number of participants"
    );
}
