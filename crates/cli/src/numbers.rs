//! Numbers on the command line.

/// Parses a decimal number. The error mentions the decimal point for users who write a decimal comma.
pub(crate) fn decimal(text: &str) -> Result<f64, String> {
    text.parse()
        .map_err(|_| "expected a number with a decimal point, like 1.5".into())
}
