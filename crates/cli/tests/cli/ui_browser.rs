//! `veilpath ui` in a real browser: Chromium. Without it, the tests are skipped with a message. With
//! `VEILPATH_SCREENSHOTS=1` they save pictures of the page in `target/ui-screenshots`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test's helpers may fail the test
#![cfg(unix)] // the paths of files and programs below are those of Unix

mod accessible;
mod again;
mod broken;
mod formats;
mod mouse;
mod newcomer;
mod partner;
mod relay;
mod smooth;

use crate::common::webdriver::Browser;
use crate::common::{Folder, root};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A program with its page in a separate browser.
struct Institution {
    browser: Browser,
    folder: Folder,
    server: Child,
    address: String,
}

impl Institution {
    fn start() -> Option<Self> {
        let browser = Browser::start()?;
        let folder = Folder::new();
        let (server, address) = serve(&folder);
        browser.open_url(&address);
        browser.wait_for("document.getElementById('drop')");
        Some(Self {
            browser,
            folder,
            server,
            address,
        })
    }

    /// Kills the program, and starts it again with the same identity and journals.
    fn crash_and_restart(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
        (self.server, self.address) = serve(&self.folder);
        self.browser.open_url(&self.address);
        self.browser.wait_for("document.getElementById('drop')");
    }

    fn step(&self, name: &str) {
        self.browser.run(&format!("location.hash = '#{name}'"));
        let current = format!("document.getElementById('to-{name}').hasAttribute('aria-current')");
        self.browser.wait_for(&current);
    }

    fn drop_files(&self, files: &[PathBuf]) {
        let names: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
        self.browser.type_into("#files", &names.join("\n"));
        self.browser
            .wait_for("document.getElementById('status').textContent.endsWith('read.')");
    }

    /// Sets a form field as a user does, and waits until the program has applied it.
    fn set(&self, id: &str, value: &str) {
        let exists = format!("document.getElementById({id:?})");
        self.browser.wait_for(&exists);
        self.browser.run(&format!(
            "const input = document.getElementById({id:?}); input.value = {value:?}; input.dispatchEvent(new Event('change'))"
        ));
        std::thread::sleep(std::time::Duration::from_millis(150));
        self.browser
            .wait_for(&format!("{exists}?.value === {value:?}"));
    }

    /// The program's response to a request from its page.
    fn get(&self, path: &str) -> String {
        let text = format!("return fetch({path:?}).then((answer) => answer.text())");
        self.browser.run(&text).as_str().unwrap().to_string()
    }

    fn state(&self) -> Value {
        serde_json::from_str(&self.get("/api/state")).unwrap()
    }

    /// Waits until the state of the program is as expected.
    fn wait_until(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        loop {
            let state = self.state();
            if is_so(&state) {
                return state;
            }
            assert!(std::time::Instant::now() < deadline, "{what}: {state:#}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    /// A file of the result on this machine (`result`) or with a partner (`partner_result`).
    fn export(&self, result: &str, kind: &str) -> String {
        let id = self.state()[result]["id"].clone();
        self.get(&format!("/api/exports/{id}/{kind}"))
    }

    /// Checks that nothing scrolls sideways on a desktop or on a phone. `VEILPATH_SCREENSHOTS=1` also saves pictures of both,
    /// in the light and the dark theme.
    fn fits(&self, name: &str) {
        let browser = &self.browser;
        for (width, height) in [(1280, 900), (390, 844)] {
            let metrics =
                json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
            browser.devtools("Emulation.setDeviceMetricsOverride", &metrics);
            // The picture is drawn again in its new width with a later frame.
            let overflow =
                || browser.run("return document.documentElement.scrollWidth - innerWidth");
            let deadline = Instant::now() + Duration::from_secs(5);
            while overflow() != json!(0) {
                assert!(
                    Instant::now() < deadline,
                    "{name} scrolls sideways at {width}"
                );
                std::thread::sleep(Duration::from_millis(20));
            }
            self.save(&format!("{name}-{width}"));
        }
        browser.devtools("Emulation.clearDeviceMetricsOverride", &json!({}));
    }

    fn save(&self, name: &str) {
        let Some(folder) = screenshots() else {
            return;
        };
        let browser = &self.browser;
        for theme in ["light", "dark"] {
            let features = json!([{"name": "prefers-color-scheme", "value": theme}]);
            browser.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
            std::thread::sleep(std::time::Duration::from_millis(200));
            browser.save(&folder.join(format!("{name}-{theme}.png")));
        }
        browser.devtools("Emulation.setEmulatedMedia", &json!({"features": []}));
    }

    fn no_complaints(&self) {
        let mut lines = self.browser.console();
        // The page itself explains refusals.
        lines.retain(|line| !line.contains("status of 422"));
        assert_eq!(lines, [] as [String; 0]);
    }
}

impl Drop for Institution {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A program that serves its page, and the address of the page.
fn serve(folder: &Folder) -> (Child, String) {
    let mut server = folder
        .command(&["ui", "--no-browser"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut address = String::new();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    output.read_line(&mut address).unwrap();
    (server, address.trim().to_string())
}

/// Where screenshots go, if they are wanted.
fn screenshots() -> Option<PathBuf> {
    std::env::var_os("VEILPATH_SCREENSHOTS")?;
    let folder = root().join("target/ui-screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    Some(folder)
}

fn format_file(name: &str) -> PathBuf {
    root().join("testdata/formats").join(name)
}

#[test]
fn a_user_goes_from_a_file_to_a_report() {
    let Some(user) = Institution::start() else {
        return;
    };
    user.fits("start");
    // Fixations of two groups on two scenes.
    let call = "synth lifelike --stimuli 2 --seed 7 --groups patients=6,controls=6 --difference 0.6 --as fixations -o fixations.csv";
    user.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    user.drop_files(&[user.folder.path().join("fixations.csv")]);
    // Only the user knows the size of the screen.
    user.set("read-screen", "1280x720");
    let browser = &user.browser;
    browser.wait_for("document.querySelector('.files td.number')?.textContent.includes(' of ')");
    assert!(user.state()["problem"].is_null());
    user.fits("data");

    user.step("encode");
    browser.wait_for("document.querySelector('.canvas').dataset.drawn");
    let letters = || browser.texts(".letters-table code").join(",");
    let before = letters();
    browser.run("const input = document.getElementById('grid-columns'); input.value = 4; input.dispatchEvent(new Event('input'))");
    browser.wait_for("document.querySelector('.letters-table')");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while letters() == before && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_ne!(letters(), before, "the letters follow the slider");
    assert_eq!(user.state()["letters"]["grid"], "4x7");
    user.fits("encode");
    areas_become_letters(&user);

    user.step("compare");
    user.set("plan-metric", "scanmatch");
    browser.click("#compare");
    browser.wait_for("document.getElementById('result')");
    let result = browser.texts("#result pre").concat();
    assert!(result.contains("scanmatch"), "{result}");
    // The recordings name groups.
    assert!(result.contains("patients"), "{result}");
    let font = "const font = (place) => getComputedStyle(document.querySelector(place)).fontFamily; return font('#result > pre.words') === font('body')";
    assert_eq!(
        browser.run(font),
        true,
        "sentences have the font of the page"
    );
    user.fits("compare");
    the_report_is_inside(browser);
    the_shown_commands_do_the_same(&user);
    user.no_complaints();
}

fn areas_become_letters(user: &Institution) {
    let browser = &user.browser;
    browser.click("#placing-areas");
    browser.wait_for("document.getElementById('tool-rectangle')?.closest('[hidden]') === null");
    // On the keyboard, Enter adds an area and the arrow keys move it.
    browser.run("document.querySelectorAll('.canvas canvas')[1].focus()");
    browser.press("\u{e007}");
    browser.press("\u{e012}\u{e012}");
    browser.wait_for("document.getElementById('area-0')");
    user.fits("areas");
    let areas = |state: &Value| state["cohorts"][0]["encoding"]["areas"] == "area 1";
    user.wait_until("the area is a letter", areas);
    let areas = user.get("/api/areas");
    assert!(areas.contains("area 1,rectangle,"), "{areas}");
    // The command on the screen does the same with the saved areas.
    user.folder.file("areas.csv", areas);
    let commands = user.state()["commands"]["encode"].clone();
    let words = shell_words(commands[0].as_str().unwrap());
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    user.folder.run(&words).ok();
    assert_eq!(user.folder.read("first.csv"), user.get("/api/cohorts/0"));
    std::fs::remove_file(user.folder.path().join("first.csv")).unwrap();
    browser.click("#placing-grid");
    browser.wait_for("document.getElementById('grid-columns')");
    let grid = |state: &Value| state["cohorts"][0]["encoding"]["grid"] == "4x7";
    user.wait_until("the grid is back", grid);
}

fn the_report_is_inside(browser: &Browser) {
    let page = browser.run(
        "const frame = document.querySelector('#report iframe'); return fetch(frame.src).then((answer) => answer.text())",
    );
    let page = page.as_str().unwrap();
    assert!(page.contains("What was computed") && page.contains("heat"));
    // The report cannot reach the page around it.
    let inner = browser.run("return document.querySelector('#report iframe').contentDocument");
    assert!(inner.is_null());
}

/// Runs the commands on the screen, with the file that was dropped, and compares what they write.
fn the_shown_commands_do_the_same(user: &Institution) {
    let commands = user.state()["commands"].clone();
    let lines = |step: &str| -> Vec<String> {
        let lines = commands[step].as_array().unwrap().iter();
        lines.map(|it| it.as_str().unwrap().to_string()).collect()
    };
    for line in lines("encode").iter().chain(&lines("compare")) {
        let words: Vec<String> = shell_words(line);
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        user.folder.run(&words).ok();
    }
    assert_eq!(user.folder.read("first.csv"), user.get("/api/cohorts/0"));
    let ours: Value = serde_json::from_str(&user.folder.read("scores.json")).unwrap();
    let theirs: Value = serde_json::from_str(&user.export("result", "json")).unwrap();
    for part in ["spec", "results", "a", "b", "names"] {
        assert_eq!(ours[part], theirs[part], "{part}");
    }
}

/// Splits a line into words, with single quotes as in a shell.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// Files that are dropped together are read together, metadata included, and every refusal is shown.
#[test]
fn dropped_files_are_read_with_their_metadata_and_refusals_stay_visible() {
    let Some(user) = Institution::start() else {
        return;
    };
    let sheet = "PK\u{3}\u{4}\u{14}\u{0}xl/workbook.xml";
    user.folder.file("sheet.xlsx", sheet);
    let recording = "bids/sub-01_task-search_run-1_recording-eye1_physio";
    user.drop_files(&[
        user.folder.path().join("sheet.xlsx"),
        format_file(&format!("{recording}.tsv.gz")),
        format_file(&format!("{recording}.json")),
        format_file("bids/task-search_events.json"),
    ]);
    let message = user.browser.texts("#status").concat();
    assert_eq!(message, "3 files read.");
    let refused = user.browser.texts("#alert").concat();
    assert!(refused.contains("this is a spreadsheet"), "{refused}");
    let state = user.state();
    assert!(state["problem"].is_null(), "{}", state["problem"]);
    assert_eq!(state["cohorts"][0]["participants"], 1);
}

#[test]
fn hostile_names_and_contents_stay_text() {
    let Some(user) = Institution::start() else {
        return;
    };
    let name = "<img src=x onerror=document.title='owned'>.csv";
    let attack = "\"<script>document.title='owned'</script>\",\"<b>s</b>\",ABCA\n";
    let table =
        format!("participant,stimulus,scanpath\n{attack}javascript:alert(1),\u{202e}evil,CAB\n");
    user.folder.file(name, table);
    user.drop_files(&[user.folder.path().join(name)]);
    for step in ["data", "encode", "compare", "partner"] {
        user.step(step);
        assert_ne!(user.browser.run("return document.title"), json!("owned"));
        let made = user
            .browser
            .run("return document.querySelectorAll('main img, main b, main script').length");
        assert_eq!(made, json!(0), "{step}");
    }
    user.step("encode");
    let shown = user.browser.texts(".letters-table th").concat();
    assert!(shown.contains("<script>document.title"), "{shown}");
    user.fits("hostile");
    user.no_complaints();
}

/// The program keeps running when its page is closed. A second page at the same address shows the same.
#[test]
fn a_page_can_be_opened_again() {
    let Some(user) = Institution::start() else {
        return;
    };
    let clinic = root().join("testdata/demo/clinic.csv");
    user.drop_files(&[clinic]);
    user.browser.open_url("about:blank");
    user.browser.open_url(&user.address);
    user.browser
        .wait_for("document.querySelectorAll('.files tbody tr').length === 1");
    let shown = user.browser.run("return location.href");
    assert!(!shown.as_str().unwrap().contains("token"), "{shown}");
    user.no_complaints();
}
