//! Messages and files of group answers.

use super::Script;
use crate::counted_store::AgreedPairs;
use crate::groups::resume::AnswerStep;
use crate::groups::{GroupTerms, published};
use crate::journal::Journal;
use crate::resume::Resume;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Metric};
use veilpath_protocol::{
    AnswerSchema, Engine, GroupQuestion, GroupSizes, PairRule, Reveal, Role, ScanpathId, Spec,
};

/// A question about groups.
pub(super) const MEAN: Reveal = Reveal::Group(GroupQuestion::Mean { overall: false });

/// Numbers of an answer.
const NUMBERS: usize = 3;

/// The most numbers of an answer here.
const MAX_NUMBERS: usize = 4096;

/// Whether six participants may have these groups.
pub(super) fn is_valid(terms: &GroupTerms) -> bool {
    let id = |participant: usize| ScanpathId {
        participant: participant.to_string(),
        stimulus: None,
    };
    let ids: Vec<ScanpathId> = (0..6).map(id).collect();
    let test = GroupQuestion::TestGroups {
        permutations: 9,
        published: false,
    };
    [
        (true, test),
        (true, GroupQuestion::Groups { published: false }),
        (true, GroupQuestion::Groups { published: true }),
        (false, GroupQuestion::Mean { overall: true }),
    ]
    .into_iter()
    .any(|(needs_groups, question)| terms.is_valid(needs_groups, &ids, question))
}

/// What a joining side states about pairs and an answer. This side has its shares of the answer, and has sent them if
/// the number of pairs is odd.
pub(super) fn resume(count: usize, message: &[u8]) -> bool {
    let Ok(alphabet) = Alphabet::letters(4) else {
        return false;
    };
    let cohort = Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: Vec::new(),
    };
    let (engine, metric) = (Engine::Shares, Metric::Levenshtein);
    let Ok(mut spec) = Spec::new(engine, metric, PairRule::All, &cohort, &cohort) else {
        return false;
    };
    spec.reveal = MEAN;
    let mut journal = Journal::in_memory([0; 32], count + NUMBERS, MEAN);
    let agreed = AgreedPairs {
        role: Role::Host,
        spec: &spec,
        pairs: &vec![(0, 0); count],
        cells: &vec![9; count],
        scanpaths: 1,
    };
    let all: Vec<usize> = (0..count + NUMBERS).collect();
    let is_sent = count % 2 == 1;
    let prepared =
        journal
            .store_halves(&all, &vec![5; all.len()], 0)
            .and_then(|()| match is_sent {
                true => journal.mark_sent(&all[count..]),
                false => Ok(()),
            });
    let script = &mut Script(message);
    let plan =
        prepared.and_then(|()| Resume::exchange_for_answer(script, &journal, &agreed, NUMBERS));
    let Ok(plan) = plan else {
        return false;
    };
    let computes = plan.answer == AnswerStep::Compute;
    assert!(!is_sent || !computes, "an answer is computed again");
    assert!(
        computes || plan.compare.is_empty(),
        "pairs are compared for nothing"
    );
    true
}

/// An answer with equal numbers. A decoded answer must be a possible one.
pub(super) fn answer(bytes: &[u8]) -> bool {
    let Some((number, schema)) = bytes.split_first_chunk() else {
        return false;
    };
    let Ok(schema) = serde_json::from_slice::<AnswerSchema>(schema) else {
        return false;
    };
    if schema.count() > MAX_NUMBERS {
        return false;
    }
    let numbers = vec![i64::from_le_bytes(*number); schema.count()];
    let Ok(answer) = schema.answer(&numbers) else {
        return false;
    };
    assert!(answer.check().is_ok(), "an answer that no file can contain");
    true
}

/// Labels of the peer's participants, one of whom has two scanpaths. Accepted labels are those that the groups are written as.
pub(super) fn labels(bytes: &[u8]) -> bool {
    let label = |participant: &str| ScanpathId {
        participant: participant.into(),
        stimulus: None,
    };
    let ids = ["P2", "P1", "P2", "P3", "P4", "P5"].map(label);
    let groups = ["b", "a", "b", "b", "a", "b"].map(String::from);
    let sizes = GroupSizes::of(&ids, &groups);
    let Some(read) = published::decode(bytes, &ids, &sizes) else {
        return false;
    };
    assert_eq!(read[0], read[2], "one participant is in two groups");
    let written = published::encode(&ids, &read, &sizes);
    assert!(written.is_some_and(|it| it == bytes), "other labels");
    true
}
