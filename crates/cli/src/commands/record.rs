//! `veilpath record`: what was disclosed to whom, as both sides have signed it.

use crate::destination::Destination;
use crate::failure::Failure;
use crate::{inputs, messages};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};
use veilpath::{
    Fingerprint, Identity, RecordComparison, RecordEntry, RecordLine, SignedRecord, StateDir,
    units, write_record,
};

const EXAMPLES: &str = "\
Examples:
  veilpath record

Every session has two lines in the record: the intent, which both sides sign before any result is revealed, and the completion. \
An interrupted session has only the first, as does a plan that workers compute. `veilpath record` prints the lines \
as CSV, with times in UTC. `comparison` is the id in `veilpath results`, and `to` says who learned the answer.";

const VERIFY_HELP: &str = "\
Examples:
  veilpath record verify
  veilpath record verify record.jsonl

Checks the hash chain, the owner's signature of every line, and both sides' signatures of every step. Names the first line that \
was changed, removed or reordered, and exits with code 2. If lines were cut off at the end, only the partner's record shows it: see \
`veilpath record compare --help`.";

const COMPARE_HELP: &str = "\
Examples:
  veilpath record compare record.jsonl partner.jsonl

Both sides sign every step and keep both signatures. If only one record has a step, the other was cut off, or the \
connection broke while the step was being signed. The record is the file record.jsonl in Veilpath's state folder; it contains no ids. \
Ask the partner for its file.";

/// The arguments of `record`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecordArgs {
    #[command(subcommand)]
    action: Option<Action>,

    /// The identity file [default: identity.pem in Veilpath's state folder]
    #[arg(long, value_name = "FILE", global = true, value_parser = inputs::named_place())]
    identity: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check the hash chain and all signatures of a record
    #[command(after_help = VERIFY_HELP)]
    Verify(VerifyArgs),
    /// Compare this side's record with the partner's record
    #[command(after_help = COMPARE_HELP)]
    Compare(CompareArgs),
}

#[derive(Debug, Args)]
struct VerifyArgs {
    /// The record (- for standard input) [default: this side's]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// The fingerprint of the record's owner; a line by anybody else is an error [default for this side's record: its identity]
    #[arg(long, value_name = "FINGERPRINT")]
    owner: Option<Fingerprint>,
}

#[derive(Debug, Args)]
struct CompareArgs {
    /// This side's record; one of the two can be - for standard input
    #[arg(value_name = "OURS")]
    ours: PathBuf,

    /// The partner's record
    #[arg(value_name = "THEIRS")]
    theirs: PathBuf,
}

/// Lists, verifies or compares.
pub(crate) fn run(args: &RecordArgs) -> Result<(), Failure> {
    let state_dir = || veilpath::state_dir(args.identity.as_deref());
    match &args.action {
        None => list(&state_dir()?),
        Some(Action::Verify(verify)) => match &verify.file {
            Some(file) => self::verify(file, verify.owner),
            None => {
                let file = state_dir()?.record();
                let own = || {
                    let identity = veilpath::identity_file(args.identity.as_deref())?;
                    Ok::<_, Failure>(Identity::load(&identity)?.fingerprint())
                };
                let owner = verify.owner.map_or_else(own, Ok)?;
                match file.exists() {
                    true => self::verify(&file, Some(owner)),
                    false => Err(no_record(&file)),
                }
            }
        },
        Some(Action::Compare(args)) => compare(args),
    }
}

fn no_record(file: &Path) -> Failure {
    Failure::input(format!(
        "{}: there is no record yet\n  the first session writes it",
        file.display()
    ))
}

fn list(state_dir: &StateDir) -> Result<(), Failure> {
    let file = state_dir.record();
    let lines = match file.exists() {
        false => Vec::new(),
        true => {
            let record = SignedRecord::read(&file, None)?;
            if record.problem.is_some() {
                Destination::Stdout.write(|out| write_record(&record.lines, out))?;
                return Err(record.require_intact().err().map_or_else(
                    || Failure::input("the record cannot be read"),
                    Failure::from,
                ));
            }
            record.lines
        }
    };
    Destination::Stdout.write(|out| write_record(&lines, out))
}

fn verify(file: &Path, owner: Option<Fingerprint>) -> Result<(), Failure> {
    let record = inputs::record(file, owner)?.require_intact()?;
    let lines = units::counted(record.lines.len() as u64, "line");
    messages::info(&format!("{}: {lines}, all valid\n", record.path.display()));
    for owner in record.owners() {
        messages::info(&format!("signed by {owner}\n"));
    }
    Ok(())
}

fn compare(args: &CompareArgs) -> Result<(), Failure> {
    inputs::check_single_stdin(&[&args.ours, &args.theirs])?;
    let ours = inputs::record(&args.ours, None)?.require_intact()?;
    let theirs = inputs::record(&args.theirs, None)?.require_intact();
    let theirs = theirs.map_err(|error| {
        Failure::input(format!("{error}\n  ask your partner for an intact copy"))
    })?;
    let compared = RecordComparison::new(&ours, &theirs);
    if compared.has_same_owner {
        return Err(Failure::input(
            "both files are records of the same institution\n  give your own record and your partner's",
        ));
    }
    let steps = units::counted(compared.common, "step");
    messages::info(&format!("both records have {steps} in common\n"));
    if compared.is_complete() {
        let mut lines = ours.lines.iter().chain(&theirs.lines);
        let has_sessions = lines.any(|line| matches!(line.entry, RecordEntry::Session(_)));
        return match compared.common {
            0 if has_sessions => Err(Failure::input(
                "neither record has a session with the owner of the other\n  compare your record with that of a partner",
            )),
            _ => Ok(()),
        };
    }
    let missing = |lines: &[RecordLine], has: &Path, lacks: &Path| -> Vec<String> {
        let lines = lines.iter();
        lines
            .map(|line| {
                format!(
                    "\n  {} lacks line {} of {}",
                    lacks.display(),
                    line.number,
                    has.display()
                )
            })
            .collect()
    };
    let mut all = missing(&compared.missing_in_ours, &theirs.path, &ours.path);
    all.extend(missing(
        &compared.missing_in_theirs,
        &ours.path,
        &theirs.path,
    ));
    Err(Failure::input(format!(
        "{} in only one of the two records{}\n  the end of a record was cut off, or the connection broke while a step was being signed",
        match all.len() {
            1 => "one step is".to_string(),
            count => format!("{count} steps are"),
        },
        all.concat()
    )))
}
