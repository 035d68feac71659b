//! A peer's participants, groups and stimuli do not make the host use more memory than it allows. Run these tests one at a time:
//! each measures the process, with both sides in it.

use super::*;
use crate::error::{Limit, SessionError};

/// What a host uses by default, apart from the program itself.
const ALLOWED: u64 = (256 - 40) << 20;

fn entry(participant: usize, stimulus: usize, group: usize) -> Entry {
    Entry {
        participant: format!("P{participant}"),
        group: Some(format!("g{group}")),
        stimulus: Some(format!("s{stimulus}")),
        scanpath: Scanpath::new(vec![1, 2, 3]),
        fixations: None,
    }
}

fn with(entries: Vec<Entry>) -> Cohort {
    Cohort {
        entries,
        ..cohort(0)
    }
}

/// The peak memory of this process in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|it| it.starts_with("VmHWM")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}

/// A size of a test; the environment may set another one.
fn size(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |it| it.parse().unwrap())
}

/// Checks that a host that does not refuse the plan stays within its memory.
fn stays_within_the_default(question: &str, [ours, theirs]: [Cohort; 2]) {
    // Forgets the peak of earlier tests in this process.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = peak();
    let [host, _] = with_sessions(|role, session, files, _| {
        let cohort = match role {
            Role::Host => &ours,
            Role::Join => &theirs,
        };
        let question = question.parse().unwrap();
        let mut proposal = proposal(Engine::Garbled, question, cohort.clone());
        proposal.spec.pair_rule = PairRule::SameStimulus;
        proposal.memory = (role == Role::Host).then_some(256 << 20);
        if role == Role::Join {
            proposal.disclosure.answers_per_partner = u32::MAX;
        }
        let agreed = session.agree(proposal, Some(files), &mut |_| ())?;
        agreed.run(&()).map(|_| ())
    });
    let used = (peak() - before) / 2;
    eprintln!("{question}: {} MiB, {:?}", used >> 20, host.0);
    let refused = matches!(host.0, Err(SessionError::Limit(Limit::Memory { .. })));
    assert!(refused || used < ALLOWED, "{} MiB", used >> 20);
}

/// A peer has many participants, few of whom share a stimulus.
#[test]
#[ignore = "measures the memory of the process; .ci/full runs it"]
fn a_test_of_sites_has_no_matrix_of_participants_without_common_stimuli() {
    let stimuli = size("STIMULI", 200);
    let ours = (0..6).flat_map(|it| (0..stimuli).map(move |stimulus| entry(it, stimulus, 0)));
    let theirs = (0..size("THEIRS", 20_000)).map(|it| entry(it, it % stimuli, 0));
    let cohorts = [with(ours.collect()), with(theirs.collect())];
    stays_within_the_default("test:sites,20", cohorts);
}

/// Each side lists the pairs within both.
#[test]
#[ignore = "measures the memory of the process; .ci/full runs it"]
fn pairs_within_sites_count_as_memory() {
    let ours = (0..size("OURS", 100)).map(|it| entry(it, 0, 0));
    let theirs = (0..size("THEIRS", 1400)).map(|it| entry(it, 0, 0));
    let cohorts = [with(ours.collect()), with(theirs.collect())];
    stays_within_the_default("test:sites,20", cohorts);
}

/// A peer has as many groups as possible, and as many scanpaths as vote.
#[test]
#[ignore = "measures the memory of the process, in minutes; .ci/full runs it"]
fn votes_of_many_groups_are_counted_in_parts() {
    stays_within_the_default("nearest:128", many_pairs());
}

/// A comparison takes more transfers in one direction than in the other. Those that are left do not pile up.
#[test]
#[ignore = "measures the memory of the process, in minutes; .ci/full runs it"]
fn transfers_of_one_direction_do_not_pile_up() {
    stays_within_the_default("histogram:20", many_pairs());
}

fn many_pairs() -> [Cohort; 2] {
    let ours = (0..size("OURS", 2500)).map(|it| entry(it, 0, 0));
    let theirs = (0..128).map(|it| entry(it, 0, it % 32));
    [with(ours.collect()), with(theirs.collect())]
}
