//! The columns of Tobii Pro Lab's and Tobii Studio 3's tables, which differ mostly in their names.

use super::common::{pixel_space, report_given_size};
use crate::{Columns, CoordinateUnit, Eye, ReadError, ReadOptions, Row, Sink, Space, TimeUnit};

/// The columns of a table, by role.
pub(super) struct Layout {
    pub(super) time: Option<usize>,
    pub(super) participant: Option<usize>,
    pub(super) recording: Option<usize>,
    pub(super) stimulus: Option<usize>,
    pub(super) sensor: Option<usize>,
    pub(super) event: Option<usize>,
    pub(super) movement: Option<usize>,
    pub(super) duration: Option<usize>,
    pub(super) index: Option<usize>,
    pub(super) snapshots: Vec<Snapshot>,
    pub(super) aois: Vec<Aoi>,
    sizes: Sizes,
}

/// A picture onto which the gaze of eye-tracking glasses was mapped.
pub(super) struct Snapshot {
    pub(super) name: String,
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) movement: Option<usize>,
    pub(super) index: Option<usize>,
}

/// A column that says whether gaze was in an area.
pub(super) struct Aoi {
    column: usize,
    /// The text in brackets: `stimulus - area` in Pro Lab, the area in Studio.
    label: String,
}

/// Columns with the size of the picture and of the screen.
struct Sizes {
    media: Option<(usize, usize)>,
    screen: Option<(usize, usize)>,
    /// `1280 x 1024` in one column.
    screen_in_words: Option<usize>,
}

/// Two columns with a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Position {
    pub(super) x: usize,
    pub(super) y: usize,
    frame: Frame,
}

/// The coordinate frame of a position.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Frame {
    /// Pixels of the picture (Tobii's MCS).
    Media,
    /// Pixels of the screen or of the scene camera (DACS, ADCS, or nothing said).
    Screen,
    /// Fractions of the picture.
    Fraction,
}

impl Layout {
    /// Finds all known columns.
    pub(super) fn of(columns: &Columns) -> Self {
        let find = |names: &[&str]| columns.find(names);
        let pair = |x: &[&str], y: &[&str]| find(x).zip(find(y));
        Self {
            time: find(&["Recording timestamp", "RecordingTimestamp"]),
            participant: find(&["Participant name", "ParticipantName"]),
            recording: find(&["Recording name", "RecordingName"]),
            stimulus: find(&[
                "Presented Stimulus name",
                "Presented Media name",
                "Recording media name",
                "MediaName",
            ]),
            sensor: find(&["Sensor"]),
            event: find(&["Event"]),
            movement: find(&["Eye movement type", "Gaze event type", "GazeEventType"]),
            duration: find(&[
                "Gaze event duration",
                "Eye movement event duration",
                "GazeEventDuration",
            ]),
            index: find(&["Eye movement type index", "FixationIndex", "Fixation index"]),
            snapshots: snapshots(columns),
            aois: aois(columns),
            sizes: Sizes {
                media: pair(
                    &[
                        "Presented Media width",
                        "Presented Stimulus width",
                        "MediaWidth",
                    ],
                    &[
                        "Presented Media height",
                        "Presented Stimulus height",
                        "MediaHeight",
                    ],
                ),
                screen: pair(
                    &["Recording resolution width"],
                    &["Recording resolution height"],
                ),
                screen_in_words: find(&["RecordingResolution", "Recording resolution"]),
            },
        }
    }

    /// The columns of fixations.
    pub(super) fn fixation_point(
        &self,
        columns: &Columns,
        options: &ReadOptions,
    ) -> Option<Position> {
        let stems = ["Fixation point ", "Fixation ", "FixationPoint"];
        self.best(columns, &stems, options)
    }

    /// The columns of raw gaze.
    pub(super) fn gaze_point(&self, columns: &Columns, options: &ReadOptions) -> Option<Position> {
        let stems: &[&str] = match options.eye {
            Eye::Any => &["Gaze point ", "GazePoint"],
            Eye::Left => &["Gaze point left ", "GazePointLeft"],
            Eye::Right => &["Gaze point right ", "GazePointRight"],
        };
        self.best(columns, stems, options)
    }

    /// The best of several positions: one whose extent is known, and preferably the picture's rather than
    /// the screen's.
    fn best(&self, columns: &Columns, stems: &[&str], options: &ReadOptions) -> Option<Position> {
        let sized = |frame: Frame| {
            options.screen.is_some()
                || match frame {
                    Frame::Media => self.sizes.media.is_some(),
                    Frame::Screen => {
                        self.sizes.screen.is_some() || self.sizes.screen_in_words.is_some()
                    }
                    Frame::Fraction => true,
                }
        };
        let mut found: Vec<Position> = stems
            .iter()
            .flat_map(|stem| positions(columns, stem))
            .collect();
        found.sort_by_key(|position| {
            let requested = options.units == Some(CoordinateUnit::Fraction)
                && position.frame == Frame::Fraction;
            let rank = match position.frame {
                Frame::Media => 0,
                Frame::Screen => 1,
                Frame::Fraction => 2,
            };
            (!requested, !sized(position.frame), rank)
        });
        found.first().copied()
    }

    /// The space of a position, by the sizes in a row.
    pub(super) fn space(
        &self,
        position: Position,
        row: Row<'_>,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<Option<Space>, ReadError> {
        let numbers = |columns: Option<(usize, usize)>| match columns {
            Some((width, height)) => Ok(row
                .number_or_missing(width)?
                .zip(row.number_or_missing(height)?)),
            None => Ok(None),
        };
        let size = match position.frame {
            Frame::Fraction => return Ok(Some(super::oriented(Space::unit(), options))),
            Frame::Media => numbers(self.sizes.media)?,
            Frame::Screen => {
                let words = self.sizes.screen_in_words.map(|column| row.text(column));
                numbers(self.sizes.screen)?.or_else(|| size_in_words(words?))
            }
        };
        report_given_size(size, options, sink);
        Ok(pixel_space(size, options))
    }

    /// The first area that a row is in.
    pub(super) fn aoi(&self, row: Row<'_>, stimulus: &str) -> Option<&str> {
        self.aois
            .iter()
            .filter(|aoi| matches!(row.text(aoi.column), "1" | "True" | "true"))
            .map(|aoi| aoi.name(stimulus))
            .next()
    }
}

impl Aoi {
    /// The area's name: the label without the stimulus, which may have dashes of its own.
    fn name(&self, stimulus: &str) -> &str {
        self.label
            .strip_prefix(stimulus)
            .and_then(|rest| rest.strip_prefix(" - "))
            .or_else(|| self.label.split_once(" - ").map(|(_, area)| area))
            .unwrap_or(&self.label)
    }
}

impl Position {
    /// Reports which columns the positions come from, and their unit.
    pub(super) fn explain(&self, columns: &Columns, sink: &mut dyn Sink) {
        let name = columns.names().get(self.x).map_or("", String::as_str);
        let frame = match self.frame {
            Frame::Media => "pixels of the stimulus",
            Frame::Screen => "pixels of the screen",
            Frame::Fraction => "fractions of the stimulus",
        };
        sink.assumed(&format!("positions come from \"{name}\", in {frame}"), &[]);
    }
}

/// The unit of the timestamps: in brackets after the name, or inferred from the steps between the first
/// rows.
pub(super) fn time_unit(
    columns: &Columns,
    time: usize,
    first_times: &[f64],
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> TimeUnit {
    if let Some(unit) = options.time_unit {
        return unit;
    }
    match columns.unit(time) {
        Some("ms") => return TimeUnit::Milliseconds,
        // The Greek letter mu, the micro sign, and the ASCII replacement of either.
        Some("μs" | "µs" | "us") => return TimeUnit::Microseconds,
        _ => {}
    }
    let mut steps: Vec<f64> = first_times
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|step| *step > 0.0)
        .collect();
    steps.sort_by(f64::total_cmp);
    // From 20 to 2000 samples per second, steps are 0.5 to 50 in milliseconds and 500 to 50000 in microseconds.
    let unit = match steps.get(steps.len() / 2) {
        Some(step) if *step < 200.0 => TimeUnit::Milliseconds,
        _ => TimeUnit::Microseconds,
    };
    sink.assumed(
        &format!(
            "timestamps are in {}, judging by the steps between the first rows",
            unit.abbreviation()
        ),
        &[],
    );
    unit
}

/// `Fixation point X [MCS px]`, `Fixation point X (MCSnorm)`, `FixationPointX (MCSpx)` and similar names, each with its
/// y.
fn positions(columns: &Columns, stem: &str) -> Vec<Position> {
    let names = columns.names();
    let frame_of = |name: &str, axis: &str| {
        let start = name.get(..stem.len())?;
        let rest = name.get(stem.len()..)?;
        let suffix = rest.strip_prefix(axis)?;
        if !start.eq_ignore_ascii_case(stem) {
            return None;
        }
        let suffix: String = suffix
            .chars()
            .filter(|c| c.is_ascii_alphabetic())
            .map(|c| c.to_ascii_lowercase())
            .collect();
        match suffix.as_str() {
            "mcspx" => Some(Frame::Media),
            "mcsnorm" => Some(Frame::Fraction),
            "" | "px" | "dacspx" | "adcspx" => Some(Frame::Screen),
            _ => None,
        }
    };
    let find = |axis: &str, wanted: Frame| {
        names
            .iter()
            .position(|name| frame_of(name, axis) == Some(wanted))
    };
    [Frame::Media, Frame::Screen, Frame::Fraction]
        .into_iter()
        .filter_map(|frame| {
            let (x, y) = find("X", frame).zip(find("Y", frame))?;
            Some(Position { x, y, frame })
        })
        .collect()
}

fn snapshots(columns: &Columns) -> Vec<Snapshot> {
    let label = |column: &str, prefix: &str| {
        let rest = column.strip_prefix(prefix)?;
        Some(rest.strip_prefix(" [")?.strip_suffix(']')?.to_string())
    };
    let find = |prefix: &str, snapshot: &str| {
        columns
            .names()
            .iter()
            .position(|column| label(column, prefix).as_deref() == Some(snapshot))
    };
    let with_x = columns
        .names()
        .iter()
        .enumerate()
        .filter_map(|(x, column)| {
            let name = label(column, "Mapped fixation X")?;
            Some((x, name))
        });
    with_x
        .filter_map(|(x, name)| {
            Some(Snapshot {
                x,
                y: find("Mapped fixation Y", &name)?,
                movement: find("Mapped eye movement type", &name),
                index: find("Mapped eye movement type index", &name),
                name,
            })
        })
        .collect()
}

fn aois(columns: &Columns) -> Vec<Aoi> {
    let label = |name: &str| {
        let pro_lab = name
            .strip_prefix("AOI hit [")
            .and_then(|rest| rest.strip_suffix(']'));
        let studio = name
            .strip_prefix("AOI[")
            .and_then(|rest| rest.strip_suffix("]Hit"));
        pro_lab.or(studio).map(str::to_string)
    };
    columns
        .names()
        .iter()
        .enumerate()
        .filter_map(|(column, name)| {
            Some(Aoi {
                column,
                label: label(name)?,
            })
        })
        .collect()
}

/// `1280 x 1024`.
pub(super) fn size_in_words(text: &str) -> Option<(f64, f64)> {
    let (width, height) = text.split_once(['x', 'X', '×'])?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|size| *size > 0.0);
    number(width).zip(number(height))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::recorder::Recorder;

    fn columns(header: &str) -> Columns {
        Columns::of_header("t.tsv", 1, header, b'\t')
    }

    #[test]
    fn the_position_whose_extent_is_known_is_taken() {
        let best = |header: &str, options: &ReadOptions| {
            let columns = columns(header);
            let position = Layout::of(&columns).fixation_point(&columns, options);
            position.map(|position| position.frame)
        };
        let plain = ReadOptions::default();
        let points = "Fixation point X [DACS px]\tFixation point Y [DACS px]\tFixation point X [MCS px]\tFixation point Y [MCS px]\tFixation point X [MCS norm]\tFixation point Y [MCS norm]";
        assert_eq!(best(points, &plain), Some(Frame::Fraction));
        let media = format!("{points}\tPresented Media width [px]\tPresented Media height [px]");
        assert_eq!(best(&media, &plain), Some(Frame::Media));
        let screen = format!("{points}\tRecording resolution width\tRecording resolution height");
        assert_eq!(best(&screen, &plain), Some(Frame::Screen));
        let sized = ReadOptions {
            screen: Some((10.0, 10.0)),
            ..plain.clone()
        };
        assert_eq!(best(points, &sized), Some(Frame::Media));
        let old = "FixationPointX (MCSpx)\tFixationPointY (MCSpx)";
        assert_eq!(best(old, &plain), Some(Frame::Media));
        assert_eq!(best("Fixation X\tFixation Y", &plain), Some(Frame::Screen));
        assert_eq!(best("Fixation X", &plain), None);
    }

    #[test]
    fn units_come_from_brackets_or_steps() {
        let unit = |header: &str, times: &[f64]| {
            let mut recorder = Recorder::default();
            let options = ReadOptions::default();
            time_unit(&columns(header), 0, times, &options, &mut recorder)
        };
        assert_eq!(unit("t [ms]", &[]), TimeUnit::Milliseconds);
        assert_eq!(unit("t [μs]", &[]), TimeUnit::Microseconds);
        assert_eq!(unit("t [µs]", &[]), TimeUnit::Microseconds);
        assert_eq!(unit("t", &[0.0, 3.0, 7.0]), TimeUnit::Milliseconds);
        assert_eq!(unit("t", &[0.0, 3333.0, 6666.0]), TimeUnit::Microseconds);
        assert_eq!(unit("t", &[]), TimeUnit::Microseconds);
    }

    #[test]
    fn areas_lose_the_stimulus_name() {
        let columns = columns("AOI hit [a - b - c]\tAOI[lake]Hit");
        let layout = Layout::of(&columns);
        assert_eq!(layout.aois[0].name("a - b"), "c");
        assert_eq!(layout.aois[0].name("other"), "b - c");
        assert_eq!(layout.aois[1].name("a"), "lake");
        assert_eq!(size_in_words("1280 x 1024"), Some((1280.0, 1024.0)));
    }
}
