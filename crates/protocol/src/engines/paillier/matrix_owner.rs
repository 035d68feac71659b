//! The matrix owner (the joining side; Bob in the paper). It fills the encrypted matrices in a random order, and
//! requests the minimum of each cell's masked values.

mod requests;
mod shares;
mod storage;
pub(super) mod window;

pub(super) use requests::{MAX_OUTSTANDING, WINDOW_BYTES};
pub(crate) use storage::largest_storage;

use super::PaillierOptions;
use super::cell::{CandidateSet, Context, Inputs, SetMask, Target, Unmasking};
use super::hardened::CellSecrets;
use super::masking::Mask;
use super::matrix::{Matrix, Progress};
use super::messages::{self, Header, receive_ciphertexts};
use super::order::ReadyCells;
use super::parallel::{LANES, Randomness, chunk_length, into_chunks, on_all_cores};
use super::run_parameters::{RunParameters, SHARED_RESULT, complete};
use super::substitutions::Substitutions;
use super::tap::Tap;
use crate::engines::lengths::{own_lengths, receive_lengths, send_lengths};
use crate::{Job, Misbehaviour, Observer, ProtocolError};
use rand::CryptoRng;
use std::collections::{HashMap, VecDeque};
use veilpath_channel::Channel;
use veilpath_metrics::PairScore;
use veilpath_paillier::{Ciphertext, Plaintext, PublicKey, system_rng};
use window::Window;

/// Runs the matrix owner.
pub(crate) fn join(
    job: &Job<'_>,
    options: PaillierOptions,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<PairScore>, ProtocolError> {
    join_with(job, options, channel, observer, &mut system_rng()?)
}

/// Like [`join`], with all choices and masks from a given generator.
pub(super) fn join_with<R: CryptoRng>(
    job: &Job<'_>,
    options: PaillierOptions,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
    rng: &mut R,
) -> Result<Vec<PairScore>, ProtocolError> {
    join_tapped(
        job,
        options,
        channel,
        observer,
        rng,
        (&(), Limits::default()),
    )
}

/// Like [`join_with`], with a tap and limits for audits and tests.
pub(super) fn join_tapped<R: CryptoRng>(
    job: &Job<'_>,
    options: PaillierOptions,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
    rng: &mut R,
    (tap, limits): (&dyn Tap, Limits),
) -> Result<Vec<PairScore>, ProtocolError> {
    send_lengths(channel, &own_lengths(job)?)?;
    let theirs = receive_lengths(channel, job)?;
    let agreed = RunParameters::new(job, options, theirs)?;
    let pair_scores = agreed.known_scores(job, observer)?;
    if agreed.pairs_with_cells.is_empty() {
        return complete(job, pair_scores);
    }
    // Setup i: the matrix owner receives pk.
    let public = messages::receive_key(channel, agreed.key_size())?;
    let mut matrix_owner = MatrixOwner {
        substitutions: Substitutions::new(&agreed, job),
        waiting: agreed.pairs_with_cells.iter().copied().collect(),
        window: Window::new(agreed.pairs_with_cells.len(), limits.in_flight),
        max_stored_bytes: limits.stored_bytes,
        job,
        agreed,
        public,
        randomness: None,
        observer,
        rng,
        matrices: HashMap::new(),
        matrix_bytes: 0,
        ready: ReadyCells::new(),
        finished: Vec::new(),
        outstanding: VecDeque::new(),
        pair_scores,
        tap,
    };
    matrix_owner.fill_all(channel)?;
    complete(job, matrix_owner.pair_scores)
}

/// What may be in flight. Audits and tests choose other limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Exactly this many comparisons, instead of as many as the [`Window`] starts.
    pub(super) in_flight: Option<usize>,
    /// Bytes that the matrix values and substitution costs of comparisons in flight may take. One comparison is always
    /// allowed.
    pub(super) stored_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_flight: None,
            stored_bytes: storage::MAX_STORED_BYTES,
        }
    }
}

struct MatrixOwner<'a, R> {
    job: &'a Job<'a>,
    agreed: RunParameters,
    public: PublicKey,
    /// Computed while the key holder answers the first request.
    randomness: Option<Randomness>,
    observer: &'a dyn Observer,
    rng: &'a mut R,
    substitutions: Substitutions,
    /// Pairs that have not started yet.
    waiting: VecDeque<usize>,
    /// Comparisons in flight, by pair.
    matrices: HashMap<usize, Matrix>,
    /// The bytes that the values of these may take.
    matrix_bytes: u64,
    max_stored_bytes: u64,
    window: Window,
    ready: ReadyCells<ReadyTask>,
    /// Results that the key holder has yet to decrypt.
    finished: Vec<(usize, Ciphertext)>,
    outstanding: VecDeque<Request>,
    pair_scores: Vec<Option<PairScore>>,
    tap: &'a dyn Tap,
}

/// A task for the key holder that is ready, but not requested.
enum ReadyTask {
    Cell(usize, (u32, u32)),
    Round(usize, Vec<Ciphertext>),
}

/// An unanswered request.
struct Request {
    rows: u32,
    unmaskings: Vec<Unmasking>,
    results: Vec<usize>,
    reply_bytes: usize,
}

/// A reply: the bytes of the minima, and what step 6 needs for them.
struct Reply {
    minima: Vec<u8>,
    unmaskings: Vec<Unmasking>,
}

/// A task for one core.
enum CoreTask<'a> {
    Mask(Vec<CandidateSet>),
    Unmask(&'a [u8], Vec<Unmasking>),
}

enum TaskResult {
    Masked((Vec<u8>, Vec<Unmasking>)),
    Unmasked(Vec<(Target, Ciphertext)>),
}

impl<R: CryptoRng> MatrixOwner<'_, R> {
    fn fill_all(&mut self, channel: &mut dyn Channel) -> Result<(), ProtocolError> {
        loop {
            self.start_pairs()?;
            while let Some(header) = self.next_request(0) {
                self.run_batch(channel, None, Some(header))?;
            }
            let Some(request) = self.outstanding.pop_front() else {
                return Ok(());
            };
            if self.randomness.is_none() {
                let groups = self
                    .agreed
                    .candidate_sets
                    .div_ceil(self.agreed.layout.cells as u64);
                let each = self.agreed.layout.ciphertexts as u64;
                let expected = groups.saturating_mul(each);
                self.randomness = Some(Randomness::for_matrix_owner(&self.public, expected)?);
            }
            let reply = self.receive_reply(channel, request)?;
            let next = self.next_request_at_once(reply.unmaskings.len());
            self.run_batch(channel, Some(reply), next)?;
        }
    }

    /// Runs one batch on all cores: extracts the values from a reply (step 6) and prepares the next request, whose
    /// cells are chosen at random and masked (steps 1 to 4). The two are independent, so together they leave no core
    /// idle.
    fn run_batch(
        &mut self,
        channel: &mut dyn Channel,
        reply: Option<Reply>,
        header: Option<Header>,
    ) -> Result<(), ProtocolError> {
        let sets = match &header {
            Some(header) => self.draw_sets(header.sets as usize)?,
            None => Vec::new(),
        };
        let (minima, unmaskings) =
            reply.map_or_else(Default::default, |it| (it.minima, it.unmaskings));
        let (mut masked, mut values) = (Vec::new(), Vec::new());
        if !(sets.is_empty() && unmaskings.is_empty()) {
            let context = self.context()?;
            // The longest tasks first, so that the cores finish at about the same time.
            let at_a_time = chunk_length(sets.len(), LANES * self.agreed.layout.cells);
            let mut work: Vec<_> = into_chunks(sets, at_a_time)
                .into_iter()
                .map(CoreTask::Mask)
                .collect();
            let at_a_time = chunk_length(unmaskings.len(), LANES);
            let bytes = self.agreed.reply_ciphertexts() * self.agreed.key_size().ciphertext_bytes();
            let minima = minima.chunks(at_a_time * bytes);
            let unmaskings = into_chunks(unmaskings, at_a_time);
            work.extend(minima.zip(unmaskings).map(|(m, u)| CoreTask::Unmask(m, u)));
            let done = on_all_cores(self.observer, work, |chunk| match chunk {
                CoreTask::Mask(sets) => context.mask(sets).map(TaskResult::Masked),
                CoreTask::Unmask(minima, unmaskings) => {
                    context.unmask(minima, unmaskings).map(TaskResult::Unmasked)
                }
            })?;
            for chunk in done {
                match chunk {
                    TaskResult::Masked(chunk) => masked.push(chunk),
                    TaskResult::Unmasked(chunk) => values.extend(chunk),
                }
            }
        }
        if let Some(header) = header {
            self.send_request(channel, header, masked)?;
        }
        let mut cells = 0;
        for (target, value) in values {
            cells += u64::from(target.cell.is_some());
            self.store(target, value)?;
        }
        self.observer.cells(cells);
        Ok(())
    }

    /// Sends a request: masked candidates, results to decrypt, rows of D.
    fn send_request(
        &mut self,
        channel: &mut dyn Channel,
        header: Header,
        masked: Vec<(Vec<u8>, Vec<Unmasking>)>,
    ) -> Result<(), ProtocolError> {
        let results: Vec<_> = self.finished.drain(..header.results as usize).collect();
        let opened = if results.is_empty() {
            Vec::new()
        } else {
            let masked = match self.job.learns_pairs(self.job.role) {
                true => None,
                false => Some(self.mask_results(&results)?),
            };
            let (public, randomness) = (&self.public, self.randomness()?);
            let values: Vec<_> = match &masked {
                Some(masked) => masked.iter().collect(),
                None => results.iter().map(|(_, value)| value).collect(),
            };
            public.rerandomize_batch(&values, randomness.draw(values.len())?)?
        };
        header.send(channel)?;
        let mut unmaskings = Vec::new();
        for (bytes, sets) in masked {
            channel.send(&bytes)?;
            unmaskings.extend(sets);
        }
        for ((pair, _), value) in results.iter().zip(&opened) {
            messages::send_u64(channel, *pair as u64)?;
            channel.send(&self.public.ciphertext_to_bytes(value)?)?;
        }
        channel.flush()?;
        self.substitutions.mark_requested(header.rows);
        self.outstanding.push_back(Request {
            reply_bytes: self.reply_bytes(&header),
            rows: header.rows,
            unmaskings,
            results: results.into_iter().map(|(pair, _)| pair).collect(),
        });
        Ok(())
    }

    /// Receives the reply to a request.
    fn receive_reply(
        &mut self,
        channel: &mut dyn Channel,
        requested: Request,
    ) -> Result<Reply, ProtocolError> {
        let size = self.agreed.key_size();
        let ciphertexts = requested.unmaskings.len() * self.agreed.reply_ciphertexts();
        let minima = receive_ciphertexts(channel, ciphertexts, size)?;
        for pair in requested.results {
            if !self.job.learns_pairs(self.job.role) {
                self.pair_scores[pair] = Some(SHARED_RESULT);
                continue;
            }
            let (rows, columns) = self.agreed.lengths(self.job, pair);
            let raw = i64::try_from(messages::receive_u64(channel)?)
                .ok()
                .filter(|&raw| self.agreed.recurrence.admits(raw, rows, columns))
                .ok_or(ProtocolError::PeerMisbehaved(
                    Misbehaviour::ResultOutOfRange,
                ))?;
            let pair_score = self.agreed.read(self.job, pair, raw)?;
            self.pair_scores[pair] = Some(pair_score);
            self.observer.scored(pair, pair_score.into());
        }
        self.substitutions
            .receive(channel, requested.rows, &self.public)?;
        Ok(Reply {
            minima,
            unmaskings: requested.unmaskings,
        })
    }

    /// Stores a value and adds the cells that it makes ready.
    fn store(&mut self, target: Target, value: Ciphertext) -> Result<(), ProtocolError> {
        let pair = target.pair;
        let matrix = self.matrices.get_mut(&pair).ok_or(MISSING)?;
        let progress = match target.cell {
            Some(cell) => {
                self.window.fill();
                matrix.fill(cell, value)
            }
            None => matrix.finish_round(value),
        };
        let host = matrix.host;
        let Progress {
            cells,
            round,
            result,
        } = progress;
        for cell in cells {
            self.ready.push(ReadyTask::Cell(pair, cell));
        }
        if let Some(values) = round {
            self.ready.push(ReadyTask::Round(pair, values));
        }
        if let Some(result) = result {
            self.matrices.remove(&pair);
            self.window.finish();
            let (rows, columns) = self.agreed.lengths(self.job, pair);
            self.matrix_bytes -= self.agreed.matrix_bytes((rows, columns));
            self.substitutions.release(host);
            self.finished.push((pair, result));
        }
        Ok(())
    }

    /// Chooses `count` ready cells at random.
    fn draw_sets(&mut self, count: usize) -> Result<Vec<CandidateSet>, ProtocolError> {
        let chosen = self.ready.draw(count, self.rng);
        chosen.into_iter().map(|task| self.set(task)).collect()
    }

    /// The inputs of a selected cell or round, with a fresh mask.
    fn set(&mut self, task: ReadyTask) -> Result<CandidateSet, ProtocolError> {
        let width = self.agreed.recurrence.width();
        let mask = match &self.agreed.hardened {
            Some(parameters) => SetMask::Hardened(CellSecrets::draw(parameters, self.rng)?),
            None => SetMask::Paper(Mask::draw(&self.agreed.ranges, width, self.rng)?),
        };
        let (target, inputs) = match task {
            ReadyTask::Round(pair, values) => (Target { pair, cell: None }, Inputs::Round(values)),
            ReadyTask::Cell(pair, cell) => {
                let target = Target {
                    pair,
                    cell: Some(cell),
                };
                (target, self.inputs(pair, cell)?)
            }
        };
        self.tap.target(target.pair, target.cell);
        Ok(CandidateSet {
            target,
            inputs,
            mask,
        })
    }

    fn inputs(&mut self, pair: usize, (row, column): (u32, u32)) -> Result<Inputs, ProtocolError> {
        let matrix = self.matrices.get_mut(&pair).ok_or(MISSING)?;
        let (recurrence, public) = (&self.agreed.recurrence, &self.public);
        // Initialization ii: the border M(i, 0), M(0, j).
        let mut value = |row: u32, column: u32| match matrix.take((row, column)) {
            Some(value) => Ok(value),
            None if row == 0 || column == 0 => {
                Ok(public.trivial(&Plaintext::from(recurrence.border(row, column)))?)
            }
            None => Err(MISSING),
        };
        let (diagonal, left, above) = (
            value(row - 1, column - 1)?,
            value(row, column - 1)?,
            value(row - 1, column)?,
        );
        let letters = self.job.own[self.job.pairs[pair].1].letters();
        let letter = letters.get(column as usize - 1).copied().ok_or(MISSING)?;
        let substitution = self.substitutions.get(matrix.host, row, letter);
        Ok(Inputs::Cell {
            diagonal,
            substitution: substitution.cloned().ok_or(MISSING)?,
            left,
            above,
        })
    }

    fn context(&self) -> Result<Context<'_>, ProtocolError> {
        Ok(Context {
            agreed: &self.agreed,
            public: &self.public,
            randomness: self.randomness()?,
        })
    }

    fn randomness(&self) -> Result<&Randomness, ProtocolError> {
        self.randomness.as_ref().ok_or(MISSING)
    }
}

/// A value is missing that the order of the cells guarantees to be known.
const MISSING: ProtocolError = ProtocolError::Internal("a value of the matrix is missing");
