//! What two sides have agreed on, for their users to see before the work begins.

use super::Agreed;
use veilpath_protocol::{Estimate, PairRule, Reveal, RevealTo};

/// What is left to do, for the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Scanpaths of the host.
    pub host_scanpaths: usize,
    /// Scanpaths of the joining side.
    pub join_scanpaths: usize,
    /// Pairs in all.
    pub pairs: usize,
    /// Pairs that both sides have from an earlier, interrupted session.
    pub from_journal: usize,
    /// Matrix cells of the pairs that are left.
    pub cells: u64,
    /// What they will cost.
    pub estimate: Estimate,
    /// Scanpaths of the host and of the joining side that are in no pair.
    pub without_partner: [usize; 2],
    /// One side names its stimuli and the other does not, so that all meet all.
    pub stimuli_of_one_side: bool,
    /// One side's file says how its scanpaths were encoded and the other's does not, so that nobody can tell whether they go together.
    pub encoding_of_one_side: bool,
    /// What will come out for each pair, in words.
    pub tells: String,
    /// What will come out for each pair.
    pub reveal: Reveal,
    /// Who will have it.
    pub reveal_to: RevealTo,
    /// How long every scanpath looks to the other side, where lengths are hidden.
    pub pad_to: Option<u32>,
    /// Who wants no more than this.
    pub only_estimate: Option<Wish>,
}

/// Whose wish it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// This side's.
    Ours,
    /// The other side's.
    Theirs,
}

impl Agreed {
    /// What is left to do.
    pub fn summary(&self) -> Summary {
        let spec = &self.plan.spec;
        let work = self
            .remaining
            .work(&self.pairs, &self.host, &self.join, spec);
        Summary {
            host_scanpaths: self.host.len(),
            join_scanpaths: self.join.len(),
            pairs: self.pairs.len(),
            from_journal: self.pairs.len() - self.remaining.pairs().len(),
            cells: work.cells,
            estimate: spec.estimate(&work),
            without_partner: [
                without_partner(self.host.len(), self.pairs.iter().map(|&(i, _)| i)),
                without_partner(self.join.len(), self.pairs.iter().map(|&(_, j)| j)),
            ],
            stimuli_of_one_side: spec.pairs == PairRule::SameStimulus
                && self.host.has_stimuli() != self.join.has_stimuli(),
            encoding_of_one_side: self.encoding_of_one_side,
            tells: spec.reveal.in_words(&spec.metric),
            reveal: spec.reveal,
            reveal_to: spec.reveal_to,
            pad_to: spec.pad_to,
            only_estimate: match (self.plan.estimate_only, self.theirs_estimates) {
                (true, _) => Some(Wish::Ours),
                (false, true) => Some(Wish::Theirs),
                (false, false) => None,
            },
        }
    }
}

/// How many of so many are not among these.
fn without_partner(count: usize, paired: impl Iterator<Item = usize>) -> usize {
    let mut alone = vec![true; count];
    for index in paired {
        if let Some(alone) = alone.get_mut(index) {
            *alone = false;
        }
    }
    alone.into_iter().filter(|alone| *alone).count()
}
