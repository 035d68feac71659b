//! How much the matrix owner requests, and when.
//!
//! Several requests are always outstanding if there is enough to choose from: the key holder works on one while the
//! matrix owner extracts the values from the previous reply and masks the next request.

use super::super::messages::Header;
use super::super::order::cells_to_take;
use super::super::parallel::LANES;
use super::MatrixOwner;

/// Bytes of replies that may be outstanding when the matrix owner sends another request. The key holder's replies must
/// fit the [`Channel`](veilpath_channel::Channel) while the matrix owner is still sending.
pub(in super::super) const WINDOW_BYTES: usize = 256 << 10;
/// The number of requests that may be outstanding.
pub(in super::super) const MAX_OUTSTANDING: usize = 3;

impl<R> MatrixOwner<'_, R> {
    /// The next request, while the values of `answered` cells are extracted from a reply; `None` if there is nothing
    /// to request, or enough is outstanding.
    pub(super) fn next_request(&self, answered: usize) -> Option<Header> {
        let batch = self.agreed.batch() as usize;
        let idle = self.outstanding.is_empty();
        if !idle && (batch == 1 || self.outstanding.len() >= MAX_OUTSTANDING) {
            return None;
        }
        let full = LANES * self.agreed.layout.cells;
        let requested = self.outstanding_sets() + answered;
        let ready = self.ready.len();
        let sets = cells_to_take(ready, requested, self.full_request(), full);
        let results = self.finished.len().min(batch);
        // While a request is outstanding, only full ones follow. Small ones would tell the key holder more precisely
        // when a cell was ready, and would cost as much.
        if !idle && sets < self.full_request() {
            return None;
        }
        let reply_bytes: usize = self
            .outstanding
            .iter()
            .map(|request| request.reply_bytes)
            .sum();
        let mut header = header(0, sets, results);
        let free_bytes = WINDOW_BYTES.saturating_sub(reply_bytes + self.reply_bytes(&header));
        let row_bytes = self.reply_bytes(&Header {
            rows: 1,
            ..Header::default()
        });
        let next_host = self.waiting.front().map(|&pair| self.job.pairs[pair].0);
        header.rows = match next_host {
            Some(host) if idle && sets == 0 => self.substitutions.rows_to_request(host),
            Some(host) if batch > 1 => {
                let fit = u32::try_from(free_bytes / 2 / row_bytes).unwrap_or(u32::MAX);
                let rows = self.substitutions.rows_to_request(host);
                rows.min(fit).min(self.rows_with_room())
            }
            _ => 0,
        };
        let fits = reply_bytes + self.reply_bytes(&header) <= WINDOW_BYTES;
        (header != Header::default() && (idle || fits)).then_some(header)
    }

    /// A request that need not wait for the current reply, because there is more than enough to choose from without
    /// it.
    pub(super) fn next_request_at_once(&self, answered: usize) -> Option<Header> {
        self.next_request(answered)
            .filter(|header| header.sets as usize == self.full_request())
    }

    /// The largest number of cells in a request such that all outstanding requests fit the channel together, rounded to
    /// fill all SIMD lanes.
    pub(super) fn full_request(&self) -> usize {
        let layout = &self.agreed.layout;
        let reply = self.agreed.reply_ciphertexts() * self.agreed.key_size().ciphertext_bytes();
        let fitting = WINDOW_BYTES / MAX_OUTSTANDING / reply;
        let max_cells = fitting.clamp(1, self.agreed.batch() as usize);
        let full = LANES * layout.cells;
        if max_cells > full {
            max_cells - max_cells % full
        } else {
            max_cells
        }
    }

    /// The number of unanswered candidate sets.
    pub(super) fn outstanding_sets(&self) -> usize {
        let requested = self.outstanding.iter();
        requested.map(|request| request.unmaskings.len()).sum()
    }

    /// The size of the reply in bytes.
    pub(super) fn reply_bytes(&self, header: &Header) -> usize {
        let row = self.agreed.alphabet_size as usize;
        let minima = header.sets as usize * self.agreed.reply_ciphertexts();
        let ciphertexts = minima + (header.rows as usize).saturating_mul(row);
        ciphertexts
            .saturating_mul(self.agreed.key_size().ciphertext_bytes())
            .saturating_add(match self.job.learns_pairs(self.job.role) {
                true => 8 * header.results as usize,
                false => 0,
            })
    }
}

fn header(rows: u32, sets: usize, results: usize) -> Header {
    Header {
        rows,
        sets: u32::try_from(sets).unwrap_or(u32::MAX),
        results: u32::try_from(results).unwrap_or(u32::MAX),
    }
}
