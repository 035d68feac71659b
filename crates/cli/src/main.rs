//! The `veilpath` command: turns arguments into options, calls the library, and prints results, notes and errors.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 success, 2 invalid arguments or files, 3
//! the other side disagrees or misbehaves, 4 the network failed, 1 anything unexpected.

mod args;
mod commands;
mod desktop;
mod destination;
mod engine_args;
mod failure;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc;
mod hints;
mod inputs;
mod messages;
mod metric_args;
mod notes;
mod numbers;
mod output;
mod progress;
mod reveal_args;
mod session_log;
#[cfg(windows)]
mod windows_console;

use args::{Cli, Command};
use commands::ui::UiArgs;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    if desktop::is_desktop_launch() {
        return exit_code(commands::ui::run(&UiArgs::default()));
    }
    let cli = match Cli::parse_arguments(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => hints::usage(error).exit(),
    };
    messages::set_verbosity(cli.verbosity);
    exit_code(match cli.command {
        Command::Encode(args) => commands::encode::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Stats(args) => commands::stats::run(&args),
        Command::Host(args) => commands::host::run(&args),
        Command::Join(args) => commands::join::run(&args),
        Command::Relay(args) => commands::relay::run(&args),
        Command::Results(args) => commands::results::run(&args),
        Command::Peers(args) => commands::peers::run(&args),
        Command::Policy(args) => commands::policy::run(&args),
        Command::Record(args) => commands::record::run(&args),
        Command::Identity(args) => commands::identity::run(&args),
        Command::Split(args) => commands::split::run(&args),
        Command::Synth(args) => commands::synth::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Keygen(args) => commands::keygen::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Audit(args) => commands::audit::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Merge(args) => commands::merge::run(&args),
        Command::Man(args) => commands::man::run(&args),
        Command::Coordinator(args) => commands::coordinator::run(&args),
        Command::Gateway(args) => commands::gateway::run(&args),
        Command::Worker(args) => commands::worker::run(&args),
        Command::WorkerKey(args) => commands::worker_key::run(&args),
        Command::Ui(args) => commands::ui::run(&args),
    })
}

fn exit_code(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has seen enough (`veilpath … | head`).
        Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(failure @ Failure::AlreadyReported(_)) => failure.exit_code(),
        Err(failure) => {
            messages::error(&failure.to_string());
            failure.exit_code()
        }
    }
}
