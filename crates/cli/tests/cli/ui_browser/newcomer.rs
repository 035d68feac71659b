//! The first steps of a newcomer, with synthetic data.

use super::Institution;
use super::partner::{connect, identify, send_invitation};
use crate::common::root;
use serde_json::json;

fn takes(side: &Institution, button: &str) {
    side.browser.click(button);
    side.browser
        .wait_for("document.querySelectorAll('.files tbody tr').length === 1");
    side.wait_until("the groups are known", |state| {
        state["cohorts"][0]["groups"] == json!({"expert": 6, "novice": 6})
    });
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn made_up_data_is_enough_for_a_private_comparison_of_groups() {
    let Some((host, join)) = Institution::start().zip(Institution::start()) else {
        return;
    };
    takes(&host, "#example");
    takes(&join, "#example-partner");
    identify(&host, "Clinic");
    identify(&join, "University");
    host.set("listen", "127.0.0.1:0");
    host.set("address", "127.0.0.1:7070");
    host.set("partner-reveal", "groups");
    send_invitation(&host, &join);
    let status = |side: &Institution| side.browser.texts("#status").concat();
    assert_eq!(status(&join), "The partner’s file was opened.");
    send_invitation(&join, &host);
    // No setting has to be changed.
    for side in [&host, &join] {
        assert_eq!(side.browser.texts("#limits"), [] as [String; 0]);
    }
    connect(&host, &join);
    for side in [&host, &join] {
        side.browser
            .wait_for("document.querySelector('#start:enabled')");
        assert_eq!(status(side), "");
        side.browser.click("#start");
    }
    for side in [&host, &join] {
        side.browser.wait_for("document.getElementById('result')");
        // The cost is hidden under a heading.
        let shown = side
            .browser
            .texts("#result > pre, #result > .statistics")
            .concat();
        assert!(
            shown.contains("expert") && shown.contains("novice"),
            "{shown}"
        );
        assert!(!shown.contains("matrix cell"), "{shown}");
        side.browser.wait_for("document.getElementById('record')");
    }
    let csv = [&host, &join].map(|side| side.export("partner_result", "csv"));
    assert_eq!(csv[0], csv[1]);
    the_record_fits(&join);
    a_result_stays_when_recordings_change(&host);
    host.no_complaints();
    join.no_complaints();
}

/// The record fits on a phone and on a desktop.
fn the_record_fits(side: &Institution) {
    for width in [390, 1280] {
        let window =
            json!({"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": false});
        side.browser
            .devtools("Emulation.setDeviceMetricsOverride", &window);
        let hidden = "const box = document.querySelector('#record .scroll'); return box.scrollWidth - box.clientWidth";
        assert_eq!(side.browser.run(hidden), 0, "{width}");
    }
    side.browser
        .devtools("Emulation.clearDeviceMetricsOverride", &json!({}));
}

/// A session cannot be repeated at will, so its result is kept and marked.
fn a_result_stays_when_recordings_change(side: &Institution) {
    let browser = &side.browser;
    let remove = || {
        side.step("data");
        browser.click("[id^=remove-]");
        browser.wait_for("document.getElementById('example')");
    };
    let is_marked = |missing: &str| {
        side.step("partner");
        browser.wait_for(&format!(
            "document.getElementById('missing')?.textContent.includes({missing:?})"
        ));
        assert_eq!(
            browser.texts("#result > .warning"),
            ["Recordings have changed since this session."]
        );
        for part in ["#result .exports", "#record table", "#report iframe"] {
            assert_eq!(browser.texts(part).len(), 1, "{part}");
        }
    };
    remove();
    is_marked("recordings are missing");
    side.step("data");
    side.folder
        .file("table.csv", "who;left;top\nanna;1.5;2.5\n");
    side.drop_files(&[side.folder.path().join("table.csv")]);
    let announced = || browser.texts("#announced").concat();
    browser.wait_for("document.getElementById('announced').textContent !== ''");
    assert!(announced().starts_with("table.csv"), "{}", announced());
    is_marked("cannot be read yet");
    // With the same recordings as before, the result is up to date, and another session can start.
    remove();
    browser.wait_for("document.getElementById('announced').textContent === ''");
    takes(side, "#example");
    side.step("partner");
    browser.wait_for("document.getElementById('connect')");
    let titles = browser.texts("#result h2");
    assert_eq!(titles, ["Result of the last session"]);
    assert_eq!(browser.texts("#result > .warning"), [] as [String; 0]);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn results_and_problems_of_earlier_settings_are_marked_or_gone() {
    let Some(user) = Institution::start() else {
        return;
    };
    let browser = &user.browser;
    takes(&user, "#example");
    user.step("compare");
    browser.click("#compare");
    browser.wait_for("document.querySelector('#result h2')?.textContent === 'Result'");
    browser.wait_for("document.getElementById('status').textContent.includes('finished')");
    user.set("plan-metric", "scanmatch");
    let is_old =
        "document.querySelector('#result h2').textContent === 'Result of earlier settings'";
    browser.wait_for(is_old);
    assert_eq!(browser.texts("#status"), [""]);
    user.set("plan-metric", "levenshtein");
    browser.wait_for("document.querySelector('#result h2').textContent === 'Result'");
    // A metric that needs fixations is refused; another metric is not.
    user.set("plan-metric", "multimatch");
    browser.click("#compare");
    browser.wait_for("document.querySelector('#comparison .problem')");
    user.set("plan-metric", "levenshtein");
    browser.wait_for("!document.querySelector('#comparison .problem')");
    user.no_complaints();
}

/// The sliders are next to the picture, and its caption says how many fixations become letters.
#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn the_picture_is_beside_its_sliders_and_explains_its_numbers() {
    let Some(user) = Institution::start() else {
        return;
    };
    let browser = &user.browser;
    let table = "participant,stimulus,x,y,duration\np,s,100,100,200\np,s,900,300,200\np,s,1400,300,200\nq,s,200,700,200\nq,s,200,750,200\n";
    user.folder.file("fixations.csv", table);
    user.drop_files(&[user.folder.path().join("fixations.csv")]);
    user.set("read-screen", "1280x720");
    user.step("encode");
    browser.wait_for("document.querySelector('.canvas').dataset.drawn === '5'");
    let caption = || browser.texts("#picture-caption").concat();
    let expected =
        "5 fixations of 2 recordings. 2 of them are outside the stimulus and are left out.";
    assert!(caption().starts_with(expected), "{}", caption());
    let used = user.state()["cohorts"][0]["summary"]["files"][0]["rows_used"].clone();
    assert_eq!(used, 3);
    user.set("outside", "clamp");
    browser.wait_for(
        "!document.getElementById('picture-caption').textContent.includes('outside the')",
    );
    let window = json!({"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": false});
    browser.devtools("Emulation.setDeviceMetricsOverride", &window);
    let bottom = "return document.getElementById('grid-rows').getBoundingClientRect().bottom";
    let bottom = browser.run(bottom).as_f64().unwrap();
    assert!(bottom < 900.0, "{bottom}");
    user.fits("encode-newcomer");
    user.no_complaints();
}

/// Four participants are too few for a mean, so the page offers what fits.
#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn a_refused_answer_comes_with_one_that_fits() {
    let Some(user) = Institution::start() else {
        return;
    };
    let browser = &user.browser;
    user.drop_files(&[root().join("testdata/demo/clinic.csv")]);
    identify(&user, "Clinic");
    browser.wait_for("document.querySelector('#limits #smaller-groups')");
    // Scores would reveal more about each person than the refused answer.
    let offered = browser.texts("#instead button");
    assert_eq!(offered, ["allow groups of 4, if the partner agrees"]);
    let reason = browser.texts("#before-connecting").concat();
    assert!(reason.contains("would be refused"), "{reason}");
    browser.wait_for("document.querySelector('#connect:not(.primary)')");
    browser.click("#smaller-groups");
    browser.wait_for("!document.getElementById('limits')");
    assert_eq!(user.state()["partner"]["minimum_group"], "4");
    browser.wait_for("document.querySelector('#connect.primary')");
    let shown = "const input = document.getElementById('minimum-group'); const { top, bottom } = input.getBoundingClientRect(); return [input.checkVisibility(), document.activeElement === input, top >= 0 && bottom <= innerHeight]";
    assert_eq!(browser.run(shown), json!([true, true, true]));
    // A policy may require more participants.
    let partner = "ab".repeat(32);
    let policy = format!(
        "expires = 2099-12-31\nmetrics = [\"levenshtein\"]\nanswers = [\"mean\"]\nminimum_group = 8\n\
         [[partners]]\nname = \"University\"\nfingerprint = \"{partner}\"\n"
    );
    user.folder.file("home/policy.toml", policy);
    user.set("minimum-group", "");
    browser.wait_for("document.querySelector('#limits')?.textContent.includes('fewer than 8')");
    assert_eq!(browser.texts("#instead"), [] as [String; 0]);
    browser.wait_for("document.getElementById('minimum-group').placeholder === '8'");
    user.no_complaints();
}
