//! The page with a mouse: sliders, areas, and files from a file manager.

use super::{Institution, format_file};
use serde_json::{Value, json};
use std::fmt::Write;

/// The upper canvas of the picture, on which areas are drawn.
const CANVAS: &str = ".canvas canvas:last-child";

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn sliders_and_areas_follow_the_mouse() {
    let Some(user) = Institution::start() else {
        return;
    };
    let browser = &user.browser;
    browser.click("#example");
    browser.wait_for("document.querySelectorAll('.files tbody tr').length === 1");
    the_picture_reacts_to_how_files_are_read(&user);
    user.step("encode");
    a_slider_is_dragged_while_the_page_changes(&user);
    areas_are_drawn(&user);
    detection_is_chosen_with_sliders(&user);
    user.no_complaints();
}

/// A picture of the canvas with the points.
fn drawn(user: &Institution) -> String {
    let script = "return document.querySelector('.canvas canvas').toDataURL()";
    user.browser.run(script).as_str().unwrap().to_string()
}

fn the_picture_reacts_to_how_files_are_read(user: &Institution) {
    let browser = &user.browser;
    let points = || user.state()["stimuli"][0]["points"].to_string();
    let is_drawn = |points: String| {
        browser.wait_for(&format!(
            "document.querySelector('.canvas').dataset.drawn === '{points}'"
        ));
    };
    is_drawn(points());
    let before = drawn(user);
    let traced = user.state()["traced"].clone();
    // On a screen of twice the size, all points are in the upper left quarter.
    user.set("read-screen", "2560x1440");
    user.wait_until("the files are read again", |state| {
        state["traced"] != traced
    });
    is_drawn(points());
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while drawn(user) == before && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_ne!(drawn(user), before, "the picture follows the screen");
    user.set("read-screen", "1280x720");
    // Another column moves the points.
    browser.run("for (const it of document.querySelectorAll('details')) it.open = true");
    user.set("column-x", "duration");
    user.wait_until("the column is used", |state| {
        state["read"]["columns"]["x"] == "duration" && state["problem"].is_null()
    });
    user.set("column-x", "");
}

/// The program's responses arrive while the mouse button is down; the slider must stay under the pointer.
fn a_slider_is_dragged_while_the_page_changes(user: &Institution) {
    let browser = &user.browser;
    browser.wait_for("document.getElementById('grid-columns')");
    let middle = |x: f64| [x, 0.5];
    browser.drag("#grid-columns", &[0.21, 0.4, 0.6, 0.9].map(middle));
    let state = user.wait_until("the grid follows", |state| {
        let grid = state["letters"]["grid"].as_str().unwrap();
        grid.split('x').next().unwrap().parse::<u32>().unwrap() >= 25
    });
    let grid = state["letters"]["grid"].as_str().unwrap();
    let columns = grid.split('x').next().unwrap();
    browser.wait_for(&format!(
        "document.getElementById('grid-columns').value === '{columns}'"
    ));
    user.wait_until("the letters follow", |state| {
        state["cohorts"][0]["encoding"]["grid"] == grid
    });
}

fn areas_are_drawn(user: &Institution) {
    let browser = &user.browser;
    browser.click("#placing-areas");
    // The page shows a hint and no error, because nothing is wrong yet.
    browser.wait_for("document.querySelector('.hint')?.textContent.includes('Draw an area')");
    let areas = |count: usize| {
        let state = user.wait_until("areas", |state| {
            state["letters"]["areas"].as_array().unwrap().len() == count
        });
        state["letters"]["areas"].clone()
    };
    browser.drag(CANVAS, &[[0.1, 0.1], [0.3, 0.3], [0.45, 0.5]]);
    let rectangle = areas(1)[0].clone();
    assert_eq!(rectangle["shape"], "rectangle");
    assert_near(&rectangle["corners"][0], [0.1, 0.1]);
    assert_near(&rectangle["corners"][1], [0.45, 0.5]);
    browser.click("#tool-polygon");
    browser.click_at(CANVAS, &[[0.6, 0.2], [0.9, 0.2], [0.9, 0.6], [0.6, 0.6]]);
    let polygon = areas(2)[1].clone();
    assert_eq!(polygon["shape"], "polygon");
    assert_eq!(polygon["corners"].as_array().unwrap().len(), 4, "{polygon}");
    assert_near(&polygon["corners"][2], [0.9, 0.6]);
    user.wait_until("both areas are letters", |state| {
        state["cohorts"][0]["encoding"]["areas"] == "area 1, area 2"
    });
    user.fits("areas-drawn");
    // A new area never gets the name of another one, because they would share a letter.
    browser.click("#area-remove-0");
    areas(1);
    browser.click("#tool-rectangle");
    browser.drag(CANVAS, &[[0.2, 0.6], [0.3, 0.9]]);
    let names = areas(2);
    assert_eq!([&names[0]["name"], &names[1]["name"]], ["area 2", "area 1"]);
    user.set("area-1", "area 2");
    browser.wait_for("document.querySelector('.areas')?.textContent.includes('shares a letter')");
    browser.click("#placing-grid");
    browser.wait_for("document.getElementById('grid-columns')");
}

fn assert_near(corner: &Value, expected: [f64; 2]) {
    for side in [0, 1] {
        let found = corner[side].as_f64().unwrap();
        assert!((found - expected[side]).abs() < 0.02, "{corner}");
    }
}

/// Gaze at 100 Hz that stays at five places, 20 samples at each, and moves on at 1500 pixels per second.
fn gaze() -> String {
    let mut table = String::from("participant,stimulus,time,x,y\n");
    for person in 0..4 {
        for at in 0..120 {
            let (place, within) = (at / 24, at % 24);
            let x = 150 + 75 * place + 15 * (within - 19).max(0) + (at + person) % 2;
            let _ = writeln!(table, "p{person},scene,{},{x},300", at * 10);
        }
    }
    table
}

fn detection_is_chosen_with_sliders(user: &Institution) {
    let browser = &user.browser;
    user.step("data");
    browser.run("document.querySelector('[id^=remove-]').click()");
    browser.wait_for("document.querySelectorAll('.files tbody tr').length === 0");
    user.folder.file("gaze.csv", gaze());
    user.set_screen();
    user.drop_files(&[user.folder.path().join("gaze.csv")]);
    user.step("encode");
    user.set("detect", "ivt");
    // In pixels, because the viewing distance is unknown.
    let state = user.wait_until("fixations are detected", |state| {
        state["letters"]["velocity"] == "800px" && state["stimuli"][0]["points"] == 20
    });
    assert!(state["problem"].is_null(), "{}", state["problem"]);
    browser.wait_for("document.querySelector('.canvas').dataset.drawn === '20'");
    // At 3000 pixels per second, all of it is one fixation.
    browser.drag("#velocity", &[[0.3, 0.5], [0.6, 0.5], [0.99, 0.5]]);
    let velocity = |state: &Value| -> f64 {
        let text = state["letters"]["velocity"].as_str().unwrap();
        text.trim_end_matches("px").parse().unwrap()
    };
    user.wait_until("the slider ends at the right", |state| {
        velocity(state) > 2500.0
    });
    let state = user.wait_until("the fixations follow", |state| {
        let points = state["stimuli"][0]["points"].as_u64();
        points.is_some_and(|points| points < 20)
    });
    let points = state["stimuli"][0]["points"].clone();
    browser.wait_for(&format!(
        "document.querySelector('.canvas').dataset.drawn === '{points}'"
    ));
    user.fits("detection");
    user.set("detect", "idt");
    user.wait_until("dispersion", |state| {
        state["letters"]["dispersion"] == "40px" && state["problem"].is_null()
    });
}

/// A file is dropped from a file manager, and a folder that also contains other files.
#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn files_and_folders_are_dropped() {
    let Some(user) = Institution::start() else {
        return;
    };
    let browser = &user.browser;
    browser.drop_paths(&[&format_file("tobii-pro-lab.tsv")]);
    browser.wait_for("document.getElementById('status').textContent === '1 file read.'");
    let folder = user.folder.path().join("recordings");
    let inner = folder.join("more");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::copy(format_file("eyelink-asc.asc"), folder.join("a.asc")).unwrap();
    std::fs::copy(format_file("smi-events.txt"), inner.join("b.txt")).unwrap();
    std::fs::write(folder.join("report.pdf"), "%PDF-1.7 x").unwrap();
    std::fs::write(folder.join(".hidden"), "x").unwrap();
    browser.drop_paths(&[&folder]);
    browser.wait_for(
        "document.getElementById('status').textContent === '1 other file of the folder left out. 2 files read.'",
    );
    let state = user.state();
    let names: Vec<&Value> = state["files"].as_array().unwrap().iter().collect();
    let names: Vec<&str> = names
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["tobii-pro-lab.tsv", "a.asc", "b.txt"]);
    assert!(state["problem"].is_null(), "{}", state["problem"]);
    // The same file can be chosen again after it was removed.
    let id = state["files"][0]["id"].clone();
    browser.click(&format!("#remove-{id}"));
    user.wait_until("removed", |state| {
        state["files"].as_array().unwrap().len() == 2
    });
    for _ in 0..2 {
        user.drop_files(&[format_file("gazepoint.csv")]);
        let last = user.wait_until("added", |state| {
            state["files"].as_array().unwrap().len() == 3
        });
        let id = last["files"][2]["id"].clone();
        browser.click(&format!("#remove-{id}"));
        user.wait_until("removed", |state| {
            state["files"].as_array().unwrap().len() == 2
        });
    }
    // The focus is where the button was.
    let heading = browser.run("return document.activeElement?.textContent");
    assert_eq!(heading, json!("Files"));
    user.no_complaints();
}
