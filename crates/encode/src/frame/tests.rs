use super::*;
use crate::readers::recorder::Recorder;
use crate::{
    Encoded, Input, LetterOptions, RawCohort, ReadError, ReadOptions, Source, encode_files,
};
use std::ops::ControlFlow;

/// A frame of rows, in batches.
struct Cells {
    columns: Vec<FrameColumn>,
    batches: Vec<Vec<Vec<Value<'static>>>>,
}

impl Frame for Cells {
    fn columns(&self) -> &[FrameColumn] {
        &self.columns
    }

    fn batches(&self) -> usize {
        self.batches.len()
    }

    fn rows(&self, batch: usize) -> usize {
        self.batches[batch].len()
    }

    fn value(&self, batch: usize, row: usize, column: usize) -> Value<'_> {
        self.batches[batch][row][column]
    }
}

pub(crate) fn frame(
    columns: &[(&str, ColumnKind)],
    batches: Vec<Vec<Vec<Value<'static>>>>,
) -> NamedFrame {
    let columns = columns.iter().map(|(name, kind)| FrameColumn {
        name: (*name).to_string(),
        kind: kind.clone(),
    });
    NamedFrame {
        name: "frame".into(),
        frame: Arc::new(Cells {
            columns: columns.collect(),
            batches,
        }),
    }
}

fn encode(source: Source) -> Result<Encoded, ReadError> {
    let read = ReadOptions {
        screen: Some((100.0, 100.0)),
        ..ReadOptions::default()
    };
    let go_on = |_| ControlFlow::Continue(());
    encode_files(vec![source], None, &read, &LetterOptions::default(), &go_on)
}

use ColumnKind::{Numbers, Texts};
use Value::{Integer, Missing, Number, Text};

const HEADER: [(&str, ColumnKind); 6] = [
    ("participant", Numbers),
    ("stimulus", Texts),
    ("x", Numbers),
    ("y", Numbers),
    ("duration_ms", Numbers),
    ("blink", Numbers),
];

fn rows() -> Vec<Vec<Value<'static>>> {
    vec![
        vec![
            Number(7.0),
            Text(" bridge "),
            Number(10.0),
            Integer(20),
            Integer(200),
            Integer(0),
        ],
        vec![
            Number(7.0),
            Text("bridge"),
            Number(90.5),
            Integer(20),
            Integer(180),
            Integer(1),
        ],
        vec![
            Number(7.0),
            Text("bridge"),
            Missing,
            Integer(20),
            Integer(150),
            Integer(0),
        ],
        vec![
            Number(12.0),
            Text("bridge"),
            Number(50.0),
            Integer(50),
            Integer(220),
            Integer(0),
        ],
        vec![
            Number(7.0),
            Text("boat"),
            Number(f64::NAN),
            Integer(50),
            Integer(220),
            Integer(0),
        ],
        vec![
            Number(7.0),
            Text("boat"),
            Number(99.0),
            Integer(99),
            Integer(220),
            Integer(0),
        ],
    ]
}

/// The same rows in a file.
fn file() -> Source {
    let mut text = String::from("participant,stimulus,x,y,duration_ms,blink\n");
    for row in rows() {
        let fields: Vec<String> = row.into_iter().map(Value::text).collect();
        text.push_str(&(fields.join(",") + "\n"));
    }
    Source::Open(Box::new(Input::from_bytes("frame", text.into()).unwrap()))
}

#[test]
fn a_frame_is_read_as_a_file_with_the_same_rows() {
    let of_file = encode(file()).unwrap();
    for cut in 0..=6 {
        let mut first = rows();
        let second = first.split_off(cut);
        let batches = vec![first, Vec::new(), second];
        let of_frame = encode(Source::Frame(frame(&HEADER, batches))).unwrap();
        assert_eq!(of_frame, of_file, "{cut}");
    }
    assert_eq!(of_file.cohort.entries[0].participant, "7");
    assert_eq!(of_file.summary.rows_read, 6);
}

#[test]
fn columns_of_other_types_are_refused_by_name() {
    for (column, kind, needed) in [
        (2, Texts, "numbers are needed"),
        (3, ColumnKind::Other("lists".into()), "numbers are needed"),
        (
            1,
            ColumnKind::Other("timestamps".into()),
            "text or whole numbers",
        ),
    ] {
        let mut header = HEADER.to_vec();
        header[column].1 = kind;
        let error = encode(Source::Frame(frame(&header, vec![rows()]))).unwrap_err();
        assert!(error.problem.contains(needed), "{error}");
        assert_eq!(error.column.unwrap().1, HEADER[column].0);
        assert_eq!(error.line, None);
    }
}

#[test]
fn errors_name_rows() {
    let mut all = rows();
    all[3][0] = Missing;
    let error = encode(Source::Frame(frame(&HEADER, vec![all]))).unwrap_err();
    assert_eq!((error.row, error.line), (Some(3), None));
    assert!(
        error
            .to_string()
            .starts_with("frame, row 3, column 1 (participant): ")
    );
}

#[test]
fn a_frame_without_rows_or_places_is_an_error() {
    assert!(encode(Source::Frame(frame(&HEADER, Vec::new()))).is_err());
    let error = encode(Source::Frame(frame(&HEADER[..3], vec![rows()]))).unwrap_err();
    assert!(
        error.problem.contains("no columns for the coordinates"),
        "{error}"
    );
}

#[test]
fn a_frame_has_no_file_format() {
    let options = LetterOptions::default();
    let source = Source::Frame(frame(&HEADER, vec![rows()]));
    let go_on = |_| ControlFlow::Continue(());
    let read = ReadOptions::default();
    let error = encode_files(vec![source], Some("matlab"), &read, &options, &go_on).unwrap_err();
    assert!(error.problem.contains("not for data frames"), "{error}");
}

#[test]
fn reading_stops_when_progress_breaks() {
    let row = rows().remove(0);
    let columns = HEADER.len() as u64;
    let many = 3 * (1 << 20) / (8 * columns);
    let all = vec![row; usize::try_from(many).unwrap()];
    let source = Source::Frame(frame(&HEADER, vec![all]));
    let read = ReadOptions {
        screen: Some((100.0, 100.0)),
        ..ReadOptions::default()
    };
    let stop = |_| ControlFlow::Break(());
    let error = encode_files(vec![source], None, &read, &LetterOptions::default(), &stop);
    assert_eq!(error.unwrap_err().problem, "reading was stopped");
}

#[test]
fn a_cohort_is_read_from_a_frame() {
    let header = [
        ("participant", Numbers),
        ("stimulus", Texts),
        ("scanpath", Texts),
    ];
    let rows = vec![
        vec![Integer(1), Text("a"), Text("ABC")],
        vec![Integer(2), Text("a"), Text("")],
        vec![Integer(1), Text("a"), Text("C!")],
    ];
    let raw = RawCohort::read(Input::from_frame(frame(&header, vec![rows])).unwrap()).unwrap();
    assert_eq!((raw.len(), raw.repeated()), (3, Some([0, 2])));
    let error = raw.cohort(raw.alphabet(None)).unwrap_err();
    assert_eq!(error.row, Some(2), "{error}");
}

/// Other readers must not see frames: they have no lines.
#[test]
fn a_frame_has_no_lines() {
    let input = Input::from_frame(frame(&HEADER, vec![rows()])).unwrap();
    assert!(crate::recognise_format(&input.head()).is_none());
    assert!(Recorder::default().recordings.is_empty());
}

#[test]
fn progress_counts_all_rows() {
    let columns = [("x", Numbers), ("y", Numbers), ("duration", Numbers)];
    for rows in [1, 4095, 4096, 8192, 8193] {
        let frame = frame(&columns, vec![vec![vec![Integer(1); 3]; rows]]);
        let all = frame.bytes();
        let read = ReadOptions {
            screen: Some((100.0, 100.0)),
            ..ReadOptions::default()
        };
        let reported = std::cell::Cell::new(0);
        let progress = |bytes| {
            reported.set(bytes);
            ControlFlow::Continue(())
        };
        let options = LetterOptions::default();
        encode_files(vec![Source::Frame(frame)], None, &read, &options, &progress).unwrap();
        assert_eq!(reported.get(), all, "{rows} rows");
    }
}
