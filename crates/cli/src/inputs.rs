//! Input files, with `-` for standard input.

use crate::failure::Failure;
use crate::hints::encode::cohort_error;
use std::io::{self, Read};
use std::path::Path;
use veilpath::{Input, RawCohort};

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
    Ok(Input::from_bytes("standard input", bytes)?)
}

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
        return "standard input".into();
    }
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}
