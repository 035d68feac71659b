//! Converts ranks to distances for answers about groups: a mean of ranks would be meaningless.

use crate::{ProtocolError, Role};
use veilpath_channel::Channel;
use veilpath_mpc::circuit::numbers::bits_for;
use veilpath_mpc::shares::SharesSession;
use zeroize::Zeroizing;

/// Comparisons that are made at a time.
const AT_ONCE: usize = 1 << 18;

/// Halves of distances for halves of ranks; the largest rank is the last.
///
/// A distance is the exclusive or of the first one and of the steps between neighbours up to its rank, so it follows from one bit for each
/// rank r, whether the number is at least r.
pub(super) fn distances_of_ranks(
    role: Role,
    distances: &[u64],
    halves: &[u64],
    session: &mut SharesSession,
    channel: &mut dyn Channel,
) -> Result<Vec<u64>, ProtocolError> {
    let largest = distances.len() - 1;
    let bits = bits_for(largest as u64);
    let first = match role {
        Role::Host => distances[0],
        Role::Join => 0,
    };
    let mut found = vec![first; halves.len()];
    if largest == 0 {
        return Ok(found);
    }
    let ranks = session.numbers_from_halves(halves, bits, channel)?;
    let pairs_at_once = (AT_ONCE / largest).max(1);
    for (ranks, found) in ranks
        .chunks(pairs_at_once)
        .zip(found.chunks_mut(pairs_at_once))
    {
        let mut differences = Zeroizing::new(Vec::with_capacity(ranks.len() * largest));
        for rank in ranks {
            differences.extend((1..=largest as u64).map(|bound| match role {
                Role::Host => rank.wrapping_sub(bound),
                Role::Join => *rank,
            }));
        }
        let reached = session.not_negative(&differences, bits, channel)?;
        for (distance, reached) in found.iter_mut().zip(reached.chunks_exact(largest)) {
            for (steps, reached) in distances.windows(2).zip(reached) {
                *distance ^= (steps[0] ^ steps[1]) & reached.wrapping_neg();
            }
        }
    }
    Ok(found)
}
