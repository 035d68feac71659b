//! The serialized form of a metric. Both kinds of Needleman–Wunsch have the same name and differ in their fields.

use super::{LocalScoring, Metric};
use crate::non_alignment::{Crqa, Dtw, Frechet, Hausdorff, MultiMatch, ScaSim, SubsMatch};
use crate::{Grid, Substitution};
use serde::Deserialize;

/// The fields of [`Metric`] under their names in a file.
#[derive(Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub(super) enum SerializedMetric {
    Levenshtein,
    NeedlemanWunsch(SerializedNeedlemanWunsch),
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
        scale: Option<f64>,
    },
    SequenceScore,
    Dtw(Dtw),
    Frechet(Frechet),
    Hausdorff(Hausdorff),
    Crqa(Crqa),
    #[serde(rename = "scasim")]
    ScaSim(ScaSim),
    #[serde(rename = "multimatch")]
    MultiMatch(MultiMatch),
    #[serde(rename = "subsmatch")]
    SubsMatch(SubsMatch),
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum SerializedNeedlemanWunsch {
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

impl From<SerializedMetric> for Metric {
    fn from(serialized: SerializedMetric) -> Self {
        match serialized {
            SerializedMetric::SequenceScore => Metric::SequenceScore,
            SerializedMetric::Dtw(dtw) => Metric::Dtw(dtw),
            SerializedMetric::Frechet(frechet) => Metric::Frechet(frechet),
            SerializedMetric::Hausdorff(hausdorff) => Metric::Hausdorff(hausdorff),
            SerializedMetric::Crqa(crqa) => Metric::Crqa(crqa),
            SerializedMetric::ScaSim(scasim) => Metric::ScaSim(scasim),
            SerializedMetric::MultiMatch(multimatch) => Metric::MultiMatch(multimatch),
            SerializedMetric::SubsMatch(subsmatch) => Metric::SubsMatch(subsmatch),
            SerializedMetric::Levenshtein => Metric::Levenshtein,
            SerializedMetric::NeedlemanWunsch(SerializedNeedlemanWunsch::Cost {
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
            SerializedMetric::NeedlemanWunsch(SerializedNeedlemanWunsch::Score {
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
            SerializedMetric::SmithWaterman {
                scoring,
                gap,
                scale,
            } => Metric::SmithWaterman {
                scoring,
                gap,
                scale,
            },
            SerializedMetric::ScanMatch {
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
