//! The page without a mouse, and for screen readers.

use super::Institution;
use super::partner::{connect, introduced};
use crate::common::root;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";
const SPACE: &str = " ";
const RIGHT: &str = "\u{e014}";
const DOWN: &str = "\u{e015}";

/// Moves to an element with only the Tab key.
fn tab_to(user: &Institution, id: &str) {
    for _ in 0..80 {
        let active = user.browser.run("return document.activeElement?.id ?? ''");
        if active == json!(id) {
            let outline = user
                .browser
                .run("return getComputedStyle(document.activeElement).outlineStyle");
            assert_ne!(outline, json!("none"), "{id} shows that it has the focus");
            return;
        }
        user.browser.press(TAB);
    }
    panic!("{id} cannot be reached with the keyboard");
}

#[test]
fn every_step_works_with_the_keyboard_alone() {
    let Some(user) = Institution::start() else {
        return;
    };
    let browser = &user.browser;
    // The first link skips the steps without leaving the current one.
    user.step("compare");
    browser.run("document.querySelector('.skip').focus()");
    browser.press(ENTER);
    let place = browser.run("return [location.hash, document.activeElement?.id]");
    assert_eq!(place, json!(["#compare", "step"]));
    browser.run("location.hash = '#constructor'");
    browser.wait_for("document.getElementById('example')");
    tab_to(&user, "example");
    browser.press(ENTER);
    browser.wait_for("document.querySelectorAll('.files tbody tr').length === 1");
    tab_to(&user, "to-encode");
    browser.press(ENTER);
    browser.wait_for("document.getElementById('grid-columns')");
    tab_to(&user, "grid-columns");
    browser.press(RIGHT);
    browser.wait_for("document.getElementById('grid-columns')?.value === '8'");
    tab_to(&user, "to-compare");
    browser.press(ENTER);
    browser.wait_for("document.getElementById('plan-metric')");
    tab_to(&user, "plan-metric");
    browser.press(DOWN);
    browser.wait_for("document.getElementById('plan-metric')?.value === 'scanmatch'");
    tab_to(&user, "compare");
    browser.press(SPACE);
    browser.wait_for("document.getElementById('result')");
    assert_eq!(user.state()["letters"]["grid"], "8x7");
    user.no_complaints();
}

/// The script of axe, from npm, which checks the page. Without it, returns `None` and prints a message.
fn axe() -> Option<String> {
    let folder: PathBuf = root().join("target/tools/axe");
    let file = folder.join("node_modules/axe-core/axe.min.js");
    if !file.is_file() {
        std::fs::create_dir_all(&folder).unwrap();
        let arguments = [
            "install",
            "--no-save",
            "--ignore-scripts",
            "--silent",
            "--no-audit",
            "--no-fund",
            "axe-core@4.14.0",
        ];
        let _ = Command::new("npm")
            .args(arguments)
            .current_dir(&folder)
            .output();
    }
    let script = std::fs::read_to_string(&file);
    if script.is_err() {
        let notice = "\n*** SKIPPED: axe-core could not be had from npm, so the page was NOT checked for accessibility. ***\n";
        std::io::stderr().write_all(notice.as_bytes()).unwrap();
    }
    script.ok()
}

fn check(user: &Institution, axe: &str, step: &str) {
    // Injected from outside, because the page's content security policy would block it.
    user.browser
        .devtools("Runtime.evaluate", &json!({"expression": axe}));
    let script = "return axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], iframes: false }).then((found) => found.violations.map((it) => [it.id, it.nodes.map((node) => node.html.slice(0, 200) + ' ' + node.failureSummary)]))";
    let found: Value = user.browser.run(script);
    assert_eq!(found, json!([]), "{step}: {found:#}");
}

#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn every_step_passes_axe() {
    let Some(axe) = axe() else {
        return;
    };
    let Some(user) = Institution::start() else {
        return;
    };
    check(&user, &axe, "start");
    user.browser.click("#example");
    user.browser
        .wait_for("document.querySelectorAll('.files tbody tr').length === 1");
    for theme in ["light", "dark"] {
        let features = json!([{"name": "prefers-color-scheme", "value": theme}]);
        user.browser
            .devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
        for step in ["data", "encode", "compare", "partner"] {
            user.step(step);
            if step == "compare" && user.state()["result"].is_null() {
                user.browser.click("#compare");
                user.browser.wait_for("document.getElementById('result')");
            }
            if step == "partner" && theme == "light" {
                user.browser.click("#show-identity");
                user.browser
                    .wait_for("document.getElementById('own-fingerprint')");
            }
            check_all(&user, &axe, &format!("{step}, {theme}"));
        }
    }
    // The page with areas, and with an error.
    user.step("encode");
    user.browser.click("#placing-areas");
    user.browser
        .wait_for("document.querySelector('.hint') && document.getElementById('tool-polygon')");
    check_all(&user, &axe, "no areas yet");
    user.browser
        .run("document.querySelector('.canvas canvas:last-child').focus()");
    user.browser.press(ENTER);
    user.browser
        .wait_for("document.getElementById('area-0') && !document.querySelector('.hint')");
    check_all(&user, &axe, "areas");
    user.step("data");
    user.set("read-screen", "nothing");
    user.browser
        .wait_for("document.querySelector('#problem.problem')");
    check_all(&user, &axe, "problem");
}

/// Checks the agreement, result and record at both sides.
#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn a_session_passes_axe() {
    let Some(axe) = axe() else {
        return;
    };
    let Some((host, join)) = introduced() else {
        return;
    };
    check_all(&host, &axe, "introduced");
    connect(&host, &join);
    for side in [&host, &join] {
        side.browser
            .wait_for("document.querySelector('#start:enabled')");
        check_all(side, &axe, "agreed");
        side.browser.click("#start");
    }
    for side in [&host, &join] {
        side.browser
            .wait_for("document.getElementById('result') && document.getElementById('record')");
        check_all(side, &axe, "finished");
    }
}

/// Checks the current page on a desktop and on a phone, with everything expanded.
fn check_all(user: &Institution, axe: &str, step: &str) {
    let browser = &user.browser;
    browser.run("for (const it of document.querySelectorAll('details')) it.open = true");
    check(user, axe, step);
    let phone = json!({"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": false});
    browser.devtools("Emulation.setDeviceMetricsOverride", &phone);
    check(user, axe, &format!("{step}, on a phone"));
    browser.devtools("Emulation.clearDeviceMetricsOverride", &json!({}));
}
