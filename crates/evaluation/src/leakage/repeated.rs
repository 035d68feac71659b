//! The rows in which one attacked scanpath is compared with several scanpaths of the host.

use super::study::Study;
use super::{ALL, Row};
use veilpath_audit::{AuditError, Feature, KeyHolderView, LetterProbabilities, clues_of, smoothed};
use veilpath_protocol::PaillierOptions;

impl Study<'_> {
    /// Attacks with the paper's random order, and as if the order were public.
    pub(super) fn repeated(
        &self,
        engine: PaillierOptions,
        variant: &str,
    ) -> Result<Vec<Row>, AuditError> {
        let engine = engine.with_batch(1)?;
        let count = self.options.group_size;
        let cells = self.options.length * self.options.length;
        let runs: Vec<_> = (0..self.options.repetitions)
            .map(|repetition| {
                let pairs: Vec<_> = (0..count)
                    .map(|host| (repetition * count + host, repetition))
                    .collect();
                let watched = self.watch(engine, &pairs)?;
                Ok((clues_of(&watched)?, watched.order))
            })
            .collect::<Result<_, AuditError>>()?;
        let hidden = |view: &KeyHolderView,
                      prior: &LetterProbabilities,
                      repetition: usize,
                      comparison: usize| {
            let batches = runs[repetition].0.chunks(cells).nth(comparison);
            Ok(self.attack_hidden(view, prior, batches.unwrap_or_default(), Feature::All))
        };
        let public = |view: &KeyHolderView,
                      prior: &LetterProbabilities,
                      repetition: usize,
                      comparison: usize| {
            let batches = runs[repetition].0.chunks(cells).nth(comparison);
            let order = runs[repetition].1.chunks(cells).nth(comparison);
            let (batches, order) = (batches.unwrap_or_default(), order.unwrap_or_default());
            self.attack_public(view, prior, batches, order)
        };
        let hidden = self.one_after_another(hidden)?;
        let public = self.one_after_another(public)?;
        let view = |order: &str| format!("{order} order{variant}, compared {count} times");
        Ok(vec![
            self.row(&view("paper's"), ALL, &hidden),
            self.row(&view("public"), ALL, &public),
        ])
    }

    /// Attacks one comparison after another. Each attack starts from the belief after the previous one.
    fn one_after_another(
        &self,
        attack: impl Fn(
            &KeyHolderView,
            &LetterProbabilities,
            usize,
            usize,
        ) -> Result<LetterProbabilities, AuditError>
        + Sync,
    ) -> Result<Vec<LetterProbabilities>, AuditError> {
        let count = self.options.group_size;
        self.each_repetition(|repetition| {
            let mut belief: Option<LetterProbabilities> = None;
            for comparison in 0..count {
                let view = self.view(repetition * count + comparison, repetition)?;
                let prior = belief.map_or_else(|| view.uniform_probabilities(), |b| smoothed(&b));
                belief = Some(attack(&view, &prior, repetition, comparison)?);
            }
            belief.ok_or(AuditError::Length)
        })
    }
}
