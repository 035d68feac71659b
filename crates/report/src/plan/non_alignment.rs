//! The metrics other than alignments, in words.

use super::by;
use crate::html::numbers::short;
use veilpath_metrics::{
    Crqa, Dtw, DurationDivisor, Frechet, Hausdorff, Metric, PathDivisor, Positions, RecurrenceRule,
    Undefined,
};

/// What a metric computes.
pub(super) fn describe(metric: &Metric) -> String {
    match metric {
        Metric::SequenceScore => {
            "Sequence Score: the length of the longest common subsequence, divided by the length of the longer scanpath.".into()
        }
        Metric::Dtw(Dtw {
            positions,
            divisor,
            scale,
        }) => {
            let divided = match divisor {
                PathDivisor::None => "",
                PathDivisor::Lengths => ", divided by the sum of both lengths",
            };
            let scale = scale.map_or_else(String::new, |scale| {
                format!(" (whole numbers, distances times {scale})")
            });
            format!(
                "Dynamic time warping: the smallest sum of distances over all ways to walk along both scanpaths at once{divided}. {}{scale}.",
                distances(positions)
            )
        }
        Metric::Frechet(Frechet { positions }) => format!(
            "Discrete Fréchet distance: the smallest maximum distance over all ways to walk along both scanpaths at once. {}.",
            distances(positions)
        ),
        Metric::Hausdorff(Hausdorff { positions }) => format!(
            "Hausdorff distance: the largest distance from a point to the nearest point of the other scanpath. {}.",
            distances(positions)
        ),
        Metric::Crqa(crqa) => recurrence(crqa),
        Metric::ScaSim(scasim) => format!(
            "ScaSim: how much time the two spend at different places. The reward for a common fixation shrinks to {} with each degree of visual angle{}{}.",
            short(scasim.modulator),
            scasim.classes.as_ref().map_or_else(String::new, |classes| format!(
                "; fixations are rounded to a grid of {} over the screen and to {} durations",
                by(&classes.grid.to_string()),
                classes.durations.len()
            )),
            match scasim.divisor {
                DurationDivisor::None => "",
                DurationDivisor::Fixations => "; divided by the number of fixations",
                DurationDivisor::Durations => "; divided by the sum of all durations",
            }
        ),
        Metric::MultiMatch(multimatch) => format!(
            "MultiMatch: medians over aligned saccades, 1 for equal ones{}.",
            match multimatch.simplification {
                None => "",
                Some(_) => "; saccades were merged before",
            }
        ),
        Metric::SubsMatch(subsmatch) => format!(
            "SubsMatch: how similar the relative frequencies of all sequences of {} letters are, from 0 to 1.",
            subsmatch.window
        ),
        alignment => format!("{}.", super::metric_name(alignment)),
    }
}

fn recurrence(crqa: &Crqa) -> String {
    let rule = match &crqa.rule {
        RecurrenceRule::SameLetter => "two fixations recur if they have the same letter".into(),
        RecurrenceRule::Within { positions, radius } => format!(
            "two fixations recur if they are at most {} apart. {}",
            short(*radius),
            distances(positions)
        ),
    };
    let undefined = match crqa.undefined {
        Undefined::Missing => "",
        Undefined::Zero => " Undefined numbers count as 0.",
    };
    let rounded = match crqa.rounded {
        true => " Percentages are rounded to 0.01.",
        false => "",
    };
    let named = |title: &str, of_lines: bool| {
        let measures = crqa.measures.iter();
        let measures = measures.filter(|measure| measure.is_of_lines() == of_lines);
        let names: Vec<&str> = measures.map(|measure| measure.name()).collect();
        match names.is_empty() {
            true => String::new(),
            false => format!(" {title}: {}.", names.join(", ")),
        }
    };
    format!(
        "Cross-recurrence: {rule}. Lines have at least {} points.{}{}{undefined}{rounded}",
        crqa.line,
        named("Percentages", false),
        named("Statistics of lines", true)
    )
}

fn distances(positions: &Positions) -> String {
    match positions {
        Positions::Fixations => "Distances are Euclidean, in the unit of the fixations".into(),
        Positions::Cells { grid, .. } => format!(
            "Distances are Euclidean, between the cells of a grid of {} over the screen, to which fixations are rounded",
            by(&grid.to_string())
        ),
        Positions::Grid { grid, wrap } => format!(
            "Distances are Euclidean, in cells of a grid of {}{}",
            by(&grid.to_string()),
            if *wrap { ", joined left to right" } else { "" }
        ),
    }
}
