//! The whole measurement: made-up scanpaths, runs of the real engine, and one line for each attack.

mod first_cell;
mod many_views;

use crate::clue::{Clue, Feature};
use crate::known::{Belief, Known, hits};
use crate::order_hidden::{Batch, Effort};
use crate::transcript::{self, Transcripts};
use crate::{AuditError, order_hidden, order_public, score_alone};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use veilpath_metrics::{Alphabet, Comparison, Metric, Scanpath};
use veilpath_protocol::{
    Engine, KeySize, PaillierOptions, PairRule, Reveal, RevealTo, SecretKey, SeenMessage, Spec,
    Watched, watch_key_holder,
};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The cost model.
    pub metric: Metric,
    /// The letters.
    pub alphabet: Alphabet,
    /// Letters of every scanpath.
    pub length: usize,
    /// Comparisons to attack, for each line.
    pub rounds: usize,
    /// The key; what the masks hide does not depend on its size.
    pub key_size: KeySize,
    /// For the scanpaths, not for the protocol.
    pub seed: u64,
    /// Hypotheses that an attack keeps.
    pub hypotheses: usize,
    /// Comparisons in flight where they are mixed, and views where one scanpath is compared again and again.
    pub many: usize,
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// One line for each attack on the engine `paillier`.
    pub rows: Vec<Row>,
    /// What either side of the engine `garbled` could find.
    pub garbled: [Transcripts; 2],
}

/// One attack under one protection.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What is attacked.
    pub view: String,
    /// What the attack looks at.
    pub attack: String,
    /// The share of Bob's letters that the first guess hits.
    pub letters: f64,
    /// Letters that were guessed.
    pub guessed: usize,
}

/// The name of an attack that uses everything.
const ALL: &str = "all of these";

/// How often `done` is called.
pub const PARTS: u64 = 15;

/// The most random scanpaths that a score is explained by.
const SCORE_TRIES: usize = 40_000;
/// Random scanpaths that the usual differences come from.
const USUAL_TRIES: usize = 400;

/// Runs everything. `done` hears of each finished part.
pub fn leakage(settings: &Settings, done: &(dyn Fn() + Sync)) -> Result<Report, AuditError> {
    let study = Study::new(settings, done)?;
    let mut rows = vec![study.guessing()];
    rows.push(study.score_alone()?);
    let (paper, hardened) = (study.options()?, study.options()?.with_hardening(true));
    let features = [
        (Feature::Ties, "ties"),
        (Feature::Ratios, "ratios of differences"),
        (Feature::Magnitudes, "magnitudes"),
        (Feature::All, ALL),
    ];
    rows.extend(study.papers_order(paper, &features, "")?);
    rows.extend(study.many_views(paper, "")?);
    rows.push(study.one_in_batches()?);
    rows.push(study.mixed_batches()?);
    rows.extend(study.papers_order(hardened, &[(Feature::All, ALL)], ", hardened")?);
    rows.extend(study.many_views(hardened, ", hardened")?);
    rows.extend(study.randomness()?);
    let garbled = study.garbled()?;
    Ok(Report { rows, garbled })
}

#[cfg(test)]
pub(crate) use many_views::hedge;

/// The last of the hardened lines alone.
#[cfg(test)]
pub(crate) fn public_order_hardened(settings: &Settings) -> Result<f64, AuditError> {
    let study = Study::new(settings, &|| ())?;
    let rows = study.many_views(study.options()?.with_hardening(true), "")?;
    rows.last().map(|row| row.letters).ok_or(AuditError::Length)
}

struct Study<'a> {
    settings: &'a Settings,
    comparison: Comparison,
    key: Arc<SecretKey>,
    hers: Vec<Scanpath>,
    his: Vec<Scanpath>,
    done: &'a (dyn Fn() + Sync),
}

impl<'a> Study<'a> {
    fn new(settings: &'a Settings, done: &'a (dyn Fn() + Sync)) -> Result<Self, AuditError> {
        let comparison = Comparison::new(settings.metric.clone(), settings.alphabet)?;
        let mut rng = ChaCha20Rng::seed_from_u64(settings.seed);
        let count = settings.rounds * settings.many;
        let last = u16::try_from(settings.alphabet.size() - 1).unwrap_or(u16::MAX);
        let mut scanpaths = |count: usize| -> Vec<Scanpath> {
            (0..count)
                .map(|_| {
                    let letters = (0..settings.length).map(|_| rng.random_range(0..=last));
                    Scanpath::new(letters.collect())
                })
                .collect()
        };
        let (hers, his) = (scanpaths(count), scanpaths(count));
        let mut random = veilpath_paillier::system_rng()?;
        let key = Arc::new(SecretKey::generate(settings.key_size, &mut random)?);
        Ok(Self {
            settings,
            comparison,
            key,
            hers,
            his,
            done,
        })
    }

    fn known(&self, hers: usize, his: usize) -> Result<Known, AuditError> {
        let raw = self.comparison.raw(&self.hers[hers], &self.his[his])?;
        let own = self.hers[hers].letters();
        Known::new(&self.comparison, own, self.his[his].len(), raw)
    }

    fn spec(&self, options: PaillierOptions) -> Spec {
        Spec {
            engine: Engine::Paillier(options),
            metric: self.settings.metric.clone(),
            alphabet: self.settings.alphabet,
            encoding: BTreeMap::new(),
            pairs: PairRule::All,
            reveal: Reveal::Score,
            reveal_to: RevealTo::Both,
            pad_to: None,
        }
    }

    fn options(&self) -> Result<PaillierOptions, AuditError> {
        Ok(PaillierOptions::new(self.settings.key_size, true)?)
    }

    /// Runs the real engine on these pairs.
    fn watch(
        &self,
        options: PaillierOptions,
        pairs: &[(usize, usize)],
    ) -> Result<Watched, AuditError> {
        let hers: Vec<&Scanpath> = self.hers.iter().collect();
        let his: Vec<&Scanpath> = self.his.iter().collect();
        let spec = self.spec(options);
        Ok(watch_key_holder(&spec, &hers, &his, pairs, &self.key)?)
    }

    fn guessing(&self) -> Row {
        Row {
            view: "nothing".into(),
            attack: "guessing".into(),
            letters: 1.0 / f64::from(self.settings.alphabet.size()),
            guessed: 0,
        }
    }

    fn score_alone(&self) -> Result<Row, AuditError> {
        let beliefs = self.each_round(|round| {
            let mut rng = ChaCha20Rng::seed_from_u64(self.settings.seed ^ (round as u64) << 20);
            let known = self.known(round, round)?;
            Ok(score_alone::attack(&known, SCORE_TRIES, &mut rng))
        })?;
        Ok(self.row("the score", "score alone", &beliefs))
    }

    /// One cell at a time, one comparison after the other.
    fn papers_order(
        &self,
        options: PaillierOptions,
        features: &[(Feature, &str)],
        masks: &str,
    ) -> Result<Vec<Row>, AuditError> {
        let options = options.with_batch(1)?;
        let pairs: Vec<_> = (0..self.settings.rounds).map(|i| (i, i)).collect();
        let watched = self.watch(options, &pairs)?;
        let messages = batches(&watched)?;
        let cells = self.settings.length * self.settings.length;
        let own: Vec<&[Batch]> = messages.chunks(cells).collect();
        let mut rows = Vec::new();
        for &(feature, name) in features {
            let beliefs = self.each_round(|round| {
                let known = self.known(round, round)?;
                let effort = self.effort(feature, false);
                let prior = known.ignorance();
                Ok(order_hidden::attack(
                    &known,
                    &prior,
                    own[round],
                    effort,
                    &|_| 0.0,
                ))
            })?;
            rows.push(self.row(&format!("paper's order{masks}"), name, &beliefs));
        }
        let order: Vec<_> = watched.order.chunks(cells).collect();
        let beliefs = self.each_round(|round| {
            let known = self.known(round, round)?;
            let clues = in_place(&known, own[round], order[round])?;
            let prior = known.ignorance();
            let hypotheses = self.settings.hypotheses;
            let all = Feature::All;
            Ok(order_public::attack(
                &known, &prior, &clues, all, hypotheses,
            ))
        })?;
        rows.push(self.row(&format!("public order{masks}"), ALL, &beliefs));
        Ok(rows)
    }

    /// Batches of one comparison.
    fn one_in_batches(&self) -> Result<Row, AuditError> {
        let options = self.options()?;
        let runs: Vec<Vec<Batch>> = (0..self.settings.rounds)
            .map(|round| batches(&self.watch(options, &[(round, round)])?))
            .collect::<Result<_, _>>()?;
        let beliefs = self.each_round(|round| {
            let known = self.known(round, round)?;
            let effort = self.effort(Feature::All, false);
            let prior = known.ignorance();
            Ok(order_hidden::attack(
                &known,
                &prior,
                &runs[round],
                effort,
                &|_| 0.0,
            ))
        })?;
        Ok(self.row("batches, 1 in flight", ALL, &beliefs))
    }

    /// Batches mixed over several comparisons of different scanpaths.
    fn mixed_batches(&self) -> Result<Row, AuditError> {
        let options = self.options()?;
        let many = self.settings.many;
        let groups = self.settings.rounds.div_ceil(many);
        let runs: Vec<Vec<Batch>> = (0..groups)
            .map(|group| {
                let pairs: Vec<_> = (group * many..(group + 1) * many).map(|i| (i, i)).collect();
                batches(&self.watch(options, &pairs)?)
            })
            .collect::<Result<_, _>>()?;
        let beliefs = self.each_round(|round| {
            let known = self.known(round, round)?;
            let prior = known.ignorance();
            let effort = self.effort(Feature::All, many > 1);
            Ok(self.attack_mixed(&known, &prior, &runs[round / many], effort))
        })?;
        let view = format!("batches, {many} in flight");
        Ok(self.row(&view, ALL, &beliefs))
    }

    fn garbled(&self) -> Result<[Transcripts; 2], AuditError> {
        let spec = Spec {
            engine: Engine::Garbled,
            ..self.spec(self.options()?)
        };
        let runs = 4 * self.settings.rounds.max(5);
        let found = transcript::look(&spec, self.settings.length, runs, self.settings.seed);
        (self.done)();
        found
    }

    fn attack_mixed(
        &self,
        known: &Known,
        prior: &Belief,
        batches: &[Batch],
        effort: Effort,
    ) -> Belief {
        let mut rng = ChaCha20Rng::seed_from_u64(self.settings.seed);
        let usual = score_alone::usual_differences(known, USUAL_TRIES, &mut rng);
        let background = |clue: &Clue| {
            usual
                .iter()
                .map(|&(low, high, share)| share * clue.of_differences(effort.feature, low, high))
                .sum()
        };
        order_hidden::attack(known, prior, batches, effort, &background)
    }

    fn effort(&self, feature: Feature, mixed: bool) -> Effort {
        Effort {
            feature,
            hypotheses: self.settings.hypotheses,
            mixed,
        }
    }

    fn each_round(
        &self,
        attack: impl Fn(usize) -> Result<Belief, AuditError> + Sync,
    ) -> Result<Vec<Belief>, AuditError> {
        let beliefs = (0..self.settings.rounds)
            .into_par_iter()
            .map(&attack)
            .collect();
        (self.done)();
        beliefs
    }

    fn row(&self, view: &str, attack: &str, beliefs: &[Belief]) -> Row {
        let pairs = beliefs.iter().zip(&self.his);
        let hits = pairs
            .map(|(belief, truth)| hits(belief, truth.letters()))
            .sum();
        let guessed = beliefs.len() * self.settings.length;
        row(view, attack, hits, guessed)
    }
}

fn row(view: &str, attack: &str, hits: f64, guessed: usize) -> Row {
    Row {
        view: view.into(),
        attack: attack.into(),
        letters: hits / guessed as f64,
        guessed,
    }
}

/// The clues of one comparison at the cells that they belong to, column by column.
fn in_place(
    known: &Known,
    batches: &[Batch],
    order: &[(usize, Option<(u32, u32)>)],
) -> Result<Vec<Vec<Clue>>, AuditError> {
    let mut clues = vec![vec![None; known.own.len()]; known.theirs];
    for (clue, (_, cell)) in batches.iter().flatten().zip(order) {
        let (row, column) = cell.ok_or(AuditError::LocalAlignment)?;
        clues[column as usize - 1][row as usize - 1] = Some(clue.clone());
    }
    let columns = clues.into_iter();
    Ok(columns
        .map(|column| column.into_iter().flatten().collect())
        .collect())
}

/// Alice's view as clues.
fn batches(watched: &Watched) -> Result<Vec<Batch>, AuditError> {
    let read = |message: &SeenMessage| {
        let clue = |set: &Vec<_>| match message.hardened {
            None => Clue::shared(set),
            Some(masks) => Clue::apart(set, masks),
        };
        let sets = message.sets.iter();
        sets.map(|set| clue(set).ok_or(AuditError::LocalAlignment))
            .collect()
    };
    watched.messages.iter().map(read).collect()
}
