//! Turns circuit outputs into the answers that this side learns.

use super::length_terms::ThresholdTest;
use super::private_metric::PrivateMetric;
use crate::engines::lengths::lengths_of_pair;
use crate::results::is_possible;
use crate::{Answer, Job, Misbehaviour, Observer, ProtocolError, Reveal};
use std::sync::{Mutex, PoisonError};
use veilpath_metrics::{MetricError, PairScore, Threshold};

/// An output that this side has learned.
pub(in crate::engines) struct OpenedAnswer {
    pub(in crate::engines) pair: usize,
    /// `None` if no scanpaths of these lengths can have this result.
    pub(in crate::engines) answer: Option<Answer>,
}

/// The answers for outputs; `None` where an output is not a possible result.
pub(crate) fn decode_all(
    job: &Job<'_>,
    outputs: &[(usize, u64)],
) -> Result<Vec<Option<Answer>>, ProtocolError> {
    let scoring = PrivateMetric::of(job);
    let answer =
        |&(pair, output): &(usize, u64)| decode(&scoring, job, lengths_of_pair(job, pair)?, output);
    outputs.iter().map(answer).collect()
}

/// The answer for the output of a pair with these lengths; `None` if it is not a possible result. An error must not depend on
/// the output, because it ends the run early, which the other side sees.
pub(in crate::engines) fn decode(
    scoring: &PrivateMetric,
    job: &Job<'_>,
    (rows, columns): (u32, u32),
    output: u64,
) -> Result<Option<Answer>, ProtocolError> {
    if let Reveal::Threshold(threshold) = job.reveal {
        let test = threshold_test(scoring, job, (rows, columns), threshold)?;
        return Ok((output < 2).then_some(Answer::Within((output == 1) != test.negated)));
    }
    if job.pad_to.is_some() {
        let Some(adjusted) = scoring.adjusted(output) else {
            return Ok(None);
        };
        let pair_score = job.comparison.model().read_without_lengths(adjusted);
        return Ok(possible(job, pair_score));
    }
    let Some(raw) = scoring.raw(output, rows, columns) else {
        return Ok(None);
    };
    let pair_score = job.comparison.read(raw, rows as usize, columns as usize);
    Ok(possible(job, pair_score))
}

/// The answer with these numbers, if the metric has them.
fn possible(job: &Job<'_>, pair_score: Result<PairScore, MetricError>) -> Option<Answer> {
    let is_possible = |score: &PairScore| is_possible(score, job.comparison.metric());
    pair_score.ok().filter(is_possible).map(Answer::from)
}

/// The test of a number that decides the threshold, for a pair with these lengths.
pub(in crate::engines) fn threshold_test(
    scoring: &PrivateMetric,
    job: &Job<'_>,
    (rows, columns): (u32, u32),
    threshold: Threshold,
) -> Result<ThresholdTest, ProtocolError> {
    if job.pad_to.is_some() {
        let bound = job.comparison.bound_without_lengths(threshold)?;
        return Ok(scoring.adjusted_threshold_test(bound));
    }
    let bound = job
        .comparison
        .bound(threshold, rows as usize, columns as usize)?;
    Ok(scoring.threshold_test(bound, rows, columns))
}

/// The answers that this side learns, as they arrive.
pub(in crate::engines) struct AnswerCollector<'a> {
    observer: &'a dyn Observer,
    /// `None` if the scores are hidden from this side.
    answers: Option<Vec<Option<Answer>>>,
    /// Whether some output was not a possible result. This is reported at the end, because stopping early would tell
    /// the other side.
    out_of_range: bool,
}

impl<'a> AnswerCollector<'a> {
    /// Starts with the answers that follow from the lengths, those for empty scanpaths.
    pub(in crate::engines) fn new(
        job: &Job<'_>,
        scoring: &PrivateMetric,
        lengths: impl Fn(usize) -> (u32, u32),
        observer: &'a dyn Observer,
    ) -> Result<Self, ProtocolError> {
        let mut collector = Self {
            observer,
            answers: job
                .learns_pairs(job.role)
                .then(|| vec![None; job.pairs.len()]),
            out_of_range: false,
        };
        for pair in 0..job.pairs.len() {
            let (rows, columns) = lengths(pair);
            if scoring.follows_from_lengths(rows, columns) {
                let raw = scoring.empty_matrix_result(rows, columns)?;
                let pair_score = job.comparison.read(raw, rows as usize, columns as usize)?;
                collector.store(pair, job.answer(pair_score));
            }
        }
        Ok(collector)
    }

    /// Stores the answer for a pair.
    fn store(&mut self, pair: usize, answer: Answer) {
        let slot = self.answers.as_mut().and_then(|all| all.get_mut(pair));
        if let Some(slot) = slot {
            *slot = Some(answer);
            self.observer.scored(pair, answer);
        }
    }
}

/// Stores the opened answers of a portion.
pub(in crate::engines) fn collect(
    job: &Job<'_>,
    collector: &Mutex<AnswerCollector<'_>>,
    opened: Vec<OpenedAnswer>,
) {
    let mut collector = collector.lock().unwrap_or_else(PoisonError::into_inner);
    for OpenedAnswer { pair, answer } in opened {
        match answer {
            Some(answer) => collector.store(pair, answer),
            None => {
                job.store.reject(pair);
                collector.out_of_range = true;
            }
        }
    }
}

/// All answers, once every pair has one; empty if they are hidden from this side.
pub(in crate::engines) fn finish(
    collector: Mutex<AnswerCollector<'_>>,
) -> Result<Vec<Answer>, ProtocolError> {
    let collector = collector
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if collector.out_of_range {
        return Err(Misbehaviour::ResultOutOfRange.into());
    }
    collector
        .answers
        .unwrap_or_default()
        .into_iter()
        .collect::<Option<_>>()
        .ok_or(ProtocolError::Internal("a comparison was left out"))
}
