//! The evaluator (the joining side). It never reveals a letter.

use super::Partitioning;
use super::outputs::{add_length_terms, bits_of, reduce_to_output};
use super::schedule::{Portion, Schedule, Stage};
use super::threads::{evaluator_channels, stage_result};
use crate::engines::alignment::answers::{AnswerCollector, OpenedAnswer, collect, finish};
use crate::engines::alignment::circuit::{Circuit, with_cell};
use crate::engines::alignment::timing::{joined, timed};
use crate::{Answer, Job, Observer, ProtocolError};
use rand::CryptoRng;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;
use veilpath_channel::Channel;
use veilpath_mpc::Kernel;
use veilpath_mpc::alignment::{EvaluatorComparison, EvaluatorSession};
use veilpath_mpc::ot::Bits;
use veilpath_mpc::ot::letters::ReceiverLetterKeys;
use veilpath_mpc::worker_thread::WorkerThread;
use veilpath_paillier::system_rng;
use zeroize::Zeroizing;

/// Runs the evaluator.
pub(crate) fn join(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Answer>, ProtocolError> {
    let partitioning = Partitioning::of_this_machine();
    join_with(job, channel, observer, partitioning, &mut system_rng()?)
}

/// Like [`join`], with a given partitioning and random generator.
pub(super) fn join_with(
    job: &Job<'_>,
    mut channel: &mut dyn Channel,
    observer: &dyn Observer,
    partitioning: Partitioning,
    rng: &mut impl CryptoRng,
) -> Result<Vec<Answer>, ProtocolError> {
    let (threads, schedule) = Schedule::negotiate(job, channel, partitioning)?;
    let collector = Mutex::new(schedule.collector(job, observer)?);
    for stage in &schedule.stages {
        let session = timed(observer, || {
            Ok(EvaluatorSession::start(Kernel::best(), rng, &mut channel)?)
        })?;
        let mut sessions = vec![session];
        let column_ranges = stage.column_ranges();
        let letters = timed(observer, || {
            let own = padded_letters(job, &schedule, stage);
            Ok(sessions[0].letters(schedule.scoring.alphabet_size(), &own, &mut channel)?)
        })?;
        let evaluator = StageEvaluator {
            job,
            schedule: &schedule,
            column_ranges: &column_ranges,
            letters: &letters,
            collector: &collector,
            observer,
        };
        let count = threads.min(stage.portions.len());
        if count == 1 {
            evaluator.evaluate_all(stage.portions.iter(), &mut sessions[0], &mut channel)?;
            continue;
        }
        while sessions.len() < count {
            let thread = WorkerThread::new(sessions.len() as u32);
            let thread = thread.ok_or(ProtocolError::Internal("there are too many threads"))?;
            let session = sessions[0].for_thread(thread)?;
            sessions.push(session);
        }
        let (channels, multiplexer) = evaluator_channels(count);
        std::thread::scope(|scope| {
            let handles: Vec<_> = channels
                .into_iter()
                .zip(&mut sessions)
                .enumerate()
                .map(|(thread, (mut channel, session))| {
                    let portions = stage.portions.iter().skip(thread).step_by(count);
                    let evaluator = &evaluator;
                    scope.spawn(move || {
                        let ended = evaluator.evaluate_all(portions, session, &mut channel);
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

/// The letters of a stage, with their padding.
fn padded_letters(job: &Job<'_>, schedule: &Schedule, stage: &Stage) -> Zeroizing<Vec<usize>> {
    let padding = schedule.scoring.padding_letter();
    let mut all = Zeroizing::new(Vec::with_capacity(stage.letters()));
    for (join, range) in &stage.columns {
        let letters = job.own[*join].letters().iter();
        let padded = letters
            .map(|letter| usize::from(*letter))
            .chain(std::iter::repeat(padding));
        all.extend(padded.take(range.len()));
    }
    all
}

struct StageEvaluator<'a, 'o> {
    job: &'a Job<'a>,
    schedule: &'a Schedule,
    column_ranges: &'a HashMap<usize, Range<usize>>,
    letters: &'a ReceiverLetterKeys,
    collector: &'a Mutex<AnswerCollector<'o>>,
    observer: &'o dyn Observer,
}

impl<'a> StageEvaluator<'a, '_> {
    /// Compares the pairs of some portions, one portion after another.
    fn evaluate_all(
        &self,
        portions: impl Iterator<Item = &'a Portion>,
        session: &mut EvaluatorSession,
        channel: &mut dyn Channel,
    ) -> Result<(), ProtocolError> {
        for portion in portions {
            let opened = timed(self.observer, || self.evaluate(portion, session, channel))?;
            collect(self.job, self.collector, opened);
        }
        Ok(())
    }

    /// Compares the pairs of a portion. Returns the answers if this side may learn them.
    fn evaluate(
        &self,
        portion: &Portion,
        session: &mut EvaluatorSession,
        channel: &mut dyn Channel,
    ) -> Result<Vec<OpenedAnswer>, ProtocolError> {
        let pairs = self.schedule.start(self.job, self.column_ranges, portion)?;
        let comparisons: Vec<_> = pairs
            .iter()
            .map(|pair| EvaluatorComparison {
                rows: pair.rows as usize,
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
            let peer = session.peer_bits(pairs.len() * length_terms.width, channel)?;
            let terms = pairs
                .iter()
                .map(|pair| scoring.weight(self.job.own[pair.join]))
                .map(|weight| length_terms.join_term(weight));
            // Allocated at full size: growing would leave copies in freed memory.
            let mut own = Bits::with_capacity(pairs.len() * length_terms.width);
            for bit in terms.flat_map(|term| bits_of(term, length_terms.width)) {
                own.push(bit);
            }
            let own = session.own_bits(&own, channel)?;
            numbers = add_length_terms(
                session.circuit(),
                channel,
                &length_terms,
                numbers,
                &peer,
                &own,
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
        let halves = session.halves(&numbers);
        self.schedule.open(self.job, &pairs, &halves, channel)
    }
}
