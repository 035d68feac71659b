//! Answers about groups, with the halves of results, the labels of both sides and all randomness marked.

use crate::declassify::Declassifying;
use crate::valgrind::mark_secret;
use std::thread;
use veilpath_channel::memory_pair;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, Scanpath};
use veilpath_protocol::{
    Engine, GroupInputs, GroupSizes, Job, PairRule, PreparedGroupAnswer, Role, ScanpathId, Spec,
    TreeLevels, pairs_of,
};

/// One question, from halves of results to shares of the answer.
pub fn answer(question: &str) {
    let cohorts = [cohort(), cohort()];
    let [a, b] = &cohorts;
    let rule = PairRule::SameStimulus;
    let mut spec = Spec::new(Engine::Shares, Metric::Levenshtein, rule, a, b).expect("a plan");
    spec.reveal = question.parse().expect("a question");
    let pairs = pairs_of(rule, a, b);
    let (left, right) = memory_pair();
    thread::scope(|scope| {
        let (cohorts, spec, pairs) = (&cohorts, &spec, &pairs);
        scope.spawn(move || side(Role::Join, spec, cohorts, pairs, Declassifying(right)));
        side(Role::Host, spec, cohorts, pairs, Declassifying(left));
    });
}

fn side(
    role: Role,
    spec: &Spec,
    cohorts: &[Cohort; 2],
    pairs: &[(usize, usize)],
    mut channel: Declassifying<veilpath_channel::MemoryChannel>,
) {
    let [own, theirs] = match role {
        Role::Host => [0, 1],
        Role::Join => [1, 0],
    };
    let ids = cohorts.each_ref().map(scanpath_ids);
    let groups: Vec<String> = cohorts[own]
        .entries
        .iter()
        .filter_map(|entry| entry.group.clone())
        .collect();
    let sizes = GroupSizes::of(&ids[own], &groups);
    let scanpaths: Vec<&Scanpath> = cohorts[own].entries.iter().map(|it| &it.scanpath).collect();
    let lengths: Vec<usize> = cohorts[theirs]
        .entries
        .iter()
        .map(|entry| entry.scanpath.len())
        .collect();
    let job = Job::new(spec, role, &scanpaths, lengths.len(), pairs).expect("a job");
    let job = job.with_peer_lengths(&lengths).expect("lengths");
    let inputs = GroupInputs {
        question: spec.reveal.group_question().expect("a question"),
        engine: spec.engine,
        rule: spec.pair_rule,
        ids: [&ids[0], &ids[1]],
        own_groups: Some(&groups),
        peer_groups: None,
        sizes: [sizes.clone(), sizes],
        minimum: 2,
        coins: [7; 32],
    };
    let prepared = PreparedGroupAnswer::new(&job, inputs).expect("an answer");
    let halves: Vec<u64> = (0..pairs.len() as u64).map(|pair| pair % 4).collect();
    mark_secret(prepared.own_labels());
    mark_secret(&halves);
    for scanpath in &scanpaths {
        mark_secret(scanpath.letters());
    }
    let shares = prepared
        .run(&halves, TreeLevels::default(), &mut channel)
        .expect("shares");
    assert_eq!(shares.len(), prepared.schema().count());
}

/// Three participants in two groups, with two stimuli.
fn cohort() -> Cohort {
    let mut entries = Vec::new();
    for participant in 0..3u16 {
        for (stimulus, name) in ["x", "y"].into_iter().enumerate() {
            let letters = (0..4).map(|at| (at * participant + stimulus as u16) % 5);
            entries.push(Entry {
                participant: format!("p{participant}"),
                group: Some(["control", "patient"][usize::from(participant) % 2].into()),
                stimulus: Some(name.into()),
                scanpath: Scanpath::new(letters.collect()),
                fixations: None,
            });
        }
    }
    Cohort {
        alphabet: Alphabet::letters(5).expect("an alphabet"),
        encoding: Encoding::default(),
        screen: None,
        entries,
    }
}

fn scanpath_ids(cohort: &Cohort) -> Vec<ScanpathId> {
    let id = |entry: &Entry| ScanpathId {
        participant: entry.participant.clone(),
        stimulus: entry.stimulus.clone(),
    };
    cohort.entries.iter().map(id).collect()
}
