use super::*;
use crate::readers::recorder::{Recorder, shared_folder};
use crate::{Input, ReadOptions};
use std::path::{Path, PathBuf};

fn explained(name: &str, bytes: &[u8]) -> ReadError {
    let head = Input::from_bytes(name, bytes.to_vec()).unwrap().head();
    assert!(
        recognise_format(&head).is_none(),
        "{name} is taken for {}",
        recognise_format(&head).unwrap().name()
    );
    explain_unknown(&head)
}

#[test]
fn common_mistakes_are_named_and_answered() {
    let cases: &[(&str, &[u8], &str, &str)] = &[
        (
            "a.edf",
            b"SR_RESEARCH_COMBINED_FILE\0\x01",
            "EyeLink",
            "edf2asc",
        ),
        ("a.edf", b"\x07\x00\x03\x00\x01", "EyeLink", "edf2asc"),
        ("a.edf", b"0       X X X X      ", "EEG", "edf2asc"),
        ("a.bdf", b"\xffBIOSEMI\0", "EEG", "eye tracking"),
        ("a.edf", b"", "empty", "placeholders"),
        ("a.xlsx", b"PK\x03\x04\x14\x00", "spreadsheet", "CSV"),
        (
            "fixations.csv",
            b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00[Content_Types].xml PK\x03\x04xl/workbook.xml",
            "spreadsheet",
            "save the sheet",
        ),
        (
            "a.csv",
            b"PK\x03\x04\x14\x00mimetypeapplication/vnd.oasis.opendocument.spreadsheetPK",
            "spreadsheet",
            "CSV",
        ),
        ("a.zip", b"PK\x03\x04\x14\x00", "archive", "unpack"),
        (
            "a.json",
            b"{\"a.jpg\": {\"subject\": \"07\", \"im",
            "truncated",
            "again",
        ),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1", "Office", "CSV"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0", "image", "gaze"),
        ("a.jpg", b"\xff\xd8\xff\xe0\0", "image", "gaze"),
        ("a.bmp", b"BM\0\0\0\0", "image", "gaze"),
        ("a.pdf", b"%PDF-1.4\n", "PDF", "tables"),
        ("a.parquet", b"PAR1\x15\0", "Parquet", "read_parquet"),
        ("a.arrow", b"ARROW1\0\0", "Arrow", "read_feather"),
        ("a.feather", b"FEA1\0", "Feather", "read_feather"),
        ("a.h5", b"\x89HDF\r\n\x1a\n\0", "HDF5", "CSV"),
        (
            "a.mat",
            b"MATLAB 7.3 MAT-file, Platform: GLNXA64",
            "7.3",
            "-v7",
        ),
        ("a.mat", b"\0\0\0\0\x03\0\0\0", "MATLAB", "-v7"),
        ("a.sav", b"$FL2@(#) SPSS DATA FILE\0", "SPSS", "CSV"),
        ("a.rda", b"RDX3\nX\n\0\0", "R data", "write.csv"),
        ("a.rds", b"X\n\0\0\0\x03", "R data", "write.csv"),
        ("a.npy", b"\x93NUMPY\x01\0", "NumPy", "savetxt"),
        ("a.csv", b"<!DOCTYPE html>\n<html>", "web page", "Raw"),
        (
            "a.csv",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n",
            "Git LFS",
            "git lfs pull",
        ),
        (
            "a.csv",
            b"../../.git/annex/objects/1/2/3",
            "git-annex",
            "datalad get",
        ),
        ("README.md", b"# Title\n\nText", "prose", "describes"),
        (
            "README",
            b"References\n-----\nSome authors, and others (2019). A title",
            "neither a table",
            "formats",
        ),
        ("a.py", b"import numpy as np\n", "source code", "works on"),
        ("a.csv", b"", "empty", "again"),
        ("a.csv", b" \r\n\n", "empty", "again"),
        (
            "a.csv",
            b"# veilpath cohort\nparticipant,stimulus,scanpath\np,s,ABC\n",
            "already a cohort",
            "compare it directly",
        ),
        (
            "a.csv",
            b"\"# veilpath cohort 1\",\"\",\"\"\n\"participant\",\"stimulus\",\"scanpath\"\n\"p\",\"s\",\"ABC\"\n",
            "already a cohort",
            "compare it directly",
        ),
        (
            "a.csv",
            b"Subject_ID,Image,scanpath\np,s,ABC\n",
            "already a cohort",
            "compare it directly",
        ),
        (
            "a.txt",
            b"p1\taFaFcF\np2\taFbF\n",
            "a cohort already",
            "compare it directly",
        ),
        (
            "a.txt",
            b"# OGAMA\np1\tAB#C\np2\t\n",
            "a cohort already",
            "compare it directly",
        ),
        ("a.txt", b"ABCA\nBBA\n", "a cohort already", "compare it directly"),
        (
            "a.csv",
            b"id,aoi,duration\nA,eye,200\n",
            "these columns: id, aoi, duration",
            "rename the columns or say which is which",
        ),
        (
            "a.txt",
            b"name\tgroup\nAnna\tControl\n",
            "these columns: name, group",
            "x and y",
        ),
        (
            "ds/participants.tsv",
            b"participant_id\tage\nsub-1\t20\n",
            "list of participants",
            "physio",
        ),
        (
            "sub-1_electrodes.tsv",
            b"name\tx\ty\tz\nE1\t1\t2\t3\n",
            "electrodes",
            "physio",
        ),
        (
            "sub-1_task-a_events.tsv",
            b"onset\tduration\ttrial_type\n0\t1\tgo\n",
            "what happened",
            "physio",
        ),
        (
            "sub-1_physio.json",
            b"{\"SamplingFrequency\": 1}",
            "description",
            "physio",
        ),
        (
            "a.json",
            b"{\"number_of_images\": 134}",
            "no scanpaths",
            "\"X\"",
        ),
        (
            "a.csv",
            b"subject|x|y\np|1|2\np|3|4\n",
            "separated by |",
            "tabs, semicolons, commas or spaces",
        ),
        (
            "a.csv",
            b"subject,gaze_x [px],duration\np,1,2\np,3,4\n",
            "a column gaze_x [px] and no column gazey",
            "x and y",
        ),
        (
            "a.csv",
            b"subject_code,reaction_time,answer\n1,2,3\n4,5,6\n",
            "subject_code, reaction_time, answer",
            "which is which",
        ),
        (
            "a.csv",
            b"Bob;12;0,5\nEve;13;0,7\n",
            "table of 3 columns",
            "which is which",
        ),
        ("a.dat", b"\x01\x02\x00\x03", "binary file", "export"),
        ("a.idf", b"\x01\x02\x00\x03", "IDF", "BeGaze"),
    ];
    for (name, bytes, problem, remedy) in cases {
        let error = explained(name, bytes);
        assert!(error.problem.contains(problem), "{name}: {error}");
        assert!(error.remedy.contains(remedy), "{name}: {error}");
        assert!(!error.to_string().contains("Bob"), "{error}");
    }
}

#[test]
fn mistakes_are_not_taken_for_formats() {
    let taken = |name: &str, bytes: &[u8]| {
        let head = Input::from_bytes(name, bytes.to_vec()).unwrap().head();
        recognise_format(&head).map(|format| format.name())
    };
    assert_eq!(taken("sub-1_physio.tsv.gz", b""), Some("bids-physio"));
    assert_eq!(
        taken("a.mat", b"MATLAB 5.0 MAT-file, Platform"),
        Some("matlab")
    );
    let json = br#"{"a": {"subject": "1", "X": [], "Y": []}}"#;
    assert_eq!(taken("a.json", json), Some("visual-search-json"));
}

/// The expected result for each real file, by a part of its path; the first match counts.
const EXPECTED: &[(&str, &str)] = &[
    ("NOTES.md", "refused"),
    ("Readme_Videos.md", "refused"),
    ("README", "refused"),
    ("salient360_videos_H/", "salient360"),
    ("salient360_toolbox_raw/", "salient360-raw"),
    ("xu_cvpr18_360gaze/", "xu360"),
    ("arff_gazecom/", "arff-gaze"),
    ("oemc_gazecom/", "oemc"),
    ("scasim/", "table"),
    ("multimatch_gaze/", "table"),
    ("eyelink_asc/", "eyelink-asc"),
    ("smi/", "smi-events"),
    ("tobii_v2/", "tobii-studio"),
    ("pupil_core/", "pupil-fixations"),
    ("gazepoint/", "gazepoint"),
    ("tobii_prolab_snippets/", "refused"),
    ("_physio.tsv.gz", "bids-physio"),
    ("_physioevents.tsv.gz", "bids-physio"),
    ("bids_bep020/", "refused"),
    ("dataset_info.json", "refused"),
    ("visual_search_scanpaths/", "visual-search-json"),
    ("ScanMatch_DataExample.mat", "matlab"),
];

/// Recognised by a reader that rejects them with a reason: they have no positions, or none on the panorama.
const REFUSED_BY_READER: &[&str] = &["_physioevents.tsv.gz", "salient360_toolbox_raw/"];

#[test]
fn every_real_file_is_read_or_refused_with_advice() {
    let Some(folder) = shared_folder() else {
        eprintln!("skipped: the folder of real files is not on this machine");
        return;
    };
    let mut files = Vec::new();
    collect(&folder, &mut files);
    assert!(files.len() > 40);
    let mut problems = Vec::new();
    for file in files {
        let path = file
            .strip_prefix(&folder)
            .unwrap()
            .display()
            .to_string()
            .replace('\\', "/");
        let Some((_, expected)) = EXPECTED.iter().find(|(part, _)| path.contains(part)) else {
            problems.push(format!("{path}: nothing is said about what to expect"));
            continue;
        };
        let outcome = read_or_explain(&file);
        let found = outcome.as_ref().map_or("refused", |(format, _)| format);
        if found != *expected {
            problems.push(format!("{path}: expected {expected}, found {found}"));
        }
        let refusal = match outcome {
            Ok((_, read)) => read.err(),
            Err(refusal) => Some(refusal),
        };
        let by_reader = REFUSED_BY_READER.iter().any(|part| path.contains(part));
        let wanted = *expected == "refused" || by_reader;
        match refusal {
            Some(error) if error.remedy.is_empty() => {
                problems.push(format!("{path}: no advice: {error}"))
            }
            Some(error) if !wanted => problems.push(format!("{path}: {error}")),
            None if wanted => problems.push(format!("{path}: was read")),
            _ => {}
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

type Outcome = Result<(&'static str, Result<(), ReadError>), ReadError>;

fn read_or_explain(file: &Path) -> Outcome {
    let input = Input::open(file)?;
    let head = input.head();
    let format = recognise_format(&head).ok_or_else(|| explain_unknown(&head))?;
    let read = format.read(input, &ReadOptions::default(), &mut Recorder::default());
    Ok((format.name(), read))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
