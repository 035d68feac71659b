//! Fixations whose rows are not in temporal order.

use super::*;
use crate::Summary;

fn encoded(options: &LetterOptions, rows: &[(f64, f64)]) -> (String, Summary) {
    let mut sink = collector(options);
    let id = sink
        .recording(&recording("p", None, Kind::Fixations))
        .unwrap();
    for &(x, start) in rows {
        let start_ms = Some(start);
        sink.fixation(
            id,
            Fixation {
                start_ms,
                ..fixation(x, 0.0, 100.0)
            },
        );
    }
    let (cohort, summary) = sink.finish().unwrap();
    assert_eq!(summary.rows_read, rows.len() as u64);
    (strings(&cohort).remove(0), summary)
}

#[test]
fn unsorted_fixations_are_sorted_and_reported() {
    let plain = LetterOptions::default();
    let shuffled = [(300.0, 300.0), (0.0, 0.0), (100.0, 150.0)];
    let (letters, summary) = encoded(&plain, &shuffled);
    assert_eq!(letters, "ABD");
    assert_eq!(
        summary.notes,
        [EncodeNote::FixationsSorted { scanpaths: 1 }]
    );

    let mut ordered = shuffled;
    ordered.rotate_left(1);
    let (letters, summary) = encoded(&plain, &ordered);
    assert_eq!((letters.as_str(), summary.notes.len()), ("ABD", 0));

    // Two clocks: the trials stay one after the other.
    let trials = [(300.0, 0.0), (0.0, 150.0), (100.0, 0.0), (200.0, 150.0)];
    let (letters, summary) = encoded(&plain, &trials);
    assert_eq!(letters, "DABC");
    assert_eq!(
        summary.notes,
        [EncodeNote::FixationsOverlap { scanpaths: 1 }]
    );
}

#[test]
fn the_first_fixation_that_matlab_leaves_out_is_the_first_in_time() {
    let options = LetterOptions {
        bin_ms: Some(50.0),
        matlab_compat: true,
        ..LetterOptions::default()
    };
    // The fixation off the screen, in the first row, is still counted as outside.
    let rows = [(-5.0, 450.0), (300.0, 300.0), (0.0, 0.0), (100.0, 150.0)];
    let (letters, summary) = encoded(&options, &rows);
    assert_eq!(letters, "BBDD");
    let dropped: Vec<_> = summary.dropped.into_iter().collect();
    assert_eq!(
        dropped,
        [(Dropped::Outside, 1), (Dropped::FirstFixation, 1)]
    );
}
