//! Generic tables of fixations or gaze samples, separated by commas, semicolons, tabs or spaces. Columns are recognised
//! by their names.
//!
//! With a column for the duration, or for start and end, rows are fixations; else they are gaze samples and need a
//! column for the time or a rate. Units come from the user, the columns' names or the first rows, in this order; what
//! is inferred from the first rows is reported as an assumption.

mod columns;
mod coordinates;
mod eyes;
mod id_columns;
mod indicators;
mod label_columns;
mod labels;
mod likely;
mod recordings;
mod time_units;
mod units;
mod vocabulary;
mod words;

use super::common::{report_fixation, start_ms};
use super::{
    Format, PARTICIPANT_NAME_FIELDS, SupportedOptions, named_after, names_found, or_file_name,
    origin,
};
use crate::{
    Dropped, EncodeField, EncodeNote, Head, Input, Kind, NamesInFile, NoEffect, ReadError,
    ReadOptions, Row, RowChoice, Rows, Sample, Sink, TimeUnit, explain_preamble, is_missing,
};
use columns::Layout;
use eyes::EyeFilter;
use labels::{EventFilter, Verdict};
use recordings::{Recordings, RowOwner};
use units::Survey;

pub(crate) use columns::has_coordinates;
pub(crate) use coordinates::{
    coordinate_pairs, look_like_coordinates, names_areas, unpaired_coordinate,
};
pub(crate) use id_columns::IdColumns;
pub(crate) use words::{LabelMeaning, is_loss, meaning};

pub(super) struct Table;

impl Format for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn title(&self) -> &'static str {
        "Table of fixations or gaze samples (CSV, TSV)"
    }

    fn accepts(&self) -> SupportedOptions {
        SupportedOptions {
            eye: true,
            columns: true,
            events: true,
            ..SupportedOptions::default()
        }
    }

    fn recognises(&self, head: &Head) -> bool {
        !head.binary
            && Input::from_bytes("", head.first_row().into())
                .and_then(Rows::open)
                .is_ok_and(|rows| columns::has_coordinates(rows.columns()))
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        let first_rows = || Rows::open(input.start()?);
        let columns = first_rows()?.columns().clone();
        let layout = Layout::find(&columns, options).map_err(|error| {
            let preamble = explain_preamble(&input.head());
            preamble
                .filter(|_| options.columns.is_empty())
                .unwrap_or(error)
        })?;
        layout.check_kinds(&columns)?;
        let found = names_found(&input, options, NamesInFile::default())?;
        note_unused_names(&layout, options, sink);
        let is_named = layout.participant.is_some() || found.participant.is_some();
        let (names, input_kind) = (or_file_name(found, &input), origin(&input));
        for name in layout.repeated(&columns) {
            sink.assumed(
                &format!("the first of several columns named \"{name}\" was used"),
                &[EncodeField::Columns],
            );
        }
        let fixations = rows_are_fixations(&layout, options);
        if !fixations && layout.start.is_none() && options.rate_hz.is_none() {
            if layout.has_durations() {
                return Err(columns
                    .error("samples were chosen, but this table has no column of times; its rows have durations, so they are fixations")
                    .with_remedy(format!(
                        "read the rows as fixations, or name the column of times; {}",
                        columns.listed()
                    ))
                    .with_fields(&[EncodeField::FixationRows, EncodeField::Columns]));
            }
            return Err(columns
                .error("this table has neither a duration nor a time")
                .with_remedy(format!(
                    "name the column of one of them, give the sampling rate, or say that every row is a fixation; {}",
                    columns.listed()
                ))
                .with_fields(&[EncodeField::Columns, EncodeField::Rate, EncodeField::FixationRows]));
        }
        if let (false, Some(start), Some(_)) = (fixations, layout.start, options.rate_hz) {
            sink.assumed(
                &format!(
                    "times are those of the column \"{}\"; the given rate only says how long a sample lasts",
                    columns.names()[start]
                ),
                &[EncodeField::Rate],
            );
        }
        let mut events =
            EventFilter::find(&columns, &layout, first_rows()?, fixations, options, sink)?;
        let mut eyes = EyeFilter::find(&layout, &input, options.eye, sink)?;
        let other_roles = events.columns().chain(eyes.column().map(|it| ("eye", it)));
        let roles = layout.columns_used(&columns, other_roles, names.1.is_some());
        if !is_named {
            let by_column = (!roles.not_used.is_empty()).then_some(EncodeField::ParticipantColumn);
            let changed_by: Vec<EncodeField> = by_column
                .into_iter()
                .chain(PARTICIPANT_NAME_FIELDS.iter().copied())
                .collect();
            sink.assumed(&named_after(input_kind, &roles.not_used), &changed_by);
        }
        sink.columns(roles);
        if layout.end_point.is_some() && fixations {
            sink.assumed(
                "the position of a fixation is the mean of where it starts and ends",
                &[EncodeField::CoordinateColumns],
            );
        }
        let survey = Survey::of(first_rows()?, &layout, &mut events)?;
        let kind = if fixations {
            Kind::Fixations
        } else {
            Kind::Gaze {
                rate_hz: options.rate_hz,
            }
        };
        let space = units::space(&columns, &layout, &survey, options, sink)?;
        let unit = time_units::time_unit(&columns, &layout, &survey, fixations, options, sink)?;
        let start_unit = time_units::start_unit(&columns, &layout, options).unwrap_or(unit);
        let mut recordings = Recordings::new(names.0, names.1, kind, space)
            .with_groups_requested(options.columns.contains_key("group"));
        let mut rows = Rows::open(input)?;
        let width = columns.names().len();
        while let Some(row) = rows.next_row()? {
            check_width(&row, width)?;
            if eyes.is_other_eye(&row) {
                sink.dropped(Dropped::OtherEye);
                continue;
            }
            let lost = match events.judge(&row) {
                Verdict::Take => false,
                Verdict::Lost => true,
                Verdict::LeaveOut(label) => {
                    match recordings.known(&row, &layout) {
                        Some(recording) if !fixations => {
                            let time_ms = start_ms(&row, layout.start, unit.in_ms());
                            sink.unrequested_sample(recording, time_ms, label);
                        }
                        _ => sink.unrequested_event(label),
                    }
                    continue;
                }
                Verdict::Invalid => {
                    sink.dropped(Dropped::Invalid);
                    continue;
                }
            };
            let row = TableRow {
                row,
                layout: &layout,
                unit,
                start_unit,
                lost,
            };
            if fixations {
                row.emit_fixation(&mut recordings, sink)?;
            } else {
                row.emit_sample(&mut recordings, sink)?;
            }
        }
        recordings.report(sink);
        events.check(&columns, sink)
    }
}

/// Notes the user's names that columns replace.
fn note_unused_names(layout: &Layout, options: &ReadOptions, sink: &mut dyn Sink) {
    let (participant, stimulus) = (layout.participant.is_some(), layout.stimulus.is_some());
    for (field, replaced) in [
        (
            EncodeField::Participant,
            options.participant.is_some() && participant,
        ),
        (
            EncodeField::Stimulus,
            options.stimulus.is_some() && stimulus,
        ),
        (
            EncodeField::NamePattern,
            options.name_pattern.is_some() && participant && stimulus,
        ),
    ] {
        if replaced {
            sink.note(EncodeNote::NoEffect {
                field,
                reason: NoEffect::NamedInColumn,
            });
        }
    }
}

fn rows_are_fixations(layout: &Layout, options: &ReadOptions) -> bool {
    match options.rows {
        RowChoice::Any => layout.has_durations(),
        RowChoice::Fixations => true,
        RowChoice::Samples => false,
    }
}

/// Rejects a row that is wider than the header. It probably has decimal commas, or a row name without a column name.
fn check_width(row: &Row<'_>, width: usize) -> Result<(), ReadError> {
    match (width..row.len()).find(|&column| !row.text(column).is_empty()) {
        None => Ok(()),
        Some(column) => Err(row
            .error(column, format!("this row has more than the {width} fields of the header"))
            .with_remedy(
                "export with decimal points, quote texts that contain commas, and leave out row names (in R: row.names = FALSE)",
            )),
    }
}

/// A number. The error suggests naming another column.
fn number(row: &Row<'_>, column: usize) -> Result<Option<f64>, ReadError> {
    row.number_or_missing(column).map_err(|error| {
        let remedy = format!(
            "{}; if this is the wrong column, name another",
            error.remedy
        );
        error
            .with_remedy(remedy)
            .with_fields(&[EncodeField::Columns])
    })
}

/// The position of a row: the mean of its start and end if the table has both.
fn point(row: &Row<'_>, layout: &Layout) -> Result<Option<(f64, f64)>, ReadError> {
    let pair = |x, y| -> Result<_, ReadError> { Ok(number(row, x)?.zip(number(row, y)?)) };
    let start = pair(layout.x, layout.y)?;
    let end = match layout.end_point {
        Some((x, y)) => pair(x, y)?,
        None => None,
    };
    Ok(match (start, end) {
        (Some((x, y)), Some((end_x, end_y))) => Some((x.midpoint(end_x), y.midpoint(end_y))),
        (start, end) => start.or(end),
    })
}

struct TableRow<'a> {
    row: Row<'a>,
    layout: &'a Layout,
    unit: TimeUnit,
    /// The unit of the starts of fixations, which may differ from that of their durations.
    start_unit: TimeUnit,
    /// Whether another column says that the eye was not seen.
    lost: bool,
}

impl TableRow<'_> {
    fn emit_fixation(
        &self,
        recordings: &mut Recordings,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        let duration_ms = self.duration_ms()?;
        let point = self.point()?;
        match recordings.of(&self.row, self.layout, sink)? {
            RowOwner::Recording(recording) => {
                let start_ms = start_ms(&self.row, self.layout.start, self.start_unit.in_ms());
                report_fixation(sink, recording, point, start_ms, duration_ms, self.aoi());
            }
            RowOwner::NoStimulus => sink.dropped(Dropped::NoStimulus),
            // Spreadsheets leave empty rows.
            RowOwner::NoParticipant if point.is_none() => sink.dropped(Dropped::Lost),
            RowOwner::NoParticipant => return Err(self.without_participant()),
        }
        Ok(())
    }

    fn emit_sample(
        &self,
        recordings: &mut Recordings,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        let point = self.point()?;
        let time = self.number(self.layout.start)?;
        match recordings.of(&self.row, self.layout, sink)? {
            RowOwner::Recording(recording) => sink.sample(
                recording,
                Sample {
                    time_ms: time.map(|time| time * self.unit.in_ms()),
                    point,
                    aoi: self.aoi(),
                },
            ),
            RowOwner::NoStimulus => sink.dropped(Dropped::NoStimulus),
            // Spreadsheets leave empty rows.
            RowOwner::NoParticipant if point.is_none() => sink.dropped(Dropped::Lost),
            RowOwner::NoParticipant => return Err(self.without_participant()),
        }
        Ok(())
    }

    fn number(&self, column: Option<usize>) -> Result<Option<f64>, ReadError> {
        match column {
            Some(column) => number(&self.row, column),
            None => Ok(None),
        }
    }

    fn point(&self) -> Result<Option<(f64, f64)>, ReadError> {
        // A missing confidence does not invalidate the point.
        let lost = self.lost || self.number(self.layout.confidence)? == Some(0.0);
        Ok(point(&self.row, self.layout)?.filter(|_| !lost))
    }

    fn duration_ms(&self) -> Result<Option<f64>, ReadError> {
        let duration = match self.layout.duration {
            Some(column) => number(&self.row, column)?,
            None => {
                let start = self.number(self.layout.start)?;
                start
                    .zip(self.number(self.layout.end)?)
                    .map(|(start, end)| end - start)
            }
        };
        let duration_ms = duration.map(|duration| duration * self.unit.in_ms());
        Ok(duration_ms.filter(|duration| duration.is_finite()))
    }

    fn aoi(&self) -> Option<&str> {
        let name = self.layout.aoi.map(|column| self.row.text(column));
        name.filter(|name| !is_missing(name))
    }

    fn without_participant(&self) -> ReadError {
        self.row
            .error(
                self.layout.participant.unwrap_or(0),
                "the participant is missing in this row",
            )
            .with_remedy("complete the row or remove it")
    }
}

#[cfg(test)]
mod tests;
