//! Reproducible random permutations and draws.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The seed of permutations and draws. Each of them comes from its own ChaCha20 stream, so each can be generated alone.
///
/// An integer below `bound` is the next 32-bit word of the stream modulo `bound`; words from the largest multiple of
/// `bound` upwards are skipped, so that all integers are equally likely. A permutation is a Fisher–Yates shuffle from
/// the last place down to the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coins([u8; 32]);

impl Coins {
    /// Coins from a randomly drawn seed.
    pub fn new(seed: [u8; 32]) -> Self {
        Self(seed)
    }

    /// Coins from a user's seed number. Different purposes get independent coins.
    pub fn of_number(number: u64, purpose: u64) -> Self {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        seed[8..16].copy_from_slice(&purpose.to_le_bytes());
        Self(seed)
    }

    /// The seed.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A permutation of `0..size` from stream `index`.
    pub fn permutation(&self, index: u64, size: usize) -> Vec<usize> {
        permutation(&mut self.stream(index), size)
    }

    /// A permutation for each of two sides from stream `index`, the first side's first.
    pub fn permutations(&self, index: u64, sizes: [usize; 2]) -> [Vec<usize>; 2] {
        let mut stream = self.stream(index);
        sizes.map(|size| permutation(&mut stream, size))
    }

    /// Draws with replacement from each list, as many times as it has entries, from stream `index`.
    pub fn draws(&self, index: u64, lists: &[Vec<usize>]) -> Vec<usize> {
        let mut stream = self.stream(index);
        let lists = lists.iter().filter(|list| !list.is_empty());
        lists
            .flat_map(|list| (0..list.len()).map(move |_| list))
            .map(|list| list[below(&mut stream, list.len())])
            .collect()
    }

    fn stream(&self, index: u64) -> ChaCha20Rng {
        let mut stream = ChaCha20Rng::from_seed(self.0);
        stream.set_stream(index);
        stream
    }
}

fn permutation(stream: &mut ChaCha20Rng, size: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..size).collect();
    for last in (1..size).rev() {
        places.swap(last, below(stream, last + 1));
    }
    places
}

/// An integer below `bound`, which is at least 1 and at most 2³².
fn below(stream: &mut ChaCha20Rng, bound: usize) -> usize {
    const WORDS: u64 = 1 << 32;
    let bound = bound as u64;
    let usable = WORDS - WORDS % bound;
    loop {
        let word = u64::from(stream.next_u32());
        if word < usable {
            return usize::try_from(word % bound).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_has_every_place_once() {
        let coins = Coins::new([7; 32]);
        for size in [0, 1, 2, 17, 300] {
            let mut places = coins.permutation(3, size);
            places.sort_unstable();
            assert_eq!(places, (0..size).collect::<Vec<_>>());
        }
    }

    #[test]
    fn streams_and_purposes_differ() {
        let coins = Coins::of_number(1, 0);
        assert_ne!(coins.permutation(0, 20), coins.permutation(1, 20));
        assert_ne!(
            coins.permutation(0, 20),
            Coins::of_number(1, 1).permutation(0, 20)
        );
        assert_ne!(
            coins.permutation(0, 20),
            Coins::of_number(2, 0).permutation(0, 20)
        );
        assert_eq!(coins.permutation(5, 20), coins.permutation(5, 20));
    }

    #[test]
    fn two_sides_are_drawn_one_after_the_other() {
        let coins = Coins::new([1; 32]);
        let [first, second] = coins.permutations(4, [10, 10]);
        assert_eq!(first, coins.permutation(4, 10));
        assert_ne!(first, second);
    }

    /// All 24 permutations of four places are equally likely: chi-square with 23 degrees of freedom.
    #[test]
    fn permutations_are_uniform() {
        let coins = Coins::of_number(11, 0);
        let mut counts = std::collections::HashMap::new();
        let rounds = 24_000_u32;
        for index in 0..rounds {
            *counts
                .entry(coins.permutation(index.into(), 4))
                .or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        let expected = f64::from(rounds) / 24.0;
        let chi_square: f64 = counts
            .values()
            .map(|&count| (f64::from(count) - expected).powi(2) / expected)
            .sum();
        // The 99.99th percentile.
        assert!(chi_square < 59.0, "{chi_square}");
    }

    #[test]
    fn draws_stay_in_their_list() {
        let coins = Coins::of_number(1, 0);
        let drawn = coins.draws(0, &[vec![4, 5, 6], vec![], vec![9]]);
        assert_eq!(drawn.len(), 4);
        assert!(drawn[..3].iter().all(|it| [4, 5, 6].contains(it)));
        assert_eq!(drawn[3], 9);
    }
}
