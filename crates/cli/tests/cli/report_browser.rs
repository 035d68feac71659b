//! The report in a real browser: Chromium. Without it, the tests are skipped with a message.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test's helpers may fail the test
#![cfg(unix)] // the paths of files and programs below are those of Unix

mod long_names;

use crate::common;
use crate::common::webdriver;

use common::{Folder, root};
use serde_json::{Value, json};
use webdriver::Browser;

const ARROW_RIGHT: &str = "\u{e014}";
const ARROW_DOWN: &str = "\u{e015}";
const ENTER: &str = "\u{e007}";

/// A folder with the demo's cohorts, their result, and a cohort compared with itself.
fn prepared() -> Folder {
    let folder = Folder::new();
    for name in ["clinic.csv", "university.csv"] {
        let content = std::fs::read(root().join("testdata/demo").join(name)).unwrap();
        folder.file(name, content);
    }
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    run("compare clinic.csv university.csv --metric scanmatch -q -o scores.json");
    run("report scores.json -o report.html --cohort clinic.csv");
    run("compare clinic.csv clinic.csv -q -o self.json");
    run("report self.json -o self.html");
    folder
}

/// Where an element is in the window: left, top, width, height.
fn place(browser: &Browser, selector: &str) -> [usize; 4] {
    let script = format!(
        "const box = document.querySelector({selector:?}).getBoundingClientRect(); \
         return [box.left, box.top, box.width, box.height].map((side) => Math.max(0, Math.round(side)))"
    );
    let found = browser.run(&script);
    std::array::from_fn(|at| usize::try_from(found[at].as_u64().unwrap()).unwrap())
}

fn show(browser: &Browser, selector: &str) {
    browser.run(&format!(
        "document.querySelector({selector:?}).scrollIntoView({{block: 'center'}})"
    ));
}

fn count(browser: &Browser, selector: &str) -> u64 {
    browser
        .run(&format!(
            "return document.querySelectorAll({selector:?}).length"
        ))
        .as_u64()
        .unwrap()
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = prepared();
    browser.open(&folder.path().join("report.html"));
    assert_eq!(
        browser.console(),
        [] as [String; 0],
        "no errors, no warnings"
    );
    all_figures_are_there(&browser);
    views_are_chosen(&browser);
    hovering_tells_ids_and_score(&browser, &folder);
    tables_sort(&browser);
    light_and_dark_differ(&browser);
    a_phone_needs_no_sideways_scrolling(&browser);
    assert_eq!(
        browser.console(),
        [] as [String; 0],
        "nothing went wrong on the way"
    );
    browser.open(&folder.path().join("self.html"));
    assert_eq!(
        count(&browser, "#view-0 figure.map circle"),
        4,
        "the map of a cohort with itself"
    );
    assert_eq!(browser.console(), [] as [String; 0]);
}

fn all_figures_are_there(browser: &Browser) {
    assert_eq!(count(browser, "figure.heat"), 3, "the mean and two scenes");
    assert_eq!(count(browser, "figure.histogram svg"), 3);
    assert_eq!(count(browser, "#scanpaths figure.card"), 8);
    let decoded = browser.run("return [...document.querySelectorAll('svg image')].every((image) => image.href.baseVal.startsWith('data:image/'))");
    assert_eq!(decoded, Value::Bool(true));
    for heading in [
        "What was computed",
        "What each side learned",
        "Cost and time",
        "By stimulus",
        "Your own scanpaths",
    ] {
        assert!(
            browser.texts("h2").iter().any(|text| text == heading),
            "{heading}"
        );
    }
    show(browser, "#view-0 .heat svg");
    let tiles = place(browser, "#view-0 .heat .tiles");
    assert!(
        browser.screenshot().colours(tiles) >= 4,
        "the tiles have colours"
    );
    let spread = place(browser, "#view-0 .histogram svg");
    assert!(
        browser.screenshot().colours(spread) >= 4,
        "the bars have colours"
    );
    show(browser, "#scanpaths .card svg");
    assert!(
        browser
            .screenshot()
            .colours(place(browser, "#scanpaths .card svg"))
            >= 4,
        "the way has colours"
    );
}

fn views_are_chosen(browser: &Browser) {
    let shown = || {
        browser.run("return [...document.querySelectorAll('section.view')].filter((view) => view.offsetHeight > 0).map((view) => view.id)")
    };
    assert_eq!(shown(), json!(["view-0"]));
    let choose = |value: &str| {
        browser.run(&format!("const pick = document.getElementById('pick'); pick.value = {value:?}; pick.dispatchEvent(new Event('change'))"));
    };
    choose("2");
    assert_eq!(shown(), json!(["view-2"]));
    choose("all");
    assert_eq!(shown(), json!(["view-0", "view-1", "view-2"]));
    choose("1");
}

fn hovering_tells_ids_and_score(browser: &Browser, folder: &Folder) {
    let results: Value = serde_json::from_str(&folder.read("scores.json")).unwrap();
    // Four tiles meet at the centre; a little to the right and above is the third tile of the second row.
    browser.hover("#view-1 .heat .tiles", [10, -10]);
    let tip = browser.texts("#tip").concat();
    let mut lines = tip.lines();
    let a = lines.next().unwrap().strip_prefix("clinic: ").unwrap();
    let b = lines.next().unwrap().strip_prefix("university: ").unwrap();
    let message = lines.next().unwrap().strip_prefix("similarity ").unwrap();
    let message = message.split(',').next().unwrap();
    let row = results["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["a"] == a && row["b"] == b && row["stimulus"] == "scene-1");
    let similarity = row.expect("a pair of the file")["similarity"]
        .as_f64()
        .unwrap();
    assert!(
        (similarity - message.parse::<f64>().unwrap()).abs() < 1e-4,
        "{tip}"
    );
    assert_eq!(browser.texts("#view-1 .heat .rows text")[1], a);
    assert_eq!(browser.texts("#view-1 .heat .columns text")[2], b);
    let visible = "return !document.getElementById('tip').hidden";
    assert_eq!(browser.run(visible), Value::Bool(true));
    browser.hover("h1", [0, 0]);
    assert_eq!(
        browser.run(visible),
        Value::Bool(false),
        "the words go with the pointer"
    );

    // The arrow keys also move from tile to tile.
    browser.run("document.querySelector('#view-1 .heat .scroll').focus()");
    browser.press(ARROW_DOWN);
    let first = browser.texts("#tip").concat();
    browser.press(ARROW_RIGHT);
    let second = browser.texts("#tip").concat();
    assert_eq!(browser.run(visible), Value::Bool(true));
    assert_eq!(first.lines().next(), second.lines().next(), "the same row");
    assert_ne!(
        first.lines().nth(1),
        second.lines().nth(1),
        "another column"
    );
}

fn tables_sort(browser: &Browser) {
    let column = |at: usize| {
        browser.texts(&format!(
            "#view-1 .below > div:first-child tbody tr > :nth-child({at})"
        ))
    };
    let numbers = || -> Vec<f64> { column(3).iter().map(|text| text.parse().unwrap()).collect() };
    let head = |at: usize| format!("#view-1 .below > div:first-child thead th:nth-child({at})");
    browser.click(&format!("{} button", head(3)));
    let up = numbers();
    assert!(up.is_sorted() && up.len() == 4, "{up:?}");
    browser.click(&format!("{} button", head(3)));
    assert!(
        numbers().iter().rev().is_sorted(),
        "the other way at the second click"
    );
    let order = browser.run(&format!(
        "return document.querySelector({:?}).getAttribute('aria-sort')",
        head(3)
    ));
    assert_eq!(order, "descending");
    browser.run(&format!(
        "document.querySelector({:?}).focus()",
        format!("{} button", head(1))
    ));
    browser.press(ENTER);
    assert!(column(1).is_sorted(), "by keyboard");
}

fn light_and_dark_differ(browser: &Browser) {
    let prefer = |scheme: &str| {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        browser.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
        browser.run("scrollTo(0, 0)");
        browser.screenshot()
    };
    let light = prefer("light");
    let whole = [0, 0, light.width, light.height];
    assert!(
        light.brightness(whole) > 200.0,
        "{}",
        light.brightness(whole)
    );
    let dark = prefer("dark");
    assert!(dark.brightness(whole) < 70.0, "{}", dark.brightness(whole));
    assert_eq!((light.width, light.height), (dark.width, dark.height));
    browser.click("#theme");
    let chosen = browser.screenshot().brightness(whole);
    assert!(chosen > 200.0, "the button turns dark to light: {chosen}");
    browser.click("#theme");
    prefer("light");
    let kept = browser.screenshot().brightness(whole);
    assert!(kept < 70.0, "what was chosen stays: {kept}");
    browser.click("#theme");
}

fn a_phone_needs_no_sideways_scrolling(browser: &Browser) {
    let phone = json!({"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": true});
    browser.devtools("Emulation.setDeviceMetricsOverride", &phone);
    fits_a_phone(browser);
    let sizes = browser.run("return [...document.querySelectorAll('p, dd, td')].every((text) => parseFloat(getComputedStyle(text).fontSize) >= 13)");
    assert_eq!(sizes, Value::Bool(true), "words stay readable");
    browser.devtools("Emulation.clearDeviceMetricsOverride", &json!({}));
}

fn fits_a_phone(browser: &Browser) {
    let wide = browser.run("return [document.documentElement.scrollWidth, innerWidth]");
    assert_eq!(wide, json!([390, 390]), "the page does not scroll sideways");
    // The row ids are next to the tiles, without scrolling.
    let rows = browser.run(
        "return [...document.querySelectorAll('.view:not([hidden]) .heat .rows')] \
           .map((rows) => rows.getBoundingClientRect()) \
           .filter((box) => box.width > 0) \
           .map((box) => box.left >= 0 && box.right <= innerWidth)",
    );
    assert_eq!(rows, json!([true]), "one heat map, with its row names");
}

/// A file with two outputs of two stimuli, and one undefined number; and two scanpaths side by side.
#[test]
fn measures_and_own_figures_work_in_a_browser() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = prepared();
    let rows = "p,x,one,25,40\np,y,one,0,\nq,x,one,12,0\nq,y,one,50,80\np,x,two,20,30\n";
    folder.file("several.csv", format!("a,b,stimulus,rec,det\n{rows}"));
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    run("report several.csv -o several.html");
    run("report self.json -o pair.html --cohort clinic.csv --pair expert-1 novice-2 --radius 1");
    browser.open(&folder.path().join("several.html"));
    let shown = || {
        browser.run("return [...document.querySelectorAll('section.view')].filter((view) => view.offsetHeight > 0).map((view) => view.querySelector('h2').textContent)")
    };
    assert_eq!(shown(), json!(["rec: Mean over 2 stimuli"]));
    let choose = |id: &str, value: &str| {
        browser.run(&format!("const pick = document.getElementById({id:?}); pick.value = {value:?}; pick.dispatchEvent(new Event('change'))"));
    };
    choose("pick-measure", "1");
    assert_eq!(shown(), json!(["det: Mean over 2 stimuli"]));
    choose("pick", "1");
    assert_eq!(shown(), json!(["det: one"]));
    choose("pick-measure", "all");
    assert_eq!(shown(), json!(["rec: one", "det: one"]));
    choose("pick-measure", "1");
    let undefined = "const data = JSON.parse(document.querySelector('#view-4 script').textContent); \
                     return [data.a.indexOf('p'), data.b.indexOf('y')]";
    let place = browser.run(undefined);
    // The arrow keys start at the first tile and stop at the edges.
    browser.run("document.querySelector('#view-4 .heat .scroll').focus()");
    browser.press(ARROW_DOWN);
    if place[0] == 1 {
        browser.press(ARROW_DOWN);
    }
    if place[1] == 1 {
        browser.press(ARROW_RIGHT);
    }
    let tip = browser.texts("#tip").concat();
    assert_eq!(
        tip,
        "the first cohort: p\nthe second cohort: y\ndet undefined"
    );

    let phone = json!({"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": true});
    browser.devtools("Emulation.setDeviceMetricsOverride", &phone);
    fits_a_phone(&browser);
    browser.open(&folder.path().join("pair.html"));
    fits_a_phone(&browser);
    assert_eq!(count(&browser, "#sequences .scarf svg"), 8);
    assert_eq!(count(&browser, "#pairs .alignment"), 2, "two stimuli");
    assert_eq!(count(&browser, "#pairs svg.recurrence"), 2);
    let matrices = "return [...document.querySelectorAll('figure.transitions')].map((one) => one.offsetHeight > 0)";
    assert_eq!(browser.run(matrices), json!([true, false, false]));
    for figure in [
        "#sequences .scarf svg",
        "#pairs svg.recurrence",
        "#pairs .alignment",
    ] {
        show(&browser, figure);
        let colours = browser.screenshot().colours(self::place(&browser, figure));
        assert!(colours >= 2, "{figure}: {colours}");
    }
    assert_eq!(browser.console(), [] as [String; 0]);
}

/// The ids in this file would run as scripts if anything let them.
#[test]
fn hostile_ids_do_nothing_in_a_browser() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = Folder::new();
    let evil = "</script><script>document.title='owned'</script><img src=x onerror=document.title='owned'>";
    let cohort = |text: &str| {
        let rows = [0, 1].map(|at| format!("{evil}{at},{evil},{text}\n"));
        format!("participant,stimulus,scanpath\n{}", rows.concat())
    };
    folder.file("a.csv", cohort("ABC"));
    folder.file("b.csv", cohort("ABD"));
    let names = format!("{evil},second");
    let call = [
        "compare",
        "a.csv",
        "b.csv",
        "-q",
        "-o",
        "evil.json",
        "--names",
        &names,
    ];
    folder.run(&call).ok();
    folder.run(&["report", "evil.json", "-o", "evil.html"]).ok();
    browser.open(&folder.path().join("evil.html"));
    browser.hover("#view-0 .heat .tiles", [-10, -10]);
    assert!(
        browser.texts("#tip").concat().contains("<img src=x"),
        "as text"
    );
    assert_eq!(count(&browser, "img"), 0);
    assert_ne!(browser.run("return document.title"), "owned");
    assert_eq!(browser.console(), [] as [String; 0]);
}
