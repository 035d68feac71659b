//! How much memory a plan needs on this side, from what both sides announce, before anything is allocated for it.
//!
//! | what | bytes |
//! |---|---|
//! | the program, TLS and messages | 40 MiB |
//! | a scanpath of either side, in the lists that it is in | 768 |
//! | a byte of an id, in its copies | 6 |
//! | a letter of this side, as text and as a number | 8 |
//! | a pair: its entry in the journal, its places in lists, its answer | 384 |
//! | a number of a pair's result | 32 |
//! | a stimulus with a mean of its own, in its lists | 384 |
//! | a byte of its name, in its copies | 4 |
//! | with `test:sites`, a pair of scanpaths of one side | 128 |
//! | a byte of the disclosure ledger, as text and parsed; above 1 MiB, rounded up to a power of two | 4 |
//! | the engine | [`Spec::memory`] |
//! | a scanpath of this side, in a tile at the coordinator: its name, limits and counts | 1024 |
//!
//! The numbers are generous; the command-line tests compare them with what a host really uses. A plan that needs more
//! than this side's user allows is declined. This is checked twice, because rosters are exchanged before the pairs are
//! known.

use crate::agreement::Terms;
use crate::error::Limit;
use std::collections::{HashMap, HashSet};
use veilpath_protocol::{GroupQuestion, JobSize, PairRule, Role, Spec};

const PROGRAM_BYTES: u64 = 40 << 20;
const BYTES_PER_SCANPATH: u64 = 768;
const BYTES_PER_ID_BYTE: u64 = 6;
const BYTES_PER_LETTER: u64 = 8;
const BYTES_PER_PAIR: u64 = 384;
const BYTES_PER_NUMBER: u64 = 32;
const BYTES_PER_MEAN: u64 = 384;
const BYTES_PER_NAME_BYTE: u64 = 4;
const BYTES_PER_PAIR_WITHIN: u64 = 128;
const BYTES_PER_LEDGER_BYTE: u64 = 4;
const MAX_SMALL_LEDGER: u64 = 1 << 20;
const BYTES_PER_COUNTED_SCANPATH: u64 = 1024;

/// The memory of one of several sessions that a host runs at a time. The results of another one are being saved, which needs
/// less than half as much as the session did.
pub fn memory_per_session(memory: u64, sessions: usize) -> u64 {
    let shared = PROGRAM_BYTES.min(memory);
    shared + (memory - shared) / halves(sessions) * 2
}

/// The memory with which one of several sessions has this much.
pub fn memory_of_all_sessions(memory: u64, sessions: usize) -> u64 {
    let shared = PROGRAM_BYTES.min(memory);
    let half = (memory - shared).div_ceil(2);
    half.saturating_mul(halves(sessions)).saturating_add(shared)
}

/// The parts of the memory of several sessions, of which each gets two, and results that are being saved get one.
fn halves(sessions: usize) -> u64 {
    (sessions.max(1) as u64).saturating_mul(2) + 1
}

/// What is needed before the pairs are known, from the terms of both sides.
pub(crate) fn rosters(ours: &Terms, theirs: &Terms) -> u64 {
    let roster = |terms: &Terms| {
        let scanpaths = terms.scanpaths.saturating_mul(BYTES_PER_SCANPATH);
        scanpaths.saturating_add(terms.id_bytes.saturating_mul(BYTES_PER_ID_BYTE))
    };
    PROGRAM_BYTES
        .saturating_add(roster(ours))
        .saturating_add(roster(theirs))
        .saturating_add(ours.letters.saturating_mul(BYTES_PER_LETTER))
}

/// What a group answer needs for the scanpaths of both sides, given by their stimuli.
pub(crate) fn group_answer<'a>(
    spec: &Spec,
    ours: impl Iterator<Item = Option<&'a str>>,
    theirs: impl Iterator<Item = Option<&'a str>>,
) -> u64 {
    match spec.reveal.group_question() {
        Some(GroupQuestion::Mean { overall: false }) => means(spec.pair_rule, ours, theirs),
        Some(GroupQuestion::TestSites { .. }) => {
            let [ours, theirs] = [count_by_stimulus(ours), count_by_stimulus(theirs)];
            let by_stimulus = spec.pair_rule == PairRule::SameStimulus
                && [&ours, &theirs].map(|it| it.keys().any(Option::is_some)) == [true; 2];
            let within = |scanpaths: u64| scanpaths.saturating_mul(scanpaths.saturating_sub(1)) / 2;
            let pairs = |counts: &HashMap<_, u64>| match by_stimulus {
                true => counts
                    .values()
                    .copied()
                    .map(within)
                    .fold(0, u64::saturating_add),
                false => within(counts.values().copied().fold(0, u64::saturating_add)),
            };
            let pairs = pairs(&ours).saturating_add(pairs(&theirs));
            pairs.saturating_mul(BYTES_PER_PAIR_WITHIN)
        }
        _ => 0,
    }
}

fn count_by_stimulus<'a>(
    stimuli: impl Iterator<Item = Option<&'a str>>,
) -> HashMap<Option<&'a str>, u64> {
    let mut counts = HashMap::new();
    for stimulus in stimuli {
        *counts.entry(stimulus).or_default() += 1;
    }
    counts
}

/// What the means of all stimuli need. If stimuli do not decide which scanpaths are compared, there is a mean for every two of them,
/// and its name contains both.
fn means<'a>(
    pair_rule: PairRule,
    ours: impl Iterator<Item = Option<&'a str>>,
    theirs: impl Iterator<Item = Option<&'a str>>,
) -> u64 {
    let [ours, theirs]: [HashSet<Option<&str>>; 2] = [ours.collect(), theirs.collect()];
    let size = |stimuli: &HashSet<Option<&str>>| {
        let bytes = stimuli.iter().flatten().map(|name| name.len() as u64 + 1);
        (stimuli.len() as u64, bytes.sum::<u64>())
    };
    let ((our_count, our_bytes), (their_count, their_bytes)) = (size(&ours), size(&theirs));
    let have_names = [&ours, &theirs].map(|it| it.iter().any(Option::is_some));
    let (count, bytes) = match pair_rule {
        PairRule::SameStimulus if have_names == [true; 2] => (our_count, our_bytes),
        _ => {
            let bytes = our_bytes.saturating_mul(their_count);
            let bytes = bytes.saturating_add(their_bytes.saturating_mul(our_count));
            (our_count.saturating_mul(their_count), bytes)
        }
    };
    let lists = count.saturating_mul(BYTES_PER_MEAN);
    lists.saturating_add(bytes.saturating_mul(BYTES_PER_NAME_BYTE))
}

/// What a disclosure ledger of this size needs. The peer learns whether a plan needs too much memory, and chooses the size
/// of the plan. So this is a rough number, which does not depend on single entries; small ledgers are part of the program.
pub(crate) fn disclosures(file_bytes: u64) -> u64 {
    if file_bytes <= MAX_SMALL_LEDGER {
        return 0;
    }
    let rounded = file_bytes.checked_next_power_of_two().unwrap_or(u64::MAX);
    rounded.saturating_mul(BYTES_PER_LEDGER_BYTE)
}

/// What is needed once the pairs are known.
pub(crate) fn whole_plan(spec: &Spec, role: Role, rosters: u64, size: &JobSize) -> u64 {
    let numbers = BYTES_PER_NUMBER.saturating_mul(spec.metric.measures().len() as u64);
    let pairs = size.pairs.saturating_mul(BYTES_PER_PAIR + numbers);
    rosters
        .saturating_add(pairs)
        .saturating_add(spec.memory(role, size))
}

/// The memory that a coordinator needs for a tile with this many pairs, of a plan with this many scanpaths of this side.
pub(crate) fn lease(pairs: u64, scanpaths: usize) -> u64 {
    let counted = BYTES_PER_COUNTED_SCANPATH.saturating_mul(scanpaths as u64);
    pairs.saturating_mul(BYTES_PER_PAIR).saturating_add(counted)
}

/// Whether this side's user allows this much memory.
pub(crate) fn check(needed: u64, allowed: Option<u64>) -> Result<(), Limit> {
    match allowed {
        Some(allowed) if needed > allowed => Err(Limit::Memory { needed, allowed }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_metrics::{Alphabet, Cohort, Encoding, Metric};
    use veilpath_protocol::{Engine, Reveal};

    #[test]
    fn sessions_and_results_share_the_memory_beyond_the_fixed_overhead() {
        let available = 256 << 20;
        for sessions in [1, 4, 64] {
            let each = memory_per_session(available, sessions) - PROGRAM_BYTES;
            let all = each * sessions as u64 + each / 2;
            assert!(all <= available - PROGRAM_BYTES && all + 200 > available - PROGRAM_BYTES);
            for needed in [0, 1 << 20, PROGRAM_BYTES, 100 << 20, (100 << 20) + 1] {
                let all = memory_of_all_sessions(needed, sessions);
                assert!(memory_per_session(all, sessions) >= needed);
                assert!(all == 0 || memory_per_session(all - 1, sessions) <= needed);
            }
        }
        assert_eq!(memory_per_session(1000, 4), 1000);
    }

    /// Otherwise refusals of plans of chosen sizes would tell how many entries there are.
    #[test]
    fn single_entries_of_a_ledger_need_no_memory() {
        assert_eq!(disclosures(0), disclosures(1 << 20));
        assert_eq!(disclosures((1 << 20) + 1), disclosures(2 << 20));
        assert_eq!(disclosures(2 << 20), 8 << 20);
        assert_eq!(disclosures(u64::MAX), u64::MAX);
    }

    /// A tile of a plan with a million scanpaths needs memory even if it has no pairs.
    #[test]
    fn a_lease_counts_pairs_and_scanpaths() {
        assert_eq!(lease(0, 1_000_000), 1_024_000_000);
        assert_eq!(lease(1000, 0), 384_000);
        assert_eq!(lease(u64::MAX, 1), u64::MAX);
    }

    /// A test of sites compares the scanpaths of each side with each other, too.
    #[test]
    fn a_test_of_sites_needs_memory_for_pairs_within_each_side() {
        let cohort = Cohort {
            alphabet: Alphabet::letters(4).unwrap(),
            encoding: Encoding::default(),
            screen: None,
            entries: Vec::new(),
        };
        let (metric, rule) = (Metric::Levenshtein, PairRule::SameStimulus);
        let mut spec = Spec::new(Engine::Shares, metric, rule, &cohort, &cohort).unwrap();
        spec.reveal = "test:sites".parse().unwrap();
        let side = |stimuli: &'static [Option<&str>], each| {
            stimuli
                .iter()
                .copied()
                .flat_map(move |it| std::iter::repeat_n(it, each))
        };
        const ONE: &[Option<&str>] = &[None];
        const TWO: &[Option<&str>] = &[Some("s1"), Some("s2")];
        let of = |ours, theirs| group_answer(&spec, ours, theirs);
        assert_eq!(of(side(ONE, 10), side(ONE, 4)), (45 + 6) * 128);
        assert_eq!(of(side(TWO, 10), side(TWO, 4)), 2 * (45 + 6) * 128);
        assert_eq!(of(side(TWO, 10), side(ONE, 4)), (190 + 6) * 128);
        spec.reveal = Reveal::Score;
        assert_eq!(group_answer(&spec, side(ONE, 10), side(ONE, 4)), 0);
    }

    #[test]
    fn plans_beyond_the_memory_limit_are_refused() {
        assert!(check(9, None).is_ok() && check(9, Some(9)).is_ok());
        let limit = check(10, Some(9)).unwrap_err();
        assert_eq!(
            limit,
            Limit::Memory {
                needed: 10,
                allowed: 9
            }
        );
    }
}
