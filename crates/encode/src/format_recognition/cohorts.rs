//! Files that are cohorts already, and need not be encoded.

use super::Explanation;
use crate::readers::{IdColumns, has_coordinates};
use crate::{Columns, Head, guess_delimiter};

/// Whether a file looks like a cohort that `veilpath encode` writes, or like another table of ids and scanpaths.
pub(super) fn is_cohort(head: &Head) -> bool {
    let header = head
        .lines
        .iter()
        .map(|line| line.trim())
        // A spreadsheet may put quotes around comments.
        .find(|line| !line.is_empty() && !line.trim_start_matches('"').starts_with('#'))
        .unwrap_or("");
    let columns = Columns::of_header(&head.name, 1, header, guess_delimiter(header));
    let ids = IdColumns::of(&columns);
    let has_ids = ids.participant.is_some() || ids.stimulus.is_some();
    columns.has_all(&["scanpath"]) && has_ids && !has_coordinates(&columns)
}

pub(super) fn scanpath_strings() -> Explanation {
    (
        "this seems to be a cohort already: scanpaths as strings of letters".to_string(),
        "there is nothing to encode; compare it directly".to_string(),
    )
}

/// Whether a file looks like scanpath strings, as OGAMA and ScanGraph write them: a participant, a tab and letters in
/// each line, or only letters. Names and other words have fewer capitals.
pub(super) fn has_scanpath_strings(head: &Head) -> bool {
    let lines = head.lines.iter().map(|line| line.trim_end_matches('\r'));
    let lines = lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let (mut letters, mut capitals) = (0, 0);
    for line in lines {
        let mut fields = line.split('\t');
        let first = fields.next().unwrap_or_default();
        let text = match (fields.next(), fields.next()) {
            (_, Some(_)) => return false,
            (Some(text), None) => text.trim(),
            (None, None) => first.trim(),
        };
        // OGAMA writes # for a fixation outside all areas.
        if !text
            .bytes()
            .all(|it| it.is_ascii_alphabetic() || it == b'#')
        {
            return false;
        }
        letters += text.len();
        capitals += text.bytes().filter(u8::is_ascii_uppercase).count();
    }
    !head.binary && letters > 1 && capitals * 4 >= letters
}
