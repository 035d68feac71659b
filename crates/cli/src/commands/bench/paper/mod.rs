//! `veilpath bench paper`: the tables and figures of the paper's evaluation, measured on this machine beside the paper's own
//! numbers.
//!
//! | file | its job |
//! |---|---|
//! | `published` | what the paper reports |
//! | `lengths` | cohorts with the lengths of its data sets |
//! | `record` | what was measured, on disk as soon as it is |
//! | `measure` | measuring one step |
//! | `schedule` | which steps there are, and which of them fit into the budget |
//! | `extrapolate` | what did not fit, from what did |
//! | `tables` | rows of ours and theirs, as CSV and JSON |
//! | `page` | the same with plots, as one page |
//! | `markdown` | the same for documents |

mod extrapolate;
mod lengths;
mod markdown;
mod measure;
mod page;
mod published;
mod record;
mod schedule;
mod tables;

use crate::cohorts::{self, Plan};
use crate::failure::Failure;
use crate::messages;
use crate::metric_args::MetricArgs;
use crate::new_file::NewFile;
use clap::Args;
use record::{Header, Records};
use schedule::Schedule;
use std::path::PathBuf;

/// The seed where none is named.
const DEFAULT_SEED: u64 = 1;

const EXAMPLES: &str = "\
Examples:
  veilpath bench paper --quick --cohort-a a.csv --cohort-b b.csv -o paper

Without --quick it takes some minutes more than its --budget. The folder gets index.html, summary.md, paper.json and a CSV file per table. Both parties run here, over TLS on loopback; keys are \
made beforehand, everything else is in the times. What does not fit into the budget is extrapolated from the measured \
time per cell and marked. An interrupted run goes on when the same command is given again.";

/// The arguments of `bench paper`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PaperArgs {
    /// The folder for the results
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    /// Minutes for the comparisons of the engine paillier
    #[arg(long, value_name = "MINUTES", default_value_t = 30.0, value_parser = minutes)]
    budget: f64,

    /// A look at everything in under two minutes: short measurements, parts of the data sets
    #[arg(long)]
    quick: bool,

    /// A cohort of yours for the table of data sets, with --cohort-b; the metric is for these two
    #[arg(long, value_name = "FILE", requires = "cohort_b")]
    cohort_a: Option<PathBuf>,

    /// The cohort to compare it with
    #[arg(long, value_name = "FILE", requires = "cohort_a")]
    cohort_b: Option<PathBuf>,

    /// The seed of the random scanpaths
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_SEED)]
    seed: u64,

    // Last, because its heading goes on to all that follows.
    #[command(flatten)]
    metric: MetricArgs,
}

/// Measures what is not measured yet, and writes the folder.
pub(super) fn run(args: &PaperArgs) -> Result<(), Failure> {
    let own = own_cohorts(args)?;
    let header = Header {
        version: 1,
        seed: args.seed,
        quick: args.quick,
        machine: machine(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        cohorts: match (&args.cohort_a, &args.cohort_b) {
            (Some(a), Some(b)) => {
                let [a, b] = [a, b].map(|path| path.display().to_string());
                Some([a, b, format!("{:?}", args.metric)])
            }
            _ => None,
        },
    };
    let mut records = Records::open(&args.output, &header)?;
    if !messages::is_quiet() && !records.all.is_empty() {
        messages::note(&format!(
            "{}: going on after {} finished measurements",
            args.output.display(),
            records.all.len()
        ));
    }
    let schedule = Schedule {
        quick: args.quick,
        seed: args.seed,
        budget: if args.quick {
            schedule::QUICK_BUDGET
        } else {
            args.budget * 60.0
        },
        own: own.as_ref(),
        quiet: messages::is_quiet(),
    };
    let sizes = schedule.sizes()?;
    schedule.run(&sizes, &mut records)?;
    let tables = tables::Tables::new(&records.all, &sizes);
    for (name, text) in tables.csv() {
        write(args, &name, &text)?;
    }
    let json = tables.json(&header);
    let text = serde_json::to_string_pretty(&json).unwrap_or_default();
    write(args, "paper.json", &text)?;
    write(args, "index.html", &page::render(&tables, &header))?;
    let origin = markdown::Origin {
        header: &header,
        command: command(args),
        time: records.time(),
    };
    write(args, "summary.md", &markdown::render(&tables, &origin))?;
    if !messages::is_quiet() {
        messages::info(&format!("{}\n", tables.summary().join("\n")));
        messages::note(&format!(
            "{}: written",
            args.output.join("index.html").display()
        ));
    }
    Ok(())
}

/// The command that makes the folder again. Names of files are the user's business.
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

fn write(args: &PaperArgs, name: &str, text: &str) -> Result<(), Failure> {
    let file = NewFile::create(&args.output.join(name), &[])?;
    Ok(file.write(|out| out.write_all(text.as_bytes()))?)
}

/// The user's cohorts.
fn own_cohorts(args: &PaperArgs) -> Result<Option<Plan>, Failure> {
    let (Some(a), Some(b)) = (&args.cohort_a, &args.cohort_b) else {
        return Ok(None);
    };
    let plan = cohorts::plan([a, b], &args.metric)?;
    Ok(Some(plan))
}

/// The processor, as the system names it.
fn machine() -> String {
    let named = std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        });
    named.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(minutes) if (0.0..=100_000.0).contains(&minutes) => Ok(minutes),
        _ => Err("expected a number of minutes".into()),
    }
}
