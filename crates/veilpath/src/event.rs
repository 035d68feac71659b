//! What a job tells while it runs.

use crate::SessionEvent;
use veilpath_encode::CohortNote;

/// One thing to tell the user. Events about a session hold nothing of a participant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The amount of work: bytes of files to read, or matrix cells to fill.
    Total(u64),
    /// So much more of it is done.
    Advanced(u64),
    /// Something about a cohort file.
    CohortNote {
        /// The file.
        file: String,
        /// What was assumed or seen.
        note: CohortNote,
    },
    /// Something about the comparison.
    Note(Note),
    /// A step of a session.
    Session(SessionEvent),
}

/// Something that is not wrong, but that a user may not expect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Only one file names stimuli, so all scanpaths are compared with all.
    NoStimuli {
        /// The file without stimuli.
        file: String,
    },
    /// Scanpaths whose stimulus the other file does not have.
    Unpaired {
        /// The file.
        file: String,
        /// How many.
        unpaired: usize,
        /// Of how many.
        scanpaths: usize,
    },
    /// A result file without the plan, the cost and what was revealed: CSV.
    NumbersOnly {
        /// The result file.
        file: String,
    },
    /// No participant of the cohort that is drawn is in the result file.
    NotInResult,
    /// The page shows the scanpaths of one's own participants.
    PrivatePage,
}

/// Where events go. Jobs run on several threads, so a sink takes events from any of them.
pub trait EventSink: Sync {
    /// Takes one event; it should return soon.
    fn event(&self, event: Event);
}

/// A closure is a sink.
impl<F: Fn(Event) + Sync> EventSink for F {
    fn event(&self, event: Event) {
        self(event);
    }
}

/// Nobody listens.
impl EventSink for () {
    fn event(&self, _: Event) {}
}
