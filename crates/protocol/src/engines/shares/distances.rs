//! Converts ranks to distances for group answers, because a mean of ranks would be meaningless.

use crate::{ProtocolError, Role};
use veilpath_channel::Channel;
use veilpath_mpc::circuit::numbers::bits_for;
use veilpath_mpc::shares::SharesSession;
use zeroize::Zeroizing;

/// The number of comparisons to run at a time.
const AT_ONCE: usize = 1 << 18;

/// Turns halves of ranks into halves of distances. The last distance belongs to the largest rank.
///
/// A distance is the XOR of the first distance and of the differences between neighbours up to its rank. So it follows from one bit for
/// each rank r: whether the number is at least r.
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
    let ranks = session.additive_from_xor(halves, bits, channel)?;
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
