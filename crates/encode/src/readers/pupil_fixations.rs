//! Pupil Labs fixations: Pupil Player (Core) and Pupil Cloud (Invisible, Neon).
//!
//! `fixations_on_surface_NAME.csv` has a row for every frame of the scene video; a fixation is taken once, from the
//! first row in which it is on the surface.

use super::Format;
use super::common::{report_fixation, start_ms};
use super::pupil::{Names, Position, is_false};
use crate::{
    Columns, Dropped, Head, Input, Kind, ReadError, ReadOptions, RowChoice, Rows, Sink, TimeUnit,
};

/// Pupil Labs' fixations.
pub(crate) struct PupilFixations;

impl Format for PupilFixations {
    fn name(&self) -> &'static str {
        "pupil-fixations"
    }

    fn title(&self) -> &'static str {
        "Pupil Labs fixations (Core, Invisible, Neon)"
    }

    fn recognises(&self, head: &Head) -> bool {
        let columns = Columns::of_head(head);
        !head.binary
            && (columns.has_all(&["start_timestamp", "duration", "norm_pos_x", "norm_pos_y"])
                || columns.has_all(&["fixation id", "duration", "fixation x", "fixation y"]))
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        if options.rows == RowChoice::Samples {
            return Err(
                ReadError::new(input.name(), "this file has fixations, not samples").with_remedy(
                    "read the file with gaze of the same export, gaze_positions.csv or gaze.csv",
                ),
            );
        }
        let names = Names::of(&input, options, "fixations_on_surface_")?;
        let mut rows = Rows::open(input)?;
        let columns = rows.columns();
        let mut names = names.with_recording(columns);
        let position = match columns.find(&["fixation x"]) {
            Some(x) => {
                let y = columns.require(&["fixation y"])?;
                Position::cloud(columns, x, y, options, sink)
            }
            None => Position::core(columns, ["norm_pos_x", "norm_pos_y"], options, sink)?,
        };
        let id = columns.require(&["fixation id", "fixation_id", "id"])?;
        let duration = columns.require(&["duration"])?;
        let start = columns.find(&["start_timestamp", "start timestamp"]);
        // Player writes seconds; Cloud writes nanoseconds, and says so in the column's name.
        let start_unit = start
            .and_then(|start| TimeUnit::parse(columns.unit(start)?))
            .unwrap_or(TimeUnit::Seconds)
            .in_ms();
        let confidence = columns.find(&["confidence"]);
        let on_surface = columns.find(&[
            "on_surf",
            "on_srf",
            "fixation detected on surface",
            "fixation detected in reference image",
        ]);
        let unit = options.time_unit.unwrap_or(TimeUnit::Milliseconds).in_ms();
        let mut last: Option<(crate::RecordingId, f64)> = None;
        while let Some(row) = rows.next_row()? {
            // Do this first: a participant whose rows are all dropped still gets an empty scanpath.
            let recording = names.enter(row, Kind::Fixations, position.space, sink)?;
            let point = position.of(row)?;
            let duration_ms = row.number_or_missing(duration)?.map(|value| value * unit);
            if is_false(row, on_surface) {
                sink.dropped(Dropped::Outside);
                continue;
            }
            if let Some(confidence) = confidence
                && row.number_or_missing(confidence)? == Some(0.0)
            {
                sink.dropped(Dropped::Lost);
                continue;
            }
            let this = (recording, row.number(id)?);
            if last == Some(this) {
                sink.dropped(Dropped::SameFixation);
                continue;
            }
            last = Some(this);
            let start_ms = start_ms(&row, start, start_unit);
            report_fixation(sink, this.0, point, start_ms, duration_ms, None);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Space;
    use crate::readers::common::testing::{
        assert_damage_does_not_panic, read_path, read_recognised, recognised,
    };
    use crate::readers::recorder::{read_text, shared_file};

    #[test]
    fn a_pupil_player_file_is_read() {
        let read = read_recognised(
            &PupilFixations,
            "pupil-fixations.csv",
            &ReadOptions::default(),
        );
        assert_eq!(read.recordings.len(), 1);
        assert_eq!(read.recordings[0].participant, "formats");
        assert_eq!(read.recordings[0].stimulus, None);
        // y points up.
        let space = read.recordings[0].space.unwrap();
        assert_eq!(space, Space::unit().flipped());
        assert_eq!(space.fraction(0.25, 0.9), (0.25, 0.09999999999999998));
        assert_eq!(
            read.recordings[0].fixations,
            [
                (0.25, 0.9, Some(210.5), None),
                (0.75, 0.125, Some(180.0), None)
            ]
        );
        assert_eq!(read.recordings[0].starts, [Some(100e3), Some(100.3e3)]);
        assert_eq!(read.dropped[&Dropped::Lost], 2);
        assert_eq!(read.dropped[&Dropped::NegativeDuration], 1);
    }

    #[test]
    fn a_surface_file_is_read() {
        let read = read_recognised(
            &PupilFixations,
            "fixations_on_surface_poster.csv",
            &ReadOptions::default(),
        );
        assert_eq!(read.recordings[0].stimulus.as_deref(), Some("poster"));
        assert_eq!(
            read.recordings[0].fixations,
            [(0.5, 0.5, Some(150.0), None), (0.2, 0.3, Some(220.0), None)]
        );
        assert_eq!(read.dropped[&Dropped::Outside], 2);
        assert_eq!(read.dropped[&Dropped::SameFixation], 2);
    }

    #[test]
    fn pupil_cloud_files_are_read() {
        let options = ReadOptions {
            screen: Some((1600.0, 1200.0)),
            ..ReadOptions::default()
        };
        let read = read_recognised(&PupilFixations, "pupil-neon-fixations.csv", &options);
        let [one, two] = read.recordings.as_slice() else {
            panic!("{read:?}")
        };
        assert_eq!(
            (one.participant.as_str(), two.participant.as_str()),
            ("rec-a", "rec-b")
        );
        assert_eq!(one.space, Some(Space::pixels(1600.0, 1200.0)));
        assert_eq!(
            one.fixations,
            [
                (800.5, 600.25, Some(240.0), None),
                (100.0, 50.0, Some(120.0), None)
            ]
        );
        assert_eq!(one.starts, [Some(1.7e12), Some(1.7e12 + 300.0)]);
        let plain = ReadOptions::default();
        let read = read_recognised(&PupilFixations, "pupil-neon-fixations.csv", &plain);
        assert_eq!(read.recordings[0].space, None);
        let named = ReadOptions {
            participant: Some("anna".into()),
            ..plain.clone()
        };
        let path = crate::readers::common::testing::testdata("pupil-neon-fixations.csv");
        let error = read_path(&PupilFixations, &path, &named).unwrap_err();
        assert_eq!(error.line, Some(4), "{error}");
        let surface = "recording id,fixation id,duration [ms],fixation detected on surface,fixation x [normalized],fixation y [normalized]\n\
                       r,1,100,True,0.5,0.25\nr,2,100,False,,\n";
        let read = read_text(&PupilFixations, "p/fixations.csv", surface, &plain).unwrap();
        assert_eq!(read.recordings[0].space, Some(Space::unit()));
        assert_eq!(read.dropped[&Dropped::Outside], 1);
    }

    #[test]
    fn errors_are_reported() {
        let plain = ReadOptions::default();
        let error =
            |text: &str| read_text(&PupilFixations, "fixations.csv", text, &plain).unwrap_err();
        assert!(error("").problem.contains("empty"));
        assert!(
            error("id,duration,norm_pos_x\n")
                .problem
                .contains("norm_pos_y")
        );
        let short = error("id,norm_pos_x,norm_pos_y,duration\r\n1,0.5,0.5\r\n");
        assert_eq!((short.line, short.column.unwrap().0), (Some(2), 4));
        let samples = ReadOptions {
            rows: RowChoice::Samples,
            ..plain.clone()
        };
        let wrong = read_text(&PupilFixations, "fixations.csv", "", &samples).unwrap_err();
        assert!(wrong.remedy.contains("gaze_positions.csv"));
    }

    #[test]
    fn damaged_input_does_not_panic() {
        assert_damage_does_not_panic(&PupilFixations, "pupil-fixations.csv");
        assert_damage_does_not_panic(&PupilFixations, "pupil-neon-fixations.csv");
    }

    #[test]
    fn a_published_pupil_core_file_is_read() {
        let Some(path) = shared_file("pupil_core/fixations.csv") else {
            return;
        };
        assert_eq!(
            recognised(&Input::open(&path).unwrap().head()),
            Some("pupil-fixations")
        );
        let read = read_path(&PupilFixations, &path, &ReadOptions::default()).unwrap();
        let recording = &read.recordings[0];
        assert_eq!(recording.participant, "pupil_core");
        assert_eq!(recording.fixations.len(), 36);
        assert_eq!(
            recording.fixations[0],
            (
                0.5006076206214289,
                0.489283007793768,
                Some(202.7644999907352),
                None
            )
        );
        assert_eq!(
            recording.fixations[35],
            (
                0.437284628676584,
                0.3067389365846124,
                Some(212.77750004082918),
                None
            )
        );
        assert!(read.dropped.is_empty());
    }
}
