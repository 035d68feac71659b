//! The numbers in the summary, the histogram and the views.

use super::{HEADER, between, page, page_of, page_with, png, read};
use crate::common;
use crate::common::small;
use std::fmt::Write as _;
use veilpath_protocol::{Outcome, Results, RevealTo, Value};
use veilpath_report::ResultFile;
use veilpath_report::html::{Options, Report};

#[test]
fn threshold_results_are_drawn_and_counted() {
    let page = page("a,b,stimulus,within\np,x,,true\np,y,,false\nq,x,,true\nq,y,,true\n");
    // The table does not say whether the score is a distance.
    assert!(page.contains("3 of 4 pairs are marked yes (75.0 %)"));
    assert!(
        page.contains("how many pairs are marked yes") && !page.contains("within the threshold")
    );
    assert!(page.contains("yes and no are not distances"));
    let file = read("a,b,stimulus,within\np,x,,true\np,y,,false\n");
    let (width, height, pixels) = png(&file);
    let (first, last) = (&pixels[..3], &pixels[(width * height - 1) * 4..][..3]);
    assert_ne!(first, last);
}

#[test]
fn a_mean_of_yes_and_no_is_a_percentage() {
    let page =
        page("a,b,stimulus,within\np,x,one,true\np,y,one,false\np,x,two,true\np,y,two,true\n");
    let mean = between(&page, "Heat map as a table", "</table>");
    assert!(
        mean.contains(">100 %<") && mean.contains(">50 %<"),
        "{mean}"
    );
    assert!(!mean.contains(">yes<") && !mean.contains("0.5<"), "{mean}");
    // The numbers on hover are of the mean, and of each of the two stimuli.
    let count = |text: &str| page.matches(text).count();
    assert_eq!(count(r#""bits":null"#), 1);
    assert_eq!(count(r#""percent":true"#), 1);
    assert_eq!(count(r#""bits":["is marked no","is marked yes"]"#), 2);
    assert_eq!(count(r#""percent":false"#), 2);
}

#[test]
fn sides_without_a_name_are_called_by_their_role() {
    let roles = ["host", "join"].map(String::from);
    let page = page_of(small().with_names(roles));
    for expected in [
        "2 participants of the host with 2 of the joining side",
        "Nearest neighbours of the host",
        "nearest from the joining side",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
}

#[test]
fn the_page_notes_participants_with_the_same_id_in_both_cohorts() {
    let note = "In 2 of 3 pairs, both scanpaths have the same participant id.";
    let both = page(&format!("{HEADER}p,p,,1,0.5\nq,q,,2,0.25\np,x,,2,0.25\n"));
    assert!(both.contains(note));
    // Each side may have numbered its participants.
    let numbers = page(&format!("{HEADER}1,1,,1,0.5\n2,2,,2,0.25\n1,3,,2,0.25\n"));
    assert!(!numbers.contains("same participant id"));
    assert!(!page_of(small()).contains("same participant id"));
    // Within one cohort, nobody is compared with themselves.
    let mut within = small();
    within.one_cohort = true;
    within.b.clone_from(&within.a);
    assert!(!page_of(within).contains("same participant id"));
}

#[test]
fn a_single_participant_is_compared_with_itself() {
    let numbers = numbers([0.0, 1.0]);
    let mut one = common::outcome(common::spec("score"), &[("p", "p", "cows", &numbers)]);
    one.one_cohort = true;
    assert!(page_of(one).contains("1 participant of Clinic, compared with themselves, 1 stimulus"));
}

#[test]
fn numbers_beyond_the_scale_are_explained() {
    let mut rows = String::from(HEADER);
    for (a, b, similarity) in [("p", "q", 0.4), ("p", "r", 0.5), ("q", "r", 0.45)] {
        let _ = writeln!(rows, "{a},{b},,1,{similarity}\n{b},{a},,1,{similarity}");
    }
    let diagonal = "p,p,,0,1\nq,q,,0,1\nr,r,,0,1\n";
    let words = "such as those on the diagonal, are drawn in the colour of the nearer end";
    assert!(page(&format!("{rows}{diagonal}")).contains(words));
}

#[test]
fn each_stimulus_and_the_mean_has_a_view() {
    let mut rows = String::from(HEADER);
    for stimulus in ["one", "two", "three"] {
        let _ = writeln!(rows, "p,q,{stimulus},1,0.{}", stimulus.len());
    }
    let all = page(&rows);
    assert_eq!(all.matches("class=\"view\"").count(), 4);
    assert!(all.contains("Mean over 3 stimuli") && all.contains("<option value=\"3\">three"));
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
    assert!(page.contains("260 more are included only in the mean"));
    assert!(page.len() < 2_000_000, "{}", page.len());
}

fn numbers(values: [f64; 2]) -> [Value; 2] {
    values.map(Value::Number)
}

/// Two stimuli whose scores are far apart and whose means are close.
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

/// The bars of the mean view show the numbers of its heat map, in its colours.
#[test]
fn the_histogram_of_the_mean_matches_its_heat_map() {
    let mut outcome = opposite_stimuli();
    let values = [[0.2, 0.4], [0.6, 0.8]];
    outcome.results = {
        let mut results = Results::new(outcome.spec.measures());
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
    // The heat map's colours run from 0.2 to 0.8. The bars around 0.3, 0.5 and 0.7 have the colours at a sixth, a half
    // and five sixths of the ramp.
    let legend = between(mean, "class=\"legend\"", "</svg>");
    assert!(legend.contains(">0.2<") && legend.contains(">0.8<"));
    assert!(!legend.contains(">0<") && !legend.contains(">1<"));
    let ramp: Vec<[i32; 3]> = mean
        .split("stop-color=\"")
        .skip(1)
        .take(17)
        .map(|stop| rgb(stop.split('"').next().unwrap()))
        .collect();
    let nearest_stop = |fill: [i32; 3]| {
        let apart = |stop: &[i32; 3]| (0..3).map(|at| (stop[at] - fill[at]).abs()).sum::<i32>();
        (0..ramp.len()).min_by_key(|&at| apart(&ramp[at])).unwrap()
    };
    let fills = mean.split("class=\"bar\"").skip(1);
    let stops: Vec<usize> = fills
        .map(|bar| nearest_stop(rgb(between(bar, "fill=\"", "\""))))
        .collect();
    assert_eq!(stops, [3, 8, 13]);
}

/// Red, green and blue of `#rrggbb`.
fn rgb(hex: &str) -> [i32; 3] {
    let channel = |at: usize| i32::from_str_radix(&hex[at..at + 2], 16).unwrap();
    [1, 3, 5].map(channel)
}

#[test]
fn a_single_pair_is_one_number_on_the_usual_scale() {
    let outcome = common::outcome(
        common::spec("score"),
        &[("p", "x", "", &numbers([0.0, 0.25]))],
    );
    let page = page_of(outcome);
    assert!(page.contains("1 pair: 0.25.") && !page.contains("median"));
    let legend = between(&page, "class=\"legend\"", "</svg>");
    assert!(legend.contains(">0<") && legend.contains(">1<"), "{legend}");
    assert!(!legend.contains('−'), "{legend}");
}

#[test]
fn threshold_results_have_percentages_and_no_deviations() {
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
    // p was within the threshold with x for one of two stimuli, and with y for the only stimulus they share.
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
fn group_answers_are_shown() {
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

/// Such a table is also what `--reveal-to` leaves the side without results.
#[test]
fn a_table_without_rows_does_not_claim_that_nothing_was_compared() {
    let empty = page(HEADER);
    assert!(empty.contains("no pairs were compared, or only the other side gets results"));
    for wrong in ["nothing was compared", "No pairs", "<dt>pairs</dt>"] {
        assert!(!empty.contains(wrong), "{wrong}");
    }
    let file = read(HEADER);
    let mut summary = Vec::new();
    let report = Report::new(&file, Options::default()).unwrap();
    report.write_summary(&mut summary).unwrap();
    let summary = String::from_utf8(summary).unwrap();
    assert!(
        summary.contains("No results.") && !summary.contains("<table>"),
        "{summary}"
    );
}

#[test]
fn a_table_has_a_first_and_a_second_cohort() {
    let page = page(&format!("{HEADER}p,x,,1,0.5\np,y,,2,0.25\n"));
    assert!(page.contains("1 participant of the first cohort with 2 of the second cohort."));
    assert!(page.contains("nearest from the second cohort"));
}

/// Every format says that results are missing, and so does a page made from CSV.
#[test]
fn missing_results_are_marked_in_every_format() {
    let mut outcome = small();
    outcome.pairs = 900;
    let words = "4 of 900 pairs";
    let render = |write: fn(&Outcome, &mut dyn std::io::Write) -> std::io::Result<()>| {
        let mut bytes = Vec::new();
        write(&outcome, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let table = render(veilpath_report::table::write);
    let first = table.lines().next().unwrap();
    assert!(first.contains(words), "{first}");
    assert!(veilpath_report::table::is_first_line(first));
    assert!(veilpath_report::table::summary(&outcome).contains(words));
    let csv = render(veilpath_report::csv::write);
    let mut lines = csv.lines();
    assert!(lines.next().unwrap().ends_with(",incomplete"), "{csv}");
    assert!(lines.all(|line| line.ends_with(words)), "{csv}");
    let json = render(veilpath_report::json::write);
    for text in [csv, json] {
        let file = read(&text);
        assert_eq!((file.incomplete(), file.len()), (Some(words), 4));
        assert_eq!(file.measures().len(), 2);
        assert!(page(&text).contains(&format!("Incomplete: {words}")));
    }
    let complete = ResultFile::from(small());
    assert_eq!(complete.incomplete(), None);
    assert!(!page_of(small()).contains("Incomplete"));
}
