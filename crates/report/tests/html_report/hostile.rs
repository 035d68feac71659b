//! Hostile and odd result files.

use super::{HEADER, between, page, page_of, page_with, read, svg};
use crate::common;
use crate::common::small;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Grid};
use veilpath_protocol::{RevealTo, Revealed, Value};
use veilpath_report::ResultFile;
use veilpath_report::html::{Options, OwnCohort};

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
    let hostile = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&";
    let values = [
        [Value::Number(1.0), Value::Number(0.1)],
        [Value::Number(2.0), Value::Number(0.2)],
    ];
    let rows: [(&str, &str, &str, &[Value]); 2] = [
        (hostile, "q", hostile, &values[0]),
        ("p", hostile, hostile, &values[1]),
    ];
    let mut outcome = common::outcome(common::spec("score"), &rows);
    outcome.spec.encoding.insert(hostile.into(), hostile.into());
    outcome.names = [hostile.into(), hostile.into()];
    outcome.answers = common::answers();
    outcome.revealed = vec![Revealed {
        to: RevealTo::Host,
        what: hostile.into(),
    }];
    let file = ResultFile::from(outcome);
    let alphabet = Alphabet::letters(4).unwrap();
    let cohort = Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: vec![Entry {
            participant: hostile.into(),
            group: None,
            stimulus: Some(hostile.into()),
            scanpath: alphabet.parse("ABBA").unwrap(),
            fixations: None,
        }],
    };
    let own = OwnCohort {
        cohort: &cohort,
        grid: Grid::new(2, 2),
        aspect: None,
        images: &[],
        pairs: &[],
    };
    let page = page_with(
        &file,
        Options {
            source: hostile,
            own: Some(own),
            title: Some(hostile),
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
    assert!(one.contains("1 pair: 0.5.") && one.contains("There is no map"));
    let empty = page(HEADER);
    assert!(empty.contains("No results: either") && !empty.contains("class=\"heat\""));
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
fn a_file_without_numbers_has_a_page_without_a_heat_map() {
    let page = page("a,b,score\nP1,,\n");
    assert!(!page.contains("<figure class=\"heat\">"), "{page}");
    assert!(page.contains("</html>"));
}
