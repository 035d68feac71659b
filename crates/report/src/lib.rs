//! Renders the outcome of a comparison, one file per rendering.
//!
//! | rendering | for |
//! |---|---|
//! | [`table`] | people at a terminal |
//! | [`csv`] | spreadsheets, R, pandas |
//! | [`evaluation`] | readers of measurements: a page of tables and plots |
//! | [`json`] | programs: with the plan, the cost and what was revealed |
//!
//! Numbers keep their full precision in CSV and JSON; the table rounds to six decimals.

pub mod csv;
pub mod evaluation;
pub mod json;
pub mod table;

/// A number as short as it can be written without loss; whole numbers have no decimal point.
pub(crate) fn exact(number: f64) -> String {
    // Adding zero turns −0 into 0.
    format!("{}", number + 0.0)
}
