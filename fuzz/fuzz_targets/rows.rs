//! Delimited tables, field by field.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_encode::{Input, Rows};

fuzz_target!(|data: &[u8]| {
    let Ok(input) = Input::from_bytes("a.csv", data.to_vec()) else {
        return;
    };
    let Ok(mut rows) = Rows::open(input) else {
        return;
    };
    let columns = rows.columns().names().len();
    let _ = rows.columns().require(&["x"]);
    let mut line = 0;
    while let Ok(Some(row)) = rows.next_row() {
        assert!(row.line() > line);
        line = row.line();
        for column in 0..columns.max(row.len()) + 1 {
            row.text(column);
            if let Ok(Some(number)) = row.number_or_missing(column) {
                assert!(number.is_finite());
            }
        }
    }
});
