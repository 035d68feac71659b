//! How much comes out, and how much shows on the way.

use crate::failure::Failure;
use clap::Args;
use std::path::Path;
use veilpath_metrics::Cohort;
use veilpath_protocol::{MAX_PADDING, Reveal, Spec};

/// The arguments about what a comparison tells.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct RevealArgs {
    /// What to tell of each pair: score, or threshold:T for one bit, whether the score is at most T (for similarities:
    /// at least T)
    #[arg(long, value_name = "WHAT", default_value = "score")]
    reveal: Reveal,

    /// Make every scanpath look L letters long to the other side, so that lengths stay hidden; both sides name the same L
    #[arg(long, value_name = "L", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PADDING)))]
    pad_to: Option<u32>,
}

impl RevealArgs {
    /// Puts the wishes into a plan, where its engine and metric can fulfil them.
    pub(crate) fn apply(&self, spec: &mut Spec) -> Result<(), Failure> {
        spec.reveal = self.reveal;
        spec.pad_to = self.pad_to;
        Ok(spec.check()?)
    }

    /// Whether all scanpaths of a file are short enough to be padded.
    pub(crate) fn check_lengths(&self, cohort: &Cohort, path: &Path) -> Result<(), Failure> {
        let Some(most) = self.pad_to else {
            return Ok(());
        };
        let too_long = |length: usize| length as u64 > u64::from(most);
        let lengths = cohort.entries.iter().map(|entry| entry.scanpath.len());
        let count = lengths.clone().filter(|&length| too_long(length)).count();
        let first = cohort
            .entries
            .iter()
            .find(|entry| too_long(entry.scanpath.len()));
        let (Some(entry), Some(longest)) = (first, lengths.max()) else {
            return Ok(());
        };
        Err(Failure::input(format!(
            "{}: {count} of {} scanpaths have more letters than the {most} of --pad-to; the first is of participant {}\n  \
             the longest has {longest}: agree with the other side on a larger --pad-to, or leave those rows out",
            path.display(),
            cohort.entries.len(),
            entry.participant
        )))
    }
}
