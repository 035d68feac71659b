//! Areas of interest that the tracker's software names in a column.
//!
//! The full set of names is known only after the last file. Until then, letters follow the order in which names appear.
//! At the end, the names are sorted and the letters renumbered, so that two institutions with the same areas get the
//! same letters, whatever was looked at first. If the user lists the names, each letter is its name's position in that
//! list.

use crate::{EncodeNote, LetterMap, is_missing};
use std::collections::HashMap;

/// The names so far, and their letters.
pub(crate) struct AoiNames {
    /// Whether the user gave the list.
    fixed: bool,
    letters: HashMap<String, u16>,
    names: Vec<String>,
    /// Whether a row has named each area of the user's list.
    occurred: Vec<bool>,
    /// The number of rows with each name that is not in the user's list.
    others: HashMap<String, u64>,
}

/// As many different names outside the list are counted.
const MAX_OTHERS: usize = 1000;

/// As many of them are listed.
const LISTED_OTHERS: usize = 5;

/// More names than letters.
pub(crate) struct TooManyNames;

/// Maps letters in order of appearance to letters in name order.
pub(crate) struct LetterOrder(Vec<u16>);

impl AoiNames {
    /// Starts with the user's list of names, if there is one.
    pub(crate) fn new(letter_map: &LetterMap) -> Self {
        let names: Vec<String> = match letter_map {
            LetterMap::AoiColumn { names: Some(names) } => {
                names.iter().map(|name| name.trim().to_string()).collect()
            }
            _ => Vec::new(),
        };
        Self {
            fixed: !names.is_empty(),
            letters: names.iter().cloned().zip(0..=u16::MAX).collect(),
            occurred: vec![false; names.len()],
            others: HashMap::new(),
            names,
        }
    }

    /// The letter of a name; `None` for names that mean no area or are not in the list.
    pub(crate) fn letter(&mut self, name: &str) -> Result<Option<u16>, TooManyNames> {
        let name = name.trim();
        if let Some(&letter) = self.letters.get(name) {
            if let Some(occurred) = self.occurred.get_mut(usize::from(letter)) {
                *occurred = true;
            }
            return Ok(Some(letter));
        }
        // SMI writes "White Space" if no area was hit.
        if is_missing(name) || name.eq_ignore_ascii_case("white space") {
            return Ok(None);
        }
        if self.fixed {
            self.count_other(name);
            return Ok(None);
        }
        let letter = u16::try_from(self.names.len()).map_err(|_| TooManyNames)?;
        self.names.push(name.to_string());
        self.letters.insert(name.to_string(), letter);
        Ok(Some(letter))
    }

    fn count_other(&mut self, name: &str) {
        if let Some(rows) = self.others.get_mut(name) {
            *rows += 1;
        } else if self.others.len() < MAX_OTHERS {
            self.others.insert(name.to_string(), 1);
        }
    }

    /// A note if no row names some area of the user's list: it may be misspelt.
    pub(crate) fn not_named(&self) -> Option<EncodeNote> {
        let occurred = self.names.iter().zip(&self.occurred);
        let missing = occurred.filter(|(_, occurred)| !**occurred);
        let areas: Vec<String> = missing.map(|(name, _)| name.clone()).collect();
        if areas.is_empty() {
            return None;
        }
        let others = self.others.iter();
        let mut others: Vec<_> = others.map(|(name, &rows)| (name.clone(), rows)).collect();
        others.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let more = others.len().saturating_sub(LISTED_OTHERS);
        others.truncate(LISTED_OTHERS);
        Some(EncodeNote::AreasNotNamed {
            areas,
            others,
            more,
        })
    }

    /// Whether no area has been named.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The sorted names, and the mapping that renumbers letters to match.
    pub(crate) fn sorted(&self) -> (Vec<String>, LetterOrder) {
        let mut names = self.names.clone();
        names.sort_unstable();
        let letters: HashMap<&str, u16> =
            names.iter().map(String::as_str).zip(0..=u16::MAX).collect();
        let order = self
            .names
            .iter()
            .map(|name| letters.get(name.as_str()).copied().unwrap_or_default())
            .collect();
        (names, LetterOrder(order))
    }
}

impl LetterOrder {
    /// Renumbers the letters of a scanpath.
    pub(crate) fn apply(&self, mut letters: Vec<u16>) -> Vec<u16> {
        for letter in &mut letters {
            *letter = self.0.get(usize::from(*letter)).copied().unwrap_or(*letter);
        }
        letters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(names: Option<Vec<String>>, column: &[&str]) -> (Vec<Option<u16>>, AoiNames) {
        let mut known = AoiNames::new(&LetterMap::AoiColumn { names });
        let letters = column
            .iter()
            .map(|name| known.letter(name).unwrap_or_else(|_| panic!("too many")))
            .collect();
        (letters, known)
    }

    #[test]
    fn found_names_are_sorted() {
        let (found, known) = letters(
            None,
            &["nose", "", "eye", "White Space", " nose ", "-", "mouth"],
        );
        let seen: Vec<u16> = found.into_iter().flatten().collect();
        assert_eq!(seen, [0, 1, 0, 2]);
        let (names, order) = known.sorted();
        assert_eq!(names, ["eye", "mouth", "nose"]);
        assert_eq!(order.apply(seen), [2, 0, 2, 1]);
    }

    #[test]
    fn a_list_fixes_the_letters() {
        let list = vec!["nose".to_string(), " eye ".to_string()];
        let (found, known) = letters(Some(list), &["eye", "mouth", "nose", ""]);
        assert_eq!(found, [Some(1), None, Some(0), None]);
        assert!(!known.is_empty());
    }

    #[test]
    fn an_area_that_no_row_names_is_noted() {
        let list = vec!["hand".to_string(), "faec".to_string()];
        let (_, known) = letters(Some(list.clone()), &["hand", "face", "", "face", "tree"]);
        let note = known.not_named().unwrap();
        assert_eq!(
            note.to_string(),
            "no row names faec; not in the list: face (2 rows), tree (1 row)"
        );
        let (_, known) = letters(Some(list), &["hand", "faec", "face"]);
        assert_eq!(known.not_named(), None, "a list may leave areas out");
        let (_, known) = letters(None, &["hand"]);
        assert_eq!(known.not_named(), None);
    }

    #[test]
    fn there_are_as_many_names_as_letters() {
        let mut known = AoiNames::new(&LetterMap::AoiColumn { names: None });
        for number in 0..=u16::MAX {
            assert!(known.letter(&format!("area {number}")).is_ok());
        }
        assert!(known.letter("one more").is_err());
    }
}
