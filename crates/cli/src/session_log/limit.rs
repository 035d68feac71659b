//! The limit of a session as text.

use veilpath::{LimitOrigin, LimitSummary, units};

/// How often this side's scanpaths are and may be compared.
pub(super) fn text(limit: &LimitSummary) -> String {
    let planned = match (limit.before, limit.added) {
        (0, added) => format!("this plan needs {}", units::grouped(added)),
        (before, 0) => format!("{}, and this plan adds none", earlier_comparisons(before)),
        (before, added) if limit.after == before + added => format!(
            "this plan needs {}, and {}",
            units::grouped(added),
            earlier_comparisons(before)
        ),
        // The scanpath with the most earlier comparisons is not the one that gets the most now.
        (before, added) => format!(
            "this plan needs up to {}, up to {}, and no scanpath gets more than {} in total",
            units::grouped(added),
            earlier_comparisons(before),
            units::grouped(limit.after)
        ),
    };
    let Some(limits) = limit.limits else {
        return format!("none; {planned} (comparisons of one scanpath)");
    };
    let by_length = match limits.0 == limits.1 {
        true => "",
        false => ", by length",
    };
    let origin = match (limit.origin, limit.assumed_letters) {
        (LimitOrigin::Chosen, _) => String::new(),
        (LimitOrigin::Policy, _) => " (set by the policy)".into(),
        (LimitOrigin::EarlierDefault, _) => {
            " (the default of an earlier plan with this partner, which still applies)".into()
        }
        (LimitOrigin::Default, None) => " (default)".into(),
        (LimitOrigin::Default, Some(letters)) => format!(
            " (default for {letters} letters, because this side does not declare how many there are; --letters on both sides does)"
        ),
    };
    let text = format!(
        "{} with this partner{by_length}{origin}; {planned}",
        comparisons(limits, limit.counts_together()),
    );
    match limit.defaults {
        Some(defaults) if !limit.is_default() && limits.1 > defaults.0 => format!(
            "{text}\n  the default is {}: with more, a partner that submits made-up scanpaths may learn more than half of what one of yours contains",
            comparisons(defaults, limit.default_counts_together)
        ),
        _ => text,
    }
}

fn earlier_comparisons(comparisons: u64) -> String {
    let were = if comparisons == 1 { "was" } else { "were" };
    format!("{} {were} made before", units::grouped(comparisons))
}

/// The limits in comparisons of each scanpath, or of all together.
fn comparisons(limits: (u64, u64), together: bool) -> String {
    let noun = match limits {
        (1, 1) => "comparison",
        _ => "comparisons",
    };
    let whose = match together {
        true => "all scanpaths of this side together",
        false => "each scanpath of this side",
    };
    format!("{} {noun} of {whose}", range(limits))
}

/// A range of limits, or a single one.
fn range((least, most): (u64, u64)) -> String {
    match least == most {
        true => units::grouped(most),
        false => format!("{} to {}", units::grouped(least), units::grouped(most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_shown_with_their_origin_and_what_counts() {
        let default = LimitSummary {
            limits: Some((14, 14)),
            origin: LimitOrigin::Default,
            defaults: Some((14, 14)),
            default_counts_together: false,
            assumed_letters: None,
            before: 0,
            after: 8,
            added: 8,
            exceeded: None,
        };
        let shown = text(&default);
        assert!(shown.contains("8") && !shown.contains("the default is"));
        let assumed = LimitSummary {
            assumed_letters: Some(4),
            ..default.clone()
        };
        assert!(text(&assumed).contains("--letters"));
        let set = |count| LimitSummary {
            limits: Some((count, count)),
            origin: LimitOrigin::Chosen,
            defaults: Some((14, 20)),
            default_counts_together: true,
            ..default.clone()
        };
        let shown = text(&set(500));
        assert!(shown.contains("the default is 14 to 20 comparisons of all scanpaths"));
        assert!(!text(&set(8)).contains("the default is"));
        // A finished plan, under a limit that was lowered since.
        let finished = LimitSummary {
            limits: Some((1, 1)),
            before: 20,
            after: 20,
            added: 0,
            ..default.clone()
        };
        let shown = text(&finished);
        assert!(
            shown.contains("1 comparison of") && shown.contains("20 were made before"),
            "{shown}"
        );
        let earlier = LimitSummary {
            origin: LimitOrigin::EarlierDefault,
            before: 8,
            after: 12,
            added: 4,
            ..default.clone()
        };
        let shown = text(&earlier);
        assert!(shown.contains("4, and 8 were made before"), "{shown}");
        assert!(shown.contains("earlier plan"), "{shown}");
        // One scanpath was compared eight times, and the plan compares another twelve times.
        let others = LimitSummary {
            before: 8,
            after: 12,
            added: 12,
            ..default
        };
        let shown = text(&others);
        assert!(
            shown.contains("needs up to 12") && shown.contains("8 were made before"),
            "{shown}"
        );
        assert!(shown.contains("more than 12 in total"), "{shown}");
    }
}
