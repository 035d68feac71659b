//! Input files, with `-` for standard input.

use crate::failure::Failure;
use crate::hints::encode::cohort_error;
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use veilpath::{Fingerprint, Input, Outcome, Peer, RawCohort, SignedRecord};

/// The limit for standard input: an endless pipe must not fill the memory.
const MAX_STDIN_BYTES: u64 = 1 << 30;

/// Whether a path means standard input or output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether an output path means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    is_dash(path) || path == Path::new("/dev/stdout")
}

/// Opens a file, or standard input.
pub(crate) fn open(path: &Path) -> Result<Input, Failure> {
    if !is_dash(path) {
        return Ok(Input::open(path)?);
    }
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_STDIN_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::input(format!("standard input cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_STDIN_BYTES {
        return Err(Failure::input(
            "standard input has more than 1 GiB\n  save it to a file, and name that file",
        ));
    }
    Ok(Input::from_bytes(STDIN, bytes)?)
}

/// The name of standard input in messages.
pub(crate) const STDIN: &str = "standard input";

/// Reads the outcome of a plan or of one of its tiles, with its name.
pub(crate) fn outcome(path: &Path) -> Result<(String, Outcome), Failure> {
    Ok(match is_dash(path) {
        true => (
            STDIN.into(),
            veilpath::read_outcome(STDIN, io::stdin().lock())?,
        ),
        false => (
            path.display().to_string(),
            veilpath::read_outcome_file(path)?,
        ),
    })
}

/// Reads a list of peers.
pub(crate) fn peers(path: &Path) -> Result<Vec<Peer>, Failure> {
    Ok(match is_dash(path) {
        true => veilpath::read_peers_from(Path::new(STDIN), io::stdin().lock())?,
        false => veilpath::read_peers(path)?,
    })
}

/// Reads a record of sessions. If its owner is known, lines of others are a problem.
pub(crate) fn record(path: &Path, owner: Option<Fingerprint>) -> Result<SignedRecord, Failure> {
    Ok(match is_dash(path) {
        true => SignedRecord::read_from(Path::new(STDIN), io::stdin().lock(), owner)?,
        false => {
            let file = File::open(path).map_err(|source| veilpath::Error::Open {
                path: path.to_path_buf(),
                source,
            })?;
            SignedRecord::read_from(path, file, owner)?
        }
    })
}

/// An argument that can be neither standard input nor standard output: it must name a file or a folder.
pub(crate) fn named_place() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match is_dash(&path) {
        true => Err(NOT_STANDARD),
        false => Ok(path),
    })
}

/// Why `-` is refused.
pub(crate) const NOT_STANDARD: &str =
    "standard input and output cannot be used here (use ./- for a file named -)";

/// Reads a cohort file.
pub(crate) fn cohort(path: &Path) -> Result<RawCohort, Failure> {
    veilpath::read_cohort_from(open(path)?).map_err(|error| match error {
        veilpath::Error::Read(error) => Failure::input(cohort_error(&error)),
        other => other.into(),
    })
}

/// Refuses to read standard input twice.
pub(crate) fn check_single_stdin(paths: &[&Path]) -> Result<(), Failure> {
    if paths.iter().filter(|path| is_dash(path)).count() > 1 {
        return Err(Failure::input(
            "-: only one of the files can be standard input",
        ));
    }
    Ok(())
}

/// The name of a cohort, from its file name.
pub(crate) fn short_name(path: &Path) -> String {
    if is_dash(path) {
        return STDIN.into();
    }
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}
