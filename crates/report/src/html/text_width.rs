//! Estimates how wide a text is drawn. The browser chooses the font, so the estimates are those of a wide one.

use unicode_width::UnicodeWidthChar;

/// How much wider bold text is.
pub(crate) const BOLD: f64 = 1.15;

/// The most that a drawing shows of an id or name, in em: about 22 small letters.
pub(crate) const NAME_ROOM: f64 = 13.5;

/// Letters that are much wider than others of their script.
const WIDE_LETTERS: &str = "ŵŴæÆœŒĦŉώωΏΜΩЉЊЖМФШЩЪЫЮжфшщыюљњ";

/// The width of a text in em. Multiplied by the font size, it is about that of DejaVu Sans or Verdana, and more than that
/// of most other fonts.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().map(char_width).sum()
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
    fn east_asian_letters_are_square_and_accents_have_no_width() {
        assert!(text_width("参加者") >= 3.0);
        assert_eq!(text_width("e\u{301}"), text_width("e"));
    }
}
