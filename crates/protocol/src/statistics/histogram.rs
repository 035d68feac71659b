//! Histograms. Bins with too few participants are hidden before anything is opened.

use super::{SecretNumbers, SharesSide, at_once};
use crate::{ProtocolError, Role};
use std::collections::HashMap;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// Additive shares of the opened numbers of a histogram, for each bin.
pub(crate) struct HistogramShares {
    /// 1 if the count is shown.
    pub(crate) shown: SecretNumbers,
    /// The count, or 0.
    pub(crate) counts: SecretNumbers,
}

/// The participants of a histogram's pairs, which both sides know. Only those in a pair are numbered: a peer may announce
/// many others.
pub(crate) struct PairParticipants {
    /// For each pair, the host's participant and the joining side's.
    pub(crate) by_pair: [Vec<usize>; 2],
    /// The number of participants of each side.
    pub(crate) counts: [usize; 2],
}

/// Counts of pairs in some bins: of all pairs, and of those of each participant.
#[derive(Default)]
struct BinCounts {
    all: SecretNumbers,
    per_participant: SecretNumbers,
}

impl<C: Channel> SharesSide<'_, C> {
    /// How many values are in each bin. Values and edges lie between −2^`value_bits` and 2^`value_bits`. A value on an edge
    /// belongs to the bin above it, and a value beyond the outer edges to the outermost bin. Bins with pairs of fewer than
    /// `minimum` participants of a side are hidden. If there are any, the smallest other count is hidden too, because all counts
    /// add up to a known total.
    ///
    /// The minimum counts participants, not pairs: all pairs of one participant are in the same bin if the other side's scanpaths are
    /// all the same.
    pub(crate) fn histogram(
        &mut self,
        values: &[u64],
        edges: &[i64],
        value_bits: usize,
        minimum: u64,
        participants: &PairParticipants,
    ) -> Result<HistogramShares, ProtocolError> {
        let inner = edges.get(1..edges.len().saturating_sub(1)).unwrap_or(&[]);
        let shares: Vec<u64> = inner.iter().map(|edge| self.public(*edge)).collect();
        let mut counts = Zeroizing::new(Vec::with_capacity(inner.len() + 1));
        let mut enough = Zeroizing::new(Vec::with_capacity(inner.len() + 1));
        // Every value is at least in the first bin.
        let one = self.public(1);
        let mut above = participants.sums(&vec![one; values.len()]);
        let at_once = at_once(values.len());
        let chunks = shares.len().div_ceil(at_once).max(1);
        for chunk in 0..chunks {
            let from = (chunk * at_once).min(shares.len());
            let to = (from + at_once).min(shares.len());
            let differences = shares[from..to]
                .iter()
                .flat_map(|edge| values.iter().map(move |value| value.wrapping_sub(*edge)));
            let differences: SecretNumbers = Zeroizing::new(differences.collect());
            let reached = self.count_not_negative(&differences, value_bits + 1)?;
            let mut bins = BinCounts::default();
            for reached in reached.chunks(values.len().max(1)) {
                let reached = participants.sums(reached);
                bins.push(
                    above
                        .iter()
                        .zip(reached.iter())
                        .map(|(a, b)| a.wrapping_sub(*b)),
                );
                above = reached;
            }
            if chunk + 1 == chunks {
                bins.push(above.iter().copied());
            }
            let pairs = values.len() as u64;
            enough.extend_from_slice(&self.enough(&bins, pairs, minimum, participants.counts)?);
            counts.extend_from_slice(&bins.all);
        }
        self.without_small(&counts, &enough, values.len() as u64)
    }

    /// An XOR-shared bit for each bin: whether its pairs have enough participants of each side.
    fn enough(
        &mut self,
        bins: &BinCounts,
        pairs: u64,
        minimum: u64,
        [host, join]: [usize; 2],
    ) -> Result<SecretNumbers, ProtocolError> {
        // One pair involves one participant of each side, so counting pairs is enough.
        if minimum <= 1 {
            let minimum_share = self.public(minimum.cast_signed());
            let differences = bins
                .all
                .iter()
                .map(|count| count.wrapping_sub(minimum_share));
            let differences: SecretNumbers = Zeroizing::new(differences.collect());
            return self.not_negative(&differences, bits_of(pairs));
        }
        let one = self.public(1);
        let less = bins.per_participant.iter().map(|it| it.wrapping_sub(one));
        let less: SecretNumbers = Zeroizing::new(less.collect());
        let present = self.count_not_negative(&less, bits_of(pairs))?;
        let minimum_share = self.public(minimum.cast_signed());
        let add = |present: &[u64]| present.iter().fold(0, |sum: u64, it| sum.wrapping_add(*it));
        let present_in_bins = present.chunks((host + join).max(1));
        let missing = present_in_bins.flat_map(|present| {
            let (of_host, of_join) = present.split_at(host);
            [of_host, of_join].map(|present| add(present).wrapping_sub(minimum_share))
        });
        let missing: SecretNumbers = Zeroizing::new(missing.collect());
        let bits = bits_of(minimum.max((host + join) as u64));
        let both = self.not_negative(&missing, bits)?;
        let enough_of_host: SecretNumbers =
            Zeroizing::new(both.iter().step_by(2).copied().collect());
        let enough_of_join: SecretNumbers =
            Zeroizing::new(both.iter().skip(1).step_by(2).copied().collect());
        Ok(self
            .session
            .and(&enough_of_host, &enough_of_join, 1, self.channel)?)
    }

    /// Hides the counts of bins with too few participants.
    fn without_small(
        &mut self,
        counts: &[u64],
        enough: &[u64],
        total: u64,
    ) -> Result<HistogramShares, ProtocolError> {
        let bins = counts.len();
        let one = u64::from(self.role == Role::Host);
        // Whether all counts are large enough.
        let mut all = enough[0];
        for bit in &enough[1..] {
            all = self.session.and(&[all], &[*bit], 1, self.channel)?[0];
        }
        let smallest = self.smallest_of(counts, enough, total, bits_of(total))?;
        let any = all ^ one;
        let hidden_too = self
            .session
            .and(&repeated(any, bins), &smallest, 1, self.channel)?;
        let shown = enough.iter().zip(hidden_too.iter());
        // The smallest count is itself large enough, so this clears its bit.
        let shown: SecretNumbers =
            Zeroizing::new(shown.map(|(enough, hidden)| enough ^ hidden).collect());
        let visible = self.session.select(&shown, counts, self.channel)?;
        Ok(HistogramShares {
            shown: self.session.additive_from_xor(&shown, 1, self.channel)?,
            counts: visible,
        })
    }

    /// A bit for each bin: whether its count is the smallest that is large enough (the first one, on ties). All bits are 0 if there is
    /// none.
    fn smallest_of(
        &mut self,
        counts: &[u64],
        enough: &[u64],
        total: u64,
        bits: usize,
    ) -> Result<SecretNumbers, ProtocolError> {
        let bins = counts.len();
        let one = u64::from(self.role == Role::Host);
        // Counts that are not large enough are replaced by a number above all others.
        let beyond = self.public(total.saturating_add(1).cast_signed());
        let not_enough: SecretNumbers =
            Zeroizing::new(enough.iter().map(|bit| bit ^ one).collect());
        let more = counts.iter().map(|count| beyond.wrapping_sub(*count));
        let more: SecretNumbers = Zeroizing::new(more.collect());
        let raised = self.session.select(&not_enough, &more, self.channel)?;
        let keys = counts.iter().zip(raised.iter());
        let keys: SecretNumbers = Zeroizing::new(keys.map(|(a, b)| a.wrapping_add(*b)).collect());
        let mut best = keys[0];
        let mut is_smallest = Zeroizing::new(vec![0u64; bins]);
        is_smallest[0] = one;
        let minus_one = self.public(-1);
        for bin in 1..bins {
            // Ties keep the earlier bin.
            let difference = best.wrapping_sub(keys[bin]).wrapping_add(minus_one);
            let wins = self.not_negative(&[difference], bits + 1)?[0];
            let change = keys[bin].wrapping_sub(best);
            best = best.wrapping_add(self.session.select(&[wins], &[change], self.channel)?[0]);
            let mut changed: SecretNumbers = Zeroizing::new(is_smallest.to_vec());
            changed[bin] ^= one;
            let changed = self
                .session
                .and(&repeated(wins, bins), &changed, 1, self.channel)?;
            for (bit, change) in is_smallest.iter_mut().zip(changed.iter()) {
                *bit ^= change;
            }
        }
        // If no count is large enough, there is none to hide.
        Ok(self.session.and(&is_smallest, enough, 1, self.channel)?)
    }
}

impl PairParticipants {
    /// For each pair, the participant of each side.
    pub(crate) fn of(pairs: impl Iterator<Item = [usize; 2]>) -> Self {
        let mut numbers = [HashMap::new(), HashMap::new()];
        let mut by_pair = [Vec::new(), Vec::new()];
        for pair in pairs {
            for ((numbers, by_pair), participant) in numbers.iter_mut().zip(&mut by_pair).zip(pair)
            {
                let next = numbers.len();
                by_pair.push(*numbers.entry(participant).or_insert(next));
            }
        }
        let counts = numbers.map(|numbers| numbers.len());
        Self { by_pair, counts }
    }

    /// From one share per pair, the sum of all shares, and the sum for each participant of the host and of the joining side.
    fn sums(&self, shares: &[u64]) -> SecretNumbers {
        let [host, join] = self.counts;
        let mut sums = Zeroizing::new(vec![0u64; 1 + host + join]);
        for (pair, share) in shares.iter().enumerate() {
            let indices = [
                0,
                1 + self.by_pair[0][pair],
                1 + host + self.by_pair[1][pair],
            ];
            for index in indices {
                sums[index] = sums[index].wrapping_add(*share);
            }
        }
        sums
    }
}

impl BinCounts {
    fn push(&mut self, mut counts: impl Iterator<Item = u64>) {
        self.all.extend(counts.next());
        self.per_participant.extend(counts);
    }
}

/// Copies of a share. `vec![share; count]` would branch on whether it is zero.
fn repeated(share: u64, count: usize) -> SecretNumbers {
    Zeroizing::new(std::iter::repeat_n(share, count).collect())
}

/// Bits of the difference between two numbers up to this one, with a sign.
fn bits_of(largest: u64) -> usize {
    (u64::BITS - largest.leading_zeros()) as usize + 1
}
