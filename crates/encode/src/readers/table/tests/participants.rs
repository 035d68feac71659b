//! Which participant a row belongs to.

use super::*;

#[test]
fn participants_are_found_under_many_column_names() {
    for name in [
        "subject_nr",
        "Subject Number",
        "pid",
        "VP",
        "vp_nr",
        "PPT",
        "person",
        "Versuchsperson",
    ] {
        let read = plain(&format!(
            "{name},scene_id,x,y,duration\n1,cat,10,10,200\n2,cat,900,700,200\n"
        ));
        let who = read.recordings.iter().map(|one| one.participant.as_str());
        assert_eq!(who.collect::<Vec<_>>(), ["1", "2"], "{name}");
        assert_eq!(read.recordings[0].stimulus.as_deref(), Some("cat"));
    }
    let read = plain("who,image,filename,x,y,duration,a,b,c,d,e\n1,cat,f,10,10,200\n");
    assert_eq!(read.recordings[0].stimulus.as_deref(), Some("cat"));
    assert!(assumes(
        &read,
        "not used (who, filename, a, b, c, d and 1 more)"
    ));
    assert!(assumes(&read, "names the participants"));
    // The last name may be data of the table's first row.
    assert!(assumes(
        &plain("x,y,duration,12.5\n1,1,200,3\n"),
        "the participant is named after"
    ));
}

#[test]
fn a_row_of_nobody_is_an_error() {
    for text in [
        "subject,time,x,y\nA,0,1,2\n,4,3,4\n",
        "subject,duration,x,y\nA,200,1,2\nNA,200,3,4\n",
    ] {
        let error = read(text, &ReadOptions::default()).unwrap_err();
        let place = "dir/t.csv, line 3, column 1 (subject): the participant is missing";
        assert!(error.to_string().starts_with(place), "{error}");
    }
}
