//! The arguments about what a comparison reveals.

use clap::Args;
use veilpath::{GroupQuestion, MAX_PADDING, Reveal};

/// The arguments about what a comparison reveals.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct RevealArgs {
    /// What to reveal about each pair:
    ///   score           the score
    ///   threshold:T     one bit: is it at most T? (similarities: at least T)
    /// or about groups of participants, and nothing about single pairs:
    ///   mean            the mean of each stimulus
    ///   mean:overall    one mean
    ///   groups          the mean of each pair of groups
    ///   test:groups     are participants of the same group more alike?
    ///   test:sites      are participants of the same site more alike?
    ///   nearest:K       for each host scanpath, the most common group of its K nearest
    ///   nearest:K,rate  only how often that is its own group
    ///   histogram:BINS  how many pairs are in each of BINS ranges
    /// test:groups,N and test:sites,N use N permutations instead of 1000.
    /// groups, test:groups and nearest need a column `group` in the cohorts.
    /// groups,published and test:groups,published (or ,N,published) also tell
    /// each side which participant of the other belongs to which group
    #[arg(long, value_name = "WHAT", default_value = "score", value_parser = reveal, verbatim_doc_comment)]
    pub(crate) reveal: Reveal,

    /// Hide the lengths: every scanpath looks L letters long to the other side; both sides must give the same L
    #[arg(long, value_name = "L", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PADDING)))]
    pub(crate) pad_to: Option<u32>,
}

/// Parses what is revealed. If only the number is wrong, the message says which numbers are possible.
fn reveal(text: &str) -> Result<Reveal, String> {
    text.parse().map_err(|error| {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        match (word, rest.split(',').next().unwrap_or_default()) {
            ("test", "sites") if rest.ends_with(",published") => {
                "test:sites has no groups to publish".into()
            }
            ("test", "sites" | "groups") => format!(
                "expected a number of permutations from 1 to {}, as in test:groups,1000",
                GroupQuestion::MAX_PERMUTATIONS
            ),
            ("test", _) => "expected test:sites or test:groups".into(),
            ("nearest", _) => format!(
                "expected a number from 1 to {}, as in nearest:5 or nearest:5,rate",
                GroupQuestion::MAX_K
            ),
            ("histogram", _) => format!(
                "expected a number of bins from 1 to {}, as in histogram:20",
                GroupQuestion::MAX_BINS
            ),
            _ => error,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_list_the_possible_numbers() {
        for (text, expected) in [
            ("nearest", "nearest:5"),
            ("nearest:0,rate", "from 1 to"),
            ("histogram:9999", "from 1 to 1000"),
            ("test:groups,0", "permutations"),
            ("test", "test:sites"),
            ("threshold:near", "must be a number"),
            ("means", "mean:overall"),
        ] {
            let message = reveal(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
        assert!(reveal("test:groups,999").is_ok());
        assert!(reveal("test:groups,999,published").is_ok());
        assert!(
            reveal("test:sites,published")
                .unwrap_err()
                .contains("publish")
        );
    }
}
