//! How much an answer counts against the budget.

use std::collections::{HashMap, HashSet};
use veilpath_protocol::{AnswerSchema, Engine, NumberKind, Role, ScanpathId};

/// The most bits that count as one number. A mean has about sixteen, and never more than this.
pub(super) const BITS_OF_A_NUMBER: u64 = 20;

/// In lists of small numbers, this many bits count as one number.
const BITS_OF_SMALL_NUMBERS: u64 = 16;

/// How many numbers of the answer are about the same scanpath of this side. All of them count, because the other side
/// chooses its groups and scanpaths. Their bits count as well: a modified side can have any function of the same size
/// opened instead. If it can have results about any scanpath of this side, whatever the pair, all numbers are about the
/// same one.
pub(super) fn counts_as(
    schema: &AnswerSchema,
    engine: Engine,
    role: Role,
    pairs: &[(usize, usize)],
    scanpath_ids: &[Vec<ScanpathId>; 2],
) -> u32 {
    let bits: Vec<u64> = schema.used_bits().map(|it| it.len() as u64).collect();
    let all = || bits.iter().sum::<u64>();
    let one = || bits.iter().copied().max().unwrap_or(0);
    let (bits, min_numbers) = match &schema.kind {
        NumberKind::StimulusMeans { .. } | NumberKind::GroupMeans { .. }
            if engine.exposes_any_scanpath(role) =>
        {
            (all(), schema.count())
        }
        // If stimuli do not decide which scanpaths are compared, a scanpath is in a mean for each stimulus of the other
        // side.
        NumberKind::StimulusMeans { stimuli } => {
            let means = max_peer_stimuli(role, pairs, scanpath_ids).min(stimuli.len());
            (one().saturating_mul(means as u64), means)
        }
        // A scanpath is in one row, or in one column.
        NumberKind::GroupMeans { rows, columns } => {
            let width = columns.len().max(1);
            let of_row = bits.chunks(width).map(|row| row.iter().sum::<u64>()).max();
            let of_column =
                (0..width).map(|column| bits.iter().skip(column).step_by(width).sum::<u64>());
            match role {
                Role::Host => (of_row.unwrap_or(0), columns.len()),
                Role::Join => (of_column.max().unwrap_or(0), rows.len()),
            }
        }
        // A statistic and a count.
        NumberKind::Test { .. } => (all(), 2),
        NumberKind::NearestRate { .. } => (all(), 1),
        // A group for each of the host's scanpaths, found among those of the joining side.
        NumberKind::Nearest { .. } if role == Role::Host => (one(), 1),
        NumberKind::Nearest { .. } => {
            let mut queries: HashMap<usize, u64> = HashMap::new();
            for (_, join) in pairs {
                *queries.entry(*join).or_default() += 1;
            }
            let max_queries = queries.into_values().max().unwrap_or(0);
            let bits = max_queries.saturating_mul(one());
            let min_numbers = bits.div_ceil(BITS_OF_SMALL_NUMBERS);
            (bits, usize::try_from(min_numbers).unwrap_or(usize::MAX))
        }
        NumberKind::Histogram { edges, .. } => (all(), edges.len().saturating_sub(2)),
    };
    let numbers = bits
        .div_ceil(BITS_OF_A_NUMBER)
        .max(min_numbers as u64)
        .max(1);
    u32::try_from(numbers).unwrap_or(u32::MAX)
}

/// The most different stimuli among the other side's scanpaths that any scanpath of this side is compared with.
fn max_peer_stimuli(
    role: Role,
    pairs: &[(usize, usize)],
    [host, join]: &[Vec<ScanpathId>; 2],
) -> usize {
    let mut stimuli: HashMap<usize, HashSet<Option<&str>>> = HashMap::new();
    for &(a, b) in pairs {
        let (own, peer) = match role {
            Role::Host => (a, join.get(b)),
            Role::Join => (b, host.get(a)),
        };
        let stimulus = peer.and_then(|label| label.stimulus.as_deref());
        stimuli.entry(own).or_default().insert(stimulus);
    }
    stimuli.values().map(HashSet::len).max().unwrap_or(0)
}
