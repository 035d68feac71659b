//! What a metric computes, in plain language.

use crate::MetricName;

/// Describes the score of two scanpaths.
pub(super) fn describe(metric: MetricName) -> &'static str {
    match metric {
        MetricName::Levenshtein => {
            "The distance of two scanpaths is the smallest number of letters that must be inserted, removed or replaced to turn one into the other (Levenshtein)."
        }
        MetricName::NeedlemanWunsch => {
            "Two scanpaths are aligned from beginning to end; different and missing letters have costs (Needleman–Wunsch)."
        }
        MetricName::SmithWaterman => {
            "The most similar parts of two scanpaths are found; equal letters have a reward, different and missing ones a penalty (Smith–Waterman)."
        }
        MetricName::ScanMatch => {
            "Two scanpaths are aligned so that places near each other count as similar; a score of 1 means equal (ScanMatch)."
        }
        MetricName::SequenceScore => {
            "The longest sequence of places that both scanpaths visit in the same order is divided by the length of the longer scanpath (Sequence Score)."
        }
        MetricName::Dtw => {
            "Both scanpaths are walked along at once, at the speeds at which they stay nearest to each other; the distances along this walk are added up (dynamic time warping)."
        }
        MetricName::Frechet => {
            "Both scanpaths are walked along at once, at the speeds at which they stay nearest to each other; the score is the longest distance of this walk (discrete Fréchet distance)."
        }
        MetricName::Hausdorff => {
            "The score is the largest distance from a place in one scanpath to the nearest place in the other (Hausdorff distance)."
        }
        MetricName::Crqa => {
            "The scores say how often, and in which patterns, two scanpaths visit the same places (cross-recurrence)."
        }
        MetricName::ScaSim => {
            "The score is the time that two scanpaths spend at different places (ScaSim)."
        }
        MetricName::MultiMatch => {
            "The eye movements of two scanpaths are aligned and compared in shape, direction, length, position and duration (MultiMatch)."
        }
        MetricName::SubsMatch => {
            "The frequencies of short sequences of places in two scanpaths are compared (SubsMatch)."
        }
    }
}
