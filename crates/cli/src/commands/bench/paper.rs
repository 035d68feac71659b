//! `veilpath bench paper`: the tables and figures of the paper's evaluation, measured on this machine.

use crate::failure::Failure;
use crate::metric_args::MetricArgs;
use crate::{inputs, messages, notes, progress};
use clap::Args;
use std::path::PathBuf;
use veilpath::{Engine, OutputFile, PlanOptions};
use veilpath_evaluation::CohortPair;
use veilpath_evaluation::paper::{self, Event, Options, UserCohorts};

/// The default seed.
const DEFAULT_SEED: u64 = 1;

const EXAMPLES: &str = "\
Examples:
  veilpath bench paper --quick --cohort-a a.csv --cohort-b b.csv -o paper

Without --quick it takes a few minutes longer than --budget. The folder will contain index.html, summary.md, paper.json and a CSV \
file per table. Both parties run here, over TLS on loopback; the times include everything except generating keys. What does \
not fit into the budget is extrapolated from the measured time per cell, and marked as such. To resume an interrupted run, run \
the same command again.";

/// The arguments of `bench paper`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PaperArgs {
    /// The folder for the results
    #[arg(short, long, value_name = "FOLDER", value_parser = inputs::named_place())]
    output: PathBuf,

    /// Time for the comparisons with the paillier engine
    #[arg(long, value_name = "MINUTES", default_value_t = 30.0, value_parser = minutes)]
    budget: f64,

    /// Measure everything in under two minutes: short measurements on parts of the data sets
    #[arg(long)]
    quick: bool,

    /// Your own cohort for the data set table, together with --cohort-b; the metric options apply to these two
    #[arg(long, value_name = "FILE", requires = "cohort_b")]
    cohort_a: Option<PathBuf>,

    /// The cohort to compare it with
    #[arg(long, value_name = "FILE", requires = "cohort_a")]
    cohort_b: Option<PathBuf>,

    /// The seed of the random scanpaths
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_SEED)]
    seed: u64,

    // Last, because its heading applies to everything that follows.
    #[command(flatten)]
    metric: MetricArgs,
}

/// Measures what has not been measured yet, and writes the files.
pub(super) fn run(args: &PaperArgs) -> Result<(), Failure> {
    let options = Options {
        folder: args.output.clone(),
        budget_minutes: args.budget,
        quick: args.quick,
        seed: args.seed,
        user_cohorts: user_cohorts(args)?,
    };
    let bar = progress::bar(0, progress::Unit::Steps, messages::is_quiet());
    let evaluation = paper::run(&options, &|event| match event {
        Event::Resumed { measurements } => messages::note(&format!(
            "{}: resuming after {measurements} finished measurements",
            args.output.display(),
        )),
        Event::Progress { done, total } => {
            bar.set_length(total);
            bar.set_position(done);
        }
        _ => {}
    })?;
    bar.finish_and_clear();
    for file in evaluation.files(&command(args)).map_err(Failure::json)? {
        let new = OutputFile::create(&args.output.join(file.name), &[])?;
        new.write(|out| out.write_all(file.content.as_bytes()))?;
    }
    messages::info(&format!("{}\n", evaluation.summary().join("\n")));
    messages::note(&format!(
        "{}: written",
        args.output.join("index.html").display()
    ));
    Ok(())
}

/// The command for the summary, without the names of the user's files.
fn command(args: &PaperArgs) -> String {
    let mut command = "veilpath bench paper".to_owned();
    if args.quick {
        command.push_str(" --quick");
    } else {
        command.push_str(&format!(" --budget {}", args.budget));
    }
    if args.seed != DEFAULT_SEED {
        command.push_str(&format!(" --seed {}", args.seed));
    }
    if args.cohort_a.is_some() {
        command.push_str(" --cohort-a A --cohort-b B");
    }
    command + " -o FOLDER"
}

fn user_cohorts(args: &PaperArgs) -> Result<Option<UserCohorts>, Failure> {
    let (Some(a), Some(b)) = (&args.cohort_a, &args.cohort_b) else {
        return Ok(None);
    };
    inputs::check_single_stdin(&[a, b])?;
    let files = [inputs::cohort(a)?, inputs::cohort(b)?];
    let options = PlanOptions::new(Engine::Plain, (&args.metric).into());
    let print = |event| notes::print(&event);
    let planned = veilpath::plan([&files[0], &files[1]], &options, &print)?;
    Ok(Some(UserCohorts {
        names: [a, b].map(|path| path.display().to_string()),
        pair: CohortPair {
            a: planned.a,
            b: planned.b,
            metric: planned.spec.metric,
        },
    }))
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(minutes) if (0.0..=100_000.0).contains(&minutes) => Ok(minutes),
        _ => Err("expected a number of minutes".into()),
    }
}
