//! Replaces unprintable characters in ids and settings.

use super::raw::RawRow;
use std::borrow::Cow;
use veilpath_metrics::text;

/// Makes all ids printable and returns how many were not. With `may_be_marked`, first removes the apostrophe that
/// protects ids from being taken for spreadsheet formulas.
pub(super) fn make_ids_printable(rows: &mut [RawRow], may_be_marked: bool) -> usize {
    let mut unprintable = 0;
    for row in rows {
        let ids = [
            Some(&mut row.participant),
            row.group.as_mut(),
            row.stimulus.as_mut(),
        ];
        for id in ids.into_iter().flatten() {
            if may_be_marked && let Cow::Owned(unmarked) = text::from_csv_field(id) {
                *id = unmarked;
            }
            unprintable += make_printable(id);
        }
    }
    unprintable
}

/// Replaces unprintable characters, and returns 1 if there were any.
pub(super) fn make_printable(text: &mut String) -> usize {
    let Cow::Owned(replaced) = text::printable(text) else {
        return 0;
    };
    *text = replaced;
    1
}
