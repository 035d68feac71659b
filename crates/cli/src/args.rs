//! The commands. Help texts, completions and the man pages are generated from these definitions.

use crate::commands::{
    audit::AuditArgs, bench::BenchArgs, compare::CompareArgs, completions::CompletionsArgs,
    coordinator::CoordinatorArgs, demo::DemoArgs, encode::EncodeArgs, gateway::GatewayArgs,
    host::HostArgs, identity::IdentityArgs, join::JoinArgs, keygen::KeygenArgs, man::ManArgs,
    merge::MergeArgs, peers::PeersArgs, policy::PolicyArgs, record::RecordArgs, relay::RelayArgs,
    report::ReportArgs, results::ResultsArgs, split::SplitArgs, stats::StatsArgs, synth::SynthArgs,
    ui::UiArgs, worker::WorkerArgs, worker_key::WorkerKeyArgs,
};
use crate::messages::Verbosity;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;

const OVERVIEW: &str = "\
Examples:
  veilpath demo
  veilpath synth lifelike --seed 7 -o everyone.csv
  veilpath split everyone.csv --seed 1
  veilpath compare everyone-a.csv everyone-b.csv

Exit codes: 0 success, 2 invalid arguments or files, 3 the partner disagrees or misbehaves, 4 the network \
failed.";

/// Compare scanpaths (eye-movement sequences), on one machine or privately between two institutions.
#[derive(Debug, Parser)]
#[command(name = "veilpath", version, after_help = OVERVIEW, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) verbosity: Verbosity,
}

impl Cli {
    /// Parses the command line.
    pub(crate) fn parse_arguments(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, clap::Error> {
        let mut arguments: Vec<OsString> = arguments.into_iter().collect();
        let is_verbosity = |argument: &OsString| {
            let flags = ["-q", "--quiet", "-v", "--verbose"];
            flags.iter().any(|flag| argument == flag)
        };
        let command = arguments.iter().skip(1).find(|it| !is_verbosity(it));
        // Every command takes these flags, but clap's `help` takes only names.
        if command.is_some_and(|command| command == "help") {
            arguments.retain(|argument| !is_verbosity(argument));
        }
        let cli = Self::try_parse_from(arguments)?;
        // clap finds the conflict only if both are on the same side of the command.
        match cli.verbosity.is_contradictory() {
            true => Err(Self::command().error(
                ErrorKind::ArgumentConflict,
                "the argument '--quiet' cannot be used with '--verbose'",
            )),
            false => Ok(cli),
        }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare two bundled cohorts and explain the result
    Demo(DemoArgs),
    /// Do everything in the browser, on a local page
    Ui(UiArgs),
    /// Turn gaze and fixation files into a cohort of scanpaths
    Encode(EncodeArgs),
    /// Compare the scanpaths of two cohorts
    Compare(CompareArgs),
    /// Make an HTML report with figures from a result file
    Report(ReportArgs),
    /// Compute group means, tests and classification rates from result files
    Stats(StatsArgs),
    /// Create or show this institution's identity, the key of this user account
    Identity(IdentityArgs),
    /// Wait for one or more partners, and compare with them
    Host(HostArgs),
    /// Connect to a partner, and compare with it
    Join(JoinArgs),
    /// Connect two institutions that can only make outgoing connections
    Relay(RelayArgs),
    /// List past comparisons, or write the results of one again
    Results(ResultsArgs),
    /// List the partners of earlier sessions, ban one, or lift a ban
    Peers(PeersArgs),
    /// Define what may leave this institution, and check plans against it
    Policy(PolicyArgs),
    /// List what was disclosed to whom, and verify the signed record
    Record(RecordArgs),
    /// Split the participants of a cohort into two cohorts at random
    Split(SplitArgs),
    /// Generate a cohort of random or lifelike scanpaths
    Synth(SynthArgs),
    /// Make a short-lived key for a machine that computes part of a comparison (a tile)
    WorkerKey(WorkerKeyArgs),
    /// Store, count and release the results of this institution's workers
    Coordinator(CoordinatorArgs),
    /// Connect the workers of two institutions that compute the same tile
    Gateway(GatewayArgs),
    /// Compute a tile of an agreement from a work order
    Worker(WorkerArgs),
    /// Merge the results of a comparison's tiles
    Merge(MergeArgs),
    /// Generate a Paillier key pair
    Keygen(KeygenArgs),
    /// Measure time and traffic on this machine
    Bench(BenchArgs),
    /// Attack the engines to measure what they leak
    #[cfg_attr(not(feature = "audit"), command(hide = true))]
    Audit(AuditArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the man page, or write one per command to a folder
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &clap::Command) {
        for short in ['q', 'v'] {
            let has = |argument: &clap::Arg| argument.get_short() == Some(short);
            let name = command.get_name();
            assert!(command.get_arguments().any(has), "{name} -{short}");
        }
        let subcommands = command.get_subcommands();
        for subcommand in subcommands.filter(|it| it.get_name() != "help") {
            check(subcommand);
        }
    }

    fn parsed(call: &str) -> Result<Cli, ErrorKind> {
        let cli = Cli::parse_arguments(call.split(' ').map(OsString::from));
        cli.map_err(|error| error.kind())
    }

    #[test]
    fn quiet_and_verbose_exclude_each_other_on_both_sides_of_the_command() {
        for call in [
            "veilpath -q compare a b -v",
            "veilpath -v compare a b -q",
            "veilpath -q -v compare a b",
            "veilpath compare a b --quiet --verbose",
            "veilpath -q bench cell -v",
            "veilpath bench -q cell -v",
        ] {
            let kind = parsed(call).unwrap_err();
            assert_eq!(kind, ErrorKind::ArgumentConflict, "{call}");
        }
        assert!(parsed("veilpath -q compare a b -q").is_ok());
    }

    #[test]
    fn help_takes_the_flags_of_every_command() {
        for call in [
            "veilpath help -q compare",
            "veilpath -v help compare",
            "veilpath help compare --verbose",
        ] {
            assert_eq!(parsed(call).unwrap_err(), ErrorKind::DisplayHelp, "{call}");
        }
    }

    #[test]
    fn every_command_has_quiet_and_verbose() {
        let mut cli = Cli::command();
        cli.build();
        check(&cli);
    }
}
