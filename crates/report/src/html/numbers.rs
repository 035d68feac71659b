//! Numbers for figures and their tables: few digits, thousands separated.

use crate::units;
pub(crate) use crate::units::grouped as count;

/// A score or a similarity: at most four significant decimals, and none for integers.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if value.fract() == 0.0 && size < 1e9 {
        return fixed(value, 0);
    }
    match size {
        _ if !(1e-4..1e9).contains(&size) => signed(&format!("{value:.3e}")),
        _ if size >= 1000.0 => fixed(value, 0),
        _ if size >= 100.0 => trimmed(value, 1),
        _ if size >= 10.0 => trimmed(value, 2),
        _ if size >= 0.01 => trimmed(value, 3),
        _ => trimmed(value, 5),
    }
}

/// A number with this many decimals, trailing zeros included, for columns of numbers.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let (minus, digits) = match whole.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", whole),
    };
    let digits = digits.parse().map_or_else(|_| digits.to_string(), count);
    let point = if rest.is_empty() { "" } else { "." };
    signed(&format!("{minus}{digits}{point}{rest}"))
}

/// The decimals that a column of numbers needs: none if all are integers, otherwise three significant digits of the
/// range.
pub(crate) fn decimals(values: impl Iterator<Item = f64> + Clone) -> usize {
    if values.clone().all(|value| value.fract() == 0.0) {
        return 0;
    }
    let largest = values.fold(0.0_f64, |largest, value| largest.max(value.abs()));
    match largest {
        _ if largest >= 1000.0 => 0,
        _ if largest >= 100.0 => 1,
        _ if largest >= 10.0 => 2,
        _ if largest >= 0.1 => 3,
        _ => 6,
    }
}

/// The decimals shared by the mean, deviation and median of these numbers. `None` if the numbers are so large or so
/// small that they need exponents.
pub(crate) fn spread_decimals(values: impl Iterator<Item = f64>) -> Option<usize> {
    let largest = values.fold(0.0_f64, |largest, value| largest.max(value.abs()));
    match largest {
        0.0 => Some(1),
        _ if !(1e-2..1e9).contains(&largest) => None,
        _ if largest >= 100.0 => Some(1),
        _ if largest >= 10.0 => Some(2),
        _ => Some(3),
    }
}

/// A number with these decimals, or with an exponent.
pub(crate) fn aligned(value: f64, decimals: Option<usize>) -> String {
    decimals.map_or_else(|| short(value), |decimals| fixed(value, decimals))
}

/// The decimals that show a step with two significant digits; `None` if there is no such number of at most 12.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 0 to 12
pub(crate) fn decimals_of_step(step: f64) -> Option<usize> {
    let decimals = 1.0 - step.log10().floor();
    (0.0..=12.0)
        .contains(&decimals)
        .then_some(decimals as usize)
}

/// A count and its noun: `1 pair`, `32 pairs`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    units::counted(number as u64, noun)
}

/// Round numbers from at most `least` to at least `greatest`, about `steps` apart: the ticks of an axis.
pub(crate) fn ticks(smallest: f64, largest: f64, steps: usize) -> Vec<f64> {
    let span = (largest - smallest).max(f64::MIN_POSITIVE * 1e10);
    let raw_step = span / steps.max(1) as f64;
    let power = 10_f64.powf(raw_step.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|&step| step >= raw_step * 0.999)
        .unwrap_or(raw_step);
    let first = (smallest / step + 1e-9).floor();
    let mut ticks = Vec::new();
    for at in 0..200 {
        let tick = (first + f64::from(at)) * step;
        ticks.push(tick + 0.0);
        if tick >= largest - step * 1e-9 {
            break;
        }
    }
    ticks
}

fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    signed(text)
}

/// Uses a real minus sign, and none before zero.
fn signed(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.into(),
        Some(rest) => format!("−{rest}"),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown: Vec<String> = [
            0.0, 12.0, 13768.0, -3.0, 0.487_967, 0.5, 17.256, 171.26, 1.5e12, 1e-7, -0.000_4,
        ]
        .map(short)
        .into();
        assert_eq!(
            shown,
            [
                "0",
                "12",
                "13,768",
                "−3",
                "0.488",
                "0.5",
                "17.26",
                "171.3",
                "1.500e12",
                "1.000e-7",
                "−0.0004"
            ]
        );
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(fixed(1234.5, 1), "1,234.5");
        assert_eq!(counted(1, "pair"), "1 pair");
        assert_eq!(counted(1000, "pair"), "1,000 pairs");
    }

    #[test]
    fn numbers_of_a_range_have_equal_decimals() {
        let shown = |values: &[f64]| {
            let decimals = spread_decimals(values.iter().copied());
            let shown = values.iter().map(|&value| aligned(value, decimals));
            shown.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(&[0.487_96, 0.05]), "0.488 0.050");
        assert_eq!(shown(&[17.256, 4.0]), "17.26 4.00");
        assert_eq!(shown(&[1234.5, 0.04]), "1,234.5 0.0");
        assert_eq!(shown(&[0.0, 0.0]), "0.0 0.0");
        assert_eq!(shown(&[1e29, -2e28]), "1.000e29 −2.000e28");
    }

    #[test]
    fn ticks_are_round_and_enclose_the_data() {
        let shown: Vec<String> = ticks(0.37, 0.64, 5).into_iter().map(short).collect();
        assert_eq!(shown, ["0.3", "0.4", "0.5", "0.6", "0.7"]);
        assert_eq!(
            ticks(3.0, 3.0, 5).len(),
            1,
            "one number is enough for one value"
        );
        for (smallest, largest) in [(0.0, 1e-300), (-1e300, 1e300), (1.0, 1.0 + 1e-15)] {
            assert!(ticks(smallest, largest, 5).len() <= 200);
        }
    }
}
