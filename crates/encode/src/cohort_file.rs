//! Cohort files: scanpaths as letters, with ids.
//!
//! # What is written
//! ```text
//! # veilpath cohort 1
//! # alphabet: letters 49
//! # data: fixations
//! # grid: 7x7
//! # aspect: 1.7778 (width by height of what was looked at, for drawings; takes no part in comparing encodings)
//! # note: for people; takes no part in comparing encodings
//! participant,stimulus,scanpath
//! p01,bridge.png,IKKDPPqtggvbbbSSGGS
//! "Müller, A.",bridge.png,
//! ```
//! Under the first line every comment is a setting, `# name: value`. An empty last field is an empty scanpath. Where participants
//! have groups, a column `group` follows the participant; every row has one, the same for all rows of a participant. Ids with a comma, a quote or a `#` at their start are quoted; line
//! breaks and other unprintable characters in them become spaces, because every row is one line; one that a spreadsheet would take
//! for a formula starts with an apostrophe, which is removed when it is read back (see [`veilpath_metrics::text`]).
//!
//! Where fixations were kept, a last column `fixations` has `x y duration` or `x y duration start` for each, in milliseconds,
//! with semicolons between them, and two settings say what the coordinates mean:
//! ```text
//! # screen: 1280 x 720 pixels
//! # viewing: 52 x 29 cm from 60 cm (where it is known)
//! participant,stimulus,scanpath,fixations
//! p01,bridge.png,IK,401.5 90 212 0;800 100.25 180 230
//! ```
//! They must agree when fixations are compared; letters from different screens can be compared. A column of this name
//! is ignored in a file without the setting `screen`.
//!
//! # What is read
//! | form | how it is recognised |
//! |---|---|
//! | a table with a column `scanpath` and, in any order, `participant`, `group` and `stimulus` (comma, semicolon or tab) | by its header |
//! | OGAMA and ScanGraph text: `#` comments, then `participant<TAB>letters` | by the tab in its first line; a header with a column `Scanpath string` is understood; `#` within letters (no area was hit) is left out |
//! | one string per line; participants are numbered from 1 | neither header, tab, comma nor semicolon |
//!
//! In the last form a blank line is skipped, with a note: an empty scanpath needs a participant. Settings count under the
//! line `# veilpath cohort 1` only, so that the comments of other programs are not mistaken for them. Unsafe characters in ids
//! and settings are replaced by U+FFFD, with a note.
//!
//! # The alphabet
//! What the caller says, else what the settings say, else the cells of the grid that they name, else a guess that is
//! reported: digits and spaces are cell numbers, strings of pairs such as `aAbC` are ScanMatch's double letters,
//! everything else is `A…Z a…z`.

mod fixations;
mod note;
mod preamble;
mod raw;
mod read;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use veilpath_metrics::text::{csv_field, is_unprintable};
use veilpath_metrics::{Cohort, SCREEN, VIEWING};

pub use note::CohortNote;
pub use raw::RawCohort;

/// Writes a cohort file. The aspect, width by height of what was looked at, is for drawing scanpaths, and notes are for
/// people: neither takes part in comparing encodings.
pub fn write(
    cohort: &Cohort,
    aspect: Option<f64>,
    notes: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    let alphabet = cohort.alphabet.to_string();
    write_declaring(Some(&alphabet), cohort, aspect, notes, out)
}

/// Writes scanpaths of a file that was read: all of them, or some. The header declares no more than that file's header,
/// so that a metric's grid can still decide what it leaves open.
pub fn write_part(whole: &RawCohort, part: &Cohort, out: &mut dyn Write) -> io::Result<()> {
    let alphabet = whole.declared_for(part);
    let (aspect, notes) = (whole.aspect(), whole.header_notes());
    write_declaring(alphabet.as_deref(), part, aspect, notes, out)
}

fn write_declaring(
    alphabet: Option<&str>,
    cohort: &Cohort,
    aspect: Option<f64>,
    notes: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{MAGIC} {VERSION}")?;
    if let Some(alphabet) = alphabet {
        writeln!(out, "# {ALPHABET}: {alphabet}")?;
    }
    for (name, value) in &cohort.encoding.0 {
        let name = one_line(name).replace(':', " ");
        if ![ALPHABET, NOTE, ASPECT, SCREEN, VIEWING].contains(&name.as_str()) {
            writeln!(out, "# {name}: {}", one_line(value))?;
        }
    }
    if let Some(screen) = cohort.screen {
        for (name, value) in screen.settings() {
            writeln!(out, "# {name}: {value}")?;
        }
    }
    if let Some(aspect) = aspect {
        // Four decimals are more than enough for drawings.
        writeln!(out, "# {ASPECT}: {}", (aspect * 1e4).round() / 1e4)?;
    }
    for note in notes {
        writeln!(out, "# {NOTE}: {}", one_line(note))?;
    }
    let has_groups = cohort.has_groups();
    let group_column = if has_groups { "group," } else { "" };
    let fixations_column = match cohort.screen {
        Some(_) => format!(",{}", fixations::COLUMN),
        None => String::new(),
    };
    writeln!(
        out,
        "participant,{group_column}stimulus,scanpath{fixations_column}"
    )?;
    for entry in &cohort.entries {
        write!(out, "{},", field(&entry.participant))?;
        if has_groups {
            write!(out, "{},", field(entry.group.as_deref().unwrap_or("")))?;
        }
        let stimulus = entry.stimulus.as_deref().unwrap_or("");
        let scanpath = cohort.alphabet.format(&entry.scanpath);
        write!(out, "{},{scanpath}", field(stimulus))?;
        if cohort.screen.is_some() {
            let kept = entry.fixations.clone().unwrap_or_default();
            write!(out, ",{}", fixations::format(&kept))?;
        }
        writeln!(out)?;
    }
    out.flush()
}

/// How a cohort file starts.
pub const MAGIC: &str = "# veilpath cohort";
const VERSION: u32 = 1;
const ALPHABET: &str = "alphabet";
const NOTE: &str = "note";
const ASPECT: &str = "aspect";

/// Text without line breaks and other unprintable characters, and without spaces around it.
fn one_line(text: &str) -> String {
    let spaces = text.replace(is_unprintable, " ");
    spaces.trim().to_string()
}

/// An id as a field of a table.
pub fn field(id: &str) -> String {
    let id = csv_field(&one_line(id)).into_owned();
    if id.contains([',', '"']) || id.starts_with('#') {
        format!("\"{}\"", id.replace('"', "\"\""))
    } else {
        id
    }
}
