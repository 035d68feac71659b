//! The heat map and the map of scanpaths.

use super::{HEADER, page, page_with, png, read};
use std::fmt::Write as _;
use veilpath_report::ResultFile;
use veilpath_report::html::{Options, Report};

#[test]
fn scanpaths_of_different_stimuli_have_separate_rows() {
    let rows = "p,q,cows,1,0.9\np,q,cows|boat,2,0.2\np,q,boat|cows,3,0.1\np,q,boat,4,0.8\n";
    let page = page(&format!("{HEADER}{rows}"));
    assert_eq!(page.matches("class=\"view\"").count(), 1);
    assert!(
        page.contains("Every scanpath with every other")
            && page.contains("p · boat")
            && page.contains("q · cows")
    );
}

#[test]
fn only_a_self_comparison_has_a_map() {
    let mut rows = String::from(HEADER);
    let positions = [0.0_f64, 0.1, 0.5, 0.6];
    for (i, x) in positions.iter().enumerate() {
        for (j, y) in positions.iter().enumerate() {
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
    assert!(renamed.contains("only the first cohort was compared with the second cohort"));
}

/// A quarter of a million pairs take at most a few seconds and megabytes, and the picture shows two blocks.
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

/// The largest number of pairs that is read.
#[test]
#[ignore = "takes the better part of a minute; .ci/full runs it"]
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
    let single_row = |columns: usize| {
        let mut rows = String::from(HEADER);
        for column in 0..columns {
            let _ = writeln!(rows, "p,q{column},,{column},0.{}", column % 10);
        }
        page(&rows)
    };
    let drawn = single_row(10_000);
    assert!(
        drawn.contains("class=\"heat\"") && drawn.contains("The first 2,000 of 10,000 are listed")
    );
    let order = "If there are too many rows or columns to cluster, they are ordered by their means";
    assert!(drawn.contains(order));
    assert!(single_row(16_001).contains("too many rows, columns or tiles"));
}

#[test]
fn tiles_without_a_pair_are_transparent() {
    let (width, height, pixels) = png(&read(&format!("{HEADER}p,q,,3,0.5\nr,s,,1,0.7\n")));
    let clear = pixels.chunks(4).filter(|pixel| pixel[3] == 0).count();
    assert_eq!(clear * 2, width * height);
}
