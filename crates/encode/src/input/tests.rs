use super::*;
use std::io::Write;

fn lines_of(bytes: &[u8]) -> Vec<String> {
    let mut lines = Input::from_bytes("test", bytes.to_vec())
        .unwrap()
        .into_lines();
    let mut all = Vec::new();
    while let Some(line) = lines.next_line().unwrap() {
        all.push(line.into_owned());
    }
    all
}

#[test]
fn encodings_and_line_ends_all_give_the_same_lines() {
    let utf16 = |mark: &[u8], big: bool| {
        let mut bytes = mark.to_vec();
        for unit in "x,y\r\n1,µ2\r\n".encode_utf16() {
            bytes.extend(if big {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            });
        }
        bytes
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all("\u{feff}x,y\n1,µ2\n".as_bytes()).unwrap();
    for bytes in [
        "x,y\n1,µ2\n".as_bytes().to_vec(),
        "x,y\r\n1,µ2".as_bytes().to_vec(),
        "x,y\r1,µ2\r".as_bytes().to_vec(),
        "\u{feff}x,y\n1,µ2\n".as_bytes().to_vec(),
        b"x,y\n1,\xb52\n".to_vec(),
        utf16(&[0xff, 0xfe], false),
        utf16(&[0xfe, 0xff], true),
        utf16(&[], false),
        utf16(&[], true),
        gzip.finish().unwrap(),
    ] {
        assert_eq!(lines_of(&bytes), ["x,y", "1,µ2"], "{bytes:?}");
        let head = Input::from_bytes("t.csv.gz", bytes).unwrap().head();
        assert_eq!(head.first_line(), "x,y");
        assert_eq!(head.first_row(), "x,y");
        assert_eq!(head.extension(), "csv");
    }
    assert!(lines_of(b"").is_empty());
}

#[test]
fn an_endless_line_is_an_error_and_not_a_full_memory() {
    let mut lines = Input::from_bytes("test", vec![b'a'; MAX_LINE_BYTES + 10])
        .unwrap()
        .into_lines();
    assert_eq!(lines.next_line().unwrap_err().line, Some(1));
}

#[test]
fn a_file_can_be_read_again_and_a_pipe_cannot() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "x,y\n").unwrap();
    let memory = Input::from_bytes("test", b"x,y\n".to_vec()).unwrap();
    let memory = memory.with_companions([("test.json".to_string(), Arc::default())].into());
    let frame = Input::from_frame(crate::frame::tests::frame(&[], vec![])).unwrap();
    for input in [memory, frame, Input::open(file.path()).unwrap()] {
        let again = input.reopen().unwrap().unwrap();
        assert_eq!(again.name(), input.name());
        assert_eq!(input.head().lines, again.head().lines);
        // A copy for each of many inputs, each with all others as companions, would fill the memory.
        assert!(
            std::ptr::eq(input.companions(), again.companions()) || input.companions().is_empty()
        );
        assert_eq!(input.frame().is_some(), again.frame().is_some());
    }
    let pipe = Input::from_reader("-", None, Box::new(io::empty())).unwrap();
    assert!(pipe.reopen().unwrap().is_none());
}

#[test]
fn binary_content_with_a_text_start_comes_through_unchanged() {
    let mut bytes = vec![b'M'; 64];
    bytes.extend((0..=255).cycle().take(200_000));
    let mut read = Vec::new();
    Input::from_bytes("t.mat", bytes.clone())
        .unwrap()
        .into_reader()
        .read_to_end(&mut read)
        .unwrap();
    assert!(read == bytes);
}

#[test]
fn a_cut_gzip_file_is_an_error_with_advice() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"1\t2\n3\t4\n").unwrap();
    let whole = gzip.finish().unwrap();
    for cut in [3, 12, whole.len() - 9] {
        let error = Input::from_bytes("t.gz", whole[..cut].to_vec())
            .err()
            .unwrap();
        assert!(error.remedy.contains("gzip -t"), "{error}");
    }
}

#[test]
fn stems_lose_folders_and_extensions() {
    let stem = |name: &str| Input::from_bytes(name, vec![]).unwrap().stem().to_string();
    assert_eq!(stem("a/b.c/sub-01_physio.tsv.gz"), "sub-01_physio");
    assert_eq!(stem(r"C:\x\P61.tsv"), "P61");
    assert_eq!(stem(".hidden"), ".hidden");
}
