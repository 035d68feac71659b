//! Numbers on the command line.

/// A number that need not be whole. Who writes a decimal comma is told of the point, in place of a parser's words.
pub(crate) fn decimal(text: &str) -> Result<f64, String> {
    text.parse()
        .map_err(|_| "expected a number with a decimal point, like 1.5".into())
}
