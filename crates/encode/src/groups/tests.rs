//! Groups from columns of recordings and of cohort files, and from separate tables.

use super::*;
use crate::{LetterOptions, RawCohort, ReadOptions, Source, encode_files};
use veilpath_metrics::Cohort;

const HEADER: &str = "participant,group,stimulus,x,y,duration\n";

fn encode(files: &[&str], column: Option<&str>) -> Result<Encoded, ReadError> {
    let sources = files.iter().zip(1..).map(|(text, number)| {
        let input = Input::from_bytes(&format!("{number}.csv"), text.as_bytes().to_vec());
        Source::Open(Box::new(input.unwrap()))
    });
    let column = column.map(|name| ("group".to_string(), name.to_string()));
    let read = ReadOptions {
        screen: Some((100.0, 100.0)),
        columns: column.into_iter().collect(),
        ..ReadOptions::default()
    };
    let options = LetterOptions::default();
    encode_files(sources.collect(), Some("table"), &read, &options, &|_| {
        std::ops::ControlFlow::Continue(())
    })
}

fn groups(cohort: &Cohort) -> Vec<(&str, Option<&str>)> {
    let entries = cohort.entries.iter();
    entries
        .map(|entry| (entry.participant.as_str(), entry.group.as_deref()))
        .collect()
}

fn not_used(encoded: &Encoded) -> Option<GroupsNotUsed> {
    assert!(encoded.summary.groups.is_empty() && !encoded.cohort.has_groups());
    encoded.summary.notes.iter().find_map(|note| match note {
        EncodeNote::GroupsNotUsed { reason } => Some(*reason),
        _ => None,
    })
}

#[test]
fn a_column_of_recordings_gives_the_groups() {
    let text = format!(
        "{HEADER}p,patients,a,1,1,200\np,patients,a,9,9,200\nq,controls,a,1,1,200\np,patients,b,1,1,200\n,,,,,\n"
    );
    let encoded = encode(&[&text], None).unwrap();
    assert_eq!(
        groups(&encoded.cohort),
        [
            ("p", Some("patients")),
            ("q", Some("controls")),
            ("p", Some("patients"))
        ]
    );
    let sizes = [("controls".to_string(), 1), ("patients".to_string(), 1)];
    assert_eq!(encoded.summary.groups, sizes.into());
    let columns = encoded.summary.files[0].columns.as_ref().unwrap();
    assert!(columns.used.iter().any(|one| one.role == "group"));
    let renamed = text.replacen("group", "diagnosis", 1);
    assert!(!encode(&[&renamed], None).unwrap().cohort.has_groups());
    let named = encode(&[&renamed], Some("Diagnosis")).unwrap();
    assert_eq!(named.cohort, encoded.cohort);
}

/// A column that happens to be called `group` may be something else, such as a group of trials; one that the user names
/// is not.
#[test]
fn a_contradictory_column_is_an_error_only_where_it_was_named() {
    for (rows, line, reason) in [
        (
            "p,alpha,a,1,1,200\np,two,b,1,1,200\n",
            3,
            GroupsNotUsed::Several,
        ),
        (
            "p,alpha,a,1,1,200\nq,,a,1,1,200\n",
            3,
            GroupsNotUsed::Incomplete,
        ),
        (
            "p,NA,a,1,1,200\np,NA,a,1,1,200\nq,alpha,a,1,1,200\n",
            4,
            GroupsNotUsed::Incomplete,
        ),
    ] {
        let text = format!("{HEADER}{rows}");
        assert_eq!(not_used(&encode(&[&text], None).unwrap()), Some(reason));
        let error = encode(&[&text], Some("group")).unwrap_err();
        assert_eq!(error.line, Some(line), "{error}");
        assert_eq!(error.column.as_deref().map(|it| it.0), Some(2), "{error}");
        assert!(!error.to_string().contains("alpha"), "{error}");
    }
}

#[test]
fn files_must_agree_about_groups() {
    let first = format!("{HEADER}p,alpha,a,1,1,200\n");
    let other = format!("{HEADER}p,two,b,1,1,200\n");
    let without = "participant,stimulus,x,y,duration\nq,a,1,1,200\n";
    for (files, reason) in [
        ([&first, other.as_str()], GroupsNotUsed::Several),
        ([&first, without], GroupsNotUsed::Incomplete),
    ] {
        assert_eq!(not_used(&encode(&files, None).unwrap()), Some(reason));
    }
    let error = encode(&[&first, &other], Some("group")).unwrap_err();
    assert!(error.fields.contains(&EncodeField::Groups), "{error}");
}

fn table(text: &str) -> Result<Groups, ReadError> {
    Groups::read(Input::from_bytes("groups.csv", text.as_bytes().to_vec())?)
}

#[test]
fn a_table_of_groups_replaces_those_of_recordings() {
    let text = format!("{HEADER}p,alpha,a,1,1,200\nq,two,a,1,1,200\n");
    let with = |table: &Groups| {
        let mut encoded = encode(&[&text], None).unwrap();
        encoded.assign(table).map(|()| encoded)
    };
    for text in [
        "participant,group\np,patients\nq,none\nr,patients\n",
        "participant_id\tage\tgroup\np\t30\tpatients\nq\t31\tnone\ns\t5\tn/a\n",
        "Group;Participant;;\npatients;p;;\nnone;q;;\npatients;p;;\n;;;\n",
    ] {
        let encoded = with(&table(text).unwrap()).unwrap();
        let expected = [("p", Some("patients")), ("q", Some("none"))];
        assert_eq!(groups(&encoded.cohort), expected, "{text}");
        assert_eq!(encoded.summary.groups["none"], 1);
        let replaced = EncodeNote::GroupsNotUsed {
            reason: GroupsNotUsed::TableGiven,
        };
        assert!(encoded.summary.notes.contains(&replaced));
    }
    // A cohort file marks ids that a spreadsheet would take for formulas, and a spreadsheet quotes comments.
    let saved = "# veilpath cohort 1,,,\n\"# areas: a, b\",,,\nparticipant,group,stimulus,scanpath\n'=p,x,s,AB\n";
    let read = table(saved).unwrap();
    assert_eq!(read.by_participant["=p"], "x");
    let error = table("# veilpath cohort 1\nparticipant,scanpath\np,AB\n").unwrap_err();
    assert!(error.problem.contains("no groups"), "{error}");
    let error = with(&table("participant,group\np,patients\nq,n/a\n").unwrap()).unwrap_err();
    assert!(error.problem.starts_with("1 of 2"), "{error}");
    let error = table("participant,group\np,one\np,two\n").unwrap_err();
    assert_eq!(error.line, Some(3), "{error}");
    let error = table("who,group\np,one\n").unwrap_err();
    assert!(error.remedy.contains("who"), "{error}");
}

fn cohort(text: &str) -> Result<Cohort, ReadError> {
    let raw = RawCohort::read(Input::from_bytes("c.csv", text.as_bytes().to_vec())?)?;
    raw.cohort(raw.alphabet(None))
}

#[test]
fn cohort_files_keep_groups() {
    let plain = "# veilpath cohort 1\n# alphabet: letters 4\nparticipant,group,stimulus,scanpath\np,\"a, b\",s,AB\nq,'=c,s,\np,\"a, b\",t,C\n";
    let padded = "\u{feff}# veilpath cohort 1,,,,\r\n# alphabet: letters 4,,,,\r\nparticipant,group,stimulus,scanpath,\r\np,\"a, b\",s,AB,\r\nq,'=c,s,,\r\np,\"a, b\",t,C,\r\n";
    let other_order = "# veilpath cohort 1\n# alphabet: letters 4\nScanpath;Stimulus;Group;Participant\nAB;s;a, b;p\n;s;=c;q\nC;t;a, b;p\n";
    let read = cohort(plain).unwrap();
    assert_eq!(
        groups(&read),
        [("p", Some("a, b")), ("q", Some("=c")), ("p", Some("a, b"))]
    );
    assert_eq!(cohort(padded).unwrap(), read);
    assert_eq!(cohort(other_order).unwrap(), read);
    let mut bytes = Vec::new();
    crate::cohort_file::write(&read, None, &[], &mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), plain);
}

#[test]
fn cohort_files_with_contradictory_groups_are_refused() {
    for (rows, line) in [
        ("p,alpha,AB\np,two,AB\n", 3),
        ("p,alpha,AB\nq,,AB\n", 3),
        ("p,,AB\nq,,AB\nr,alpha,AB\n", 4),
        ("p,alpha,AB\np,,AB\n", 3),
    ] {
        let error = cohort(&format!("participant,group,scanpath\n{rows}")).unwrap_err();
        assert_eq!(error.line, Some(line), "{error}");
        assert_eq!(*error.column.clone().unwrap(), (2, "group".into()));
        assert!(
            !error.remedy.is_empty() && !error.to_string().contains("alpha"),
            "{error}"
        );
    }
    let empty = cohort("participant,group,scanpath\np,,AB\nq,NA,AB\n").unwrap();
    assert!(!empty.has_groups());
}
