//! What two sides have agreed on, for their users to see before the work begins.

use super::AgreedSession;
use veilpath_protocol::{Estimate, PairRule, Reveal, RevealTo};

/// What is left to do, for the user.
#[derive(Clone, Debug, PartialEq)]
pub struct AgreementSummary {
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
    pub unpaired: [usize; 2],
    /// One side names its stimuli and the other does not, so that all meet all.
    pub stimuli_on_one_side: bool,
    /// One side's file says how its scanpaths were encoded and the other's does not, so that nobody can tell whether they go together.
    pub encoding_on_one_side: bool,
    /// What will come out for each pair, in words.
    pub answer_description: String,
    /// What will come out for each pair.
    pub reveal: Reveal,
    /// Who will have it.
    pub reveal_to: RevealTo,
    /// How long every scanpath looks to the other side, where lengths are hidden.
    pub pad_to: Option<u32>,
    /// Who wants no more than this.
    pub estimate_only: Option<Requested>,
}

/// Whose wish it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requested {
    /// This side's.
    Ours,
    /// The other side's.
    Theirs,
}

impl AgreedSession {
    /// What is left to do.
    pub fn summary(&self) -> AgreementSummary {
        let spec = &self.proposal.spec;
        let work = self
            .remaining
            .work(&self.pairs, &self.host, &self.join, spec);
        AgreementSummary {
            host_scanpaths: self.host.len(),
            join_scanpaths: self.join.len(),
            pairs: self.pairs.len(),
            from_journal: self.pairs.len() - self.remaining.pairs().len(),
            cells: work.cells,
            estimate: spec.estimate(&work),
            unpaired: [
                unpaired(self.host.len(), self.pairs.iter().map(|&(i, _)| i)),
                unpaired(self.join.len(), self.pairs.iter().map(|&(_, j)| j)),
            ],
            stimuli_on_one_side: spec.pairs == PairRule::SameStimulus
                && self.host.has_stimuli() != self.join.has_stimuli(),
            encoding_on_one_side: self.encoding_on_one_side,
            answer_description: spec.reveal.in_words(&spec.metric),
            reveal: spec.reveal,
            reveal_to: spec.reveal_to,
            pad_to: spec.pad_to,
            estimate_only: match (self.proposal.estimate_only, self.peer_estimates_only) {
                (true, _) => Some(Requested::Ours),
                (false, true) => Some(Requested::Theirs),
                (false, false) => None,
            },
        }
    }
}

/// How many of so many are not among these.
fn unpaired(count: usize, paired: impl Iterator<Item = usize>) -> usize {
    let mut alone = vec![true; count];
    for index in paired {
        if let Some(alone) = alone.get_mut(index) {
            *alone = false;
        }
    }
    alone.into_iter().filter(|alone| *alone).count()
}
