//! Reads cohort files and finds the common alphabet of two of them.
//!
//! What a letter means may depend on the other file, the metric and the user. So a file is read once, as a
//! [`RawCohort`], and its letters are decoded after [`resolve`] has found the alphabet and the metric for both.

use crate::{Error, Event, EventSink, MetricOptions, MetricOptionsError, Note, PlanOptions};
use std::fmt;
use std::path::Path;
use veilpath_encode::{Head, Input, RawCohort, ReadError, explain_unknown, recognise_format};
use veilpath_metrics::{Alphabet, Cohort, Grid, Metric, Notation, Screen};
use veilpath_protocol::check_cohort;
use veilpath_report::result_file::ResultFormat;
use veilpath_session::{AlphabetInfo, Fingerprint};

/// Reads one cohort file.
pub fn read_cohort(path: &Path) -> Result<RawCohort, Error> {
    read_cohort_from(Input::open(path)?)
}

/// Reads one cohort from an open file, or from memory.
pub fn read_cohort_from(input: Input) -> Result<RawCohort, Error> {
    let head = input.head();
    match other_file(&head) {
        // A cohort may resemble gaze data, but not these.
        Some(found @ (OtherFile::Results | OtherFile::Key | OtherFile::Fingerprint)) => {
            let file = head.name.clone();
            Err(Error::NotACohort { file, found })
        }
        _ => RawCohort::read(input).map_err(|error| explain(&head, error)),
    }
}

/// Makes a cohort in memory usable like one read from a file, for [`crate::plan()`] and sessions. The aspect is that of
/// the stimulus, for drawings.
pub fn cohort_in_memory(
    name: &str,
    cohort: &Cohort,
    aspect: Option<f64>,
) -> Result<RawCohort, Error> {
    let mut text = Vec::new();
    let failed = |source| Error::Write {
        path: name.into(),
        source,
    };
    veilpath_encode::cohort_file::write(cohort, aspect, &[], &mut text).map_err(failed)?;
    read_cohort_from(Input::from_bytes(name, text)?)
}

/// Makes some scanpaths of a cohort file usable as a file of their own, with the same header.
pub fn part_of_cohort(name: &str, whole: &RawCohort, part: &Cohort) -> Result<RawCohort, Error> {
    let mut text = Vec::new();
    let failed = |source| Error::Write {
        path: name.into(),
        source,
    };
    veilpath_encode::cohort_file::write_part(whole, part, &mut text).map_err(failed)?;
    read_cohort_from(Input::from_bytes(name, text)?)
}

/// Rejects two scanpaths of one participant on one stimulus. Comparisons allow them, but their results could not be
/// looked up by these two ids.
pub fn check_unique_ids(cohort: &RawCohort) -> Result<(), Error> {
    let Some(positions) = cohort.repeated() else {
        return Ok(());
    };
    let word = match cohort.is_frame() {
        true => "row",
        false => "line",
    };
    let [first, second] = positions.map(|position| format!("{word} {position}"));
    Err(Error::RepeatedIds {
        file: cohort.name().to_string(),
        first,
        second,
    })
}

/// If the file is of another known kind, returns an error that names the kind; otherwise the reader's error.
fn explain(head: &Head, error: ReadError) -> Error {
    match other_file(head) {
        Some(found) => Error::NotACohort {
            file: head.name.clone(),
            found,
        },
        // A spreadsheet or an archive.
        None if head.binary => explain_unknown(head).into(),
        None => error.into(),
    }
}

/// Decodes the scanpaths of a single file, in the alphabet that it declares or that is detected.
pub fn decode_cohort(file: &RawCohort, events: &dyn EventSink) -> Result<Cohort, Error> {
    let grid = file.declared_grid();
    decode_with_notes(file, (file.alphabet(None), grid), None, events)
}

/// The kind of a file mistaken for a cohort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherFile {
    /// Results of a comparison.
    Results,
    /// A key.
    Key,
    /// A fingerprint.
    Fingerprint,
    /// Gaze data or fixations, with the title of their format.
    Gaze(String),
}

impl fmt::Display for OtherFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OtherFile::Results => f.write_str("a result file"),
            OtherFile::Key => f.write_str("a key"),
            OtherFile::Fingerprint => f.write_str("a fingerprint"),
            OtherFile::Gaze(title) => write!(f, "gaze data in the format \"{title}\""),
        }
    }
}

pub(crate) fn other_file(head: &Head) -> Option<OtherFile> {
    let start = String::from_utf8_lossy(&head.start);
    let start = start.trim_start_matches('\u{feff}').trim_start();
    let first_line = start.lines().next().unwrap_or_default().trim();
    if ResultFormat::of_start(start).is_some() {
        Some(OtherFile::Results)
    } else if first_line.starts_with("-----BEGIN") {
        Some(OtherFile::Key)
    } else if first_line.parse::<Fingerprint>().is_ok() {
        Some(OtherFile::Fingerprint)
    } else {
        recognise_format(head).map(|format| OtherFile::Gaze(format.title().to_string()))
    }
}

/// What each side tells the other about its letters before either can decode them.
pub(crate) fn alphabet_info(
    file: &RawCohort,
    options: &PlanOptions,
) -> Result<AlphabetInfo, Error> {
    let notation = options.notation;
    let mut info = AlphabetInfo {
        named: notation.map(Alphabet::full),
        declared: file.declared_alphabet(),
        read_as: read_as(file, options),
        grid: file.declared_grid(),
    };
    if let Some(letters) = options.letters {
        let declared = file.declares_letters(notation);
        let of_grid = options.metric.grid.map(|grid| grid.cells());
        match of_grid.or(declared.then(|| info.read_as.size())) {
            None => {
                let alphabet = Alphabet::new(info.read_as.notation(), letters);
                info.declared = Some(alphabet.map_err(MetricOptionsError::Letters)?);
            }
            Some(found) if found == letters => {}
            Some(found) => {
                return Err(Error::LetterCountConflict {
                    file: of_grid.is_none().then(|| file.name().to_string()),
                    letters,
                    found,
                });
            }
        }
    }
    Ok(info)
}

/// The alphabet of the file and the options. If neither names a notation, the letters suggest one; but on a grid with
/// more cells than there are letters, a cell is written as two letters or a number, whatever the scanpaths look like.
fn read_as(file: &RawCohort, options: &PlanOptions) -> Alphabet {
    let guessed = file.alphabet(options.notation);
    let is_open = options.notation.is_none()
        && file.declared_alphabet().is_none()
        && file.declared_grid().is_none();
    let too_few_letters = |grid: &Grid| {
        guessed.notation() == Notation::Letters && grid.cells() > guessed.notation().capacity()
    };
    let grid = options.metric.grid.filter(too_few_letters);
    match grid
        .filter(|_| is_open)
        .map(|grid| Alphabet::for_grid(&grid))
    {
        Some(Ok(alphabet)) => Alphabet::full(alphabet.notation()),
        _ => guessed,
    }
}

/// If the options give a number of letters, it may be too small and the cause of a decoding error. The reader cannot
/// tell such an error from others, so each becomes [`Error::MaybeTooFewLetters`], and the front end explains it.
pub(crate) fn suspect_letter_count(error: Error, options: &PlanOptions) -> Error {
    match (error, options.letters) {
        (Error::Read(error), Some(letters)) => Error::MaybeTooFewLetters {
            // Drop the remedy, which is about the notation.
            error: Box::new(error.with_remedy("")),
            letters,
        },
        (error, _) => error,
    }
}

/// Finds the alphabet and the metric for two cohorts. `grid` is the one that the files declare.
///
/// A declared alphabet takes precedence, unless the user chooses another notation. If nothing is declared, the metric's
/// grid or table limits the alphabet.
pub(crate) fn resolve(
    own: &AlphabetInfo,
    other: &AlphabetInfo,
    (grid, screen): (Option<Grid>, Option<Screen>),
    options: &MetricOptions,
) -> Result<(Alphabet, Metric), Error> {
    let mut alphabet = common_alphabet(own, other);
    if let (Some(declared), Some(requested)) = (grid, options.grid)
        && declared != requested
    {
        return Err(MetricOptionsError::GridDiffers {
            requested,
            declared,
        }
        .into());
    }
    let requested_cells = options.grid.map(|grid| grid.cells());
    let metric = options.metric(&alphabet, grid, screen.as_ref())?;
    let is_declared = [own, other]
        .iter()
        .any(|info| info.declared == Some(alphabet));
    let quantisation = metric.quantisation();
    // Rounded fixations have their own letters.
    let limit = match quantisation {
        None => metric.letters().or(requested_cells),
        Some(_) => requested_cells,
    };
    if let Some(size) = limit.filter(|&size| size < alphabet.size())
        && !is_declared
    {
        alphabet = Alphabet::new(alphabet.notation(), size).map_err(MetricOptionsError::Letters)?;
    }
    // Double letters are the row and column of a cell.
    if let (Some(grid), Some(_)) = (grid.or(options.grid), alphabet.modulus())
        && !is_declared
    {
        let on_grid = Alphabet::on_grid(alphabet.notation(), &grid);
        alphabet = on_grid.map_err(MetricOptionsError::Letters)?;
    }
    // Report invalid metric options before any problem in the files' contents.
    match quantisation {
        None => metric.model(&alphabet)?,
        Some(quantisation) => metric.model(&quantisation.alphabet()?)?,
    };
    Ok((alphabet, metric))
}

/// The cohort with letters for its fixations if the metric compares rounded ones; otherwise the cohort itself.
pub(crate) fn rounded(
    cohort: Cohort,
    metric: &Metric,
    file: &str,
    events: &dyn EventSink,
) -> Result<Cohort, Error> {
    let Some(quantisation) = metric.quantisation() else {
        return Ok(cohort);
    };
    let missing = || Error::NoFixations {
        file: file.to_string(),
        metric: metric.name(),
    };
    let screen = cohort.screen.ok_or_else(missing)?;
    let (rounded, error) = quantisation.apply(&cohort)?.ok_or_else(missing)?;
    events.event(Event::Note(Note::RoundedFixations {
        file: file.to_string(),
        unit: screen.unit().name(),
        error,
    }));
    Ok(rounded)
}

/// Whether the declarations of two files contradict each other, so that the two sides would resolve different alphabets
/// or grids.
pub(crate) fn declarations_conflict(own: &AlphabetInfo, other: &AlphabetInfo) -> bool {
    let grids = own.grid.zip(other.grid);
    grids.is_some_and(|(own, other)| own != other)
        || common_alphabet(own, other) != common_alphabet(other, own)
}

/// Decodes a file and reports notes on what was assumed. `alphabet` is the common one; if the file declares one in the
/// chosen notation, that is used. `notation` is `None` if nobody chose one. `grid` comes from the options or a file.
pub(crate) fn decode_with_notes(
    file: &RawCohort,
    (alphabet, grid): (Alphabet, Option<Grid>),
    notation: Option<Notation>,
    events: &dyn EventSink,
) -> Result<Cohort, Error> {
    // Keep a declared alphabet even if the metric has fewer letters; the metric then reports the problem.
    let alphabet = match file.declared_alphabet() {
        Some(declared)
            if file.declares_letters(notation) && declared == file.alphabet(notation) =>
        {
            declared
        }
        _ => alphabet,
    };
    let cohort = decode(file, alphabet)?;
    for note in file.notes(alphabet, notation, grid) {
        events.event(Event::CohortNote {
            file: file.name().to_string(),
            note,
        });
    }
    Ok(cohort)
}

/// Decodes a file in an alphabet.
pub(crate) fn decode(file: &RawCohort, alphabet: Alphabet) -> Result<Cohort, Error> {
    let cohort = file.cohort(alphabet);
    cohort.map_err(|error| explain(file.head(), error))
}

/// The first declared alphabet in the notation that the users chose (any, if they chose none). If there is none, all
/// letters of the chosen notation. If nothing was declared or chosen, the notation that both files appear to have; if
/// these differ, one file only looks like double letters or numbers, and both are read as letters.
fn common_alphabet(own: &AlphabetInfo, other: &AlphabetInfo) -> Alphabet {
    let named = own.named.or(other.named);
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

/// Rejects cohorts whose results could not be read back.
pub(crate) fn check_result_file_limits(cohort: &Cohort, file: &str) -> Result<(), Error> {
    check_cohort(cohort).map_err(|error| Error::BeyondResultFile {
        file: file.to_string(),
        error,
    })
}
