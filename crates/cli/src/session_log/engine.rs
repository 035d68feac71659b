//! Which engine computes, and why: as text and as JSON.

use serde_json::{Value, json};
use veilpath::{Engine, EngineReason, EngineSummary, Estimate, SharesObstacle, units};

/// A line about the engine.
pub(crate) fn line(summary: &EngineSummary) -> String {
    let name = summary.engine.name();
    let estimates = summary.estimates.as_ref();
    let why = match (summary.reason, estimates) {
        (EngineReason::NamedHere, _) => "as requested with --engine on this side".into(),
        (EngineReason::NamedByPeer, _) => "as requested with --engine by the partner".into(),
        (EngineReason::SharesImpossible(obstacle), Some(estimates)) => format!(
            "{}; shares cannot compute this plan: {}",
            duration(estimates.garbled.seconds),
            describe_obstacle(obstacle)
        ),
        (reason, Some(estimates)) => {
            let (other, [own, others]) = match summary.engine {
                Engine::Shares => ("garbled", [estimates.shares, estimates.garbled]),
                _ => ("shares", [estimates.garbled, estimates.shares]),
            };
            let verdict = match reason {
                EngineReason::ChosenEarlier => "; chosen when this comparison started",
                _ if others.seconds < own.seconds => ", which does not save enough to switch",
                _ => "",
            };
            let [own, others] = [own, others].map(|estimate| duration(estimate.seconds));
            format!("{own}; {other} would take {others}{verdict}")
        }
        (_, None) => "as requested with --engine on both sides".into(),
    };
    format!("engine: {name} ({why})\n")
}

fn describe_obstacle(obstacle: SharesObstacle) -> String {
    match obstacle {
        SharesObstacle::Alphabet {
            letters,
            max_letters,
        } => {
            format!("it takes up to {max_letters} letters, but there are {letters}")
        }
        SharesObstacle::Lengths => "a scanpath is too long for it".into(),
        SharesObstacle::Memory => "it needs more than --memory allows".into(),
        SharesObstacle::OtherSide => "the partner cannot run it".into(),
    }
}

/// An estimated time.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        ..0.1 => "less than 0.1 s".into(),
        _ => format!("about {}", units::seconds(seconds)),
    }
}

/// The field `engine` of an agreement.
pub(super) fn to_json(summary: &EngineSummary) -> Value {
    let (reason, obstacle) = match summary.reason {
        EngineReason::Named => ("named", None),
        EngineReason::NamedHere => ("named_here", None),
        EngineReason::NamedByPeer => ("named_by_peer", None),
        EngineReason::Estimated => ("estimated", None),
        EngineReason::ChosenEarlier => ("chosen_earlier", None),
        EngineReason::SharesImpossible(obstacle) => ("shares_impossible", Some(obstacle)),
    };
    let estimates = summary.estimates.as_ref().map(|estimates| {
        let shares = obstacle.is_none().then(|| estimate_json(&estimates.shares));
        json!({"garbled": estimate_json(&estimates.garbled), "shares": shares})
    });
    json!({
        "name": summary.engine.name(),
        "reason": reason,
        "shares_obstacle": obstacle.map(|obstacle| match obstacle {
            SharesObstacle::Alphabet { .. } => "alphabet",
            SharesObstacle::Lengths => "lengths",
            SharesObstacle::Memory => "memory",
            SharesObstacle::OtherSide => "other_side",
        }),
        "tree_levels": summary.tree_levels.map(u8::from),
        "estimates": estimates,
    })
}

/// An estimate as JSON.
pub(super) fn estimate_json(estimate: &Estimate) -> Value {
    json!({
        "bytes_to_host": estimate.bytes_to_host,
        "bytes_to_join": estimate.bytes_to_join,
        "rounds": estimate.rounds,
        "seconds": estimate.seconds,
        "computing": estimate.computing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath::{ProvenEstimates, TreeLevels};

    fn summary(engine: Engine, reason: EngineReason, seconds: Option<[f64; 2]>) -> EngineSummary {
        let estimate = |seconds| Estimate {
            seconds,
            ..Estimate::default()
        };
        EngineSummary {
            engine,
            reason,
            tree_levels: None,
            estimates: seconds.map(|[garbled, shares]| ProvenEstimates {
                garbled: estimate(garbled),
                shares: estimate(shares),
                tree_levels: TreeLevels::Four,
            }),
        }
    }

    #[test]
    fn the_line_shows_both_estimates_or_the_reason() {
        let estimated = EngineReason::Estimated;
        let text = line(&summary(Engine::Shares, estimated, Some([360.0, 40.0])));
        assert!(text.contains("40 s") && text.contains("garbled would take about 6 min"));
        let text = line(&summary(Engine::Garbled, estimated, Some([3.0, 1.9])));
        assert!(text.contains("3.0 s") && text.contains("1.9 s, which does not save enough"));
        let text = line(&summary(Engine::Garbled, estimated, Some([0.2, 0.3])));
        assert!(text.contains("0.20 s") && text.contains("0.30 s"), "{text}");
        for reason in [EngineReason::Named, EngineReason::NamedByPeer] {
            let text = line(&summary(Engine::Shares, reason, None));
            assert!(text.contains("shares") && text.contains("--engine"));
        }
    }

    #[test]
    fn an_engine_that_cannot_run_has_no_estimate() {
        let alphabet = SharesObstacle::Alphabet {
            letters: 900,
            max_letters: 512,
        };
        let impossible = EngineReason::SharesImpossible(alphabet);
        let summary = summary(Engine::Garbled, impossible, Some([3.0, 77.0]));
        let text = line(&summary);
        assert!(text.contains("900") && text.contains("512") && !text.contains("77"));
        let json = to_json(&summary);
        assert_eq!(json["shares_obstacle"], "alphabet");
        assert!(json["estimates"]["shares"].is_null() && !json["estimates"]["garbled"].is_null());
    }
}
