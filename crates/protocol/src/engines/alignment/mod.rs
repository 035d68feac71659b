//! What engines that compute whole alignments have in common: which recurrence a metric is, what its inputs and outputs are, and
//! how an output becomes an answer.

pub(super) mod circuit;
pub(super) mod entries;
pub(super) mod length_terms;
mod numbers;
pub(super) mod on_shares;
pub(super) mod results;
pub(crate) mod scoring;
pub(super) mod work;
