//! The lines about one scanpath of Bob's that meets several of Alice's.

use super::{ALL, Row, Study, batches, in_place};
use crate::clue::Feature;
use crate::known::{Belief, Known};
use crate::{AuditError, order_hidden, order_public};
use veilpath_protocol::PaillierOptions;

impl Study<'_> {
    /// In the paper's order, and where that is public.
    pub(crate) fn many_views(
        &self,
        options: PaillierOptions,
        masks: &str,
    ) -> Result<Vec<Row>, AuditError> {
        let options = options.with_batch(1)?;
        let many = self.settings.many;
        let cells = self.settings.length * self.settings.length;
        let runs: Vec<_> = (0..self.settings.rounds)
            .map(|round| {
                let pairs: Vec<_> = (0..many).map(|view| (round * many + view, round)).collect();
                let watched = self.watch(options, &pairs)?;
                Ok((batches(&watched)?, watched.order))
            })
            .collect::<Result<_, AuditError>>()?;
        let hidden = |known: &Known, prior: &Belief, round: usize, view: usize| {
            let batches = runs[round].0.chunks(cells).nth(view);
            let effort = self.effort(Feature::All, false);
            let batches = batches.unwrap_or_default();
            Ok(order_hidden::attack(known, prior, batches, effort, &|_| {
                0.0
            }))
        };
        let public = |known: &Known, prior: &Belief, round: usize, view: usize| {
            let batches = runs[round].0.chunks(cells).nth(view);
            let order = runs[round].1.chunks(cells).nth(view);
            let (batches, order) = (batches.unwrap_or_default(), order.unwrap_or_default());
            let clues = in_place(known, batches, order)?;
            let (all, hypotheses) = (Feature::All, self.settings.hypotheses);
            Ok(order_public::attack(known, prior, &clues, all, hypotheses))
        };
        let paper = self.view_after_view(hidden)?;
        let named = self.view_after_view(public)?;
        Ok(vec![
            self.row(
                &format!("paper's order{masks}, against {many}"),
                ALL,
                &paper,
            ),
            self.row(&format!("public order{masks}, against {many}"), ALL, &named),
        ])
    }

    /// What each view adds to the belief from those before.
    fn view_after_view(
        &self,
        attack: impl Fn(&Known, &Belief, usize, usize) -> Result<Belief, AuditError> + Sync,
    ) -> Result<Vec<Belief>, AuditError> {
        let many = self.settings.many;
        self.each_round(|round| {
            let mut belief: Option<Belief> = None;
            for view in 0..many {
                let known = self.known(round * many + view, round)?;
                let prior = belief.map_or_else(|| known.ignorance(), |b| hedge(&b));
                belief = Some(attack(&known, &prior, round, view)?);
            }
            belief.ok_or(AuditError::Length)
        })
    }
}

/// Belief that is not too sure of itself to be corrected.
pub(crate) fn hedge(belief: &Belief) -> Belief {
    let hedged = |letters: &Vec<f64>| {
        let uniform = 1.0 / letters.len() as f64;
        letters.iter().map(|p| 0.95 * p + 0.05 * uniform).collect()
    };
    belief.iter().map(hedged).collect()
}
