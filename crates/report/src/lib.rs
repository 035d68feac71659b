//! Renders the outcome of a comparison, with one module per format, and makes reports from result files.
//!
//! | rendering | for |
//! |---|---|
//! | [`table`] | people at a terminal |
//! | [`csv`] | spreadsheets, R, pandas |
//! | [`json`] | programs: includes the plan, the cost and what was revealed |
//! | [`html`] | one page with figures, from a result file |
//! | [`document`] | a short text, as Markdown or HTML |
//!
//! The renderings share [`plan`], the plan in words, and [`units`], bytes, seconds and counts as text. [`result_file`]
//! reads CSV and JSON back. CSV and JSON keep the full precision of numbers; the table rounds to six
//! decimals.

mod answers;
pub mod csv;
pub mod document;
pub mod html;
pub mod json;
pub mod plan;
pub mod result_file;
mod same_participants;
pub mod table;
mod threshold_side;
pub mod units;

pub use result_file::ResultFile;
pub use same_participants::pairs_of_one_id;

/// The shortest text that parses to the same number. Integers have no decimal point.
pub(crate) fn exact(number: f64) -> String {
    // Adding zero turns −0 into 0.
    format!("{}", number + 0.0)
}
