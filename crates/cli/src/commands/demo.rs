//! `veilpath demo`: the whole job on bundled cohorts, in one command.

use crate::cohorts::Plan;
use crate::commands::compare;
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::reveal_args::RevealArgs;
use crate::say;
use clap::Args;
use veilpath_encode::{CohortFile, Input, cohort_file};
use veilpath_metrics::Metric;
use veilpath_protocol::{Engine, Outcome, PairRule};
use veilpath_report::table;

const EXAMPLES: &str = "\
Examples:
  veilpath demo
  veilpath demo --format json -o demo.json

The bundled cohorts are synthetic: `veilpath synth lifelike --participants 8 --stimuli 2 --seed 2024`, dealt by \
`veilpath split --seed 2`.";

/// The two institutions of the demo.
const CLINIC: &str = include_str!("../../../../testdata/demo/clinic.csv");
const UNIVERSITY: &str = include_str!("../../../../testdata/demo/university.csv");

/// The arguments of `demo`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    output: OutputArgs,
}

/// Compares the bundled cohorts and says what the scores show.
pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    let clinic = bundled("clinic.csv", CLINIC)?;
    let university = bundled("university.csv", UNIVERSITY)?;
    let no_grid = || Failure::input("clinic.csv: the bundled cohort does not name its grid");
    let grid = clinic.declared_grid.ok_or_else(no_grid)?;
    let (a, b) = (clinic.cohort, university.cohort);
    let quiet = args.output.quiet;
    let output = args.output.prepare(&[])?;
    if !quiet {
        say::lines(&format!(
            "A clinic with {} scanpaths and a university with {} compare who looked alike at the same pictures.\n\
             Both cohorts are synthetic: novices and experts, dealt to the two places at random.\n\n",
            a.entries.len(),
            b.entries.len()
        ));
    }
    let plan = Plan {
        a,
        b,
        metric: Metric::ScanMatch {
            grid,
            wrap: false,
            threshold: 3.5,
            gap: 0.0,
            scale: None,
        },
    };
    let outcome = compare::compare(
        Engine::Plain,
        PairRule::SameStimulus,
        RevealArgs::default(),
        &plan,
        quiet,
    )?;
    output.write(&outcome)?;
    if !quiet {
        say::lines(&format!(
            "\n{}\n{}",
            groups(&outcome),
            table::closing_lines(&outcome)
        ));
        say::lines(
            "\nNext: veilpath encode --help turns your own files into cohorts; veilpath compare --help lists the metrics.\n",
        );
    }
    Ok(())
}

fn bundled(name: &str, text: &str) -> Result<CohortFile, Failure> {
    let input = Input::from_bytes(name, text.as_bytes().to_vec())?;
    Ok(cohort_file::read(input, None)?)
}

/// Whether people of one group are more alike than people of different groups.
fn groups(outcome: &Outcome) -> String {
    let group = |id: &str| id.split('-').next().map(str::to_string);
    let mean = |same: bool| {
        let values: Vec<f64> = outcome
            .rows()
            .filter(|row| (group(row.a) == group(row.b)) == same)
            .filter_map(|row| row.answer.reading()?.similarity)
            .collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    format!(
        "Mean similarity within a group {:.2}, between groups {:.2}.",
        mean(true),
        mean(false)
    )
}
