//! Statistics over groups of participants, from result files: means, permutation tests, classification, intervals.
//!
//! All statistics are over participants: permutations and draws move a participant together with all of its scanpaths.
//! The score of two participants is the mean over the pairs of their scanpaths.

mod bootstrap;
mod error;
mod layout;
mod means;
mod nearest;
mod permutation;
mod question;
mod sample;

pub use error::{SitesProblem, StatsError};
pub use question::{Question, UnknownQuestion};
pub use veilpath_encode::Groups;
pub use veilpath_statistics::StatisticsError;

use crate::report::ResultFile;
use crate::{Error, Event, EventSink, Note};
use bootstrap::Bootstrap;
use permutation::Permutations;
use sample::{Grouping, Sample};

use veilpath_protocol::{Cost, GroupAnswer, Outcome, Results};

/// What the seed is used for. Each use draws numbers that are independent of the others.
const SEED_PERMUTATION: u64 = 0;
const SEED_BOOTSTRAP: u64 = 1;
const SEED_NEAREST: u64 = 2;

/// How to compute statistics.
#[derive(Clone, Debug)]
pub struct StatsOptions {
    /// What to compute; if empty, everything that the results and groups allow.
    pub questions: Vec<Question>,
    /// The groups of each side's participants.
    pub groups: [Option<Groups>; 2],
    /// The measure to analyse; `None` uses the similarity if there is one, else the first measure.
    pub measure: Option<String>,
    /// The stimuli to analyse; all if empty.
    pub stimuli: Vec<String>,
    /// The number of permutations per test.
    pub permutations: u64,
    /// The number of draws per confidence interval; 0 for no intervals.
    pub resamples: u64,
    /// The level of confidence intervals.
    pub level: f64,
    /// The seed of permutations and draws.
    pub seed: u64,
}

impl Default for StatsOptions {
    fn default() -> Self {
        Self {
            questions: Vec::new(),
            groups: [None, None],
            measure: None,
            stimuli: Vec::new(),
            permutations: 9999,
            resamples: 2000,
            level: 0.95,
            seed: 1,
        }
    }
}

/// A result file, with its name for errors.
#[derive(Clone, Copy, Debug)]
pub struct NamedResult<'a> {
    /// The name of the file.
    pub name: &'a str,
    /// Its contents.
    pub file: &'a ResultFile,
}

/// Computes statistics on one result, or on three: the results within each of two cohorts and the one between them, in
/// any order.
///
/// The outcome contains group answers. It contains no pairs or participant ids, unless a question asks for single
/// scanpaths.
pub fn statistics(
    results: &[NamedResult<'_>],
    options: &StatsOptions,
    events: &dyn EventSink,
) -> Result<Outcome, Error> {
    let bootstrap = Bootstrap::new(options)?;
    let samples = results
        .iter()
        .map(|result| Sample::new(*result, options))
        .collect::<Result<Vec<_>, _>>()?;
    let samples = Samples::new(&samples, options)?;
    let asked = !options.questions.is_empty();
    let questions = match asked {
        true => options.questions.clone(),
        false => samples.possible(),
    };
    let mut answers = Vec::new();
    let mut first_error = None;
    let cancel = events.cancel_token();
    for question in questions {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        match samples.answer(&question, options, &bootstrap) {
            Ok(answer) => {
                answers.push(answer);
                if question == Question::TestSites {
                    events.event(Event::Note(Note::SitesExchangeable));
                }
            }
            Err(error) if asked => return Err(error.into()),
            Err(error) => {
                events.event(Event::Note(Note::Unanswered {
                    question: question.to_string(),
                    reason: error.to_string(),
                }));
                first_error.get_or_insert(error);
            }
        }
    }
    if let Some(error) = first_error.filter(|_| answers.is_empty()) {
        return Err(error.into());
    }
    if !asked && samples.groups.is_none() {
        events.event(Event::Note(Note::NoGroups));
    }
    let main = samples.main;
    let notes = [
        main.note_of_order(),
        main.note_of_same_participants(),
        main.note_of_other_measures(options.measure.as_deref()),
    ];
    for note in notes.into_iter().flatten() {
        events.event(Event::Note(note));
    }
    Ok(samples.outcome(answers))
}

/// The results that are analysed together.
struct Samples<'a> {
    /// The result that all questions are about; of three, the one between the cohorts.
    main: &'a Sample<'a>,
    /// The results within each site, if given.
    within: Option<[&'a Sample<'a>; 2]>,
    groups: Option<Grouping>,
}

impl<'a> Samples<'a> {
    fn new(samples: &'a [Sample<'a>], options: &StatsOptions) -> Result<Self, StatsError> {
        let (main, within) = match samples {
            [one] => (one, None),
            [_, _, _] => {
                let (main, within) = sample::sites(samples)?;
                (main, Some(within))
            }
            _ => {
                return Err(StatsError::NumberOfResults {
                    found: samples.len(),
                });
            }
        };
        let groups = main.groups(&options.groups)?;
        Ok(Self {
            main,
            within,
            groups,
        })
    }

    /// The questions that can be asked.
    fn possible(&self) -> Vec<Question> {
        let with_groups = [
            Question::Groups,
            Question::TestGroups,
            Question::NearestRate {
                k: Question::DEFAULT_K,
            },
        ];
        let mut questions = vec![Question::Mean];
        questions.extend(self.groups.iter().flat_map(|_| with_groups.clone()));
        questions.extend(self.within.map(|_| Question::TestSites));
        questions
    }

    fn answer(
        &self,
        question: &Question,
        options: &StatsOptions,
        bootstrap: &Bootstrap,
    ) -> Result<GroupAnswer, StatsError> {
        let main = self.main;
        let permutations = Permutations {
            count: options.permutations,
            seed: options.seed,
        };
        let groups = || {
            self.groups.as_ref().ok_or_else(|| StatsError::NoGroups {
                question: question.to_string(),
            })
        };
        match question {
            Question::Mean => means::of_stimuli(main, bootstrap),
            Question::Groups => means::of_groups(main, groups()?, bootstrap),
            Question::TestSites => {
                let within = self.within.ok_or(StatsError::SitesNeedThreeResults)?;
                permutation::of_sites(main, within, permutations, bootstrap)
            }
            Question::TestGroups => {
                permutation::of_groups(main, groups()?, permutations, bootstrap)
            }
            Question::Nearest { k } => nearest::labels(main, groups()?, *k),
            Question::NearestRate { k } => {
                nearest::rate(main, groups()?, *k, permutations, bootstrap)
            }
            Question::Histogram { bins } => means::histogram(main, *bins),
        }
    }

    /// The plan and names of the result, without its pairs and ids. The number of pairs is that of those analysed.
    fn outcome(&self, answers: Vec<GroupAnswer>) -> Outcome {
        let outcome = self.main.outcome;
        Outcome {
            spec: outcome.spec.clone(),
            names: outcome.names.clone(),
            one_cohort: outcome.one_cohort,
            a: Vec::new(),
            b: Vec::new(),
            pairs: self.main.pairs.len() as u64,
            tile: None,
            results: Results::new(outcome.results.measures().to_vec()),
            answers,
            error_bound: outcome.error_bound,
            cost: Cost::default(),
            revealed: Vec::new(),
        }
    }
}
