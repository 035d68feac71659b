//! The eye of each row. Rows of both eyes, one after the other, are not one scanpath.

use super::columns::{Layout, normalised_name};
use crate::{EncodeField, EncodeNote, Eye, Input, NoEffect, ReadError, Row, Rows, Sink};
use std::collections::{HashMap, HashSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// The column that names the eye, and the eye to use.
#[derive(Default)]
pub(super) struct EyeFilter {
    column: Option<usize>,
    participant: Option<usize>,
    chosen: Option<Side>,
    /// The eye of each participant, if the user chooses none.
    by_participant: HashMap<String, Side>,
}

impl EyeFilter {
    /// Looks for the eyes of each participant, in the whole file if it can be read twice, else in its first rows.
    pub(super) fn find(
        layout: &Layout,
        input: &Input,
        chosen: Eye,
        sink: &mut dyn Sink,
    ) -> Result<Self, ReadError> {
        let [left, right] = match layout.eye {
            Some(column) => eyes_of_participants(column, layout, input, sink)?,
            None => Default::default(),
        };
        if left.is_empty() && right.is_empty() {
            if chosen != Eye::Any {
                sink.note(EncodeNote::NoEffect {
                    field: EncodeField::Eye,
                    reason: NoEffect::NoEyeColumn,
                });
            }
            return Ok(Self::default());
        }
        if chosen == Eye::Any && !left.is_disjoint(&right) {
            sink.assumed(
                "both eyes were recorded; the left one was used",
                &[EncodeField::Eye],
            );
        }
        let right = right.into_iter().map(|id| (id, Side::Right));
        let left = left.into_iter().map(|id| (id, Side::Left));
        Ok(Self {
            column: layout.eye,
            participant: layout.participant,
            chosen: match chosen {
                Eye::Any => None,
                Eye::Left => Some(Side::Left),
                Eye::Right => Some(Side::Right),
            },
            by_participant: right.chain(left).collect(),
        })
    }

    /// The column in use, for the summary.
    pub(super) fn column(&self) -> Option<usize> {
        self.column
    }

    /// Whether a row is about the other eye. A row that names neither eye is used.
    pub(super) fn is_other_eye(&mut self, row: &Row<'_>) -> bool {
        let Some(side) = self.column.and_then(|column| side(row.text(column))) else {
            return false;
        };
        let used = self.chosen.unwrap_or_else(|| {
            let id = participant(row, self.participant);
            match self.by_participant.get(id) {
                Some(&used) => used,
                // In a pipe, participants after the first rows are new: their first row decides.
                None => *self.by_participant.entry(id.to_string()).or_insert(side),
            }
        });
        side != used
    }
}

/// The participants with rows of the left eye, and those with rows of the right eye.
fn eyes_of_participants(
    column: usize,
    layout: &Layout,
    input: &Input,
    sink: &mut dyn Sink,
) -> Result<[HashSet<String>; 2], ReadError> {
    let [mut left, mut right] = <[HashSet<String>; 2]>::default();
    let again = match input.reopen()? {
        Some(whole) => whole,
        None => input.start()?,
    };
    let mut rows = Rows::open(again)?;
    while let Some(row) = rows.next_row()? {
        let found = match side(row.text(column)) {
            Some(Side::Left) => &mut left,
            Some(Side::Right) => &mut right,
            None => continue,
        };
        let id = participant(&row, layout.participant);
        if !found.contains(id) {
            found.insert(id.to_string());
        }
        sink.looked_at_line()?;
    }
    Ok([left, right])
}

fn participant<'a>(row: &Row<'a>, column: Option<usize>) -> &'a str {
    column.map_or("", |column| row.text(column))
}

fn side(text: &str) -> Option<Side> {
    match normalised_name(text).as_str() {
        "l" | "left" | "lefteye" => Some(Side::Left),
        "r" | "right" | "righteye" => Some(Side::Right),
        _ => None,
    }
}
