//! What can be computed, as the user phrases it.

use std::fmt;
use std::str::FromStr;

/// A question about groups of participants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The mean over all pairs and for each stimulus.
    Mean,
    /// The mean between every two groups.
    Groups,
    /// Whether two sites differ.
    TestSites,
    /// Whether groups differ.
    TestGroups,
    /// For each scanpath, the most frequent group among its nearest scanpaths.
    Nearest {
        /// The number of nearest scanpaths that vote.
        k: u32,
    },
    /// How often the most frequent group among the nearest scanpaths is the scanpath's own.
    NearestRate {
        /// The number of nearest scanpaths that vote.
        k: u32,
    },
    /// The distribution of the pairs.
    Histogram {
        /// The number of equal bins.
        bins: u32,
    },
}

/// Text that is not a question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected mean, groups, test:sites, test:groups, nearest:K, nearest:K,rate or histogram:BINS"
)]
pub struct UnknownQuestion;

impl Question {
    /// The default number of nearest scanpaths that vote.
    pub const DEFAULT_K: u32 = 5;

    /// The most bins of a histogram.
    pub const MAX_BINS: u32 = 1000;
}

impl FromStr for Question {
    type Err = UnknownQuestion;

    fn from_str(text: &str) -> Result<Self, UnknownQuestion> {
        let number = |text: &str, max: u32| match text.parse() {
            Ok(number) if (1..=max).contains(&number) => Ok(number),
            _ => Err(UnknownQuestion),
        };
        Ok(match text.split_once(':') {
            None if text == "mean" => Question::Mean,
            None if text == "groups" => Question::Groups,
            Some(("test", "sites")) => Question::TestSites,
            Some(("test", "groups")) => Question::TestGroups,
            Some(("nearest", rest)) => match rest.split_once(',') {
                None => Question::Nearest {
                    k: number(rest, u32::MAX)?,
                },
                Some((k, "rate")) => Question::NearestRate {
                    k: number(k, u32::MAX)?,
                },
                Some(_) => return Err(UnknownQuestion),
            },
            Some(("histogram", bins)) => Question::Histogram {
                bins: number(bins, Self::MAX_BINS)?,
            },
            _ => return Err(UnknownQuestion),
        })
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Mean => f.write_str("mean"),
            Question::Groups => f.write_str("groups"),
            Question::TestSites => f.write_str("test:sites"),
            Question::TestGroups => f.write_str("test:groups"),
            Question::Nearest { k } => write!(f, "nearest:{k}"),
            Question::NearestRate { k } => write!(f, "nearest:{k},rate"),
            Question::Histogram { bins } => write!(f, "histogram:{bins}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read_as_they_are_written() {
        for text in [
            "mean",
            "groups",
            "test:sites",
            "test:groups",
            "nearest:7",
            "nearest:7,rate",
            "histogram:20",
        ] {
            let question: Question = text.parse().unwrap();
            assert_eq!(question.to_string(), text);
        }
        for text in [
            "",
            "means",
            "test",
            "test:",
            "nearest",
            "nearest:0",
            "nearest:3,label",
            "histogram:1001",
        ] {
            assert!(text.parse::<Question>().is_err(), "{text}");
        }
    }
}
