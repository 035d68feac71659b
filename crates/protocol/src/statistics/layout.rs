//! What both sides know about the participants of a question.

use crate::{JobError, PairRule, ProtocolError, ScanpathId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use veilpath_statistics::{
    CrossMatrix, ParticipantPairs, Participants, PooledPairs, StatisticsError,
};

/// How many participants each group of a side has. Names and sizes are sent to the other side; group membership is not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSizes(pub BTreeMap<String, u32>);

impl GroupSizes {
    /// The largest number of groups of a side.
    pub const MAX_GROUPS: usize = 32;

    /// The longest group name, in bytes.
    pub const MAX_NAME_BYTES: usize = 200;

    /// The sizes of groups, given the group of each scanpath.
    pub fn of(ids: &[ScanpathId], groups: &[String]) -> Self {
        let mut sizes = BTreeMap::new();
        let mut seen = HashSet::new();
        for (id, group) in ids.iter().zip(groups) {
            if seen.insert(&id.participant) {
                *sizes.entry(group.clone()).or_default() += 1;
            }
        }
        Self(sizes)
    }

    /// Whether these can be the sizes of a peer with these scanpaths.
    pub fn is_valid(&self, ids: &[ScanpathId]) -> bool {
        let participants: HashSet<&String> = ids.iter().map(|it| &it.participant).collect();
        let participants = participants.len();
        let total: u64 = self.0.values().copied().map(u64::from).sum();
        let short = |name: &String| (1..=Self::MAX_NAME_BYTES).contains(&name.len());
        self.0.len() <= Self::MAX_GROUPS
            && self.0.keys().all(short)
            && self.0.values().all(|size| *size > 0)
            && total == participants as u64
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

/// The participants of both sides, and which pair of them each pair of scanpaths belongs to.
pub(crate) struct PairIndex {
    /// The host's and the joining side's.
    pub(crate) participants: [Participants; 2],
    /// Present if the question is about scores of participants.
    by_participants: Option<ParticipantPairs>,
    /// The stimulus of each pair, as an index into `stimuli`. Empty unless the question is about stimuli.
    pub(crate) stimulus_of_pair: Vec<usize>,
    /// The first pair of each stimulus, in order. With pseudonyms, only one side knows a name, so the two sides would sort
    /// names differently. Two scanpaths of different stimuli have a stimulus `x|y`, so there may be nearly as many as pairs; names are
    /// made only for the answer.
    pub(crate) stimuli: Vec<(usize, usize)>,
}

/// What a question indexes pairs by.
#[derive(Clone, Copy)]
pub(crate) struct IndexedBy {
    pub(crate) participants: bool,
    pub(crate) stimuli: bool,
}

impl PairIndex {
    /// The index of these pairs.
    pub(crate) fn new(
        ids: [&[ScanpathId]; 2],
        pairs: &[(usize, usize)],
        indexed_by: IndexedBy,
    ) -> Result<Self, ProtocolError> {
        let participants = ids.map(|ids| Participants::new(ids.iter().map(|id| &id.participant)));
        let [rows, columns] = &participants;
        let by_participants = match indexed_by.participants {
            false => None,
            // Checked before a matrix is allocated: with fewer pairs than entries, some entry has no pair.
            true if rows.len().saturating_mul(columns.len()) > pairs.len() => {
                return Err(StatisticsError::NoCommonStimulus { row: 0, column: 0 }.into());
            }
            true => {
                let indexed = ParticipantPairs::new(rows, columns, pairs.iter().copied())?;
                indexed.require_all()?;
                Some(indexed)
            }
        };
        let (stimulus_of_pair, stimuli) = match indexed_by.stimuli {
            true => stimuli(ids, pairs),
            false => (Vec::new(), Vec::new()),
        };
        Ok(Self {
            participants,
            by_participants,
            stimulus_of_pair,
            stimuli,
        })
    }

    /// How many pairs of scanpaths the participants of this pair have; 1 if that does not matter.
    pub(crate) fn count_of_pair(&self, (a, b): (usize, usize)) -> Result<u32, ProtocolError> {
        let Some(by_participants) = &self.by_participants else {
            return Ok(1);
        };
        let (row, column) = (self.participants[0].of(a)?, self.participants[1].of(b)?);
        Ok(by_participants.count(row, column))
    }

    /// The number of scanpath pairs per pair of participants, if it is the same for all.
    pub(crate) fn uniform_count(&self) -> Option<u32> {
        self.by_participants.as_ref()?.uniform_count()
    }

    /// The largest number of scanpath pairs of any pair of participants; 1 if that does not matter.
    pub(crate) fn max_count(&self) -> u32 {
        let Some(by_participants) = &self.by_participants else {
            return 1;
        };
        let [rows, columns] = &self.participants;
        let pairs = (0..rows.len()).flat_map(|row| (0..columns.len()).map(move |it| (row, it)));
        pairs
            .map(|(row, column)| by_participants.count(row, column))
            .max()
            .unwrap_or(1)
    }

    /// For each pair of participants, the sum over its pairs of scanpaths modulo 2⁶⁴.
    pub(crate) fn sums_by_participants(
        &self,
        values: &[i64],
    ) -> Result<CrossMatrix, ProtocolError> {
        let by_participants = self.by_participants.as_ref();
        let by_participants = by_participants.ok_or(ProtocolError::Internal(
            "pairs are not indexed by participants",
        ))?;
        Ok(by_participants.sums_wrapping(values)?)
    }
}

/// The index of each pair's stimulus, and the first pair of each stimulus.
fn stimuli(ids: [&[ScanpathId]; 2], pairs: &[(usize, usize)]) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut numbers: HashMap<[Option<&str>; 2], usize> = HashMap::new();
    let mut first_pairs = Vec::new();
    let number = |&(a, b): &(usize, usize)| {
        let stimulus = [&ids[0][a], &ids[1][b]].map(|it| it.stimulus.as_deref());
        // As `joint_stimulus` names them.
        let key = match stimulus {
            [Some(x), Some(y)] if x != y => stimulus,
            [x, y] => [x.or(y), None],
        };
        *numbers.entry(key).or_insert_with(|| {
            first_pairs.push((a, b));
            first_pairs.len() - 1
        })
    };
    let stimulus_of_pair = pairs.iter().map(number).collect();
    (stimulus_of_pair, first_pairs)
}

/// The pairs of scanpaths of different participants within one side.
pub(crate) struct OwnParticipantPairs {
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) by_participants: PooledPairs,
}

/// The largest number of scanpath pairs within a site. Each takes about forty bytes, and the other side's are listed,
/// too.
const MAX_WITHIN: u64 = 1 << 20;

impl OwnParticipantPairs {
    /// The pairs within the host and within the joining side, by the same rule that pairs scanpaths of different sides. Scanpaths that
    /// are in no pair between the sides are left out, so that all scores are based on the same stimuli.
    pub(crate) fn of_both(
        rule: PairRule,
        ids: [&[ScanpathId]; 2],
        pairs: &[(usize, usize)],
        participants: &[Participants; 2],
    ) -> Result<[Self; 2], ProtocolError> {
        let has_stimuli = |ids: &[ScanpathId]| ids.iter().any(|id| id.stimulus.is_some());
        let by_stimulus = rule == PairRule::SameStimulus && ids.iter().all(|it| has_stimuli(it));
        let of = |side: usize| -> Result<Self, ProtocolError> {
            let scanpaths: BTreeSet<usize> = pairs.iter().map(|it| [it.0, it.1][side]).collect();
            let mut scanpaths_by_stimulus: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
            for scanpath in scanpaths {
                let stimulus = ids[side][scanpath].stimulus.as_deref();
                let stimulus = stimulus.filter(|_| by_stimulus);
                scanpaths_by_stimulus
                    .entry(stimulus)
                    .or_default()
                    .push(scanpath);
            }
            let sizes = scanpaths_by_stimulus
                .values()
                .map(|scanpaths| scanpaths.len() as u64);
            let count = sizes.fold(0, |sum: u64, size| {
                sum.saturating_add(size.saturating_mul(size.saturating_sub(1)) / 2)
            });
            if count > MAX_WITHIN {
                return Err(JobError::TooManyPairs {
                    pairs: count,
                    limit: MAX_WITHIN,
                }
                .into());
            }
            // Checked before a matrix is allocated: with fewer pairs than entries, some entry has no pair.
            let size = participants[side].len() as u64;
            if size.saturating_mul(size.saturating_sub(1)) / 2 > count {
                return Err(StatisticsError::NoCommonStimulus { row: 0, column: 1 }.into());
            }
            let participant_by_scanpath = participants[side].of_scanpaths();
            let mut pairs = Vec::new();
            for scanpaths in scanpaths_by_stimulus.values() {
                for (index, &i) in scanpaths.iter().enumerate() {
                    let others = scanpaths[index + 1..].iter();
                    let others = others
                        .filter(|&&j| participant_by_scanpath[i] != participant_by_scanpath[j]);
                    pairs.extend(others.map(|&j| (i, j)));
                }
            }
            let by_participants = PooledPairs::new(&participants[side], pairs.iter().copied())?;
            by_participants.require_all()?;
            Ok(Self {
                pairs,
                by_participants,
            })
        };
        Ok([of(0)?, of(1)?])
    }
}

/// The index of each participant's group in a sorted list of names; `None` if a name is missing or a participant has two groups.
pub(crate) fn groups_of_participants(
    participants: &Participants,
    groups: &[String],
    names: &[String],
) -> Option<Vec<usize>> {
    let mut group_by_participant = vec![None; participants.len()];
    for (&participant, group) in participants.of_scanpaths().iter().zip(groups) {
        let number = names.binary_search(group).ok()?;
        if group_by_participant[participant].is_some_and(|other| other != number) {
            return None;
        }
        group_by_participant[participant] = Some(number);
    }
    group_by_participant.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(participant: usize, stimulus: usize) -> ScanpathId {
        ScanpathId {
            participant: participant.to_string(),
            stimulus: Some(stimulus.to_string()),
        }
    }

    /// A peer with many participants, of whom only two at a time have the same stimulus, is refused before a matrix of all its
    /// participants is allocated: 320 GB.
    #[test]
    fn participants_without_common_stimuli_are_refused_before_a_matrix_is_allocated() {
        let stimuli = 200_000;
        let host: Vec<ScanpathId> = (0..stimuli).map(|it| id(0, it)).collect();
        let join: Vec<ScanpathId> = (0..2 * stimuli).map(|it| id(it, it % stimuli)).collect();
        let pairs: Vec<(usize, usize)> = (0..stimuli)
            .flat_map(|it| [(it, it), (it, it + stimuli)])
            .collect();
        let indexed_by = IndexedBy {
            participants: true,
            stimuli: false,
        };
        let layout = PairIndex::new([&host, &join], &pairs, indexed_by).unwrap();
        let rule = PairRule::SameStimulus;
        let within =
            OwnParticipantPairs::of_both(rule, [&host, &join], &pairs, &layout.participants);
        assert!(within.is_err());
    }
}
