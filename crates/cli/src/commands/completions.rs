//! `veilpath completions`: completion scripts from the same definitions as the help texts.

use crate::args::Cli;
use crate::destination::Destination;
use crate::failure::Failure;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  veilpath completions bash > veilpath.bash
  veilpath completions zsh > _veilpath";

/// The arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "veilpath", &mut script);
    Destination::Stdout.write(|out| out.write_all(&script))
}
