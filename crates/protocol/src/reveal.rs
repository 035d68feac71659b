//! What is revealed: the score or one bit of each pair, or a group answer.

use crate::{GroupQuestion, QuestionError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use veilpath_metrics::{Metric, PairScore, Threshold};

/// What a comparison reveals: the score or one bit of each pair, or a group answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reveal {
    /// The score.
    #[default]
    Score,
    /// Whether the score is at most (for a similarity: at least) a threshold, and nothing else.
    Threshold(Threshold),
    /// Nothing about single pairs, but a group answer.
    Group(GroupQuestion),
}

/// Why a text cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevealError {
    /// The text has none of the known forms.
    #[error(
        "expected score, threshold:T, mean, mean:overall, groups, test:sites, test:groups, nearest:K, nearest:K,rate or histogram:BINS; tests also with a number of permutations, as in test:groups,1000; groups and test:groups also with ,published"
    )]
    UnknownForm,
    /// The threshold is not a finite number.
    #[error("the threshold must be a finite number, as in threshold:12 or threshold:0.75")]
    Threshold,
    /// An invalid question about groups.
    #[error(transparent)]
    Question(QuestionError),
}

/// The result of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The score, and a similarity if there is one.
    Score(PairScore),
    /// Whether the pair is at least as similar as the threshold requires.
    Within(bool),
}

impl Reveal {
    /// The part of a result that is revealed.
    pub fn answer(self, metric: &Metric, pair_score: PairScore) -> Answer {
        match self {
            Reveal::Score => Answer::Score(pair_score),
            Reveal::Threshold(threshold) => Answer::Within(threshold.admits(metric, &pair_score)),
            // Only the `plain` engine knows the score. The answer is computed from all pairs.
            Reveal::Group(_) => Answer::Score(pair_score),
        }
    }

    /// The question about groups, if there is one.
    pub fn group_question(self) -> Option<GroupQuestion> {
        match self {
            Reveal::Group(question) => Some(question),
            Reveal::Score | Reveal::Threshold(_) => None,
        }
    }

    /// Whether an answer is of the requested kind.
    pub fn is_answered_by(self, answer: &Answer) -> bool {
        matches!(
            (self, answer),
            (Reveal::Score, Answer::Score(_)) | (Reveal::Threshold(_), Answer::Within(_))
        )
    }

    /// What is learned, in words.
    pub fn describe(self, metric: &Metric) -> String {
        match self {
            Reveal::Score => format!("{} of every pair", named_measures(metric, "the score")),
            Reveal::Threshold(threshold) => format!(
                "a yes or no for every pair: whether {} is at {} {threshold}",
                named_measures(metric, "its score"),
                if metric.is_distance() {
                    "most"
                } else {
                    "least"
                }
            ),
            Reveal::Group(question) => {
                format!(
                    "{}, but nothing about single pairs",
                    question.describe("the host")
                )
            }
        }
    }
}

/// The names of a metric's measures, as in "rec, det and lam", or `score` if they are a score.
pub fn named_measures(metric: &Metric, score: &str) -> String {
    let measures = metric.measures();
    let names: Vec<&str> = measures.iter().map(|measure| measure.name).collect();
    match &names[..] {
        ["score", ..] | [] => score.into(),
        [one] => (*one).into(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

impl Answer {
    /// The numbers, if they were revealed.
    pub fn pair_score(&self) -> Option<PairScore> {
        match self {
            Answer::Score(pair_score) => Some(*pair_score),
            Answer::Within(_) => None,
        }
    }

    /// The bit, if only a bit was revealed.
    pub fn within(&self) -> Option<bool> {
        match self {
            Answer::Score(_) => None,
            Answer::Within(within) => Some(*within),
        }
    }
}

impl From<PairScore> for Answer {
    fn from(pair_score: PairScore) -> Self {
        Answer::Score(pair_score)
    }
}

/// As on the command line.
impl fmt::Display for Reveal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reveal::Score => f.write_str("score"),
            Reveal::Threshold(threshold) => write!(f, "threshold:{threshold}"),
            Reveal::Group(question) => question.fmt(f),
        }
    }
}

impl FromStr for Reveal {
    type Err = RevealError;

    fn from_str(text: &str) -> Result<Self, RevealError> {
        if text == "score" {
            return Ok(Reveal::Score);
        }
        let Some(number) = text.strip_prefix("threshold:") else {
            return match text.parse() {
                Ok(question) => Ok(Reveal::Group(question)),
                Err(QuestionError::UnknownForm) => Err(RevealError::UnknownForm),
                Err(error) => Err(RevealError::Question(error)),
            };
        };
        let number = number.parse().map_err(|_| RevealError::Threshold)?;
        let threshold = Threshold::new(number).map_err(|_| RevealError::Threshold)?;
        Ok(Reveal::Threshold(threshold))
    }
}

impl Serialize for Reveal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Reveal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_values_are_read_back() {
        for text in [
            "score",
            "threshold:3",
            "threshold:-0.25",
            "threshold:1.4142",
        ] {
            assert_eq!(text.parse::<Reveal>().unwrap().to_string(), text);
        }
        let parsed = |text: &str| text.parse::<Reveal>();
        assert_eq!(parsed("threshold:3.0"), parsed("threshold:3"));
        assert_eq!(parsed("threshold:-0"), parsed("threshold:0"));
        for bad in [
            "",
            "threshold",
            "threshold:",
            "threshold:x",
            "threshold:nan",
            "threshold:inf",
            "Score",
        ] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn errors_say_which_numbers_are_possible() {
        for (text, expected) in [
            ("nearest", "nearest:5"),
            ("nearest:0,rate", "from 1 to"),
            ("nearest:3,label", "nearest:5,rate"),
            ("histogram:9999", "from 1 to 1000"),
            ("test:groups,0", "permutations"),
            ("test", "test:sites"),
            ("test:sites,published", "only groups and test:groups"),
            ("mean,published", "only groups and test:groups"),
            ("threshold:near", "must be a finite number"),
            ("means", "mean:overall"),
        ] {
            let message = text.parse::<Reveal>().unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
        assert!("test:groups,999".parse::<Reveal>().is_ok());
        assert!("test:groups,999,published".parse::<Reveal>().is_ok());
    }

    #[test]
    fn distances_are_at_most_and_similarities_at_least() {
        let pair_score = |score| PairScore::new(score, None);
        let reveal: Reveal = "threshold:3".parse().unwrap();
        let maximised = Metric::NeedlemanWunschScore {
            reward: 1.0,
            mismatch: 1.0,
            gap: 1.0,
            scale: None,
        };
        for (score, distance, similarity) in
            [(2.0, true, false), (3.0, true, true), (4.0, false, true)]
        {
            let answer = reveal.answer(&Metric::Levenshtein, pair_score(score));
            assert_eq!(answer, Answer::Within(distance));
            assert!(reveal.is_answered_by(&answer) && !Reveal::Score.is_answered_by(&answer));
            let answer = reveal.answer(&maximised, pair_score(score));
            assert_eq!(answer.within(), Some(similarity));
        }
        assert!(reveal.describe(&Metric::Levenshtein).contains("at most 3"));
        assert!(reveal.describe(&maximised).contains("at least 3"));
    }
}
