//! Bob, who joins: he evaluates, and never shows a letter.

use super::line::{Line, timed};
use super::plan::{Member, Plan, Portion, Results};
use super::scoring::Circuit;
use crate::engines::lengths::{own_lengths, receive_lengths, send_lengths};
use crate::{Channel, Job, Observer, ProtocolError, Role};
use std::collections::HashMap;
use std::ops::Range;
use veilpath_garble::Kernel;
use veilpath_garble::alignment::{EvaluatorComparison, EvaluatorSession};
use veilpath_garble::ot::letters::ReceivedLetters;
use veilpath_garble::transport::Transport;
use veilpath_metrics::Reading;
use veilpath_paillier::system_rng;
use zeroize::Zeroizing;

/// Runs Bob's side.
pub(crate) fn join(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Reading>, ProtocolError> {
    let own = own_lengths(job)?;
    send_lengths(channel, &own)?;
    let theirs = receive_lengths(channel, job)?;
    let plan = Plan::new(job, own, theirs)?;
    let mut results = Results::new(job, &plan, observer)?;
    if plan.stages.is_empty() {
        return results.complete();
    }
    let mut line = Line { channel, observer };
    let mut session = timed(observer, || {
        let kernel = Kernel::best();
        Ok(EvaluatorSession::start(
            kernel,
            &mut system_rng()?,
            &mut line,
        )?)
    })?;
    for stage in &plan.stages {
        let places = stage.places();
        let letters = timed(observer, || {
            let scanpaths = stage.columns.iter().map(|(join, _)| job.own[*join]);
            let own: Zeroizing<Vec<usize>> = Zeroizing::new(
                scanpaths
                    .flat_map(|scanpath| scanpath.letters())
                    .map(|letter| usize::from(*letter))
                    .collect(),
            );
            Ok(session.letters(plan.scoring.letters(), &own, &mut line)?)
        })?;
        let bob = Bob {
            job,
            plan: &plan,
            places: &places,
            letters: &letters,
        };
        for portion in &stage.portions {
            let known = timed(observer, || bob.evaluate(portion, &mut session, &mut line))?;
            for (pair, reading) in known {
                results.know(pair, reading);
            }
        }
    }
    results.complete()
}

struct Bob<'a> {
    job: &'a Job<'a>,
    plan: &'a Plan,
    places: &'a HashMap<usize, Range<usize>>,
    letters: &'a ReceivedLetters,
}

impl Bob<'_> {
    /// Compares the pairs of a portion. The readings are there if they are for him.
    fn evaluate(
        &self,
        portion: &Portion,
        session: &mut EvaluatorSession,
        transport: &mut impl Transport,
    ) -> Result<Vec<(usize, Reading)>, ProtocolError> {
        let members: Vec<Member> = self.plan.members(self.job, self.places, portion).collect();
        let comparisons: Vec<_> = members
            .iter()
            .map(|member| EvaluatorComparison {
                rows: member.rows as usize,
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
        let known = if self.job.reveal_to.includes(Role::Join) {
            session.learn(&numbers, transport)?
        } else {
            Vec::new()
        };
        if self.job.reveal_to.includes(Role::Host) {
            session.show(&numbers, transport)?;
        }
        let read = |(member, number): (&Member, u64)| {
            let reading = self.plan.read(self.job, member.pair, number)?;
            Ok((member.pair, reading))
        };
        members.iter().zip(known).map(read).collect()
    }
}
