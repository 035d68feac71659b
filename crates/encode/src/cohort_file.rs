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
//! After the first line, every comment is a setting: `# name: value`. An empty last field is an empty scanpath. If
//! participants have groups, a `group` column follows the participant. Every row then has a group, the same in all rows
//! of a participant.
//!
//! Ids that contain a comma or a quote, or start with `#`, are quoted. Line breaks and other unprintable characters in
//! ids become spaces, because every row is one line. An id that a spreadsheet would take for a formula starts with an
//! apostrophe, which is removed on reading (see [`veilpath_metrics::text`]).
//!
//! If fixations were kept, a last column `fixations` holds `x y duration` or `x y duration start` for each of them,
//! with times in milliseconds, separated by semicolons. Two settings say what the coordinates mean:
//! ```text
//! # screen: 1280 x 720 pixels
//! # viewing: 52 x 29 cm from 60 cm (where it is known)
//! participant,stimulus,scanpath,fixations
//! p01,bridge.png,IK,401.5 90 212 0;800 100.25 180 230
//! ```
//! Both settings must match when fixations are compared; letters from different screens can be compared. Without the
//! `screen` setting, a column of this name is ignored.
//!
//! # What is read
//! | form | how it is recognised |
//! |---|---|
//! | a table with a column `scanpath` and, in any order, `participant`, `group` and `stimulus` (comma, semicolon or tab) | by its header |
//! | OGAMA and ScanGraph text: `#` comments, then `participant<TAB>letters` | by the tab in its first line; a header with a column `Scanpath string` is understood; `#` within letters (no area was hit) is left out |
//! | one string per line; participants are numbered from 1 | neither header, tab, comma nor semicolon |
//!
//! In the last form, blank lines are skipped with a note: an empty scanpath needs a participant. Settings are read only
//! after the line `# veilpath cohort 1`, so that comments by other programs are not mistaken for settings. Unsafe
//! characters in ids and settings are replaced by U+FFFD, with a note.
//!
//! # The alphabet
//! The alphabet is the one that the caller names, else the one in the settings, else the cells of the grid in the
//! settings, else a guess, which is reported. Digits and spaces are read as cell numbers, strings of pairs such as
//! `aAbC` as ScanMatch's double letters, and everything else as `A…Z a…z`.

mod fixations;
mod note;
mod preamble;
mod printable;
mod raw;
mod read;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use veilpath_metrics::text::{csv_field, is_unprintable};
use veilpath_metrics::{Cohort, SCREEN, VIEWING};

pub use note::CohortNote;
pub use raw::RawCohort;

/// Writes a cohort file. `aspect` (width divided by height of what was looked at) is used to draw scanpaths, and
/// `notes` are for human readers. Neither affects whether two encodings match.
pub fn write(
    cohort: &Cohort,
    aspect: Option<f64>,
    notes: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    let alphabet = cohort.alphabet.to_string();
    write_declaring(Some(&alphabet), cohort, aspect, notes, out)
}

/// Writes some or all scanpaths of a file that was read. The header declares no more than that file's header, so that a
/// metric's grid can still decide what the file leaves open.
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

/// The start of a cohort file's first line.
pub const MAGIC: &str = "# veilpath cohort";
const VERSION: u32 = 1;
const ALPHABET: &str = "alphabet";
const NOTE: &str = "note";
const ASPECT: &str = "aspect";

/// Replaces line breaks and other unprintable characters with spaces, and trims the result.
fn one_line(text: &str) -> String {
    let spaces = text.replace(is_unprintable, " ");
    spaces.trim().to_string()
}

/// Formats an id as a CSV field.
pub fn field(id: &str) -> String {
    let id = csv_field(&one_line(id)).into_owned();
    if id.contains([',', '"']) || id.starts_with('#') {
        format!("\"{}\"", id.replace('"', "\"\""))
    } else {
        id
    }
}
