//! Guesses the coordinate columns of a table in which none were recognised.

use super::columns::{normalised_name, split_unit};
use super::vocabulary::{AOI, COORDINATE_PAIRS};

/// A coordinate column without its counterpart: its name, and the name of the one that is missing.
pub(crate) fn unpaired_coordinate(names: &[&str]) -> Option<(String, &'static str)> {
    let bare: Vec<String> = names
        .iter()
        .map(|name| normalised_name(&split_unit(name).0))
        .collect();
    let has = |word: &str| bare.iter().position(|name| name == word);
    COORDINATE_PAIRS
        .iter()
        .find_map(|(x, y, _)| match (has(x), has(y)) {
            (Some(found), None) => Some((names.get(found)?.to_string(), *y)),
            (None, Some(found)) => Some((names.get(found)?.to_string(), *x)),
            _ => None,
        })
}

/// Whether one of the columns has the usual name of areas of interest.
pub(crate) fn names_areas(names: &[&str]) -> bool {
    let mut names = names.iter().map(|name| normalised_name(name));
    names.any(|name| AOI.aliases.contains(&name.as_str()))
}

/// Pairs of names that differ only in an x and a y, such as `left_x` and `left_y`.
pub(crate) fn coordinate_pairs(names: &[&str]) -> Vec<(String, String)> {
    let y_name = |name: &str, at: usize, y: &str| {
        let y_name = format!("{}{y}{}", &name[..at], &name[at + 1..]);
        names.contains(&y_name.as_str()).then_some(y_name)
    };
    names
        .iter()
        .filter_map(|name| {
            let mut signs = name.char_indices();
            let y = signs.find_map(|(at, sign)| match sign {
                'x' => y_name(name, at, "y"),
                'X' => y_name(name, at, "Y"),
                _ => None,
            })?;
            Some((name.to_string(), y))
        })
        .collect()
}

/// `left_x and left_y, or right_x and right_y, look like coordinates`.
pub(crate) fn look_like_coordinates(pairs: &[(String, String)]) -> String {
    const LISTED: usize = 3;
    let pairs = pairs.iter().take(LISTED);
    let pairs: Vec<String> = pairs.map(|(x, y)| format!("{x} and {y}")).collect();
    let comma = if pairs.len() > 1 { "," } else { "" };
    format!("{}{comma} look like coordinates", pairs.join(", or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_x_and_y_are_pairs() {
        let names = [
            "max", "left_x", "left_y", "RightX", "RightY", "x1", "may_be",
        ];
        let pair = |x: &str, y: &str| (x.to_string(), y.to_string());
        assert_eq!(
            coordinate_pairs(&names),
            [pair("left_x", "left_y"), pair("RightX", "RightY")]
        );
    }
}
