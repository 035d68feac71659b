//! The choices that a user makes by name.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use veilpath_metrics::Distance;

/// The metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetricName {
    /// Fewest insertions, deletions and replacements.
    #[default]
    Levenshtein,
    /// Lowest cost (or highest score) of a global alignment.
    NeedlemanWunsch,
    /// Highest score of a local alignment.
    SmithWaterman,
    /// ScanMatch (Cristino et al. 2010).
    ScanMatch,
    /// Longest common subsequence, divided by the longer length.
    SequenceScore,
    /// Dynamic time warping.
    Dtw,
    /// Discrete Fréchet distance.
    Frechet,
    /// Hausdorff distance.
    Hausdorff,
    /// Cross-recurrence quantification.
    Crqa,
    /// ScaSim (von der Malsburg and Vasishth 2011).
    ScaSim,
    /// MultiMatch (Dewhurst et al. 2012).
    MultiMatch,
    /// SubsMatch (Kübler et al. 2014).
    SubsMatch,
}

/// How the cost or score of replacing one letter by another is determined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SubstitutionChoice {
    /// One cost for all letters that differ.
    #[default]
    Unit,
    /// The difference between the letters' indices.
    Index,
    /// The distance between grid cells.
    Distance(Distance),
    /// A table in a CSV file.
    File(PathBuf),
}

/// Text that does not name any choice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not one of {}", .known.join(", "))]
pub struct UnknownName {
    /// The text.
    pub name: String,
    /// The valid names.
    pub known: Vec<&'static str>,
}

impl MetricName {
    /// All metrics.
    pub const ALL: [Self; 12] = [
        Self::Levenshtein,
        Self::NeedlemanWunsch,
        Self::SmithWaterman,
        Self::ScanMatch,
        Self::SequenceScore,
        Self::Dtw,
        Self::Frechet,
        Self::Hausdorff,
        Self::Crqa,
        Self::ScaSim,
        Self::MultiMatch,
        Self::SubsMatch,
    ];

    /// The name used in options and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Levenshtein => "levenshtein",
            Self::NeedlemanWunsch => "needleman-wunsch",
            Self::SmithWaterman => "smith-waterman",
            Self::ScanMatch => "scanmatch",
            Self::SequenceScore => "sequence-score",
            Self::Dtw => "dtw",
            Self::Frechet => "frechet",
            Self::Hausdorff => "hausdorff",
            Self::Crqa => "crqa",
            Self::ScaSim => "scasim",
            Self::MultiMatch => "multimatch",
            Self::SubsMatch => "subsmatch",
        }
    }
}

impl FromStr for MetricName {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let mut all = Self::ALL.into_iter();
        all.find(|metric| metric.name() == text)
            .ok_or_else(|| UnknownName {
                name: text.to_string(),
                known: Self::ALL.map(Self::name).to_vec(),
            })
    }
}

impl SubstitutionChoice {
    /// All choices except a file.
    const NAMED: [Self; 5] = [
        Self::Unit,
        Self::Index,
        Self::Distance(Distance::Manhattan),
        Self::Distance(Distance::Euclidean),
        Self::Distance(Distance::Chebyshev),
    ];

    /// Looks up a choice by name; never a file.
    pub fn named(name: &str) -> Option<Self> {
        let mut named = Self::NAMED.into_iter();
        named.find(|choice| choice.name() == Some(name))
    }

    /// The name; `None` for a file.
    pub fn name(&self) -> Option<&'static str> {
        match self {
            Self::Unit => Some("unit"),
            Self::Index => Some("index"),
            Self::Distance(distance) => Some(distance.name()),
            Self::File(_) => None,
        }
    }
}

/// A name, or the path of an existing file.
impl FromStr for SubstitutionChoice {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        match Self::named(text) {
            Some(choice) => Ok(choice),
            None if Path::new(text).is_file() => Ok(Self::File(text.into())),
            None => Err(UnknownName {
                name: text.to_string(),
                known: Self::NAMED.iter().filter_map(Self::name).collect(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_back() {
        for metric in MetricName::ALL {
            assert_eq!(metric.name().parse(), Ok(metric));
        }
        for choice in SubstitutionChoice::NAMED {
            let name = choice.name().unwrap_or_default();
            assert_eq!(name.parse(), Ok(choice));
        }
        assert!("scan-match".parse::<MetricName>().is_err());
        assert!("no/such/file".parse::<SubstitutionChoice>().is_err());
    }
}
