//! The page, its heat map, and what hostile or odd files make of them.
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

mod common;

use common::small;
use std::fmt::Write as _;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Grid};
use veilpath_protocol::{Outcome, Output, OutputKind, Results, RevealTo, Revealed, Value};
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

/// The whole page but its style, its script and the bytes of pictures.
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
    assert!(resumed.contains("3 pairs from earlier ones"));
    assert!(resumed.contains("time of the last run"));
    assert!(!whole.contains("earlier ones") && !whole.contains("of the last run"));
}

#[test]
fn the_page_loads_nothing_and_runs_only_its_own_script() {
    let page = page_of(small());
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
fn ids_are_escaped_everywhere() {
    let evil = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&";
    let values = [
        [Value::Number(1.0), Value::Number(0.1)],
        [Value::Number(2.0), Value::Number(0.2)],
    ];
    let rows: [(&str, &str, &str, &[Value]); 2] =
        [(evil, "q", evil, &values[0]), ("p", evil, evil, &values[1])];
    let mut outcome = common::outcome(common::spec("score"), &rows);
    outcome.spec.encoding.insert(evil.into(), evil.into());
    outcome.names = [evil.into(), evil.into()];
    outcome.answers = common::answers();
    outcome.revealed = vec![Revealed {
        to: evil.into(),
        what: evil.into(),
    }];
    let file = ResultFile::from(outcome);
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
        aspect: None,
        images: &[],
    };
    let page = page_with(
        &file,
        Options {
            source: evil,
            own: Some(own),
            title: Some(evil),
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
    let drawing = svg(&file);
    assert!(!drawing.contains("<script") && !drawing.contains("<img"));
}

#[test]
fn control_characters_do_not_break_a_drawing() {
    let text = format!("{HEADER}\"p\u{1}\u{7}\",q,,1,0.5\nr,\"q\u{1b}\",,2,0.1\n");
    let drawing = svg(&read(&text));
    assert!(
        !drawing.chars().any(|c| c.is_control() && c != '\n'),
        "XML forbids them"
    );
}

#[test]
fn odd_files_still_make_a_page() {
    let one = page(&format!("{HEADER}p,q,,3,0.5\n"));
    assert!(one.contains("1 pair: mean 0.500") && one.contains("There is no map"));
    let empty = page(HEADER);
    assert!(empty.contains("The file has no results") && !empty.contains("class=\"heat\""));
    let equal = page(&format!("{HEADER}p,q,,3,1\np,r,,3,1\ns,q,,3,1\ns,r,,3,1\n"));
    assert!(equal.contains("mean 1.000, standard deviation 0.000"));
    let missing = page(&format!("{HEADER}p,q,,3,0.5\nr,s,,1,0.7\n"));
    assert!(missing.contains("Hatched: not compared (2 pairs)"));
    let twice = page(&format!("{HEADER}p,q,,3,0.5\np,q,,1,0.7\n"));
    assert!(twice.contains("have the same ids; their mean is shown (1 tile)"));
    assert!(twice.contains(">0.60<"), "the mean of both");
    let extreme = page(&format!(
        "{HEADER}p,q,,-1e29,\np,r,,1e29,\nt,q,,1e-29,\nt,r,,0,\n"
    ));
    let drawn = extreme.replace(between(&extreme, "<script>", "</script>"), "");
    assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
}

#[test]
fn the_page_of_a_csv_file_says_what_is_missing() {
    let page = page(&format!("{HEADER}p,x,,3,\np,y,,4,\n"));
    for expected in [
        "A CSV file has the numbers of the pairs only",
        "A CSV file does not say it",
        "The file does not say whether a small or a large score means alike",
        "There is no table of nearest neighbours",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains("bright: alike"));
}

#[test]
fn threshold_results_are_drawn_and_counted() {
    let page = page("a,b,stimulus,within\np,x,,true\np,y,,false\nq,x,,true\nq,y,,true\n");
    assert!(page.contains("3 of 4 pairs are within the threshold (75.0 %)"));
    assert!(page.contains("how many pairs are within the threshold"));
    assert!(page.contains("yes and no are not distances"));
    let file = read("a,b,stimulus,within\np,x,,true\np,y,,false\n");
    let (width, height, pixels) = png(&file);
    let (first, last) = (&pixels[..3], &pixels[(width * height - 1) * 4..][..3]);
    assert_ne!(first, last);
}

#[test]
fn each_stimulus_and_the_mean_has_a_view() {
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
fn hundreds_of_stimuli_are_summarised() {
    let mut rows = String::from(HEADER);
    for stimulus in 0..300 {
        let _ = write!(rows, "p,q,s{stimulus},1,0.5\np,r,s{stimulus},1,0.4\n");
    }
    let page = page(&rows);
    assert_eq!(page.matches("class=\"view\"").count(), 41);
    assert!(page.contains("260 more are in the mean only"));
    assert!(page.len() < 2_000_000, "{}", page.len());
}

#[test]
fn scanpaths_of_different_stimuli_have_separate_rows() {
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
fn only_a_self_comparison_has_a_map() {
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
        page.contains("6 pairs: mean"),
        "a pair counts once, and nobody is their own partner"
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
fn large_matrices_are_drawn() {
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
fn the_largest_file_is_rendered() {
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
    assert!(page.contains("There is no heat map") && page.contains("100,000 pairs: mean 0.500"));
    assert!(
        Report::new(&file, Options::default())
            .unwrap()
            .has_heat_map()
            .is_err()
    );
}

#[test]
fn long_rows_are_limited_to_what_browsers_can_draw() {
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
    assert!(line(16_001).contains("more lines or tiles than can be drawn"));
}

#[test]
fn tiles_without_a_pair_are_transparent() {
    let (width, height, pixels) = png(&read(&format!("{HEADER}p,q,,3,0.5\nr,s,,1,0.7\n")));
    let clear = pixels.chunks(4).filter(|pixel| pixel[3] == 0).count();
    assert_eq!(clear * 2, width * height);
}

#[test]
fn own_scanpaths_are_drawn_on_the_grid_or_a_picture() {
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
        aspect: None,
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
    let warned = page.find("This page is for your institution only").unwrap();
    assert!(warned < page.find("class=\"summary\"").unwrap());
    assert!(page.contains("<title>Private: "));
    let shared = page_with(&file, Options::default());
    assert!(!shared.contains("Private") && !shared.contains("your institution only"));
}

fn numbers(values: [f64; 2]) -> [Value; 2] {
    values.map(Value::Number)
}

/// Two stimuli whose scores are far apart, with means that are close.
fn opposite_stimuli() -> Outcome {
    let (low, high) = (numbers([9.0, 0.1]), numbers([1.0, 0.9]));
    let middle = [numbers([5.0, 0.45]), numbers([5.0, 0.55])];
    common::outcome(
        common::spec("score"),
        &[
            ("p", "x", "cows", &low),
            ("p", "y", "cows", &high),
            ("q", "x", "cows", &middle[0]),
            ("q", "y", "cows", &middle[1]),
            ("p", "x", "boat", &high),
            ("p", "y", "boat", &low),
            ("q", "x", "boat", &middle[1]),
            ("q", "y", "boat", &middle[0]),
        ],
    )
}

/// The bars of the mean view are of the numbers that its heat map shows, in its colours.
#[test]
fn the_histogram_of_the_mean_matches_its_heat_map() {
    let mut outcome = opposite_stimuli();
    let values = [[0.2, 0.4], [0.6, 0.8]];
    outcome.results = {
        let mut results = Results::new(outcome.spec.outputs());
        for (index, pair) in outcome.results.iter().enumerate() {
            let shift = if index < 4 { -0.19 } else { 0.19 };
            let value = values[pair.a % 2][pair.b % 2] + shift;
            results.push(pair.a, pair.b, &numbers([1.0, value]));
        }
        results
    };
    let page = page_of(outcome);
    let mean = between(&page, "id=\"view-0\"", "</section>");
    assert!(
        mean.contains("4 pairs of participants, each averaged over the stimuli: mean 0.500"),
        "the means of four pairs"
    );
    let bars = between(mean, "Distribution as a table", "</table>");
    assert!(
        !bars.contains("0 to 0.1") && !bars.contains("0.9 to 1"),
        "{bars}"
    );
    // The darkest and the brightest bar have the colours of the darkest and the brightest tile.
    let fills: Vec<&str> = mean
        .split("class=\"bar\"")
        .skip(1)
        .map(|bar| between(bar, "fill=\"", "\""))
        .collect();
    let ramp: Vec<&str> = mean
        .split("stop-color=\"")
        .skip(1)
        .take(17)
        .map(|stop| stop.split('"').next().unwrap())
        .collect();
    assert_ne!(fills.first(), fills.last());
    assert!(fills.len() >= 3 && ramp.len() == 17);
    let repeated = fills.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert_eq!(repeated, 0, "no bar is beyond the scale: {fills:?}");
}

#[test]
fn threshold_results_have_shares_and_no_deviations() {
    let [yes, no] = [true, false].map(|bit| [Value::Bit(bit)]);
    let outcome = common::outcome(
        common::spec("threshold:3"),
        &[
            ("p", "x", "cows", &yes),
            ("p", "y", "cows", &yes),
            ("q", "x", "cows", &no),
            ("p", "x", "boat", &no),
            ("q", "x", "boat", &no),
        ],
    );
    let page = page_of(outcome);
    assert!(!page.contains("standard deviation"), "of yes and no");
    let by_stimulus = between(&page, "Pairs within the threshold by stimulus", "</table>");
    assert!(by_stimulus.contains(">66.7 %<"), "{by_stimulus}");
    let mean = between(&page, "id=\"view-0\"", "</section>");
    assert!(!mean.contains("within for every stimulus"));
    // p was within with x for one of two stimuli, and with y for the only one that both looked at.
    assert!(mean.contains("y (1 of 1), x (1 of 2)"), "{mean}");
    assert!(mean.contains(">67 %<"), "two of three pairs");
}

#[test]
fn results_for_the_other_side_are_counted() {
    let mut outcome = small();
    outcome.spec.reveal_to = RevealTo::Join;
    outcome.results.clear();
    let page = page_of(outcome);
    let summary = between(&page, "class=\"summary\"", "</dl>");
    assert!(summary.contains("<dt>pairs</dt><dd>4</dd>"), "{summary}");
    assert!(page.contains("4 pairs were compared; the results are for the other side only."));
    assert!(page.contains("2 participants of Clinic with 2 of University"));
    assert!(page.contains("the joining side (University) only."));
}

#[test]
fn asymmetric_self_comparisons_count_each_pair_once() {
    let ids = ["p", "q", "r"];
    let values: Vec<[Value; 2]> = (0..9)
        .map(|at| match (at / 3, at % 3) {
            (i, j) if i == j => numbers([0.0, 1.0]),
            (i, j) if i < j => numbers([2.0, 0.4]),
            _ => numbers([4.0, 0.2]),
        })
        .collect();
    let rows: Vec<(&str, &str, &str, &[Value])> = (0..9)
        .map(|at| (ids[at / 3], ids[at % 3], "", values[at].as_slice()))
        .collect();
    let mut outcome = common::outcome(common::spec("score"), &rows);
    outcome.one_cohort = true;
    outcome.names = ["Clinic".into(), "Clinic".into()];
    let page = page_of(outcome);
    assert!(page.contains("<dt>pairs</dt><dd>3</dd>"));
    assert!(page.contains("3 pairs: mean 0.300, standard deviation 0.000"));
    assert!(page.contains("3 participants of Clinic with each other"));
}

#[test]
fn mean_and_deviation_have_the_same_decimals() {
    let page = page(&format!(
        "{HEADER}p,x,,1,0.45\np,y,,2,0.55\nq,x,,3,0.5\nq,y,,4,0.5\n"
    ));
    assert!(page.contains("mean 0.500, standard deviation 0.041"));
    let page = self::page(&format!(
        "{HEADER}p,x,,10,0.4\np,y,,2,0.5\nq,x,,3,0.5\nq,y,,4,0.6\n"
    ));
    assert!(page.contains("mean 0.500, standard deviation 0.082"));
}

#[test]
fn panoramas_and_screens_keep_their_proportions() {
    let alphabet = Alphabet::letters(49).unwrap();
    let cohort = Cohort {
        alphabet,
        encoding: Encoding::default(),
        entries: vec![Entry {
            participant: "p".into(),
            stimulus: None,
            scanpath: alphabet.parse("ABBA").unwrap(),
        }],
    };
    let file = read(&format!("{HEADER}p,x,,1,0.5\n"));
    let drawn = |aspect: Option<f64>| {
        let own = Own {
            cohort: &cohort,
            grid: Grid::default(),
            aspect,
            images: &[],
        };
        let options = Options {
            own: Some(own),
            ..Options::default()
        };
        let page = page_with(&file, options);
        between(&page, "class=\"path\" viewBox=\"-2 -2 ", "\"").to_string()
    };
    assert_eq!(drawn(None), "244 244");
    assert_eq!(drawn(Some(2.0)), "244 124");
    assert_eq!(drawn(Some(0.5)), "124 244");
}

#[test]
fn names_and_title_can_be_set() {
    let page = page_of(small());
    assert!(page.contains("2 participants of Clinic with 2 of University"));
    assert!(page.contains("Clinic ↓") && page.contains("← University"));
    assert!(
        page.contains("Nearest neighbours of Clinic") && page.contains("nearest in University")
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

#[test]
fn answers_about_groups_are_shown() {
    let mut outcome = small();
    outcome.answers = common::answers();
    let page = page_of(outcome);
    let groups = between(&page, "id=\"groups\"", "</section>");
    for expected in [
        "Group means of score",
        ">4.250 (6)<",
        ">–<",
        "Are experts more alike than novices?",
        ">0.0312<",
        ">9,999<",
    ] {
        assert!(groups.contains(expected), "{expected} in {groups}");
    }
}

#[test]
fn several_outputs_per_pair_are_summarised() {
    let mut outcome = small();
    let mut results = Results::new(vec![
        Output::new("shape", OutputKind::Fraction),
        Output::new("direction", OutputKind::Fraction),
        Output::new("duration", OutputKind::Number),
    ]);
    for pair in outcome.results.iter() {
        let values = [0.25, 0.75, 120.0].map(Value::Number);
        results.push(pair.a, pair.b, &values);
    }
    outcome.results = results;
    let page = page_of(outcome);
    assert!(page.contains("mean shape"), "the first is drawn");
    let all = between(&page, "All numbers of a pair", "</table>");
    for name in ["shape", "direction", "duration"] {
        assert!(all.contains(name), "{name} in {all}");
    }
}
