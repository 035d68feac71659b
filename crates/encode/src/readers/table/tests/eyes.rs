//! Tables with rows of both eyes: only one of them is used.

use super::*;
use crate::{Eye, NoEffect};

const BOTH: &str = "subject,EYE_USED,x,y,duration\n\
    a,RIGHT,1,1,200\na,LEFT,2,2,200\na,RIGHT,3,3,200\n\
    b,RIGHT,4,4,200\nb,.,5,5,200\n";

fn with_eye(text: &str, eye: Eye) -> Recorder {
    let options = ReadOptions {
        eye,
        ..ReadOptions::default()
    };
    read(text, &options).unwrap()
}

fn x(read: &Recorder, participant: usize) -> Vec<f64> {
    let fixations = &read.recordings[participant].fixations;
    fixations.iter().map(|fixation| fixation.0).collect()
}

#[test]
fn the_left_eye_is_used_where_it_was_recorded() {
    let read = plain(BOTH);
    assert_eq!(x(&read, 0), [2.0]);
    assert_eq!(x(&read, 1), [4.0, 5.0], "only the right eye");
    assert_eq!(read.dropped[&Dropped::OtherEye], 2);
    assert!(assumes(
        &read,
        "both eyes were recorded; the left one was used"
    ));
    let roles = read.columns.unwrap().used;
    assert!(
        roles
            .iter()
            .any(|it| it.role == "eye" && it.column == "EYE_USED")
    );
}

#[test]
fn the_user_chooses_the_eye() {
    let read = with_eye(BOTH, Eye::Right);
    assert_eq!((x(&read, 0), x(&read, 1)), (vec![1.0, 3.0], vec![4.0, 5.0]));
    assert!(!assumes(&read, "both eyes"));
    let read = with_eye(BOTH, Eye::Left);
    assert_eq!((x(&read, 0), x(&read, 1)), (vec![2.0], vec![5.0]));
}

#[test]
fn a_table_without_eyes_is_read_whole() {
    for text in [
        "x,y,duration\n1,1,200\n2,2,200\n",
        "x,y,duration,eye\n1,1,200,brown\n2,2,200,blue\n",
    ] {
        let read = with_eye(text, Eye::Left);
        assert_eq!(x(&read, 0), [1.0, 2.0]);
        let no_effect = EncodeNote::NoEffect {
            field: EncodeField::Eye,
            reason: NoEffect::NoEyeColumn,
        };
        assert_eq!(read.notes, [no_effect]);
        assert!(plain(text).notes.is_empty());
    }
}

/// A rate beside times says how long a sample lasts, but not when it begins.
#[test]
fn a_rate_beside_times_is_reported() {
    let options = ReadOptions {
        rate_hz: Some(50.0),
        ..ReadOptions::default()
    };
    let timed = read("x,y,time\n1,2,0\n3,4,20\n", &options).unwrap();
    assert!(assumes(&timed, "times are those of the column \"time\""));
    let untimed = read("x,y,pupil\n1,2,0\n3,4,20\n", &options).unwrap();
    assert!(!assumes(&untimed, "times are those"));
}
