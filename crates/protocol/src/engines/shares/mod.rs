//! Secret sharing over correlated transfers, for the metrics of `garbled`.
//!
//! It computes what `garbled` computes, with a fraction of the traffic, and waits for the other side once for each gate
//! layer of an anti-diagonal. Many comparisons share these waits, so it pays off when many comparisons advance together
//! and the connection has little bandwidth. The cryptography and its security argument are in `veilpath_mpc::shares`;
//! this module decides what is computed, and in which pieces. Metrics, results and openings are those of `garbled`.
//!
//! ```text
//! join                                                                        host
//!  │── lengths of its scanpaths (unless hidden), levels of seed trees ──────────▶│
//!  │◀──────────── lengths of its scanpaths (unless hidden), levels of seed trees ─│
//!  ╎ for some scanpaths at a time (a stage):                                     ╎
//!  │◀───────────────────── base transfers, both ways ────────────────────────▶│
//!  │◀───────────────────────── trees of letters ─────────────────────────────▶│
//!  ╎ for some pairs at a time (a portion):                                       ╎
//!  │◀────────────────── anti-diagonals of all their matrices ────────────────▶│
//!  │◀───────────────────── halves of the outputs are stored ─────────────────▶│ see `../opening.rs`
//!  │◀───────────────────────── halves of the outputs ────────────────────────▶│ to the side that may learn them
//! ```
//!
//! # What each side learns
//! The same as with `garbled`, if both sides follow the protocol. A side that cheats can change what is computed, cell by
//! cell, but still learns one output of the agreed size per pair, and nothing before both halves of it exist.
//!
#![doc = include_str!("messages.md")]

mod costs;
mod cross_recurrence;
mod distances;
mod hausdorff;
mod non_alignment_costs;
#[cfg(test)]
mod non_alignment_tests;
mod own_letters;
mod schedule;
#[cfg(test)]
mod stage_tests;
#[cfg(test)]
mod tests;

pub(crate) use costs::{check, costs, memory};

use super::lengths::{hidden_lengths, receive_lengths, send_lengths, visible_lengths};
use super::opening::open;
use crate::engines::alignment::answers::{
    AnswerCollector, OpenedAnswer, collect, decode, finish, threshold_test,
};
use crate::engines::alignment::entries::Inputs;
use crate::engines::alignment::on_shares::{Method, OnShares};
use crate::engines::alignment::private_metric::PrivateMetric;
use crate::engines::alignment::timing::timed;
use crate::{Answer, Job, JobError, Misbehaviour, Observer, ProtocolError, Reveal, Role};
use distances::distances_of_ranks;
use rand::CryptoRng;
use schedule::{Schedule, Stage};
use std::ops::Range;
use std::sync::Mutex;
use veilpath_channel::Channel;
use veilpath_mpc::Kernel;
use veilpath_mpc::shares::{
    Finish, LetterLists, LetterLookup, MAX_ALPHABET_SIZE, MatrixInput, Outputs, Party,
    SharesSession,
};
use veilpath_paillier::system_rng;
use zeroize::Zeroizing;

/// Checks that an alphabet of this many letters, including padding, is small enough to look up.
pub(crate) fn check_alphabet_size(letters: usize) -> Result<(), JobError> {
    match letters <= MAX_ALPHABET_SIZE {
        true => Ok(()),
        false => Err(JobError::AlphabetTooLarge {
            letters,
            limit: MAX_ALPHABET_SIZE,
        }),
    }
}

/// Runs one side.
pub(crate) fn run(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Answer>, ProtocolError> {
    run_with(job, channel, observer, &mut system_rng()?)
}

fn run_with(
    job: &Job<'_>,
    mut channel: &mut dyn Channel,
    observer: &dyn Observer,
    rng: &mut impl CryptoRng,
) -> Result<Vec<Answer>, ProtocolError> {
    let scoring = PrivateMetric::of(job);
    check_alphabet_size(scoring.alphabet_size()).map_err(ProtocolError::Job)?;
    let (own, theirs) = exchange_lengths(job, channel)?;
    let tree_levels = job.tree_levels.of_transfers();
    let schedule = Schedule::new(job, &scoring, own, theirs);
    for &pair in &schedule.pending {
        let (host, join) = schedule.lengths(job, pair);
        scoring
            .check_output(host, join)
            .map_err(ProtocolError::Job)?;
        if !scoring.fits_shares(host, join) {
            return Err(ProtocolError::Job(JobError::PairTooLarge { host, join }));
        }
    }
    let collector = Mutex::new(AnswerCollector::new(
        job,
        &scoring,
        |pair| schedule.lengths(job, pair),
        observer,
    )?);
    let party = match job.role {
        Role::Host => Party::Host,
        Role::Join => Party::Join,
    };
    for stage in &schedule.stages {
        // Every stage has new offsets, so guesses about the last ones are useless to the other side.
        let mut session = timed(observer, || {
            let kernel = Kernel::best();
            Ok(SharesSession::start(
                party,
                tree_levels,
                kernel,
                rng,
                &mut channel,
            )?)
        })?;
        let on_shares = scoring.on_shares(stage.max_lengths);
        let letters = timed(observer, || {
            let Some(cell) = on_shares.cell else {
                return Ok(None);
            };
            let inputs = Inputs::new(&scoring, job.comparison.model(), on_shares.circuit);
            let count = scoring.alphabet_size();
            let mut table = vec![0; count * count];
            for (letter, row) in table.chunks_exact_mut(count).enumerate() {
                inputs.fill(letter, row);
            }
            let (own, theirs) = match job.role {
                Role::Host => (&stage.host_scanpaths, &stage.join_scanpaths),
                Role::Join => (&stage.join_scanpaths, &stage.host_scanpaths),
            };
            let lengths = |scanpaths: &[(usize, Range<usize>)]| -> Vec<usize> {
                scanpaths.iter().map(|(_, range)| range.len()).collect()
            };
            let lists = LetterLists {
                own: &padded_letters(job, &scoring, own),
                own_lengths: &lengths(own),
                their_lengths: &lengths(theirs),
                cells: schedule.cells(job, stage),
                tree_owner: match stage.tree_owner() {
                    Role::Host => Party::Host,
                    Role::Join => Party::Join,
                },
            };
            let bits = cell.entry_bits();
            let entry = |host: usize, join: usize| table[host * count + join];
            let letters = session.letters(lists, count, bits, entry, &mut channel)?;
            Ok(Some(letters))
        })?;
        let stage = StageRun {
            job,
            scoring: &scoring,
            schedule: &schedule,
            stage,
            on_shares,
            letters: letters.as_ref(),
        };
        for portion in &stage.stage.portions {
            let pairs = &schedule.pending[portion.clone()];
            job.store.start(pairs)?;
            let halves = timed(observer, || {
                let on_cells = |cells: usize| observer.cells(cells as u64);
                stage.compare(pairs, &mut session, &mut channel, &on_cells)
            })?;
            let outputs = open(job, pairs, &halves, &mut channel)?;
            let opened = pairs.iter().zip(outputs).map(|(pair, output)| {
                let answer = decode(&scoring, job, schedule.lengths(job, *pair), output)?;
                Ok(OpenedAnswer {
                    pair: *pair,
                    answer,
                })
            });
            collect(
                job,
                &collector,
                opened.collect::<Result<_, ProtocolError>>()?,
            );
        }
    }
    finish(collector)
}

/// A running stage.
struct StageRun<'a> {
    job: &'a Job<'a>,
    scoring: &'a PrivateMetric,
    schedule: &'a Schedule,
    stage: &'a Stage,
    on_shares: OnShares,
    /// The shared letters, if there are matrices.
    letters: Option<&'a LetterLookup>,
}

impl StageRun<'_> {
    /// Compares the pairs of a portion. Returns this side's halves of the outputs.
    fn compare(
        &self,
        pairs: &[usize],
        session: &mut SharesSession,
        channel: &mut dyn Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<Vec<u64>, ProtocolError> {
        let Self { job, scoring, .. } = *self;
        let mut halves = match self.on_shares.method {
            Method::Matrix { counts_savings } => {
                self.align(pairs, counts_savings, session, channel, on_cells)?
            }
            Method::Hausdorff { largest } => {
                self.hausdorff(pairs, largest, session, channel, on_cells)?
            }
            Method::CrossRecurrence(outputs) => {
                self.cross_recurrences(pairs, outputs, session, channel, on_cells)?
            }
        };
        if let (Reveal::Group(_), Some(distances)) = (job.reveal, scoring.distances()) {
            return distances_of_ranks(job.role, distances, &halves, session, channel);
        }
        if !matches!(job.reveal, Reveal::Threshold(_)) {
            for (half, pair) in halves.iter_mut().zip(pairs) {
                let (rows, columns) = self.schedule.lengths(job, *pair);
                let bits = match job.reveal {
                    Reveal::Group(_) => scoring.full_bits(rows, columns),
                    _ => scoring.opened_bits(rows, columns),
                };
                *half &= u64::MAX.checked_shr(64 - bits as u32).unwrap_or(0);
            }
        }
        Ok(halves)
    }

    /// Computes matrices.
    fn align(
        &self,
        pairs: &[usize],
        counts_savings: bool,
        session: &mut SharesSession,
        channel: &mut dyn Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<Vec<u64>, ProtocolError> {
        let Self { job, scoring, .. } = *self;
        let (Some(cell), Some(letters)) = (self.on_shares.cell, self.letters) else {
            return Err(ProtocolError::Internal("letters have no trees"));
        };
        let length_terms = scoring.length_terms();
        let subtract = length_terms.is_some_and(|length_terms| length_terms.subtract);
        let finish = Finish {
            subtract: subtract != counts_savings,
            doubled: length_terms.is_some_and(|length_terms| length_terms.doubled),
            term_bits: scoring.adjusted_bits(self.stage.max_lengths),
            outputs: match job.reveal {
                Reveal::Score | Reveal::Group(_) => Outputs::Numbers,
                Reveal::Threshold(_) => Outputs::AtLeast,
            },
        };
        let mut halves = vec![0; pairs.len()];
        let mut indices = Vec::with_capacity(pairs.len());
        let mut comparisons = Vec::with_capacity(pairs.len());
        for (index, pair) in pairs.iter().enumerate() {
            let (host, join) = job.pairs[*pair];
            let lengths = self.schedule.lengths(job, *pair);
            let own = scoring.weight(match job.role {
                Role::Host => job.own[host],
                Role::Join => job.own[join],
            });
            let mut term =
                length_terms.map_or(0, |length_terms| length_terms.wide_term(job.role, own));
            if counts_savings && job.role == Role::Host {
                let columns = 2 * u64::from(lengths.1);
                term = match subtract {
                    true => term.wrapping_sub(columns),
                    false => term.wrapping_add(columns),
                };
            }
            let comparison = MatrixInput {
                rows: self.stage.letters_of(Role::Host, host),
                columns: self.stage.letters_of(Role::Join, join),
                term,
                at_least: match job.reveal {
                    Reveal::Score | Reveal::Group(_) => 0,
                    Reveal::Threshold(threshold) => {
                        threshold_test(scoring, job, lengths, threshold)?.at_least
                    }
                },
            };
            if lengths.0 == 0 || lengths.1 == 0 {
                halves[index] = self.half_of_empty_matrix(&comparison, finish.outputs);
                continue;
            }
            indices.push(index);
            comparisons.push(comparison);
        }
        let computed = session.align(cell, letters, &comparisons, finish, channel, on_cells)?;
        for (index, half) in indices.into_iter().zip(computed) {
            halves[index] = half;
        }
        Ok(halves)
    }

    /// This side's half for a pair with an empty scanpath: the whole output for the side whose term is the number, 0 for the other
    /// side.
    fn half_of_empty_matrix(&self, comparison: &MatrixInput, outputs: Outputs) -> u64 {
        let join_is_empty = comparison.columns.is_empty();
        if (self.job.role == Role::Host) != join_is_empty {
            return 0;
        }
        match outputs {
            Outputs::Numbers => comparison.term,
            Outputs::AtLeast => u64::from(comparison.term >= comparison.at_least),
        }
    }

    /// The letters of one of this side's scanpaths, with their padding.
    fn own_letters(&self, scanpath: usize) -> Zeroizing<Vec<usize>> {
        let length = self.stage.letters_of(self.job.role, scanpath).len();
        padded_letters(self.job, self.scoring, &[(scanpath, 0..length)])
    }
}

/// The letters of scanpaths, with their padding.
fn padded_letters(
    job: &Job<'_>,
    scoring: &PrivateMetric,
    scanpaths: &[(usize, Range<usize>)],
) -> Zeroizing<Vec<usize>> {
    let padding = scoring.padding_letter();
    let count = scanpaths.last().map_or(0, |(_, range)| range.end);
    let mut all = Zeroizing::new(Vec::with_capacity(count));
    for (scanpath, range) in scanpaths {
        let letters = job.own[*scanpath].letters().iter();
        let letters = letters.map(|letter| usize::from(*letter));
        all.extend(letters.chain(std::iter::repeat(padding)).take(range.len()));
    }
    all
}

/// Exchanges lengths, and checks that both sides use the same seed trees. The joining side sends first.
fn exchange_lengths(
    job: &Job<'_>,
    channel: &mut dyn Channel,
) -> Result<(Vec<u32>, Vec<u32>), ProtocolError> {
    let own = visible_lengths(job)?;
    let levels = [u8::from(job.tree_levels)];
    let send = |channel: &mut dyn Channel| -> Result<(), ProtocolError> {
        if job.pad_to.is_none() {
            send_lengths(channel, &own)?;
        }
        channel.send(&levels)?;
        Ok(channel.flush()?)
    };
    if job.role == Role::Join {
        send(channel)?;
    }
    let theirs = match hidden_lengths(job) {
        Some(lengths) => lengths,
        None => receive_lengths(channel, job)?,
    };
    let mut their_levels = [0];
    channel.receive(&mut their_levels)?;
    if job.role == Role::Host {
        send(channel)?;
    }
    if their_levels != levels {
        let [levels] = their_levels;
        return Err(Misbehaviour::TreeLevels { levels }.into());
    }
    Ok((own, theirs))
}
