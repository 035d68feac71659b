//! Events that a job reports while it runs.

use crate::{Progress, SessionEvent};
use std::fmt;
use veilpath_encode::CohortNote;
use veilpath_metrics::{RoundingError, Threshold};
use veilpath_protocol::{CancelToken, RiskySetting};
use veilpath_report::units::first_of;
use veilpath_session::{CoordinatorEvent, RelayEvent};

/// An event. Session events contain nothing about a participant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// Bytes were read, or matrix cells filled. The first event gives the total amount of work.
    Progress(Progress),
    /// A note about a cohort file.
    CohortNote {
        /// The file.
        file: String,
        /// What was assumed or found.
        note: CohortNote,
    },
    /// A note about the comparison.
    Note(Note),
    /// A step of a session.
    Session(SessionEvent),
    /// An event at a relay.
    Relay(RelayEvent),
    /// An event at a coordinator.
    Coordinator(CoordinatorEvent),
}

/// Something that is not an error but that a user may not expect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Only one file has stimuli, so every scanpath is compared with all of the other cohort.
    NoStimuli {
        /// The file without stimuli.
        file: String,
    },
    /// Scanpaths whose stimulus the other file does not have.
    Unpaired {
        /// The file.
        file: String,
        /// The number of unpaired scanpaths.
        unpaired: usize,
        /// The number of scanpaths in the file.
        scanpaths: usize,
        /// Their stimuli, in the order of the file.
        stimuli: Vec<String>,
    },
    /// Scanpaths without a stimulus, although others of both files have one.
    WithoutStimulus {
        /// The file.
        file: String,
        /// The number of scanpaths without a stimulus.
        without: usize,
        /// The number of scanpaths in the file.
        scanpaths: usize,
    },
    /// Scanpaths that are in both cohorts, unless the two are the same cohort.
    InBothCohorts {
        /// The number of scanpaths of the first cohort that the second has too.
        scanpaths: usize,
    },
    /// Empty scanpaths, with a metric that is defined for them.
    EmptyScanpaths {
        /// The file.
        file: String,
        /// The number of empty scanpaths.
        empty: usize,
        /// The number of scanpaths in the file.
        scanpaths: usize,
    },
    /// A threshold that only a distance of 0 meets.
    EqualityThreshold {
        /// The threshold.
        threshold: Threshold,
    },
    /// Fixations were rounded to letters.
    RoundedFixations {
        /// The cohort file.
        file: String,
        /// The unit of distances.
        unit: &'static str,
        /// How far they moved. This concerns only this side's data.
        error: RoundingError,
    },
    /// The user allowed a risky setting that the metric does not have.
    AllowedWithoutEffect {
        /// The setting.
        setting: RiskySetting,
    },
    /// A result file without the plan, the cost and what was revealed: a CSV file.
    NumbersOnly {
        /// The result file.
        file: String,
    },
    /// A cohort whose letters have no positions, because its file declares no grid.
    NoGrid {
        /// The cohort file.
        file: String,
    },
    /// No participant of the drawn cohort is in the result file.
    NotInResult,
    /// A question that the results do not answer.
    Unanswered {
        /// The question.
        question: String,
        /// The reason.
        reason: String,
    },
    /// No participant groups were given.
    NoGroups,
    /// Statistics cover one measure, but the results have several.
    OneMeasure {
        /// The measure.
        measure: String,
        /// The other measures.
        others: Vec<String>,
    },
    /// Statistics within one cohort cover a measure that depends on the order of a pair.
    BothOrders {
        /// The measure.
        measure: String,
    },
    /// Statistics between two cohorts cover pairs of scanpaths whose participants have the same id.
    SameParticipants {
        /// The number of such pairs.
        same: usize,
        /// The number of pairs.
        pairs: usize,
    },
    /// The assumption behind a test of sites.
    SitesExchangeable,
    /// The page shows scanpaths, so it must stay within this institution.
    PrivatePage,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::NoStimuli { file } => write!(
                f,
                "{file}: no scanpath has a stimulus, so every scanpath is compared with every scanpath of the other cohort"
            ),
            Note::Unpaired {
                file,
                unpaired,
                scanpaths,
                stimuli,
            } => {
                const LISTED: usize = 3;
                let stimuli = stimuli.iter().map(|it| format!("{it:?}"));
                write!(
                    f,
                    "{file}: {unpaired} of {scanpaths} scanpaths are not compared, because the other cohort does not have their stimulus, {}",
                    first_of(stimuli, LISTED)
                )
            }
            Note::WithoutStimulus {
                file,
                without,
                scanpaths,
            } => write!(
                f,
                "{file}: {without} of {scanpaths} scanpaths {} no stimulus and {} not compared",
                if *without == 1 { "has" } else { "have" },
                if *without == 1 { "is" } else { "are" }
            ),
            Note::InBothCohorts { scanpaths } => write!(
                f,
                "{scanpaths} {} in both cohorts (same participant, stimulus and letters); each is also compared with itself",
                if *scanpaths == 1 {
                    "scanpath is"
                } else {
                    "scanpaths are"
                }
            ),
            Note::EmptyScanpaths {
                file,
                empty,
                scanpaths,
            } => write!(
                f,
                "{file}: {empty} of {scanpaths} scanpaths {} empty; two empty scanpaths count as equal",
                if *empty == 1 { "is" } else { "are" }
            ),
            Note::EqualityThreshold { threshold } => write!(
                f,
                "the distances are whole numbers, so the threshold {threshold} only asks whether two scanpaths are equal"
            ),
            Note::RoundedFixations { file, unit, error } => {
                let RoundingError {
                    fixations,
                    off_screen,
                    mean_distance,
                    largest_distance,
                    mean_duration,
                    largest_duration,
                } = error;
                write!(
                    f,
                    "{file}: rounding moves the {fixations} fixations by {mean_distance:.1} {unit} on average and {largest_distance:.1} at most"
                )?;
                if let (Some(mean), Some(largest)) = (mean_duration, largest_duration) {
                    write!(
                        f,
                        ", and changes durations by {mean:.0} ms on average and {largest:.0} at most"
                    )?;
                }
                match off_screen {
                    0 => Ok(()),
                    1 => f.write_str("; one is off the screen and counts as being at its edge"),
                    count => write!(
                        f,
                        "; {count} are off the screen and count as being at its edge"
                    ),
                }
            }
            Note::AllowedWithoutEffect { setting } => write!(
                f,
                "allowing {} has no effect: this comparison does not need it",
                setting.name()
            ),
            Note::NumbersOnly { file } => write!(
                f,
                "{file}: the page has no plan, cost or list of what was revealed, because a CSV file does not contain them"
            ),
            Note::NoGrid { file } => write!(
                f,
                "{file}: the file does not declare the grid of its letters, so the page shows sequences and no pictures of scanpaths"
            ),
            Note::NotInResult => f.write_str("no participant of the cohort is in the result file"),
            Note::Unanswered { question, reason } => write!(f, "{question} is left out: {reason}"),
            Note::NoGroups => f.write_str(
                "no groups were given, so the questions that need groups are left out",
            ),
            Note::OneMeasure { measure, others } => write!(
                f,
                "the statistics are of {measure}; the results also have {}",
                others.join(", ")
            ),
            Note::BothOrders { measure } => write!(
                f,
                "{measure} depends on the order of the two scanpaths, so both orders of each pair count: statistics are of the mean of the two, and a histogram counts each"
            ),
            Note::SameParticipants { same, pairs } => write!(
                f,
                "in {same} of {pairs} pairs, both scanpaths have the same participant id; these pairs are included, so if the ids stand for the same people, the cohorts look more alike than they are"
            ),
            Note::SitesExchangeable => f.write_str(
                "the test of sites assumes that participants are exchangeable across sites: a different eye tracker or recruitment also makes sites differ",
            ),
            Note::PrivatePage => {
                f.write_str("the page shows your own scanpaths; do not give it to the other side")
            }
        }
    }
}

/// Receives events, possibly from several threads at once.
pub trait EventSink: Sync {
    /// Handles one event. It should return quickly.
    fn event(&self, event: Event);

    /// The token that cancels the job reporting here. A cancelled job soon ends with [`crate::Error::Cancelled`].
    fn cancel_token(&self) -> CancelToken {
        CancelToken::default()
    }
}

/// Calls the closure for each event.
impl<F: Fn(Event) + Sync> EventSink for F {
    fn event(&self, event: Event) {
        self(event);
    }
}

/// Discards all events.
impl EventSink for () {
    fn event(&self, _: Event) {}
}
