//! Bytes, seconds, counts and error bounds as text.

use std::fmt::Write as _;
use veilpath_metrics::CrqaMeasure;
use veilpath_protocol::FixationRounding;
pub use veilpath_protocol::units::{bytes, counted, grouped, seconds};

/// `a, b and 3 more`: the first few names, and how many others there are.
pub fn first_of(mut names: impl ExactSizeIterator<Item = String>, shown: usize) -> String {
    let first: Vec<String> = names.by_ref().take(shown).collect();
    let first = first.join(", ");
    match names.len() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// How fixations are rounded to letters, and the largest change this makes.
pub fn fixation_rounding(rounding: &FixationRounding) -> String {
    let FixationRounding {
        grid,
        largest_shift,
        unit,
        durations,
        largest_duration_change,
    } = rounding;
    let unit = unit
        .as_ref()
        .map_or_else(String::new, |unit| format!(" {unit}"));
    let shift = error_bound(*largest_shift);
    let mut text = format!(
        "rounded to a grid of {grid} over the screen, which moves each on it by at most {shift}{unit}"
    );
    if let Some(change) = largest_duration_change {
        let durations: Vec<String> = durations.iter().map(f64::to_string).collect();
        let _ = write!(
            text,
            "; durations are rounded to {} ms, by at most {} ms up to the longest",
            durations.join(", "),
            error_bound(*change)
        );
    }
    text
}

/// An error bound, rounded up to two digits: `0.00052`, or one if the second is 0.
pub fn error_bound(bound: f64) -> String {
    if bound <= 0.0 || !bound.is_finite() {
        return "0".into();
    }
    // Take the exponent from Rust's formatting: a logarithm could be off by one at a power of ten.
    let exponent = format!("{bound:e}");
    let exponent = exponent
        .split_once('e')
        .and_then(|(_, digits)| digits.parse().ok());
    let exponent: i32 = exponent.unwrap_or(0);
    let last_digit = 10f64.powi(exponent - 1);
    let decimals = usize::try_from(1 - exponent).unwrap_or(0);
    // Subtract a little, so that rounding in the division does not raise a bound that prints exactly.
    let text = format!(
        "{:.decimals$}",
        (bound / last_digit - 1e-9).ceil() * last_digit
    );
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// The unit of a metric's measure, by name; `None` if it has none.
pub(crate) fn measure_unit(metric: &str, measure: &str) -> Option<&'static str> {
    let of_points = |known: &CrqaMeasure| known.name() == measure;
    match metric {
        "crqa" if CrqaMeasure::ALL.iter().any(of_points) => Some("%"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_with_the_number_of_the_others() {
        let list = |count: usize| first_of((0..count).map(|at| at.to_string()), 2);
        assert_eq!([1, 2, 4].map(list), ["0", "0, 1", "0, 1 and 2 more"]);
    }

    #[test]
    fn error_bounds_are_rounded_up() {
        let texts = [0.0, 0.000_510_2, 0.000_79, 0.001, 0.015_51, 1.23, 123.0].map(error_bound);
        assert_eq!(
            texts,
            ["0", "0.00052", "0.00079", "0.001", "0.016", "1.3", "130"]
        );
    }
}
