//! The page, its heat map, and what hostile or odd files make of them.
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

use std::fmt::Write as _;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Grid};
use veilpath_report::ResultFile;
use veilpath_report::html::{Image, Options, Own, Report};

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
    page_with(
        &read(text),
        Options {
            source: "scores.json",
            ..Options::default()
        },
    )
}

fn svg(text: &str) -> String {
    let file = read(text);
    let mut bytes = Vec::new();
    Report::new(&file, Options::default())
        .unwrap()
        .write_svg(&mut bytes)
        .unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The picture's size and its pixels as red, green, blue and opacity.
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

/// The text between the first two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text
        .split_once(from)
        .unwrap_or_else(|| panic!("no {from}"))
        .1;
    rest.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
}

fn small() -> String {
    let mut rows = String::new();
    for (a, b, score) in [("p", "x", 2), ("p", "y", 7), ("q", "x", 8), ("q", "y", 1)] {
        let similarity = 1.0 - f64::from(score) / 10.0;
        let comma = if rows.is_empty() { "" } else { "," };
        let _ = write!(
            rows,
            "{comma}{{\"a\":\"{a}\",\"b\":\"{b}\",\"stimulus\":\"cows\",\"score\":{score},\"similarity\":{similarity}}}"
        );
    }
    format!(
        "{{\"spec\":{{\"engine\":\"plain\",\"metric\":{{\"name\":\"levenshtein\"}},\"pairs\":\"same-stimulus\"}},\"results\":[{rows}],\
         \"cost\":{{\"seconds\":0.25,\"bytes_sent\":1200,\"bytes_received\":34,\"rounds\":1,\"cells\":400}},\
         \"revealed\":[{{\"to\":\"host\",\"what\":\"the score of every pair\"}}]}}"
    )
}

/// The whole page but its style, its script and the bytes of pictures.
#[test]
fn a_small_page() {
    let page = page(&small());
    let page = page.replace(between(&page, "<style>", "</style>"), "…");
    let page = page.replace(between(&page, "<script>", "</script>"), "…");
    let page = page.replace(between(&page, "base64,", "\""), "…");
    let page = page
        .replace(between(&page, "style-src '", ";"), "…'")
        .replace(between(&page, "script-src '", ";"), "…'");
    insta::assert_snapshot!(page.replace("><", ">\n<"));
}

#[test]
fn the_cost_of_a_run_that_went_on_is_said_to_be_its_own_alone() {
    let whole = small();
    let went_on = whole.replace("\"cells\":400", "\"cells\":400,\"pairs_from_journal\":3");
    let said = "the answers of 3 pairs from earlier ones";
    assert!(page(&went_on).contains(said) && page(&went_on).contains("time of the last run"));
    assert!(!page(&whole).contains("earlier ones") && !page(&whole).contains("of the last run"));
}

#[test]
fn the_page_loads_nothing_and_runs_only_its_own_script() {
    let page = page(&small());
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\"");
    assert!(
        policy.starts_with("default-src 'none'; img-src data:; style-src 'sha256-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    for forbidden in [
        "http://",
        "https://",
        "src=",
        "@import",
        "url(\"",
        "<link",
        "<iframe",
        " style=\"",
        " onclick",
    ] {
        assert!(!outside.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn ids_are_text_wherever_they_go() {
    let evil = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&";
    let quoted = serde_json::to_string(evil).unwrap();
    let row = |a: &str, b: &str, score: u8| {
        format!(
            "{{\"a\":{a},\"b\":{b},\"stimulus\":{quoted},\"score\":{score},\"similarity\":0.{score}}}"
        )
    };
    let text = format!(
        "{{\"spec\":{{{quoted}:{quoted},\"engine\":{quoted},\"metric\":{{\"name\":{quoted}}},\"encoding\":{{{quoted}:{quoted}}}}},\
         \"results\":[{},{}],\"revealed\":[{{\"to\":{quoted},\"what\":{quoted}}}]}}",
        row(&quoted, "\"q\"", 1),
        row("\"p\"", &quoted, 2)
    );
    let file = read(&text);
    let alphabet = Alphabet::letters(4).unwrap();
    let cohort = Cohort {
        alphabet,
        encoding: Encoding::default(),
        entries: vec![Entry {
            participant: evil.into(),
            stimulus: Some(evil.into()),
            scanpath: alphabet.parse("ABBA").unwrap(),
        }],
    };
    let own = Own {
        cohort: &cohort,
        grid: Grid::new(2, 2).unwrap(),
        images: &[],
    };
    let page = page_with(
        &file,
        Options {
            source: evil,
            own: Some(own),
            ..Options::default()
        },
    );
    assert!(
        !page.contains("<script>alert") && !page.contains("<img"),
        "an id became markup"
    );
    assert_eq!(
        page.matches("<script").count(),
        2,
        "the data of one heat map, and the script"
    );
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(
        page.contains("&lt;script&gt;alert(1)"),
        "the id is still shown"
    );
    let drawing = svg(&text);
    assert!(!drawing.contains("<script") && !drawing.contains("<img"));
}

#[test]
fn control_characters_do_not_break_a_drawing() {
    let text = format!("{HEADER}\"p\u{1}\u{7}\",q,,1,0.5\nr,\"q\u{1b}\",,2,0.1\n");
    let drawing = svg(&text);
    assert!(
        !drawing.chars().any(|c| c.is_control() && c != '\n'),
        "XML forbids them"
    );
}

#[test]
fn odd_files_still_make_a_page() {
    let one = page(&format!("{HEADER}p,q,,3,0.5\n"));
    assert!(one.contains("1 pair: mean 0.5") && one.contains("There is no map"));
    let empty = page(HEADER);
    assert!(empty.contains("The file has no scores") && !empty.contains("class=\"heat\""));
    let equal = page(&format!("{HEADER}p,q,,3,1\np,r,,3,1\ns,q,,3,1\ns,r,,3,1\n"));
    assert!(equal.contains("mean 1, standard deviation 0"));
    let missing = page(&format!("{HEADER}p,q,,3,0.5\nr,s,,1,0.7\n"));
    assert!(missing.contains("Hatched: not compared (2 pairs)"));
    let twice = page(&format!("{HEADER}p,q,,3,0.5\np,q,,1,0.7\n"));
    assert!(twice.contains("have the same ids; their mean is shown (1 cell)"));
    assert!(twice.contains(">0.60<"), "the mean of both");
    let extreme = page(&format!(
        "{HEADER}p,q,,-1e29,\np,r,,1e29,\nt,q,,1e-29,\nt,r,,0,\n"
    ));
    let drawn = extreme.replace(between(&extreme, "<script>", "</script>"), "");
    assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
}

#[test]
fn a_csv_file_says_what_it_lacks() {
    let page = page(&format!("{HEADER}p,x,,3,\np,y,,4,\n"));
    for expected in [
        "A CSV file has the scores alone",
        "A CSV file does not say it",
        "The file does not say whether small or large scores mean alike",
        "There is no table of nearest neighbours",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains("bright: alike"));
}

#[test]
fn yes_and_no_are_drawn_and_counted() {
    let page = page("a,b,stimulus,within\np,x,,true\np,y,,false\nq,x,,true\nq,y,,true\n");
    assert!(page.contains("3 of 4 pairs are within the threshold (75.0 %)"));
    assert!(page.contains("how many are within the threshold"));
    assert!(page.contains("yes and no are no distances"));
    let file = read("a,b,stimulus,within\np,x,,true\np,y,,false\n");
    let (width, height, pixels) = png(&file);
    let (first, last) = (&pixels[..3], &pixels[(width * height - 1) * 4..][..3]);
    assert_ne!(first, last);
}

#[test]
fn several_stimuli_get_a_view_each_and_a_mean() {
    let mut rows = String::from(HEADER);
    for stimulus in ["one", "two", "three"] {
        let _ = writeln!(rows, "p,q,{stimulus},1,0.{}", stimulus.len());
    }
    let all = page(&rows);
    assert_eq!(all.matches("class=\"view\"").count(), 4);
    assert!(all.contains("Mean over 3 stimuli") && all.contains("<option value=\"view-3\">three"));
    let file = read(&rows);
    let names = ["two".to_string()];
    let one = page_with(
        &file,
        Options {
            stimuli: &names,
            ..Options::default()
        },
    );
    assert_eq!(one.matches("class=\"view\"").count(), 1);
    assert!(one.contains("<h2>two</h2>") && !one.contains("<h2>three</h2>"));
    let names = ["four".to_string()];
    let unknown = Report::new(
        &file,
        Options {
            stimuli: &names,
            ..Options::default()
        },
    );
    assert!(unknown.is_err_and(|error| error.to_string().contains("\"four\"")));
}

#[test]
fn hundreds_of_stimuli_are_summed_up() {
    let mut rows = String::from(HEADER);
    for stimulus in 0..300 {
        let _ = write!(rows, "p,q,s{stimulus},1,0.5\np,r,s{stimulus},1,0.4\n");
    }
    let page = page(&rows);
    assert_eq!(page.matches("class=\"view\"").count(), 41);
    assert!(page.contains("260 more are in the mean alone"));
    assert!(page.len() < 2_000_000, "{}", page.len());
}

#[test]
fn scanpaths_of_different_stimuli_are_lines_of_their_own() {
    let rows = "p,q,cows,1,0.9\np,q,cows|boat,2,0.2\np,q,boat|cows,3,0.1\np,q,boat,4,0.8\n";
    let page = page(&format!("{HEADER}{rows}"));
    assert_eq!(page.matches("class=\"view\"").count(), 1);
    assert!(
        page.contains("All scanpaths with all")
            && page.contains("p · boat")
            && page.contains("q · cows")
    );
}

#[test]
fn a_cohort_with_itself_gets_a_map_and_two_cohorts_do_not() {
    let mut rows = String::from(HEADER);
    let place = [0.0_f64, 0.1, 0.5, 0.6];
    for (i, x) in place.iter().enumerate() {
        for (j, y) in place.iter().enumerate() {
            let _ = writeln!(rows, "p{i},p{j},,0,{}", 1.0 - (x - y).abs());
        }
    }
    let page = page(&rows);
    assert!(page.contains("class=\"map\"") && page.contains("r = 1.00"));
    assert!(
        page.contains("12 pairs: mean"),
        "nobody is compared with themselves"
    );
    let others = self::page(&rows.replace("p0,p1,,0,0.9", "p0,p1,,0,0.3"));
    assert!(
        others.contains("different people"),
        "equal ids are not enough"
    );
    let renamed = self::page(&rows.replace(",p", ",q"));
    assert!(renamed.contains("only A was compared with B"));
}

/// A quarter of a million pairs: some seconds at most, some megabytes at most, and the picture has two blocks.
#[test]
fn large_matrices_fit() {
    let size = 500;
    let mut rows = String::from(HEADER);
    for a in 0..size {
        for b in 0..size {
            let alike = if a % 2 == b % 2 { 0.7 } else { 0.3 };
            let noise = f64::from((a * 31 + b * 17) % 100) / 1000.0;
            let _ = writeln!(
                rows,
                "participant-{a},visitor-{b},,{},{}",
                (a * b) % 97,
                alike + noise
            );
        }
    }
    let file = read(&rows);
    let page = page_with(&file, Options::default());
    assert!(page.len() < 6_000_000, "{}", page.len());
    assert!(page.contains("250,000 pairs: mean"));
    let (width, height, pixels) = png(&file);
    assert_eq!((width, height), (500, 500));
    let green = |x: usize, y: usize| u32::from(pixels[(y * width + x) * 4 + 1]);
    let (near, far) = (green(10, 10), green(width - 10, 10));
    assert!(near.abs_diff(far) > 50, "{near} {far}");
    assert!(green(width - 10, height - 10).abs_diff(near) < 30);
}

/// As many pairs as are read at all.
#[test]
#[ignore = "takes the better part of a minute"]
fn the_largest_file_fits() {
    let mut rows = String::from(HEADER);
    for pair in 0..2_000_000 {
        let (a, b) = (pair / 1414, pair % 1414);
        let _ = writeln!(
            rows,
            "participant-{a},visitor-{b},,{},0.{}",
            pair % 97,
            (a + b) % 89 + 10
        );
    }
    let page = page(&rows);
    assert!(page.len() < 25_000_000, "{}", page.len());
    assert!(page.contains("2,000,000 pairs: mean") && page.contains("class=\"heat\""));
    rows.push_str("one,too many,,1,0.5\n");
    let refused = ResultFile::read(rows.as_bytes()).unwrap_err().to_string();
    assert!(
        refused.contains("line 2000002, column 1: there are more than 2000000 pairs"),
        "{refused}"
    );
}

/// Pairs that share no id would make a matrix of 10¹⁰ cells.
#[test]
fn scattered_pairs_are_not_drawn() {
    let mut rows = String::from(HEADER);
    for pair in 0..100_000 {
        let _ = writeln!(rows, "p{pair},q{pair},,1,0.5");
    }
    let file = read(&rows);
    let page = page_with(&file, Options::default());
    assert!(page.contains("There is no heat map") && page.contains("100,000 pairs: mean 0.5"));
    assert!(
        Report::new(&file, Options::default())
            .unwrap()
            .has_heat_map()
            .is_err()
    );
}

#[test]
fn long_lines_are_drawn_up_to_what_browsers_can() {
    let line = |columns: usize| {
        let mut rows = String::from(HEADER);
        for column in 0..columns {
            let _ = writeln!(rows, "p,q{column},,{column},0.{}", column % 10);
        }
        page(&rows)
    };
    let drawn = line(10_000);
    assert!(
        drawn.contains("class=\"heat\"") && drawn.contains("The first 2,000 of 10,000 are listed")
    );
    assert!(drawn.contains("A side with too many lines to cluster is ordered by their means"));
    assert!(line(16_001).contains("more lines or cells than can be drawn"));
}

#[test]
fn cells_without_a_pair_show_through() {
    let (width, height, pixels) = png(&read(&format!("{HEADER}p,q,,3,0.5\nr,s,,1,0.7\n")));
    let clear = pixels.chunks(4).filter(|pixel| pixel[3] == 0).count();
    assert_eq!(clear * 2, width * height);
}

#[test]
fn own_scanpaths_are_drawn_over_the_grid_or_a_picture() {
    let alphabet = Alphabet::letters(49).unwrap();
    let entry = |participant: &str, stimulus: &str, text: &str| Entry {
        participant: participant.into(),
        stimulus: Some(stimulus.into()),
        scanpath: alphabet.parse(text).unwrap(),
    };
    let cohort = Cohort {
        alphabet,
        encoding: Encoding::default(),
        entries: vec![
            entry("p", "cows", "ABBAW"),
            entry("r", "cows", ""),
            entry("p", "boat", "A"),
        ],
    };
    let mut picture = Vec::new();
    let mut writer = png::Encoder::new(&mut picture, 4, 2)
        .write_header()
        .unwrap();
    writer.write_image_data(&[0; 8]).unwrap();
    writer.finish().unwrap();
    let images = [(Some("cows".to_string()), Image::new(picture).unwrap())];
    let own = Own {
        cohort: &cohort,
        grid: Grid::default(),
        images: &images,
    };
    let file = read(&format!("{HEADER}p,q,cows,3,0.5\n"));
    let page = page_with(
        &file,
        Options {
            own: Some(own),
            ..Options::default()
        },
    );
    assert_eq!(page.matches("class=\"path over\"").count(), 2);
    assert_eq!(page.matches("class=\"path\"").count(), 1);
    assert_eq!(
        page.matches("id=\"stimulus-0\"").count(),
        1,
        "the picture is there once"
    );
    assert!(page.contains("<b>p</b> · 5 letters") && page.contains("<b>r</b> · 0 letters"));
    // Whoever opens the page sees it first, and in the list of windows.
    let warned = page
        .find("This page is for your institution alone")
        .unwrap();
    assert!(warned < page.find("class=\"tiles\"").unwrap());
    assert!(page.contains("<title>Private: "));
    let shared = page_with(&file, Options::default());
    assert!(!shared.contains("Private") && !shared.contains("your institution alone"));
}
