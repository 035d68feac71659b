//! The page and its pictures.
#![allow(clippy::unwrap_used, clippy::panic)] // test helpers may panic

mod answers;
#[path = "../common/mod.rs"]
mod common;
mod heat_map;
mod hostile;
mod measures;
mod order;
mod own;
mod scanpaths;
mod summaries;

use common::small;
use veilpath_protocol::Outcome;
use veilpath_report::ResultFile;
use veilpath_report::html::{Options, Report};

const HEADER: &str = "a,b,stimulus,score,similarity\n";

fn read(text: &str) -> ResultFile {
    ResultFile::read(text.as_bytes()).unwrap()
}

fn page_with(file: &ResultFile, options: Options<'_>) -> String {
    let mut bytes = Vec::new();
    Report::new(file, options)
        .unwrap()
        .write_html(&mut bytes)
        .unwrap();
    String::from_utf8(bytes).unwrap()
}

fn page(text: &str) -> String {
    page_with(&read(text), Options::default())
}

fn page_of(outcome: Outcome) -> String {
    let options = Options {
        source: "scores.json",
        ..Options::default()
    };
    page_with(&outcome.into(), options)
}

fn svg(file: &ResultFile) -> String {
    let mut bytes = Vec::new();
    Report::new(file, Options::default())
        .unwrap()
        .write_svg(&mut bytes)
        .unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The picture's size, and its pixels as red, green, blue and opacity.
fn png(file: &ResultFile) -> (usize, usize, Vec<u8>) {
    let mut bytes = Vec::new();
    Report::new(file, Options::default())
        .unwrap()
        .write_png(&mut bytes)
        .unwrap();
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width as usize, info.height as usize, pixels)
}

/// The text between the first occurrences of two markers.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text
        .split_once(from)
        .unwrap_or_else(|| panic!("no {from}"))
        .1;
    rest.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
}

/// The whole page except its style, its script and the bytes of pictures.
#[test]
fn a_small_page() {
    let page = page_of(small());
    let page = page.replace(between(&page, "<style>", "</style>"), "…");
    let page = page.replace(between(&page, "<script>", "</script>"), "…");
    let page = page.replace(between(&page, "base64,", "\""), "…");
    let page = page
        .replace(between(&page, "style-src '", ";"), "…'")
        .replace(between(&page, "script-src '", ";"), "…'");
    insta::assert_snapshot!(page.replace("><", ">\n<"));
}

#[test]
fn the_cost_of_a_resumed_run_is_that_of_the_last_run() {
    let whole = page_of(small());
    let mut resumed = small();
    resumed.cost.pairs_from_journal = 3;
    let resumed = page_of(resumed);
    assert!(resumed.contains("3 pairs come from earlier runs"));
    assert!(resumed.contains("time of the last run"));
    assert!(!whole.contains("earlier runs") && !whole.contains("of the last run"));
}

#[test]
fn the_page_of_a_csv_file_says_what_is_missing() {
    let page = page(&format!("{HEADER}p,x,,3,\np,y,,4,\n"));
    for expected in [
        "A CSV file contains only the numbers of the pairs",
        "A CSV file does not contain this",
        "The file does not say whether a small or a large score means alike",
        "There is no table of nearest neighbours",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains("bright: alike"));
}

#[test]
fn names_and_title_can_be_set() {
    let page = page_of(small());
    assert!(page.contains("2 participants of Clinic with 2 of University"));
    assert!(page.contains("Clinic ↓") && page.contains("← University"));
    assert!(
        page.contains("Nearest neighbours of Clinic") && page.contains("nearest from University")
    );
    let names = ["North".to_string(), "South".to_string()];
    let options = Options {
        title: Some("Reading study"),
        names: Some(&names),
        ..Options::default()
    };
    let page = page_with(&small().into(), options);
    assert!(page.contains("<h1>Reading study</h1>") && page.contains("<title>Reading study"));
    assert!(page.contains("North ↓") && !page.contains("Clinic"));
}
