//! Which scanpath is compared with which.

use serde::Serialize;
use std::collections::HashMap;
use veilpath_metrics::Cohort;

/// The rule that both sides follow to list the pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairRule {
    /// Equal stimuli where both cohorts have stimuli, else everything with everything.
    #[default]
    SameStimulus,
    /// Everything with everything.
    All,
}

/// The pairs as indices into the two cohorts, in the order of the first and then of the second.
pub fn pairs_of(rule: PairRule, a: &Cohort, b: &Cohort) -> Vec<(usize, usize)> {
    let by_stimulus = rule == PairRule::SameStimulus && a.has_stimuli() && b.has_stimuli();
    if !by_stimulus {
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
