//! Advice about failed sessions.

use veilpath::{
    DeclineReason, FileProblem, Limit, NetworkError, PROTOCOL_VERSION_FIELD, SessionError,
};

/// The error's text and advice.
pub(super) fn explain(error: &SessionError) -> String {
    if let SessionError::Protocol(error) = error {
        return super::protocol(error);
    }
    match hint(error) {
        Some(hint) => format!("{error}\n  {hint}"),
        None => error.to_string(),
    }
}

fn hint(error: &SessionError) -> Option<String> {
    let hint = match error {
        SessionError::Differs(differences)
            if differences
                .iter()
                .any(|it| it.field == PROTOCOL_VERSION_FIELD) =>
        {
            "both sides need the same version of veilpath"
        }
        SessionError::Differs(_) => {
            "agree on one value, and give both commands the same options and files with the same encoding"
        }
        SessionError::WrongPeer { .. } | SessionError::KeyRejected => {
            "compare the fingerprints that `veilpath identity` prints, for example by phone with someone whose voice you recognise"
        }
        SessionError::NotVeilpath => {
            "check the address and the port: `veilpath host` prints them when it starts to listen"
        }
        SessionError::Limit(limit) | SessionError::Declined(DeclineReason::Limit(limit)) => {
            limit_hint(limit)?
        }
        SessionError::Declined(DeclineReason::IncompatibleCohort) => {
            "check the grids of the two cohorts, and --alphabet on both sides"
        }
        SessionError::Declined(DeclineReason::AlreadyConnected) => {
            "wait until it ends, or end it first"
        }
        SessionError::Network(error) => network_hint(error)?,
        SessionError::File { path, problem } => match problem {
            FileProblem::NoIdentity => "`veilpath identity` creates one",
            FileProblem::ReadableByOthers => {
                return Some(format!(
                    "run `chmod 600 {}` if you are sure that nobody has read it; otherwise remove it and create a new one",
                    path.display()
                ));
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(hint.to_string())
}

fn limit_hint(limit: &Limit) -> Option<&'static str> {
    match limit {
        Limit::NoPairs => {
            Some("to compare all scanpaths with all others, give both commands --pairs all")
        }
        Limit::ComparisonsPerScanpath { .. } => Some("--limit-per-scanpath sets this limit"),
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
        NetworkError::Unreachable { .. } => {
            Some("is `veilpath host` running there, and does the firewall allow the connection?")
        }
        NetworkError::Loopback(_) => Some(
            "switch it on (on Linux: ip link set lo up), or use --engine plain, which needs no network",
        ),
        _ => None,
    }
}
