//! Names that are longer than a phone is wide.

use super::*;

/// Names of 60 letters and more, as some laboratories have them.
#[test]
fn long_names_fit_a_phone() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let folder = Folder::new();
    let cohort = |start: &str| {
        let row = |at: usize| {
            let id = match start {
                "centre" => format!("participant-of-the-longitudinal-study-of-reading-{at}"),
                _ => format!("{start}-{at}-participant-of-the-longitudinal-study-of-reading-2019"),
            };
            let stimulus = format!(
                "the-stimulus-with-the-longest-name-of-all-stimuli-{}",
                at % 2
            );
            format!("{id},{stimulus},ABC{}\n", "BCAD".repeat(at))
        };
        let rows: String = (0..12).map(row).collect();
        format!("participant,stimulus,scanpath\n{rows}")
    };
    folder.file("a.csv", cohort("centre"));
    folder.file("b.csv", cohort("laboratory"));
    let names = "The Centre for Longitudinal Studies of Reading and Writing,\
                 Another-Institution-With-One-Very-Long-Word-In-Its-Name";
    let compare = ["compare", "a.csv", "b.csv", "--names", names, "-q", "-o"];
    let title = "Supercalifragilistic".repeat(4);
    let report = ["report", "--title", &title];
    let run = |call: &[&[&str]]| folder.run(&call.concat()).ok();
    run(&[&compare, &["long.json"]]);
    run(&[
        &report,
        &[
            "long.json",
            "-o",
            "long.html",
            "--cohort",
            "a.csv",
            "--grid",
            "7x7",
        ],
    ]);
    run(&[&compare, &["bits.json", "--reveal", "threshold:9"]]);
    run(&[&report, &["bits.json", "-o", "bits.html"]]);
    let phone = json!({"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": true});
    browser.devtools("Emulation.setDeviceMetricsOverride", &phone);
    for page in ["long.html", "bits.html"] {
        browser.open(&folder.path().join(page));
        fits_a_phone(&browser);
        headers_stay_in_their_columns(&browser);
        tables_show_names_and_numbers(&browser, page);
        ids_are_different_and_in_the_drawing(&browser);
    }
    let wide = [3, 12, 30].map(|members| wide_letters(&folder, members));
    for page in &wide {
        browser.open(&folder.path().join(page));
        fits_a_phone(&browser);
        all_text_is_in_its_drawing(&browser, page);
    }
    browser.devtools("Emulation.clearDeviceMetricsOverride", &json!({}));
    for page in wide.iter().map(String::as_str).chain(["long.html"]) {
        browser.open(&folder.path().join(page));
        all_text_is_in_its_drawing(&browser, page);
    }
    ids_are_different_and_in_the_drawing(&browser);
}

/// Cohorts whose ids, names and stimulus consist of wide letters.
fn wide_letters(folder: &Folder, members: usize) -> String {
    let cohort = |file: &str, starts: [&str; 4]| {
        let id = |at: usize| format!("{}_{at:03x}", starts[at % 4]);
        let row = |at: usize| format!("{},SCENE,ABC{}\n", id(at), "BCAD".repeat(at % 12));
        let rows: String = (0..members).map(row).collect();
        folder.file(file, format!("participant,stimulus,scanpath\n{rows}"));
    };
    let wide = "W".repeat(30);
    cohort(
        "first.csv",
        [
            "PATIENT_MEMORY_GROUP",
            &wide,
            "ПАЦИЕНТКА_ЩЩЩЩЩЩЩЩЩ",
            "@@@@@@",
        ],
    );
    cohort(
        "second.csv",
        [
            "CONTROL_HAMBURG_WOMEN",
            "MMMMMMMMMMMMMMMMMMMM",
            "参加者参加者参加者参加者",
            &wide,
        ],
    );
    let run = |call: &[&str]| folder.run(call).ok();
    let names = format!("{wide},UNIVERSITY OF HAMBURG AND LONDON");
    run(&[
        "compare",
        "first.csv",
        "second.csv",
        "--names",
        &names,
        "-q",
        "-o",
        "wide.json",
        "--force",
    ]);
    let page = format!("wide-{members}.html");
    run(&["report", "wide.json", "-o", &page]);
    page
}

fn headers_stay_in_their_columns(browser: &Browser) {
    let wide = browser.run(
        "return [...document.querySelectorAll('.view:not([hidden]) .below thead th')] \
           .filter((th) => th.querySelector('button').getBoundingClientRect().right > th.getBoundingClientRect().right + 1) \
           .map((th) => th.textContent)",
    );
    assert_eq!(wide, json!([]), "headers that cover the next one");
}

/// Beside a name, the first number is in view, or the list below it; no row is taller than the window.
fn tables_show_names_and_numbers(browser: &Browser, page: &str) {
    let column = match page {
        "bits.html" => 5,
        _ => 3,
    };
    let found = browser.run(&format!(
        "const table = document.querySelector('.view:not([hidden]) .below table'); \
         const row = table.querySelector('tbody tr'), box = table.parentElement.getBoundingClientRect(); \
         const last = row.children[{column} - 1].getBoundingClientRect(); \
         const caption = document.createRange(); \
         caption.selectNodeContents(table.caption); \
         const top = (cell) => {{ const text = document.createRange(); text.selectNodeContents(cell); return Math.round(text.getBoundingClientRect().top); }}; \
         return [last.right <= box.right + 1, \
           caption.getBoundingClientRect().right <= box.right + 1, \
           row.getBoundingClientRect().height < 400, \
           top(row.children[0]) === top(row.children[1])]"
    ));
    assert_eq!(
        found,
        json!([true, true, true, true]),
        "{page}: the column, the caption, the height and the alignment of the names"
    );
}

fn ids_are_different_and_in_the_drawing(browser: &Browser) {
    let found = browser.run(
        "const svg = [...document.querySelectorAll('.view:not([hidden]) .heat svg')].find((svg) => svg.getBoundingClientRect().width > 0); \
         const edge = svg.getBoundingClientRect(); \
         return ['.rows text', '.columns text'].map((ids) => [...svg.querySelectorAll(ids)]).map((ids) => [ \
           ids.length, \
           new Set(ids.map((id) => id.textContent)).size, \
           ids.filter((id) => { const box = id.getBoundingClientRect(); return box.left < edge.left || box.right > edge.right; }).length \
         ])",
    );
    assert_eq!(
        found,
        json!([[12, 12, 0], [12, 12, 0]]),
        "all, different, outside"
    );
}

/// Every text of the heat map that is shown, such as ids, cohort names and the legend.
fn all_text_is_in_its_drawing(browser: &Browser, page: &str) {
    let outside = browser.run(
        "const svg = [...document.querySelectorAll('.view:not([hidden]) .heat svg')].find((svg) => svg.getBoundingClientRect().width > 0); \
         const edge = svg.getBoundingClientRect(); \
         const isOutside = (box) => box.left < Math.max(0, edge.left) || box.right > Math.min(innerWidth, edge.right) || box.top < edge.top || box.bottom > edge.bottom; \
         const texts = [...svg.querySelectorAll('text')]; \
         return [texts.length > 6, ...texts.filter((text) => isOutside(text.getBoundingClientRect())).map((text) => text.textContent)]",
    );
    assert_eq!(outside, json!([true]), "texts outside of {page}");
}
