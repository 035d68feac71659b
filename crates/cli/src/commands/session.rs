//! The arguments and the code that `host` and `join` share.

use crate::commands::compare::{NotationName, PairsName};
use crate::engine_args::{EngineName, PaillierArgs};
use crate::failure::Failure;
use crate::metric_args::MetricArgs;
use crate::output::{OutputArgs, WrittenTo, names};
use crate::reveal_args::RevealArgs;
use crate::session_log::{LogFormat, SessionLog};
use crate::{inputs, messages};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Duration;
use veilpath::{
    CompletedSession, DEFAULT_MEMORY, DEFAULT_MINIMUM_GROUP, EngineChoice, Error, EventSink,
    Fingerprint, Identity, LocalCohort, MAX_TILES, MIN_GROUP_SIZE, Notation, Outcome, Peer,
    PlanOptions, RevealTo, RiskySetting, ScanpathLimit, SessionOptions, SubstitutionChoice, Tile,
};

/// The longest wait for the other side, in seconds: a year.
pub(crate) const MAX_WAIT: u64 = 366 * 24 * 3600;

/// The arguments of `host` and `join`.
#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// This institution's scanpaths (- for standard input)
    #[arg(long, value_name = "FILE")]
    cohort: PathBuf,

    /// The engine. auto chooses when the comparison starts: garbled, or shares if that saves much time; if the partner names
    /// one of the two, auto uses that. plain protects nothing: the host sees every scanpath of the joining side
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "ENGINE",
        default_value_t
    )]
    engine: EngineName,

    /// Which scanpaths to compare
    #[arg(long, value_enum, value_name = "RULE", default_value = "same-stimulus")]
    pairs: PairsName,

    /// The notation of the letters, even if the files declare another [default: the declared one, else detected from the content]
    #[arg(long, value_enum, value_name = "NOTATION")]
    notation: Option<NotationName>,

    /// Number of different letters, if the file does not declare it; the same on both sides. If neither the
    /// file nor this option gives it, the default of --limit-per-scanpath assumes four letters
    #[arg(long, value_name = "COUNT")]
    letters: Option<u32>,

    /// Compare only one tile of the pairs, as in 3/8 for the third of eight, in a session of its own; needs the same --engine on both sides (not auto). All tiles
    /// belong to one agreement, and `veilpath merge` combines their results
    #[arg(long, value_name = "I/K")]
    tile: Option<Tile>,

    /// Agree on the plan, its limits and this many tiles, and compute nothing: `veilpath worker-key` then makes keys for the machines that
    /// compute them, with `veilpath worker`; needs the same --engine on both sides (not auto)
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["tile", "estimate", "output"], value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_TILES)))]
    pub(crate) tile_count: Option<u32>,

    /// Names of the two cohorts in this side's results and reports [default: host,join]
    #[arg(long, value_name = "HOST,JOIN", value_parser = names)]
    names: Option<[String; 2]>,

    #[command(flatten)]
    reveal: RevealArgs,

    /// Who gets the results
    #[arg(long, value_enum, value_name = "SIDE", default_value = "both")]
    reveal_to: RevealToName,

    /// Send pseudonyms instead of this side's participant ids, and hashes instead of stimulus names; the partner can still
    /// recognise a stimulus name that it also has or guesses. This side's results keep ids and names
    #[arg(long)]
    pseudonyms: bool,

    /// Agree on the plan, print the estimated cost, and stop
    #[arg(long)]
    pub(crate) estimate: bool,

    /// Compare all pairs again, and count them again. Both sides must pass this, except that a side that lost its files can
    /// pass it alone
    #[arg(long)]
    fresh: bool,

    /// Maximum number of comparisons with this partner for each of this side's scanpaths, across all sessions [default: half
    /// as many as it takes to reconstruct a scanpath, which depends on metric and length]
    #[arg(long, value_name = "COUNT")]
    limit_per_scanpath: Option<u64>,

    /// Minimum number of participants per side behind every part of a group answer; the largest of this value, the
    /// partner's and the policy's applies
    #[arg(long, value_name = "COUNT", default_value_t = DEFAULT_MINIMUM_GROUP, value_parser = clap::value_parser!(u32).range(i64::from(MIN_GROUP_SIZE)..=1 << 20))]
    minimum_group: u32,

    /// The policy file, which says what may leave this institution; a plan that it does not allow is refused before anything is
    /// sent [default: policy.toml in Veilpath's state folder, if it exists]
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
    policy: Option<PathBuf>,

    /// Allow a metric setting that lets a few comparisons reconstruct a scanpath: asymmetric-table (the order of two letters
    /// matters), fine-table (very fine costs) or extreme-gap (a gap costs more than any substitution); or changed-encoding:
    /// participants who were in an earlier answer with other encoding settings
    #[arg(long, value_name = "SETTING", value_delimiter = ',')]
    allow: Vec<RiskySetting>,

    /// Memory that this command may use, in MiB; a plan that needs more is declined before it starts
    #[arg(long, value_name = "MIB", default_value_t = DEFAULT_MEMORY >> 20, value_parser = clap::value_parser!(u64).range(64..=1 << 20))]
    memory: u64,

    /// The identity file [default: identity.pem in Veilpath's state folder]
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
    identity: Option<PathBuf>,

    /// Give up if nothing arrives from the partner for this long; a side that is computing sends keep-alives
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,

    /// How to report the steps of the session on standard error
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "FORMAT",
        default_value = "text"
    )]
    log: LogFormat,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    // Last, because their headings apply to everything that follows.
    #[command(flatten)]
    metric: MetricArgs,

    #[command(flatten)]
    paillier: PaillierArgs,
}

/// Who gets the results, on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RevealToName {
    /// Both sides
    Both,
    /// Only the host
    Host,
    /// Only the joining side
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

/// One side, ready for a session: everything that does not depend on the other side has been checked.
pub(crate) struct PreparedSession {
    pub(crate) options: SessionOptions,
    pub(crate) engine: EngineChoice,
    /// The input files, none of which may be overwritten.
    pub(crate) inputs: Vec<PathBuf>,
}

impl PreparedSession {
    /// The input files.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        self.inputs.iter().map(PathBuf::as_path).collect()
    }
}

impl SessionArgs {
    /// The file of this side's cohort.
    pub(crate) fn cohort(&self) -> &Path {
        &self.cohort
    }

    /// The log of a session; with `several` peers, messages start with the peer's name.
    pub(crate) fn log(&self, several: bool) -> SessionLog {
        SessionLog::new(self.log, several)
    }

    /// Whether the printed table would only repeat the summary, because the results are for the other side.
    fn prints_only_withheld_note(&self, outcome: &Outcome) -> bool {
        let in_summary = self.log == LogFormat::Text && !messages::is_quiet();
        let is_default = self.output.output.is_none() && self.output.format().is_none();
        outcome.is_withheld() && in_summary && is_default
    }

    /// Reads this side's files, and checks its options.
    pub(crate) fn prepare(&self, wait: Duration) -> Result<PreparedSession, Failure> {
        super::disable_core_dumps();
        let table = match &self.metric.substitution {
            Some(SubstitutionChoice::File(path)) => Some(path.as_path()),
            _ => None,
        };
        let identity_file = veilpath::identity_file(self.identity.as_deref())?;
        let inputs = [self.cohort.as_path(), &identity_file]
            .into_iter()
            .chain(table)
            .chain(self.policy.as_deref())
            .map(PathBuf::from)
            .collect();
        let engine = self.engine.with(&self.paillier)?;
        let identity = Identity::load(&identity_file)?;
        let plan = PlanOptions {
            notation: self.notation.map(Notation::from),
            letters: self.letters,
            pairs: self.pairs.into(),
            reveal: self.reveal.reveal,
            reveal_to: self.reveal_to.into(),
            pad_to: self.reveal.pad_to,
            tile: self.tile,
            ..PlanOptions::new(engine, (&self.metric).into())
        };
        let cohort = LocalCohort::new(inputs::cohort(&self.cohort)?, plan)?;
        let state_dir = veilpath::state_dir(self.identity.as_deref())?;
        let policy = veilpath::find_policy(self.policy.as_deref(), &state_dir)?;
        let mut options = SessionOptions::new(cohort, identity, state_dir);
        options.policy = policy;
        options.pseudonyms = self.pseudonyms;
        options.estimate_only = self.estimate;
        options.fresh = self.fresh;
        options.tile_count = self.tile_count;
        let limit = self.limit_per_scanpath.map(ScanpathLimit::Count);
        options.limit_per_scanpath = limit.unwrap_or_default();
        options.allow = self.allow.clone();
        options.memory = self.memory << 20;
        options.minimum_group = self.minimum_group;
        options.idle_timeout = Duration::from_secs(self.timeout);
        options.wait = wait;
        if let Some(names) = &self.names {
            options.names = names.clone();
        }
        Ok(PreparedSession {
            options,
            engine,
            inputs,
        })
    }
}

/// The address of the other side or of the relay, and whether it is the relay's. clap ensures that one of them is given.
pub(crate) fn address<'a>(direct: Option<&'a str>, relay: Option<&'a str>) -> (&'a str, bool) {
    match (direct, relay) {
        (_, Some(relay)) => (relay, true),
        (direct, None) => (direct.unwrap_or_default(), false),
    }
}

/// Runs a session with one peer; `connect` is the façade's `host` or `join`.
pub(crate) fn run(
    args: &SessionArgs,
    wait: Duration,
    peer: Fingerprint,
    connect: impl FnOnce(&mut SessionOptions, &dyn EventSink) -> Result<Option<CompletedSession>, Error>,
) -> Result<(), Failure> {
    let log = args.log(false);
    let session = || {
        let mut prepared = args.prepare(wait)?;
        let output = args.output.check(&prepared.inputs())?;
        log.warn_about(prepared.engine);
        let completed = connect(&mut prepared.options, &log)?;
        log.end_progress();
        if let (Some(completed), Some(count)) = (&completed, args.tile_count) {
            log.agreed_on_tiles(&Peer::unnamed(peer), &completed.agreement, count);
        } else if let Some(completed) = completed {
            let outcome = &completed.outcome;
            let written = match args.prints_only_withheld_note(outcome) {
                true => WrittenTo::Printed,
                false => output.write(&args.output, &prepared.inputs(), outcome)?,
            };
            log.written(&written);
            log.finished(&Peer::unnamed(peer), &completed, &written.summary(outcome));
        }
        Ok(())
    };
    session().map_err(|failure| log.failed(failure))
}
