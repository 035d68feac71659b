//! Merges the result files of a plan's tiles.

use crate::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use veilpath_protocol::{MergeError, Outcome, merge};
use veilpath_report::result_file;

/// Merges the files of all tiles into the result of the whole plan. Except for its cost, it equals that of a single
/// run.
pub fn merge_files(files: &[impl AsRef<Path>]) -> Result<Outcome, Error> {
    let name = |at: usize| {
        let file = files.get(at);
        file.map(|file| file.as_ref().display().to_string())
    };
    let tiles = files.iter().enumerate().map(|(at, path)| {
        let path = path.as_ref();
        let file = File::open(path).map_err(|source| Error::Open {
            path: path.to_path_buf(),
            source,
        })?;
        read_outcome(&name(at).unwrap_or_default(), file)
    });
    let tiles = tiles.collect::<Result<Vec<_>, Error>>()?;
    merge(tiles).map_err(|error| Error::Merge {
        file: failed_outcome(&error).and_then(name),
        error,
    })
}

/// Reads the outcome of a plan or of one of its tiles from JSON. `name` appears in errors.
pub fn read_outcome(name: &str, input: impl Read) -> Result<Outcome, Error> {
    result_file::read_outcome(input).map_err(|error| Error::ResultFile {
        file: name.to_string(),
        error,
    })
}

/// The index of the outcome that an error is about.
fn failed_outcome(error: &MergeError) -> Option<usize> {
    match *error {
        MergeError::NotATile { outcome }
        | MergeError::TileCountMismatch { outcome, .. }
        | MergeError::PlanMismatch { outcome, .. }
        | MergeError::Incomplete { outcome, .. }
        | MergeError::OtherPair { outcome }
        | MergeError::Conflict { outcome, .. } => Some(outcome),
        _ => None,
    }
}
