//! Errors for people: what happened, what to do, and which box it concerns.

use serde::Serialize;
use veilpath::encode::EncodeField;
use veilpath::split::SplitError;
use veilpath::{Error, Fault, Limit, NetworkError, ReadError, RelayProblem, SessionError, text};

/// A problem as the page shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Problem {
    /// What happened.
    pub(crate) message: String,
    /// What to do about it; may be empty.
    pub(crate) advice: String,
    /// The file that it is about, if any.
    pub(crate) file: Option<String>,
    /// The boxes that it is about.
    pub(crate) fields: Vec<EncodeField>,
    /// Who can fix it: `input`, `peer` or `network`.
    pub(crate) fault: &'static str,
}

impl Problem {
    /// Something that the user can change here.
    pub(crate) fn new(message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            advice: advice.into(),
            fault: "input",
            ..Self::default()
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Self {
        let remedy = error.remedy.to_string();
        let place = ReadError {
            remedy: Box::default(),
            ..error.clone()
        };
        Self {
            message: text::printable_lines(&place.to_string()).into_owned(),
            advice: text::printable_lines(&remedy).into_owned(),
            file: Some(error.file),
            fields: error.fields,
            fault: "input",
        }
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        if let Error::Read(error) = error {
            return error.clone().into();
        }
        Self {
            message: text::printable_lines(&error.to_string()).into_owned(),
            advice: advice(error).into(),
            fault: match error.fault() {
                Fault::Input => "input",
                Fault::Peer => "peer",
                Fault::Network => "network",
            },
            ..Self::default()
        }
    }
}

fn advice(error: &Error) -> &'static str {
    match error {
        Error::Session(SessionError::Limit(limit)) => match limit {
            Limit::Comparisons(_) => {
                "Choose an answer about groups, or allow more comparisons under “More” if you trust the partner."
            }
            Limit::Disclosure(_) => {
                "Choose another answer, add participants, or allow smaller groups under “More” on both sides."
            }
            _ => "",
        },
        Error::Session(SessionError::Network(error)) => network(error),
        Error::Interrupted { error, .. } => match error {
            SessionError::Network(NetworkError::Stopped) => {
                "What was computed is kept. Resume when both sides are ready."
            }
            _ => {
                "The partner's program ended, or the connection was lost, as when a laptop sleeps. What was computed is kept: \
                 press Resume on both sides."
            }
        },
        Error::WithPeer(error) => advice(error),
        Error::NothingToCompare { .. } => {
            "Choose all pairs, or give the stimuli the same names in both cohorts."
        }
        Error::NoFixations { .. } => "Tick “Keep fixations” under Encode, More.",
        Error::EmptyScanpaths { .. } => {
            "Tick “Leave out empty scanpaths” under Encode, or choose another metric."
        }
        Error::NoGroups { .. } => {
            "Add a column with the group of each participant to the recordings, or choose another answer."
        }
        Error::Split(SplitError::EmptyCohort) => {
            "Add recordings of another participant, or move some to the second cohort under Data."
        }
        Error::NotACohort { .. } => "Drop recordings or cohort files here.",
        Error::Spec(_) => "Encode both cohorts with the same settings.",
        Error::OwnFingerprint { .. } => {
            "Enter the fingerprint that the partner sees on its screen."
        }
        Error::RiskySettings { .. } => "Choose the metric's default numbers.",
        Error::Forbidden(_) => {
            "Choose another plan, or ask whoever is responsible for the policy to change it."
        }
        _ => match error.fault() {
            Fault::Peer => "Agree with the partner on the same plan, and connect again.",
            Fault::Network => "Check the network, and try again on both sides.",
            Fault::Input => "",
        },
    }
}

fn network(error: &NetworkError) -> &'static str {
    match error {
        NetworkError::AddressInUse { .. } => "Choose another port, or end the other program.",
        NetworkError::UnknownName { .. } => "Check the spelling of the partner's address.",
        NetworkError::Unreachable { .. } => {
            "Is the partner waiting, or the relay running? Its firewall must let this port through."
        }
        NetworkError::Relay { problem, .. } => match problem {
            RelayProblem::Full => {
                "Try again later, or ask whoever runs the relay to allow more sessions."
            }
            RelayProblem::Refused => {
                "Ask whoever runs the relay to add both fingerprints to its list."
            }
            RelayProblem::OtherVersion => "Use the same version of Veilpath there and here.",
            _ => "Is “veilpath relay” running there?",
        },
        NetworkError::NoPeer(_) => "Ask the partner to connect, and wait again.",
        NetworkError::Stopped => "Connect again when both sides are ready.",
        NetworkError::LeftBeforeStart => "Ask the partner, and connect again on both sides.",
        _ => "Check the network, and connect again on both sides.",
    }
}
