//! What the key holder learns depends on how many comparisons are in flight.

use super::absolute;
use crate::clue::{Feature, clues_of};
use crate::order_hidden::{self, AttackSettings, Batch};
use crate::score_only;
use crate::view::{KeyHolderView, correct_letters};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::BTreeMap;
use std::sync::Arc;
use veilpath_metrics::{Alphabet, Comparison, Metric, Scanpath};
use veilpath_protocol::{
    Engine, KeySize, PaillierOptions, PairRule, Reveal, RevealTo, SecretKey, Spec, watch_window,
};

struct Setting {
    metric: Metric,
    letters: u32,
    length: usize,
    /// Comparisons in a run, and how many of them are attacked.
    pairs: usize,
    attacked: usize,
    hypotheses: usize,
}

impl Setting {
    fn scanpaths(&self, seed: u64) -> Vec<Scanpath> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let last = u16::try_from(self.letters - 1).unwrap();
        let letters = |rng: &mut ChaCha20Rng| {
            (0..self.length)
                .map(|_| rng.random_range(0..=last))
                .collect()
        };
        (0..self.pairs)
            .map(|_| Scanpath::new(letters(&mut rng)))
            .collect()
    }

    /// The fraction of letters that the score alone reveals.
    fn by_score(&self) -> f64 {
        let (host, join) = (self.scanpaths(1), self.scanpaths(2));
        self.share(
            &join,
            |pair, view| {
                let mut rng = ChaCha20Rng::seed_from_u64(pair as u64);
                let belief = score_only::attack(view, 20_000, &mut rng);
                correct_letters(&belief, join[pair].letters())
            },
            &host,
        )
    }

    /// The fraction of letters that the attack gets right with this many comparisons in flight, or as many as the
    /// engine chooses. The attack is told which messages contain the cells of its comparison.
    fn attack(&self, in_flight: Option<usize>) -> f64 {
        let alphabet = Alphabet::letters(self.letters).unwrap();
        let spec = Spec {
            engine: Engine::Paillier(PaillierOptions::new(KeySize::Bits512, true).unwrap()),
            metric: self.metric.clone(),
            alphabet,
            encoding: BTreeMap::new(),
            pair_rule: PairRule::All,
            reveal: Reveal::Score,
            reveal_to: RevealTo::Both,
            pad_to: None,
        };
        let (host, join) = (self.scanpaths(1), self.scanpaths(2));
        let pairs: Vec<_> = (0..self.pairs).map(|i| (i, i)).collect();
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let key = Arc::new(SecretKey::generate(KeySize::Bits512, &mut rng).unwrap());
        let (hosts, joins): (Vec<_>, Vec<_>) = (host.iter().collect(), join.iter().collect());
        let watched = watch_window(&spec, &hosts, &joins, &pairs, &key, in_flight).unwrap();
        let batches = clues_of(&watched).unwrap();
        let mut order = watched.order.iter();
        let mut spans = vec![(usize::MAX, 0); self.pairs];
        for (number, batch) in batches.iter().enumerate() {
            for (pair, _) in order.by_ref().take(batch.len()) {
                let (first, last) = &mut spans[*pair];
                (*first, *last) = ((*first).min(number), number);
            }
        }
        self.share(
            &join,
            |pair, view| {
                let (first, last) = spans[pair];
                let batches: &[Batch] = &batches[first..=last];
                let settings = AttackSettings {
                    feature: Feature::All,
                    hypotheses: self.hypotheses,
                    mixed: in_flight != Some(1),
                };
                let mut rng = ChaCha20Rng::seed_from_u64(4);
                let prior = view.uniform_probabilities();
                let belief = order_hidden::attack_mixed(view, &prior, batches, settings, &mut rng);
                correct_letters(&belief, join[pair].letters())
            },
            &host,
        )
    }

    /// Attacks comparisons from all parts of the run.
    fn share(
        &self,
        join: &[Scanpath],
        attack: impl Fn(usize, &KeyHolderView) -> f64,
        host: &[Scanpath],
    ) -> f64 {
        let comparison = Comparison::new(
            self.metric.clone(),
            Alphabet::letters(self.letters).unwrap(),
        )
        .unwrap();
        let correct_letters: f64 = (0..self.attacked)
            .map(|round| {
                let pair = round * self.pairs / self.attacked;
                let raw = comparison.raw(&host[pair], &join[pair]).unwrap();
                let view = KeyHolderView::new(&comparison, host[pair].letters(), self.length, raw);
                attack(pair, &view.unwrap())
            })
            .sum();
        correct_letters / (self.attacked * self.length) as f64
    }
}

#[test]
fn a_window_hides_as_much_as_all_comparisons_at_once() {
    let setting = Setting {
        metric: absolute(),
        letters: 12,
        length: 4,
        pairs: 128,
        attacked: 32,
        hypotheses: 100,
    };
    let score = setting.by_score();
    let alone = setting.attack(Some(1));
    let all = setting.attack(Some(128));
    let window = setting.attack(None);
    println!("score {score:.3}, 1 {alone:.3}, all {all:.3}, the engine's {window:.3}");
    assert!(alone > score + 0.2);
    // With 128 letters, a standard deviation is at most four percentage points.
    assert!(window < all.max(score) + 0.12);
}

/// The numbers in the head of the engine's `window.rs`:
/// `cargo test --release -p veilpath-audit -- --ignored --nocapture in_flight`.
#[test]
#[ignore = "takes minutes; .ci/full runs it"]
fn letters_guessed_by_the_number_of_comparisons_in_flight() {
    let unit = Metric::Levenshtein;
    for (name, metric) in [("index", absolute()), ("levenshtein", unit)] {
        let setting = Setting {
            metric,
            letters: 52,
            length: 6,
            pairs: 128,
            attacked: 32,
            hypotheses: 300,
        };
        println!("{name}: score {:.3}", setting.by_score());
        for in_flight in [1, 4, 16, 64, 128] {
            println!("{name}: {in_flight} {:.3}", setting.attack(Some(in_flight)));
        }
        println!("{name}: the engine's {:.3}", setting.attack(None));
    }
}
