//! Turns gaze and fixation files into a cohort.

use crate::{Error, Event, EventSink, OutputConflict, OutputFile};
use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use veilpath_encode::{cohort_file, encode_files, readers};

pub use veilpath_encode::EncodeOptions as LetterOptions;
pub use veilpath_encode::{
    Areas, Assumption, CoordinateUnit, DataKinds, Downsize, Dropped, EncodeField, EncodeNote,
    Encoded, EventChoice, Eye, FileSummary, LikelyCause, NameTemplate, NoEffect, Outside, Placing,
    ReadOptions, RowChoice, RunOptions, RunsBy, Source, Summary, TimeUnit,
};

/// How files are read, and how their points become letters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodeOptions {
    /// The name of the format of all files; `None` to detect it for each file.
    pub format: Option<String>,
    /// What the files do not say themselves.
    pub read: ReadOptions,
    /// How points become letters.
    pub letters: LetterOptions,
}

/// A file format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatName {
    /// Its name in [`EncodeOptions::format`].
    pub name: &'static str,
    /// Its human-readable name.
    pub title: &'static str,
}

/// The formats that can be read.
pub fn formats() -> Vec<FormatName> {
    let names = readers::FORMATS.iter().map(|format| FormatName {
        name: format.name(),
        title: format.title(),
    });
    names.collect()
}

/// Reads files and encodes them.
///
/// [`Event::Total`] and [`Event::Advanced`] count the bytes of the files as they are on disk.
pub fn encode(
    sources: Vec<Source>,
    options: &EncodeOptions,
    events: &dyn EventSink,
) -> Result<Encoded, Error> {
    let size = |source: &Source| match source {
        Source::File(path) => std::fs::metadata(path).map_or(0, |file| file.len()),
        Source::Open(_) => 0,
    };
    events.event(Event::Total(sources.iter().map(size).sum()));
    let reported = Cell::new(0);
    let progress = |done: u64| {
        let advanced = done.saturating_sub(reported.replace(done));
        events.event(Event::Advanced(advanced));
    };
    let format = options.format.as_deref();
    let encoded = encode_files(sources, format, &options.read, &options.letters, &progress)?;
    Ok(encoded)
}

/// Opens the file for a cohort. An existing file that Veilpath did not write may be a recording, and is replaced only if
/// `replace` is set.
pub fn create_cohort_file(
    path: &Path,
    inputs: &[&Path],
    replace: bool,
) -> Result<OutputFile, Error> {
    let file = OutputFile::create(path, inputs)?;
    if !replace && !file.is_direct() && is_foreign(path) {
        return Err(Error::Output {
            path: path.to_path_buf(),
            conflict: OutputConflict::Foreign,
        });
    }
    Ok(file)
}

/// Whether the file exists, is not empty and does not start like a cohort file of Veilpath.
fn is_foreign(path: &Path) -> bool {
    let mut start = Vec::new();
    let limit = cohort_file::MAGIC.len() as u64;
    let read = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut start));
    read.is_ok_and(|read| read > 0) && start != cohort_file::MAGIC.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recording with the name of the output is not overwritten; an old cohort file is.
    #[test]
    fn foreign_files_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p2.csv");
        let create = |replace| create_cohort_file(&path, &[], replace).map(|_| ());
        assert!(create(false).is_ok());
        for (content, is_ours) in [
            ("x,y,duration\n1,2,3\n", false),
            ("", true),
            ("# veilpath cohort 1\n", true),
        ] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(create(false).is_ok(), is_ours, "{content}");
            assert!(create(true).is_ok());
        }
    }
}
