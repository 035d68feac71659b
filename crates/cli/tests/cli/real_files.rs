//! Real files of eye trackers and data sets, if they are on this machine, are read with a summary that adds up, or refused with
//! advice.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;

use common::{Folder, shared};
use std::path::{Path, PathBuf};

/// Part of the path, further arguments, and the rows read, rows used and scanpaths that other programs counted; `None`
/// for a refusal.
type Expected = (
    &'static str,
    &'static str,
    Option<(&'static str, u64, u64, u64)>,
);

fn check(expected: &[Expected]) {
    let Some(data) = shared("data") else {
        return;
    };
    let folder = Folder::new();
    for (file, arguments, expected) in expected {
        let path = data.join(file);
        let path = path.to_str().unwrap();
        let mut call = vec!["encode", path, "--summary", "json", "-o", "cohort.csv"];
        call.extend(arguments.split_whitespace());
        let output = folder.run(&call);
        match expected {
            None => {
                let message = output.refused();
                assert!(
                    message.lines().count() >= 2,
                    "{file}: no advice in {message:?}"
                );
            }
            Some((format, read, used, scanpaths)) => {
                assert_eq!(output.code, 0, "{file}: {}", output.stderr);
                let summary: serde_json::Value =
                    serde_json::from_str(output.stderr.trim()).unwrap();
                let dropped: u64 = summary["dropped"]
                    .as_object()
                    .unwrap()
                    .values()
                    .map(|count| count.as_u64().unwrap())
                    .sum();
                let number = |key: &str| summary[key].as_u64().unwrap();
                assert_eq!(summary["format"], *format, "{file}");
                assert_eq!(number("rows_read"), number("rows_used") + dropped, "{file}");
                assert_eq!(
                    (
                        number("rows_read"),
                        number("rows_used"),
                        number("scanpaths")
                    ),
                    (*read, *used, *scanpaths),
                    "{file}: {summary}"
                );
                // What was written can be compared.
                let compare = ["compare", "cohort.csv", "cohort.csv", "-q"];
                folder
                    .run(&[&compare[..], &["--pairs", "all"]].concat())
                    .ok();
            }
        }
    }
}

#[test]
fn real_files_are_read() {
    check(&[
        (
            "arff_gazecom/deep_em_input.arff",
            "",
            Some(("arff-gaze", 4996, 4906, 1)),
        ),
        (
            "oemc_gazecom/AAF_beach.csv",
            "",
            Some(("oemc", 5008, 4528, 1)),
        ),
        (
            "oemc_gazecom/AAW_beach.csv",
            "",
            Some(("oemc", 5030, 4724, 1)),
        ),
        (
            "tobii_v2/P61-Fixation-Data.tsv",
            "",
            Some(("tobii-studio", 4664, 4610, 1)),
        ),
        (
            "visual_search_scanpaths/interiors/subj01_scanpaths.json",
            "",
            Some(("visual-search-json", 735, 735, 132)),
        ),
        (
            "smi/EMDAT_SMI_Sample_67_Events_first4000lines.txt",
            "--screen 1920x1200",
            Some(("smi-events", 3979, 962, 1)),
        ),
        (
            "scasim/eyemovements.csv",
            "--screen 1024x768",
            Some(("table", 129, 129, 9)),
        ),
        (
            "multimatch_gaze/segment_10_sub-19.tsv",
            "--screen 1280x720",
            Some(("table", 28, 28, 1)),
        ),
        (
            "scanmatch_toolbox/ScanMatch_DataExample.mat",
            "--screen 1024x768",
            Some(("matlab", 55, 55, 3)),
        ),
        (
            "salient360_videos_H/10_Cows_fixations.csv",
            "",
            Some(("salient360", 5700, 5700, 57)),
        ),
        (
            "xu_cvpr18_360gaze/video028_p003.txt",
            "",
            Some(("xu360", 1024, 1024, 1)),
        ),
        (
            "pupil_core/fixations.csv",
            "",
            Some(("pupil-fixations", 36, 36, 1)),
        ),
        (
            "gazepoint/valid_fixations.csv",
            "",
            Some(("gazepoint", 20, 20, 1)),
        ),
        (
            "smi/EMDAT_SMI_Sample_67_Events_first4000lines.txt",
            "",
            None,
        ),
        ("salient360_toolbox_raw/rawDataStatic2.csv", "", None),
        (
            "tobii_prolab_snippets/TobiiRowParser.test.data.ts",
            "",
            None,
        ),
        ("salient360_videos_H/Readme_Videos.md", "", None),
    ]);
}

/// Tests every file, including those that the tests above leave out.
#[test]
fn real_files_never_cause_a_panic() {
    let Some(data) = shared("data") else {
        return;
    };
    let folder = Folder::new();
    let mut files = Vec::new();
    collect(&data, &mut files);
    assert!(files.len() > 40);
    for file in files {
        let path = file.to_str().unwrap();
        let output = folder.run(&["encode", path, "--screen", "1280x1024", "-o", "cohort.csv"]);
        assert!([0, 2].contains(&output.code), "{path}: {}", output.stderr);
        assert!(!output.stderr.is_empty(), "{path}: there was no message");
    }
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
