use super::*;

fn rows(text: &str) -> Rows {
    Rows::open(Input::from_bytes("t.csv", text.as_bytes().to_vec()).unwrap()).unwrap()
}

#[test]
fn fields_quotes_comments_and_units_are_parsed() {
    let mut table =
        rows("# made by hand\n\"x [px]\",Y , name\n1.5,2,\"a, \"\"b\"\"\"\n\n#\n3,n/a,c\n");
    assert_eq!(table.columns().find(&["X"]), Some(0));
    assert_eq!(table.columns().unit(0), Some("px"));
    let row = table.next_row().unwrap().unwrap();
    assert_eq!((row.number(0).unwrap(), row.text(2)), (1.5, "a, \"b\""));
    let row = table.next_row().unwrap().unwrap();
    assert_eq!(row.line(), 6);
    assert_eq!(row.number_or_missing(1).unwrap(), None);
    assert!(table.next_row().unwrap().is_none());
}

#[test]
fn runs_of_spaces_separate_where_nothing_else_does() {
    let mut table = rows("  x   \"y y\" z\n1  2 3\n \"a b\"   c  \n");
    assert_eq!(table.columns().names(), ["x", "y y", "z"]);
    let row = table.next_row().unwrap().unwrap();
    assert_eq!((row.len(), row.text(0), row.text(2)), (3, "1", "3"));
    let row = table.next_row().unwrap().unwrap();
    assert_eq!((row.len(), row.text(0), row.text(1)), (2, "a b", "c"));
}

#[test]
fn column_names_and_comment_character_can_be_given() {
    let lines = Input::from_bytes("t", b"1,2\n% x\n3,4\n".to_vec())
        .unwrap()
        .into_lines();
    let names = vec!["a, b".to_string(), "c".to_string()];
    let mut table = Rows::with_names(lines, names, b',').with_comments('%');
    assert_eq!(table.columns().find(&["a, b"]), Some(0));
    assert_eq!(table.next_row().unwrap().unwrap().text(0), "1");
    assert_eq!(table.next_row().unwrap().unwrap().text(0), "3");
    assert!(table.next_row().unwrap().is_none());
}

#[test]
fn errors_name_the_place() {
    let mut table = rows("x;y\n1,5;abc\n7\n\"1;2\n");
    let row = table.next_row().unwrap().unwrap();
    assert_eq!(row.number(0).unwrap(), 1.5);
    let error = row.number(1).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("t.csv, line 2, column 2 (y): "),
        "{error}"
    );
    assert!(!error.to_string().contains("abc"));
    let row = table.next_row().unwrap().unwrap();
    assert_eq!(row.number_or_missing(1).unwrap_err().line, Some(3));
    assert_eq!(table.next_row().err().unwrap().line, Some(4));
    let advice = |table: &Rows| table.columns().require(&["z"]).unwrap_err().remedy;
    assert!(advice(&table).contains("x, y"));
    let advice = advice(&rows("Anne,17,0.25\n"));
    assert!(advice.contains("missing") && !advice.contains("Anne"));
}

/// A renamed spreadsheet is named as such, and its bytes do not appear as names of columns.
#[test]
fn a_renamed_spreadsheet_is_not_a_table() {
    let bytes = b"PK\x03\x04\x14\x00\x06\x00[Content_Types].xml,a,b\nPK\x03\x04xl/workbook.xml";
    let input = || Input::from_bytes("table.csv", bytes.to_vec()).unwrap();
    for error in [
        Rows::open(input()).err().unwrap(),
        crate::Groups::read(input()).unwrap_err(),
        crate::Areas::read(input()).unwrap_err(),
    ] {
        assert!(error.problem.contains("this is a spreadsheet"), "{error}");
        assert!(error.remedy.contains("save the sheet"), "{error}");
    }
}
