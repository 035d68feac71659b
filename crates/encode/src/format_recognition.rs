//! Recognises the format of a file. For an unknown format, explains what the file probably is and what to do about it.

mod cohorts;
mod preamble;

use crate::notes::first_of;
use crate::readers::{
    FORMATS, Format, coordinate_pairs, look_like_coordinates, names_areas, unpaired_coordinate,
};
use crate::{EncodeField, Head, ReadError, guess_delimiter, is_missing, parse_number};
use cohorts::{has_scanpath_strings, is_cohort, scanpath_strings};
use preamble::text_above_header;

/// The format of a file with this head; if there is none, [`explain_unknown`] explains why.
pub fn recognise_format(head: &Head) -> Option<&'static dyn Format> {
    // Some wrong files look like data: source code with a table inside, or electrode positions.
    if certain_mistake(head).is_some() {
        return None;
    }
    FORMATS
        .iter()
        .copied()
        .find(|format| format.recognises(head))
}

/// Why a file cannot be read: what it seems to be, and what to give instead.
pub fn explain_unknown(head: &Head) -> ReadError {
    let explained = certain_mistake(head)
        .or_else(|| empty_or_json(head))
        .or_else(|| bids_companion(head))
        .or_else(|| text_above_header(head))
        .or_else(|| odd_delimiter(head));
    let error = |(problem, remedy): Explanation, fields: &[EncodeField]| {
        ReadError::new(&head.name, problem)
            .with_remedy(remedy)
            .with_fields(fields)
    };
    let columns = &[EncodeField::CoordinateColumns, EncodeField::Format];
    match explained {
        Some(found) => error(found, &[]),
        None if has_scanpath_strings(head) => error(scanpath_strings(), &[EncodeField::Format]),
        None => match table(head) {
            Some((found, coordinates)) => {
                error(found, columns).with_coordinate_columns(coordinates)
            }
            None => error(unknown(head), &[EncodeField::Format]),
        },
    }
}

/// What a binary file of a known kind is, such as a spreadsheet with the extension of a table; `None` for text and for
/// unknown files.
pub fn explain_binary(head: &Head) -> Option<ReadError> {
    let (problem, remedy) = certain_mistake(head).filter(|_| head.binary)?;
    Some(ReadError::new(&head.name, problem).with_remedy(remedy))
}

/// Why a table without coordinates cannot be read, if the names of its columns are further down.
pub(crate) fn explain_preamble(head: &Head) -> Option<ReadError> {
    let (problem, remedy) = text_above_header(head)?;
    Some(ReadError::new(&head.name, problem).with_remedy(remedy))
}

/// What a file is, and a remedy.
type Explanation = (String, String);

/// First bytes (after decompression), what they mean and what to do.
const MAGIC_NUMBERS: &[(&[u8], &str, &str)] = &[
    (b"SR_RESEARCH", EYELINK, EYELINK_REMEDY),
    (
        b"\xd0\xcf\x11\xe0",
        "this is an old Office file (Excel .xls or Word .doc)",
        EXCEL_REMEDY,
    ),
    (b"\x89PNG", IMAGE, IMAGE_REMEDY),
    (b"\xff\xd8\xff", IMAGE, IMAGE_REMEDY),
    (b"GIF8", IMAGE, IMAGE_REMEDY),
    (b"BM", IMAGE, IMAGE_REMEDY),
    (b"II*\0", IMAGE, IMAGE_REMEDY),
    (b"MM\0*", IMAGE, IMAGE_REMEDY),
    (
        b"%PDF",
        "this is a PDF document",
        "give the gaze or fixation data behind it; veilpath reads tables and trackers' exports",
    ),
    (b"\x89HDF", "this is an HDF5 file", HDF5_REMEDY),
    (
        b"MATLAB 7.3",
        "this is a MATLAB 7.3 file (HDF5 inside)",
        "in MATLAB, load it and save it again with save('file.mat', ..., '-v7')",
    ),
    (b"$FL2", SPSS, SPSS_REMEDY),
    (b"$FL3", SPSS, SPSS_REMEDY),
    (b"RDX2", R_DATA, R_REMEDY),
    (b"RDX3", R_DATA, R_REMEDY),
    (b"X\n\0\0", R_DATA, R_REMEDY),
    (b"BZh", PACKED, PACKED_REMEDY),
    (b"\xfd7zXZ", PACKED, PACKED_REMEDY),
    (b"7z\xbc\xaf", PACKED, PACKED_REMEDY),
    (b"Rar!", PACKED, PACKED_REMEDY),
    (b"\x28\xb5\x2f\xfd", PACKED, PACKED_REMEDY),
    (
        b"\x93NUMPY",
        "this is a NumPy file",
        "in Python, write it as a table: numpy.savetxt('gaze.csv', array, delimiter=',', header='x,y,duration', comments='')",
    ),
    (b"PAR1", "this is a Parquet file", PARQUET_REMEDY),
    (b"ARROW1", ARROW, ARROW_REMEDY),
    (b"FEA1", ARROW, ARROW_REMEDY),
    (
        b"XDF:",
        "this is a recording of the Lab Streaming Layer (XDF)",
        "in Python, load it with pyxdf and write the gaze stream as CSV",
    ),
    (
        b"SQLite format 3",
        "this is a database",
        "export the table of gaze or fixations as CSV",
    ),
    (b"<!DOCTYPE", WEB_PAGE, WEB_REMEDY),
    (b"<!doctype", WEB_PAGE, WEB_REMEDY),
    (b"<html", WEB_PAGE, WEB_REMEDY),
    (
        b"<?xml",
        "this is an XML file",
        "export the gaze or fixations as a table (CSV or TSV)",
    ),
    (
        b"version https://git-lfs",
        "this is a Git LFS placeholder, not the file itself",
        "fetch the content with `git lfs pull`",
    ),
];

const EYELINK: &str = "this is an EyeLink recording in SR Research's binary format (EDF)";
const EYELINK_REMEDY: &str =
    "convert it with SR Research's edf2asc (or Visual EDF2ASC) and give the .asc file";
const EXCEL_REMEDY: &str =
    "open it, save the sheet with \"Save as\" as CSV (UTF-8), and give that file";
const IMAGE: &str = "this is an image";
const IMAGE_REMEDY: &str =
    "give the gaze or fixation data that were recorded on it; images are not needed";
const HDF5_REMEDY: &str = "export the gaze or fixations as CSV (for PsychoPy: the events of the eye tracker; for MATLAB: save with -v7)";
const SPSS: &str = "this is an SPSS file";
const SPSS_REMEDY: &str = "in SPSS, save the table as CSV with variable names in the first row";
const R_DATA: &str = "this is an R data file";
const R_REMEDY: &str =
    "in R, load it and write the table with write.csv(table, 'table.csv', row.names = FALSE)";
const PACKED: &str = "this is a compressed file or archive";
const PACKED_REMEDY: &str = "unpack it and give the files inside; only gzip (.gz) is read directly";
const PARQUET_REMEDY: &str =
    "in Python, write it as CSV: pandas.read_parquet('file').to_csv('file.csv', index=False)";
const ARROW: &str = "this is an Arrow or Feather file";
const ARROW_REMEDY: &str =
    "in Python, write it as CSV: pandas.read_feather('file').to_csv('file.csv', index=False)";
const WEB_PAGE: &str = "this is a web page, not data";
const WEB_REMEDY: &str = "it was probably saved in place of a download: fetch the file itself (on GitHub, with the \"Raw\" button)";

/// Files that cannot be data, even if a reader would recognise them.
fn certain_mistake(head: &Head) -> Option<Explanation> {
    let found = |problem: &str, remedy: &str| Some((problem.to_string(), remedy.to_string()));
    let start = head.start.as_slice();
    let extension = head.extension();
    if start.starts_with(b"PK\x03\x04") {
        // The extension may be wrong, so the names in the archive count as well.
        let has = |name: &str| head.lines.iter().any(|line| line.contains(name));
        return if matches!(extension.as_str(), "xlsx" | "xlsm" | "ods")
            || has("xl/")
            || has("opendocument.spreadsheet")
            || has("Index/Tables/")
        {
            found(
                "this is a spreadsheet (Excel, LibreOffice or Numbers), whatever its extension says",
                EXCEL_REMEDY,
            )
        } else if has("word/") || has("opendocument.text") {
            found(
                "this is a text document (Word or LibreOffice)",
                "give the gaze or fixation files that it describes",
            )
        } else {
            found(PACKED, PACKED_REMEDY)
        };
    }
    if head.binary || start.starts_with(b"0       ") {
        let medical = matches!(extension.as_str(), "edf" | "bdf");
        if medical && (start.starts_with(b"0       ") || start.starts_with(b"\xffBIOSEMI")) {
            return found(
                "this is an EDF or BDF file, as used for EEG",
                "give the eye tracking data; if an EyeLink recording was meant, convert it with edf2asc and give the .asc file",
            );
        }
    }
    // The magic number of bitmaps is two letters, with which text may also start.
    let magic = MAGIC_NUMBERS
        .iter()
        .find(|(magic, ..)| start.starts_with(magic) && (magic.len() > 2 || head.binary));
    if let Some((_, problem, remedy)) = magic {
        return found(problem, remedy);
    }
    let first = head.first_line();
    if first.contains("annex/objects/") && head.lines.len() <= 2 {
        return found(
            "this is a git-annex placeholder, not the file itself",
            "fetch the content with `datalad get FILE` or `git annex get FILE`",
        );
    }
    if matches!(
        extension.as_str(),
        "ts" | "js"
            | "py"
            | "r"
            | "rmd"
            | "ipynb"
            | "m"
            | "rs"
            | "c"
            | "cpp"
            | "h"
            | "java"
            | "sh"
            | "css"
            | "html"
    ) {
        return found(
            "this is source code, not data",
            "give the gaze or fixation file that it works on",
        );
    }
    if matches!(extension.as_str(), "md" | "rst" | "docx" | "rtf" | "tex") {
        return found(
            "this is prose, not data",
            "give the gaze or fixation files that it describes",
        );
    }
    if is_cohort(head) {
        return found(
            "this is already a cohort: scanpaths as letters",
            "there is nothing to encode; compare it directly",
        );
    }
    let about = bids_table(&head.name).filter(|(suffix, _)| *suffix != "events");
    about.map(|(_, about)| not_gaze(about))
}

/// BIDS tables that accompany recordings, by the suffix of their names.
const BIDS_TABLES: &[(&str, &str)] = &[
    ("participants", "the list of participants"),
    ("scans", "the list of recordings"),
    ("sessions", "the list of sessions"),
    ("channels", "the list of channels"),
    ("electrodes", "the positions of electrodes"),
    ("optodes", "the positions of optodes"),
    ("events", "what happened in the experiment and when"),
];

fn bids_table(name: &str) -> Option<(&'static str, &'static str)> {
    let file = name.rsplit(['/', '\\']).next()?;
    let stem = file
        .strip_suffix(".gz")
        .unwrap_or(file)
        .strip_suffix(".tsv")?;
    let (entities, suffix) = stem.rsplit_once('_').unwrap_or(("", stem));
    if !entities.is_empty() && !entities.starts_with("sub-") && !entities.starts_with("task-") {
        return None;
    }
    BIDS_TABLES
        .iter()
        .copied()
        .find(|(known, _)| *known == suffix)
}

fn not_gaze(about: &str) -> Explanation {
    (
        format!("this file of a BIDS dataset contains {about}, not gaze"),
        "give the eye tracking recordings: the files that end in _recording-eye1_physio.tsv.gz or the like".to_string(),
    )
}

fn bids_companion(head: &Head) -> Option<Explanation> {
    bids_table(&head.name).map(|(_, about)| not_gaze(about))
}

fn empty_or_json(head: &Head) -> Option<Explanation> {
    if head.is_blank() && !head.binary {
        return Some((
            "the file is empty".to_string(),
            "export or copy it again; published datasets often contain empty placeholders whose content is fetched separately".to_string(),
        ));
    }
    if head.extension() != "json" && !head.first_line().starts_with(['{', '[']) {
        return None;
    }
    let whole = head.lines.join("\n");
    if head.is_whole
        && serde_json::from_str::<serde::de::IgnoredAny>(&whole).is_err_and(|error| error.is_eof())
    {
        return Some((
            "this JSON file is truncated: a bracket or quote is never closed".to_string(),
            "copy or download it again, or wait until it is completely written".to_string(),
        ));
    }
    let has = |key: &str| head.lines.iter().any(|line| line.contains(key));
    let metadata = [
        "\"Description\"",
        "\"BIDSVersion\"",
        "\"Columns\"",
        "\"SamplingFrequency\"",
        "CoordinateSystem\"",
    ];
    if metadata.into_iter().any(has) {
        return Some(not_gaze("a description of other files"));
    }
    Some((
        "this JSON file has no scanpaths in a known format".to_string(),
        "expected {image: {\"subject\": …, \"image_width\": …, \"image_height\": …, \"X\": […], \"Y\": […], \"T\": […]}}; leave out files that only describe the dataset, and convert other JSON to a table with the columns participant, stimulus, x, y and duration".to_string(),
    ))
}

/// The first line of a text that may be a table, and the two lines after it.
fn first_lines(head: &Head) -> Option<(&String, Vec<&String>)> {
    let content = |line: &&String| !line.trim().is_empty() && !line.starts_with('#');
    let mut lines = head.lines.iter().filter(content);
    let header = lines.next().filter(|_| !head.binary)?;
    Some((header, lines.take(2).collect()))
}

/// Whether a character separates columns: prose has commas, too, but not the same number on three lines.
fn separates(sign: char, header: &str, next: &[&String]) -> bool {
    let count = header.split(sign).count();
    count > 1 && next.iter().all(|line| line.split(sign).count() == count)
}

/// A table with an unknown delimiter.
fn odd_delimiter(head: &Head) -> Option<Explanation> {
    let (header, next) = first_lines(head)?;
    if header.contains(char::from(guess_delimiter(header))) {
        return None;
    }
    let mut signs = ['|', ':'].into_iter();
    let sign = signs.find(|sign| separates(*sign, header, &next))?;
    Some((
        format!("this is a table whose columns are separated by {sign}"),
        "expected tabs, semicolons, commas or spaces between the columns; write the table with one of these"
            .to_string(),
    ))
}

/// Explains a table whose columns no reader knows, and returns the columns that are probably x and y.
fn table(head: &Head) -> Option<(Explanation, Option<(String, String)>)> {
    let (header, next) = first_lines(head)?;
    let delimiter = char::from(guess_delimiter(header));
    let count = header.split(delimiter).count();
    if !separates(delimiter, header, &next) {
        return None;
    }
    let names: Vec<&str> = header
        .split(delimiter)
        .map(|field| field.trim().trim_matches('"'))
        .collect();
    // A first line with numbers is not a header but somebody's data, which must not appear in a message.
    let is_name =
        |name: &&str| name.len() <= 60 && !is_missing(name) && parse_number(name, true).is_none();
    let mut pairs = Vec::new();
    let problem = if names.iter().all(is_name) {
        pairs = coordinate_pairs(&names);
        let listed = first_of(&names, 12);
        match unpaired_coordinate(&names) {
            Some((found, missing)) => format!(
                "this table has a column {found} and no column {missing} to go with it; its columns are: {listed}"
            ),
            None => format!("no known format has a table with these columns: {listed}"),
        }
    } else {
        format!("this is a table of {count} columns without names")
    };
    let remedy = match pairs.is_empty() {
        true if names_areas(&names) => format!(
            "a table needs the coordinates of fixations, even if a column names areas of interest: if they have unusual names, rename the columns or say which is which; otherwise add columns such as x and y; {}",
            known_formats()
        ),
        // It is a table, so the other formats do not help.
        true if unpaired_coordinate(&names).is_some() => "the first line of a table must name the columns, among them x and y (and duration, participant and stimulus, if there are any); rename them, or say which is which".into(),
        true => format!(
            "the first line of a table must name the columns, among them x and y (and duration, participant and stimulus, if there are any); rename them, or say which is which; {}",
            known_formats()
        ),
        false => format!(
            "{}; say which columns to use, or name the format",
            look_like_coordinates(&pairs)
        ),
    };
    Some(((problem, remedy), pairs.into_iter().next()))
}

fn unknown(head: &Head) -> Explanation {
    let problem = match (head.binary, head.extension().as_str()) {
        (true, "edf") => EYELINK,
        (true, "idf") => "this is a recording in SMI's binary format (IDF)",
        (true, "mat") => "this is an old or unusual MATLAB file",
        (true, _) => "this is a binary file in an unknown format",
        (false, _) => "this text is neither a table nor a known export of an eye tracker",
    };
    let remedy = match (head.binary, head.extension().as_str()) {
        (true, "edf") => EYELINK_REMEDY.to_string(),
        (true, "idf") => {
            "export events or samples as text from BeGaze or with SMI's IDF converter".to_string()
        }
        (true, "mat") => {
            "in MATLAB, load it and save it again with save('file.mat', ..., '-v7')".to_string()
        }
        (true, _) => format!(
            "export the gaze or fixations as text from the tracker's software; {}",
            known_formats()
        ),
        (false, _) => format!("give a file with gaze or fixations; {}", known_formats()),
    };
    (problem.to_string(), remedy)
}

fn known_formats() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
    format!("the formats are: {}", names.join(", "))
}

#[cfg(test)]
mod tests;
