//! The lines about the randomness of ciphertexts.

use super::{Row, Study, row};
use crate::AuditError;
use crate::known::Known;
use crate::randomness::{self, FirstCell, Freshness};
use veilpath_metrics::Scanpath;
use veilpath_protocol::watch_key_holder;

impl Study<'_> {
    /// The first cell of comparisons of one letter with one: by a careless Bob, and by the engine.
    pub(super) fn randomness(&self) -> Result<Vec<Row>, AuditError> {
        let trials = self.settings.rounds.min(self.hers.len());
        let single = |scanpath: &Scanpath| Scanpath::new(scanpath.letters()[..1].to_vec());
        let hers: Vec<Scanpath> = self.hers.iter().take(trials).map(single).collect();
        let his: Vec<Scanpath> = self.his.iter().take(trials).map(single).collect();
        let known = |trial: usize| {
            let raw = self.comparison.raw(&hers[trial], &his[trial])?;
            Known::new(&self.comparison, hers[trial].letters(), 1, raw)
        };
        // Where the randomness tells nothing, the score does.
        let guess = |trial: usize, cell: Option<&FirstCell>| -> Result<f64, AuditError> {
            let (known, truth) = (known(trial)?, his[trial].letters()[0]);
            if let Some(cell) = cell
                && let Some(letter) = randomness::attack(&self.key, &known, cell)?
            {
                return Ok(f64::from(letter == truth));
            }
            let gaps = known.insert + known.delete;
            let fits = |cost: i64| cost.min(gaps) == known.score;
            let classes = known.classes.iter().filter(|class| fits(class.costs[0]));
            Ok(1.0 / classes.map(|class| class.members.len()).sum::<usize>() as f64)
        };
        let all = |cells: &[Option<FirstCell>]| -> Result<f64, AuditError> {
            let each = cells.iter().enumerate();
            each.map(|(trial, cell)| guess(trial, cell.as_ref())).sum()
        };
        let careless = |freshness| -> Result<Vec<Option<FirstCell>>, AuditError> {
            (0..trials)
                .map(|trial| {
                    let letter = his[trial].letters()[0];
                    randomness::careless(&self.key, &known(trial)?, letter, freshness).map(Some)
                })
                .collect()
        };
        let without: Vec<Option<FirstCell>> = (0..trials).map(|_| None).collect();
        let options = self.options()?.with_batch(1)?.with_packing(false);
        let pairs: Vec<_> = (0..trials).map(|i| (i, i)).collect();
        let (hers, his) = (
            hers.iter().collect::<Vec<_>>(),
            his.iter().collect::<Vec<_>>(),
        );
        let watched = watch_key_holder(&self.spec(options), &hers, &his, &pairs, &self.key)?;
        let bytes = self.settings.key_size.ciphertext_bytes();
        let row_bytes = bytes * self.settings.alphabet.size() as usize;
        let split = |bytes_of: &[u8]| bytes_of.chunks(bytes).map(<[u8]>::to_vec).collect();
        let engine: Vec<Option<FirstCell>> = watched
            .messages
            .iter()
            .zip(watched.substitutions.chunks(row_bytes))
            .map(|(message, row)| {
                Some(FirstCell {
                    row: split(row),
                    masked: split(&message.ciphertexts),
                })
            })
            .collect();
        let name = "ciphertext randomness";
        let rows = vec![
            row("first cell", "score alone", all(&without)?, trials),
            row(
                "first cell, no fresh factor",
                name,
                all(&careless(Freshness::None)?)?,
                trials,
            ),
            row(
                "first cell, one for three",
                name,
                all(&careless(Freshness::Shared)?)?,
                trials,
            ),
            row("first cell, the engine", name, all(&engine)?, trials),
        ];
        (self.done)();
        Ok(rows)
    }
}
