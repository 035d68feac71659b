//! Merges the result files of a plan's tiles.

use crate::Error;
use crate::report::not_binary;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use veilpath_protocol::{MergeError, Outcome, merge};
use veilpath_report::result_file;

/// Merges the files of all tiles into the result of the whole plan. Except for its cost, it equals that of a single
/// run.
pub fn merge_files(files: &[impl AsRef<Path>]) -> Result<Outcome, Error> {
    let tiles = files.iter().map(|path| {
        let path = path.as_ref();
        Ok((path.display().to_string(), read_outcome_file(path)?))
    });
    merge_named(tiles.collect::<Result<Vec<_>, Error>>()?)
}

/// Merges the outcomes of all tiles, as [`merge_files`] does. Their names appear in errors.
pub fn merge_named(tiles: Vec<(String, Outcome)>) -> Result<Outcome, Error> {
    let (mut names, tiles): (Vec<String>, Vec<Outcome>) = tiles.into_iter().unzip();
    merge(tiles).map_err(|error| Error::Merge {
        file: failed_outcome(&error)
            .filter(|&at| at < names.len())
            .map(|at| names.swap_remove(at)),
        error,
    })
}

/// Reads the outcome of a plan or of one of its tiles from a JSON file.
pub fn read_outcome_file(path: &Path) -> Result<Outcome, Error> {
    let file = File::open(path).map_err(|source| Error::Open {
        path: path.to_path_buf(),
        source,
    })?;
    read_outcome(&path.display().to_string(), file)
}

/// Reads the outcome of a plan or of one of its tiles from JSON. `name` appears in errors.
pub fn read_outcome(name: &str, input: impl Read) -> Result<Outcome, Error> {
    let input = not_binary(name, input)?;
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
        | MergeError::PairNotInPlan { outcome }
        | MergeError::Conflict { outcome, .. } => Some(outcome),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::read_result_from;

    #[test]
    fn a_renamed_spreadsheet_is_not_a_result_file() {
        let bytes = b"PK\x03\x04\x14\x00\x06\x00[Content_Types].xml....PK\x03\x04xl/workbook.xml";
        for error in [
            read_outcome("scores.json", &bytes[..]).unwrap_err(),
            read_result_from("scores.csv", &bytes[..]).unwrap_err(),
        ] {
            assert!(
                error.to_string().contains("this is a spreadsheet"),
                "{error}"
            );
        }
    }
}
