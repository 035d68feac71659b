//! Tables under lines of other text, such as the name of a laboratory and a date.

use super::{Explanation, separates};
use crate::readers::has_coordinates;
use crate::{Columns, Head, guess_delimiter, parse_number};

/// A table whose header is not the first line. Comments and blank lines before a header are no problem.
pub(super) fn text_above_header(head: &Head) -> Option<Explanation> {
    let is_skipped = |line: &str| line.trim().is_empty() || line.starts_with('#');
    let mut lines = (1..).zip(&head.lines).filter(|(_, line)| !is_skipped(line));
    lines.next().filter(|_| !head.binary)?;
    let lines: Vec<(usize, &String)> = lines.collect();
    let (number, _) = lines
        .windows(2)
        .find(|pair| is_header(pair[0].1, pair[1].1))?[0];
    let above = match number - 1 {
        1 => "delete line 1, or begin it with #".to_string(),
        last => format!("delete lines 1 to {last}, or begin each of them with #"),
    };
    Some((
        format!("the header of the table seems to be line {number}, below other text"),
        above,
    ))
}

/// Whether a line names the columns of the next one, and among them coordinates.
fn is_header(line: &str, next: &String) -> bool {
    let delimiter = guess_delimiter(line);
    let columns = Columns::of_header("", 1, line, delimiter);
    let is_name = |name: &String| parse_number(name, true).is_none();
    has_coordinates(&columns)
        && columns.names().iter().all(is_name)
        && separates(char::from(delimiter), line, &[next])
}

#[cfg(test)]
mod tests {
    use crate::{Input, explain_unknown};

    #[test]
    fn the_header_below_other_text_is_found() {
        let explain = |text: &str| {
            let input = Input::from_bytes("t.csv", text.as_bytes().to_vec()).unwrap();
            explain_unknown(&input.head()).to_string()
        };
        let table = "participant,x,y,duration\np1,1,2,3\n";
        let text = explain(&format!("Our laboratory\nDate: 2024-01-01\n\n{table}"));
        assert!(text.contains("seems to be line 4"), "{text}");
        assert!(text.contains("delete lines 1 to 3"), "{text}");
        let text = explain(&format!("Our laboratory\n{table}"));
        assert!(text.contains("delete line 1, or"), "{text}");
        // Prose may mention x and y.
        let text = explain("About the data\nWe show x and y\nof one eye only\n");
        assert!(!text.contains("header of the table"), "{text}");
    }
}
