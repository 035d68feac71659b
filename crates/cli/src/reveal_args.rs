//! The arguments about what a comparison reveals.

use clap::Args;
use veilpath::{MAX_PADDING, Reveal};

/// The arguments about what a comparison reveals.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct RevealArgs {
    /// What to reveal about each pair: score, or threshold:T for one bit, which says whether the score is at most T (for
    /// similarities: at least T)
    #[arg(long, value_name = "WHAT", default_value = "score")]
    pub(crate) reveal: Reveal,

    /// Hide the lengths: every scanpath looks L letters long to the other side; both sides must give the same L
    #[arg(long, value_name = "L", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PADDING)))]
    pub(crate) pad_to: Option<u32>,
}
