//! Advice about failed sessions.

use super::groups;
use veilpath::{
    CoordinatorProblem, DeclineReason, Difference, ENGINE_FIELD, EngineChoice, ExceededLimit,
    FRESH_FIELD, FileProblem, Limit, LimitOrigin, NUMBER_FIELD, NetworkError,
    PROTOCOL_VERSION_FIELD, RelayProblem, SessionError, units,
};

/// The error's text and advice.
pub(crate) fn explain(error: &SessionError) -> String {
    if let SessionError::Protocol(error) = error {
        return super::protocol(error);
    }
    let text = match error {
        SessionError::Differs(differences) => with_options(differences).to_string(),
        _ => error.to_string(),
    };
    match hint(error) {
        Some(hint) => format!("{text}\n  {hint}"),
        None => text,
    }
}

/// The field of the metric.
const METRIC_FIELD: &str = "metric.name";

/// The field of the scale, which users seldom set themselves.
const SCALE_FIELD: &str = "metric.scale";

/// The same differences, with the options that determine metric and scale.
fn with_options(differences: &[Difference]) -> SessionError {
    let differences = differences.iter().cloned().map(|mut difference| {
        match &*difference.field {
            METRIC_FIELD => difference.field = "--metric".into(),
            SCALE_FIELD => difference.field = format!("--precision or --scale ({SCALE_FIELD})"),
            _ => {}
        }
        difference
    });
    SessionError::Differs(differences.collect())
}

fn hint(error: &SessionError) -> Option<String> {
    let hint = match error {
        SessionError::Differs(differences) => {
            let differ_in = |field: &str| differences.iter().any(|it| it.field == field);
            if differ_in(PROTOCOL_VERSION_FIELD) {
                "both sides need the same version of veilpath"
            } else if differ_in(FRESH_FIELD) {
                "to compare all pairs again, both sides pass --fresh, and every comparison counts again; to continue, neither does"
            } else if differ_in(NUMBER_FIELD) {
                "the side with the smaller number has lost its files, or restored old ones: run both commands again, and only that side adds --fresh; it gets the results again, and nothing counts again"
            } else if differences.iter().any(leaves_engine_open) {
                "auto chooses only between garbled and shares: give both commands the same --engine"
            } else {
                "agree on one value for each; both commands need the same options, and files with the same encoding"
            }
        }
        SessionError::WrongPeer { .. } | SessionError::KeyRejected => {
            "compare the fingerprints that `veilpath identity` prints, for example by phone with someone whose voice you recognise"
        }
        SessionError::NotVeilpath => {
            "check the address and the port: `veilpath host` prints them when it starts to listen"
        }
        SessionError::Limit(limit) => return limit_hint(limit),
        SessionError::Declined(DeclineReason::Limit(limit)) => return declined_hint(limit),
        SessionError::Declined(DeclineReason::IncompatibleCohort) => {
            "check the grids of the two cohorts, and --notation on both sides"
        }
        SessionError::Declined(DeclineReason::AlreadyConnected) => {
            "wait until it ends, or end it first"
        }
        SessionError::Network(error) => network_hint(error)?,
        SessionError::Usage(error) => groups::usage(error)?,
        SessionError::File { path, problem } => match problem {
            FileProblem::NoIdentity => "`veilpath identity` creates one",
            FileProblem::ReadableByOthers => {
                return Some(format!(
                    "run `chmod 600 {}` if you are sure that nobody has read it; otherwise remove it and create a new one",
                    path.display()
                ));
            }
            FileProblem::WritableByOthers => {
                return Some(format!(
                    "anyone who can change it can erase this side's count of what it has revealed: run `chmod go-w {}` if you are sure that nobody has, or set VEILPATH_HOME to a folder of your own",
                    path.display()
                ));
            }
            FileProblem::OwnedByOther => {
                "set the environment variable VEILPATH_HOME to a folder of your own"
            }
            FileProblem::CorruptedLedger => {
                "it protects your participants: restore it from a backup; without it, this partner's count starts from zero and any ban is forgotten"
            }
            FileProblem::NoLedgerLog => {
                "it protects your participants: restore it from a backup; replacing it with an empty file discards the counts that were in it"
            }
            FileProblem::NoLedger(_) => "`veilpath peers` lists the partners of earlier sessions",
            FileProblem::Exists => "choose another name for the new file",
            FileProblem::NoSuchAgreement => {
                "`veilpath host` and `veilpath join` with --tile-count make one, and print its id"
            }
            FileProblem::NoSuchComparison => "`veilpath results` lists all comparisons",
            FileProblem::SeveralComparisons => {
                "give more of the id; `veilpath results` lists all comparisons"
            }
            FileProblem::CorruptedComparison => {
                "move the file away; the next session with the same plan writes it again"
            }
            FileProblem::BrokenRecord { .. } => {
                "find out who changed it, and compare a backup with the partner's record (`veilpath record compare`); to run sessions in the meantime, move the file elsewhere without changing it"
            }
            FileProblem::RecordTooLarge => {
                "move it to an archive; the next session starts a new record"
            }
            FileProblem::NoResults => {
                "run the two commands of the session again: they compute what is missing"
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(hint.to_string())
}

/// Whether one side uses `auto`, and the other names an engine that `auto` never chooses.
fn leaves_engine_open(difference: &Difference) -> bool {
    let names = [&difference.ours, &difference.theirs];
    difference.field == ENGINE_FIELD && names.iter().any(|name| *name == EngineChoice::AUTO)
}

/// Advice for the side that sets the limit.
fn limit_hint(limit: &Limit) -> Option<String> {
    let hint = match limit {
        Limit::Comparisons(exceeded) => return Some(exceeded_hint(exceeded)),
        Limit::Disclosure(refusal) => return groups::disclosure(refusal).map(String::from),
        Limit::Banned(_) => {
            "find out why before you lift the ban with `veilpath peers unban FINGERPRINT`: this partner could learn more than was agreed"
        }
        Limit::TileStopped(_) => {
            "find out whether that worker can be trusted; then `veilpath peers ban FINGERPRINT` at the institution ends all sessions with the partner, or `veilpath peers unban FINGERPRINT` lets the tile continue"
        }
        Limit::TooManyEntries { .. } => {
            "find out which worker does that, and whether its key was stolen; `veilpath peers unban FINGERPRINT` allows the same number again"
        }
        Limit::TooManyStarts { .. } => {
            "find out why sessions with this partner break; `veilpath peers unban FINGERPRINT` lets it start them again"
        }
        Limit::Memory { needed, .. } => {
            let mebibytes = needed.div_ceil(1 << 20);
            return Some(format!(
                "--memory {mebibytes} allows it; or compare the cohorts in parts, with --tile"
            ));
        }
        limit => return common_hint(limit).map(String::from),
    };
    Some(hint.to_string())
}

/// Advice for a plan that exceeds this side's limit.
pub(crate) fn exceeded_hint(exceeded: &ExceededLimit) -> String {
    let mut hint = match exceeded.policy_refusing() {
        Some(most) => format!(
            "the policy allows at most {} of each scanpath, so only a change of the policy allows this plan",
            units::counted(most, "comparison")
        ),
        None => format!(
            "--limit-per-scanpath {} allows this plan; each further score lets the partner reconstruct more of a scanpath",
            exceeded.per_scanpath
        ),
    };
    hint += &format!("\n  {}", groups::REVEAL_GROUP_ANSWER);
    if exceeded.origin == LimitOrigin::Default {
        if exceeded.assumed_letters.is_some() {
            hint += "\n  declare the number of letters with --letters COUNT on both sides; this raises the default";
        }
        if let Some(pad_to) = exceeded.pad_to {
            hint += &format!(
                "\n  with --pad-to {pad_to} the default is lower than without, because it must not depend on the lengths"
            );
        }
    }
    hint
}

/// Advice for a limit of the partner.
fn declined_hint(limit: &Limit) -> Option<String> {
    let hint = match limit {
        Limit::Comparisons(_) | Limit::PeerComparisons => {
            "only the other side can raise that limit, with --limit-per-scanpath"
        }
        Limit::Disclosure(_) | Limit::PeerDisclosure => {
            "only the other side knows why: ask about its policy and its earlier answers"
        }
        Limit::Banned(_)
        | Limit::TileStopped(_)
        | Limit::TooManyStarts { .. }
        | Limit::TooManyEntries { .. } => {
            "only the other side can lift this, with `veilpath peers unban`"
        }
        Limit::Memory { .. } => {
            "only the other side can allow more, with --memory; or compare in parts, with --tile"
        }
        limit => common_hint(limit)?,
    };
    Some(hint.to_string())
}

/// Advice for both sides.
fn common_hint(limit: &Limit) -> Option<&'static str> {
    match limit {
        Limit::TooManyPairs { .. } => Some("compare in parts, with --tile on both sides"),
        Limit::NoPairs => Some(
            "use the same stimulus names on both sides; to compare all scanpaths with all others, whatever the stimulus, give both commands --pairs all",
        ),
        Limit::LostPairs { .. } => Some(
            "to compare all pairs again, both sides pass --fresh, and every comparison counts again; `veilpath results` writes what this side has",
        ),
        _ => None,
    }
}

fn network_hint(error: &NetworkError) -> Option<&'static str> {
    match error {
        NetworkError::AddressInUse { .. } => {
            Some("choose another port with --listen, or end that program")
        }
        NetworkError::UnknownName { .. } => {
            Some("check the spelling; a numeric address works as well, as in 192.0.2.7:7070")
        }
        NetworkError::Unreachable { .. } => Some(
            "is `veilpath host` (or the relay, gateway or coordinator) running there, and does the firewall allow the connection?",
        ),
        NetworkError::NoPeer(_) => Some(
            "is its command running, with the same --relay if one is used, and does each side name the other with --peer?",
        ),
        NetworkError::Relay { problem, .. } => Some(match problem {
            RelayProblem::Full => "try again later, or ask whoever runs it to raise its --sessions",
            RelayProblem::Refused => {
                "ask whoever runs it to add both fingerprints to its --institutions file"
            }
            RelayProblem::OtherVersion => "use the same version there and here",
            _ => "is `veilpath relay` running there?",
        }),
        NetworkError::Gateway { problem, .. } => Some(match problem {
            RelayProblem::Full => {
                "give each machine a key of its own, or raise --workers of the coordinator (--sessions of `veilpath gateway`)"
            }
            RelayProblem::Refused => "`veilpath worker-key` makes a new key",
            RelayProblem::OtherVersion => "use the same version there and here",
            _ => {
                "is `veilpath coordinator` with --gateway, or `veilpath gateway`, of this agreement running there?"
            }
        }),
        NetworkError::Coordinator(problem) => match problem {
            CoordinatorProblem::Lost => {
                Some("is `veilpath coordinator` of this agreement running, and is the key valid?")
            }
            CoordinatorProblem::Full => Some(
                "raise its --workers or --memory; one key gets at most half of each, so give each machine a key of its own",
            ),
            _ => None,
        },
        NetworkError::Loopback(_) => Some(
            "switch it on (on Linux: ip link set lo up), or use --engine plain, which needs no network",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_only_suggested_if_the_policy_allows_it() {
        let exceeded = |policy, origin| ExceededLimit {
            limit: 3,
            origin,
            before: 0,
            now: 6,
            counts_together: false,
            exceeded: 1,
            scanpaths: 1,
            per_scanpath: 6,
            policy,
            assumed_letters: None,
            pad_to: None,
        };
        for policy in [None, Some(6)] {
            let hint = exceeded_hint(&exceeded(policy, LimitOrigin::Default));
            assert!(hint.contains("--limit-per-scanpath 6"), "{hint}");
        }
        let hint = exceeded_hint(&exceeded(Some(5), LimitOrigin::Default));
        assert!(
            hint.contains("at most 5 comparisons") && !hint.contains("--limit"),
            "{hint}"
        );
        let hint = exceeded_hint(&exceeded(Some(2), LimitOrigin::Policy));
        assert!(
            hint.contains("at most 2 comparisons") && !hint.contains("--limit"),
            "{hint}"
        );
    }
}
