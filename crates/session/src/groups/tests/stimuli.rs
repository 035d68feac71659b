//! A peer that divides its scanpaths among many stimuli, and asks for the mean of each.

use super::*;
use crate::disclosure::{DisclosureLedger, DisclosureRefusal};
use crate::error::{Limit, SessionError};
use veilpath_protocol::{KeySize, PaillierOptions};

/// Every participant with each of these stimuli.
fn repeated(stimuli: &[&str]) -> Cohort {
    let cohort = cohort(5);
    let with = |entry: &Entry, stimulus: &str| Entry {
        stimulus: Some(stimulus.into()),
        ..entry.clone()
    };
    let entries = cohort.entries.iter();
    let entries = entries.flat_map(|entry| stimuli.iter().map(|it| with(entry, it)));
    Cohort {
        entries: entries.collect(),
        ..cohort
    }
}

/// What the side with this role has been charged for, when it has these scanpaths, and the peer has its own.
fn charged(
    victim: Role,
    engine: Engine,
    (question, rule): (&str, PairRule),
    cohorts: [&Cohort; 2],
    budget: u32,
) -> Result<u32, SessionError> {
    let [ours, theirs] = cohorts;
    let results = with_sessions(|role, session, files, _| {
        let is_victim = role == victim;
        let cohort = if is_victim { ours } else { theirs };
        let mut proposal = proposal(engine, question.parse().unwrap(), cohort.clone());
        proposal.spec.pair_rule = rule;
        if is_victim {
            proposal.disclosure.answers_per_partner = budget;
        } else {
            // A modified peer ignores its own budget.
            proposal.disclosure.answers_per_partner = u32::MAX;
        }
        let (identity, peer) = (session.identity.clone(), session.peer);
        session
            .agree(proposal, Some(files), &mut |_| ())?
            .run(&())?;
        DisclosureLedger::open(Some(files), &identity, peer).answers()
    });
    let [host, join] = results.map(|(charged, _)| charged);
    match victim {
        Role::Host => host,
        Role::Join => join,
    }
}

/// If all scanpaths are compared with all, a scanpath is in a mean for each stimulus of the peer, and all of them
/// count.
#[test]
fn means_for_each_stimulus_of_the_peer_count() {
    let stimuli = ["a", "b", "c", "d"];
    let (plain, one, many) = (cohort(0), repeated(&["a"]), repeated(&stimuli));
    let count = stimuli.len() as u32;
    for role in [Role::Host, Role::Join] {
        for (ours, rule) in [
            (&plain, PairRule::SameStimulus),
            (&plain, PairRule::All),
            (&one, PairRule::All),
        ] {
            let question = ("mean", rule);
            let charged = |budget| charged(role, Engine::Shares, question, [ours, &many], budget);
            assert_eq!(charged(count).unwrap(), count, "{role:?}, {rule:?}");
            let error = charged(count - 1).unwrap_err();
            assert!(
                matches!(
                    error,
                    SessionError::Limit(Limit::Disclosure(DisclosureRefusal::Budget { .. }))
                ),
                "{role:?}, {rule:?}: {error}"
            );
        }
    }
}

/// A scanpath that is compared only with those of its own stimulus, or whose mean is over all stimuli, is in one mean.
#[test]
fn a_scanpath_in_one_mean_counts_once() {
    let many = repeated(&["a", "b", "c", "d"]);
    for role in [Role::Host, Role::Join] {
        for question in [
            ("mean", PairRule::SameStimulus),
            ("mean:overall", PairRule::All),
        ] {
            let charged = charged(role, Engine::Shares, question, [&many, &many], 1);
            assert_eq!(charged.unwrap(), 1, "{role:?}, {question:?}");
        }
    }
}

/// A joining side of `paillier` can have results about any scanpath of the host, so all numbers count for the host.
#[test]
fn every_number_about_a_paillier_host_counts() {
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let many = repeated(&["a", "b", "c", "d"]);
    let question = ("mean", PairRule::SameStimulus);
    for (role, count) in [(Role::Host, 4), (Role::Join, 1)] {
        let charged = |budget| {
            let engine = Engine::Paillier(options);
            charged(role, engine, question, [&many, &many], budget)
        };
        assert_eq!(charged(count).unwrap(), count, "{role:?}");
        assert!(charged(count - 1).is_err(), "{role:?}");
    }
}

/// If all scanpaths are compared with all, every two stimuli have a mean, whose name contains both. A peer with many long
/// names is refused before these names are made.
#[test]
fn names_of_joint_stimuli_count_as_memory() {
    let names = |count: usize, length: usize| -> Vec<String> {
        (0..count).map(|at| format!("{at:0length$}")).collect()
    };
    let with = |names: &[String]| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        repeated(&names)
    };
    let (ours, theirs) = (with(&names(20, 2)), with(&names(200, 1000)));
    // Enough for the rosters only.
    let allowed = 64 << 20;
    let needed = |question: &str| {
        let [host, _] = with_sessions(|role, session, files, _| {
            let cohort = match role {
                Role::Host => &ours,
                Role::Join => &theirs,
            };
            let mut proposal = proposal(Engine::Shares, question.parse().unwrap(), cohort.clone());
            proposal.spec.pair_rule = PairRule::All;
            proposal.memory = (role == Role::Host).then_some(allowed);
            session
                .agree(proposal, Some(files), &mut |_| ())
                .map(|_| ())
        });
        match host.0.unwrap_err() {
            SessionError::Limit(Limit::Memory { needed, .. }) => needed,
            other => panic!("{other}"),
        }
    };
    let names = 20 * 200 * 1000;
    let copies = (needed("mean") - needed("mean:overall")) / names;
    assert!((4..=5).contains(&copies), "{copies}");
}
