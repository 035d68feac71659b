//! A session with the partner.

use crate::App;
use crate::problem::Problem;
use crate::results::ResultState;
use crate::workspace::lock;
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use veilpath::{
    AgreementSummary, CompletedSession, Error, Event, GroupSummary, NetworkError, PeerEvent,
    SessionControl, SessionError, SessionEvent, describe_plan, units,
};

/// How often the page gets progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);

/// The state of a session.
#[derive(Debug, Default)]
pub(crate) struct SessionState {
    phase: Phase,
    control: Option<SessionControl>,
    /// Where this side listens or connects to.
    address: String,
    agreed: Option<Value>,
    progress: Option<Value>,
    reported: Option<Instant>,
    problem: Option<Problem>,
    /// The plan that both sides have agreed on in this session.
    shown: Option<ShownPlan>,
    /// The plan that this side's user has started, here or in the session that this one resumes.
    approved: Option<ShownPlan>,
    /// Whether the plan or the recordings have changed since the session began.
    is_outdated: bool,
    notes: Vec<String>,
}

/// What a user who presses *Start* approves. The id of the agreement does not cover the partner's groups and minimum.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ShownPlan {
    agreement: String,
    groups: Option<GroupSummary>,
}

/// Says which plan the user has read: the page may be out of date.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartForm {
    agreement: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    Waiting,
    Connected,
    /// Both sides agree; this side's user has not started yet.
    Agreed,
    /// This side's user has started; the partner's user may not have.
    Approved,
    Computing,
    Finished,
    Failed,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Phase::Idle => "idle",
            Phase::Waiting => "waiting",
            Phase::Connected => "connected",
            Phase::Agreed => "agreed",
            Phase::Approved => "approved",
            Phase::Computing => "computing",
            Phase::Finished => "finished",
            Phase::Failed => "failed",
        }
    }
}

impl SessionState {
    /// A session that is about to connect. It computes only what its user approves, here or, if it resumes another
    /// session, in that one.
    fn connecting(address: &str, approved: Option<ShownPlan>) -> (Self, SessionControl) {
        let control = SessionControl::with_approval();
        let session = Self {
            phase: Phase::Waiting,
            control: Some(control.clone()),
            address: address.to_string(),
            approved,
            ..Self::default()
        };
        (session, control)
    }

    /// Shows what both sides have agreed on. What the user has approved before starts; anything else waits for the user,
    /// because a partner may return with other recordings.
    fn show(&mut self, summary: &AgreementSummary) {
        let shown = ShownPlan {
            agreement: summary.agreement.clone(),
            groups: summary.groups,
        };
        self.agreed = Some(agreed(summary));
        self.phase = Phase::Agreed;
        if let Some(approved) = self.approved.take() {
            if approved == shown {
                self.approve(&shown);
            } else {
                let note = "This is not the plan or the data that you started before. Read it, and press Start if you agree.";
                self.notes.push(note.into());
            }
        }
        self.shown = Some(shown);
    }

    /// Starts the computation of this plan, if the session waits for it. Returns whether it does.
    fn approve(&mut self, plan: &ShownPlan) -> bool {
        let control = self.control.as_ref();
        let is_started = control.is_some_and(|control| control.approve(&plan.agreement));
        if is_started {
            self.phase = Phase::Approved;
            self.approved = Some(plan.clone());
        }
        is_started
    }

    pub(crate) fn is_running(&self) -> bool {
        self.control.is_some()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.phase == Phase::Failed
    }

    /// Requires a new approval, because the approved plan has changed. Results of computed pairs are kept.
    pub(crate) fn needs_approval(&mut self) {
        if self.is_running() {
            self.is_outdated = true;
        } else if matches!(self.phase, Phase::Failed | Phase::Finished) {
            // The old state is about the earlier plan.
            *self = Self::default();
        }
    }

    /// Ends the session; what was computed is kept.
    pub(crate) fn stop(&self) {
        if let Some(control) = &self.control {
            control.stop();
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "phase": self.phase.name(),
            "running": self.is_running(),
            "address": self.address,
            "agreed": self.agreed,
            "progress": self.progress,
            "problem": self.problem,
            "can_resume": self.approved.is_some(),
            "notes": self.notes,
        })
    }
}

impl App {
    /// Connects to the partner. A session that is resumed starts by itself if it is about what was approved before.
    pub(crate) fn connect(self: &Arc<Self>, resume: bool) -> Result<(), Problem> {
        let mut workspace = lock(&self.workspace);
        if workspace.is_busy() {
            return Err(Problem::new("another comparison is still running", ""));
        }
        let approved = workspace.session.approved.clone().filter(|_| resume);
        let joins = workspace.partner.role == "join";
        let address = workspace.partner.meeting_address().to_string();
        let (session, control) = SessionState::connecting(&address, approved);
        let options = workspace.session_options(control)?;
        let peer = workspace.partner.fingerprint()?;
        workspace.session = session;
        workspace.next_id += 1;
        let id = workspace.next_id;
        let own = workspace.cohorts[0]
            .as_ref()
            .map(|it| Arc::clone(&it.bytes));
        let is_name = joins || workspace.partner.via_relay;
        drop(workspace);
        if is_name {
            self.warn_of_unknown_name(address.clone());
        }
        let app = Arc::clone(self);
        std::thread::spawn(move || {
            let events = |event: Event| app.session_event(event);
            let result = match joins {
                true => veilpath::join(&address, peer, &options, &events),
                false => veilpath::host(&address, peer, &options, &events),
            };
            app.session_ended(result, id, own);
        });
        self.changed();
        Ok(())
    }

    /// A joining side retries for a while, because its partner may not be listening yet. A host name that does not resolve is probably
    /// misspelt.
    fn warn_of_unknown_name(self: &Arc<Self>, address: String) {
        let app = Arc::clone(self);
        std::thread::spawn(move || {
            if address.to_socket_addrs().is_ok() {
                return;
            }
            let mut workspace = lock(&app.workspace);
            let session = &mut workspace.session;
            if session.phase == Phase::Waiting && session.address == address {
                let note = "The name in this address is unknown here: check its spelling.";
                session.notes.push(note.into());
                drop(workspace);
                app.changed();
            }
        });
    }

    /// Starts the computation, after the user has read the plan.
    pub(crate) fn approve(&self, form: &StartForm) -> Result<(), Problem> {
        let mut workspace = lock(&self.workspace);
        let session = &mut workspace.session;
        let shown = session.shown.clone();
        let is_started =
            shown.is_some_and(|it| it.agreement == form.agreement && session.approve(&it));
        if !is_started {
            return Err(Problem::new("there is nothing to start", ""));
        }
        drop(workspace);
        self.changed();
        Ok(())
    }

    /// Clears a session that has ended, so that another can start.
    pub(crate) fn reset(&self) -> Result<(), Problem> {
        let mut workspace = lock(&self.workspace);
        if workspace.session.is_running() {
            return Err(Problem::new("the session is still running", ""));
        }
        workspace.session = SessionState::default();
        drop(workspace);
        self.changed();
        Ok(())
    }

    fn session_event(&self, event: Event) {
        let mut workspace = lock(&self.workspace);
        let session = &mut workspace.session;
        match event {
            Event::Session(SessionEvent::Listening { address, .. }) => {
                session.address = address.to_string();
            }
            Event::Session(SessionEvent::Rejected { reason, .. }) => {
                session.notes.push(format!(
                    "A connection was rejected: {reason}. If it was the partner, cancel, and open its answer again."
                ));
                session.notes.truncate(20);
            }
            Event::Session(SessionEvent::Peer { event, .. }) => match event {
                PeerEvent::Connected => session.phase = Phase::Connected,
                PeerEvent::Queued { ahead } => {
                    session.notes = vec![format!(
                        "The host is busy; sessions ahead of this one: {ahead}."
                    )];
                }
                PeerEvent::Agreed(summary) => session.show(&summary),
                PeerEvent::Progress(progress) => {
                    let due = session
                        .reported
                        .is_none_or(|it| it.elapsed() > REPORT_INTERVAL);
                    let left = progress.time_left().map(|left| left.as_secs_f64());
                    let progress = json!({
                        "event": "progress",
                        "session": true,
                        "done": progress.done,
                        "total": progress.total,
                        "seconds_left": left,
                    });
                    session.progress = Some(progress.clone());
                    let begins = session.phase != Phase::Computing;
                    session.phase = Phase::Computing;
                    if begins {
                        drop(workspace);
                        self.changed();
                    } else if due {
                        session.reported = Some(Instant::now());
                        drop(workspace);
                        self.hub.send(&progress);
                    }
                    return;
                }
                _ => {}
            },
            Event::Note(note) => session.notes.push(note.to_string()),
            Event::CohortNote { file, note } => session.notes.push(format!("{file}: {note}")),
            _ => {}
        }
        drop(workspace);
        self.changed();
    }

    fn session_ended(
        &self,
        result: Result<Option<CompletedSession>, Error>,
        id: u64,
        own: Option<Arc<[u8]>>,
    ) {
        let mut workspace = lock(&self.workspace);
        let session = &mut workspace.session;
        session.control = None;
        workspace.unseen = Some(Instant::now());
        let session = &mut workspace.session;
        match result {
            Ok(completed) => {
                session.phase = Phase::Finished;
                session.approved = None;
                if let Some(completed) = completed {
                    let problem = completed.journal_failure.map(|it| it.to_string());
                    workspace.partner_result = Some(Arc::new(ResultState {
                        id,
                        with_partner: true,
                        outcome: completed.outcome,
                        statistics: None,
                        own,
                        notes: problem.into_iter().collect(),
                        inputs: None,
                    }));
                }
            }
            Err(error) => {
                session.phase = Phase::Failed;
                // A session can be resumed only if the network ended it, and only as it was
                // approved.
                let is_interrupted = matches!(error, Error::Interrupted { .. })
                    || matches!(error, Error::Session(SessionError::Network(_)));
                if session.is_outdated || !is_interrupted {
                    session.approved = None;
                }
                let mut problem = Problem::from(&error);
                if is_stopped(&error) {
                    problem.message = match session.approved.is_some() {
                        true => "Paused.".into(),
                        false => "The session was ended on this side.".into(),
                    };
                }
                session.problem = Some(problem);
            }
        }
        drop(workspace);
        self.changed();
    }

    /// Tells the pages to reload the state.
    pub(crate) fn changed(&self) {
        self.hub.send(&json!({"event": "changed"}));
    }
}

fn is_stopped(error: &Error) -> bool {
    match error {
        Error::Session(error) | Error::Interrupted { error, .. } => {
            matches!(error, SessionError::Network(NetworkError::Stopped))
        }
        _ => false,
    }
}

/// What both sides have agreed on, as text.
fn agreed(summary: &AgreementSummary) -> Value {
    let estimate = &summary.estimate;
    let names = ["the host", "the joining side"].map(String::from);
    let plan = describe_plan(&summary.spec, &names, false);
    json!({
        "agreement": summary.agreement,
        "plan": plan,
        "learns": summary.revealed,
        "host_scanpaths": summary.host_scanpaths,
        "join_scanpaths": summary.join_scanpaths,
        "pairs": summary.pairs,
        "from_journal": summary.from_journal,
        "engine": summary.engine.engine.name(),
        "time": units::seconds(estimate.seconds),
        "traffic": units::bytes(estimate.bytes_to_host + estimate.bytes_to_join),
        "unpaired": summary.unpaired,
        "stimuli_on_one_side": summary.stimuli_on_one_side,
        "same_scanpaths": summary.same_scanpaths,
        "encoding_on_one_side": summary.encoding_on_one_side,
        "comparisons": summary.limit.after,
        "limit": summary.limit.limits.map(|(smallest, _)| smallest),
        "groups": summary.groups.map(|groups| json!({
            "minimum": groups.minimum,
            "answers": groups.answers,
            "most": groups.max_answers,
        })),
    })
}

#[cfg(test)]
mod tests;
