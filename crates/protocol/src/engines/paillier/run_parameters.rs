//! What both sides know before the first ciphertext is sent. Each side computes it from the plan and all lengths.

use super::PaillierOptions;
use super::hardened::HardenedParameters;
use super::masking::{BatchLayout, Ranges};
use super::recurrence::Recurrence;
use crate::engines::lengths::own_lengths;
use crate::results::is_possible;
use crate::{Job, Misbehaviour, Observer, ProtocolError, Role};
use std::collections::HashSet;
use veilpath_metrics::PairScore;
use veilpath_paillier::KeySize;

/// The parameters of a run, equal on both sides.
pub(super) struct RunParameters {
    pub(super) recurrence: Recurrence,
    pub(super) ranges: Ranges,
    pub(super) layout: BatchLayout,
    /// The parameters of the hardened masks, if that variant was agreed on.
    pub(super) hardened: Option<HardenedParameters>,
    pub(super) alphabet_size: u32,
    options: PaillierOptions,
    host_lengths: Vec<u32>,
    join_lengths: Vec<u32>,
    /// Pairs with at least one matrix cell, in the agreed order.
    pub(super) pairs_with_cells: Vec<usize>,
    /// The key holder's scanpaths in the order in which they are first needed.
    pub(super) host_scanpaths: Vec<usize>,
    /// The number of candidate sets of all pairs.
    pub(super) candidate_sets: u64,
    /// The number of matrix cells of all pairs.
    pub(super) cells: u64,
}

impl RunParameters {
    pub(super) fn new(
        job: &Job<'_>,
        options: PaillierOptions,
        theirs: Vec<u32>,
    ) -> Result<Self, ProtocolError> {
        let own = own_lengths(job)?;
        let (host_lengths, join_lengths) = match job.role {
            Role::Host => (own, theirs),
            Role::Join => (theirs, own),
        };
        let alphabet_size = job.comparison.alphabet().size();
        let lengths = |pair: usize| {
            let (i, j) = job.pairs[pair];
            (host_lengths[i], join_lengths[j])
        };
        let recurrence = Recurrence::new(
            job.comparison.model(),
            (0..job.pairs.len()).map(lengths),
            alphabet_size,
        )?;
        let mut seen = HashSet::new();
        let (mut pairs_with_cells, mut host_scanpaths, mut candidate_sets, mut cells) =
            (Vec::new(), Vec::new(), 0u64, 0u64);
        for (pair, &(host, _)) in job.pairs.iter().enumerate() {
            let (m, n) = lengths(pair);
            if m == 0 || n == 0 {
                continue;
            }
            candidate_sets = candidate_sets.saturating_add(recurrence.candidate_sets(m, n));
            cells = cells.saturating_add(u64::from(m) * u64::from(n));
            pairs_with_cells.push(pair);
            if seen.insert(host) {
                host_scanpaths.push(host);
            }
        }
        let ranges = Ranges::new(recurrence.bound(), candidate_sets)?;
        let (size, width, packing) = (options.key_size(), recurrence.width(), options.packing());
        let (hardened, layout) = if options.hardened() {
            let parameters = HardenedParameters::new(width, recurrence.bound(), candidate_sets)?;
            (Some(parameters), parameters.layout(size, packing)?)
        } else {
            (None, BatchLayout::new(size, &ranges, width, packing)?)
        };
        Ok(Self {
            recurrence,
            ranges,
            layout,
            hardened,
            alphabet_size,
            options,
            host_lengths,
            join_lengths,
            pairs_with_cells,
            host_scanpaths,
            candidate_sets,
            cells,
        })
    }

    pub(super) fn key_size(&self) -> KeySize {
        self.options.key_size()
    }

    /// The largest number of candidate sets in one message.
    pub(super) fn batch(&self) -> u32 {
        self.options.batch()
    }

    /// Ciphertexts in the reply for a candidate set.
    pub(super) fn reply_ciphertexts(&self) -> usize {
        self.hardened
            .as_ref()
            .map_or(1, HardenedParameters::reply_ciphertexts)
    }

    /// The length of one of the key holder's scanpaths.
    pub(super) fn host_length(&self, host: usize) -> u32 {
        self.host_lengths[host]
    }

    /// The lengths of a pair.
    pub(super) fn lengths(&self, job: &Job<'_>, pair: usize) -> (u32, u32) {
        let (i, j) = job.pairs[pair];
        (self.host_lengths[i], self.join_lengths[j])
    }

    /// All rows of D that the key holder sends.
    pub(super) fn rows(&self) -> u64 {
        self.host_scanpaths
            .iter()
            .map(|&host| u64::from(self.host_lengths[host]))
            .sum()
    }

    /// The scores that follow from the lengths, those of empty scanpaths; `None` for all others.
    pub(super) fn known_scores(
        &self,
        job: &Job<'_>,
        observer: &dyn Observer,
    ) -> Result<Vec<Option<PairScore>>, ProtocolError> {
        let mut pair_scores = vec![None; job.pairs.len()];
        for (pair, pair_score) in pair_scores.iter_mut().enumerate() {
            let (m, n) = self.lengths(job, pair);
            if m == 0 || n == 0 {
                let score = self.read(job, pair, self.recurrence.empty_matrix_result(m, n))?;
                if job.learns_pairs(job.role) {
                    observer.scored(pair, score.into());
                }
                *pair_score = Some(score);
            }
        }
        Ok(pair_scores)
    }

    /// The user's numbers for a raw result, if it is possible.
    pub(super) fn read(
        &self,
        job: &Job<'_>,
        pair: usize,
        raw: i64,
    ) -> Result<PairScore, ProtocolError> {
        let (m, n) = self.lengths(job, pair);
        let pair_score = job.comparison.read(raw, m as usize, n as usize)?;
        match is_possible(&pair_score, job.comparison.metric()) {
            true => Ok(pair_score),
            false => Err(Misbehaviour::ResultOutOfRange.into()),
        }
    }
}

/// Words of the random number that hides a result. Results have at most 62 bits, and two institutions compare at most 2²⁴ pairs
/// in a session (`MAX_SESSION_PAIRS` of `veilpath-session`; more pairs, up to [`MAX_PAIRS`](crate::MAX_PAIRS), are for one machine).
/// So the key holder's view of a session's results is within statistical distance 2⁻¹⁰⁶ of uniform.
pub(super) const MASK_WORDS: usize = 3;

/// A placeholder for a result that is secret-shared between the sides.
pub(super) const SHARED_RESULT: PairScore = PairScore::new(0.0, None);

/// All scores, once every pair has one.
pub(super) fn complete(
    job: &Job<'_>,
    pair_scores: Vec<Option<PairScore>>,
) -> Result<Vec<PairScore>, ProtocolError> {
    if !job.learns_pairs(job.role) {
        return Ok(Vec::new());
    }
    pair_scores
        .into_iter()
        .collect::<Option<_>>()
        .ok_or(ProtocolError::Internal("a comparison was left out"))
}
