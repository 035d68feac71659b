//! Estimates how wide a text is drawn. The browser chooses the font, so the estimates are those of a wide one.

use unicode_width::UnicodeWidthChar;

/// How much wider bold text is.
pub(crate) const BOLD: f64 = 1.15;

/// The most that a drawing shows of an id or name, in em: about 22 small letters.
pub(crate) const NAME_ROOM: f64 = 13.5;

/// The width of a space in em.
const SPACE: f64 = 0.42;

/// Letters that are much wider than others of their script.
const WIDE_LETTERS: &str = "ŵŴæÆœŒĦŉώωΏΜΩЉЊЖМФШЩЪЫЮжфшщыюљњ";

/// The width of a text in em. Multiplied by the font size, it is about that of DejaVu Sans or Verdana, and more than that
/// of most other fonts.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().map(char_width).sum()
}

/// Breaks a text into at most `most` lines of about this width in em, at spaces.
pub(crate) fn lines(text: &str, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let full = lines.len() == most;
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if full || text_width(line) + text_width(word) + SPACE <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// The width of a character in em.
pub(crate) fn char_width(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | 'f' | 't' | 'I' | ' ' | '\'' | '!' | '(' | ')' | '[' | ']' | '.'
        | ',' | ':' | ';' | '|' | '/' | '\\' | '-' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '&' | '#' | '+' | '<' | '=' | '>' | '^' | '~' | '…'
        | '—' | '←' | '↑' | '→' | '↓' => 1.0,
        'A'..='Z' => 0.79,
        ' '..='~' => 0.64,
        '·' => 0.42,
        other if WIDE_LETTERS.contains(other) => 1.2,
        'À'..='ſ' | 'Ά'..='џ' => 0.82,
        other => match (other.width(), other) {
            (None | Some(0), _) => 0.0,
            // Letters of East Asian scripts are square; emoji are wider.
            (Some(2), '\u{2e80}'..='\u{ffef}' | '\u{20000}'..) => 1.05,
            _ => 1.4,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widths of DejaVu Sans, in thousandths of an em.
    #[test]
    fn no_text_is_wider_than_estimated() {
        for (text, width) in [
            ("PATIENT_MEMORY_GROUP_00c6", 16_184),
            ("CONTROL_HAMBURG_WOMEN_0d0", 17_496),
            ("WWWWWWWW", 7910),
            ("participant-12", 7063),
            ("illicit", 2331),
            ("0123456789", 6362),
            ("Щука", 2902),
        ] {
            let (estimate, width) = (text_width(text), f64::from(width) / 1000.0);
            assert!(estimate >= width, "{text}: {estimate} < {width}");
            assert!(estimate <= width * 1.4, "{text}: {estimate} for {width}");
        }
    }

    #[test]
    fn long_texts_are_broken_at_spaces() {
        assert_eq!(lines("score", 30.0, 3), ["score"]);
        let statistic = "mean similarity within groups minus the mean similarity between groups";
        let broken = lines(statistic, 34.0, 3);
        assert_eq!(broken.len(), 2, "{broken:?}");
        assert_eq!(broken.join(" "), statistic);
        assert!(broken.iter().all(|line| text_width(line) <= 34.0));
        assert_eq!(lines("a b c d", 0.1, 2), ["a", "b c d"]);
    }

    #[test]
    fn east_asian_letters_are_square_and_accents_have_no_width() {
        assert!(text_width("参加者") >= 3.0);
        assert_eq!(text_width("e\u{301}"), text_width("e"));
    }
}
