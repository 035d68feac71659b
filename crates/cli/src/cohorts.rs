//! Loading cohort files so that both speak of the same letters.

use crate::dash;
use crate::failure::Failure;
use crate::messages;
use crate::metric_args::MetricArgs;
use std::path::{Path, PathBuf};
use veilpath_encode::{Head, Input, RawCohort, ReadError, detect};
use veilpath_metrics::{Alphabet, Cohort, Grid, Metric, Notation};
use veilpath_protocol::Role;
use veilpath_report::result_file::ResultFormat;
use veilpath_session::{AlphabetInfo, Fingerprint};

/// Two cohorts over one alphabet, and the metric to compare them by.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) a: Cohort,
    pub(crate) b: Cohort,
    pub(crate) metric: Metric,
}

/// Reads a cohort file.
pub(crate) fn load(path: &Path) -> Result<RawCohort, Failure> {
    dash::refuse_as_input(path)?;
    let input = Input::open(path)?;
    let head = input.head();
    RawCohort::read(input).map_err(|error| explained(&head, error))
}

/// The scanpaths of a file in an alphabet.
pub(crate) fn cohort(raw: &RawCohort, alphabet: Alphabet) -> Result<Cohort, Failure> {
    raw.cohort(alphabet)
        .map_err(|error| explained(raw.head(), error))
}

/// The usual mistakes have a better remedy than the reader can know.
fn explained(head: &Head, error: ReadError) -> Failure {
    match (other_file(head), detect(head)) {
        (Some(what), _) => Failure::input(format!(
            "{}: this is {what}, not a cohort of scanpaths\n  \
             name the file that `veilpath encode` wrote",
            head.name
        )),
        (None, Some(format)) => Failure::input(format!(
            "{}: this is not a cohort of scanpaths; it looks like gaze: {}\n  \
             turn it into one first: veilpath encode {0} -o cohort.csv",
            head.name,
            format.title()
        )),
        (None, None) => error.into(),
    }
}

/// What Veilpath itself writes and is no cohort.
fn other_file(head: &Head) -> Option<&'static str> {
    let start = String::from_utf8_lossy(&head.start);
    let start = start.trim_start_matches('\u{feff}').trim_start();
    let first_line = start.lines().next().unwrap_or_default().trim();
    if let Some(format) = ResultFormat::of_start(start) {
        Some(match format {
            ResultFormat::Json => "a result file (JSON)",
            ResultFormat::Csv => "a result file (CSV)",
        })
    } else if first_line.starts_with("-----BEGIN") {
        Some("a key")
    } else if first_line.parse::<Fingerprint>().is_ok() {
        Some("a fingerprint")
    } else {
        None
    }
}

/// Says what was assumed in reading a file.
pub(crate) fn say_notes(raw: &RawCohort, alphabet: Alphabet, asked: Option<Notation>) {
    for note in raw.notes(alphabet, asked) {
        messages::note(&format!("{}: {note}", raw.name()));
    }
}

/// Loads two cohort files and makes the metric for them.
pub(crate) fn plan(
    paths: [&PathBuf; 2],
    notation: Option<Notation>,
    metric: &MetricArgs,
    quiet: bool,
) -> Result<Plan, Failure> {
    let files = [load(paths[0])?, load(paths[1])?];
    let letters = files.each_ref().map(|file| letters(file, notation));
    let grid = letters[0].grid.or(letters[1].grid);
    let (alphabet, metric) = resolve(&letters[0], &letters[1], grid, metric)?;
    let [a, b] = files.map(|file| in_alphabet(&file, alphabet, notation, quiet));
    Ok(Plan {
        a: a?,
        b: b?,
        metric,
    })
}

/// One institution's cohort file, before it is known how the other's is written.
pub(crate) struct OwnCohort {
    raw: RawCohort,
    /// The scanpaths as they are read without the other side.
    cohort: Cohort,
    /// The metric, where this file alone settles it.
    metric: Option<Metric>,
    /// What the other side has to know of it.
    pub(crate) letters: AlphabetInfo,
}

impl OwnCohort {
    /// Reads the file, and tells at once of flags that make no sense for it, whatever the other side has.
    pub(crate) fn open(
        path: &Path,
        notation: Option<Notation>,
        metric: &MetricArgs,
    ) -> Result<Self, Failure> {
        let raw = load(path)?;
        let letters = letters(&raw, notation);
        let cohort = cohort(&raw, letters.read_as)?;
        let alone = resolve(&letters, &letters, letters.grid, metric);
        // The other side's file may yet name the grid.
        let settled = letters.grid.is_some() || metric.grid.is_some() || !metric.needs_grid();
        let metric = if settled { Some(alone?.1) } else { None };
        Ok(Self {
            raw,
            cohort,
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
        &self.cohort
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
        let named = self.letters.named.or(theirs.named);
        let notation = named.map(|alphabet| alphabet.notation());
        let cohort = in_alphabet(&self.raw, alphabet, notation, quiet)?;
        Ok((cohort, metric))
    }
}

fn letters(raw: &RawCohort, notation: Option<Notation>) -> AlphabetInfo {
    AlphabetInfo {
        named: notation.map(Alphabet::full),
        declared: raw.declared_alphabet(),
        read_as: raw.alphabet(notation),
        grid: raw.declared_grid(),
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

/// The cohort of a file in the settled alphabet, or in the one that it declares.
fn in_alphabet(
    raw: &RawCohort,
    settled: Alphabet,
    notation: Option<Notation>,
    quiet: bool,
) -> Result<Cohort, Failure> {
    let own = raw.alphabet(notation);
    let alphabet = match raw.declared_alphabet() {
        Some(declared) if declared == own => declared,
        _ => settled,
    };
    let cohort = cohort(raw, alphabet)?;
    if !quiet {
        say_notes(raw, alphabet, notation);
    }
    Ok(cohort)
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
