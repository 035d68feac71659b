//! How many comparisons reconstruct a scanpath: runs the attacks of `veilpath-audit` that choose scanpaths.
//!
//! The partner follows the protocol, but makes up its cohort. Scores are computed in the clear and equal those of every
//! engine. Every row is measured on random scanpaths. A guess counts only if everything that the metric depends on is
//! right: all letters; for Fréchet distances, all letters except repetitions; for Hausdorff distances, which letters
//! occur; for recurrence rates, how often each letter occurs. A failed attack proves nothing: a better one may need fewer
//! comparisons.

mod render;
#[cfg(test)]
mod tests;

use crate::Error;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use veilpath_audit::AuditError;
pub use veilpath_audit::reconstruct::Effort;
use veilpath_audit::reconstruct::{Attack, Oracle, digit_table};
use veilpath_metrics::{
    Alphabet, Comparison, Crqa, CrqaMeasure, Distance, Dtw, DurationClasses, DurationDivisor,
    Frechet, Grid, Hausdorff, LocalScoring, Metric, PathDivisor, Positions, RecurrenceRule, ScaSim,
    Substitution, Undefined, View,
};
use veilpath_protocol::{DefaultLimit, Engine, PairRule, Reveal, RevealTo, Spec};

/// The settings of a study.
#[derive(Clone, Debug)]
pub struct Options {
    /// The metrics, each with a name for the report.
    pub metrics: Vec<(String, Metric)>,
    /// The letters.
    pub alphabet: Alphabet,
    /// The lengths of the scanpaths, in letters.
    pub lengths: Vec<usize>,
    /// What is revealed about each pair.
    pub reveal: Vec<Reveal>,
    /// Whether the lengths are hidden from the partner.
    pub hidden_lengths: bool,
    /// The number of scanpaths to attack per row.
    pub repetitions: usize,
    /// How hard the search tries.
    pub effort: Effort,
    /// The length of the longest scanpath to search for; the time grows quickly with the length.
    pub longest_search: usize,
    /// The seed of the scanpaths and the attacks.
    pub seed: u64,
}

/// The result.
#[derive(Clone, Debug)]
pub struct Report {
    options: Options,
    /// One row for each attack on each metric, length and kind of answer.
    pub rows: Vec<Row>,
}

/// One attack on one metric.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The metric and its costs.
    pub metric: String,
    /// What is revealed about each pair.
    pub reveal: String,
    /// The length of the scanpaths, in letters.
    pub length: usize,
    /// The attack.
    pub attack: &'static str,
    /// Whether its queries depend on earlier answers.
    pub adaptive: bool,
    /// The median number of comparisons per reconstructed scanpath.
    pub median: Option<usize>,
    /// The largest number of comparisons for a reconstructed scanpath.
    #[serde(rename = "most")]
    pub maximum: Option<usize>,
    /// The fraction of scanpaths that were reconstructed.
    pub reconstructed: f64,
    /// The minimum number of comparisons that information theory requires, even if the partner cheats.
    pub bound: f64,
    /// The default limit; `None` if there is nothing to limit.
    pub default_limit: Option<u64>,
}

struct Case<'a> {
    name: &'a str,
    comparison: Comparison,
    reveal: Reveal,
    length: usize,
    attack: Attack,
    limit: DefaultLimit,
}

/// The metrics that are measured by default.
pub fn default_metrics(alphabet: Alphabet) -> Vec<(String, Metric)> {
    let letters = alphabet.size();
    let columns = (1..=letters)
        .find(|columns| columns * columns >= letters)
        .unwrap_or(1);
    let grid = Grid::new(columns, letters.div_ceil(columns));
    let costs = |substitution: Substitution, gap: f64| Metric::NeedlemanWunsch {
        substitution,
        insert: gap,
        delete: gap,
        scale: None,
    };
    let unit = |mismatch| Substitution::Unit { mismatch };
    let mut metrics = vec![
        ("levenshtein".to_string(), Metric::Levenshtein),
        ("needleman-wunsch, gap 2".into(), costs(unit(1.0), 2.0)),
        ("|a-b|, gap 1".into(), costs(Substitution::Index, 1.0)),
        ("|a-b|, gap 26".into(), costs(Substitution::Index, 26.0)),
        ("|a-b|, gap 40".into(), costs(Substitution::Index, 40.0)),
        ("|a-b|, gap 1000".into(), costs(Substitution::Index, 1000.0)),
        (
            "needleman-wunsch 1/1/1".into(),
            Metric::NeedlemanWunschScore {
                reward: 1.0,
                mismatch: 1.0,
                gap: 1.0,
                scale: None,
            },
        ),
        (
            "smith-waterman 2/1/1".into(),
            Metric::SmithWaterman {
                scoring: LocalScoring::Unit {
                    reward: 2.0,
                    mismatch: 1.0,
                },
                gap: 1.0,
                scale: None,
            },
        ),
    ];
    metrics.push(("sequence-score".into(), Metric::SequenceScore));
    for (name, measure) in [
        ("crqa, rec", CrqaMeasure::Rec),
        ("crqa, det", CrqaMeasure::Det),
        ("crqa, lam", CrqaMeasure::Lam),
        ("crqa, corm", CrqaMeasure::Corm),
    ] {
        let recurrence = Metric::Crqa(Crqa {
            rule: RecurrenceRule::SameLetter,
            line: 2,
            measures: vec![measure],
            undefined: Undefined::Missing,
            rounded: true,
        });
        metrics.push((name.into(), recurrence));
    }
    if let Some(grid) = grid {
        let euclidean = Substitution::on_grid(grid, Distance::Euclidean);
        metrics.push((format!("euclidean {grid}, gap 1"), costs(euclidean, 1.0)));
        let scanmatch = Metric::ScanMatch {
            grid,
            wrap: false,
            threshold: 3.5,
            gap: 0.0,
            scale: None,
        };
        metrics.push((format!("scanmatch {grid}"), scanmatch));
        let positions = Positions::Grid { grid, wrap: false };
        let dtw = Dtw {
            positions,
            divisor: PathDivisor::None,
            scale: None,
        };
        metrics.push((format!("dtw {grid}"), Metric::Dtw(dtw)));
        let frechet = Metric::Frechet(Frechet { positions });
        metrics.push((format!("frechet {grid}"), frechet));
        let hausdorff = Metric::Hausdorff(Hausdorff { positions });
        metrics.push((format!("hausdorff {grid}"), hausdorff));
        let cells = Positions::Cells {
            grid,
            width: 1920.0 / f64::from(grid.columns()),
            height: 1080.0 / f64::from(grid.rows()),
        };
        let rounded = Dtw {
            positions: cells,
            ..dtw
        };
        metrics.push((format!("dtw, fixations {grid}"), Metric::Dtw(rounded)));
    }
    // Half as many cells, and two durations.
    if let Some(grid) = Grid::new(letters.div_ceil(2), 1) {
        let scasim = ScaSim {
            view: View {
                center: [960.0, 540.0],
                pixel: [0.0276, 0.0278],
                distance: 60.0,
            },
            modulator: 0.83,
            divisor: DurationDivisor::None,
            classes: Some(DurationClasses {
                grid,
                screen: [1920.0, 1080.0],
                durations: vec![150.0, 350.0],
                scale: 1,
            }),
        };
        metrics.push((
            format!("scasim {grid}, 2 durations"),
            Metric::ScaSim(scasim),
        ));
    }
    if let Some(table) = digit_table(letters) {
        metrics.push(("table of digits".into(), table));
    }
    metrics
}

/// The number of rows that [`run`] measures.
pub fn steps(options: &Options) -> Result<u64, Error> {
    Ok(cases(options)?.len() as u64)
}

/// Runs all attacks. `step` is called after each row.
pub fn run(options: &Options, step: &(dyn Fn() + Sync)) -> Result<Report, Error> {
    let mut rows = Vec::new();
    for case in cases(options)? {
        rows.push(case.measure(options)?);
        step();
    }
    Ok(Report {
        options: options.clone(),
        rows,
    })
}

fn cases(options: &Options) -> Result<Vec<Case<'_>>, Error> {
    let mut cases = Vec::new();
    for (name, metric) in &options.metrics {
        // If no private engine computes the metric, the error says why.
        spec(metric, options.alphabet, Reveal::Score).check()?;
        let comparison = Comparison::new(metric.clone(), options.alphabet)?;
        for &reveal in &options.reveal {
            let plan = spec(metric, options.alphabet, reveal);
            let limit = DefaultLimit::new(&plan, Some(options.alphabet.size()))?;
            for &length in &options.lengths {
                let max_comparisons = length * options.alphabet.size() as usize;
                let search = Attack::Search(Effort {
                    max_comparisons: options.effort.max_comparisons.min(max_comparisons),
                    ..options.effort
                });
                let attacks = [
                    Attack::LetterByLetter,
                    Attack::Insertion,
                    Attack::Positions,
                    Attack::Digits,
                    Attack::Counts,
                    Attack::Candidates,
                    search,
                ];
                let attacks = attacks
                    .into_iter()
                    .filter(|&attack| attack != search || length <= options.longest_search)
                    .filter(|attack| attack.applies_to(&comparison, reveal));
                cases.extend(attacks.map(|attack| Case {
                    name,
                    comparison: comparison.clone(),
                    reveal,
                    length,
                    attack,
                    limit: limit.clone(),
                }));
            }
        }
    }
    Ok(cases)
}

fn spec(metric: &Metric, alphabet: Alphabet, reveal: Reveal) -> Spec {
    Spec {
        engine: Engine::Garbled,
        metric: metric.clone(),
        alphabet,
        encoding: BTreeMap::new(),
        pair_rule: PairRule::All,
        reveal,
        reveal_to: RevealTo::Both,
        pad_to: None,
    }
}

impl Case<'_> {
    fn measure(&self, options: &Options) -> Result<Row, AuditError> {
        let repetitions = (0..options.repetitions).into_par_iter();
        let counts: Vec<Option<usize>> = repetitions
            .map(|repetition| self.repetition(options, repetition as u64))
            .collect::<Result<_, _>>()?;
        let mut found: Vec<usize> = counts.iter().copied().flatten().collect();
        found.sort_unstable();
        let limit = self.limit.comparisons(self.length as u64);
        Ok(Row {
            metric: self.name.to_string(),
            reveal: self.reveal.to_string(),
            length: self.length,
            attack: self.attack.name(),
            adaptive: self.attack.is_adaptive(),
            median: found.get(found.len() / 2).copied(),
            maximum: found.last().copied(),
            reconstructed: found.len() as f64 / counts.len().max(1) as f64,
            bound: self.limit.bound(self.length as u64),
            default_limit: Some(limit).filter(|&limit| limit < u64::MAX),
        })
    }

    /// The number of comparisons for one scanpath, if all of its letters were found.
    fn repetition(&self, options: &Options, repetition: u64) -> Result<Option<usize>, AuditError> {
        let mut rng = ChaCha20Rng::seed_from_u64(options.seed);
        rng.set_stream(repetition);
        let secret = crate::random_scanpath(options.alphabet, self.length, &mut rng);
        let mut oracle = Oracle::new(&self.comparison, self.reveal, &secret);
        if options.hidden_lengths {
            oracle = oracle.with_hidden_length();
        }
        let guess = self.attack.run(&mut oracle, &mut rng)?;
        let right = guess.is_some_and(|guess| oracle.is_right(&guess));
        Ok(right.then_some(oracle.asked()))
    }
}
