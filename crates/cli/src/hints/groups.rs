//! Advice on errors in group answers.

use veilpath::stats::StatisticsError;
use veilpath::{DEFAULT_MINIMUM_GROUP, DisclosureRefusal, JobError, UsageError};

/// How to add groups.
pub(super) const ADD_GROUPS: &str =
    "add a column `group` to the cohort file, or encode the gaze files again with --groups FILE";

/// What to ask for instead of results of pairs.
pub(super) const REVEAL_GROUP_ANSWER: &str = "a group answer such as --reveal mean says nothing about single pairs, and with garbled and shares it does not count towards this limit; it needs at least 5 participants per side, or as many as --minimum-group or a policy says";

const _: () = assert!(DEFAULT_MINIMUM_GROUP == 5);

/// Advice for options that a session cannot run with.
pub(super) fn usage(error: &UsageError) -> Option<&'static str> {
    match error {
        UsageError::NoGroups { .. } => Some(ADD_GROUPS),
        UsageError::EngineWithoutGroups { .. } => {
            Some("use --engine garbled or --engine shares, or leave --engine out")
        }
        UsageError::TileWithoutEngine => Some(
            "name the same --engine on both sides; --estimate without --tile shows which is faster",
        ),
        UsageError::CompleteAgreement => Some("`veilpath results` writes the results of its tiles"),
        UsageError::TooManyFiles { .. } => {
            Some("allow fewer with --workers or --sessions, or raise the limit with `ulimit -n`")
        }
        UsageError::FreshTile => Some("leave --fresh out, and use another K in --tile I/K"),
        _ => None,
    }
}

/// Advice for groups that cannot be used.
pub(super) fn job(error: &JobError) -> Option<&'static str> {
    match error {
        JobError::NoGroups | JobError::UnknownGroup => Some(ADD_GROUPS),
        JobError::TooManyGroups { .. } => {
            Some("combine groups in the column `group` of the cohort file")
        }
        JobError::TileOfGroupAnswer => Some(
            "leave --tile out; or use --reveal score, and `veilpath stats` on the merged result",
        ),
        JobError::SeveralMeasures { .. } => Some("name it with --measures, as in --measures det"),
        // A score divided by lengths is undefined for two empty scanpaths.
        JobError::UndefinedMeasure { measure: "score" } => {
            Some("leave --divide-by out, or use --reveal score")
        }
        JobError::UndefinedMeasure { .. } => Some("add --undefined-as-zero, or use --reveal score"),
        JobError::GroupAnswerOfFixations { .. } => Some(
            "use --reveal score, and `veilpath stats` on the result; or round fixations to the cells of a grid with --fixation-grid",
        ),
        JobError::NeedsFixations { .. } => Some(
            "use garbled or shares with --fixation-grid, which rounds fixations to the cells of a grid",
        ),
        _ => None,
    }
}

/// Advice for an answer that would disclose too much.
pub(super) fn disclosure(refusal: &DisclosureRefusal) -> Option<&'static str> {
    match refusal {
        DisclosureRefusal::SmallPart { .. } => Some(
            "combine small groups, or leave out stimuli that few participants have seen; the larger --minimum-group of the two sides applies",
        ),
        DisclosureRefusal::Differencing { .. } => Some(
            "use the same participants, scanpaths and groups as before, or add, change or leave out at least that many participants at once; if participants have withdrawn their consent, use `veilpath policy withdraw`",
        ),
        DisclosureRefusal::FewNearest { .. } => Some(
            "use a larger K in --reveal nearest:K; the larger --minimum-group of the two sides applies",
        ),
        DisclosureRefusal::NearestOfFew { .. } => Some(
            "use a larger K in --reveal nearest:K, or cohorts with fewer scanpaths of each participant",
        ),
        DisclosureRefusal::Budget { .. } => {
            Some("answers_per_partner in a policy (--policy) sets another budget")
        }
        DisclosureRefusal::HistogramOverlap { .. } => {
            Some("ask for a mean or a test, or for other participants")
        }
        DisclosureRefusal::ChangedEncoding { .. } => Some(
            "encode and round as before; or, if none of their recordings has been added or corrected since and the new settings change the scanpaths of most participants, use --allow changed-encoding",
        ),
        DisclosureRefusal::Withdrawn { .. } => Some("leave them out of the cohort"),
        DisclosureRefusal::NoGroups => Some(ADD_GROUPS),
        _ => None,
    }
}

/// Advice for pairs from which the answer cannot be computed.
pub(super) fn statistics(error: &StatisticsError) -> Option<&'static str> {
    match error {
        StatisticsError::TooManyPairs { .. } => {
            Some("compare parts of the cohorts, for example stimulus by stimulus")
        }
        StatisticsError::NoCommonStimulus { .. } => Some(
            "leave out participants who have seen none of the partner's stimuli, or compare with --pairs all",
        ),
        StatisticsError::NoSameGroup => Some("a group must have the same name in both cohorts"),
        StatisticsError::NoDifferentGroups => Some("each cohort needs participants of two groups"),
        StatisticsError::TooFewReferences { .. } => Some("use a smaller K in --reveal nearest:K"),
        _ => None,
    }
}
