//! The arguments about what a comparison reveals.

use clap::Args;
use veilpath::{MAX_PADDING, Reveal};

/// The arguments about what a comparison reveals.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct RevealArgs {
    /// What to reveal about each pair:
    ///   score           the score
    ///   threshold:T     yes or no (`within`): is a similarity at least T,
    ///                   a distance at most T?
    /// or, instead of results of pairs, one answer about many pairs:
    ///   mean            the mean of each stimulus
    ///   mean:overall    one mean
    ///   groups          the mean of each pair of groups
    ///   test:groups     are participants of the same group more alike?
    ///   test:sites      are participants of the same institution more alike?
    ///   nearest:K       for each scanpath of the host (or first cohort),
    ///                   the most common group among the K most
    ///                   similar of the other side
    ///   nearest:K,rate  only how often that is its own group
    ///   histogram:BINS  how many pairs are in each of BINS ranges
    /// test:groups,N and test:sites,N use N permutations instead of 1000.
    /// groups, test:groups and nearest need a column `group` in the cohorts.
    /// groups,published, test:groups,published and
    /// test:groups,N,published also tell each side which participant of the
    /// other is in which group
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "score",
        verbatim_doc_comment
    )]
    pub(crate) reveal: Reveal,

    /// Hide the lengths: every scanpath looks L letters long to the partner; both sides must give the same L
    #[arg(long, value_name = "L", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PADDING)))]
    pub(crate) pad_to: Option<u32>,
}
