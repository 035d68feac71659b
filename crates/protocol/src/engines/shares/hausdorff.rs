//! The Hausdorff distance, without a matrix.
//!
//! The two scanpaths are sets of letters. For each letter of the alphabet, a side knows whether it has the letter, and how far away
//! its own nearest letter is. The distance is the maximum, over the alphabet, of one side's number for a letter that the other side
//! has. If both have the letter, both numbers are 0. Neither the lengths nor the order of letters matter.

use super::StageRun;
use super::own_letters::{LetterDistances, OwnTable};
use crate::engines::alignment::answers::threshold_test;
use crate::engines::alignment::entries::Inputs;
use crate::{ProtocolError, Reveal, Role};
use std::collections::BTreeMap;
use std::ops::Range;
use veilpath_channel::Channel;
use veilpath_mpc::circuit::numbers::bits_for;
use veilpath_mpc::shares::{ChosenNumbers, Outputs, SharesSession};

impl StageRun<'_> {
    /// Computes this side's halves of the outputs of some pairs. Distance ranks are at most `largest`.
    pub(super) fn hausdorff(
        &self,
        pairs: &[usize],
        largest: u64,
        session: &mut SharesSession,
        channel: &mut dyn Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<Vec<u64>, ProtocolError> {
        let Self { job, scoring, .. } = *self;
        let inputs = Inputs::new(scoring, job.comparison.model(), self.on_shares.circuit);
        let table = OwnTable::new(scoring, &inputs, job.role);
        let mut own: BTreeMap<usize, LetterDistances> = BTreeMap::new();
        for pair in pairs {
            let scanpath = self.own_scanpath(*pair);
            own.entry(scanpath)
                .or_insert_with(|| table.letter_distances(&self.own_letters(scanpath), largest));
        }
        let mut comparisons = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let own = own
                .get(&self.own_scanpath(*pair))
                .ok_or(ProtocolError::Internal("a scanpath was left out"))?;
            let lengths = self.schedule.lengths(job, *pair);
            comparisons.push(ChosenNumbers {
                bits: &own.present,
                numbers: &own.distances,
                at_least: match job.reveal {
                    Reveal::Score | Reveal::Group(_) => 0,
                    Reveal::Threshold(threshold) => {
                        threshold_test(scoring, job, lengths, threshold)?.at_least
                    }
                },
            });
        }
        let outputs = match job.reveal {
            Reveal::Score | Reveal::Group(_) => Outputs::Numbers,
            Reveal::Threshold(_) => Outputs::AtLeast,
        };
        let on_done = |range: Range<usize>| {
            let cells = pairs[range].iter().map(|pair| {
                let (rows, columns) = self.schedule.lengths(job, *pair);
                rows as usize * columns as usize
            });
            on_cells(cells.sum());
        };
        let width = bits_for(largest);
        Ok(session.largest_chosen(&comparisons, width, outputs, channel, &on_done)?)
    }

    /// This side's scanpath of a pair.
    pub(super) fn own_scanpath(&self, pair: usize) -> usize {
        let (host, join) = self.job.pairs[pair];
        match self.job.role {
            Role::Host => host,
            Role::Join => join,
        }
    }
}
