//! How much Bob asks, and when.
//!
//! A few questions are always under way where there is enough to choose from: Alice works on one while Bob takes the
//! values out of the answer before and masks the question after.

use super::super::messages::Header;
use super::super::order::cells_to_take;
use super::super::workers::LANES;
use super::MatrixOwner;

/// Bytes of replies that may be under way when Bob asks again. See [`Channel`](crate::Channel): what Alice answers must
/// fit the line while Bob is still sending.
const WINDOW_BYTES: usize = 256 << 10;
/// Questions that may be under way.
const QUESTIONS_UNDER_WAY: usize = 3;

impl<R> MatrixOwner<'_, R> {
    /// How much to ask next, while the values of so many cells are taken out of an answer; `None` when there is nothing to
    /// ask, or enough under way.
    pub(super) fn next_question(&self, answered: usize) -> Option<Header> {
        let batch = self.agreement.batch() as usize;
        let idle = self.under_way.is_empty();
        if !idle && (batch == 1 || self.under_way.len() >= QUESTIONS_UNDER_WAY) {
            return None;
        }
        let full = LANES * self.agreement.layout.cells;
        let asked = self.under_way.iter().map(|question| question.pending.len());
        let asked = asked.sum::<usize>() + answered;
        let ready = self.candidates.len();
        let steps = cells_to_take(ready, asked, self.full_question(), full);
        let results = self.finished.len().min(batch);
        // While there is a question under way only full ones follow: small ones would tell Alice more exactly when a cell
        // was ready, and cost as much.
        if !idle && steps < self.full_question() {
            return None;
        }
        let outstanding: usize = self.under_way.iter().map(|q| q.reply_bytes).sum();
        let mut header = header(0, steps, results);
        let room = WINDOW_BYTES.saturating_sub(outstanding + self.reply_bytes(&header));
        let row_bytes = self.reply_bytes(&Header {
            rows: 1,
            ..Header::default()
        });
        let wanted = self.waiting.front().map(|&pair| self.job.pairs[pair].0);
        header.rows = match wanted {
            Some(host) if idle && steps == 0 => self.substitutions.rows_to_ask(host),
            Some(host) if batch > 1 => {
                let fit = u32::try_from(room / 2 / row_bytes).unwrap_or(u32::MAX);
                self.substitutions.rows_to_ask(host).min(fit)
            }
            _ => 0,
        };
        let fits = outstanding + self.reply_bytes(&header) <= WINDOW_BYTES;
        (header != Header::default() && (idle || fits)).then_some(header)
    }

    /// A question that need not wait for the answer at hand: there is more than enough to choose from without it.
    pub(super) fn next_question_at_once(&self, answered: usize) -> Option<Header> {
        self.next_question(answered)
            .filter(|header| header.steps as usize == self.full_question())
    }

    /// The most cells in a question: so many that all questions under way fit the line together, in whole lanes.
    fn full_question(&self) -> usize {
        let layout = &self.agreement.layout;
        let reply = self.agreement.replies() * self.agreement.key_size().ciphertext_bytes();
        let fitting = WINDOW_BYTES / QUESTIONS_UNDER_WAY / reply;
        let most = fitting.clamp(1, self.agreement.batch() as usize);
        let full = LANES * layout.cells;
        if most > full {
            most - most % full
        } else {
            most
        }
    }

    /// Bytes that the answer will have.
    pub(super) fn reply_bytes(&self, header: &Header) -> usize {
        let row = self.agreement.letters as usize;
        let answers = header.steps as usize * self.agreement.replies();
        let ciphertexts = answers + (header.rows as usize).saturating_mul(row);
        ciphertexts
            .saturating_mul(self.agreement.key_size().ciphertext_bytes())
            .saturating_add(8 * header.results as usize)
    }
}

fn header(rows: u32, steps: usize, results: usize) -> Header {
    Header {
        rows,
        steps: u32::try_from(steps).unwrap_or(u32::MAX),
        results: u32::try_from(results).unwrap_or(u32::MAX),
    }
}
