//! Alice, the host: she garbles, and never sees more of Bob than the lengths and the scores that are for her.

use super::line::{Line, timed};
use super::plan::{Member, Plan, Portion, Results};
use super::scoring::{Circuit, Inputs};
use crate::engines::lengths::{own_lengths, receive_lengths, send_lengths};
use crate::{Channel, Job, Observer, ProtocolError, Role};
use std::collections::HashMap;
use std::ops::Range;
use veilpath_garble::Kernel;
use veilpath_garble::alignment::{GarblerComparison, GarblerSession, Rows};
use veilpath_garble::ot::letters::SentLetters;
use veilpath_garble::transport::Transport;
use veilpath_metrics::{Reading, Scanpath};
use veilpath_paillier::system_rng;

/// Runs Alice's side.
pub(crate) fn host(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Reading>, ProtocolError> {
    let own = own_lengths(job)?;
    let theirs = receive_lengths(channel, job)?;
    send_lengths(channel, &own)?;
    let plan = Plan::new(job, own, theirs)?;
    let mut results = Results::new(job, &plan, observer)?;
    if plan.stages.is_empty() {
        return results.complete();
    }
    let mut line = Line { channel, observer };
    let mut session = timed(observer, || {
        let kernel = Kernel::best();
        Ok(GarblerSession::start(
            kernel,
            &mut system_rng()?,
            &mut line,
        )?)
    })?;
    for stage in &plan.stages {
        let places = stage.places();
        let letters = timed(observer, || {
            let alphabet = plan.scoring.letters();
            Ok(session.letters(alphabet, stage.letters(), &mut line)?)
        })?;
        let mut alice = Alice {
            job,
            plan: &plan,
            places: &places,
            letters: &letters,
            inputs: None,
        };
        for portion in &stage.portions {
            let known = timed(observer, || alice.garble(portion, &mut session, &mut line))?;
            for (pair, reading) in known {
                results.know(pair, reading);
            }
        }
    }
    results.complete()
}

struct Alice<'a> {
    job: &'a Job<'a>,
    plan: &'a Plan,
    places: &'a HashMap<usize, Range<usize>>,
    letters: &'a SentLetters,
    /// Those of the last portion, which mostly serve for the next as well.
    inputs: Option<Inputs<'a>>,
}

impl<'a> Alice<'a> {
    /// Compares the pairs of a portion. The readings are there if they are for her.
    fn garble(
        &mut self,
        portion: &Portion,
        session: &mut GarblerSession,
        transport: &mut impl Transport,
    ) -> Result<Vec<(usize, Reading)>, ProtocolError> {
        let members: Vec<Member> = self.plan.members(self.job, self.places, portion).collect();
        let inputs = match self.inputs.take() {
            Some(inputs) if *inputs.circuit() == portion.circuit => inputs,
            _ => Inputs::new(
                &self.plan.scoring,
                self.job.comparison.model(),
                portion.circuit,
            ),
        };
        let comparisons: Vec<_> = members
            .iter()
            .map(|member| GarblerComparison {
                rows: AlicesRows {
                    scanpath: self.job.own[member.host],
                    inputs: &inputs,
                },
                columns: member.columns.clone(),
            })
            .collect();
        let fold = self.plan.scoring.fold();
        let letters = self.letters;
        let numbers = match &portion.circuit {
            Circuit::Unit(cell) => session.align(cell, fold, letters, &comparisons, transport),
            Circuit::Clipped(cell) => session.align(cell, fold, letters, &comparisons, transport),
            Circuit::Difference(cell) => {
                session.align(cell, fold, letters, &comparisons, transport)
            }
            Circuit::Local(cell) => session.align(cell, fold, letters, &comparisons, transport),
        }?;
        drop(comparisons);
        self.inputs = Some(inputs);
        if self.job.reveal_to.includes(Role::Join) {
            session.show(&numbers, transport)?;
        }
        if !self.job.reveal_to.includes(Role::Host) {
            return Ok(Vec::new());
        }
        let numbers = session.learn(&numbers, transport)?;
        let read = |(member, number): (&Member, u64)| {
            let reading = self.plan.read(self.job, member.pair, number)?;
            Ok((member.pair, reading))
        };
        members.iter().zip(numbers).map(read).collect()
    }
}

/// One of her scanpaths, as the look-up needs it.
struct AlicesRows<'a> {
    scanpath: &'a Scanpath,
    inputs: &'a Inputs<'a>,
}

impl Rows for AlicesRows<'_> {
    fn count(&self) -> usize {
        self.scanpath.len()
    }

    fn fill(&self, row: usize, inputs: &mut [u64]) {
        if let Some(&letter) = self.scanpath.letters().get(row) {
            self.inputs.fill(letter, inputs);
        }
    }
}
