//! `veilpath demo`: the whole job of two institutions on bundled cohorts, in one command.

use crate::cohorts::Plan;
use crate::commands::compare::{self, Way};
use crate::engine_args::{EngineName, PaillierArgs};
use crate::failure::Failure;
use crate::messages;
use crate::output::OutputArgs;
use crate::reveal_args::RevealArgs;
use clap::Args;
use veilpath_encode::{Input, RawCohort};
use veilpath_metrics::scale::DEFAULT_SCALE;
use veilpath_metrics::{Cohort, Comparison, Entry, Metric};
use veilpath_protocol::{Engine, Outcome, PairRule, ProtocolError, Reveal, Work, count_pairs};
use veilpath_report::table;

const EXAMPLES: &str = "\
Examples:
  veilpath demo
  veilpath demo --engine paillier --format json -o demo.json

Both institutions run here, each with a key of its own, and talk over TLS within this machine, as `veilpath host` and \
`veilpath join` do. At the end the scores are held against those in the clear.

The bundled cohorts are synthetic: `veilpath synth lifelike --participants 8 --stimuli 2 --seed 2024`, dealt by \
`veilpath split --seed 2`.";

/// The two institutions of the demo.
const CLINIC: &str = include_str!("../../../../testdata/demo/clinic.csv");
const UNIVERSITY: &str = include_str!("../../../../testdata/demo/university.csv");

/// No more is compared than is estimated to take so long.
const BEARABLE_SECONDS: f64 = 5.0;

const RULE: PairRule = PairRule::SameStimulus;

/// The arguments of `demo`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// How to compute; a slow engine compares a part of the cohorts
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t)]
    engine: EngineName,

    #[command(flatten)]
    output: OutputArgs,
}

/// Compares the bundled cohorts, says what the scores show, and holds them against the scores in the clear.
pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    let clinic = bundled("clinic.csv", CLINIC)?;
    let university = bundled("university.csv", UNIVERSITY)?;
    let no_grid = || Failure::input("clinic.csv: the bundled cohort does not name its grid");
    let grid = clinic.declared_grid().ok_or_else(no_grid)?;
    let engine = args.engine.with(&PaillierArgs::default())?;
    let whole = Plan {
        a: clinic.cohort(clinic.alphabet(None))?,
        b: university.cohort(university.alphabet(None))?,
        metric: Metric::ScanMatch {
            grid,
            wrap: false,
            threshold: 3.5,
            gap: 0.0,
            // The clear comparison then computes with the whole numbers of the private ones.
            scale: Some(DEFAULT_SCALE),
        },
    };
    let quiet = messages::is_quiet();
    let output = args.output.check(&[])?;
    let plan = bearable_part(engine, &whole);
    if !quiet {
        introduce(engine, &whole, &plan);
    }
    let all = RevealArgs::default();
    let outcome = compare::compare(Way::BothRoles(engine, None), RULE, all, &plan, quiet)?;
    let in_the_clear = compare::compare(Way::InTheClear, RULE, all, &plan, true)?;
    if outcome.results != in_the_clear.results {
        return Err(ProtocolError::Internal("the scores are not those in the clear").into());
    }
    output.write(&args.output, &[], &(&outcome).into())?;
    if !quiet {
        messages::info(&format!(
            "\n{}\n{}All {} scores are those of the comparison in the clear, to the last bit.\n",
            groups(&outcome),
            table::summary(&outcome),
            outcome.results.len()
        ));
        messages::info(
            "\nNext: veilpath encode --help turns your own files into cohorts; veilpath host --help and veilpath join --help \
             compare them between two institutions.\n",
        );
    }
    Ok(())
}

fn introduce(engine: Engine, whole: &Plan, plan: &Plan) {
    let (a, b) = (whole.a.entries.len(), whole.b.entries.len());
    let part = match (plan.a.entries.len(), plan.b.entries.len()) {
        all if all == (a, b) => String::new(),
        (first, second) => format!(
            "The engine {} is slow: to be done in seconds it gets {first} scanpaths of the one and {second} of the other (--engine plain gets all).\n",
            engine.name()
        ),
    };
    messages::info(&format!(
        "A clinic with {a} scanpaths and a university with {b} compare who looked alike at the same pictures.\n\
         Both cohorts are synthetic: novices and experts, dealt to the two places at random.\n{part}\n"
    ));
}

/// All of it where that is bearable, else as many viewers of the first picture as are.
fn bearable_part(engine: Engine, whole: &Plan) -> Plan {
    let picture = whole.a.entries.first().map(|entry| entry.stimulus.clone());
    let part = |viewers: usize| {
        let of = |cohort: &Cohort| {
            let sees = |entry: &&Entry| Some(&entry.stimulus) == picture.as_ref();
            let entries = cohort.entries.iter().filter(sees).take(viewers).cloned();
            Cohort {
                entries: entries.collect(),
                ..cohort.clone()
            }
        };
        Plan {
            a: of(&whole.a),
            b: of(&whole.b),
            metric: whole.metric.clone(),
        }
    };
    if seconds(engine, whole) <= BEARABLE_SECONDS {
        return whole.clone();
    }
    (1..whole.a.entries.len())
        .rev()
        .map(part)
        .find(|part| seconds(engine, part) <= BEARABLE_SECONDS)
        .unwrap_or_else(|| part(1))
}

fn seconds(engine: Engine, plan: &Plan) -> f64 {
    let count = count_pairs(RULE, &plan.a, &plan.b);
    let scanpaths = |cohort: &Cohort| cohort.entries.len() as u64;
    let letters = |cohort: &Cohort| {
        let lengths = cohort
            .entries
            .iter()
            .map(|entry| entry.scanpath.len() as u64);
        lengths.sum()
    };
    let work = Work {
        pairs: count.pairs,
        cells: count.cells,
        host_scanpaths: scanpaths(&plan.a),
        join_scanpaths: scanpaths(&plan.b),
        host_letters: letters(&plan.a),
        join_letters: letters(&plan.b),
        alphabet: plan.a.alphabet.size().into(),
        padded: false,
        reveal: Reveal::Score,
    };
    let comparison = Comparison::new(plan.metric.clone(), plan.a.alphabet);
    comparison.map_or(f64::INFINITY, |comparison| {
        engine.estimate(&comparison, &work).seconds
    })
}

fn bundled(name: &str, text: &str) -> Result<RawCohort, Failure> {
    let input = Input::from_bytes(name, text.as_bytes().to_vec())?;
    Ok(RawCohort::read(input)?)
}

/// Whether people of one group are more alike than people of different groups.
fn groups(outcome: &Outcome) -> String {
    let group = |id: &str| id.split('-').next().map(str::to_string);
    let mean = |same: bool| {
        let values: Vec<f64> = outcome
            .rows()
            .filter(|row| (group(row.a) == group(row.b)) == same)
            .filter_map(|row| row.values[1].number())
            .collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    format!(
        "Mean similarity within a group {:.2}, between groups {:.2}.",
        mean(true),
        mean(false)
    )
}
