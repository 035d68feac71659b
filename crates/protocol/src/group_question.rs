//! Questions about groups of participants, and how users write them.

use crate::Spec;
use crate::units::counted;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use veilpath_metrics::Metric;

/// A question about groups of participants instead of single pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupQuestion {
    /// The mean over all pairs, for each stimulus or for all stimuli.
    Mean {
        /// Whether there is one mean for all stimuli.
        overall: bool,
    },
    /// The mean of each group of one side with each group of the other.
    Groups {
        /// Whether both sides publish who belongs to which group.
        published: bool,
    },
    /// Whether participants of the same site are more similar than participants of different sites.
    TestSites {
        /// The number of permutations.
        permutations: u32,
    },
    /// Whether participants of the same group are more similar than participants of different
    /// groups.
    TestGroups {
        /// The number of permutations.
        permutations: u32,
        /// Whether both sides publish who belongs to which group.
        published: bool,
    },
    /// For each scanpath of the host, the majority group of its nearest scanpaths of the joining side.
    Nearest {
        /// How many of the nearest scanpaths vote.
        k: u32,
        /// Whether only the rate is revealed: how often the majority is the scanpath's own group.
        rate_only: bool,
    },
    /// How many pairs have a value in each of several ranges.
    Histogram {
        /// The number of equal bins.
        bins: u32,
    },
}

/// Why a text is not a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// The text has none of the known forms.
    #[error(
        "expected mean, mean:overall, groups, test:sites, test:groups, nearest:K, nearest:K,rate or histogram:BINS; tests also with a number of permutations, as in test:groups,1000; groups and test:groups also with ,published"
    )]
    UnknownForm,
    /// There is no such test.
    #[error("expected test:sites or test:groups")]
    Test,
    /// The number of permutations is out of range.
    #[error("expected a number of permutations from 1 to {limit}, as in test:groups,1000")]
    Permutations {
        /// The largest number.
        limit: u32,
    },
    /// The number of nearest scanpaths is out of range.
    #[error("expected a number from 1 to {limit}, as in nearest:5 or nearest:5,rate")]
    Nearest {
        /// The largest number.
        limit: u32,
    },
    /// The number of bins is out of range.
    #[error("expected a number of bins from 1 to {limit}, as in histogram:20")]
    Bins {
        /// The largest number.
        limit: u32,
    },
    /// The answer has no groups to publish.
    #[error("only groups and test:groups have groups to publish")]
    NothingToPublish,
}

/// The suffix of a question whose groups are published.
const PUBLISHED: &str = ",published";

impl GroupQuestion {
    /// The default number of permutations.
    pub const DEFAULT_PERMUTATIONS: u32 = 1000;

    /// The largest number of permutations.
    pub const MAX_PERMUTATIONS: u32 = 100_000;

    /// The largest number of bins.
    pub const MAX_BINS: u32 = 1000;

    /// The largest number of nearest scanpaths that vote.
    pub const MAX_K: u32 = 1000;

    /// Whether it needs the groups of participants.
    pub fn needs_groups(self) -> bool {
        self.sides_with_groups() != [false; 2]
    }

    /// Whether it needs the host's groups, and whether it needs the joining side's.
    pub fn sides_with_groups(self) -> [bool; 2] {
        match self {
            Self::Groups { .. } | Self::TestGroups { .. } => [true; 2],
            Self::Nearest { rate_only, .. } => [rate_only, true],
            Self::Mean { .. } | Self::TestSites { .. } | Self::Histogram { .. } => [false; 2],
        }
    }

    /// Whether each side tells the other who belongs to which group.
    pub fn publishes_groups(self) -> bool {
        matches!(
            self,
            Self::Groups { published: true }
                | Self::TestGroups {
                    published: true,
                    ..
                }
        )
    }

    /// Whether both sides know the coefficients of all its sums: labels are sites, are published, or do not exist.
    pub fn has_public_coefficients(self) -> bool {
        match self {
            Self::Mean { .. } | Self::TestSites { .. } => true,
            Self::Groups { published } | Self::TestGroups { published, .. } => published,
            Self::Nearest { .. } | Self::Histogram { .. } => false,
        }
    }

    /// Whether the answer names single scanpaths of the host.
    pub fn names_scanpaths(self) -> bool {
        matches!(
            self,
            Self::Nearest {
                rate_only: false,
                ..
            }
        )
    }

    /// Whether it compares participants: the score of two participants is the mean over their pairs of scanpaths.
    pub(crate) fn scores_participants(self) -> bool {
        matches!(
            self,
            Self::Groups { .. } | Self::TestSites { .. } | Self::TestGroups { .. }
        )
    }

    /// Whether it compares values, so that larger values must mean more similar.
    pub(crate) fn orders_pairs(self) -> bool {
        matches!(
            self,
            Self::TestSites { .. } | Self::TestGroups { .. } | Self::Nearest { .. }
        )
    }

    /// The number of permutations of a test.
    pub fn permutations(self) -> Option<u32> {
        match self {
            Self::TestSites { permutations } | Self::TestGroups { permutations, .. } => {
                Some(permutations)
            }
            _ => None,
        }
    }

    /// What else each side tells the other about its participants, in words; `None` if nothing is published.
    pub fn describe_published(self) -> Option<&'static str> {
        self.publishes_groups()
            .then_some("each side tells the other who belongs to which group")
    }

    /// How the numbers of a plan's answer are rounded before they are revealed, in words; `None` if they are not.
    pub fn rounding(self, spec: &Spec) -> Option<&'static str> {
        let is_from_0_to_1 = match spec.metric {
            Metric::ScanMatch { .. } | Metric::SequenceScore => true,
            // With hidden lengths, means are of scores.
            _ => spec.metric.is_alignment() && spec.pad_to.is_none(),
        };
        match (self, is_from_0_to_1) {
            (Self::Mean { .. } | Self::Groups { .. }, true) => {
                Some("means are rounded to about 0.0001 before they are revealed")
            }
            (Self::Mean { .. } | Self::Groups { .. }, false) => Some(
                "means are rounded to about 0.01 % of the largest possible value before they are revealed",
            ),
            (Self::TestSites { .. } | Self::TestGroups { .. }, true) => Some(
                "the difference is rounded to about 0.0001 before it is revealed; p is not affected",
            ),
            (Self::TestSites { .. } | Self::TestGroups { .. }, false) => Some(
                "the difference is rounded to about 0.01 % of the largest possible value before it is revealed; p is not affected",
            ),
            (Self::Nearest { .. } | Self::Histogram { .. }, _) => None,
        }
    }

    /// What the answer reveals, in words. `first` is what to call the host or the first cohort.
    pub fn describe(self, first: &str) -> String {
        match self {
            Self::Mean { overall: false } => "one mean for each stimulus".into(),
            Self::Mean { overall: true } => "one mean over all pairs".into(),
            Self::Groups { .. } => {
                "one mean for each pair of groups and the sizes of the groups".into()
            }
            Self::TestSites { permutations } | Self::TestGroups { permutations, .. } => {
                let permutations = counted(permutations.into(), "permutation");
                format!("one statistic and its p-value from {permutations}")
            }
            Self::Nearest {
                k,
                rate_only: false,
            } => {
                format!("for each scanpath of {first}, the majority group of its {k} nearest")
            }
            Self::Nearest { k, rate_only: true } => {
                format!(
                    "how many scanpaths of {first} are in the majority group of their {k} nearest"
                )
            }
            Self::Histogram { bins } => {
                format!(
                    "how many pairs are in each of {bins} ranges, except ranges with fewer participants than the minimum, if one is set"
                )
            }
        }
    }
}

impl FromStr for GroupQuestion {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, QuestionError> {
        let number = |text: &str, limit: u32| {
            let number: Option<u32> = text.parse().ok();
            number.filter(|number| (1..=limit).contains(number))
        };
        let permutations = |rest: Option<&str>| {
            let limit = Self::MAX_PERMUTATIONS;
            let number = rest.map_or(Some(Self::DEFAULT_PERMUTATIONS), |text| number(text, limit));
            number.ok_or(QuestionError::Permutations { limit })
        };
        let wrong_k = QuestionError::Nearest { limit: Self::MAX_K };
        let wrong_bins = QuestionError::Bins {
            limit: Self::MAX_BINS,
        };
        let (text, published) = match text.strip_suffix(PUBLISHED) {
            Some(text) => (text, true),
            None => (text, false),
        };
        let (word, rest) = match text.split_once(':') {
            None => (text, None),
            Some((word, rest)) => (word, Some(rest)),
        };
        let (rest, option) = match rest.and_then(|rest| rest.split_once(',')) {
            None => (rest, None),
            Some((rest, option)) => (Some(rest), Some(option)),
        };
        let question = match (word, rest, option) {
            ("mean", None, None) => Self::Mean { overall: false },
            ("mean", Some("overall"), None) => Self::Mean { overall: true },
            ("groups", None, None) => Self::Groups { published },
            ("test", Some("sites"), option) => Self::TestSites {
                permutations: permutations(option)?,
            },
            ("test", Some("groups"), option) => Self::TestGroups {
                permutations: permutations(option)?,
                published,
            },
            ("nearest", Some(k), None | Some("rate")) => Self::Nearest {
                k: number(k, Self::MAX_K).ok_or(wrong_k)?,
                rate_only: option.is_some(),
            },
            ("histogram", Some(bins), None) => Self::Histogram {
                bins: number(bins, Self::MAX_BINS).ok_or(wrong_bins)?,
            },
            ("test", _, _) => return Err(QuestionError::Test),
            ("nearest", _, _) => return Err(wrong_k),
            ("histogram", _, _) => return Err(wrong_bins),
            _ => return Err(QuestionError::UnknownForm),
        };
        match question.publishes_groups() == published {
            true => Ok(question),
            false => Err(QuestionError::NothingToPublish),
        }
    }
}

impl fmt::Display for GroupQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Mean { overall: false } => f.write_str("mean"),
            Self::Mean { overall: true } => f.write_str("mean:overall"),
            Self::Groups { .. } => f.write_str("groups"),
            Self::Nearest {
                k,
                rate_only: false,
            } => write!(f, "nearest:{k}"),
            Self::Nearest { k, rate_only: true } => write!(f, "nearest:{k},rate"),
            Self::Histogram { bins } => write!(f, "histogram:{bins}"),
            Self::TestSites { .. } => f.write_str("test:sites"),
            Self::TestGroups { .. } => f.write_str("test:groups"),
        }?;
        match self.permutations() {
            None | Some(Self::DEFAULT_PERMUTATIONS) => {}
            Some(permutations) => write!(f, ",{permutations}")?,
        }
        match self.publishes_groups() {
            true => f.write_str(PUBLISHED),
            false => Ok(()),
        }
    }
}

impl Serialize for GroupQuestion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GroupQuestion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_described_for_the_metric_of_the_plan() {
        let spec = |metric| Spec {
            engine: crate::Engine::Garbled,
            metric,
            alphabet: veilpath_metrics::Alphabet::letters(49).unwrap(),
            encoding: std::collections::BTreeMap::new(),
            pair_rule: crate::PairRule::All,
            reveal: crate::Reveal::Score,
            reveal_to: crate::RevealTo::Both,
            pad_to: None,
        };
        let [mean, test, nearest]: [GroupQuestion; 3] =
            ["mean", "test:sites", "nearest:3"].map(|text| text.parse().unwrap());
        let similarity = spec(Metric::Levenshtein);
        assert_eq!(
            mean.rounding(&similarity),
            Some("means are rounded to about 0.0001 before they are revealed")
        );
        let score = spec(Metric::Hausdorff(veilpath_metrics::Hausdorff {
            positions: veilpath_metrics::Positions::Fixations,
        }));
        for (question, spec) in [(mean, &score), (test, &score)] {
            assert!(question.rounding(spec).unwrap().contains("0.01 %"));
        }
        assert!(test.rounding(&similarity).unwrap().contains("about 0.0001"));
        let padded = Spec {
            pad_to: Some(9),
            ..similarity
        };
        assert!(mean.rounding(&padded).unwrap().contains("0.01 %"));
        assert_eq!(nearest.rounding(&padded), None);
        let words = nearest.describe("Clinic");
        assert!(
            words.starts_with("for each scanpath of Clinic, "),
            "{words}"
        );
    }

    #[test]
    fn questions_are_read_as_they_are_written() {
        for text in [
            "mean",
            "mean:overall",
            "groups",
            "groups,published",
            "test:sites",
            "test:sites,20",
            "test:groups",
            "test:groups,9999",
            "test:groups,published",
            "test:groups,9999,published",
            "nearest:7",
            "nearest:7,rate",
            "histogram:20",
        ] {
            let question: GroupQuestion = text.parse().unwrap();
            assert_eq!(question.to_string(), text);
        }
        for text in [
            "",
            "means",
            "mean:",
            "groups:2",
            "test",
            "test:",
            "test:groups,0",
            "nearest",
            "nearest:0",
            "nearest:3,label",
            "histogram:1001",
            "histogram:3,4",
            "mean,published",
            "test:sites,published",
            "nearest:7,published",
            "nearest:7,rate,published",
            "histogram:3,published",
            "groups,published,published",
            "test:groups,published,9999",
        ] {
            assert!(text.parse::<GroupQuestion>().is_err(), "{text}");
        }
    }
}
