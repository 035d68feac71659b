//! Histograms whose small counts are hidden before anything is opened.

use super::{Numbers, OnShares, at_once};
use crate::{ProtocolError, Role};
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// What a histogram opens, as shares by addition, for each bin.
pub(crate) struct HistogramShares {
    /// 1 if the count is shown.
    pub(crate) shown: Numbers,
    /// The count, or 0.
    pub(crate) counts: Numbers,
}

impl<C: Channel> OnShares<'_, C> {
    /// How many values are in each bin. Values and edges lie between −2^`value_bits` and 2^`value_bits`. A value on an edge
    /// belongs to the bin above it, values beyond the outer edges to the outer bins. Counts below `minimum` are hidden. If there are
    /// any, the smallest other count is hidden too, because all counts add up to a known total.
    pub(crate) fn histogram(
        &mut self,
        values: &[u64],
        edges: &[i64],
        value_bits: usize,
        minimum: u64,
    ) -> Result<HistogramShares, ProtocolError> {
        let inner = edges.get(1..edges.len().saturating_sub(1)).unwrap_or(&[]);
        let total = self.public(i64::try_from(values.len()).unwrap_or(i64::MAX));
        let shares: Vec<u64> = inner.iter().map(|edge| self.public(*edge)).collect();
        let mut counts = Zeroizing::new(Vec::with_capacity(inner.len() + 1));
        let mut above = total;
        for shares in shares.chunks(at_once(values.len())) {
            let differences = shares
                .iter()
                .flat_map(|edge| values.iter().map(move |value| value.wrapping_sub(*edge)));
            let differences: Numbers = Zeroizing::new(differences.collect());
            let reached = self.count_not_negative(&differences, value_bits + 1)?;
            for reached in reached.chunks(values.len().max(1)) {
                let reached = reached.iter().fold(0, |sum: u64, x| sum.wrapping_add(*x));
                counts.push(above.wrapping_sub(reached));
                above = reached;
            }
        }
        counts.push(above);
        self.without_small(counts, values.len() as u64, minimum)
    }

    fn without_small(
        &mut self,
        counts: Numbers,
        total: u64,
        minimum: u64,
    ) -> Result<HistogramShares, ProtocolError> {
        let bins = counts.len();
        let bits = (u64::BITS - total.max(minimum).leading_zeros()) as usize + 1;
        let least = self.public(minimum.cast_signed());
        let differences = counts.iter().map(|count| count.wrapping_sub(least));
        let differences: Numbers = Zeroizing::new(differences.collect());
        let enough = self
            .session
            .not_negative(&differences, bits, self.channel)?;
        let one = u64::from(self.role == Role::Host);
        // Whether all counts are large enough.
        let mut all = enough[0];
        for bit in &enough[1..] {
            all = self.session.and(&[all], &[*bit], 1, self.channel)?[0];
        }
        let smallest = self.smallest_of(&counts, &enough, total, bits)?;
        let any = all ^ one;
        let hidden_too = self
            .session
            .and(&vec![any; bins], &smallest, 1, self.channel)?;
        let shown = enough.iter().zip(hidden_too.iter());
        // The smallest is large enough itself, so this clears its bit.
        let shown: Numbers =
            Zeroizing::new(shown.map(|(enough, hidden)| enough ^ hidden).collect());
        let visible = self.session.select(&shown, &counts, self.channel)?;
        Ok(HistogramShares {
            shown: self.session.numbers_from_halves(&shown, 1, self.channel)?,
            counts: visible,
        })
    }

    /// A bit for each bin: whether its count is the smallest that is large enough (the first of these, on ties). All are 0 if none is.
    fn smallest_of(
        &mut self,
        counts: &[u64],
        enough: &[u64],
        total: u64,
        bits: usize,
    ) -> Result<Numbers, ProtocolError> {
        let bins = counts.len();
        let one = u64::from(self.role == Role::Host);
        // Counts that are not large enough are replaced by one above all others.
        let beyond = self.public(total.saturating_add(1).cast_signed());
        let not_enough: Numbers = Zeroizing::new(enough.iter().map(|bit| bit ^ one).collect());
        let more = counts.iter().map(|count| beyond.wrapping_sub(*count));
        let more: Numbers = Zeroizing::new(more.collect());
        let raised = self.session.select(&not_enough, &more, self.channel)?;
        let keys = counts.iter().zip(raised.iter());
        let keys: Numbers = Zeroizing::new(keys.map(|(a, b)| a.wrapping_add(*b)).collect());
        let mut best = keys[0];
        let mut places = Zeroizing::new(vec![0u64; bins]);
        places[0] = one;
        let minus_one = self.public(-1);
        for bin in 1..bins {
            // Ties keep the earlier bin.
            let difference = best.wrapping_sub(keys[bin]).wrapping_add(minus_one);
            let wins = self
                .session
                .not_negative(&[difference], bits + 1, self.channel)?[0];
            let change = keys[bin].wrapping_sub(best);
            best = best.wrapping_add(self.session.select(&[wins], &[change], self.channel)?[0]);
            let mut changed: Numbers = Zeroizing::new(places.to_vec());
            changed[bin] ^= one;
            let changed = self
                .session
                .and(&vec![wins; bins], &changed, 1, self.channel)?;
            for (place, change) in places.iter_mut().zip(changed.iter()) {
                *place ^= change;
            }
        }
        // If no count is large enough, there is none to hide.
        Ok(self.session.and(&places, enough, 1, self.channel)?)
    }
}
