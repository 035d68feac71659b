//! Reconstructs a scanpath from the answers of comparisons with chosen scanpaths.
//!
//! No engine can prevent this: the partner follows the protocol, and only makes up its cohort. What matters is how many
//! answers it needs. Every attack queries an [`Oracle`], which computes in the clear what an engine would answer, and
//! then returns a guess.
//!
//! | attack | works for | comparisons |
//! |---|---|---|
//! | [`Attack::LetterByLetter`] | global alignments; all scanpaths chosen in advance | `n·(k−1) + 1` |
//! | [`Attack::Insertion`] | unit costs | about `k + n·log₂ n` |
//! | [`Attack::Positions`] | costs that differ, with gaps that no alignment uses | `n + 1` |
//! | [`Attack::Digits`] | the table of [`digit_table`] | `n / 6` for 26 letters |
//! | [`Attack::Counts`] | recurrence rates of equal letters | `(k−1) / 3` for 500 letters |
//! | | their laminarity along one side | `k−1` |
//! | [`Attack::Candidates`] | Hausdorff distances of up to 10 letters, Fréchet distances of 2 | 8 of 9 letters |
//! | | other measures of short scanpaths of up to 3 letters that do not depend on their order | depends |
//! | [`Attack::Search`] | everything | depends; most effective for short scanpaths |
//!
//! With |a−b| and 26 letters, `Positions` finds no scanpath for gaps up to 26, one in ten with gap 30, and all from gap
//! 40 on. `Digits` also works with a symmetric table, if the partner uses letters that the other side does not have.
//! For scanpaths of 6 letters out of 25, `Search` needed, in the better of two rounds, 13 Levenshtein scores (the
//! default limit is 4), 13 with |a−b| and gap 1 (3), 8 with Euclidean distances and gap 1 (0), 5 with ScanMatch (1) and
//! 18 with Smith–Waterman (3). For 4 letters it needed 48 bits (2).
//!
//! For 4 letters out of 6, on average over ten scanpaths, an evaluator that changes looked-up costs needs about 6.0
//! scores instead of 5.8 with Levenshtein, 3.7 instead of 5.5 with unit costs and gap 2, 3.4 instead of 3.8 with |a−b|
//! and gap 3, and 2.0 instead of 2.7 with ScanMatch, where the limit is 0 (`masked_tests.rs`; runs differ by 0.1). For
//! 20 letters, neither this attack nor `Search` was measured; only the bound is known.

mod candidates;
mod counts;
mod digits;
mod insertion;
#[cfg(test)]
mod masked_tests;
mod positions;
mod scorer;
mod search;
#[cfg(test)]
mod tests;

pub use digits::digit_table;

use crate::AuditError;
use rand::Rng;
use veilpath_metrics::{Bound, Comparison, Costs, Model, Scanpath};
use veilpath_protocol::Reveal;

/// One scanpath of the other side, and what the partner may ask about it.
#[derive(Debug)]
pub struct Oracle<'a> {
    comparison: &'a Comparison,
    reveal: Reveal,
    secret: &'a Scanpath,
    /// For each letter, the first one that the metric treats alike.
    first_equivalent: Vec<u16>,
    length_is_hidden: bool,
    asked: usize,
}

/// An answer. The raw result follows from the score and the two lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Raw(i64),
    Within(bool),
}

/// An attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// Every letter at every position, all chosen in advance.
    LetterByLetter,
    /// Counts letters by halves of the alphabet, then finds the place of each by bisection.
    Insertion,
    /// Changes one position of a constant scanpath at a time, and reads the letter from the change of the score.
    Positions,
    /// Reads several letters from the digits of one score.
    Digits,
    /// Reads how often letters occur, several at a time from the digits of one count.
    Counts,
    /// Lists everything that the metric may depend on, and asks until one is left.
    Candidates,
    /// Keeps scanpaths that explain all answers, and asks what they disagree about.
    Search(Effort),
}

/// How hard [`Attack::Search`] tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The number of scanpaths that it keeps.
    pub members: usize,
    /// The number of passes over a scanpath to make it explain a new answer.
    pub sweeps: usize,
    /// The number of scanpaths to choose the next query from.
    pub proposals: usize,
    /// The number of comparisons after which it gives up.
    pub max_comparisons: usize,
}

impl<'a> Oracle<'a> {
    /// The secret must be in the comparison's alphabet.
    pub fn new(comparison: &'a Comparison, reveal: Reveal, secret: &'a Scanpath) -> Self {
        Self {
            comparison,
            reveal,
            secret,
            first_equivalent: comparison
                .model()
                .first_equivalent(comparison.alphabet().size()),
            length_is_hidden: false,
            asked: 0,
        }
    }

    /// The same, if the partner does not see the length.
    pub fn with_hidden_length(self) -> Self {
        Self {
            length_is_hidden: true,
            ..self
        }
    }

    /// The number of comparisons so far.
    pub fn asked(&self) -> usize {
        self.asked
    }

    fn ask(&mut self, query: &[u16]) -> Result<Reply, AuditError> {
        self.asked += 1;
        let query = Scanpath::new(query.to_vec());
        let raw = self.comparison.raw(&query, self.secret)?;
        Ok(match self.bound(query.len())? {
            None => Reply::Raw(raw),
            Some(bound) => Reply::Within(bound.admits(raw)),
        })
    }

    fn raw(&mut self, query: &[u16]) -> Result<i64, AuditError> {
        match self.ask(query)? {
            Reply::Raw(raw) => Ok(raw),
            Reply::Within(_) => Err(AuditError::Internal("this attack needs scores")),
        }
    }

    /// Which raw results meet the threshold, if one bit is revealed.
    fn bound(&self, query: usize) -> Result<Option<Bound>, AuditError> {
        Ok(match self.reveal {
            Reveal::Score | Reveal::Group(_) => None,
            Reveal::Threshold(threshold) => {
                Some(self.comparison.bound(threshold, query, self.secret.len())?)
            }
        })
    }

    /// The length of the secret. If it is hidden, the score of an empty scanpath gives it away.
    fn length(&mut self) -> Result<usize, AuditError> {
        match self.comparison.model() {
            Model::Global(model) if self.length_is_hidden && model.insert > 0 => {
                let raw = self.raw(&[])?;
                usize::try_from(raw / i64::from(model.insert)).map_err(|_| AuditError::Length)
            }
            _ => Ok(self.secret.len()),
        }
    }

    fn letters(&self) -> usize {
        self.comparison.alphabet().size() as usize
    }

    /// Whether a guess is the secret, as far as answers can tell.
    pub fn is_right(&self, guess: &[u16]) -> bool {
        self.visible(guess) == self.visible(self.secret.letters())
    }

    /// What the metric depends on: the letters, or less.
    fn visible(&self, letters: &[u16]) -> Vec<u64> {
        let first = |letter: &u16| self.first_equivalent.get(usize::from(*letter)).copied();
        let letters: Vec<u16> = letters.iter().map(|it| first(it).unwrap_or(*it)).collect();
        self.comparison
            .model()
            .dependence()
            .relevant_features(&letters)
    }
}

impl Attack {
    /// Whether the attack is made for this metric and kind of answer.
    pub fn applies_to(self, comparison: &Comparison, reveal: Reveal) -> bool {
        let scores = reveal == Reveal::Score;
        match (self, comparison.model()) {
            (Attack::Search(_), Model::Clear) => false,
            (Attack::Search(_), Model::Global(_) | Model::Local(_)) => true,
            // Several measures are packed into one number, whose order a search cannot follow.
            (Attack::Search(_), Model::Recurrence(model)) => scores && model.measures.len() == 1,
            (Attack::Search(_), _) => scores,
            (Attack::LetterByLetter, Model::Global(_)) => scores,
            (Attack::Insertion, Model::Global(model)) => {
                scores && matches!(model.costs, Costs::Unit { mismatch: 1.. })
            }
            (Attack::Positions, Model::Global(model)) => {
                scores && !matches!(model.costs, Costs::Unit { .. })
            }
            (Attack::Digits, _) => scores && digits::is_digit_table(comparison),
            (Attack::Counts, model) => scores && counts::applies_to(model),
            (Attack::Candidates, _) => scores && candidates::applies_to(comparison),
            _ => false,
        }
    }

    /// Whether a query depends on earlier answers.
    pub fn is_adaptive(self) -> bool {
        !matches!(self, Attack::LetterByLetter | Attack::Counts)
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Attack::LetterByLetter => "letter by letter",
            Attack::Insertion => "count and insert",
            Attack::Positions => "one position at a time",
            Attack::Digits => "digits",
            Attack::Counts => "counts of letters",
            Attack::Candidates => "candidates",
            Attack::Search(_) => "search",
        }
    }

    /// Runs the attack; returns its guess, if it has one.
    pub fn run(
        self,
        oracle: &mut Oracle<'_>,
        rng: &mut impl Rng,
    ) -> Result<Option<Vec<u16>>, AuditError> {
        match self {
            Attack::LetterByLetter => positions::letter_by_letter(oracle).map(Some),
            Attack::Insertion => insertion::attack(oracle).map(Some),
            Attack::Positions => positions::attack(oracle),
            Attack::Digits => digits::attack(oracle).map(Some),
            Attack::Counts => counts::attack(oracle),
            Attack::Candidates => candidates::attack(oracle, rng),
            Attack::Search(effort) => search::attack(oracle, effort, rng),
        }
    }
}

/// A letter of the alphabet by its number.
fn letter(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
