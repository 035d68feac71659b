//! Synthetic scanpaths, runs of the real engine, and one row for each attack.

use super::{ALL, Options, Row, SCORE};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use veilpath_audit::groups::{self, GroupTranscripts};
use veilpath_audit::order_hidden::{self, AttackSettings, Batch};
use veilpath_audit::transcript::{self, Transcripts};
use veilpath_audit::{
    AuditError, Feature, KeyHolderView, LetterProbabilities, clues_of, correct_letters,
    order_public, score_only,
};
use veilpath_metrics::{Comparison, Scanpath};
use veilpath_protocol::{
    Engine, GroupQuestion, PaillierOptions, PairRule, Reveal, RevealTo, SecretKey, Spec, Watched,
    watch_key_holder,
};

/// The number of random scanpaths that the attack on the score tries.
const SCORE_TRIES: usize = 40_000;

/// For attacks in which every clue belongs to the attacked comparison.
const NO_BACKGROUND: &dyn Fn(&veilpath_audit::Clue) -> f64 = &|_| 0.0;

pub(super) struct Study<'a> {
    pub(super) options: &'a Options,
    pub(super) comparison: Comparison,
    pub(super) key: Arc<SecretKey>,
    /// The scanpaths of the host, which holds the key.
    pub(super) host: Vec<Scanpath>,
    /// The joining side's scanpaths, which are attacked.
    pub(super) join: Vec<Scanpath>,
    pub(super) step: &'a (dyn Fn() + Sync),
}

impl<'a> Study<'a> {
    pub(super) fn new(
        options: &'a Options,
        step: &'a (dyn Fn() + Sync),
    ) -> Result<Self, AuditError> {
        let comparison = Comparison::new(options.metric.clone(), options.alphabet)?;
        let mut rng = ChaCha20Rng::seed_from_u64(options.seed);
        let count = options.repetitions * options.group_size;
        let last = u16::try_from(options.alphabet.size() - 1).unwrap_or(u16::MAX);
        let mut scanpaths = |count: usize| -> Vec<Scanpath> {
            (0..count)
                .map(|_| {
                    let letters = (0..options.length).map(|_| rng.random_range(0..=last));
                    Scanpath::new(letters.collect())
                })
                .collect()
        };
        let (host, join) = (scanpaths(count), scanpaths(count));
        let mut rng = veilpath_paillier::system_rng()?;
        let key = Arc::new(SecretKey::generate(options.key_size, &mut rng)?);
        Ok(Self {
            options,
            comparison,
            key,
            host,
            join,
            step,
        })
    }

    /// What the host knows about a comparison before the first message.
    pub(super) fn view(&self, host: usize, join: usize) -> Result<KeyHolderView, AuditError> {
        let raw = self.comparison.raw(&self.host[host], &self.join[join])?;
        let own = self.host[host].letters();
        KeyHolderView::new(&self.comparison, own, self.join[join].len(), raw)
    }

    pub(super) fn spec(&self, engine: PaillierOptions) -> Spec {
        Spec {
            engine: Engine::Paillier(engine),
            metric: self.options.metric.clone(),
            alphabet: self.options.alphabet,
            encoding: BTreeMap::new(),
            pair_rule: PairRule::All,
            reveal: Reveal::Score,
            reveal_to: RevealTo::Both,
            pad_to: None,
        }
    }

    pub(super) fn engine(&self) -> Result<PaillierOptions, AuditError> {
        Ok(PaillierOptions::new(self.options.key_size, true)?)
    }

    /// Runs the real engine on these pairs.
    pub(super) fn watch(
        &self,
        engine: PaillierOptions,
        pairs: &[(usize, usize)],
    ) -> Result<Watched, AuditError> {
        let host: Vec<&Scanpath> = self.host.iter().collect();
        let join: Vec<&Scanpath> = self.join.iter().collect();
        let spec = self.spec(engine);
        Ok(watch_key_holder(&spec, &host, &join, pairs, &self.key)?)
    }

    /// Guessing without any information.
    pub(super) fn guessing(&self) -> Row {
        Row {
            view: "nothing".into(),
            attack: "guessing".into(),
            correct: 1.0 / f64::from(self.options.alphabet.size()),
            guessed: 0,
        }
    }

    /// What the score reveals, which no engine can hide.
    pub(super) fn score(&self) -> Result<Row, AuditError> {
        let beliefs = self.each_repetition(|repetition| {
            let mut rng = ChaCha20Rng::seed_from_u64(self.options.seed ^ (repetition as u64) << 20);
            let view = self.view(repetition, repetition)?;
            Ok(score_only::attack(&view, SCORE_TRIES, &mut rng))
        })?;
        Ok(self.row("the score", SCORE, &beliefs))
    }

    /// One cell at a time and one comparison after another, as in the paper: with its random order, and as if the order were public.
    pub(super) fn paper_order(
        &self,
        engine: PaillierOptions,
        features: &[(Feature, &str)],
        variant: &str,
    ) -> Result<Vec<Row>, AuditError> {
        let pairs: Vec<_> = (0..self.options.repetitions).map(|i| (i, i)).collect();
        let watched = self.watch(engine.with_batch(1)?, &pairs)?;
        let messages = clues_of(&watched)?;
        let cells = self.options.length * self.options.length;
        let messages: Vec<&[Batch]> = messages.chunks(cells).collect();
        let mut rows = Vec::new();
        for &(feature, name) in features {
            let beliefs = self.each_repetition(|repetition| {
                let view = self.view(repetition, repetition)?;
                Ok(self.attack_hidden(
                    &view,
                    &view.uniform_probabilities(),
                    messages[repetition],
                    feature,
                ))
            })?;
            rows.push(self.row(&format!("paper's order{variant}"), name, &beliefs));
        }
        let order: Vec<_> = watched.order.chunks(cells).collect();
        let beliefs = self.each_repetition(|repetition| {
            let view = self.view(repetition, repetition)?;
            let prior = view.uniform_probabilities();
            self.attack_public(&view, &prior, messages[repetition], order[repetition])
        })?;
        rows.push(self.row(&format!("public order{variant}"), ALL, &beliefs));
        Ok(rows)
    }

    /// Batches of cells of one comparison.
    pub(super) fn batches_of_one(&self) -> Result<Row, AuditError> {
        let engine = self.engine()?;
        let runs: Vec<Vec<Batch>> = (0..self.options.repetitions)
            .map(|repetition| clues_of(&self.watch(engine, &[(repetition, repetition)])?))
            .collect::<Result<_, _>>()?;
        let beliefs = self.each_repetition(|repetition| {
            let view = self.view(repetition, repetition)?;
            Ok(self.attack_hidden(
                &view,
                &view.uniform_probabilities(),
                &runs[repetition],
                Feature::All,
            ))
        })?;
        Ok(self.row("batches, 1 comparison", ALL, &beliefs))
    }

    /// Batches that mix cells of several comparisons of different scanpaths.
    pub(super) fn mixed_batches(&self) -> Result<Row, AuditError> {
        let engine = self.engine()?;
        let size = self.options.group_size;
        let groups = self.options.repetitions.div_ceil(size);
        let runs: Vec<Vec<Batch>> = (0..groups)
            .map(|group| {
                let pairs: Vec<_> = (group * size..(group + 1) * size).map(|i| (i, i)).collect();
                clues_of(&self.watch(engine, &pairs)?)
            })
            .collect::<Result<_, _>>()?;
        let beliefs = self.each_repetition(|repetition| {
            let view = self.view(repetition, repetition)?;
            let settings = AttackSettings {
                feature: Feature::All,
                hypotheses: self.options.hypotheses,
                mixed: size > 1,
            };
            let mut rng = ChaCha20Rng::seed_from_u64(self.options.seed);
            let batches = &runs[repetition / size];
            let prior = view.uniform_probabilities();
            Ok(order_hidden::attack_mixed(
                &view, &prior, batches, settings, &mut rng,
            ))
        })?;
        let view = format!("batches, {size} comparisons");
        Ok(self.row(&view, ALL, &beliefs))
    }

    /// What can be learned from the bytes of an engine that reveals nothing by design.
    pub(super) fn transcripts(&self, engine: Engine) -> Result<[Transcripts; 2], AuditError> {
        let spec = Spec {
            engine,
            ..self.spec(self.engine()?)
        };
        let runs = 4 * self.options.repetitions.max(5);
        let found = transcript::observe(&spec, self.options.length, runs, self.options.seed);
        (self.step)();
        found
    }

    /// What a side's view of group answers reveals.
    pub(super) fn group_transcripts(&self) -> Result<Vec<GroupTranscripts>, AuditError> {
        let runs = (2 * self.options.repetitions).clamp(8, 40);
        let means = GroupQuestion::Groups { published: false };
        let questions = [
            (Engine::Garbled, means),
            (Engine::Shares, means),
            (
                Engine::Shares,
                GroupQuestion::TestGroups {
                    permutations: 20,
                    published: false,
                },
            ),
            (
                Engine::Shares,
                GroupQuestion::Nearest {
                    k: 3,
                    rate_only: true,
                },
            ),
            (Engine::Shares, GroupQuestion::Histogram { bins: 3 }),
        ];
        let mut found = Vec::new();
        for (engine, question) in questions {
            found.extend(groups::observe(engine, question, runs, self.options.seed)?);
        }
        (self.step)();
        Ok(found)
    }

    /// The attack where the order of the cells is unknown.
    pub(super) fn attack_hidden(
        &self,
        view: &KeyHolderView,
        prior: &LetterProbabilities,
        batches: &[Batch],
        feature: Feature,
    ) -> LetterProbabilities {
        let settings = AttackSettings {
            feature,
            hypotheses: self.options.hypotheses,
            mixed: false,
        };
        order_hidden::attack(view, prior, batches, settings, NO_BACKGROUND)
    }

    /// The attack where the order of the cells is public.
    pub(super) fn attack_public(
        &self,
        view: &KeyHolderView,
        prior: &LetterProbabilities,
        batches: &[Batch],
        order: &[(usize, Option<(u32, u32)>)],
    ) -> Result<LetterProbabilities, AuditError> {
        let clues = order_public::in_place(view, batches, order)?;
        let hypotheses = self.options.hypotheses;
        Ok(order_public::attack(
            view,
            prior,
            &clues,
            Feature::All,
            hypotheses,
        ))
    }

    /// Attacks every comparison, on all cores.
    pub(super) fn each_repetition(
        &self,
        attack: impl Fn(usize) -> Result<LetterProbabilities, AuditError> + Sync,
    ) -> Result<Vec<LetterProbabilities>, AuditError> {
        let beliefs = (0..self.options.repetitions)
            .into_par_iter()
            .map(&attack)
            .collect();
        (self.step)();
        beliefs
    }

    pub(super) fn row(&self, view: &str, attack: &str, beliefs: &[LetterProbabilities]) -> Row {
        let pairs = beliefs.iter().zip(&self.join);
        let correct_letters = pairs
            .map(|(belief, truth)| correct_letters(belief, truth.letters()))
            .sum();
        let guessed = beliefs.len() * self.options.length;
        row(view, attack, correct_letters, guessed)
    }
}

pub(super) fn row(view: &str, attack: &str, correct_letters: f64, guessed: usize) -> Row {
    Row {
        view: view.into(),
        attack: attack.into(),
        correct: correct_letters / guessed as f64,
        guessed,
    }
}
