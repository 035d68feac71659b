//! What `host` and `join` have in common: everything but the first connection.

use crate::commands::compare::{NotationName, PairsName};
use crate::commands::identity;
use crate::engine_args::{EngineName, KeyArgs, PaillierArgs};
use crate::events::{Events, LogFormat};
use crate::failure::Failure;
use crate::metric_args::MetricArgs;
use crate::output::OutputArgs;
use crate::reveal_args::RevealArgs;
use crate::{inputs, notes};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Duration;
use veilpath::{Event, Notation, OwnCohort, PlanOptions};
use veilpath_protocol::{Engine, ProtocolError, RevealTo, Role};
use veilpath_session::limits::Timeouts;
use veilpath_session::{
    AlphabetInfo, CompletedSession, DeclineReason, Fingerprint, HostKey, Identity, Proposal,
    Requested, SecureChannel, Session, SessionError, StateDir,
};

/// The longest wait for the other side to come, in seconds: a year.
pub(crate) const MAX_QUEUE_TIME: u64 = 366 * 24 * 3600;

/// The arguments of `host` and `join`.
#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// This institution's scanpaths
    #[arg(long, value_name = "FILE")]
    cohort: PathBuf,

    #[command(flatten)]
    metric: MetricArgs,

    /// How to compute. plain protects nothing: the host sees every scanpath of the joining side
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t)]
    engine: EngineName,

    #[command(flatten)]
    paillier: PaillierArgs,

    /// Which scanpaths to compare: same-stimulus (where both cohorts have stimuli) or all with all
    #[arg(long, value_enum, value_name = "RULE", default_value = "same-stimulus")]
    pairs: PairsName,

    /// How the letters are written, where the files do not say [default: as they look]
    #[arg(long, value_enum, value_name = "NOTATION")]
    alphabet: Option<NotationName>,

    #[command(flatten)]
    reveal: RevealArgs,

    /// Who gets the results
    #[arg(long, value_enum, value_name = "SIDE", default_value = "both")]
    reveal_to: RevealToName,

    /// Hide this side's participant ids and stimulus names from the other side; this side's results keep them
    #[arg(long)]
    pseudonyms: bool,

    /// Agree, say what the work would cost, and stop
    #[arg(long)]
    pub(crate) estimate: bool,

    /// Compare all pairs again, also those that an earlier run with the same plan has finished
    #[arg(long)]
    fresh: bool,

    /// The most comparisons of one scanpath of this side with this peer, over all sessions
    #[arg(long, value_name = "COUNT")]
    limit_per_scanpath: Option<u64>,

    /// The file of this side's identity [default: identity.pem in the user's folder for veilpath, or in $VEILPATH_HOME]
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,

    /// How long the other side may be silent; a side that computes gives signs of life
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,

    /// How to say on standard error what is going on
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    log: LogFormat,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Who gets the results, on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RevealToName {
    /// Both sides
    Both,
    /// The host alone
    Host,
    /// The joining side alone
    Join,
}

impl From<RevealToName> for RevealTo {
    fn from(name: RevealToName) -> Self {
        match name {
            RevealToName::Both => RevealTo::Both,
            RevealToName::Host => RevealTo::Host,
            RevealToName::Join => RevealTo::Join,
        }
    }
}

/// One side, ready for a session: everything that can be found wrong without the other side has been looked at.
pub(crate) struct Ready<'a> {
    args: &'a SessionArgs,
    role: Role,
    engine: Engine,
    key: Option<HostKey>,
    own: OwnCohort,
    /// The files that are read: none may be overwritten.
    pub(crate) inputs: Vec<&'a Path>,
    state_dir: StateDir,
    pub(crate) identity: Identity,
    pub(crate) timeouts: Timeouts,
    quiet: bool,
}

impl SessionArgs {
    /// How this side tells of events.
    pub(crate) fn events(&self) -> Events {
        Events::new(self.log, crate::messages::is_quiet())
    }

    /// Reads what this side has, and checks what it asks for.
    pub(crate) fn ready<'a>(
        &'a self,
        role: Role,
        key: &'a KeyArgs,
        wait: Duration,
        events: &Events,
    ) -> Result<Ready<'a>, Failure> {
        let inputs = [self.cohort.as_path()].into_iter().chain(key.file());
        let inputs = inputs.collect();
        let (engine, key) = key.engine(self.engine, &self.paillier)?;
        let identity = Identity::load(&identity::file(self.identity.as_ref())?)?;
        let options = PlanOptions {
            notation: self.alphabet.map(Notation::from),
            pairs: self.pairs.into(),
            reveal: self.reveal.reveal,
            reveal_to: self.reveal_to.into(),
            pad_to: self.reveal.pad_to,
            ..PlanOptions::new(engine, (&self.metric).into())
        };
        let own = OwnCohort::new(inputs::cohort(&self.cohort)?, options)?;
        Ok(Ready {
            role,
            engine,
            key,
            own,
            inputs,
            state_dir: state_dir(self)?,
            identity,
            timeouts: Timeouts::new(Duration::from_secs(self.timeout), wait),
            quiet: events.is_quiet(),
            args: self,
        })
    }
}

impl Ready<'_> {
    pub(crate) fn warn(&self, events: &Events) {
        events.warn_of(self.engine);
    }

    /// One session over this channel, to the end: with `--estimate` there is none. `turn` is asked once both have greeted.
    pub(crate) fn hold<T>(
        &self,
        channel: SecureChannel,
        peer: Fingerprint,
        events: &Events,
        turn: impl FnOnce(&mut Session) -> Result<T, SessionError>,
    ) -> Result<Option<CompletedSession>, Failure> {
        let letters = self.own.letters();
        let (mut session, theirs) = Session::open(
            channel,
            self.role,
            &self.identity,
            peer,
            letters,
            self.timeouts,
        )?;
        events.connected(peer);
        let waiting = events.clone();
        let mut told = None;
        session.on_wait(move |ahead| {
            if told.replace(ahead) != Some(ahead) {
                waiting.waiting(ahead);
            }
        });
        let _turn = turn(&mut session)?;
        let plan = match self.plan(&theirs, self.quiet) {
            Ok(plan) => plan,
            Err(failure) if self.is_ours() => {
                session.decline(DeclineReason::LocalProblem);
                return Err(failure);
            }
            Err(failure) => {
                session.decline(DeclineReason::IncompatibleCohort);
                return Err(failure.of_the_peer());
            }
        };
        let agreed = session
            .agree(plan, Some(&self.state_dir))
            .map_err(of_both)?;
        let summary = agreed.summary();
        events.agreed(&summary);
        match summary.estimate_only {
            Some(Requested::ByUs) => return Ok(None),
            Some(Requested::ByPeer) => return Err(SessionError::EstimateOnly.into()),
            None => {}
        }
        let progress = events.progress(summary.cells);
        let ended = agreed.run(&progress);
        progress.finish();
        let ended = ended.map_err(|error| match of_both(error) {
            Failure::Network(message) => Failure::Network(format!(
                "{message}\n  run both commands again: they go on with the pairs that are missing"
            )),
            other => other,
        })?;
        Ok(Some(ended))
    }

    /// Says good-bye to a peer that is not to be served.
    pub(crate) fn turn_away(
        &self,
        channel: SecureChannel,
        peer: Fingerprint,
        reason: DeclineReason,
    ) -> Result<(), SessionError> {
        let (letters, timeouts) = (self.own.letters(), self.timeouts);
        let greeted = Session::open(channel, self.role, &self.identity, peer, letters, timeouts);
        greeted?.0.decline(reason);
        Ok(())
    }

    /// Whether a plan that came to nothing is this side's own fault: there would be none with a peer that writes as this side does,
    /// either. Where this side has no grid it needs the peer's, and all depends on that.
    fn is_ours(&self) -> bool {
        self.own.fails_alone(self.role)
    }

    /// What this side brings to the table, now that it knows how the other's scanpaths are written.
    fn plan(&self, theirs: &AlphabetInfo, quiet: bool) -> Result<Proposal, Failure> {
        let args = self.args;
        let print = |event: Event| {
            if !quiet {
                notes::print(&event);
            }
        };
        let (cohort, spec) = self.own.settle(theirs, self.role, &print)?;
        Ok(Proposal {
            spec,
            cohort,
            pseudonyms: args.pseudonyms,
            estimate_only: args.estimate,
            fresh: args.fresh,
            limit_per_scanpath: args.limit_per_scanpath,
            key: self.key.clone(),
        })
    }
}

/// A session with one peer, over the channel that `connect` makes.
pub(crate) fn run(
    args: &SessionArgs,
    role: Role,
    key: &KeyArgs,
    wait: Duration,
    peer: Fingerprint,
    connect: impl FnOnce(&Ready<'_>, &Events) -> Result<SecureChannel, SessionError>,
) -> Result<(), Failure> {
    let events = args.events();
    let session = || {
        let ready = args.ready(role, key, wait, &events)?;
        ready.refuse_own(peer)?;
        let place = args.output.check(&ready.inputs)?;
        ready.warn(&events);
        let channel = connect(&ready, &events)?;
        let events = events.about(peer, None);
        if let Some(ended) = ready.hold(channel, peer, &events, |_| Ok(()))? {
            place.write(&args.output, &ready.inputs, &ended.outcome)?;
            events.ended(&ended);
        }
        Ok(())
    };
    session().map_err(|failure| events.failed(failure))
}

impl Ready<'_> {
    /// The usual mix-up: nobody else can show this side's own key.
    pub(crate) fn refuse_own(&self, peer: Fingerprint) -> Result<(), Failure> {
        if peer == self.identity.fingerprint() {
            return Err(Failure::input(format!(
                "{peer} is this side's own fingerprint\n  --peer takes the one that `veilpath identity` shows at the other institution"
            )));
        }
        Ok(())
    }
}

/// A failure after both have met. What this side can do by itself was looked at before: costs and lengths that are too much now are
/// those of both.
fn of_both(error: SessionError) -> Failure {
    let of_both = matches!(
        error,
        SessionError::Protocol(ProtocolError::Job(_) | ProtocolError::DoesNotFit { .. })
    );
    let failure = Failure::from(error);
    if of_both {
        failure.of_the_peer()
    } else {
        failure
    }
}

/// Journals and counts are kept with the identity that they belong to.
fn state_dir(args: &SessionArgs) -> Result<StateDir, Failure> {
    match (StateDir::for_user(), &args.identity) {
        (Ok(state_dir), _) => Ok(state_dir),
        (Err(_), Some(identity)) => {
            let folder = identity.parent().map(PathBuf::from).unwrap_or_default();
            Ok(StateDir::at(folder.join("veilpath")))
        }
        (Err(error), None) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_protocol::JobError;

    /// A peer with long scanpaths must not end a host that serves others.
    #[test]
    fn what_is_too_much_for_both_is_not_this_sides_failure() {
        let code = |error: ProtocolError| of_both(error.into()).code();
        let does_not_fit = ProtocolError::DoesNotFit {
            needed: 600,
            key_bits: 512,
        };
        assert_eq!(code(does_not_fit), 3);
        assert_eq!(code(ProtocolError::Job(JobError::CostsTooLarge)), 3);
        assert_eq!(code(ProtocolError::NoRandomness), 2);
    }
}
