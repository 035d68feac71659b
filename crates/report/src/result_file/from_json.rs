//! Reads the object of [`crate::json`]. `veilpath-protocol` parses it; this module adds line and column to errors.

use super::{MAX_ROWS, ResultFile, ResultFileError, at};
use serde::de::DeserializeSeed;
use std::cell::Cell;
use std::io::{self, BufRead, Read};
use veilpath_protocol::{Outcome, OutcomeSeed, ResultFormatError};

pub(super) fn read(input: impl BufRead) -> Result<ResultFile, ResultFileError> {
    read_outcome(input, MAX_ROWS).map(ResultFile::from)
}

/// Reads the outcome, if it has at most `max_results` results.
pub(super) fn read_outcome(
    input: impl BufRead,
    max_results: usize,
) -> Result<Outcome, ResultFileError> {
    let limit = Cell::new(None);
    let input = PartReader {
        inner: input,
        left: &limit,
    };
    let mut json = serde_json::Deserializer::from_reader(input);
    let mut problem = None;
    let seed = OutcomeSeed {
        max_results,
        limit_part: &|bytes| limit.set(bytes),
        problem: &mut problem,
    };
    let read = seed
        .deserialize(&mut json)
        .and_then(|outcome| json.end().map(|()| outcome));
    read.map_err(|error| refused(error, problem))
}

/// Fails after `left` bytes, so that a part that is kept as text cannot exhaust memory.
struct PartReader<'a, R> {
    inner: R,
    left: &'a Cell<Option<usize>>,
}

impl<R: Read> Read for PartReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if let Some(left) = self.left.get() {
            let left = left.checked_sub(count).ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    "a part of the file is too long",
                )
            })?;
            self.left.set(Some(left));
        }
        Ok(count)
    }
}

fn refused(error: serde_json::Error, problem: Option<ResultFormatError>) -> ResultFileError {
    if error.is_io() {
        return ResultFileError::Io(error.into());
    }
    let (line, column) = (error.line() as u64, error.column() as u64);
    match problem {
        Some(problem @ (ResultFormatError::Version { .. } | ResultFormatError::NotAResult)) => {
            problem.into()
        }
        Some(problem) => ResultFileError::Content {
            line,
            column,
            problem,
        },
        None if error.is_eof() => at(
            line,
            column,
            "the file ends too early; it was probably not written or copied completely",
        ),
        None => {
            let text = error.to_string();
            // serde_json puts the position after its message; ours comes first.
            let words = text
                .rsplit_once(" at line ")
                .map_or(text.as_str(), |parts| parts.0);
            at(line, column, words)
        }
    }
}
