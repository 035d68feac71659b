//! Files of many vendors, dropped on the page.

use super::{Institution, format_file};
use crate::common::shared;
use serde_json::Value;
use std::path::PathBuf;

/// Each file has a row that says what was read, or a message about what is missing.
#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn files_of_many_vendors_are_read_together() {
    let Some(user) = Institution::start() else {
        return;
    };
    let names = [
        "tobii-pro-lab.tsv",
        "tobii-studio.tsv",
        "eyelink-asc.asc",
        "smi-events.txt",
        "smi-samples.txt",
        "gazepoint.csv",
        "pupil-fixations.csv",
        "visual-search-json.json",
        "QQQ_pond.csv",
    ];
    let files: Vec<PathBuf> = names.iter().map(|name| format_file(name)).collect();
    user.drop_files(&files);
    let rows = names.len();
    user.browser.wait_for(&format!(
        "document.querySelectorAll('.files tbody tr').length === {rows}"
    ));
    let state = user.state();
    assert!(state["problem"].is_null(), "{}", state["problem"]);
    let used = user.browser.texts(".files tbody td:nth-child(3)");
    assert!(used.iter().all(|it| it.contains(" of ")), "{used:?}");
    let titles = user.browser.texts(".files tbody td:nth-child(2)").concat();
    for title in ["Tobii Pro Lab", "EyeLink", "SMI", "Gazepoint", "Pupil"] {
        assert!(titles.contains(title), "{title}: {titles}");
    }
    // For a table with too little information, the page shows an error, marks the field that helps, and offers the columns.
    let table = "who;left;top;ms\nanna;100;200;300\nanna;300;250;200\nben;50;60;250\n";
    user.folder.file("odd.csv", table);
    user.drop_files(&[user.folder.path().join("odd.csv")]);
    user.browser
        .wait_for("document.querySelector('#problem.problem')");
    let announced = user.browser.texts("#announced").concat();
    assert!(announced.contains("odd.csv"), "{announced}");
    user.fits("formats");
    for (column, name) in [("x", "left"), ("y", "top"), ("participant", "who")] {
        let id = format!("column-{column}");
        user.browser.wait_for(&format!(
            "[...(document.getElementById({id:?})?.options ?? [])].some((it) => it.value === {name:?})"
        ));
        user.set(&id, name);
    }
    user.set("column-duration", "ms");
    user.set("read-screen", "1280x720");
    user.wait_until("the table is read", |state| state["problem"].is_null());
    user.no_complaints();
}

/// Real files, if they are on this machine, each with the size of the screen if it is needed.
#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn real_files_of_vendors_are_drawn_and_encoded() {
    let Some(data) = shared("data") else {
        return;
    };
    // The browser takes canonical paths only.
    let data = data.canonicalize().unwrap();
    let Some(user) = Institution::start() else {
        return;
    };
    for (file, screen, used) in [
        ("arff_gazecom/deep_em_input.arff", "", 4906),
        ("oemc_gazecom/AAF_beach.csv", "", 4528),
        ("tobii_v2/P61-Fixation-Data.tsv", "", 4610),
        (
            "visual_search_scanpaths/interiors/subj01_scanpaths.json",
            "",
            735,
        ),
        (
            "smi/EMDAT_SMI_Sample_67_Events_first4000lines.txt",
            "1920x1200",
            962,
        ),
        ("scasim/eyemovements.csv", "1024x768", 129),
        ("multimatch_gaze/segment_10_sub-19.tsv", "1280x720", 28),
        (
            "scanmatch_toolbox/ScanMatch_DataExample.mat",
            "1024x768",
            55,
        ),
        ("salient360_videos_H/10_Cows_fixations.csv", "", 5700),
        ("xu_cvpr18_360gaze/video028_p003.txt", "", 1024),
        ("pupil_core/fixations.csv", "", 36),
        ("gazepoint/valid_fixations.csv", "", 20),
    ] {
        user.step("data");
        user.drop_files(&[data.join(file)]);
        if !screen.is_empty() {
            user.browser
                .wait_for("document.querySelector('#read-screen[aria-invalid]')");
            user.set("read-screen", screen);
        }
        let rows = |state: &Value| state["cohorts"][0]["summary"]["rows_used"] == used;
        let state = user.wait_until(file, rows);
        let points = state["stimuli"][0]["points"].as_u64().unwrap();
        assert!(points > 0, "{file}");
        for step in ["data", "encode"] {
            user.step(step);
            user.browser.wait_for(&format!(
                "document.querySelector('.canvas').dataset.drawn === '{points}'"
            ));
        }
        user.step("data");
        user.browser
            .run("document.querySelector('[id^=remove-]').click()");
        user.wait_until("removed", |state| {
            state["files"].as_array().unwrap().is_empty()
        });
    }
    user.no_complaints();
}
