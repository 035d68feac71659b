//! The preamble of a cohort file: settings and comments before the scanpaths.

use super::{ALPHABET, ASPECT, MAGIC, NOTE, VERSION};
use crate::{EncodeField, Lines, ReadError};
use std::collections::BTreeMap;
use veilpath_metrics::{Alphabet, Grid, LetterError, SCREEN, Screen, ScreenError, VIEWING};

/// Settings and comments before the scanpaths.
#[derive(Default)]
pub(super) struct Preamble {
    pub(super) is_ours: bool,
    pub(super) looks_like_settings: bool,
    pub(super) alphabet: Option<Alphabet>,
    pub(super) size_declared: bool,
    pub(super) modulus_declared: bool,
    pub(super) grid: Option<Grid>,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) notes: Vec<String>,
    pub(super) aspect: Option<f64>,
    screen: Option<String>,
    viewing: Option<String>,
    pub(super) blank_lines: u64,
}

/// The aspect ratios (width divided by height) that can be drawn.
const ASPECTS: std::ops::RangeInclusive<f64> = 0.1..=10.0;

impl Preamble {
    /// Reads comments and returns the first line that is not a comment.
    pub(super) fn read(&mut self, lines: &mut Lines) -> Result<Option<String>, ReadError> {
        loop {
            let Some(line) = lines.next_line()? else {
                return Ok(None);
            };
            let whole = line.into_owned();
            let comment = spreadsheet_comment(&whole);
            let line = comment.as_deref().unwrap_or(whole.trim());
            if line.is_empty() {
                self.blank_lines += 1;
            } else if let Some(version) = line.strip_prefix(MAGIC) {
                if version.trim().parse() != Ok(VERSION) {
                    return Err(lines
                        .error("this cohort file was written by another version of Veilpath")
                        .with_remedy(
                            "encode the recordings again with this version, or update Veilpath",
                        ));
                }
                self.is_ours = true;
            } else if let Some(comment) = line.strip_prefix('#') {
                self.comment(comment).map_err(|problem| {
                    let error = lines.error(problem);
                    match option_for(comment) {
                        Some(field) => error
                            .with_remedy(
                                "correct the line, or remove it and set this option yourself",
                            )
                            .with_fields(&[field]),
                        None => {
                            error.with_remedy("correct the line, or encode the recordings again")
                        }
                    }
                })?;
            } else {
                // Keep trailing whitespace: a tab at the end precedes an empty scanpath.
                return Ok(Some(whole));
            }
        }
    }

    /// The alphabet that the header declares. Double letters without a modulus follow the grid, as in the ScanMatch
    /// toolbox.
    pub(super) fn alphabet_on_grid(&self) -> Result<Option<Alphabet>, LetterError> {
        let Some(declared) = self.alphabet else {
            return Ok(None);
        };
        let grid = self.grid.filter(|_| !self.modulus_declared);
        let (Some(grid), Some(_)) = (grid, declared.modulus()) else {
            return Ok(Some(declared));
        };
        let on_grid = match declared == Alphabet::full(declared.notation()) {
            true => Alphabet::on_grid(declared.notation(), &grid),
            false => declared.with_modulus(grid.columns()),
        };
        on_grid.map(Some)
    }

    /// The screen of the fixations.
    pub(super) fn screen(&self) -> Result<Option<Screen>, ScreenError> {
        let screen = self.screen.as_deref();
        let read = |screen| Screen::from_settings(screen, self.viewing.as_deref());
        screen.map(read).transpose()
    }

    /// The settings as Veilpath writes them. A spreadsheet that splits a comment at its commas joins the parts with the
    /// delimiter of the table.
    pub(super) fn take_settings(&mut self, delimiter: u8) -> BTreeMap<String, String> {
        let mut settings = std::mem::take(&mut self.settings);
        if delimiter == b';' || delimiter == b'\t' {
            for value in settings.values_mut() {
                *value = value.replace(char::from(delimiter), ",");
            }
        }
        settings
    }

    fn comment(&mut self, comment: &str) -> Result<(), String> {
        let Some((name, value)) = comment.split_once(':') else {
            return Ok(());
        };
        let (name, value) = (name.trim(), value.trim());
        if !self.is_ours {
            self.looks_like_settings |= matches!(name, ALPHABET | "grid");
            return Ok(());
        }
        match name {
            NOTE => self.notes.push(value.to_string()),
            // Only drawings use the aspect, so an invalid one is ignored.
            ASPECT => self.aspect = value.parse().ok().filter(|aspect| ASPECTS.contains(aspect)),
            SCREEN => {
                self.screen = Some(value.to_string());
                self.screen().map_err(|error| error.to_string())?;
            }
            VIEWING => {
                self.viewing = Some(value.to_string());
                let screen = self.screen();
                screen.map_err(|error| error.to_string())?;
            }
            ALPHABET => {
                self.alphabet = Some(value.parse().map_err(|error| format!("{error}"))?);
                self.size_declared = value.split_whitespace().nth(1).is_some();
                self.modulus_declared = value.contains("modulus");
                self.alphabet_on_grid().map_err(|error| error.to_string())?;
            }
            _ => {
                if name == "grid" {
                    self.grid = Some(value.parse::<Grid>().map_err(|error| error.to_string())?);
                    self.alphabet_on_grid().map_err(|error| error.to_string())?;
                }
                self.settings.insert(name.to_string(), value.to_string());
            }
        }
        Ok(())
    }
}

/// The option that can replace a header setting.
fn option_for(comment: &str) -> Option<EncodeField> {
    match comment.split_once(':')?.0.trim() {
        ALPHABET => Some(EncodeField::Notation),
        "grid" => Some(EncodeField::Grid),
        _ => None,
    }
}

/// Removes what a spreadsheet adds to a comment when it saves the file: quotes around it or around each of its parts, and
/// trailing delimiters up to the width of the table. Returns `None` if the line is not a comment.
fn spreadsheet_comment(line: &str) -> Option<String> {
    let line = line.trim();
    let comment = match line.starts_with("\"#") {
        true => unquoted(line),
        false if line.starts_with('#') => line.to_string(),
        false => return None,
    };
    let padding = [',', ';', '\t', ' '];
    Some(comment.trim_end_matches(padding).to_string())
}

/// The line without the quotes around its fields. A quote within a field is doubled.
fn unquoted(line: &str) -> String {
    let mut text = String::new();
    let mut signs = line.chars().peekable();
    let mut in_field = false;
    while let Some(sign) = signs.next() {
        match sign {
            '"' if in_field && signs.next_if_eq(&'"').is_some() => text.push('"'),
            '"' => in_field = !in_field,
            other => text.push(other),
        }
    }
    text
}
