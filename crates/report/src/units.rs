//! Human-readable bytes, seconds and counts.

use std::fmt::Write as _;
use veilpath_metrics::CrqaMeasure;
use veilpath_protocol::FixationRounding;

/// Bytes with a decimal unit, and one decimal below 100 units: `512 bytes`, `1.3 MB`, `25.8 GB`, `100 kB`.
#[allow(clippy::cast_precision_loss)] // three digits are shown
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if count < 1000 {
        return counted(count, "byte");
    }
    let mut number = count as f64 / 1000.0;
    let mut unit = 0;
    // 999.5 of a unit would be shown as 1000.
    while number >= 999.5 && unit + 1 < UNITS.len() {
        number /= 1000.0;
        unit += 1;
    }
    let decimals = usize::from(number < 99.95);
    format!("{number:.decimals$} {}", UNITS[unit])
}

/// Seconds in a suitable unit: `42 µs`, `4.2 ms`, `0.25 s`, `32 s`, `2 min 5 s`, `3 h 20 min`.
pub fn seconds(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "unknown time".into();
    }
    if seconds < 0.000_000_5 {
        return "under 1 µs".into();
    }
    if seconds < 0.000_999_5 {
        return format!("{:.0} µs", seconds * 1e6);
    }
    if seconds < 0.0995 {
        let milliseconds = seconds * 1000.0;
        let decimals = usize::from(milliseconds < 9.95);
        return format!("{milliseconds:.decimals$} ms");
    }
    if seconds < 9.95 {
        let decimals = if seconds < 0.995 { 2 } else { 1 };
        return format!("{seconds:.decimals$} s");
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the cast saturates
    let whole = seconds.round() as u64;
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest} s"),
        (0, _) => format!("{minutes} min {rest} s"),
        (1..=47, _) => format!("{hours} h {minutes} min"),
        _ => format!("{} days {} h", hours / 24, hours % 24),
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

/// An error bound, rounded up to two digits: `0.00052`.
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
    format!(
        "{:.decimals$}",
        (bound / last_digit - 1e-9).ceil() * last_digit
    )
}

/// A count and its noun: `1 pair`, `12,345 pairs`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

/// A number with commas between the thousands: `13,768`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
    fn bytes_have_at_most_three_digits_and_a_unit() {
        for (count, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (1_340_000, "1.3 MB"),
            (99_940, "99.9 kB"),
            (99_960, "100 kB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"),
            (25_800_000_000, "25.8 GB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn durations_have_a_suitable_unit() {
        for (time, text) in [
            (0.0, "under 1 µs"),
            (0.000_042, "42 µs"),
            (0.000_999_6, "1.0 ms"),
            (0.0042, "4.2 ms"),
            (0.0123, "12 ms"),
            (0.25, "0.25 s"),
            (0.996, "1.0 s"),
            (9.94, "9.9 s"),
            (32.4, "32 s"),
            (59.7, "1 min 0 s"),
            (125.0, "2 min 5 s"),
            (12_000.0, "3 h 20 min"),
            (1e6, "11 days 13 h"),
            (f64::NAN, "unknown time"),
            (-1.0, "unknown time"),
        ] {
            assert_eq!(seconds(time), text);
        }
    }

    #[test]
    fn counts_have_commas_and_plurals() {
        assert_eq!(counted(1, "pair"), "1 pair");
        assert_eq!(counted(0, "pair"), "0 pairs");
        assert_eq!(counted(999, "pair"), "999 pairs");
        assert_eq!(counted(1_234_567, "pair"), "1,234,567 pairs");
        assert_eq!(grouped(1000), "1,000");
    }

    #[test]
    fn error_bounds_are_rounded_up() {
        let texts = [0.0, 0.000_510_2, 0.000_79, 0.001, 0.015_51, 1.23, 123.0].map(error_bound);
        assert_eq!(
            texts,
            ["0", "0.00052", "0.00079", "0.0010", "0.016", "1.3", "130"]
        );
    }
}
