//! Loading cohort files so that both speak of the same letters.

use crate::dash;
use crate::failure::Failure;
use crate::messages;
use crate::metric_args::MetricArgs;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use veilpath_encode::{CohortFile, Head, Input, ReadError, cohort_file, detect};
use veilpath_metrics::{Alphabet, Cohort, Grid, Metric, Notation};
use veilpath_protocol::Role;
use veilpath_report::csv;
use veilpath_session::{AlphabetInfo, Fingerprint};

/// No cohort in a pipe is larger; a pipe that never ends must not fill the memory.
const MOST_FROM_A_PIPE: u64 = 1 << 30;

/// Two cohorts over one alphabet, and the metric to compare them by.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) a: Cohort,
    pub(crate) b: Cohort,
    pub(crate) metric: Metric,
}

/// A cohort file that can be read more than once, also where it is a pipe, which flows once.
pub(crate) struct Source<'a> {
    path: &'a Path,
    /// What came out of a pipe.
    flowed: Option<Vec<u8>>,
}

impl<'a> Source<'a> {
    pub(crate) fn open(path: &'a Path) -> Result<Self, Failure> {
        dash::refuse_as_input(path)?;
        let flows = std::fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir());
        let read = |path: &Path| {
            let mut bytes = Vec::new();
            File::open(path)?
                .take(MOST_FROM_A_PIPE)
                .read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let flowed = flows.then(|| read(path)).transpose();
        let flowed = flowed.map_err(|error: io::Error| {
            Failure::input(format!("{}: cannot be read: {error}", path.display()))
        })?;
        Ok(Self { path, flowed })
    }

    fn input(&self) -> Result<Input, ReadError> {
        match &self.flowed {
            Some(bytes) => Input::from_bytes(&self.path.display().to_string(), bytes.clone()),
            None => Input::open(self.path),
        }
    }
}

/// Reads one cohort file; with `alphabet`, in that alphabet, whatever the file looks like.
pub(crate) fn load(source: &Source<'_>, alphabet: Option<Alphabet>) -> Result<CohortFile, Failure> {
    let path = source.path;
    let input = source.input()?;
    let head = input.head();
    // The usual mistakes have a better remedy than the reader can know.
    cohort_file::read(input, alphabet).map_err(|error| match (other_file(&head), detect(&head)) {
        (Some(what), _) => Failure::input(format!(
            "{}: this is {what}, not a cohort of scanpaths\n  \
             name the file that `veilpath encode` wrote",
            path.display()
        )),
        (None, Some(format)) => Failure::input(format!(
            "{}: this is no cohort of scanpaths; it looks like gaze: {}\n  \
             turn it into one first: veilpath encode {0} -o cohort.csv",
            path.display(),
            format.title()
        )),
        (None, None) => error.into(),
    })
}

/// What Veilpath itself writes and is no cohort.
fn other_file(head: &Head) -> Option<&'static str> {
    let start = String::from_utf8_lossy(&head.start);
    let start = start.trim_start_matches('\u{feff}').trim_start();
    let first_line = start.lines().next().unwrap_or_default().trim();
    let tables = [csv::HEADER.join(","), csv::HEADER_OF_BITS.join(",")];
    if start.starts_with('{') && start.contains("\"spec\"") {
        Some("a result file (JSON)")
    } else if tables.iter().any(|header| header == first_line) {
        Some("a result file (CSV)")
    } else if first_line.starts_with("-----BEGIN") {
        Some("a key")
    } else if first_line.parse::<Fingerprint>().is_ok() {
        Some("a fingerprint")
    } else {
        None
    }
}

/// Says what was taken for granted in reading a file.
pub(crate) fn say_notes(path: &Path, file: &CohortFile) {
    for note in &file.notes {
        messages::note(&format!("{}: {note}", path.display()));
    }
}

/// Loads two cohort files and makes the metric for them.
pub(crate) fn plan(
    paths: [&PathBuf; 2],
    notation: Option<Notation>,
    metric: &MetricArgs,
    quiet: bool,
) -> Result<Plan, Failure> {
    let named = notation.map(Alphabet::full);
    let sources = [Source::open(paths[0])?, Source::open(paths[1])?];
    let files = [load(&sources[0], named)?, load(&sources[1], named)?];
    let letters = [letters(&files[0], named), letters(&files[1], named)];
    let grid = letters[0].grid.or(letters[1].grid);
    let (alphabet, metric) = resolve(&letters[0], &letters[1], grid, metric)?;
    let [a, b] = files;
    let a = in_alphabet(a, &sources[0], alphabet, quiet)?;
    let b = in_alphabet(b, &sources[1], alphabet, quiet)?;
    Ok(Plan { a, b, metric })
}

/// One institution's cohort file, before it is known how the other's is written.
pub(crate) struct OwnCohort<'a> {
    source: Source<'a>,
    file: CohortFile,
    /// The metric, where this file alone settles it.
    metric: Option<Metric>,
    /// What the other side has to know of it.
    pub(crate) letters: AlphabetInfo,
}

impl<'a> OwnCohort<'a> {
    /// Reads the file, and tells at once of flags that make no sense for it, whatever the other side has.
    pub(crate) fn open(
        path: &'a Path,
        notation: Option<Notation>,
        metric: &MetricArgs,
    ) -> Result<Self, Failure> {
        let named = notation.map(Alphabet::full);
        let source = Source::open(path)?;
        let file = load(&source, named)?;
        let letters = letters(&file, named);
        let alone = resolve(&letters, &letters, letters.grid, metric);
        // The other side's file may yet name the grid.
        let settled = letters.grid.is_some() || metric.grid.is_some() || !metric.needs_grid();
        let metric = if settled { Some(alone?.1) } else { None };
        Ok(Self {
            source,
            file,
            metric,
            letters,
        })
    }

    /// The metric, where this side's file and flags settle it.
    pub(crate) fn metric(&self) -> Option<&Metric> {
        self.metric.as_ref()
    }

    /// The cohort as it is read without the other side.
    pub(crate) fn cohort(&self) -> &Cohort {
        &self.file.cohort
    }

    /// Whether the file can still be read as it was.
    pub(crate) fn is_there(&self) -> bool {
        load(&self.source, self.letters.named).is_ok()
    }

    /// The cohort in the letters of both sides, and the metric: what [`plan`] would make of the two files.
    pub(crate) fn settle(
        &self,
        theirs: &AlphabetInfo,
        role: Role,
        metric: &MetricArgs,
        quiet: bool,
    ) -> Result<(Cohort, Metric), Failure> {
        // Where the two files contradict each other there is nothing in common to settle on. Each side then plans as if alone: the
        // two plans differ in these very settings, and the comparison of plans tells both sides which, with both values.
        let theirs = match &self.metric {
            Some(_) if contradict(&self.letters, theirs) => &self.letters,
            _ => theirs,
        };
        let grid = match role {
            Role::Host => self.letters.grid.or(theirs.grid),
            Role::Join => theirs.grid.or(self.letters.grid),
        };
        let (alphabet, metric) = resolve(&self.letters, theirs, grid, metric)?;
        let file = match (self.letters.named, theirs.named) {
            (None, Some(named)) => load(&self.source, Some(named))?,
            _ => self.file.clone(),
        };
        let cohort = in_alphabet(file, &self.source, alphabet, quiet)?;
        Ok((cohort, metric))
    }
}

fn letters(file: &CohortFile, named: Option<Alphabet>) -> AlphabetInfo {
    AlphabetInfo {
        named,
        declared: file.declared_alphabet,
        read_as: file.cohort.alphabet,
        grid: file.declared_grid,
    }
}

/// The alphabet and the metric for two cohorts.
///
/// A file that declares its alphabet has the last word on its letters, unless the user names a notation. Where neither
/// does, the metric's grid or table limits the alphabet.
fn resolve(
    own: &AlphabetInfo,
    other: &AlphabetInfo,
    grid: Option<Grid>,
    metric: &MetricArgs,
) -> Result<(Alphabet, Metric), Failure> {
    let named = own.named.or(other.named);
    let mut alphabet = common_alphabet(own, other, named);
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
    let declared = [own, other]
        .iter()
        .any(|letters| letters.declared == Some(alphabet));
    let letters = metric.letters().or(asked_cells);
    if let Some(letters) = letters.filter(|&letters| letters < alphabet.size())
        && !declared
    {
        alphabet = Alphabet::new(alphabet.notation(), letters)
            .map_err(|error| Failure::input(error.problem))?;
    }
    // Numbers that make no sense are told before anything is said about the files' contents.
    metric.model(&alphabet)?;
    Ok((alphabet, metric))
}

/// The cohort of a file. One that was first read in a wider alphabet is read again, so that a letter that does not fit is
/// reported with its place.
fn in_alphabet(
    file: CohortFile,
    source: &Source<'_>,
    alphabet: Alphabet,
    quiet: bool,
) -> Result<Cohort, Failure> {
    let file = if file.cohort.alphabet == alphabet
        || file.declared_alphabet == Some(file.cohort.alphabet)
    {
        file
    } else {
        load(source, Some(alphabet))?
    };
    if !quiet {
        say_notes(source.path, &file);
    }
    Ok(file.cohort)
}

/// Whether two files cannot be of one encoding, by what they say themselves: each side would settle on its own.
fn contradict(own: &AlphabetInfo, other: &AlphabetInfo) -> bool {
    let named = own.named.or(other.named);
    let settled = common_alphabet(own, other, named);
    let as_seen_there = common_alphabet(other, own, other.named.or(own.named));
    let grids = own.grid.zip(other.grid);
    grids.is_some_and(|(own, other)| own != other) || settled != as_seen_there
}

/// The declared alphabet where there is one in the notation that the user names, or in any if none is named. Two guesses
/// that differ mean that one file merely looks like double letters or numbers; both are then read as letters.
fn common_alphabet(own: &AlphabetInfo, other: &AlphabetInfo, named: Option<Alphabet>) -> Alphabet {
    let undeclared = match named {
        Some(named) => named,
        None if own.read_as == other.read_as => own.read_as,
        None => Alphabet::full(Notation::Letters),
    };
    [own.declared, other.declared]
        .into_iter()
        .flatten()
        .find(|declared| named.is_none_or(|named| named.notation() == declared.notation()))
        .unwrap_or(undeclared)
}
