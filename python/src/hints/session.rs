//! Advice about sessions.

use veilpath::{
    DeclineReason, FRESH_FIELD, FileProblem, Limit, NUMBER_FIELD, NetworkError,
    PROTOCOL_VERSION_FIELD, SessionError, units,
};

/// The error's text and advice.
pub(super) fn explain(error: &SessionError) -> String {
    if let SessionError::Protocol(error) = error {
        return super::protocol(error);
    }
    match advice(error) {
        Some(advice) => format!("{error}\n  {advice}"),
        None => error.to_string(),
    }
}

fn advice(error: &SessionError) -> Option<String> {
    let advice = match error {
        SessionError::Differs(differences) => {
            let differ_in = |field: &str| differences.iter().any(|it| it.field == field);
            if differ_in(PROTOCOL_VERSION_FIELD) {
                "both sides need the same version of veilpath"
            } else if differ_in(FRESH_FIELD) {
                "to compare all pairs again, both sides pass fresh=True; to continue, neither does"
            } else if differ_in(NUMBER_FIELD) {
                "the side with the smaller number has lost its files, or restored old ones: run both again, and only that side passes fresh=True; it gets the results again, and nothing counts again"
            } else {
                "agree on one value for each, and use the same arguments and the same encoding on both sides"
            }
        }
        SessionError::WrongPeer { .. } | SessionError::KeyRejected => {
            "compare the fingerprints that veilpath.identity() gives, for example by phone with someone whose voice you recognise"
        }
        SessionError::NotVeilpath => "check the address and the port",
        SessionError::Limit(Limit::Comparisons(exceeded)) => {
            let allowed = match exceeded.policy_refusing() {
                Some(most) => format!(
                    "the policy allows at most {} of each scanpath, so only a change of the policy allows this plan",
                    units::counted(most, "comparison")
                ),
                None => format!(
                    "limit_per_scanpath={} allows this plan; each further score lets the partner reconstruct more of a scanpath",
                    exceeded.per_scanpath
                ),
            };
            return Some(format!(
                "{allowed}\n  reveal=\"mean\", or another group answer, says nothing about single pairs"
            ));
        }
        SessionError::Limit(Limit::Memory { needed, .. }) => {
            let mebibytes = needed.div_ceil(1 << 20);
            return Some(format!(
                "memory={mebibytes} allows it; or compare the cohorts in parts"
            ));
        }
        SessionError::Limit(Limit::NoPairs) => {
            "use the same stimulus names on both sides; to compare all scanpaths with all others, whatever the stimulus, both sides pass pairs=\"all\""
        }
        SessionError::Limit(Limit::TileStopped(_)) => {
            "find out whether that worker can be trusted; `veilpath peers unban FINGERPRINT` lets the tile continue, `veilpath peers ban FINGERPRINT` ends all sessions"
        }
        SessionError::Limit(
            Limit::Banned(_) | Limit::TooManyStarts { .. } | Limit::TooManyEntries { .. },
        ) => "find out why before you lift this with `veilpath peers unban FINGERPRINT`",
        SessionError::Declined(DeclineReason::Limit(_)) => "only the other side can change that",
        SessionError::Declined(DeclineReason::IncompatibleCohort) => {
            "check the grids of the two cohorts, and notation on both sides"
        }
        SessionError::Network(NetworkError::AddressInUse { .. }) => {
            "choose another port, or end that program"
        }
        SessionError::Network(NetworkError::Unreachable { .. }) => {
            "is the host running there, and does the firewall allow the connection?"
        }
        SessionError::File { problem, .. } => match problem {
            FileProblem::NoIdentity => "veilpath.identity() creates one",
            FileProblem::ReadableByOthers => {
                "only its owner may read it: chmod 600, or create a new one"
            }
            FileProblem::OwnedByOther | FileProblem::WritableByOthers => {
                "set the environment variable VEILPATH_HOME to a folder of your own"
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(advice.to_string())
}
