//! Errors as the page shows them: what happened, what to do, and which form field is concerned.

use serde::Serialize;
use veilpath::encode::EncodeField;
use veilpath::split::SplitError;
use veilpath::{
    DeclineReason, DisclosureRefusal, Error, Fault, Limit, MetricOptionsError, NetworkError,
    ReadError, RelayProblem, SessionError, text,
};

/// A problem as the page shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Problem {
    /// What happened.
    pub(crate) message: String,
    /// What to do about it; may be empty.
    pub(crate) advice: String,
    /// The file that it is about, if any.
    pub(crate) file: Option<String>,
    /// The form fields that it is about.
    pub(crate) fields: Vec<EncodeField>,
    /// Where the cause lies: `input`, `peer` or `network`.
    pub(crate) fault: &'static str,
    /// Whether another answer may be allowed instead.
    pub(crate) other_answer: bool,
    /// Where the two plans differ: the form field, its value here, and its value at the partner.
    pub(crate) differences: Vec<[String; 3]>,
}

impl Problem {
    /// A problem that the user can fix here.
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
        let without_remedy = ReadError {
            remedy: Box::default(),
            ..error.clone()
        };
        Self {
            message: text::printable_lines(&without_remedy.to_string()).into_owned(),
            advice: text::printable_lines(&remedy).into_owned(),
            file: Some(error.file),
            // The page marks the form field, whatever the value.
            fields: error.fields.iter().map(|field| field.setting()).collect(),
            fault: "input",
            other_answer: false,
            differences: Vec::new(),
        }
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        if let Error::Read(error) = error {
            return error.clone().into();
        }
        let differences = differences(error);
        let message = match differences.is_empty() {
            true => text::printable_lines(&error.to_string()).into_owned(),
            false => "the two sides have different plans".into(),
        };
        Self {
            message,
            advice: advice(error).into(),
            fault: match error.fault() {
                Fault::Input => "input",
                Fault::Peer => "peer",
                Fault::Network => "network",
            },
            other_answer: other_answer(error),
            differences,
            ..Self::default()
        }
    }
}

/// Where two plans differ, by the labels of the form fields.
fn differences(error: &Error) -> Vec<[String; 3]> {
    match error {
        Error::Session(SessionError::Differs(differences)) => differences
            .iter()
            .map(|it| [field_label(&it.field), it.ours.clone(), it.theirs.clone()])
            .collect(),
        Error::WithPeer(error) => differences(error),
        _ => Vec::new(),
    }
}

/// The label of the form field that sets a field of the plan.
fn field_label(field: &str) -> String {
    let name = match field {
        "metric.name" => "Metric",
        "pair-rule" => "Pairs of scanpaths",
        "reveal" => "What is revealed",
        "reveal-to" => "Who learns it",
        "engine" => "Engine",
        "alphabet" => "Letters",
        _ => {
            let (part, name) = field.split_once('.').unwrap_or(("", field));
            return match part {
                "metric" => format!("Metric, {name}"),
                "encoding" => format!("Encode, {name}"),
                _ => field.to_string(),
            };
        }
    };
    name.to_string()
}

/// Whether a limit refused what would be revealed.
fn other_answer(error: &Error) -> bool {
    match error {
        Error::Session(SessionError::Limit(limit))
        | Error::Session(SessionError::Declined(DeclineReason::Limit(limit))) => matches!(
            limit,
            Limit::Comparisons(_)
                | Limit::PeerComparisons
                | Limit::Disclosure(_)
                | Limit::PeerDisclosure
        ),
        Error::WithPeer(error) => other_answer(error),
        _ => false,
    }
}

fn advice(error: &Error) -> &'static str {
    match error {
        Error::Session(SessionError::Declined(DeclineReason::Limit(limit))) => match limit {
            Limit::PeerComparisons => {
                "Choose a group answer on both sides, or ask the partner to allow more comparisons under “More” if it trusts you."
            }
            Limit::PeerDisclosure => "Agree with the partner on another answer.",
            _ => "",
        },
        Error::Session(SessionError::Limit(limit)) => match limit {
            Limit::Comparisons(_) => {
                "Choose a group answer on both sides, or allow more comparisons under “More” if you trust the partner."
            }
            Limit::Disclosure(DisclosureRefusal::ChangedEncoding { .. }) => {
                "Encode and round the recordings as before. If none of them was added or corrected since, and the new settings change most scanpaths, use the command line with “--allow changed-encoding”."
            }
            Limit::Disclosure(DisclosureRefusal::Withdrawn { .. }) => {
                "Leave these participants out of the cohort."
            }
            Limit::Disclosure(DisclosureRefusal::HistogramOverlap { .. }) => {
                "Choose another answer, or other participants."
            }
            Limit::Disclosure(_) => {
                "Choose another answer, add participants, or allow smaller groups under “More” on both sides."
            }
            _ => "",
        },
        Error::Session(SessionError::Differs(_)) => {
            "Change one of them, or open a new invitation from the host on the other side."
        }
        Error::Session(SessionError::KeyRejected) => {
            "The partner has another fingerprint for you: send it your answer or invitation again, and compare the words by phone."
        }
        Error::Session(SessionError::WrongPeer { .. } | SessionError::UnknownPeer { .. }) => {
            "Open the partner's invitation or answer again, and compare the words by phone. If they differ, somebody else may have answered."
        }
        Error::Session(SessionError::Network(error)) => network(error),
        Error::Interrupted { error, .. } => match error {
            SessionError::Network(NetworkError::Stopped) => {
                "What was computed is kept. When both sides are ready, press Resume here; the partner presses Resume, too, or connects again."
            }
            _ => {
                "The partner paused, its program ended, or the connection was lost, for example because a laptop went to sleep. What \
                 was computed is kept. Press Resume here; the partner presses Resume, too, or connects again if its page shows no Resume."
            }
        },
        Error::WithPeer(error) => advice(error),
        Error::NothingToCompare { .. } => {
            "Choose all pairs, or give the stimuli the same names in both cohorts."
        }
        Error::NothingToCompareWithin { .. } => "Choose all pairs.",
        Error::MetricOptions(MetricOptionsError::GridMissing) => {
            "This metric compares cells by their distance, and areas have no distances. Choose a grid under Encode, or another metric, such as Levenshtein."
        }
        Error::MetricOptions(MetricOptionsError::ViewMissing) => {
            "Enter the size of the screen in centimetres and its distance under Data, More, and tick “Keep fixations” under Encode, More."
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
        NetworkError::AddressInUse { .. } => {
            "Another Veilpath may be waiting for its partner: open its page from the browser's history. Or choose another port."
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath::Difference;

    #[test]
    fn plans_that_differ_are_shown_side_by_side() {
        let fields = ["metric.name", "metric.gap", "encoding.grid", "reveal"];
        let differences = fields.map(|field| Difference {
            field: field.into(),
            ours: "a".into(),
            theirs: "b".into(),
        });
        let error = SessionError::Differs(differences.into());
        let problem = Problem::from(&Error::Session(error));
        let names: Vec<&str> = problem.differences.iter().map(|it| &*it[0]).collect();
        let expected = ["Metric", "Metric, gap", "Encode, grid", "What is revealed"];
        assert_eq!(names, expected);
        assert!(!problem.message.contains("metric.name"), "{problem:?}");
        assert!(problem.advice.contains("invitation"), "{problem:?}");
    }

    #[test]
    fn a_partner_with_too_many_participants_is_offered_another_answer() {
        let limit = DeclineReason::Limit(Limit::PeerComparisons);
        let error = Error::Session(SessionError::Declined(limit));
        let problem = Problem::from(&error);
        assert!(problem.other_answer, "{problem:?}");
        assert!(problem.advice.contains("group answer"), "{problem:?}");
        let rejected = Problem::from(&Error::Session(SessionError::KeyRejected));
        assert!(rejected.advice.contains("fingerprint"), "{rejected:?}");
        assert!(!rejected.other_answer, "{rejected:?}");
    }
}
