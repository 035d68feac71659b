//! What `host` and `join` have in common: everything but the first connection.

use crate::cohorts::OwnCohort;
use crate::commands::compare::{NotationName, PairsName, refuse_empty_for_scanmatch};
use crate::commands::identity;
use crate::engine_args::{EngineName, KeyArgs, PaillierArgs};
use crate::events::{Events, LogFormat};
use crate::failure::Failure;
use crate::metric_args::MetricArgs;
use crate::output::OutputArgs;
use crate::reveal_args::RevealArgs;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Duration;
use veilpath_metrics::{Cohort, Metric, Notation};
use veilpath_protocol::{Engine, RevealTo, Role, Spec};
use veilpath_session::limits::Patience;
use veilpath_session::{
    Conversation, Fingerprint, Home, Identity, Plan, SecureChannel, SessionError, Wish,
};

/// The arguments of `host` and `join`.
#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// This institution's scanpaths
    #[arg(long, value_name = "FILE")]
    cohort: PathBuf,

    /// The other institution's fingerprint, as its `veilpath identity` shows it
    #[arg(long, value_name = "FINGERPRINT")]
    peer: Fingerprint,

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
    estimate: bool,

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
    output: OutputArgs,
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

/// Who is on this side and who is expected on the other.
pub(crate) struct Setup {
    pub(crate) identity: Identity,
    pub(crate) peer: Fingerprint,
}

/// A session over the channel that `connect` makes.
pub(crate) fn run(
    args: &SessionArgs,
    role: Role,
    key: &KeyArgs,
    wait: Duration,
    connect: impl FnOnce(&Setup, &Patience, &Events) -> Result<SecureChannel, SessionError>,
) -> Result<(), Failure> {
    let events = Events::new(args.log, args.output.quiet);
    converse(args, role, key, wait, connect, &events).map_err(|failure| events.failed(failure))
}

fn converse(
    args: &SessionArgs,
    role: Role,
    key: &KeyArgs,
    wait: Duration,
    connect: impl FnOnce(&Setup, &Patience, &Events) -> Result<SecureChannel, SessionError>,
    events: &Events,
) -> Result<(), Failure> {
    let quiet = events.is_quiet();
    let inputs: Vec<&Path> = [args.cohort.as_path()]
        .into_iter()
        .chain(key.file())
        .collect();
    let (engine, key) = key.engine(args.engine, &args.paillier)?;
    let notation = args.alphabet.map(Notation::from);
    let setup = Setup {
        identity: Identity::load(&identity::file(args.identity.as_ref())?)?,
        peer: args.peer,
    };
    let own = OwnCohort::open(&args.cohort, notation, &args.metric)?;
    args.reveal.check_lengths(own.cohort(), &args.cohort)?;
    if let Some(metric) = own.metric() {
        spec(args, engine, metric.clone(), own.cohort())?;
    }
    let output = args.output.check(&inputs)?;
    let home = home(args)?;
    let patience = Patience::new(Duration::from_secs(args.timeout), wait);
    events.warn_of(engine);
    let channel = connect(&setup, &patience, events)?;
    let (conversation, letters) = Conversation::greet(
        channel,
        role,
        &setup.identity,
        setup.peer,
        &own.letters,
        patience,
    )?;
    events.connected(setup.peer);
    let settled = own.settle(&letters, role, &args.metric, quiet);
    let settled = settled.and_then(|(cohort, metric)| {
        refuse_empty_for_scanmatch(&metric, &[(&cohort, &args.cohort)])?;
        args.reveal.check_lengths(&cohort, &args.cohort)?;
        Ok(Plan {
            spec: spec(args, engine, metric, &cohort)?,
            cohort,
            pseudonyms: args.pseudonyms,
            estimate_only: args.estimate,
            fresh: args.fresh,
            limit_per_scanpath: args.limit_per_scanpath,
            key,
        })
    });
    let plan = match settled {
        Ok(plan) => plan,
        Err(failure) => {
            conversation
                .decline("its options do not fit its own cohort, and it says so to its user");
            return Err(failure);
        }
    };
    let agreed = conversation.agree(plan, Some(&home))?;
    let summary = agreed.summary();
    events.agreed(&summary);
    match summary.only_estimate {
        Some(Wish::Ours) => return Ok(()),
        Some(Wish::Theirs) => {
            return Err(Failure::Peer(
                "the other side asked for an estimate only; nothing was computed".into(),
            ));
        }
        None => {}
    }
    let progress = events.progress(summary.cells);
    let ended = agreed.run(&progress);
    progress.finish();
    let ended = ended.map_err(|error| match Failure::from(error) {
        Failure::Network(message) => Failure::Network(format!(
            "{message}\n  run both commands again: they go on with the pairs that are missing"
        )),
        other => other,
    })?;
    output.write(&args.output, &inputs, &ended.outcome)?;
    events.ended(&ended);
    Ok(())
}

/// The plan for this side's cohort, where the engine can do all that is asked for.
fn spec(
    args: &SessionArgs,
    engine: Engine,
    metric: Metric,
    cohort: &Cohort,
) -> Result<Spec, Failure> {
    let mut spec = Spec::new(engine, metric, args.pairs.into(), cohort, cohort)?;
    spec.reveal_to = args.reveal_to.into();
    args.reveal.apply(&mut spec)?;
    Ok(spec)
}

/// Journals and counts are kept with the identity that they belong to.
fn home(args: &SessionArgs) -> Result<Home, Failure> {
    match (Home::of_user(), &args.identity) {
        (Ok(home), _) => Ok(home),
        (Err(_), Some(identity)) => {
            let folder = identity.parent().map(PathBuf::from).unwrap_or_default();
            Ok(Home::at(folder.join("veilpath")))
        }
        (Err(error), None) => Err(error.into()),
    }
}
