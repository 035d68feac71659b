//! The majority group of the nearest scanpaths.

use super::{SecretNumbers, SharesSide, at_once, sorting_network};
use crate::{ProtocolError, Role};
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// The largest number of groups. Labels are one-hot words.
pub(crate) const MAX_GROUPS: usize = super::GroupSizes::MAX_GROUPS;

/// Queries whose nearest references vote.
pub(crate) struct NearestQueries<'a> {
    pub(crate) k: usize,
    /// The number of groups.
    pub(crate) groups: usize,
    /// Values lie between −2^`value_bits` and 2^`value_bits`, and so do keys.
    pub(crate) value_bits: usize,
    /// The advantage of a reference over the next one. Values that represent the same number differ by less.
    pub(crate) tie_step: u64,
    /// For each query, its pairs with references, in the order of the references. All queries have the same number of
    /// pairs.
    pub(crate) pairs: &'a [Vec<usize>],
    /// The group of each pair's reference, on the joining side.
    pub(crate) references: Option<&'a [usize]>,
}

/// The entries to sort. Keys are shared additively, labels by XOR.
struct Entries {
    keys: SecretNumbers,
    labels: SecretNumbers,
}

impl<C: Channel> SharesSide<'_, C> {
    /// For each query, the majority group of its nearest references, as an XOR-shared one-hot word. Of equal values,
    /// the earlier reference is nearer; of equal counts, the group with the smaller index wins.
    pub(crate) fn majorities(
        &mut self,
        values: &[u64],
        queries: &NearestQueries<'_>,
    ) -> Result<SecretNumbers, ProtocolError> {
        let query_count = queries.pairs.len();
        let each = queries.pairs.first().map_or(0, Vec::len);
        let mut entries = self.entries(values, queries);
        let key_bits = queries.value_bits + 1;
        for layer in sorting_network::layers(each, queries.k) {
            let starts = (0..query_count).map(|query| query * each);
            let pairs: Vec<(usize, usize)> = starts
                .flat_map(|start| {
                    layer
                        .iter()
                        .map(move |(low, high)| (start + low, start + high))
                })
                .collect();
            self.compare_and_swap(&mut entries, &pairs, key_bits, queries.groups)?;
        }
        let votes = self.votes(&entries, query_count, each, queries)?;
        self.majority(&votes, query_count, queries)
    }

    /// The keys to sort by. A key is a value plus a little more for earlier references, so that the earlier of two equal
    /// values is nearer.
    fn entries(&self, values: &[u64], queries: &NearestQueries<'_>) -> Entries {
        let count = queries.pairs.iter().map(Vec::len).sum();
        let mut keys = Zeroizing::new(Vec::with_capacity(count));
        let mut labels = Zeroizing::new(Vec::with_capacity(count));
        for pairs in queries.pairs {
            for (rank, &pair) in pairs.iter().enumerate() {
                let more = tie_gain(rank, pairs.len(), queries.tie_step);
                keys.push(values[pair].wrapping_add(self.public(more)));
                labels.push(match queries.references {
                    Some(groups) => 1u64 << groups[pair],
                    None => 0,
                });
            }
        }
        Entries { keys, labels }
    }

    /// Puts the larger key first.
    fn compare_and_swap(
        &mut self,
        entries: &mut Entries,
        pairs: &[(usize, usize)],
        key_bits: usize,
        groups: usize,
    ) -> Result<(), ProtocolError> {
        let differences = pairs
            .iter()
            .map(|&(low, high)| entries.keys[high].wrapping_sub(entries.keys[low]));
        let differences: SecretNumbers = Zeroizing::new(differences.collect());
        // No two keys are equal, so a non-negative difference means larger.
        let swaps = self.not_negative(&differences, key_bits)?;
        let moved = self.session.select(&swaps, &differences, self.channel)?;
        let labels = pairs
            .iter()
            .map(|&(low, high)| entries.labels[low] ^ entries.labels[high]);
        let labels: SecretNumbers = Zeroizing::new(labels.collect());
        let changed = self.session.and(&swaps, &labels, groups, self.channel)?;
        for (at, &(low, high)) in pairs.iter().enumerate() {
            entries.keys[low] = entries.keys[low].wrapping_add(moved[at]);
            entries.keys[high] = entries.keys[high].wrapping_sub(moved[at]);
            entries.labels[low] ^= changed[at];
            entries.labels[high] ^= changed[at];
        }
        Ok(())
    }

    /// For each query and group, how many of the nearest belong to it.
    fn votes(
        &mut self,
        entries: &Entries,
        query_count: usize,
        each: usize,
        queries: &NearestQueries<'_>,
    ) -> Result<SecretNumbers, ProtocolError> {
        let (k, groups) = (queries.k, queries.groups);
        let at_once = at_once(k * groups);
        let mut votes = Zeroizing::new(vec![0u64; query_count * groups]);
        for first in (0..query_count).step_by(at_once) {
            let count = at_once.min(query_count - first);
            // Plain loops, because the compiler turned nested iterators over these bits into a branch on a label.
            let mut bits: SecretNumbers = Zeroizing::new(vec![0; count * k * groups]);
            for (query, bits) in bits.chunks_mut((k * groups).max(1)).enumerate() {
                let start = (first + query) * each;
                let labels = &entries.labels[start..start + k];
                for (label, bits) in labels.iter().zip(bits.chunks_mut(groups.max(1))) {
                    for (group, bit) in bits.iter_mut().enumerate() {
                        *bit = label >> group & 1;
                    }
                }
            }
            let bits = self.session.additive_from_xor(&bits, 1, self.channel)?;
            for (query, bits) in bits.chunks((k * groups).max(1)).enumerate() {
                for (at, bit) in bits.iter().enumerate() {
                    let vote = &mut votes[(first + query) * groups + at % groups];
                    *vote = vote.wrapping_add(*bit);
                }
            }
        }
        Ok(votes)
    }

    /// The group with the most votes, found by comparing the best so far with each next group.
    fn majority(
        &mut self,
        votes: &[u64],
        query_count: usize,
        queries: &NearestQueries<'_>,
    ) -> Result<SecretNumbers, ProtocolError> {
        let groups = queries.groups;
        let one = u64::from(self.role == Role::Host);
        let mut best: SecretNumbers = Zeroizing::new(
            (0..query_count)
                .map(|query| votes[query * groups])
                .collect(),
        );
        let mut winners: SecretNumbers = Zeroizing::new(vec![one; query_count]);
        for group in 1..groups {
            // Ties keep the earlier group.
            let minus_one = self.public(-1);
            let differences = (0..query_count).map(|query| {
                let next = votes[query * groups + group];
                next.wrapping_sub(best[query]).wrapping_add(minus_one)
            });
            let differences: SecretNumbers = Zeroizing::new(differences.collect());
            let bits = bits_for(queries.k as u64) + 1;
            let wins = self.not_negative(&differences, bits)?;
            let more = differences.iter().map(|x| x.wrapping_sub(minus_one));
            let more: SecretNumbers = Zeroizing::new(more.collect());
            let gained = self.session.select(&wins, &more, self.channel)?;
            let change = winners.iter().map(|winner| winner ^ one << group);
            let change: SecretNumbers = Zeroizing::new(change.collect());
            let change = self.session.and(&wins, &change, groups, self.channel)?;
            for query in 0..query_count {
                best[query] = best[query].wrapping_add(gained[query]);
                winners[query] ^= change[query];
            }
        }
        Ok(winners)
    }

    /// The index of the bit that is set in each word, as additive shares.
    pub(crate) fn numbers_of_labels(
        &mut self,
        words: &[u64],
        groups: usize,
    ) -> Result<SecretNumbers, ProtocolError> {
        let number = |bits: &[u64]| {
            let terms = bits.iter().zip(0u64..);
            terms.fold(0u64, |sum, (bit, group)| {
                sum.wrapping_add(bit.wrapping_mul(group))
            })
        };
        let mut numbers = Zeroizing::new(Vec::with_capacity(words.len()));
        for words in words.chunks(at_once(groups)) {
            let bits = words
                .iter()
                .flat_map(|word| (0..groups).map(move |group| word >> group & 1));
            let bits: SecretNumbers = Zeroizing::new(bits.collect());
            let bits = self.session.additive_from_xor(&bits, 1, self.channel)?;
            numbers.extend(bits.chunks(groups.max(1)).map(number));
        }
        Ok(numbers)
    }

    /// How many of the host's scanpaths have the majority group. `own` has their groups, on the host.
    pub(crate) fn correct_majorities(
        &mut self,
        majorities: &[u64],
        own: Option<&[usize]>,
        groups: usize,
    ) -> Result<u64, ProtocolError> {
        let mut correct: SecretNumbers = Zeroizing::new(Vec::with_capacity(majorities.len()));
        let at_once = at_once(groups);
        for (part, majorities) in majorities.chunks(at_once).enumerate() {
            let bits = majorities
                .iter()
                .flat_map(|word| (0..groups).map(move |group| word >> group & 1));
            let bits: SecretNumbers = Zeroizing::new(bits.collect());
            let queries = (part * at_once..).take(majorities.len());
            let labels = queries.flat_map(|query| {
                (0..groups).map(move |group| u64::from(own.is_some_and(|own| own[query] == group)))
            });
            let labels: SecretNumbers = Zeroizing::new(labels.collect());
            let both = self.session.and(&bits, &labels, 1, self.channel)?;
            let of_query = both.chunks(groups.max(1));
            correct.extend(of_query.map(|bits| bits.iter().fold(0, |sum, bit| sum ^ bit)));
        }
        let correct = self.session.additive_from_xor(&correct, 1, self.channel)?;
        Ok(correct
            .iter()
            .fold(0, |sum: u64, bit| sum.wrapping_add(*bit)))
    }
}

/// The advantage of the reference at this rank over the last one.
pub(super) fn tie_gain(rank: usize, references: usize, tie_step: u64) -> i64 {
    let steps = references.saturating_sub(1).saturating_sub(rank) as u64;
    steps.wrapping_mul(tie_step).cast_signed()
}

/// The bits of a number.
pub(super) fn bits_for(largest: u64) -> usize {
    (u64::BITS - largest.leading_zeros()) as usize
}
