//! Loading cohort files so that both speak of the same letters.

use crate::failure::Failure;
use crate::metric_args::MetricArgs;
use crate::say;
use std::path::{Path, PathBuf};
use veilpath_encode::{CohortFile, Input, cohort_file, detect};
use veilpath_metrics::{Alphabet, Cohort, Metric, Notation};

/// Two cohorts over one alphabet, and the metric to compare them by.
pub(crate) struct Plan {
    pub(crate) a: Cohort,
    pub(crate) b: Cohort,
    pub(crate) metric: Metric,
}

/// Reads one cohort file; with `alphabet`, in that alphabet, whatever the file looks like.
pub(crate) fn load(path: &Path, alphabet: Option<Alphabet>) -> Result<CohortFile, Failure> {
    let input = Input::open(path)?;
    let format = detect(&input.head());
    cohort_file::read(input, alphabet).map_err(|error| match format {
        // The usual mistake has a better remedy than the reader can know.
        Some(format) => Failure::input(format!(
            "{}: this is no cohort of scanpaths; it looks like gaze: {}\n  \
             turn it into one first: veilpath encode {0} -o cohort.csv",
            path.display(),
            format.title()
        )),
        None => error.into(),
    })
}

/// Says what was taken for granted in reading a file.
pub(crate) fn say_notes(path: &Path, file: &CohortFile) {
    for note in &file.notes {
        say::note(&format!("{}: {note}", path.display()));
    }
}

/// Loads two cohort files and makes the metric for them.
///
/// A file that declares its alphabet has the last word on its letters, unless the user names a notation. Where neither
/// does, the metric's grid or table limits the alphabet. A file that was first read in a wider alphabet is read again,
/// so that a letter that does not fit is reported with its place.
pub(crate) fn plan(
    paths: [&PathBuf; 2],
    notation: Option<Notation>,
    metric: &MetricArgs,
    quiet: bool,
) -> Result<Plan, Failure> {
    let named = notation.map(Alphabet::full);
    let files = [load(paths[0], named)?, load(paths[1], named)?];
    let mut alphabet = common_alphabet(&files, named);
    let grid = files.iter().find_map(|file| file.declared_grid);
    if let (Some(declared), Some(asked)) = (grid, metric.grid)
        && declared != asked
    {
        return Err(Failure::input(format!(
            "--grid {asked}: the cohorts were encoded on a grid of {declared}\n  \
             leave --grid out, or encode the gaze files again with --grid {asked}"
        )));
    }
    let asked_cells = metric.grid.map(|grid| grid.cells());
    let metric = metric.metric(&alphabet, grid)?;
    let declared = files
        .iter()
        .any(|file| file.declared_alphabet == Some(alphabet));
    let letters = metric.letters().or(asked_cells);
    if let Some(letters) = letters.filter(|&letters| letters < alphabet.size())
        && !declared
    {
        alphabet = Alphabet::new(alphabet.notation(), letters)
            .map_err(|error| Failure::input(error.problem))?;
    }
    // Numbers that make no sense are told before anything is said about the files' contents.
    metric.model(&alphabet)?;
    let [a, b] = files;
    let [a, b] = [(a, paths[0]), (b, paths[1])].map(|(file, path)| {
        let file = if file.cohort.alphabet == alphabet
            || file.declared_alphabet == Some(file.cohort.alphabet)
        {
            file
        } else {
            load(path, Some(alphabet))?
        };
        if !quiet {
            say_notes(path, &file);
        }
        Ok::<Cohort, Failure>(file.cohort)
    });
    Ok(Plan {
        a: a?,
        b: b?,
        metric,
    })
}

/// The declared alphabet where there is one in the notation that the user names, or in any if none is named. Two guesses
/// that differ mean that one file merely looks like double letters or numbers; both are then read as letters.
fn common_alphabet(files: &[CohortFile; 2], named: Option<Alphabet>) -> Alphabet {
    let guesses = [files[0].cohort.alphabet, files[1].cohort.alphabet];
    let undeclared = match named {
        Some(named) => named,
        None if guesses[0] == guesses[1] => guesses[0],
        None => Alphabet::full(Notation::Letters),
    };
    files
        .iter()
        .filter_map(|file| file.declared_alphabet)
        .find(|declared| named.is_none_or(|named| named.notation() == declared.notation()))
        .unwrap_or(undeclared)
}
