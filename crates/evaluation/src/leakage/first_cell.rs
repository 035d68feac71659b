//! The rows about ciphertext randomness.

use super::study::{Study, row};
use super::{Row, SCORE};
use veilpath_audit::randomness::{self, FirstCell, Freshness};
use veilpath_audit::{AuditError, KeyHolderView, score_only};
use veilpath_metrics::Scanpath;
use veilpath_protocol::watch_key_holder;

/// The name of the attack.
const RANDOMNESS: &str = "ciphertext randomness";

impl Study<'_> {
    /// Comparisons of one letter with one letter, which have a single cell: by a matrix owner without fresh randomness, and by the
    /// engine.
    pub(super) fn first_cell(&self) -> Result<Vec<Row>, AuditError> {
        let trials = self.options.repetitions.min(self.host.len());
        let first_letter = |scanpath: &Scanpath| Scanpath::new(scanpath.letters()[..1].to_vec());
        let host: Vec<Scanpath> = self.host.iter().take(trials).map(first_letter).collect();
        let join: Vec<Scanpath> = self.join.iter().take(trials).map(first_letter).collect();
        let view = |trial: usize| {
            let raw = self.comparison.raw(&host[trial], &join[trial])?;
            KeyHolderView::new(&self.comparison, host[trial].letters(), 1, raw)
        };
        // If the randomness reveals nothing, the guess is made from the score.
        let guess = |trial: usize, cell: Option<&FirstCell>| -> Result<f64, AuditError> {
            let (view, truth) = (view(trial)?, join[trial].letters()[0]);
            if let Some(cell) = cell
                && let Some(letter) = randomness::attack(&self.key, &view, cell)?
            {
                return Ok(f64::from(letter == truth));
            }
            Ok(score_only::guess_one_letter(&view))
        };
        let guess_all = |cells: &[Option<FirstCell>]| -> Result<f64, AuditError> {
            let trials = cells.iter().enumerate();
            trials
                .map(|(trial, cell)| guess(trial, cell.as_ref()))
                .sum()
        };
        let without_fresh = |freshness| -> Result<Vec<Option<FirstCell>>, AuditError> {
            (0..trials)
                .map(|trial| {
                    let letter = join[trial].letters()[0];
                    randomness::first_cell_without(&self.key, &view(trial)?, letter, freshness)
                        .map(Some)
                })
                .collect()
        };
        let score_only: Vec<Option<FirstCell>> = (0..trials).map(|_| None).collect();
        let engine = self.engine_cells(&host, &join)?;
        let rows = vec![
            row("first cell", SCORE, guess_all(&score_only)?, trials),
            row(
                "first cell, no fresh randomness",
                RANDOMNESS,
                guess_all(&without_fresh(Freshness::None)?)?,
                trials,
            ),
            row(
                "first cell, one randomiser for all three",
                RANDOMNESS,
                guess_all(&without_fresh(Freshness::Shared)?)?,
                trials,
            ),
            row(
                "first cell, the engine",
                RANDOMNESS,
                guess_all(&engine)?,
                trials,
            ),
        ];
        (self.step)();
        Ok(rows)
    }

    /// The same cell as the engine computes it.
    fn engine_cells(
        &self,
        host: &[Scanpath],
        join: &[Scanpath],
    ) -> Result<Vec<Option<FirstCell>>, AuditError> {
        let options = self.engine()?.with_batch(1)?.with_packing(false);
        let pairs: Vec<_> = (0..host.len()).map(|i| (i, i)).collect();
        let host: Vec<&Scanpath> = host.iter().collect();
        let join: Vec<&Scanpath> = join.iter().collect();
        let watched = watch_key_holder(&self.spec(options), &host, &join, &pairs, &self.key)?;
        let bytes = self.options.key_size.ciphertext_bytes();
        let row_bytes = bytes * self.options.alphabet.size() as usize;
        let ciphertexts = |joined: &[u8]| joined.chunks(bytes).map(<[u8]>::to_vec).collect();
        let messages = watched.messages.iter();
        Ok(messages
            .zip(watched.substitutions.chunks(row_bytes))
            .map(|(message, row)| {
                Some(FirstCell {
                    row: ciphertexts(row),
                    masked: ciphertexts(&message.ciphertexts),
                })
            })
            .collect())
    }
}
