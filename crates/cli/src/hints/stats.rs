//! Advice about statistics.

use veilpath::stats::{SitesProblem, StatisticsError, StatsError};

/// The text of an error, with flags for fields, and advice.
pub(super) fn explain(error: &StatsError) -> String {
    let advice = match error {
        StatsError::NumbersOnly { .. } => {
            "name the JSON file that `veilpath compare a.csv b.csv -o scores.json` writes"
        }
        StatsError::NoPairs { .. } => "name a result with the scores of pairs",
        StatsError::Incomplete { .. } => "run the session again to get the missing pairs",
        StatsError::NumberOfResults { .. } | StatsError::SitesNeedThreeResults => {
            "for test:sites: veilpath stats first.json second.json between.json"
        }
        StatsError::Sites(SitesProblem::Kinds) => {
            "compare each cohort with itself: veilpath compare a.csv a.csv -o a.json"
        }
        StatsError::Sites(SitesProblem::Names { .. }) => {
            "give them the same names, with --names of compare"
        }
        StatsError::Sites(_) => "compare the same cohorts with the same options",
        StatsError::NoSuchMeasure { name, known, .. } => {
            let known = super::listed(known, 10);
            return format!("--measure {name}: {error}\n  available measures: {known}");
        }
        StatsError::NoSuchStimulus { .. } => "--stimulus takes a name as in the cohort files",
        StatsError::NoDirection { .. } => "choose another with --measure",
        StatsError::NoMean { .. } => {
            "choose another with --measure, or ask for its distribution with --answer histogram:10"
        }
        StatsError::NoGroups { .. } => {
            "add --groups FILE: a table with the columns participant and group, or a cohort file with groups"
        }
        StatsError::WithoutGroup { .. } => {
            "add them to the file of --groups; --second-groups is for the second cohort"
        }
        StatsError::NoCommonStimulus { .. } => {
            "choose stimuli that all participants have seen with --stimulus, or compare with --pairs all"
        }
        StatsError::Level { .. } => "set --confidence to a number such as 0.95",
        StatsError::TooFewNeighbours { .. } => {
            "choose a smaller number, as in --answer nearest:1,rate"
        }
        StatsError::Statistics(StatisticsError::TooManyPairs { .. }) => {
            "analyse fewer pairs, for example one --stimulus"
        }
        StatsError::MissingValues { .. } => {
            "it is undefined there: choose another with --measure or, for crqa, compare again with --undefined-as-zero"
        }
        StatsError::Statistics(_) => return error.to_string(),
    };
    format!("{error}\n  {advice}")
}
