//! Sessions between two institutions: one hosts, the other joins.
//!
//! [`host`] waits for one peer, [`join`] connects to a host, and [`serve`] hosts several peers at once. All three take
//! [`SessionOptions`] and report their steps as [`SessionEvent`]s.

mod control;
mod coordinator;
mod event;
mod options;
mod peers;
mod queue;
mod relay;
mod result_folder;
mod serve;
mod signed_record;
mod stored_sessions;
mod users_files;
mod work;

pub use control::SessionControl;
pub use coordinator::coordinate;
pub use event::{PeerEvent, SessionEvent};
pub use options::SessionOptions;
pub use peers::{Peer, PeersError, PeersFileProblem, check_peers, read_peers, read_peers_from};
pub use relay::{gateway, relay};
pub use result_folder::{ResultFolder, ResultLocation, ServedPeer, write_peers};
pub use serve::{SaveResults, serve};
pub use signed_record::write_record;
pub use stored_sessions::{write_comparisons, write_known_peers};
pub use users_files::{identity_file, state_dir};
pub use work::{WorkOptions, WorkStorage, work};

use crate::progress::CellObserver;
use crate::{Error, Event, EventSink, Note};
use event::PeerProgress;
use queue::QueueReports;
use std::sync::Arc;
use std::time::Instant;
use veilpath_metrics::{Alphabet, Metric};
use veilpath_protocol::{
    Engine, EngineChoice, GroupQuestion, ProtocolError, RiskySetting, Role, risky_settings,
};
use veilpath_session::limits::Timeouts;
use veilpath_session::{
    AlphabetInfo, CompletedSession, ComputedSession, DeclineReason, Fingerprint, Limit,
    LimitOrigin, Listener, PolicyRequest, Proposal, Requested, ScanpathLimit, SecureChannel,
    Session, SessionError, UsageError,
};

/// Listens on `address` for one peer, or waits for it at the relay there, and compares. Returns `None` if this side
/// requested only the estimate.
pub fn host(
    address: &str,
    peer: Fingerprint,
    options: &SessionOptions,
    events: &dyn EventSink,
) -> Result<Option<CompletedSession>, Error> {
    let cancel = events.cancel_token();
    let session = || {
        let side = Side::checked(options, Role::Host, &[peer], events)?;
        let listener = side.listen(address, &[peer])?;
        let on_rejected = &mut |error: &_| side.report(SessionEvent::rejected(error));
        let channel = listener.accept_unless(
            &|| options.control.is_stopped() || cancel.is_cancelled(),
            &options.identity,
            peer,
            &side.timeouts,
            on_rejected,
        )?;
        side.run_alone(channel, peer)
    };
    session().map_err(|error: Error| error.or_cancelled(events))
}

/// Connects to a host, directly or through a relay, and compares. Returns `None` if this side requested only the
/// estimate.
pub fn join(
    address: &str,
    peer: Fingerprint,
    options: &SessionOptions,
    events: &dyn EventSink,
) -> Result<Option<CompletedSession>, Error> {
    let cancel = events.cancel_token();
    let session = || {
        let side = Side::checked(options, Role::Join, &[peer], events)?;
        veilpath_session::check_address(address)?;
        side.report(SessionEvent::Connecting {
            address: address.to_string(),
            relay: options.via_relay,
            fingerprint: options.identity.fingerprint(),
        });
        let connect = match options.via_relay {
            true => veilpath_session::join_at_relay,
            false => veilpath_session::join_unless,
        };
        let channel = connect(
            &|| options.control.is_stopped() || cancel.is_cancelled(),
            address,
            &options.identity,
            peer,
            &side.timeouts,
        )?;
        side.run_alone(channel, peer)
    };
    session().map_err(|error: Error| error.or_cancelled(events))
}

/// One side of a session.
struct Side<'a> {
    options: &'a SessionOptions,
    role: Role,
    timeouts: Timeouts,
    /// How much memory a session may use.
    memory: u64,
    events: &'a dyn EventSink,
}

impl<'a> Side<'a> {
    /// Prepares the state folder. Fails if other users may change it, before anybody connects.
    fn new(
        options: &'a SessionOptions,
        role: Role,
        events: &'a dyn EventSink,
    ) -> Result<Self, Error> {
        options.state_dir.prepare()?;
        options.check_minimum_group()?;
        Ok(Self {
            options,
            role,
            timeouts: Timeouts::new(options.idle_timeout, options.wait),
            memory: options.memory,
            events,
        })
    }

    /// A side that has passed all checks that need no connection to these peers.
    fn checked(
        options: &'a SessionOptions,
        role: Role,
        peers: &[Fingerprint],
        events: &'a dyn EventSink,
    ) -> Result<Self, Error> {
        let side = Self::new(options, role, events)?;
        side.reject_own_fingerprint(peers)?;
        side.check_tiles()?;
        side.check_policy(peers)?;
        side.check_answerable()?;
        side.check_risks()?;
        Ok(side)
    }

    /// Rejects this side's own fingerprint, which users sometimes give instead of the peer's.
    fn reject_own_fingerprint(&self, peers: &[Fingerprint]) -> Result<(), Error> {
        let fingerprint = self.options.identity.fingerprint();
        match peers.contains(&fingerprint) {
            true => Err(Error::OwnFingerprint { fingerprint }),
            false => Ok(()),
        }
    }

    /// Before connecting, rejects tiles of a plan that cannot be split, and a new agreement for a single tile.
    fn check_tiles(&self) -> Result<(), Error> {
        if self.options.tile_count.is_some() {
            self.options.cohort.check_splittable()?;
        }
        match self.options.fresh && self.options.cohort.tile().is_some() {
            true => Err(SessionError::from(UsageError::FreshTile).into()),
            false => Ok(()),
        }
    }

    /// Rejects what the policy does not currently allow: before connecting, and again once the other side has
    /// connected.
    fn check_policy(&self, partners: &[Fingerprint]) -> Result<(), Error> {
        let options = self.options;
        let Some(policy) = &options.policy else {
            return Ok(());
        };
        Ok(policy.check(&PolicyRequest {
            partners,
            engine: options.cohort.engine(),
            metric: options.cohort.metric_and_compared_alphabet().0.name(),
            reveal: options.cohort.reveal(),
            limit: options.limit_per_scanpath,
            time: veilpath_session::now(),
        })?)
    }

    /// The policy's refusal if one of its limits caused the error; otherwise the error, and whether both sides caused it.
    fn explain_session_error(&self, error: SessionError) -> Error {
        let refused = match (&error, &self.options.policy) {
            (SessionError::Limit(Limit::Comparisons(exceeded)), Some(policy))
                if exceeded.origin == LimitOrigin::Policy =>
            {
                policy.check_comparisons(exceeded.needed())
            }
            (SessionError::Limit(Limit::Disclosure(refusal)), Some(policy)) => {
                policy.check_refused_disclosure(refusal)
            }
            _ => Ok(()),
        };
        if let Err(refusal) = refused {
            return refusal.into();
        }
        mark_if_caused_by_both(error)
    }

    /// Before connecting, rejects a question about groups that this side's engine or cohort cannot answer.
    fn check_answerable(&self) -> Result<(), Error> {
        let cohort = &self.options.cohort;
        let Some(question) = cohort.reveal().group_question() else {
            return Ok(());
        };
        let engine = cohort.engine().representative();
        if !engine.supports_secret_shared_results() {
            let engine = engine.name();
            return Err(SessionError::from(UsageError::EngineWithoutGroups { engine }).into());
        }
        let [host, join] = question.sides_with_groups();
        match self.role {
            Role::Host if host => cohort.check_has_groups(),
            Role::Join if join => cohort.check_has_groups(),
            _ => Ok(()),
        }
    }

    /// Before connecting, rejects what this side's user must allow explicitly.
    fn check_risks(&self) -> Result<(), Error> {
        let options = self.options;
        let (metric, alphabet) = options.cohort.metric_and_compared_alphabet();
        let allowed = self.reject_risky_settings(metric, alphabet)?;
        for &setting in &options.allow {
            // Whether the encoding has changed is known only to the disclosure ledger.
            if setting != RiskySetting::ChangedEncoding && !allowed.contains(&setting) {
                let note = Note::AllowedWithoutEffect { setting };
                self.events.event(Event::Note(note));
            }
        }
        // Answers that name the host's scanpaths count as comparisons of these.
        let is_counted =
            |question: GroupQuestion| question.names_scanpaths() && self.role == Role::Host;
        let question = options.cohort.reveal().group_question();
        let has_limit = question.is_none_or(is_counted);
        if has_limit && options.limit_per_scanpath == ScanpathLimit::Default {
            options.cohort.check_protected_lengths()?;
        }
        Ok(())
    }

    /// Fails if the metric has risky settings that this side has not allowed. Returns those that it has allowed.
    fn reject_risky_settings(
        &self,
        metric: &Metric,
        alphabet: Alphabet,
    ) -> Result<Vec<RiskySetting>, Error> {
        if self.options.cohort.engine() == Engine::Plain.into() {
            return Ok(Vec::new());
        }
        let risky = risky_settings(metric, alphabet).map_err(ProtocolError::from)?;
        let is_allowed = |setting: &RiskySetting| self.options.allow.contains(setting);
        let (allowed, settings): (Vec<_>, Vec<_>) = risky.into_iter().partition(is_allowed);
        match settings.is_empty() {
            true => Ok(allowed),
            false => Err(Error::RiskySettings { settings }),
        }
    }

    fn listen(&self, address: &str, peers: &[Fingerprint]) -> Result<Listener, Error> {
        let identity = &self.options.identity;
        let fingerprint = identity.fingerprint();
        if !self.options.via_relay {
            let listener = Listener::bind(address)?;
            self.report(SessionEvent::Listening {
                address: listener.address(),
                fingerprint,
            });
            return Ok(listener);
        }
        veilpath_session::check_address(address)?;
        self.report(SessionEvent::Connecting {
            address: address.to_string(),
            relay: true,
            fingerprint,
        });
        Ok(Listener::at_relay(
            address,
            identity,
            peers,
            &self.timeouts,
        )?)
    }

    fn report(&self, event: SessionEvent) {
        self.events.event(Event::Session(event));
    }

    fn report_peer(&self, peer: &Arc<Peer>, event: PeerEvent) {
        self.report(SessionEvent::Peer {
            peer: Arc::clone(peer),
            event,
        });
    }

    fn open(
        &self,
        channel: SecureChannel,
        peer: Fingerprint,
    ) -> Result<(Session, AlphabetInfo), SessionError> {
        let options = self.options;
        Session::open(
            channel,
            self.role,
            &options.identity,
            peer,
            options.cohort.alphabet_info(),
            self.timeouts,
        )
    }

    /// Runs a session over this channel, with the only peer of this side.
    fn run_alone(
        &self,
        channel: SecureChannel,
        peer: Fingerprint,
    ) -> Result<Option<CompletedSession>, Error> {
        let ended = self.run(channel, &Arc::new(Peer::unnamed(peer)), |_| Ok(()))?;
        ended
            .map(|(computed, ())| self.complete(computed))
            .transpose()
    }

    /// Runs a session over this channel until the channel is closed. Without an outcome if only the estimate was requested.
    /// `prepare` is called once the session is open; what it returns is kept until the session ends.
    fn run<Kept>(
        &self,
        channel: SecureChannel,
        peer: &Arc<Peer>,
        prepare: impl FnOnce(&mut Session) -> Result<Kept, SessionError>,
    ) -> Result<Option<(ComputedSession, Kept)>, Error> {
        let attached = self.options.control.attach(channel.stop_handle()?);
        channel.cancel_with(self.events.cancel_token());
        let (mut session, theirs) = self.open(channel, peer.fingerprint)?;
        self.report_peer(peer, PeerEvent::Connected);
        let kept = prepare(&mut session)?;
        // The host may have waited past the policy's last day.
        if let Err(error) = self.check_policy(&[peer.fingerprint]) {
            session.decline(DeclineReason::LocalProblem);
            return Err(error);
        }
        let proposal = match self.propose(&theirs) {
            Ok(proposal) => proposal,
            Err(error) if self.options.cohort.fails_without_peer(self.role) => {
                session.decline(DeclineReason::LocalProblem);
                return Err(error);
            }
            Err(error) => {
                session.decline(DeclineReason::IncompatibleCohort);
                return Err(Error::WithPeer(Box::new(error)));
            }
        };
        let mut reports = QueueReports::default();
        let agreed = session
            .agree(proposal, Some(&self.options.state_dir), &mut |ahead| {
                if reports.is_due(ahead, Instant::now()) {
                    self.report_peer(peer, PeerEvent::Queued { ahead });
                }
            })
            .map_err(|error| self.explain_session_error(error))?;
        let summary = agreed.summary();
        let (estimate_requested, cells) = (summary.estimate_only, summary.cells);
        attached.request_approval(&summary.agreement);
        self.report_peer(peer, PeerEvent::Agreed(Box::new(summary)));
        match estimate_requested {
            Some(Requested::ByUs) => return Ok(None),
            Some(Requested::ByPeer) => return Err(SessionError::EstimateOnly.into()),
            None => {}
        }
        attached.wait_for_approval(|| agreed.is_connected())?;
        let report = PeerProgress::new(peer, self.events);
        let observer = CellObserver::waiting(cells, &report);
        let computed = agreed.compute(&observer).map_err(|error| match error {
            SessionError::Network(_) => Error::Interrupted {
                error,
                counts_again: !self
                    .options
                    .cohort
                    .engine()
                    .representative()
                    .opens_outputs_by_halves(),
            },
            other => self.explain_session_error(other),
        })?;
        Ok(Some((computed, kept)))
    }

    /// Opens the results.
    fn complete(&self, computed: ComputedSession) -> Result<CompletedSession, Error> {
        let completed = computed.complete();
        let mut completed = completed.map_err(|error| self.explain_session_error(error))?;
        completed.outcome.names = self.options.names.clone();
        Ok(completed)
    }

    /// This side's proposal, given the other side's alphabet.
    fn propose(&self, theirs: &AlphabetInfo) -> Result<Proposal, Error> {
        let options = self.options;
        let (cohort, spec) = options.cohort.resolve(theirs, self.role, self.events)?;
        self.reject_risky_settings(&spec.metric, spec.alphabet)?;
        Ok(Proposal {
            spec,
            auto_engine: options.cohort.engine() == EngineChoice::Auto,
            cohort,
            pseudonyms: options.pseudonyms,
            estimate_only: options.estimate_only,
            fresh: options.fresh,
            limit_per_scanpath: match &options.policy {
                None => options.limit_per_scanpath,
                Some(policy) => policy.limit(options.limit_per_scanpath),
            },
            declared_letters: options.cohort.declared_letters(),
            disclosure: options.disclosure_limits(),
            memory: Some(self.memory),
            tile: options.cohort.tile(),
            tile_count: options.tile_count,
            key: None,
        })
    }
}

/// Marks errors that the two cohorts cause together as [`Error::WithPeer`]: costs and lengths that are too large, and
/// groups that give no answer. Those that this side's cohort causes alone were found before it connected.
fn mark_if_caused_by_both(error: SessionError) -> Error {
    let caused_by_both = matches!(
        error,
        SessionError::Protocol(
            ProtocolError::Job(_) | ProtocolError::DoesNotFit { .. } | ProtocolError::Statistics(_)
        )
    );
    match caused_by_both {
        true => Error::WithPeer(Box::new(error.into())),
        false => error.into(),
    }
}

#[cfg(test)]
mod tests;
