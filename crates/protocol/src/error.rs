//! What can go wrong between two roles, sorted by whose fault it is.

use crate::ChannelError;
use veilpath_metrics::MetricError;

/// A comparison that did not come to its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProtocolError {
    /// The other side sent something that the protocol does not allow.
    #[error("the other side broke the protocol: {0}")]
    PeerMisbehaved(&'static str),
    /// The line between the two sides failed.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The metric does not make sense for the alphabet, or for a pair.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// The caller asked for something impossible.
    #[error("the job is wrong: {0}")]
    Job(&'static str),
}
