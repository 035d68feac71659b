//! Bob, who joins: he evaluates, and never shows a letter.

use super::line::{Line, timed};
use super::outputs::{bits_of, compare_with_threshold, settle};
use super::plan::{Member, Plan, Portion, Results};
use super::scoring::Circuit;
use crate::engines::lengths::{hidden_lengths, receive_lengths, send_lengths, visible_lengths};
use crate::{Answer, Channel, Job, Observer, ProtocolError, Role};
use std::collections::HashMap;
use std::ops::Range;
use veilpath_garble::Kernel;
use veilpath_garble::alignment::{EvaluatorComparison, EvaluatorSession};
use veilpath_garble::ot::Bits;
use veilpath_garble::ot::letters::ReceivedLetters;
use veilpath_garble::transport::Transport;
use veilpath_paillier::system_rng;
use zeroize::Zeroizing;

/// Runs Bob's side.
pub(crate) fn join(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Answer>, ProtocolError> {
    let own = visible_lengths(job)?;
    let theirs = match hidden_lengths(job) {
        Some(lengths) => lengths,
        None => {
            send_lengths(channel, &own)?;
            receive_lengths(channel, job)?
        }
    };
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
            let padding = plan.scoring.padding_letter();
            let mut own = Zeroizing::new(Vec::with_capacity(stage.letters()));
            for (join, range) in &stage.columns {
                let letters = job.own[*join].letters().iter();
                let padded = letters
                    .map(|letter| usize::from(*letter))
                    .chain(std::iter::repeat(padding));
                own.extend(padded.take(range.len()));
            }
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
            for (pair, answer) in known {
                results.know(pair, answer);
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
    /// Compares the pairs of a portion. The answers are there if they are for him.
    fn evaluate(
        &self,
        portion: &Portion,
        session: &mut EvaluatorSession,
        transport: &mut impl Transport,
    ) -> Result<Vec<(usize, Answer)>, ProtocolError> {
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
        let mut numbers = match &portion.circuit {
            Circuit::Unit(cell) => session.align(cell, fold, letters, &comparisons, transport),
            Circuit::Clipped(cell) => session.align(cell, fold, letters, &comparisons, transport),
            Circuit::Difference(cell) => {
                session.align(cell, fold, letters, &comparisons, transport)
            }
            Circuit::Local(cell) => session.align(cell, fold, letters, &comparisons, transport),
        }?;
        if let Some(settling) = self.plan.scoring.settling() {
            let peer = session.peer_bits(members.len() * settling.width, transport)?;
            let terms = members
                .iter()
                .map(|member| settling.join_term(self.job.own[member.join].len()));
            let own: Bits = terms
                .flat_map(|term| bits_of(term, settling.width))
                .collect();
            let own = session.own_bits(&own, transport)?;
            numbers = settle(session.party(), transport, &settling, numbers, &peer, &own)?;
        }
        numbers = compare_with_threshold(
            session.party(),
            transport,
            self.plan,
            self.job,
            &members,
            numbers,
        )?;
        let known = if self.job.reveal_to.includes(Role::Join) {
            session.learn(&numbers, transport)?
        } else {
            Vec::new()
        };
        if self.job.reveal_to.includes(Role::Host) {
            session.show(&numbers, transport)?;
        }
        let answer = |(member, number): (&Member, u64)| {
            let answer = self.plan.answer(self.job, member.pair, number)?;
            Ok((member.pair, answer))
        };
        members.iter().zip(known).map(answer).collect()
    }
}
