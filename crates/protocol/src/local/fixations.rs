//! Metrics on fixations, which never leave a machine.

use crate::outcome::scanpath_ids;
use crate::{Cost, JobError, Observer, Outcome, ProtocolError, Results, Reveal, Spec};
use veilpath_metrics::{Cohort, FixationComparison, Fixations};

/// Enough pairs to keep all cores busy, and few enough to cancel quickly.
const PAIRS_AT_A_TIME: usize = 2048;

/// Compares two cohorts in the clear.
pub(super) fn compare(
    spec: Spec,
    [a, b]: [&Cohort; 2],
    pairs: &[(usize, usize)],
    observer: &dyn Observer,
) -> Result<Outcome, ProtocolError> {
    let missing = || {
        ProtocolError::Job(JobError::NeedsFixations {
            metric: spec.metric.name(),
        })
    };
    if matches!(spec.reveal, Reveal::Group(_)) {
        return Err(ProtocolError::Job(JobError::GroupAnswerOfFixations {
            metric: spec.metric.name(),
        }));
    }
    let (first, second) = (fixations(a), fixations(b));
    let (Some(first), Some(second), Some(screen)) = (first, second, a.screen) else {
        return Err(missing());
    };
    let comparison = FixationComparison::new(spec.metric.clone(), screen)?;
    let progress = |cells| observer.cells(cells);
    let cancel = observer.cancel_token();
    let mut answers = Vec::with_capacity(pairs.len());
    for pairs in pairs.chunks(PAIRS_AT_A_TIME) {
        if cancel.is_cancelled() {
            return Err(ProtocolError::Cancelled);
        }
        let scores = comparison.compare_pairs(&first, &second, pairs, &progress)?;
        let scores = scores.into_iter();
        answers.extend(scores.map(|score| spec.reveal.answer(&spec.metric, score)));
    }
    for (pair, answer) in answers.iter().enumerate() {
        observer.scored(pair, *answer);
    }
    let cells = pairs
        .iter()
        .map(|&(i, j)| first[i].len() as u64 * second[j].len() as u64);
    let cost = Cost {
        cells: cells.sum(),
        ..Cost::default()
    };
    let answers = pairs.iter().zip(answers);
    let answers = answers.map(|(&(i, j), answer)| (i, j, answer));
    Ok(Outcome {
        revealed: spec.engine.revealed(&spec),
        names: Outcome::UNNAMED.map(String::from),
        one_cohort: false,
        a: scanpath_ids(a),
        b: scanpath_ids(b),
        pairs: pairs.len() as u64,
        tile: None,
        results: Results::of_answers(spec.measures(), answers),
        answers: Vec::new(),
        error_bound: None,
        cost,
        spec,
    })
}

/// The fixations of all entries, if all have them.
fn fixations(cohort: &Cohort) -> Option<Vec<&Fixations>> {
    let entries = cohort.entries.iter();
    entries.map(|entry| entry.fixations.as_ref()).collect()
}
