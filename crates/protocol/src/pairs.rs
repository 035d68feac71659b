//! Which scanpath is compared with which.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::str::FromStr;
use veilpath_metrics::Cohort;

/// The rule that both sides follow to list the pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairRule {
    /// Scanpaths with equal stimuli if both cohorts have stimuli, else all with all.
    #[default]
    SameStimulus,
    /// All scanpaths with all.
    All,
}

/// A text that is not the name of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected same-stimulus or all")]
pub struct PairRuleError;

impl PairRule {
    /// All rules.
    pub const ALL: [Self; 2] = [Self::SameStimulus, Self::All];

    /// The name in options and results.
    pub fn name(self) -> &'static str {
        match self {
            PairRule::SameStimulus => "same-stimulus",
            PairRule::All => "all",
        }
    }
}

impl FromStr for PairRule {
    type Err = PairRuleError;

    fn from_str(text: &str) -> Result<Self, PairRuleError> {
        let mut all = Self::ALL.into_iter();
        all.find(|rule| rule.name() == text).ok_or(PairRuleError)
    }
}

/// The largest number of pairs in one comparison. Each takes about 200 bytes while it is computed and written, so more
/// would not fit the memory of a typical machine.
pub const MAX_PAIRS: u64 = 50_000_000;

/// How much there is to compare, counted without listing the pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCount {
    /// Pairs.
    pub pairs: u64,
    /// Their matrix cells.
    pub cells: u64,
    /// See [`newly_paired`].
    pub newly_paired: u64,
    /// Scanpaths of the first cohort that are in no pair.
    pub left_out_of_a: usize,
    /// Scanpaths of the second cohort that are in no pair.
    pub left_out_of_b: usize,
}

/// Counts what [`pairs_of`] would list; numbers saturate.
pub fn count_pairs(rule: PairRule, a: &Cohort, b: &Cohort) -> PairCount {
    let by_stimulus = by_stimulus(rule, a, b);
    let (first, second) = (sizes(a, by_stimulus), sizes(b, by_stimulus));
    let mut count = PairCount::default();
    for (stimulus, &(scanpaths, letters)) in &first {
        let Some(&(others, other_letters)) = second.get(stimulus) else {
            count.left_out_of_a += scanpaths;
            continue;
        };
        let pairs = (scanpaths as u64).saturating_mul(others as u64);
        count.pairs = count.pairs.saturating_add(pairs);
        let cells = letters.saturating_mul(other_letters);
        count.cells = count.cells.saturating_add(cells);
    }
    count.left_out_of_b = second
        .iter()
        .filter(|(stimulus, _)| !first.contains_key(*stimulus))
        .map(|(_, (scanpaths, _))| scanpaths)
        .sum();
    let stimuli = a.entries.iter().map(|entry| entry.stimulus.as_deref());
    let mut last = None;
    for stimulus in stimuli.map(|stimulus| stimulus.filter(|_| by_stimulus)) {
        let Some(&(others, _)) = second.get(&stimulus) else {
            continue;
        };
        if last.replace(stimulus) != Some(stimulus) {
            count.newly_paired = count.newly_paired.saturating_add(others as u64);
        }
    }
    count
}

/// The number of pairs whose second scanpath was not also compared with the previous scanpath of the first cohort. An engine that
/// prepares scanpaths has to prepare many of these again.
pub fn newly_paired(pairs: &[(usize, usize)]) -> u64 {
    let mut count = 0;
    let mut before: &[(usize, usize)] = &[];
    for partners in pairs.chunk_by(|one, next| one.0 == next.0) {
        let is_repeated =
            |pair: &&(usize, usize)| before.binary_search_by_key(&pair.1, |p| p.1).is_ok();
        count += (partners.len() - partners.iter().filter(is_repeated).count()) as u64;
        before = partners;
    }
    count
}

/// The number of scanpaths and letters by stimulus; all under `None` if stimuli do not matter.
fn sizes(cohort: &Cohort, by_stimulus: bool) -> HashMap<Option<&str>, (usize, u64)> {
    let mut sizes: HashMap<Option<&str>, (usize, u64)> = HashMap::new();
    for entry in &cohort.entries {
        let stimulus = entry.stimulus.as_deref().filter(|_| by_stimulus);
        let (scanpaths, letters) = sizes.entry(stimulus).or_default();
        *scanpaths += 1;
        *letters += entry.scanpath.len() as u64;
    }
    sizes
}

pub(crate) fn by_stimulus(rule: PairRule, a: &Cohort, b: &Cohort) -> bool {
    rule == PairRule::SameStimulus && a.has_stimuli() && b.has_stimuli()
}

/// The pairs as indices into the two cohorts, sorted by the first and then by the second.
pub fn pairs_of(rule: PairRule, a: &Cohort, b: &Cohort) -> Vec<(usize, usize)> {
    if !by_stimulus(rule, a, b) {
        return (0..a.entries.len())
            .flat_map(|i| (0..b.entries.len()).map(move |j| (i, j)))
            .collect();
    }
    let mut seconds: HashMap<Option<&str>, Vec<usize>> = HashMap::new();
    for (j, entry) in b.entries.iter().enumerate() {
        seconds
            .entry(entry.stimulus.as_deref())
            .or_default()
            .push(j);
    }
    a.entries
        .iter()
        .enumerate()
        .flat_map(|(i, entry)| {
            let same = seconds.get(&entry.stimulus.as_deref());
            same.into_iter().flatten().map(move |&j| (i, j))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_metrics::{Alphabet, Encoding, Entry, Scanpath};

    fn cohort(rows: &[(Option<&str>, usize)]) -> Cohort {
        Cohort {
            alphabet: Alphabet::letters(2).unwrap(),
            encoding: Encoding::default(),
            screen: None,
            entries: rows
                .iter()
                .map(|&(stimulus, length)| Entry {
                    participant: "p".into(),
                    group: None,
                    stimulus: stimulus.map(str::to_string),
                    scanpath: Scanpath::new(vec![0; length]),
                    fixations: None,
                })
                .collect(),
        }
    }

    #[test]
    fn rules_have_the_names_of_result_files() {
        for rule in PairRule::ALL {
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
            assert_eq!(rule.name().parse(), Ok(rule));
        }
    }

    #[test]
    fn a_scanpath_is_newly_paired_unless_it_was_paired_with_the_previous_one() {
        let all: Vec<_> = (0..3).flat_map(|i| (0..4).map(move |j| (i, j))).collect();
        assert_eq!(newly_paired(&all), 4);
        assert_eq!(newly_paired(&[(0, 0), (0, 1), (1, 1), (1, 2), (3, 0)]), 4);
        assert_eq!(newly_paired(&[]), 0);
    }

    #[test]
    fn counting_agrees_with_listing() {
        let (x, y, z) = (Some("x"), Some("y"), Some("z"));
        let cohorts = [
            cohort(&[(x, 1), (y, 2), (x, 3), (None, 4)]),
            cohort(&[(y, 5), (z, 6), (x, 0), (x, 7)]),
            cohort(&[(z, 6), (z, 1)]),
            cohort(&[(None, 2), (None, 3)]),
            cohort(&[]),
        ];
        for (a, b) in cohorts
            .iter()
            .flat_map(|a| cohorts.iter().map(move |b| (a, b)))
        {
            for rule in [PairRule::SameStimulus, PairRule::All] {
                let pairs = pairs_of(rule, a, b);
                let length = |cohort: &Cohort, index: usize| cohort.entries[index].scanpath.len();
                let cells = pairs.iter().map(|&(i, j)| length(a, i) * length(b, j));
                let paired = |side: fn(&(usize, usize)) -> usize| {
                    let sides: std::collections::HashSet<usize> = pairs.iter().map(side).collect();
                    sides.len()
                };
                let expected = PairCount {
                    pairs: pairs.len() as u64,
                    cells: cells.sum::<usize>() as u64,
                    newly_paired: newly_paired(&pairs),
                    left_out_of_a: a.entries.len() - paired(|pair| pair.0),
                    left_out_of_b: b.entries.len() - paired(|pair| pair.1),
                };
                assert_eq!(count_pairs(rule, a, b), expected);
            }
        }
    }
}
