//! Sequences, transitions and pairs of this side's scanpaths.

use super::{HEADER, between, page_with, read};
use crate::common;
use veilpath_metrics::{
    Alphabet, Cohort, Comparison, Encoding, Entry, Fixation, Fixations, Grid, Metric, Scanpath,
};
use veilpath_report::ResultFile;
use veilpath_report::html::{Options, OwnCohort, OwnPair, Recurrence};

fn alphabet() -> Alphabet {
    Alphabet::letters(4).unwrap()
}

fn entry(participant: &str, group: Option<&str>, stimulus: &str, text: &str) -> Entry {
    Entry {
        participant: participant.into(),
        group: group.map(String::from),
        stimulus: Some(stimulus.into()),
        scanpath: alphabet().parse(text).unwrap(),
        fixations: None,
    }
}

fn cohort(entries: Vec<Entry>) -> Cohort {
    Cohort {
        alphabet: alphabet(),
        encoding: Encoding::default(),
        screen: None,
        entries,
    }
}

fn page(cohort: &Cohort, grid: Option<Grid>, pairs: &[OwnPair]) -> String {
    let own = OwnCohort {
        cohort,
        grid,
        aspect: None,
        images: &[],
        pairs,
    };
    let options = Options {
        own: Some(own),
        ..Options::default()
    };
    page_with(&read(&format!("{HEADER}p,x,cows,3,0.5\n")), options)
}

fn section<'a>(page: &'a str, id: &str) -> &'a str {
    between(page, &format!("<section id=\"{id}\""), "</section>")
}

#[test]
fn sequences_are_grouped_by_stimulus_and_group() {
    let cohort = cohort(vec![
        entry("p", Some("novices"), "cows", "AABC"),
        entry("q", Some("experts"), "cows", "AD"),
        entry("p", Some("novices"), "boat", "D"),
    ]);
    let page = page(&cohort, None, &[]);
    assert!(!page.contains("id=\"scanpaths\""), "no grid, no pictures");
    let sequences = section(&page, "sequences");
    let order = [
        "<h3>cows",
        "<h4>experts",
        "<span>q",
        "<h4>novices",
        "<span>p",
        "<h3>boat",
    ];
    let positions: Vec<usize> = order
        .iter()
        .map(|text| sequences.find(text).unwrap())
        .collect();
    assert!(positions.is_sorted(), "{positions:?}");
    assert!(sequences.contains("the longest row has 4 letters"));
    // Four letters of equal width across the row: A twice, then B and C.
    let row = between(sequences, "aria-label=\"p: 4 letters\"", "</svg>");
    assert!(
        row.contains("M0.0 0h250.0v10h-250.0zM250.0 0h250.0v10h-250.0z"),
        "{row}"
    );
    assert!(row.contains("M750.0 0h250.0"));
    let table = between(sequences, "<table", "</table>");
    assert!(
        table.contains("group") && table.contains("different letters") && table.contains("AABC")
    );
}

#[test]
fn durations_are_widths_where_each_letter_is_a_fixation() {
    let fixations = |durations: &[f64]| {
        let fixation = |&duration: &f64| Fixation {
            x: 1.0,
            y: 1.0,
            start: None,
            duration,
        };
        Fixations::new(durations.iter().map(fixation).collect()).unwrap()
    };
    let mut cohort = cohort(vec![
        entry("p", None, "cows", "AB"),
        entry("q", None, "cows", "C"),
    ]);
    cohort.entries[0].fixations = Some(fixations(&[300.0, 100.0]));
    cohort.entries[1].fixations = Some(fixations(&[200.0]));
    let timed = page(&cohort, None, &[]);
    let sequences = section(&timed, "sequences");
    assert!(sequences.contains("duration of the fixation") && sequences.contains("0.4 s"));
    let row = between(sequences, "aria-label=\"p: 2 letters\"", "</svg>");
    assert!(
        row.contains("M0.0 0h750.0") && row.contains("M750.0 0h250.0"),
        "{row}"
    );
    let other = between(sequences, "aria-label=\"q: 1 letter\"", "</svg>");
    assert!(other.contains("M0.0 0h500.0"), "{other}");
    assert!(sequences.contains(">0.40<"), "seconds in the table");
    // Letters that stand for several fixations, or for parts of one, have no duration of their own.
    cohort.entries[1].fixations = Some(fixations(&[100.0, 100.0]));
    let counted = page(&cohort, None, &[]);
    assert!(section(&counted, "sequences").contains("All letters have the same width"));
}

#[test]
fn transitions_are_percentages_of_their_row() {
    let cohort = cohort(vec![
        entry("p", None, "cows", "AABA"),
        entry("q", None, "cows", "AC"),
        entry("q", None, "boat", "BD"),
    ]);
    let page = page(&cohort, None, &[]);
    let transitions = section(&page, "transitions");
    assert_eq!(transitions.matches("class=\"transitions view\"").count(), 3);
    // A goes to A, B and C once each; B goes to A here, and to D on the other stimulus.
    for expected in [
        "A → A: 1 of 3 (33.3 %)",
        "A → C: 1 of 3 (33.3 %)",
        "B → A: 1 of 2 (50.0 %)",
        "B → A: 1 of 1 (100.0 %)",
        "B → D: 1 of 1 (100.0 %)",
    ] {
        assert!(transitions.contains(expected), "{expected}");
    }
    assert!(!transitions.contains("C → "), "scanpaths are not joined");
    assert!(transitions.contains("id=\"pick-transitions\" data-by=\"transitions\""));
    let table = between(transitions, "<table", "</table>");
    assert!(table.contains(">33.3 %<") && table.contains("percentage of from"));
}

#[test]
fn areas_have_their_names() {
    let mut cohort = cohort(vec![entry("p", None, "cows", "AB")]);
    let areas = "face, \"nose, mouth\", sky, <b>".to_string();
    cohort.encoding.0.insert("areas".into(), areas);
    let page = page(&cohort, None, &[]);
    assert!(section(&page, "transitions").contains("face → nose, mouth: 1 of 1"));
    assert!(section(&page, "sequences").contains("nose, mouth</li>"));
    assert!(!page.contains("<b>p</b>"), "no pictures");
}

fn pair(metric: Option<Metric>, texts: [&str; 2], recurrence: Recurrence) -> OwnPair {
    OwnPair {
        participants: ["p".into(), "x".into()],
        stimulus: Some("cows".into()),
        scanpaths: texts.map(|text| alphabet().parse(text).unwrap()),
        alphabet: alphabet(),
        comparison: metric.map(|metric| Comparison::new(metric, alphabet()).unwrap()),
        recurrence,
    }
}

#[test]
fn a_pair_is_aligned_and_its_recurrence_drawn() {
    let cohort = cohort(vec![entry("p", None, "cows", "ABC")]);
    let shown = pair(
        Some(Metric::Levenshtein),
        ["ABCD", "ACCDA"],
        Recurrence::SameLetter,
    );
    let page = page(&cohort, None, &[shown]);
    let pairs = section(&page, "pairs");
    assert!(pairs.contains("<h3>p and x: cows</h3>"));
    assert!(pairs.contains("In the result file: score 3, similarity 0.5."));
    assert!(pairs.contains(
        "5 columns, of which 3 equal and 1 different; 0 letters only above, 1 only below."
    ));
    let columns = between(pairs, "class=\"alignment\"", "</div>");
    assert!(columns.contains("<span class=\"different\"><b>B</b><i>×</i><b>C</b></span>"));
    assert!(columns.contains("<span class=\"gap\"><b>–</b>"));
    // A twice, C twice, D once.
    assert!(pairs.contains("5 points, 25 % of 20"), "{pairs}");
    // Two adjacent Cs form one piece of 2 × 16 units in the third row.
    assert!(pairs.contains("M68.0 74.0h32.0v16.0h-32.0z"), "{pairs}");
}

#[test]
fn recurrence_has_a_radius_on_a_grid() {
    let grid = Grid::new(2, 2).unwrap();
    let cohort = cohort(vec![entry("p", None, "cows", "ABC")]);
    let within = Recurrence::Within { grid, radius: 1.0 };
    let shown = pair(None, ["A", "ABCD"], within);
    let page = page(&cohort, Some(grid), &[shown]);
    let pairs = section(&page, "pairs");
    assert!(pairs.contains("3 points, 75 % of 4") && pairs.contains("at most 1 apart"));
    assert!(pairs.contains("There is no alignment: the file does not name the metric."));
}

#[test]
fn a_local_alignment_says_which_part_it_is_of() {
    let metric = Metric::SmithWaterman {
        scoring: veilpath_metrics::LocalScoring::Unit {
            reward: 2.0,
            mismatch: 1.0,
        },
        gap: 1.0,
        scale: None,
    };
    let cohort = cohort(vec![entry("p", None, "cows", "ABC")]);
    let shown = pair(Some(metric), ["AAABC", "DBCD"], Recurrence::SameLetter);
    let page = page(&cohort, None, &[shown]);
    let expected = "The best alignment covers only a part: letters 4 to 5 of the 5 of p, letters 2 to 3 of the 4 of x.";
    assert!(section(&page, "pairs").contains(expected));
}

#[test]
fn large_cohorts_and_long_scanpaths_are_bounded() {
    let long = "ABCD".repeat(1500);
    let entries = (0..300).map(|at| entry(&format!("p{at}"), None, &format!("s{at}"), &long));
    let cohort = cohort(entries.collect());
    let letters = Scanpath::new((0..3000).map(|at| at % 4).collect());
    let mut shown = pair(
        Some(Metric::Levenshtein),
        ["A", "A"],
        Recurrence::SameLetter,
    );
    shown.scanpaths = [letters.clone(), letters];
    let page = page(&cohort, None, &[shown]);
    assert!(section(&page, "sequences").contains("The first 30 of 300 scanpaths are drawn."));
    assert!(section(&page, "transitions").contains("The first 20 of 300 stimuli have a matrix."));
    let pairs = section(&page, "pairs");
    assert!(pairs.contains("The first 2000 columns are shown."));
    assert!(pairs.contains("The first 400 letters are shown and counted."));
    assert!(page.len() < 4_000_000, "{}", page.len());
}

#[test]
fn hostile_names_are_escaped_in_own_figures() {
    let hostile = "</script><script>alert(1)</script><img src=x>\"'&";
    let mut cohort = cohort(vec![entry(hostile, Some(hostile), hostile, "ABCD")]);
    cohort
        .encoding
        .0
        .insert("areas".into(), format!("{hostile}, b, c, d"));
    let mut shown = pair(
        Some(Metric::Levenshtein),
        ["AB", "BA"],
        Recurrence::SameLetter,
    );
    shown.participants = [hostile.into(), hostile.into()];
    shown.stimulus = Some(hostile.into());
    let page = page(&cohort, None, &[shown]);
    assert!(!page.contains("<script>alert") && !page.contains("<img"));
    // A page made without this side's cohort shows nothing of it.
    let file = ResultFile::from(common::small());
    let shared = page_with(&file, Options::default());
    for absent in ["id=\"sequences\"", "id=\"transitions\"", "id=\"pairs\""] {
        assert!(!shared.contains(absent), "{absent}");
    }
}
