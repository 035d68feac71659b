use super::*;
use crate::Dropped;
use crate::NamePattern;
use crate::Space;
use crate::readers::FORMATS;
use crate::readers::recorder::{Recorder, shared_file};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

fn read_bytes(bytes: Vec<u8>, options: &ReadOptions) -> Result<Recorder, ReadError> {
    let mut recorder = Recorder::default();
    Matlab.read(
        Input::from_bytes("trial_P3.mat", bytes)?,
        options,
        &mut recorder,
    )?;
    Ok(recorder)
}

fn element(kind: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = [kind.to_le_bytes(), (content.len() as u32).to_le_bytes()].concat();
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// A matrix of a class with data of a storage type.
fn matrix(name: &str, class: u32, size: (u32, u32), kind: u32, data: &[u8]) -> Vec<u8> {
    let content = [
        element(6, &[class.to_le_bytes(), [0; 4]].concat()),
        element(5, &[size.0.to_le_bytes(), size.1.to_le_bytes()].concat()),
        element(1, name.as_bytes()),
        element(kind, data),
    ]
    .concat();
    element(14, &content)
}

fn doubles(name: &str, size: (u32, u32), values: &[f64]) -> Vec<u8> {
    let data: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    matrix(name, 6, size, 9, &data)
}

fn mat(variables: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"MATLAB 5.0 MAT-file, made for Veilpath's tests".to_vec();
    bytes.resize(124, b' ');
    bytes.extend([0x00, 0x01, b'I', b'M']);
    bytes.extend(variables.concat());
    bytes
}

fn compressed(variable: &[u8]) -> Vec<u8> {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(variable).unwrap();
    let content = zlib.finish().unwrap();
    let mut bytes = [15u32.to_le_bytes(), (content.len() as u32).to_le_bytes()].concat();
    bytes.extend(content);
    bytes
}

fn fixations(read: &Recorder) -> Vec<(String, usize)> {
    let each = read.recordings.iter();
    each.map(|recording| (recording.participant.clone(), recording.fixations.len()))
        .collect()
}

#[test]
fn the_test_file_is_read() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/formats/matlab.mat"
    );
    let input = Input::open(std::path::Path::new(path)).unwrap();
    let head = input.head();
    let first = FORMATS
        .iter()
        .find(|format| format.recognises(&head))
        .unwrap();
    assert_eq!(first.name(), "matlab");
    let mut read = Recorder::default();
    first
        .read(input, &ReadOptions::default(), &mut read)
        .unwrap();
    let expected = [
        ("anna".to_string(), 4),
        ("ben".to_string(), 3),
        ("cleo".to_string(), 2),
    ];
    assert_eq!(fixations(&read), expected);
    assert_eq!(
        read.recordings[0].fixations[0],
        (512.5, 384.0, Some(200.0), None)
    );
    assert_eq!(
        read.recordings[0].fixations[3],
        (1023.0, 0.0, Some(310.5), None)
    );
    assert_eq!(
        read.recordings[1].fixations[2],
        (30.0, 60.0, Some(250.0), None)
    );
    assert_eq!(
        read.recordings[2].fixations,
        [(1.5, 3.5, None, None), (2.5, 4.5, None, None)]
    );
    assert_eq!(read.recordings[0].space, None);
    assert_eq!(read.dropped[&Dropped::Lost], 1);
    assert_eq!(read.dropped[&Dropped::NegativeDuration], 1);
    assert!(
        read.assumed
            .iter()
            .any(|text| text.contains("a text, a pair of numbers")),
        "{:?}",
        read.assumed
    );
}

#[test]
fn plain_compressed_small_and_narrow_elements_all_read_the_same() {
    let plain = doubles("p", (2, 3), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let bytes = matrix("p", 6, (2, 3), 2, &[1, 2, 3, 4, 5, 6]);
    let words: Vec<u8> = (1..=6i16).flat_map(i16::to_le_bytes).collect();
    let singles: Vec<u8> = (1..=6i16)
        .flat_map(|value| f32::from(value).to_le_bytes())
        .collect();
    let longs: Vec<u8> = (1..=6i64).flat_map(i64::to_le_bytes).collect();
    let whole = [
        plain.clone(),
        compressed(&plain),
        bytes,
        matrix("p", 6, (2, 3), 3, &words),
        matrix("p", 7, (2, 3), 7, &singles),
        compressed(&matrix("p", 14, (2, 3), 12, &longs)),
    ];
    for variable in whole {
        let read = read_bytes(mat(&[variable]), &ReadOptions::default()).unwrap();
        let expected = [(1.0, 3.0, Some(5.0), None), (2.0, 4.0, Some(6.0), None)];
        assert_eq!(read.recordings[0].fixations, expected);
    }
    // Name and data in small elements.
    let mut small = element(6, &[6u32.to_le_bytes(), [0; 4]].concat());
    small.extend(element(
        5,
        &[1u32.to_le_bytes(), 3u32.to_le_bytes()].concat(),
    ));
    small.extend([1, 0, 2, 0, b'a', b'b', 0, 0, 2, 0, 3, 0, 7, 8, 9, 0]);
    let read = read_bytes(mat(&[element(14, &small)]), &ReadOptions::default()).unwrap();
    assert_eq!(fixations(&read), [("ab".to_string(), 1)]);
    assert_eq!(read.recordings[0].fixations[0], (7.0, 8.0, Some(9.0), None));
}

#[test]
fn a_named_participant_makes_variables_stimuli() {
    let variables = [
        doubles("cat", (1, 3), &[1.0, 2.0, 0.1]),
        doubles("dog", (1, 3), &[3.0, 4.0, 0.2]),
    ];
    let mut options = ReadOptions {
        name_pattern: Some(NamePattern::parse("trial_{participant}").unwrap()),
        time_unit: Some(TimeUnit::Seconds),
        screen: Some((800.0, 600.0)),
        flip_y: true,
        ..ReadOptions::default()
    };
    let read = read_bytes(mat(&variables), &options).unwrap();
    assert_eq!(read.recordings[1].participant, "P3");
    assert_eq!(read.recordings[1].stimulus.as_deref(), Some("dog"));
    assert_eq!(read.recordings[1].fixations[0].2, Some(200.0));
    assert_eq!(
        read.recordings[1].space,
        Some(Space::pixels(800.0, 600.0).flipped())
    );
    options.stimulus = Some("s".to_string());
    assert!(
        read_bytes(mat(&variables), &options)
            .unwrap_err()
            .remedy
            .contains("only one")
    );
    options.name_pattern = Some(NamePattern::parse("x{participant}").unwrap());
    assert!(read_bytes(mat(&variables), &options).is_err());
}

#[test]
fn unreadable_files_are_refused_with_advice() {
    let refused = |bytes: Vec<u8>| {
        let error = read_bytes(bytes, &ReadOptions::default()).err().unwrap();
        assert!(error.remedy.contains("-v7"), "{error}");
        error.problem
    };
    let good = doubles("p", (2, 3), &[1.0; 6]);
    let whole = mat(&[good.clone(), compressed(&good)]);
    for cut in (0..128).chain(129..whole.len()) {
        if cut != 128 + good.len() {
            refused(whole[..cut].to_vec());
        }
    }
    assert!(refused(mat(&[])).contains("no variables"));
    let kinds = [
        matrix("t", 4, (1, 3), 4, &[0; 6]),
        matrix("s", 2, (1, 1), 9, &[]),
        doubles("m", (3, 4), &[0.0; 12]),
    ];
    assert!(refused(mat(&kinds)).contains("a text, a struct, a matrix of 3×4"));
    assert!(refused(mat(&[matrix("c", 6 | 0x0800, (1, 3), 9, &[0; 24])])).contains("complex"));
    // Sizes that lie: far too large, and larger than what follows.
    assert!(refused(mat(&[matrix("p", 6, (u32::MAX, 3), 9, &[])])).contains("too large"));
    assert!(refused(mat(&[matrix("p", 6, (5_000_000, 3), 9, &[0; 24])])).contains("more or fewer"));
    assert!(
        refused(mat(&[matrix("p", 6, (1, 3), 9, &[0; 32])]))
            .contains("larger than the file allows")
    );
    assert!(refused(mat(&[matrix("p", 6, (1, 3), 77, &[0; 24])])).contains("unknown type"));
    let mut big_endian = mat(&[good]);
    big_endian[126..128].copy_from_slice(b"MI");
    assert!(refused(big_endian).contains("big-endian"));
    assert!(refused(b"MATLAB 7.3 MAT-file, Platform".to_vec()).contains("7.3"));
}

/// Cell by `floor(x / width · columns)`; a point on the far edge goes to the last cell.
fn cell(x: f64, y: f64, columns: usize, rows: usize) -> usize {
    let (u, v) = Space::pixels(1024.0, 768.0).fraction(x, y);
    let index = |fraction: f64, count: usize| {
        let cells = (0..count).rev();
        let mut starts_at_or_before = cells.filter(|&cell| fraction * count as f64 >= cell as f64);
        starts_at_or_before.next().unwrap()
    };
    index(v, rows) * columns + index(u, columns)
}

#[test]
fn the_real_file_gives_the_known_strings_and_cells() {
    let Some(path) = shared_file("scanmatch_toolbox/ScanMatch_DataExample.mat") else {
        return;
    };
    let mut read = Recorder::default();
    Matlab
        .read(
            Input::open(&path).unwrap(),
            &ReadOptions::default(),
            &mut read,
        )
        .unwrap();
    let expected = [
        ("data1".to_string(), 19),
        ("data2".to_string(), 16),
        ("data3".to_string(), 20),
    ];
    assert_eq!(fixations(&read), expected);
    assert_eq!(
        read.recordings[0].fixations[0],
        (292.9, 188.9, Some(320.0), None)
    );
    assert_eq!(
        read.recordings[2].fixations[19],
        (531.2, 104.4, Some(180.0), None)
    );
    assert!(read.dropped.is_empty());
    let points = |recording: usize| read.recordings[recording].fixations.iter();
    // The published strings come from a mask of whole pixels, so each point counts as the pixel that it lies in.
    let cells = |recording: usize, columns: usize, rows: usize| -> Vec<usize> {
        points(recording)
            .map(|&(x, y, ..)| cell(x.floor(), y.floor(), columns, rows))
            .collect()
    };
    let letters: Vec<char> = ('A'..='Z').chain('a'..='z').collect();
    let strings = [
        "IKKDPPqtggvbbbSSGGS",
        "RPKDPPqqtggvbGSS",
        "QRSSSGibvnggttqWPPKD",
    ];
    let fine: [&[usize]; 3] = [
        &[
            15, 18, 18, 18, 27, 27, 85, 89, 55, 55, 93, 47, 47, 58, 32, 31, 23, 11, 32,
        ],
        &[
            41, 26, 18, 6, 27, 26, 85, 85, 89, 55, 55, 93, 58, 11, 31, 31,
        ],
        &[
            40, 42, 31, 32, 32, 11, 58, 58, 93, 80, 67, 55, 89, 89, 85, 38, 26, 26, 18, 18,
        ],
    ];
    for recording in 0..3 {
        let string: String = cells(recording, 7, 7)
            .iter()
            .map(|&cell| letters[cell])
            .collect();
        assert_eq!(string, strings[recording]);
        assert_eq!(cells(recording, 12, 8), fine[recording]);
        // Without the mask one point of the three scanpaths falls into another cell of 7×7: x = 292.9 lies a third of a
        // pixel right of the border at 292.57.
        let exact: String = points(recording)
            .map(|&(x, y, ..)| letters[cell(x, y, 7, 7)])
            .collect();
        assert_eq!(exact, strings[recording].replace("IKK", "JKK"));
        let exact: Vec<usize> = points(recording)
            .map(|&(x, y, ..)| cell(x, y, 12, 8))
            .collect();
        assert_eq!(exact, fine[recording]);
    }
}
