//! The garbler (the host). It learns the lengths of scanpaths and the scores revealed to it, and nothing else.

use super::Partitioning;
use super::outputs::{add_length_terms, bits_of, reduce_to_output};
use super::schedule::{Portion, Schedule};
use super::threads::{garbler_channels, stage_result};
use crate::engines::alignment::answers::{AnswerCollector, OpenedAnswer, collect, finish};
use crate::engines::alignment::circuit::{Circuit, with_cell};
use crate::engines::alignment::entries::Inputs;
use crate::engines::alignment::timing::{joined, timed};
use crate::{Answer, Job, Observer, ProtocolError};
use rand::CryptoRng;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;
use veilpath_channel::Channel;
use veilpath_metrics::Scanpath;
use veilpath_mpc::Kernel;
use veilpath_mpc::alignment::{GarblerComparison, GarblerSession, Rows};
use veilpath_mpc::ot::letters::SenderLetterKeys;
use veilpath_mpc::worker_thread::WorkerThread;
use veilpath_paillier::system_rng;
use zeroize::Zeroizing;

/// Runs the garbler.
pub(crate) fn host(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Answer>, ProtocolError> {
    let partitioning = Partitioning::of_this_machine();
    host_with(job, channel, observer, partitioning, &mut system_rng()?)
}

/// Like [`host`], with a given partitioning and random generator.
pub(super) fn host_with(
    job: &Job<'_>,
    mut channel: &mut dyn Channel,
    observer: &dyn Observer,
    partitioning: Partitioning,
    rng: &mut impl CryptoRng,
) -> Result<Vec<Answer>, ProtocolError> {
    let (threads, schedule) = Schedule::negotiate(job, channel, partitioning)?;
    let collector = Mutex::new(schedule.collector(job, observer)?);
    for stage in &schedule.stages {
        // Every stage has a new offset, so guesses about the last one are useless to the other side.
        let session = timed(observer, || {
            Ok(GarblerSession::start(Kernel::best(), rng, &mut channel)?)
        })?;
        let mut sessions = vec![session];
        let column_ranges = stage.column_ranges();
        let letters = timed(observer, || {
            let alphabet = schedule.scoring.alphabet_size();
            Ok(sessions[0].letters(alphabet, stage.letters(), &mut channel)?)
        })?;
        let garbler = StageGarbler {
            job,
            schedule: &schedule,
            column_ranges: &column_ranges,
            letters: &letters,
            collector: &collector,
            observer,
        };
        let count = threads.min(stage.portions.len());
        if count == 1 {
            garbler.garble_all(stage.portions.iter(), &mut sessions[0], &mut channel)?;
            continue;
        }
        while sessions.len() < count {
            let thread = WorkerThread::new(sessions.len() as u32);
            let thread = thread.ok_or(ProtocolError::Internal("there are too many threads"))?;
            let session = sessions[0].for_thread(thread)?;
            sessions.push(session);
        }
        let (channels, multiplexer) = garbler_channels(count);
        std::thread::scope(|scope| {
            let handles: Vec<_> = channels
                .into_iter()
                .zip(&mut sessions)
                .enumerate()
                .map(|(thread, (mut channel, session))| {
                    let portions = stage.portions.iter().skip(thread).step_by(count);
                    let garbler = &garbler;
                    scope.spawn(move || {
                        let ended = garbler.garble_all(portions, session, &mut channel);
                        channel.end(ended)
                    })
                })
                .collect();
            let multiplexed = multiplexer.run(channel);
            stage_result(multiplexed, handles.into_iter().map(joined).collect())
        })?;
    }
    finish(collector)
}

struct StageGarbler<'a, 'o> {
    job: &'a Job<'a>,
    schedule: &'a Schedule,
    column_ranges: &'a HashMap<usize, Range<usize>>,
    letters: &'a SenderLetterKeys,
    collector: &'a Mutex<AnswerCollector<'o>>,
    observer: &'o dyn Observer,
}

impl<'a> StageGarbler<'a, '_> {
    /// Compares the pairs of some portions, one portion after another.
    fn garble_all(
        &self,
        portions: impl Iterator<Item = &'a Portion>,
        session: &mut GarblerSession,
        channel: &mut dyn Channel,
    ) -> Result<(), ProtocolError> {
        let mut inputs: Option<Inputs<'_>> = None;
        for portion in portions {
            let opened = timed(self.observer, || {
                let fitting = match inputs.take() {
                    Some(inputs) if *inputs.circuit() == portion.circuit => inputs,
                    _ => Inputs::new(
                        &self.schedule.scoring,
                        self.job.comparison.model(),
                        portion.circuit,
                    ),
                };
                self.garble(portion, inputs.insert(fitting), session, channel)
            })?;
            collect(self.job, self.collector, opened);
        }
        Ok(())
    }

    /// Compares the pairs of a portion. Returns the answers if this side may learn them.
    fn garble(
        &self,
        portion: &Portion,
        inputs: &Inputs<'_>,
        session: &mut GarblerSession,
        channel: &mut dyn Channel,
    ) -> Result<Vec<OpenedAnswer>, ProtocolError> {
        let pairs = self.schedule.start(self.job, self.column_ranges, portion)?;
        let comparisons: Vec<_> = pairs
            .iter()
            .map(|pair| GarblerComparison {
                rows: ScanpathRows {
                    scanpath: self.job.own[pair.host],
                    count: pair.rows as usize,
                    inputs,
                    padding: self.schedule.scoring.padding_letter(),
                },
                columns: pair.columns.clone(),
            })
            .collect();
        let fold = self.schedule.scoring.fold();
        let letters = self.letters;
        let on_cells = |cells: usize| self.observer.cells(cells as u64);
        let mut numbers = with_cell!(&portion.circuit, cell => {
            session.align(cell, fold, letters, &comparisons, channel, &on_cells)
        })?;
        let scoring = &self.schedule.scoring;
        if let Some(length_terms) = scoring.length_terms() {
            let terms = pairs
                .iter()
                .map(|pair| scoring.weight(self.job.own[pair.host]))
                .map(|weight| length_terms.host_term(weight));
            // Allocated at full size: growing would leave copies in freed memory.
            let mut own = Zeroizing::new(Vec::with_capacity(pairs.len() * length_terms.width));
            own.extend(terms.flat_map(|term| bits_of(term, length_terms.width)));
            let own = session.own_bits(&own, channel)?;
            let peer = session.peer_bits(pairs.len() * length_terms.width, channel)?;
            numbers = add_length_terms(
                session.circuit(),
                channel,
                &length_terms,
                numbers,
                &own,
                &peer,
            )?;
        }
        numbers = reduce_to_output(
            session.circuit(),
            channel,
            self.schedule,
            self.job,
            &pairs,
            numbers,
        )?;
        let halves = session.halves(&numbers, channel)?;
        self.schedule.open(self.job, &pairs, &halves, channel)
    }
}

/// One of the garbler's scanpaths with its padding, as rows for the look-up.
struct ScanpathRows<'a> {
    scanpath: &'a Scanpath,
    count: usize,
    inputs: &'a Inputs<'a>,
    padding: usize,
}

impl Rows for ScanpathRows<'_> {
    fn count(&self) -> usize {
        self.count
    }

    fn fill(&self, row: usize, inputs: &mut [u64]) {
        let letter = self.scanpath.letters().get(row);
        let letter = letter.map_or(self.padding, |letter| usize::from(*letter));
        self.inputs.fill(letter, inputs);
    }
}
