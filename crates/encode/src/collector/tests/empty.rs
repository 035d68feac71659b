//! Recordings of which no row could be used.

use super::*;

#[test]
fn empty_scanpaths_stay_unless_they_are_to_be_left_out() {
    for drop_empty in [false, true] {
        let mut sink = collector(&LetterOptions {
            drop_empty,
            ..LetterOptions::default()
        });
        for (participant, x) in [("p", -1.0), ("q", 0.0), ("r", f64::NAN)] {
            let id = sink
                .recording(&recording(participant, Some("s"), Kind::Fixations))
                .unwrap();
            sink.fixation(id, fixation(x, 0.0, 100.0));
        }
        let (cohort, summary) = sink.finish().unwrap();
        let counts = (summary.scanpaths, summary.empty, summary.empty_left_out);
        if drop_empty {
            assert_eq!((strings(&cohort), counts), (vec!["A".into()], (1, 0, 2)));
        } else {
            assert_eq!(counts, (3, 2, 0));
        }
        // The rows are still counted.
        assert_eq!((summary.rows_read, summary.rows_used), (3, 1));
    }
}
