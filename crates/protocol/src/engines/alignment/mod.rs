//! Shared by the engines that compute whole alignments: the recurrence of each metric, its inputs and outputs, and how an output
//! becomes an answer.

pub(super) mod answers;
pub(super) mod circuit;
pub(super) mod entries;
pub(super) mod length_terms;
mod numbers;
pub(super) mod on_shares;
pub(crate) mod private_metric;
pub(super) mod timing;
