//! What the score reveals by itself, which no engine can hide.

use crate::view::{KeyHolderView, LetterProbabilities};
use rand::{Rng, RngExt};

/// The key holder's belief from its scanpath, the length of the other and the score, by trying random scanpaths.
pub fn attack<R: Rng + ?Sized>(
    view: &KeyHolderView,
    tries: usize,
    rng: &mut R,
) -> LetterProbabilities {
    let of_letter = view.class_of_letters();
    let mut counts = vec![vec![0.0; view.classes.len()]; view.theirs];
    for _ in 0..tries {
        let guess: Vec<usize> = (0..view.theirs)
            .map(|_| of_letter[rng.random_range(0..view.letters)])
            .collect();
        let mut column = view.border();
        for (position, &class) in guess.iter().enumerate() {
            column = view.column(&column, position + 1, &view.classes[class], |_, _| ());
        }
        if column.last() == Some(&view.score) {
            for (counts, &class) in counts.iter_mut().zip(&guess) {
                counts[class] += 1.0;
            }
        }
    }
    // A few pseudo-counts for each letter keep rare scores from looking certain.
    let prior = 20.0 / view.letters as f64;
    counts
        .iter()
        .map(|counts| {
            let mut letters = vec![0.0; view.letters];
            let total: f64 = counts.iter().sum::<f64>() + 20.0;
            for (class, count) in view.classes.iter().zip(counts) {
                let each = count / class.members.len() as f64;
                for &letter in &class.members {
                    letters[usize::from(letter)] = (each + prior) / total;
                }
            }
            letters
        })
        .collect()
}

/// The probability that the best guess is right, given the score of a comparison of one letter with one letter.
pub fn guess_one_letter(view: &KeyHolderView) -> f64 {
    let gaps = view.insert + view.delete;
    let fits = |cost: i64| cost.min(gaps) == view.score;
    let classes = view.classes.iter().filter(|class| fits(class.costs[0]));
    1.0 / classes.map(|class| class.members.len()).sum::<usize>() as f64
}

/// How often the candidates of a matrix cell are this far apart, over random scanpaths of the matrix owner: the
/// differences from the smallest candidate, and their share.
pub(crate) fn typical_differences<R: Rng + ?Sized>(
    view: &KeyHolderView,
    tries: usize,
    rng: &mut R,
) -> Vec<(u64, u64, f64)> {
    let of_letter = view.class_of_letters();
    let mut counts = std::collections::BTreeMap::new();
    let mut total = 0.0;
    for _ in 0..tries {
        let mut column = view.border();
        for position in 1..=view.theirs {
            let class = &view.classes[of_letter[rng.random_range(0..view.letters)]];
            column = view.column(&column, position, class, |_, mut candidates| {
                candidates.sort_unstable();
                let low = candidates[1].abs_diff(candidates[0]);
                let high = candidates[2].abs_diff(candidates[0]);
                *counts.entry((low, high)).or_insert(0.0) += 1.0;
                total += 1.0;
            });
        }
    }
    counts
        .into_iter()
        .map(|((low, high), count): ((u64, u64), f64)| (low, high, count / total))
        .collect()
}
