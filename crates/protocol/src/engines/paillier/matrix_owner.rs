//! Bob, who joins: he fills the encrypted matrices, asking Alice for the least of masked values in a random order.

mod questions;

use super::PaillierOptions;
use super::agreement::{Agreement, complete};
use super::cell::{Context, Inputs, Pending, Step, StepMask, Target};
use super::hardened::Multipliers;
use super::masking::Mask;
use super::matrix::{Matrix, Progress};
use super::messages::{self, Header, receive_ciphertexts};
use super::order::Candidates;
use super::substitutions::Substitutions;
use super::tap::Tap;
use super::workers::{LANES, Randomness, on_all_cores, piece_length, pieces};
use crate::engines::lengths::{own_lengths, receive_lengths, send_lengths};
use crate::{Channel, Job, Misbehaviour, Observer, ProtocolError};
use rand::CryptoRng;
use std::collections::{HashMap, VecDeque};
use veilpath_metrics::Reading;
use veilpath_paillier::{Ciphertext, Plaintext, PublicKey, system_rng};

/// Bytes of matrix values that comparisons in flight may take. One comparison is always in flight.
const MATRIX_BYTES: usize = 48 << 20;
/// Candidates to choose from, in batches, before another comparison is taken up.
const CHOICE: usize = 4;

/// Runs Bob's side.
pub(crate) fn join(
    job: &Job<'_>,
    options: PaillierOptions,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Reading>, ProtocolError> {
    join_with(job, options, channel, observer, &mut system_rng()?)
}

/// The same with all choices and masks from a given generator.
pub(super) fn join_with<R: CryptoRng>(
    job: &Job<'_>,
    options: PaillierOptions,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
    rng: &mut R,
) -> Result<Vec<Reading>, ProtocolError> {
    join_tapped(job, options, channel, observer, rng, &())
}

/// The same, with a tap for an audit.
pub(super) fn join_tapped<R: CryptoRng>(
    job: &Job<'_>,
    options: PaillierOptions,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
    rng: &mut R,
    tap: &dyn Tap,
) -> Result<Vec<Reading>, ProtocolError> {
    send_lengths(channel, &own_lengths(job)?)?;
    let theirs = receive_lengths(channel, job)?;
    let agreement = Agreement::new(job, options, theirs)?;
    let readings = agreement.known_readings(job, observer)?;
    if agreement.open.is_empty() {
        return complete(readings);
    }
    // Setup i: Bob receives pk.
    let public = messages::receive_key(channel, agreement.key_size())?;
    let mut bob = MatrixOwner {
        substitutions: Substitutions::new(&agreement, job),
        waiting: agreement.open.iter().copied().collect(),
        job,
        agreement,
        public,
        randomness: None,
        observer,
        rng,
        matrices: HashMap::new(),
        matrix_values: 0,
        candidates: Candidates::new(),
        finished: Vec::new(),
        under_way: VecDeque::new(),
        readings,
        tap,
    };
    bob.fill_all(channel)?;
    complete(bob.readings)
}

struct MatrixOwner<'a, R> {
    job: &'a Job<'a>,
    agreement: Agreement,
    public: PublicKey,
    /// Made while Alice answers the first question.
    randomness: Option<Randomness>,
    observer: &'a dyn Observer,
    rng: &'a mut R,
    substitutions: Substitutions,
    /// Pairs that are not taken up yet.
    waiting: VecDeque<usize>,
    /// Comparisons in flight, by pair.
    matrices: HashMap<usize, Matrix>,
    /// Values that these may have to keep.
    matrix_values: usize,
    candidates: Candidates<Work>,
    /// Results that Alice has yet to open.
    finished: Vec<(usize, Ciphertext)>,
    under_way: VecDeque<Question>,
    readings: Vec<Option<Reading>>,
    tap: &'a dyn Tap,
}

/// Something that Alice is needed for.
enum Work {
    Cell(usize, (u32, u32)),
    Round(usize, Vec<Ciphertext>),
}

/// What Bob asked and has no answer to yet.
struct Question {
    rows: u32,
    pending: Vec<Pending>,
    results: Vec<usize>,
    reply_bytes: usize,
}

/// What came back: the bytes of minima, and what their values are made with.
struct Answer {
    minima: Vec<u8>,
    pending: Vec<Pending>,
}

/// Work for one core.
enum Piece<'a> {
    Mask(Vec<Step>),
    Correct(&'a [u8], Vec<Pending>),
}

/// What became of it.
enum Done {
    Masked((Vec<u8>, Vec<Pending>)),
    Corrected(Vec<(Target, Ciphertext)>),
}

impl<R: CryptoRng> MatrixOwner<'_, R> {
    fn fill_all(&mut self, channel: &mut dyn Channel) -> Result<(), ProtocolError> {
        loop {
            self.take_up();
            while let Some(header) = self.next_question(0) {
                self.turn(channel, None, Some(header))?;
            }
            let Some(question) = self.under_way.pop_front() else {
                return Ok(());
            };
            if self.randomness.is_none() {
                let groups = self
                    .agreement
                    .steps
                    .div_ceil(self.agreement.layout.cells as u64);
                let each = self.agreement.layout.ciphertexts as u64;
                let expected = groups.saturating_mul(each);
                self.randomness = Some(Randomness::of_other_side(&self.public, expected)?);
            }
            let answer = self.hear(channel, question)?;
            let next = self.next_question_at_once(answer.pending.len());
            self.turn(channel, Some(answer), next)?;
        }
    }

    /// Takes up comparisons whose substitution costs are here, until there is enough to choose from.
    fn take_up(&mut self) {
        let batch = self.agreement.batch() as usize;
        let most = MATRIX_BYTES / (self.agreement.key_size().ciphertext_bytes() + 128);
        while let Some(&pair) = self.waiting.front() {
            let host = self.job.pairs[pair].0;
            let (rows, columns) = self.agreement.lengths(self.job, pair);
            let values = rows as usize + columns as usize;
            // One at a time is the paper's way.
            let enough = batch == 1
                || self.candidates.len() >= CHOICE * batch
                || self.matrix_values + values > most;
            if !self.substitutions.complete(host) || (enough && !self.matrices.is_empty()) {
                return;
            }
            self.waiting.pop_front();
            let recurrence = &self.agreement.recurrence;
            let contest = recurrence.zero().map(|_| recurrence.width());
            self.matrices
                .insert(pair, Matrix::new(host, (rows, columns), contest));
            self.matrix_values += values;
            self.candidates.push(Work::Cell(pair, (1, 1)));
        }
    }

    /// One turn at the cores: values out of an answer (step 6) and the next question, whose cells are chosen at random and
    /// masked (steps 1 to 4). They have nothing to do with each other, so together they leave no core idle.
    fn turn(
        &mut self,
        channel: &mut dyn Channel,
        answer: Option<Answer>,
        header: Option<Header>,
    ) -> Result<(), ProtocolError> {
        let steps = match &header {
            Some(header) => self.draw_steps(header.steps as usize)?,
            None => Vec::new(),
        };
        let (minima, pending) = answer.map_or_else(Default::default, |a| (a.minima, a.pending));
        let (mut masked, mut values) = (Vec::new(), Vec::new());
        if !(steps.is_empty() && pending.is_empty()) {
            let context = self.context()?;
            // The longest pieces first: then the cores finish at about the same time.
            let at_a_time = piece_length(steps.len(), LANES * self.agreement.layout.cells);
            let mut work: Vec<_> = pieces(steps, at_a_time)
                .into_iter()
                .map(Piece::Mask)
                .collect();
            let at_a_time = piece_length(pending.len(), LANES);
            let bytes = self.agreement.replies() * self.agreement.key_size().ciphertext_bytes();
            let minima = minima.chunks(at_a_time * bytes);
            let pending = pieces(pending, at_a_time);
            work.extend(minima.zip(pending).map(|(m, p)| Piece::Correct(m, p)));
            let done = on_all_cores(self.observer, work, |piece| match piece {
                Piece::Mask(steps) => context.mask(steps).map(Done::Masked),
                Piece::Correct(minima, pending) => {
                    context.correct(minima, pending).map(Done::Corrected)
                }
            })?;
            for piece in done {
                match piece {
                    Done::Masked(piece) => masked.push(piece),
                    Done::Corrected(piece) => values.extend(piece),
                }
            }
        }
        if let Some(header) = header {
            self.ask(channel, header, masked)?;
        }
        let mut cells = 0;
        for (target, value) in values {
            cells += u64::from(target.cell.is_some());
            self.know(target, value)?;
        }
        self.observer.cells(cells);
        Ok(())
    }

    /// Sends a question: masked candidates, results to open, rows of D.
    fn ask(
        &mut self,
        channel: &mut dyn Channel,
        header: Header,
        masked: Vec<(Vec<u8>, Vec<Pending>)>,
    ) -> Result<(), ProtocolError> {
        let results: Vec<_> = self.finished.drain(..header.results as usize).collect();
        let opened = if results.is_empty() {
            Vec::new()
        } else {
            let (public, randomness) = (&self.public, self.randomness()?);
            let values: Vec<_> = results.iter().map(|(_, value)| value).collect();
            public.rerandomize_batch(&values, randomness.draw(values.len())?)?
        };
        header.send(channel)?;
        let mut pending = Vec::new();
        for (bytes, steps) in masked {
            channel.send(&bytes)?;
            pending.extend(steps);
        }
        for ((pair, _), value) in results.iter().zip(&opened) {
            messages::send_u64(channel, *pair as u64)?;
            channel.send(&self.public.ciphertext_to_bytes(value)?)?;
        }
        channel.flush()?;
        self.substitutions.asked(header.rows);
        self.under_way.push_back(Question {
            reply_bytes: self.reply_bytes(&header),
            rows: header.rows,
            pending,
            results: results.into_iter().map(|(pair, _)| pair).collect(),
        });
        Ok(())
    }

    /// Receives the answer to a question.
    fn hear(
        &mut self,
        channel: &mut dyn Channel,
        asked: Question,
    ) -> Result<Answer, ProtocolError> {
        let size = self.agreement.key_size();
        let answers = asked.pending.len() * self.agreement.replies();
        let minima = receive_ciphertexts(channel, answers, size)?;
        for pair in asked.results {
            let raw = i64::try_from(messages::receive_u64(channel)?)
                .ok()
                .filter(|&raw| self.agreement.recurrence.admits(raw))
                .ok_or(ProtocolError::PeerMisbehaved(
                    Misbehaviour::ResultOutOfRange,
                ))?;
            let reading = self.agreement.read(self.job, pair, raw)?;
            self.readings[pair] = Some(reading);
            self.observer.scored(pair, reading.into());
        }
        self.substitutions
            .receive(channel, asked.rows, &self.public)?;
        Ok(Answer {
            minima,
            pending: asked.pending,
        })
    }

    /// A value is known: what it makes possible joins the candidates.
    fn know(&mut self, target: Target, value: Ciphertext) -> Result<(), ProtocolError> {
        let pair = target.pair;
        let matrix = self.matrices.get_mut(&pair).ok_or(LOST)?;
        let progress = match target.cell {
            Some(cell) => matrix.fill(cell, value),
            None => matrix.finish_round(value),
        };
        let host = matrix.host;
        let Progress {
            cells,
            round,
            result,
        } = progress;
        for cell in cells {
            self.candidates.push(Work::Cell(pair, cell));
        }
        if let Some(values) = round {
            self.candidates.push(Work::Round(pair, values));
        }
        if let Some(result) = result {
            self.matrices.remove(&pair);
            let (rows, columns) = self.agreement.lengths(self.job, pair);
            self.matrix_values -= rows as usize + columns as usize;
            self.substitutions.release(host);
            self.finished.push((pair, result));
        }
        Ok(())
    }

    /// Chooses so many candidates at random.
    fn draw_steps(&mut self, count: usize) -> Result<Vec<Step>, ProtocolError> {
        let chosen = self.candidates.draw(count, self.rng);
        chosen.into_iter().map(|work| self.step(work)).collect()
    }

    /// What a chosen cell or round needs, with a mask of its own.
    fn step(&mut self, work: Work) -> Result<Step, ProtocolError> {
        let width = self.agreement.recurrence.width();
        let mask = match &self.agreement.hardened {
            Some(shape) => StepMask::Apart(Multipliers::draw(shape, self.rng)?),
            None => StepMask::Shared(Mask::draw(&self.agreement.ranges, width, self.rng)?),
        };
        let (target, inputs) = match work {
            Work::Round(pair, values) => (Target { pair, cell: None }, Inputs::Round(values)),
            Work::Cell(pair, cell) => {
                let target = Target {
                    pair,
                    cell: Some(cell),
                };
                (target, self.inputs(pair, cell)?)
            }
        };
        self.tap.target(target.pair, target.cell);
        Ok(Step {
            target,
            inputs,
            mask,
        })
    }

    fn inputs(&mut self, pair: usize, (row, column): (u32, u32)) -> Result<Inputs, ProtocolError> {
        let matrix = self.matrices.get_mut(&pair).ok_or(LOST)?;
        let (recurrence, public) = (&self.agreement.recurrence, &self.public);
        // Initialization ii: the border M(i, 0), M(0, j).
        let mut value = |row: u32, column: u32| match matrix.take((row, column)) {
            Some(value) => Ok(value),
            None if row == 0 || column == 0 => {
                Ok(public.trivial(&Plaintext::from(recurrence.border(row, column)))?)
            }
            None => Err(LOST),
        };
        let (diagonal, left, above) = (
            value(row - 1, column - 1)?,
            value(row, column - 1)?,
            value(row - 1, column)?,
        );
        let letters = self.job.own[self.job.pairs[pair].1].letters();
        let letter = letters.get(column as usize - 1).copied().ok_or(LOST)?;
        let substitution = self.substitutions.get(matrix.host, row, letter);
        Ok(Inputs::Cell {
            diagonal,
            substitution: substitution.cloned().ok_or(LOST)?,
            left,
            above,
        })
    }

    fn context(&self) -> Result<Context<'_>, ProtocolError> {
        Ok(Context {
            agreement: &self.agreement,
            public: &self.public,
            randomness: self.randomness()?,
        })
    }

    fn randomness(&self) -> Result<&Randomness, ProtocolError> {
        self.randomness.as_ref().ok_or(LOST)
    }
}

/// A value that the order of the cells promises is not there.
const LOST: ProtocolError = ProtocolError::Internal("a value of the matrix was lost");
