mod brute_force;
mod changed_encoding;
mod histograms_and_sizes;
mod nearest;
mod repeated_scanpaths;
mod withdrawal;

use super::*;
use crate::policy::AnswerKind;

struct Fixture {
    folder: tempfile::TempDir,
    identity: Identity,
    partner: Fingerprint,
}

impl Fixture {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            identity: Identity::ephemeral().unwrap(),
            partner: Identity::ephemeral().unwrap().fingerprint(),
        }
    }

    fn state_dir(&self) -> StateDir {
        StateDir::at(self.folder.path())
    }

    fn ledger(&self) -> DisclosureLedger {
        DisclosureLedger::open(Some(&self.state_dir()), &self.identity, self.partner)
    }

    /// Asks for an answer over everything and, if it is allowed, charges it.
    fn ask(
        &self,
        number: u8,
        kind: AnswerKind,
        members: &[GroupMember],
    ) -> Result<u32, DisclosureRefusal> {
        self.ask_for(&answer_request(number, kind), members, LIMITS)
    }

    fn ask_for(
        &self,
        answer: &AnswerRequest<'_>,
        members: &[GroupMember],
        limits: DisclosureLimits,
    ) -> Result<u32, DisclosureRefusal> {
        let checked = self.ledger().check(answer, members, limits);
        let charged = checked.and_then(|charge| {
            let answers = charge.answers;
            self.ledger().charge(charge).map(|()| answers)
        });
        charged.map_err(|error| match error {
            SessionError::Limit(Limit::Disclosure(refusal)) => refusal,
            other => unreachable!("{other}"),
        })
    }
}

fn answer_request(number: u8, kind: AnswerKind) -> AnswerRequest<'static> {
    AnswerRequest {
        // Leaking a few of these is fine in tests.
        agreement: Box::leak(Box::new([number; 32])),
        kind,
        overall: true,
        nearest: None,
        has_references: false,
        names_scanpaths: false,
        by_group: true,
        by_stimulus: false,
        counts_as: 1,
        encoding: None,
    }
}

const LIMITS: DisclosureLimits = DisclosureLimits {
    minimum_group: 5,
    answers_per_partner: 20,
    allow_changed_encoding: false,
};

fn members(numbers: std::ops::Range<u32>) -> Vec<GroupMember> {
    let member = |number| GroupMember {
        participant: format!("P{number}"),
        group: Some(if number % 2 == 0 { "even" } else { "odd" }.into()),
        stimuli: vec!["harbour".into(), "market".into()],
        ..GroupMember::default()
    };
    numbers.map(member).collect()
}

fn differencing(participants: u64) -> DisclosureRefusal {
    DisclosureRefusal::Differencing {
        participants,
        minimum: 5,
    }
}

#[test]
fn two_means_that_differ_by_a_few_participants_are_refused() {
    let fixture = Fixture::new();
    let mean = AnswerKind::Mean;
    assert_eq!(fixture.ask(1, mean, &members(0..20)), Ok(1));
    for fewer in [1, 4] {
        let refused = Err(differencing(fewer.into()));
        assert_eq!(fixture.ask(2, mean, &members(0..20 - fewer)), refused);
        assert_eq!(fixture.ask(2, mean, &members(0..20 + fewer)), refused);
    }
    // Late recruits in blocks of the minimum size, and the same participants again.
    assert_eq!(fixture.ask(2, mean, &members(0..25)), Ok(2));
    assert_eq!(
        fixture.ask(3, AnswerKind::TestSites, &members(0..25)),
        Ok(3)
    );
    // Any two of these answers are fine, but all three are not: they would split 15..20 and 20..25.
    assert_eq!(fixture.ask(4, mean, &members(5..22)), Err(differencing(2)));
    assert_eq!(fixture.ledger().answers().unwrap(), 3);
}

#[test]
fn small_parts_are_refused() {
    let fixture = Fixture::new();
    let small = |participants| DisclosureRefusal::SmallPart {
        participants,
        minimum: 5,
    };
    let mean = AnswerKind::Mean;
    assert_eq!(fixture.ask(1, mean, &members(0..4)), Err(small(4)));
    assert_eq!(fixture.ask(1, mean, &[]), Err(small(0)));
    let groups = AnswerKind::Groups;
    assert_eq!(fixture.ask(1, groups, &members(0..9)), Err(small(4)));
    assert_eq!(fixture.ask(1, groups, &members(0..10)), Ok(1));
    let mut without = members(0..10);
    without[3].group = None;
    assert_eq!(
        fixture.ask(2, groups, &without),
        Err(DisclosureRefusal::NoGroups)
    );
    // A stimulus that few have seen is a small part of its own. It is no part in the overall mean if all scanpaths are
    // compared with all.
    let mut few = members(20..30);
    few[0].stimuli.push("bridge".into());
    let per_stimulus = AnswerRequest {
        agreement: &[7; 32],
        kind: mean,
        overall: false,
        nearest: None,
        has_references: false,
        names_scanpaths: false,
        by_group: true,
        by_stimulus: false,
        counts_as: 1,
        encoding: None,
    };
    assert_eq!(fixture.ask_for(&per_stimulus, &few, LIMITS), Err(small(1)));
    assert_eq!(fixture.ask(8, mean, &few), Ok(2));
}

/// With constant scanpaths for all stimuli but one, the partner turns a mean over all stimuli into one over that stimulus.
#[test]
fn every_stimulus_that_the_partner_can_choose_is_a_part() {
    let small = |participants| DisclosureRefusal::SmallPart {
        participants,
        minimum: 5,
    };
    let mut few = members(0..10);
    few[0].stimuli.push("bridge".into());
    for (kind, overall) in [
        (AnswerKind::Mean, true),
        (AnswerKind::TestSites, false),
        (AnswerKind::Histogram, false),
        (AnswerKind::Groups, false),
    ] {
        let answer = AnswerRequest {
            overall,
            by_stimulus: true,
            ..answer_request(1, kind)
        };
        let fixture = Fixture::new();
        assert_eq!(fixture.ask_for(&answer, &few, LIMITS), Err(small(1)));
        assert_eq!(fixture.ask_for(&answer, &members(0..10), LIMITS), Ok(1));
    }
}

/// A participant with two scanpaths of a stimulus has a different weight in means over participants.
#[test]
fn a_repeated_stimulus_isolates_its_participant() {
    let mut repeated = members(0..10);
    repeated[0].stimuli.push("harbour".into());
    for (kind, allowed) in [
        (AnswerKind::Mean, true),
        (AnswerKind::Groups, false),
        (AnswerKind::TestSites, false),
    ] {
        let answer = AnswerRequest {
            by_stimulus: true,
            ..answer_request(1, kind)
        };
        let found = Fixture::new().ask_for(&answer, &repeated, LIMITS);
        assert_eq!(found.is_ok(), allowed, "{kind:?}");
    }
}

/// Scores are about single participants, and a mean minus known scores is about the others.
#[test]
fn scores_must_leave_enough_other_participants() {
    let (score, mean) = (AnswerKind::Score, AnswerKind::Mean);
    // First the scores, then a mean with late recruits.
    let fixture = Fixture::new();
    assert_eq!(fixture.ask(1, score, &members(0..8)), Ok(0));
    assert_eq!(fixture.ask(2, mean, &members(0..9)), Err(differencing(1)));
    assert_eq!(fixture.ask(2, mean, &members(0..8)), Ok(1));
    assert_eq!(fixture.ask(3, mean, &members(0..13)), Ok(2));
    // First the mean, then scores of some.
    let fixture = Fixture::new();
    assert_eq!(fixture.ask(1, mean, &members(0..10)), Ok(1));
    let threshold = AnswerKind::Threshold;
    for fewer in 1..5 {
        let refused = Err(differencing(fewer));
        let some = members(0..10 - u32::try_from(fewer).unwrap());
        assert_eq!(fixture.ask(2, threshold, &some), refused);
    }
    assert_eq!(fixture.ask(2, score, &members(0..5)), Ok(1));
    // Those scores are remembered.
    assert_eq!(fixture.ask(3, score, &members(5..8)), Err(differencing(2)));
    assert_eq!(fixture.ask(3, score, &members(0..10)), Ok(1));
    assert_eq!(fixture.ask(4, score, &members(20..21)), Ok(1));
    // Without group answers there is nothing to protect.
    let fixture = Fixture::new();
    for number in 1..4 {
        assert_eq!(
            fixture.ask(number, score, &members(0..number.into())),
            Ok(0)
        );
    }
}

/// A scanpath that is added later is about one participant, although the participants are the same.
#[test]
fn a_new_scanpath_of_a_known_participant_is_a_difference() {
    let fixture = Fixture::new();
    assert_eq!(fixture.ask(1, AnswerKind::Mean, &members(0..10)), Ok(1));
    let mut more = members(0..10);
    more[0].stimuli.push("bridge".into());
    let refused = Err(differencing(1));
    assert_eq!(fixture.ask(2, AnswerKind::Mean, &more), refused);
}

/// A mean over scanpaths and one over participants give different weights to a participant with fewer scanpaths.
#[test]
fn different_weights_tell_participants_apart() {
    let fixture = Fixture::new();
    let mut all = members(0..12);
    all[0].stimuli.pop();
    assert_eq!(fixture.ask(1, AnswerKind::Mean, &all), Ok(1));
    assert_eq!(fixture.ask(2, AnswerKind::Histogram, &all), Ok(2));
    let refused = Err(differencing(1));
    assert_eq!(fixture.ask(3, AnswerKind::TestSites, &all), refused);
    let other = Fixture::new();
    assert_eq!(other.ask(1, AnswerKind::TestSites, &all), Ok(1));
    assert_eq!(other.ask(2, AnswerKind::TestSites, &all), Ok(2));
}

/// Every answer costs one, even for the same participants with another metric. An agreement is charged once.
#[test]
fn answers_beyond_the_budget_are_refused() {
    let fixture = Fixture::new();
    for number in 1..=20 {
        let charged = fixture.ask(number, AnswerKind::Mean, &members(0..9));
        assert_eq!(charged, Ok(number.into()));
    }
    let refused = DisclosureRefusal::Budget {
        answers: 20,
        counts_as: 1,
        budget: 20,
    };
    let one_more = fixture.ask(21, AnswerKind::Mean, &members(0..9));
    assert_eq!(one_more, Err(refused));
    assert_eq!(fixture.ask(7, AnswerKind::Mean, &members(0..9)), Ok(20));
    assert_eq!(fixture.ledger().answers().unwrap(), 20);
    // Means with twelve groups of the partner's choice are twelve means.
    let other = Fixture::new();
    let groups = |number| AnswerRequest {
        counts_as: 12,
        ..answer_request(number, AnswerKind::Groups)
    };
    assert_eq!(other.ask_for(&groups(1), &members(0..10), LIMITS), Ok(12));
    let refused = DisclosureRefusal::Budget {
        answers: 12,
        counts_as: 12,
        budget: 20,
    };
    let again = other.ask_for(&groups(2), &members(0..10), LIMITS);
    assert_eq!(again, Err(refused));
    // Another partner has another budget.
    let other = Identity::ephemeral().unwrap().fingerprint();
    let ledger = DisclosureLedger::open(Some(&fixture.state_dir()), &fixture.identity, other);
    assert_eq!(ledger.answers().unwrap(), 0);
}

/// Two sessions that were both allowed are charged one after the other.
#[test]
fn a_charge_repeats_the_check() {
    let fixture = Fixture::new();
    let ask = |number: u8, members: &[GroupMember]| {
        let answer = answer_request(number, AnswerKind::Mean);
        fixture.ledger().check(&answer, members, LIMITS).unwrap()
    };
    let (first, second) = (ask(1, &members(0..9)), ask(2, &members(0..10)));
    assert_eq!(fixture.ledger().answers().unwrap(), 0);
    fixture.ledger().charge(first).unwrap();
    let refused = fixture.ledger().charge(second).unwrap_err();
    assert!(
        matches!(&refused, SessionError::Limit(Limit::Disclosure(it)) if *it == differencing(1)),
        "{refused}"
    );
    assert_eq!(fixture.ledger().answers().unwrap(), 1);
}

#[test]
fn answer_names_match_those_of_plans() {
    let id = [1; 32];
    let of = |text: &str| {
        let answer = AnswerRequest::of(&id, text.parse().unwrap());
        (answer.kind, answer.overall, answer.nearest)
    };
    assert_eq!(of("score"), (AnswerKind::Score, false, None));
    assert_eq!(of("threshold:5"), (AnswerKind::Threshold, false, None));
    assert_eq!(of("mean"), (AnswerKind::Mean, false, None));
    assert_eq!(of("mean:overall"), (AnswerKind::Mean, true, None));
    for published in ["groups,published", "test:groups,99,published"] {
        let secret = published.replace(",published", "");
        let [(secret, ..), (published, ..)] = [&secret, published].map(of);
        assert_ne!(secret, published);
        let parts = |kind| (file::Parts::of(kind, false), file::Weights::of(kind));
        assert_eq!(parts(secret), parts(published));
    }
    assert_eq!(of("histogram:10"), (AnswerKind::Histogram, false, None));
    assert_eq!(of("nearest:7"), (AnswerKind::Nearest, false, Some(7)));
    assert_eq!(of("nearest:7,rate"), (AnswerKind::Nearest, false, Some(7)));
}

/// Scores by one metric do not give those by another, so they do not make a participant known.
#[test]
fn scores_of_one_participant_do_not_allow_a_mean_without_them() {
    let fixture = Fixture::new();
    let without = |number: u32| [members(0..number), members(number + 1..20)].concat();
    assert_eq!(fixture.ask(1, AnswerKind::Mean, &members(0..20)), Ok(1));
    let refused = Err(differencing(1));
    assert_eq!(fixture.ask(2, AnswerKind::Mean, &without(5)), refused);
    assert_eq!(fixture.ask(3, AnswerKind::Score, &members(5..6)), refused);
    assert_eq!(fixture.ask(2, AnswerKind::Mean, &without(5)), refused);
    assert_eq!(fixture.ask(3, AnswerKind::Score, &without(5)), refused);
    // Enough of them, and then the others.
    assert_eq!(fixture.ask(3, AnswerKind::Score, &members(0..5)), Ok(1));
    assert_eq!(fixture.ask(4, AnswerKind::Mean, &members(5..20)), Ok(2));
}

/// A study with many participants and answers stays quick, and its ledger small.
#[test]
#[ignore = "takes seconds; .ci/full runs it"]
fn a_large_ledger_is_checked_quickly() {
    check_ledger(20, 10_000);
}

#[test]
fn a_ledger_is_small() {
    check_ledger(5, 500);
}

fn check_ledger(answers: u8, participants: u32) {
    let fixture = Fixture::new();
    let limits = DisclosureLimits {
        answers_per_partner: 100,
        ..LIMITS
    };
    let ask = |number: u8| {
        let from = u32::from(number) * 5;
        let answer = answer_request(number, AnswerKind::Mean);
        fixture.ask_for(&answer, &members(from..from + participants), limits)
    };
    for number in 0..answers {
        assert_eq!(ask(number), Ok(u32::from(number) + 1));
    }
    let start = std::time::Instant::now();
    assert_eq!(ask(answers), Ok(u32::from(answers) + 1));
    assert!(start.elapsed().as_secs() < 3, "{:?}", start.elapsed());
    // Two scanpaths of each participant.
    let bytes = fixture.ledger().bytes() / (u64::from(answers) + 1) / u64::from(participants);
    assert!(
        (100..400).contains(&bytes),
        "{bytes} bytes per participant and answer"
    );
}

/// The partner learns that a limit forbids the answer, but no number of participants.
#[test]
fn refusals_do_not_tell_the_peer_participant_counts() {
    let error = Limit::from(differencing(1)).into();
    let reason = crate::DeclineReason::for_peer(&error);
    assert_eq!(reason, crate::DeclineReason::Limit(Limit::PeerDisclosure));
}

#[test]
fn the_file_has_no_names_and_a_damaged_one_is_an_error() {
    let fixture = Fixture::new();
    assert_eq!(fixture.ask(1, AnswerKind::Groups, &members(0..10)), Ok(1));
    let folder = fixture.state_dir().disclosures();
    let files = crate::state_dir::entries(&folder, crate::locked_file::EXTENSION).unwrap();
    let text = std::fs::read_to_string(&files[0]).unwrap();
    for name in ["P0", "odd", "harbour"] {
        assert!(!text.contains(name), "{text}");
    }
    // Participants are found by binary search.
    let mut unsorted: serde_json::Value = serde_json::from_str(&text).unwrap();
    for cohort in unsorted["cohorts"].as_object_mut().unwrap().values_mut() {
        cohort.as_array_mut().unwrap().reverse();
    }
    let unsorted = unsorted.to_string();
    for damaged in [
        &text[1..],
        "{}",
        &text.replace("\"cohorts\":{\"", "\"cohorts\":{\"x"),
        &unsorted,
    ] {
        std::fs::write(&files[0], damaged).unwrap();
        assert!(fixture.ledger().answers().is_err(), "{damaged}");
    }
}
