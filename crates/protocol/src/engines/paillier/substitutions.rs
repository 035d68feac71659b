//! D on the matrix owner's side: one row per letter of the key holder's scanpath. Each scanpath's D is stored once, for
//! as long as pairs need it.

use super::messages::{receive_ciphertexts, split};
use super::run_parameters::RunParameters;
use crate::{Job, ProtocolError};
use std::collections::{HashMap, VecDeque};
use veilpath_channel::Channel;
use veilpath_paillier::{Ciphertext, PublicKey};

/// The matrices D that have arrived, and those still expected.
pub(super) struct Substitutions {
    /// The number of entries in a row. All are parsed and kept, whichever letters the matrix owner uses, so that
    /// neither timing nor rejected entries reveal its letters.
    alphabet_size: usize,
    rows_by_host: HashMap<usize, Rows>,
    /// The key holder's scanpaths whose rows are missing, in order of arrival.
    to_come: VecDeque<usize>,
    /// The number of rows that were requested and have not arrived.
    requested: u32,
}

struct Rows {
    rows: Vec<Vec<Ciphertext>>,
    length: u32,
    pairs_left: usize,
}

impl Substitutions {
    pub(super) fn new(agreed: &RunParameters, job: &Job<'_>) -> Self {
        let mut rows_by_host = HashMap::new();
        for &pair in &agreed.pairs_with_cells {
            let (host, _) = job.pairs[pair];
            let rows = rows_by_host.entry(host).or_insert_with(|| Rows {
                rows: Vec::new(),
                length: agreed.host_length(host),
                pairs_left: 0,
            });
            rows.pairs_left += 1;
        }
        Self {
            alphabet_size: agreed.alphabet_size as usize,
            rows_by_host,
            to_come: agreed.host_scanpaths.iter().copied().collect(),
            requested: 0,
        }
    }

    /// Whether all rows of a scanpath have arrived.
    pub(super) fn complete(&self, host: usize) -> bool {
        self.rows_by_host
            .get(&host)
            .is_some_and(|rows| rows.rows.len() == rows.length as usize)
    }

    /// The number of rows of this scanpath that were neither received nor requested; 0 if another scanpath has to come
    /// first.
    pub(super) fn rows_to_request(&self, host: usize) -> u32 {
        match (self.to_come.front(), self.rows_by_host.get(&host)) {
            (Some(&next), Some(rows)) if next == host => {
                let received = u32::try_from(rows.rows.len()).unwrap_or(u32::MAX);
                rows.length
                    .saturating_sub(received.saturating_add(self.requested))
            }
            _ => 0,
        }
    }

    /// Records that rows of the next scanpath were requested.
    pub(super) fn mark_requested(&mut self, rows: u32) {
        self.requested += rows;
    }

    /// Receives rows that were requested.
    pub(super) fn receive(
        &mut self,
        channel: &mut dyn Channel,
        count: u32,
        public: &PublicKey,
    ) -> Result<(), ProtocolError> {
        let broken = ProtocolError::Internal("rows arrived that were not requested");
        for _ in 0..count {
            let host = *self.to_come.front().ok_or(broken.clone())?;
            let bytes = receive_ciphertexts(channel, self.alphabet_size, public.size())?;
            let row = public.ciphertexts_from_bytes(&split(&bytes, public.size()))?;
            let rows = self.rows_by_host.get_mut(&host).ok_or(broken.clone())?;
            rows.rows.push(row);
            self.requested -= 1;
            if rows.rows.len() == rows.length as usize {
                self.to_come.pop_front();
            }
        }
        Ok(())
    }

    /// D(i, k_B[j]) for the key holder's `row`-th letter, counted from 1, and a letter of the matrix owner.
    pub(super) fn get(&self, host: usize, row: u32, letter: u16) -> Option<&Ciphertext> {
        let rows = &self.rows_by_host.get(&host)?.rows;
        rows.get(row as usize - 1)?.get(usize::from(letter))
    }

    /// The number of rows that are stored or requested.
    pub(super) fn rows(&self) -> usize {
        let stored = self.rows_by_host.values().map(|rows| rows.rows.len());
        stored.sum::<usize>() + self.requested as usize
    }

    /// Records that a pair is done; the last pair of a scanpath drops its D.
    pub(super) fn release(&mut self, host: usize) {
        if let Some(rows) = self.rows_by_host.get_mut(&host) {
            rows.pairs_left -= 1;
            if rows.pairs_left == 0 {
                self.rows_by_host.remove(&host);
            }
        }
    }
}
