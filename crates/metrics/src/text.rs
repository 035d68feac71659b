//! Makes text from files and from other institutions safe to show. Every output follows these rules.
//!
//! An *unprintable character* is a control character (escape, bell, carriage return, …), a line or paragraph separator,
//! or an invisible character: one that changes the writing direction, a joiner, a character of width zero, a soft
//! hyphen or anything else that Unicode lets programs ignore. Such characters let a text control a terminal or pass for
//! another text. Letters of every script are safe.
//!
//! | output | unprintable characters | formulas |
//! |---|---|---|
//! | tables, messages, pages | replaced by U+FFFD ([`printable`]) | |
//! | Python exceptions and warnings | replaced by U+FFFD ([`printable_lines`]); their attributes are unchanged | |
//! | JSON | escaped, as in `\u202e` ([`json_escaped`]) | |
//! | CSV | replaced by U+FFFD | prefixed with an apostrophe ([`csv_field`]) |
//!
//! Ids without unprintable characters survive a round trip through every format.

use std::borrow::Cow;

/// Replaces unprintable characters.
const REPLACEMENT: char = '\u{fffd}';

/// Whether a character can control a terminal or make a text pass for another one.
pub fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_ignorable(c)
}

/// Whether a character has Unicode's property `Default_Ignorable_Code_Point`: programs usually do not show it. These
/// are the direction marks, joiners, spaces of width zero, fillers, variation selectors and tags.
fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a text has no unprintable characters.
pub fn is_printable(text: &str) -> bool {
    !text.contains(is_unprintable)
}

/// Makes a single line of text safe to show.
pub fn printable(text: &str) -> Cow<'_, str> {
    replaced(text, is_unprintable)
}

/// Makes text with several lines safe to show.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c != '\n' && is_unprintable(c))
}

fn replaced(text: &str, is_unprintable: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_unprintable) {
        return Cow::Borrowed(text);
    }
    let safe = |c: char| if is_unprintable(c) { REPLACEMENT } else { c };
    Cow::Owned(text.chars().map(safe).collect())
}

/// Escapes the unprintable characters in JSON text. They occur only inside strings, where the escape has the same
/// meaning.
pub fn json_escaped(json: &str) -> Cow<'_, str> {
    if is_printable(json) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_unprintable(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Makes text safe as a CSV field, before quoting. A spreadsheet evaluates a field that starts with `=`, `+`, `-` or
/// `@`, so such a field gets a leading apostrophe unless it is a number. The same holds after a semicolon, which
/// separates fields in many countries, and after quotes and spaces.
pub fn csv_field(text: &str) -> Cow<'_, str> {
    let text = printable(text);
    let is_number = || text.parse().is_ok_and(f64::is_finite);
    if !text.split(';').any(is_formula) || is_number() {
        return text;
    }
    let parts = text.split(';').map(|part| match is_formula(part) {
        true => format!("'{part}"),
        false => part.to_string(),
    });
    Cow::Owned(parts.collect::<Vec<_>>().join(";"))
}

/// Recovers the text of a field that [`csv_field`] made.
pub fn from_csv_field(field: &str) -> Cow<'_, str> {
    let unmarked = |part| match str::strip_prefix(part, '\'') {
        Some(formula) if is_formula(formula) => formula,
        _ => part,
    };
    if field
        .split(';')
        .all(|part| unmarked(part).len() == part.len())
    {
        return Cow::Borrowed(field);
    }
    Cow::Owned(field.split(';').map(unmarked).collect::<Vec<_>>().join(";"))
}

/// Whether a spreadsheet might evaluate this text. East Asian versions also evaluate the full-width forms.
fn is_formula(text: &str) -> bool {
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\'' || c == '"');
    start.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNSAFE: &str = "\0\u{7}\t\n\r\u{1b}\u{7f}\u{80}\u{9b}\u{9f}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}\u{ad}\u{200b}\u{200c}\u{200d}\u{2060}\u{2064}\u{3164}\u{fe0f}\u{feff}\u{e0001}\u{e0061}\u{e007f}\u{e0100}";
    const SAFE: &str = "Zürich – עברית العربية हिन्दी 東京 p_01 \u{fffd}";

    #[test]
    fn unprintable_characters_are_replaced_and_letters_of_every_script_stay() {
        for c in UNSAFE.chars() {
            assert!(is_unprintable(c), "{c:?}");
            assert_eq!(printable(&format!("a{c}b")), "a\u{fffd}b");
        }
        assert_eq!(printable(SAFE), SAFE);
        assert_eq!(printable_lines("a\nb\u{1b}"), "a\nb\u{fffd}");
        assert!(is_printable(SAFE) && !is_printable(UNSAFE));
    }

    #[test]
    fn json_keeps_every_character_and_shows_no_unprintable_one() {
        let escaped = json_escaped("\"a\u{9b}\u{202e}\u{7f}ü\"");
        assert_eq!(escaped, "\"a\\u009b\\u202e\\u007fü\"");
        // A character beyond U+FFFF becomes two escapes.
        assert_eq!(json_escaped("a\u{e0061}"), "a\\udb40\\udc61");
        assert_eq!(json_escaped(SAFE), SAFE);
    }

    #[test]
    fn ids_that_differ_in_invisible_characters_look_different() {
        for id in ["p\u{200b}1", "p1\u{ad}", "\u{feff}p1", "p1\u{e0061}"] {
            assert_ne!(printable(id), printable("p1"));
        }
    }

    #[test]
    fn formulas_are_marked_and_numbers_are_not() {
        for (text, field) in [
            ("=1+1", "'=1+1"),
            ("+x", "'+x"),
            ("-x", "'-x"),
            ("@x", "'@x"),
            ("＝x", "'＝x"),
            (" =x", "' =x"),
            ("\"=x", "'\"=x"),
            ("'=x", "''=x"),
            ("a;=x;b", "a;'=x;b"),
            ("-3.5", "-3.5"),
            ("+1e-3", "+1e-3"),
            ("-inf", "'-inf"),
            ("a=b", "a=b"),
            ("'a", "'a"),
            ("", ""),
        ] {
            assert_eq!(csv_field(text), field);
            assert_eq!(from_csv_field(field), text);
        }
        assert_eq!(csv_field("\t=x"), "\u{fffd}=x");
    }

    #[test]
    fn every_safe_text_survives_a_csv_field() {
        let letters = ['\'', ';', '=', '-', '"', ' ', 'a', '5'];
        let count = letters.len();
        for number in 0..count.pow(5) {
            let digit = |place: u32| letters[number / count.pow(place) % count];
            let text: String = (0..5).map(digit).collect();
            assert_eq!(from_csv_field(&csv_field(&text)), text);
        }
    }
}
