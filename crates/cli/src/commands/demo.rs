//! `veilpath demo`: a comparison of two bundled cohorts, with explanations.

use crate::engine_args::{EngineName, PaillierArgs};
use crate::failure::Failure;
use crate::messages;
use crate::output::{self, OutputArgs};
use crate::progress::Bar;
use clap::Args;
use veilpath::demo::{self, Demo};
use veilpath::{CompareOptions, table};

const EXAMPLES: &str = "\
Examples:
  veilpath demo
  veilpath demo -o demo.json
  veilpath demo --engine paillier --format json

Both institutions run here, each with its own key, and communicate over TLS within this machine, as `veilpath host` and \
`veilpath join` do. At the end, the scores are checked against those computed in the clear.

The bundled cohorts are synthetic: `veilpath synth lifelike --participants 8 --stimuli 2 --seed 2024`, split by \
`veilpath split --seed 2`.";

/// The arguments of `demo`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// The engine; a slow engine compares only part of the cohorts
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "ENGINE",
        default_value = "garbled"
    )]
    engine: EngineName,

    #[command(flatten)]
    output: OutputArgs,
}

/// Compares the bundled cohorts, explains the scores, and checks them against those computed in the clear.
pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    let engine = args.engine.with(&PaillierArgs::default())?;
    let output = args.output.check(&[])?;
    let demo = Demo::new(engine)?;
    print_introduction(&demo);
    messages::detail(&table::plan(&demo.planned.spec));
    let bar = Bar::cells();
    let outcome = veilpath::compare(&demo.planned, CompareOptions::default(), &bar)?;
    bar.finish();
    demo.check(&outcome)?;
    let outcome = outcome.with_names(demo::NAMES.map(String::from));
    output.write(&args.output, &[], &outcome)?.print();
    let means = demo::group_means(&outcome);
    messages::info(&format!(
        "\nMean similarity: {:.2} within a group, {:.2} between groups.\n\
         {}All {} scores equal those computed in the clear with the same precision.\n\
         \nNext: turn your own files into cohorts (`veilpath encode --help`), and compare them with another institution \
         (`veilpath host --help`, `veilpath join --help`).\n",
        means.within,
        means.between,
        output::summary(&outcome),
        outcome.pairs
    ));
    Ok(())
}

fn print_introduction(demo: &Demo) {
    let [clinic, university] = demo.scanpaths;
    let (a, b) = (&demo.planned.a.entries, &demo.planned.b.entries);
    let part = if demo.is_complete() {
        String::new()
    } else {
        format!(
            "The {} engine is slow. To finish in seconds, it compares only {} scanpaths of the clinic and {} of the university (--engine plain compares all).\n",
            demo.planned.spec.engine.name(),
            a.len(),
            b.len()
        )
    };
    messages::info(&format!(
        "A clinic with {clinic} scanpaths and a university with {university} compare how their participants looked at the same pictures.\n\
         Both cohorts are synthetic: novices and experts, assigned to the two institutions at random.\n{part}\n"
    ));
}
