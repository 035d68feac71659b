//! The `fixations` column of a cohort file: `x y duration` or `x y duration start` for each fixation, separated by
//! semicolons.

use std::fmt::Write;
use veilpath_metrics::{Fixation, Fixations};

/// The column's name.
pub(super) const COLUMN: &str = "fixations";

/// Formats fixations. Each number has the fewest digits that parse back to the same value.
pub(super) fn format(fixations: &Fixations) -> String {
    let mut text = String::new();
    for (index, fixation) in fixations.list().iter().enumerate() {
        let Fixation {
            x,
            y,
            start,
            duration,
        } = fixation;
        let separator = if index > 0 { ";" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}{x} {y} {duration}");
        if let Some(start) = start {
            let _ = write!(text, " {start}");
        }
    }
    text
}

/// Parses a field. An error says which fixation is wrong, but never quotes it.
pub(super) fn parse(text: &str) -> Result<Fixations, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Fixations::default());
    }
    let mut fixations = Vec::new();
    for (position, one) in (1..).zip(text.split(';')) {
        let one = fixation(one);
        let malformed = || format!("fixation {position} is not three or four numbers");
        fixations.push(one.ok_or_else(malformed)?);
    }
    Fixations::new(fixations).map_err(|error| error.to_string())
}

fn fixation(text: &str) -> Option<Fixation> {
    let mut numbers = text.split_ascii_whitespace().map(|word| word.parse().ok());
    let mut next = || numbers.next();
    let (x, y, duration, start) = (next()??, next()??, next()??, next());
    let start = match start {
        Some(start) => Some(start?),
        None => None,
    };
    numbers.next().is_none().then_some(Fixation {
        x,
        y,
        start,
        duration,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn malformed_fixations_are_refused_without_their_numbers() {
        for (text, problem) in [
            ("1 2 3;", "fixation 2 is not three or four numbers"),
            ("1 2", "fixation 1 is not three or four numbers"),
            ("1 2 3 4 5", "fixation 1 is not three or four numbers"),
            ("1 2 3;7 x 9", "fixation 2 is not three or four numbers"),
            ("1 2 nan", "fixation 1 has a number that is not finite"),
            ("1 2 1e999", "fixation 1 has a number that is not finite"),
            ("1 2 3;1 2 -3", "fixation 2 has a duration below zero"),
        ] {
            assert_eq!(parse(text), Err(problem.to_string()), "{text}");
        }
        assert_eq!(parse("  ").map(|all| all.len()), Ok(0));
        assert_eq!(parse(" 1 2 3 ; 4 5 6 7 ").map(|all| all.len()), Ok(2));
    }

    proptest! {
        #[test]
        fn fixations_are_read_back_exactly(
            numbers in prop::collection::vec(
                (any::<f64>(), any::<f64>(), any::<Option<f64>>(), any::<f64>()),
                0..20,
            ),
        ) {
            let finite = |number: f64| if number.is_finite() { number } else { 0.1 };
            let fixations = numbers.into_iter().map(|(x, y, start, duration)| Fixation {
                x: finite(x),
                y: finite(y),
                start: start.map(finite),
                duration: finite(duration).abs(),
            });
            let fixations = Fixations::new(fixations.collect()).unwrap();
            let read = parse(&format(&fixations)).unwrap();
            let bits = |fixations: &Fixations| -> Vec<[Option<u64>; 4]> {
                let list = fixations.list().iter();
                let all = list.map(|it| [Some(it.x), Some(it.y), it.start, Some(it.duration)]);
                all.map(|numbers| numbers.map(|number| number.map(f64::to_bits))).collect()
            };
            prop_assert_eq!(bits(&read), bits(&fixations));
        }
    }
}
