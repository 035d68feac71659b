//! Pupil Labs raw gaze: Pupil Player (Core) and Pupil Cloud (Invisible, Neon).

use super::Format;
use super::pupil::{Names, Position, is_false};
use crate::{
    Columns, Head, Input, Kind, ReadError, ReadOptions, RowChoice, Rows, Sample, Sink, TimeUnit,
};

/// x and y of Pupil Cloud's files: scene camera, surface, reference image.
const CLOUD: [[&str; 2]; 3] = [
    ["gaze x", "gaze y"],
    ["gaze position on surface x", "gaze position on surface y"],
    [
        "gaze position in reference image x",
        "gaze position in reference image y",
    ],
];

/// Pupil Labs' gaze.
pub(crate) struct PupilGaze;

impl Format for PupilGaze {
    fn name(&self) -> &'static str {
        "pupil-gaze"
    }

    fn title(&self) -> &'static str {
        "Pupil Labs gaze (Core, Invisible, Neon)"
    }

    fn recognises(&self, head: &Head) -> bool {
        let columns = Columns::of_head(head);
        let core = columns.has_all(&["gaze_timestamp"])
            && (columns.has_all(&["norm_pos_x", "norm_pos_y"])
                || columns.has_all(&["x_norm", "y_norm"]));
        // Versions before 1.10. A diameter means pupil_positions.csv, whose positions are in the eye camera's image.
        let old_core = columns.has_all(&["timestamp", "norm_pos_x", "norm_pos_y", "base_data"])
            && columns.find(&["diameter"]).is_none();
        let cloud =
            columns.has_all(&["timestamp"]) && CLOUD.iter().any(|names| columns.has_all(names));
        !head.binary && (core || old_core || cloud)
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        if options.rows == RowChoice::Fixations {
            return Err(
                ReadError::new(input.name(), "this file has samples, not fixations")
                    .with_remedy("read fixations.csv of the same export"),
            );
        }
        let names = Names::of(&input, options, "gaze_positions_on_surface_")?;
        let mut rows = Rows::open(input)?;
        let columns = rows.columns();
        let mut names = names.with_recording(columns);
        let cloud = CLOUD
            .iter()
            .find_map(|[x, y]| columns.find(&[x]).zip(columns.find(&[y])));
        let position = match cloud {
            Some((x, y)) => Position::cloud(columns, x, y, options, sink),
            None if columns.find(&["x_norm"]).is_some() => {
                Position::core(columns, ["x_norm", "y_norm"], options, sink)?
            }
            None => Position::core(columns, ["norm_pos_x", "norm_pos_y"], options, sink)?,
        };
        let time = columns.require(&["gaze_timestamp", "timestamp"])?;
        let in_file = match columns.unit(time) {
            Some("ns") => TimeUnit::Nanoseconds,
            _ => TimeUnit::Seconds,
        };
        let unit = options.time_unit.unwrap_or(in_file).in_ms();
        let confidence = columns.find(&["confidence"]);
        let worn = columns.find(&["worn"]);
        let blink = columns.find(&["blink id"]);
        let kind = Kind::Gaze {
            rate_hz: options.rate_hz,
        };
        while let Some(row) = rows.next_row()? {
            let point = position.of(row)?;
            let time_ms = row.number_or_missing(time)?.map(|value| value * unit);
            let is_uncertain = match confidence {
                Some(confidence) => row.number_or_missing(confidence)? == Some(0.0),
                None => false,
            };
            let blinks = blink.is_some_and(|blink| !row.text(blink).is_empty());
            let lost = is_uncertain || blinks || is_false(row, worn);
            let recording = names.enter(row, kind, position.space, sink)?;
            sink.sample(
                recording,
                Sample {
                    time_ms,
                    point: point.filter(|_| !lost),
                    aoi: None,
                },
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Space;
    use crate::readers::common::testing::{
        assert_damage_does_not_panic, read_recognised, recognised,
    };
    use crate::readers::recorder::read_text;

    #[test]
    fn a_pupil_player_file_is_read() {
        let read = read_recognised(&PupilGaze, "pupil-gaze.csv", &ReadOptions::default());
        assert_eq!(read.recordings[0].kind, Kind::Gaze { rate_hz: None });
        assert_eq!(read.recordings[0].space, Some(Space::unit().flipped()));
        assert_eq!(
            read.recordings[0].samples,
            [
                (Some(100_000.0), Some((0.5, 0.5)), None),
                (Some(100_008.0), Some((0.51, 0.49)), None),
                (Some(100_016.0), None, None),
                (Some(100_024.0), None, None),
                (Some(100_032.0), Some((1.2, -0.1)), None)
            ]
        );
        assert!(read.dropped.is_empty());
    }

    #[test]
    fn surface_and_pupil_cloud_files_are_read() {
        let plain = ReadOptions::default();
        let surface = "world_timestamp,world_index,gaze_timestamp,x_norm,y_norm,x_scaled,y_scaled,on_surf,confidence\n\
                       1,1,2,0.5,0.25,1,1,True,0.9\n";
        let name = "p/gaze_positions_on_surface_map.csv";
        let head = Input::from_bytes(name, surface.into()).unwrap().head();
        assert_eq!(recognised(&head), Some("pupil-gaze"));
        let read = read_text(&PupilGaze, name, surface, &plain).unwrap();
        assert_eq!(read.recordings[0].stimulus.as_deref(), Some("map"));
        assert_eq!(read.recordings[0].samples[0].0, Some(2000.0));
        let neon = "section id,recording id,timestamp [ns],gaze x [px],gaze y [px],worn,fixation id,blink id\n\
                    s,r,1000000,10,20,True,1,\ns,r,6000000,11,21,False,1,\ns,r,11000000,12,22,True,,3\n";
        let head = Input::from_bytes("gaze.csv", neon.into()).unwrap().head();
        assert_eq!(recognised(&head), Some("pupil-gaze"));
        let read = read_text(&PupilGaze, "gaze.csv", neon, &plain).unwrap();
        assert_eq!(read.recordings[0].participant, "r");
        assert_eq!(
            read.recordings[0].samples,
            [
                (Some(1.0), Some((10.0, 20.0)), None),
                (Some(6.0), None, None),
                (Some(11.0), None, None)
            ]
        );
        let eyes = "pupil_timestamp,eye_id,confidence,norm_pos_x,norm_pos_y,diameter\n";
        let head = Input::from_bytes("pupil_positions.csv", eyes.into())
            .unwrap()
            .head();
        assert!(!PupilGaze.recognises(&head));
    }

    #[test]
    fn errors_are_reported() {
        let plain = ReadOptions::default();
        let error = |text: &str| read_text(&PupilGaze, "gaze.csv", text, &plain).unwrap_err();
        assert!(error("").problem.contains("empty"));
        assert!(
            error("norm_pos_x,norm_pos_y\n")
                .problem
                .contains("gaze_timestamp")
        );
        assert_eq!(
            error("gaze_timestamp,norm_pos_x,norm_pos_y\n1\n").line,
            Some(2)
        );
        assert_damage_does_not_panic(&PupilGaze, "pupil-gaze.csv");
    }
}
