//! Alice, the host: she garbles, and never sees more of Bob than the lengths and the scores that are for her.

use super::entries::Inputs;
use super::line::{Line, timed};
use super::outputs::{bits_of, compare_with_threshold, settle};
use super::plan::{Member, Plan, Portion, Results};
use super::scoring::Circuit;
use crate::engines::lengths::{hidden_lengths, receive_lengths, send_lengths, visible_lengths};
use crate::{Answer, Channel, Job, Observer, ProtocolError, Role};
use std::collections::HashMap;
use std::ops::Range;
use veilpath_garble::Kernel;
use veilpath_garble::alignment::{GarblerComparison, GarblerSession, Rows};
use veilpath_garble::ot::letters::SentLetters;
use veilpath_garble::transport::Transport;
use veilpath_metrics::Scanpath;
use veilpath_paillier::system_rng;
use zeroize::Zeroizing;

/// Runs Alice's side.
pub(crate) fn host(
    job: &Job<'_>,
    channel: &mut dyn Channel,
    observer: &dyn Observer,
) -> Result<Vec<Answer>, ProtocolError> {
    let own = visible_lengths(job)?;
    let theirs = match hidden_lengths(job) {
        Some(lengths) => lengths,
        None => receive_lengths(channel, job)?,
    };
    if job.pad_to.is_none() {
        send_lengths(channel, &own)?;
    }
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
            for (pair, answer) in known {
                results.know(pair, answer);
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
    /// Compares the pairs of a portion. The answers are there if they are for her.
    fn garble(
        &mut self,
        portion: &Portion,
        session: &mut GarblerSession,
        transport: &mut impl Transport,
    ) -> Result<Vec<(usize, Answer)>, ProtocolError> {
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
                    count: member.rows as usize,
                    inputs: &inputs,
                    padding: self.plan.scoring.padding_letter(),
                },
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
        drop(comparisons);
        self.inputs = Some(inputs);
        if let Some(settling) = self.plan.scoring.settling() {
            let terms = members
                .iter()
                .map(|member| settling.host_term(self.job.own[member.host].len()));
            let own: Zeroizing<Vec<bool>> = Zeroizing::new(
                terms
                    .flat_map(|term| bits_of(term, settling.width))
                    .collect(),
            );
            let own = session.own_bits(&own, transport)?;
            let peer = session.peer_bits(members.len() * settling.width, transport)?;
            numbers = settle(session.party(), transport, &settling, numbers, &own, &peer)?;
        }
        numbers = compare_with_threshold(
            session.party(),
            transport,
            self.plan,
            self.job,
            &members,
            numbers,
        )?;
        if self.job.reveal_to.includes(Role::Join) {
            session.show(&numbers, transport)?;
        }
        if !self.job.reveal_to.includes(Role::Host) {
            return Ok(Vec::new());
        }
        let numbers = session.learn(&numbers, transport)?;
        let answer = |(member, number): (&Member, u64)| {
            let answer = self.plan.answer(self.job, member.pair, number)?;
            Ok((member.pair, answer))
        };
        members.iter().zip(numbers).map(answer).collect()
    }
}

/// One of her scanpaths, as the look-up needs it, with its padding.
struct AlicesRows<'a> {
    scanpath: &'a Scanpath,
    count: usize,
    inputs: &'a Inputs<'a>,
    padding: usize,
}

impl Rows for AlicesRows<'_> {
    fn count(&self) -> usize {
        self.count
    }

    fn fill(&self, row: usize, inputs: &mut [u64]) {
        let letter = self.scanpath.letters().get(row);
        let letter = letter.map_or(self.padding, |letter| usize::from(*letter));
        self.inputs.fill(letter, inputs);
    }
}
