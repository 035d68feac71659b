//! Reads a metric: both kinds of Needleman–Wunsch are written with one name, and their fields tell them apart.

use super::{LocalScoring, Metric};
use crate::{Grid, Substitution};
use serde::Deserialize;

/// The fields of [`Metric`] under their names in a file.
#[derive(Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub(super) enum WrittenMetric {
    Levenshtein,
    NeedlemanWunsch(WrittenNeedlemanWunsch),
    SmithWaterman {
        scoring: LocalScoring,
        gap: f64,
        scale: Option<u32>,
    },
    #[serde(rename = "scanmatch")]
    ScanMatch {
        grid: Grid,
        wrap: bool,
        threshold: f64,
        gap: f64,
        scale: Option<u32>,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum WrittenNeedlemanWunsch {
    Cost {
        substitution: Substitution,
        insert: f64,
        delete: f64,
        scale: Option<u32>,
    },
    Score {
        #[serde(rename = "match")]
        reward: f64,
        mismatch: f64,
        gap: f64,
        scale: Option<u32>,
    },
}

impl From<WrittenMetric> for Metric {
    fn from(written: WrittenMetric) -> Self {
        match written {
            WrittenMetric::Levenshtein => Metric::Levenshtein,
            WrittenMetric::NeedlemanWunsch(WrittenNeedlemanWunsch::Cost {
                substitution,
                insert,
                delete,
                scale,
            }) => Metric::NeedlemanWunsch {
                substitution,
                insert,
                delete,
                scale,
            },
            WrittenMetric::NeedlemanWunsch(WrittenNeedlemanWunsch::Score {
                reward,
                mismatch,
                gap,
                scale,
            }) => Metric::NeedlemanWunschScore {
                reward,
                mismatch,
                gap,
                scale,
            },
            WrittenMetric::SmithWaterman {
                scoring,
                gap,
                scale,
            } => Metric::SmithWaterman {
                scoring,
                gap,
                scale,
            },
            WrittenMetric::ScanMatch {
                grid,
                wrap,
                threshold,
                gap,
                scale,
            } => Metric::ScanMatch {
                grid,
                wrap,
                threshold,
                gap,
                scale,
            },
        }
    }
}
