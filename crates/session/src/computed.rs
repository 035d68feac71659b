//! Sessions that have ended, and whose results are still to be opened.
//!
//! A host with several peers gives the slot of such a session to the next one at once. Until it is the session's turn to be
//! saved, only its files have its results ([`ComputedSession::into_files`]).

use crate::error::SessionError;
use crate::identity::hex;
use crate::journal::{Journal, ReleasedJournal};
use crate::run::CompletedSession;
use crate::session::AgreedSession;
use crate::stored::released_outcome;
use veilpath_protocol::{Cost, Misbehaviour, Outcome, ProtocolError};

/// A session whose channel is closed. Nothing has depended on whether its results are possible.
#[derive(Debug)]
pub struct ComputedSession {
    known: Known,
    results: Unopened,
}

/// What is known about a session besides its results.
#[derive(Debug)]
struct Known {
    agreement: String,
    pairs: usize,
    max_agreements: u64,
    cost: Cost,
    journal_failure: Option<SessionError>,
}

/// Where the results are.
#[derive(Debug)]
enum Unopened {
    InMemory {
        session: Box<AgreedSession>,
        released: Option<ReleasedJournal>,
    },
    InFiles(ReleasedJournal),
}

impl ComputedSession {
    pub(crate) fn new(
        session: AgreedSession,
        seconds: f64,
        released: Option<ReleasedJournal>,
        journal_failure: Option<SessionError>,
    ) -> Self {
        let agreement = &session.agreement;
        let known = Known {
            agreement: hex(&agreement.id),
            pairs: agreement.pairs.len(),
            max_agreements: agreement.max_agreements,
            cost: Cost {
                seconds,
                ..session.cost()
            },
            journal_failure,
        };
        let session = Box::new(session);
        Self {
            known,
            results: Unopened::InMemory { session, released },
        }
    }

    /// Whether this side learns results, which may be impossible.
    pub fn has_results(&self) -> bool {
        match &self.results {
            Unopened::InFiles(_) => true,
            Unopened::InMemory { session, .. } => {
                let reveal_to = session.agreement.proposal.spec.reveal_to;
                reveal_to.includes(session.session.role)
            }
        }
    }

    /// Frees the memory of the session: its results will be read from the state folder. They stay in memory if there is none,
    /// or it lacks something, and on Windows, where another session that uses the files would keep this one from reading them.
    #[must_use]
    pub fn into_files(self) -> Self {
        let is_stored = self.has_results() && self.known.journal_failure.is_none();
        let results = match self.results {
            Unopened::InMemory {
                session,
                released: Some(released),
            } if is_stored && session.agreement.signs => Unopened::InFiles(released),
            other => other,
        };
        Self { results, ..self }
    }

    #[cfg(test)]
    pub(crate) fn into_files_if(self, in_files: bool) -> Self {
        match in_files {
            true => self.into_files(),
            false => self,
        }
    }

    #[cfg(test)]
    pub(crate) fn is_in_files(&self) -> bool {
        matches!(self.results, Unopened::InFiles(_))
    }

    /// Opens the results, or reports that one is impossible. This takes longer if all are possible, which the other side must
    /// not notice.
    pub fn complete(self) -> Result<CompletedSession, SessionError> {
        match self.results {
            Unopened::InMemory { session, .. } => {
                session.group_answer()?;
                let journal = &session.agreement.journal;
                self.known.completed(journal, || session.outcome())
            }
            Unopened::InFiles(released) => {
                let (outcome, journal) = released_outcome(released)?;
                self.known.completed(&journal, || outcome)
            }
        }
    }
}

impl Known {
    fn completed(
        self,
        journal: &Journal,
        outcome: impl FnOnce() -> Outcome,
    ) -> Result<CompletedSession, SessionError> {
        if journal.has_rejected() {
            let misbehaviour = Misbehaviour::ResultOutOfRange;
            return Err(ProtocolError::PeerMisbehaved(misbehaviour).into());
        }
        let (restarted_pairs, max_starts) = journal.repeated_starts(self.pairs);
        Ok(CompletedSession {
            outcome: Outcome {
                cost: self.cost,
                ..outcome()
            },
            agreement: self.agreement,
            pairs: self.pairs,
            restarted_pairs,
            max_starts,
            starts: journal.all_starts(self.pairs),
            max_agreements: self.max_agreements,
            journal_failure: self.journal_failure,
        })
    }
}
