//! `veilpath compare`: both cohorts are on this machine.

use crate::cohorts::{self, Plan};
use crate::engine_args::{EngineArgs, KeyArgs};
use crate::failure::Failure;
use crate::metric_args::MetricArgs;
use crate::output::OutputArgs;
use crate::reveal_args::RevealArgs;
use crate::{messages, progress};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};
use std::time::Instant;
use veilpath_metrics::{Cohort, Entry, Metric, Notation};
use veilpath_protocol::{
    Engine, MAX_PAIRS, Observer, Outcome, PairRule, Spec, compare_here, count_pairs,
};
use veilpath_report::table;
use veilpath_session::{Fault, HostKey, SessionError, compare_on_loopback};

const EXAMPLES: &str = "\
Examples:
  veilpath compare a.csv b.csv
  veilpath compare a.csv b.csv --metric needleman-wunsch --substitution manhattan --gap 2
  veilpath compare a.csv b.csv --metric scanmatch --threshold 3.5 --gap -0.5 --format csv
  veilpath compare a.csv b.csv --metric smith-waterman --match 2 --mismatch 1 -o scores.json
  veilpath compare a.csv b.csv --engine plain
  veilpath compare few.csv other.csv --engine paillier
  veilpath compare a.csv b.csv --reveal threshold:12

Both roles run here as between two institutions, over TLS within this machine; --engine plain computes directly.

A cohort file is CSV with the columns participant, stimulus (may be absent) and scanpath, as `veilpath encode` \
writes it; one string per line; or lines of participant, tab, letters (OGAMA, ScanGraph).";

/// The arguments of `compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    /// The first cohort (rows of the result)
    pub(crate) a: PathBuf,

    /// The second cohort
    pub(crate) b: PathBuf,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,

    #[command(flatten)]
    pub(crate) key: KeyArgs,

    /// Which scanpaths to compare: same-stimulus (where both cohorts have stimuli) or all with all
    #[arg(long, value_enum, value_name = "RULE", default_value = "same-stimulus")]
    pub(crate) pairs: PairsName,

    /// How the letters are written, where the files do not say [default: as they look]
    #[arg(long, value_enum, value_name = "NOTATION")]
    pub(crate) alphabet: Option<NotationName>,

    #[command(flatten)]
    pub(crate) reveal: RevealArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    // Last, because its heading goes on to all that follows.
    #[command(flatten)]
    pub(crate) metric: MetricArgs,
}

/// The pair rules on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PairsName {
    /// Equal stimuli where both cohorts have stimuli, else all with all
    SameStimulus,
    /// All with all
    All,
}

/// The notations on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum NotationName {
    /// A…Z a…z
    Letters,
    /// ScanMatch's aA…zZ
    DoubleLetters,
    /// Cell numbers from 0, separated by spaces
    Numbers,
    /// A C G T
    Dna,
}

impl From<PairsName> for PairRule {
    fn from(name: PairsName) -> Self {
        match name {
            PairsName::SameStimulus => PairRule::SameStimulus,
            PairsName::All => PairRule::All,
        }
    }
}

impl From<NotationName> for Notation {
    fn from(name: NotationName) -> Self {
        match name {
            NotationName::Letters => Notation::Letters,
            NotationName::DoubleLetters => Notation::DoubleLetters,
            NotationName::Numbers => Notation::Numbers,
            NotationName::Dna => Notation::Dna,
        }
    }
}

/// Compares and writes.
pub(crate) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let notation = args.alphabet.map(Notation::from);
    let paths = [&args.a, &args.b];
    let plan = cohorts::plan(paths, notation, &args.metric, messages::is_quiet())?;
    let own = [(&plan.a, paths[0]), (&plan.b, paths[1])];
    refuse_empty_for_scanmatch(&plan.metric, &own, Ids::Shown)?;
    for (cohort, path) in [(&plan.a, paths[0]), (&plan.b, paths[1])] {
        args.reveal.check_lengths(cohort, path)?;
    }
    let EngineArgs { engine, paillier } = &args.engine;
    let (engine, key) = args.key.engine(*engine, paillier)?;
    let rule = args.pairs.into();
    let metric = veilpath::MetricOptions::from(&args.metric);
    let table = metric.table_file();
    let inputs: Vec<&Path> = paths
        .into_iter()
        .map(PathBuf::as_path)
        .chain(table)
        .chain(args.key.file())
        .collect();
    // The file itself is made at the end: an interrupted comparison, which may have lasted hours, leaves nothing behind.
    let output = args.output.check(&inputs)?;
    if !messages::is_quiet() {
        say_left_out(rule, &plan, paths);
    }
    let way = match engine {
        // Nobody is to be protected from anybody: no network is needed.
        Engine::Plain => Way::InTheClear,
        engine => Way::BothRoles(engine, key),
    };
    let mut outcome = compare(way, rule, args.reveal, &plan, messages::is_quiet())?;
    outcome.one_cohort = plan.a == plan.b;
    output.write(&args.output, &inputs, &(&outcome).into())?;
    if !messages::is_quiet() {
        if outcome.one_cohort {
            messages::note(
                "one cohort is compared with itself: the results contain every pair in both directions and every \
                 scanpath with itself; the summary counts each pair of two scanpaths once",
            );
        }
        messages::info(&table::summary(&outcome));
    }
    Ok(())
}

/// How two cohorts of this machine are compared.
pub(crate) enum Way {
    /// Directly.
    InTheClear,
    /// By both roles of an engine, as between two institutions, over TLS within this machine. The host may bring a key.
    BothRoles(Engine, Option<HostKey>),
}

/// Compares two cohorts of this machine, with a progress bar.
pub(crate) fn compare(
    way: Way,
    rule: PairRule,
    reveal: RevealArgs,
    plan: &Plan,
    quiet: bool,
) -> Result<Outcome, Failure> {
    let (a, b) = (&plan.a, &plan.b);
    let engine = match way {
        Way::InTheClear => Engine::Plain,
        Way::BothRoles(engine, _) => engine,
    };
    let mut spec = Spec::new(engine, plan.metric.clone(), rule, a, b)?;
    reveal.apply(&mut spec)?;
    let count = count_pairs(rule, a, b);
    let (pairs, cells) = (count.pairs, spec.cells(&count));
    if pairs == 0 {
        return Err(Failure::input(
            "there is nothing to compare: the two cohorts have no stimulus in common\n  \
             compare all scanpaths with all others by --pairs all, or rename the stimuli in one file",
        ));
    }
    if pairs > MAX_PAIRS {
        return Err(Failure::input(format!(
            "these are {pairs} pairs; at most {MAX_PAIRS} are compared in one run\n  \
             compare parts of the cohorts, for example stimulus by stimulus"
        )));
    }
    let bar = progress::bar(cells, progress::Unit::Cells, quiet);
    let outcome = match way {
        Way::InTheClear => in_the_clear(spec, plan, &bar),
        Way::BothRoles(_, key) => {
            compare_on_loopback(&spec, key, [a, b], [&OnBar(&bar), &()]).map_err(both_are_ours)
        }
    };
    bar.finish_and_clear();
    outcome
}

fn in_the_clear(spec: Spec, plan: &Plan, bar: &ProgressBar) -> Result<Outcome, Failure> {
    let start = Instant::now();
    let mut outcome = compare_here(spec, &plan.a, &plan.b, &OnBar(bar))?;
    outcome.cost.seconds = start.elapsed().as_secs_f64();
    Ok(outcome)
}

/// What one side would hold against the other is the caller's, who brought both.
fn both_are_ours(error: SessionError) -> Failure {
    match error.fault() {
        Fault::PeerDiffers => Failure::input(error.to_string()),
        _ => error.into(),
    }
}

/// Moves a progress bar by cells.
pub(crate) struct OnBar<'a>(pub(crate) &'a ProgressBar);

impl Observer for OnBar<'_> {
    fn cells(&self, finished: u64) {
        self.0.inc(finished);
    }
}

/// Scanpaths that are compared with nothing are no error, but nobody should have to find out by counting rows.
fn say_left_out(rule: PairRule, plan: &Plan, paths: [&PathBuf; 2]) {
    let count = count_pairs(rule, &plan.a, &plan.b);
    if rule == PairRule::SameStimulus && plan.a.has_stimuli() != plan.b.has_stimuli() {
        let nameless = paths[usize::from(plan.a.has_stimuli())];
        messages::note(&format!(
            "{}: no scanpath has a stimulus, so all scanpaths are compared with all (`veilpath encode --stimulus` names them)",
            nameless.display()
        ));
    }
    let sides = [
        (&plan.a, count.left_out_of_a),
        (&plan.b, count.left_out_of_b),
    ];
    for ((cohort, left_out), path) in sides.into_iter().zip(paths) {
        if count.pairs > 0 && left_out > 0 {
            messages::note(&format!(
                "{}: {left_out} of {} scanpaths are compared with none, because the other cohort does not have their stimulus (--pairs all compares all with all)",
                path.display(),
                cohort.entries.len()
            ));
        }
    }
}

/// Whether a message may show participants and stimuli.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    /// To their owner, on the terminal.
    Shown,
    /// What sessions tell may end up in a log.
    Hidden,
}

/// ScanMatch divides by the length of the longer scanpath.
pub(crate) fn refuse_empty_for_scanmatch(
    metric: &Metric,
    cohorts: &[(&Cohort, &PathBuf)],
    ids: Ids,
) -> Result<(), Failure> {
    if !matches!(metric, Metric::ScanMatch { .. }) {
        return Ok(());
    }
    for (cohort, path) in cohorts {
        let entries = cohort.entries.iter().zip(1..);
        let empty: Vec<(&Entry, usize)> = entries
            .filter(|(entry, _)| entry.scanpath.is_empty())
            .collect();
        if !empty.is_empty() {
            return Err(Failure::input(format!(
                "{}: {} of {} scanpaths are empty, and ScanMatch is not defined for them: {}\n  \
                 remove those rows (veilpath encode --drop-empty leaves them out), or use another --metric",
                path.display(),
                empty.len(),
                cohort.entries.len(),
                first_few(&empty, ids)
            )));
        }
    }
    Ok(())
}

/// Scanpaths by their number in the file, from 1.
fn first_few(entries: &[(&Entry, usize)], ids: Ids) -> String {
    const NAMED: usize = 5;
    let name = |&(entry, number): &(&Entry, usize)| match (ids, &entry.stimulus) {
        (Ids::Hidden, _) => format!("number {number}"),
        (Ids::Shown, None) => format!("number {number} ({})", entry.participant),
        (Ids::Shown, Some(stimulus)) => {
            format!("number {number} ({} on {stimulus})", entry.participant)
        }
    };
    let named: Vec<String> = entries.iter().take(NAMED).map(name).collect();
    match entries.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_metrics::Scanpath;

    #[test]
    fn empty_scanpaths_are_named_to_their_owner_and_numbered_in_sessions() {
        let entry = |stimulus: Option<&str>| Entry {
            participant: "anna".into(),
            stimulus: stimulus.map(str::to_string),
            scanpath: Scanpath::new(Vec::new()),
        };
        let (cat, none) = (entry(Some("cat")), entry(None));
        let few = [(&cat, 2), (&none, 7)];
        assert_eq!(
            first_few(&few, Ids::Shown),
            "number 2 (anna on cat), number 7 (anna)"
        );
        assert_eq!(first_few(&few, Ids::Hidden), "number 2, number 7");
        let many: Vec<_> = std::iter::repeat_n((&cat, 1), 9).collect();
        assert!(first_few(&many, Ids::Hidden).ends_with(" and 4 more"));
    }
}
