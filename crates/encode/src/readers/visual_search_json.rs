//! Visual search scanpaths as JSON: `{image: {subject, image_height, image_width, X: [], Y: [], T: []}}`, and the list
//! of such records, each with its image under `name`, that COCO-Search18 publishes.
//!
//! - X and Y are pixels **of the image**, not of the screen that some records also mention: published files hold an image
//!   of 1024×768 on a screen of 1280×960, and no coordinate lies beyond 1023 and 767 (those outside the image were moved
//!   to its edge by the authors).
//! - T are durations in milliseconds. Authors who cut scanpaths when the target was found did not cut T, so T may be
//!   longer than X and Y; its first values belong to them.

use super::common::{pixel_space, report_fixation, report_given_size};
use super::{Format, SupportedOptions, only_fixations};
use crate::{Head, Input, Kind, ReadError, ReadOptions, Recording, Sink};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};

/// Visual search scanpaths as JSON.
#[derive(Debug)]
pub(super) struct VisualSearchJson;

impl Format for VisualSearchJson {
    fn name(&self) -> &'static str {
        "visual-search-json"
    }

    fn title(&self) -> &'static str {
        "visual search scanpaths (JSON with X, Y and T for each image)"
    }

    fn accepts(&self) -> SupportedOptions {
        SupportedOptions {
            names: false,
            ..SupportedOptions::default()
        }
    }

    fn recognises(&self, head: &Head) -> bool {
        let has = |key: &str| head.lines.iter().any(|line| line.contains(key));
        head.first_line().starts_with(['{', '['])
            && [r#""subject""#, r#""X""#, r#""Y""#].into_iter().all(has)
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        only_fixations(&input, options)?;
        let file = input.name().to_string();
        let mut problem = None;
        let left = Cell::new(MAX_RECORD_BYTES);
        let records = Records {
            sink: RecordSink {
                file: &file,
                options,
                sink,
            },
            problem: &mut problem,
            left: &left,
        };
        let mut json = serde_json::Deserializer::from_reader(LimitedReader {
            inner: input.into_reader(),
            left: &left,
        });
        let read = records.deserialize(&mut json).and_then(|()| json.end());
        let Err(error) = read else { return Ok(()) };
        let explained = problem.unwrap_or_else(|| match left.get() {
            0 => too_long(&file),
            _ => parse_error(&file, &error),
        });
        Err(explained
            .at_line(error.line() as u64)
            .at_column(error.column().saturating_sub(1), ""))
    }
}

/// The longest record. No scanpath is that long; the limit bounds memory.
const MAX_RECORD_BYTES: usize = 16 << 20;

/// Ends with an error when nothing is left, until [`Records`] allows the next record.
struct LimitedReader<'a, R> {
    inner: R,
    left: &'a Cell<usize>,
}

impl<R: Read> Read for LimitedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let limit = buffer.len().min(self.left.get());
        if limit == 0 && !buffer.is_empty() {
            return Err(io::Error::other("a record is too long"));
        }
        let read = self.inner.read(&mut buffer[..limit])?;
        self.left.set(self.left.get() - read);
        Ok(read)
    }
}

/// One scanpath. Everything is optional, so that our own errors name what is missing.
#[derive(Deserialize)]
struct Record {
    name: Option<String>,
    task: Option<String>,
    subject: Option<Subject>,
    image_height: Option<f64>,
    image_width: Option<f64>,
    #[serde(rename = "X")]
    x: Option<Vec<Option<f64>>>,
    #[serde(rename = "Y")]
    y: Option<Vec<Option<f64>>>,
    #[serde(rename = "T")]
    t: Option<Vec<Option<f64>>>,
}

/// Some files write `"07"`, others 7.
#[derive(Deserialize)]
#[serde(untagged)]
enum Subject {
    Text(String),
    Number(i64),
}

/// Receives each record as soon as it is read.
struct RecordSink<'a> {
    file: &'a str,
    options: &'a ReadOptions,
    sink: &'a mut dyn Sink,
}

impl RecordSink<'_> {
    fn record(&mut self, image: Option<String>, record: Record) -> Result<(), ReadError> {
        let missing = |what: &str| {
            ReadError::new(self.file, format!("the scanpath that ends here has no {what}"))
                .with_remedy("each scanpath needs \"subject\" and the lists \"X\" and \"Y\"; \"T\", \"image_width\" and \"image_height\" belong to it")
        };
        let Record { x, y, t, .. } = record;
        let x = x.ok_or_else(|| missing("\"X\""))?;
        let y = y.ok_or_else(|| missing("\"Y\""))?;
        let participant = match (record.subject, &self.options.participant) {
            (Some(Subject::Text(text)), _) => text,
            (Some(Subject::Number(number)), _) => number.to_string(),
            (None, Some(named)) => named.clone(),
            (None, None) => return Err(missing("\"subject\"")),
        };
        if x.len() != y.len() || t.as_ref().is_some_and(|t| t.len() < x.len()) {
            let durations = t.as_ref().map_or(0, Vec::len);
            return Err(ReadError::new(
                self.file,
                format!(
                    "the scanpath that ends here has {} X, {} Y and {durations} T values",
                    x.len(),
                    y.len()
                ),
            )
            .with_remedy(
                "there must be one Y and one T for every X; correct or remove this scanpath",
            ));
        }
        if t.as_ref().is_some_and(|t| t.len() > x.len()) {
            self.sink.assumed("where a scanpath has more durations than positions (it was cut when the target was found), the first durations belong to the positions", &[]);
        }
        self.sink.assumed(
            "X and Y are pixels of the image with the origin at its top left, not of the screen",
            &[],
        );
        let unit = self
            .options
            .time_unit
            .unwrap_or(crate::TimeUnit::Milliseconds);
        if self.options.time_unit.is_none() {
            self.sink.assumed("durations are in milliseconds", &[]);
        }
        let image = image.or(record.name);
        // One image may be searched for several targets.
        let stimulus = match (image, record.task) {
            (Some(image), Some(task)) => Some(format!("{task}/{image}")),
            (image, _) => image.or_else(|| self.options.stimulus.clone()),
        };
        let size = record.image_width.zip(record.image_height);
        report_given_size(size, self.options, self.sink);
        let recording = self.sink.recording(&Recording {
            participant: &participant,
            stimulus: stimulus.as_deref(),
            kind: Kind::Fixations,
            space: pixel_space(size, self.options),
        })?;
        let mut durations = t.unwrap_or_default().into_iter();
        for (x, y) in x.into_iter().zip(y) {
            let duration_ms = durations.next().flatten().map(|value| value * unit.in_ms());
            report_fixation(self.sink, recording, x.zip(y), None, duration_ms, None);
        }
        Ok(())
    }
}

/// Visits the outermost object or list, and hands on each record before it reads the next.
struct Records<'a> {
    sink: RecordSink<'a>,
    /// What is wrong with a record; the JSON reader adds the position.
    problem: &'a mut Option<ReadError>,
    /// How many bytes the current record may still have.
    left: &'a Cell<usize>,
}

impl Records<'_> {
    fn emit<E: serde::de::Error>(
        &mut self,
        image: Option<String>,
        record: Record,
    ) -> Result<(), E> {
        self.left.set(MAX_RECORD_BYTES);
        self.sink.record(image, record).map_err(|error| {
            *self.problem = Some(error);
            E::custom("explained elsewhere")
        })
    }
}

impl<'de> DeserializeSeed<'de> for Records<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Records<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("scanpaths by image")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(image) = map.next_key::<String>()? {
            let record = map.next_value()?;
            self.emit::<A::Error>(Some(image), record)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(record) = list.next_element()? {
            self.emit::<A::Error>(None, record)?;
        }
        Ok(())
    }
}

fn too_long(file: &str) -> ReadError {
    ReadError::new(file, "a scanpath here is too long: more than 16 MiB")
        .with_remedy("remove it, or write each image of each subject as its own scanpath")
}

/// The JSON parser's messages quote the file, which contains participants' data; these do not.
fn parse_error(file: &str, error: &serde_json::Error) -> ReadError {
    use serde_json::error::Category;
    let (problem, remedy) = match error.classify() {
        Category::Eof => (
            "the file ends in the middle of a scanpath",
            "copy or download it again, or wait until it is completely written",
        ),
        Category::Syntax => (
            "this is not valid JSON",
            "fix it at this position: a missing comma, quote or bracket, or NaN where JSON wants null, is the usual cause",
        ),
        Category::Data => (
            "a value here is not of the expected kind",
            "expected {image: {\"subject\": text, \"image_width\": number, \"image_height\": number, \"X\": [numbers], \"Y\": [numbers], \"T\": [numbers]}}",
        ),
        Category::Io => (
            "the rest of the file cannot be read",
            "copy or download it again",
        ),
    };
    ReadError::new(file, problem).with_remedy(remedy)
}

#[cfg(test)]
mod tests;
