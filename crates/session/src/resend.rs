//! Sends what an interrupted session left open: halves of outputs that were computed, and answers that one side has lost.
//!
//! Nothing is computed. Each side records and counts what the peer will learn before it sends it. What was counted before is
//! not charged again.

use crate::counted_store::{AgreedPairs, Bookkeeping};
use crate::error::{Misbehaviour, SessionError};
use crate::journal::entry::{AddedPart, AnswerParts, ENTRY_BYTES, Entry};
use crate::resume::{BATCH, PairsBySender, Resume};
use veilpath_channel::Channel;
use veilpath_metrics::{MAX_MEASURES, Scanpath};
use veilpath_protocol::{Answer, Job, Role, receive_halves, send_halves};

/// One side of the exchange.
pub(crate) struct Resend<'a, 'b> {
    pub(crate) agreed: AgreedPairs<'a>,
    pub(crate) agreement: &'a [u8; 32],
    /// This side's scanpaths, and the lengths of the peer's.
    pub(crate) own: &'a [&'a Scanpath],
    pub(crate) peer_lengths: &'a [usize],
    pub(crate) bookkeeping: &'a mut Bookkeeping<'b>,
}

impl Resend<'_, '_> {
    /// Exchanges everything that `resume.rs` found to be open.
    pub(crate) fn run(
        &mut self,
        resume: &Resume,
        channel: &mut dyn Channel,
    ) -> Result<(), SessionError> {
        self.bookkeeping.release(&self.agreed, &resume.unrecorded)?;
        self.exchange_batches(
            &resume.halves,
            channel,
            Self::send_halves,
            Self::receive_halves,
        )?;
        self.exchange_batches(
            &resume.answers,
            channel,
            Self::send_answers,
            Self::receive_answers,
        )
    }

    /// The joining side sends first.
    fn exchange_batches(
        &mut self,
        pairs: &PairsBySender,
        channel: &mut dyn Channel,
        send: fn(&mut Self, &[usize], &mut dyn Channel) -> Result<(), SessionError>,
        receive: fn(&mut Self, &[usize], &mut dyn Channel) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        for (sender, pairs) in [(Role::Join, &pairs.join), (Role::Host, &pairs.host)] {
            for batch in pairs.chunks(BATCH) {
                if sender == self.agreed.role {
                    self.bookkeeping.release(&self.agreed, batch)?;
                    send(self, batch, channel)?;
                } else {
                    receive(self, batch, channel)?;
                }
            }
        }
        Ok(())
    }

    fn send_halves(
        &mut self,
        pairs: &[usize],
        mut channel: &mut dyn Channel,
    ) -> Result<(), SessionError> {
        Ok(send_halves(&self.halves(pairs), &mut channel)?)
    }

    fn receive_halves(
        &mut self,
        pairs: &[usize],
        mut channel: &mut dyn Channel,
    ) -> Result<(), SessionError> {
        let theirs = receive_halves(pairs.len(), &mut channel)?;
        let outputs: Vec<(usize, u64)> = pairs
            .iter()
            .zip(self.halves(pairs).iter().zip(theirs))
            .map(|(&pair, (ours, theirs))| (pair, ours ^ theirs))
            .collect();
        let AgreedPairs { spec, role, .. } = self.agreed;
        let peers = self.peer_lengths.len();
        let job = Job::new(spec, role, self.own, peers, self.agreed.pairs)?
            .with_peer_lengths(self.peer_lengths)?;
        let answers = spec.engine.decode(&job, &outputs)?;
        for (&pair, answer) in pairs.iter().zip(answers) {
            match answer {
                Some(answer) => self.bookkeeping.journal.store(pair, answer)?,
                None => self.bookkeeping.journal.reject(pair),
            }
        }
        Ok(())
    }

    fn send_answers(
        &mut self,
        pairs: &[usize],
        channel: &mut dyn Channel,
    ) -> Result<(), SessionError> {
        for &pair in pairs {
            // An impossible result has no answer; the peer gets an entry that is not an answer.
            let entries = match self.bookkeeping.journal.answer(pair) {
                Some(answer) => Entry::of_answer(pair, answer),
                None => vec![Entry::Rejected(pair)],
            };
            for entry in entries {
                channel.send(&entry.encode(self.agreement))?;
            }
        }
        Ok(channel.flush()?)
    }

    fn receive_answers(
        &mut self,
        pairs: &[usize],
        channel: &mut dyn Channel,
    ) -> Result<(), SessionError> {
        for &pair in pairs {
            match self.receive_entry(channel)? {
                Some(Entry::Answer(named, answer)) if named == pair && self.is_valid(&answer) => {
                    self.bookkeeping.journal.store(pair, answer)?;
                }
                Some(Entry::Rejected(named)) if named == pair => {
                    self.bookkeeping.journal.reject(pair);
                }
                _ => return Err(Misbehaviour::InvalidAnswer.into()),
            }
        }
        Ok(())
    }

    /// Receives the next entry, and assembles the parts of an answer.
    fn receive_entry(&self, channel: &mut dyn Channel) -> Result<Option<Entry>, SessionError> {
        let mut parts = AnswerParts::default();
        for _ in 0..MAX_MEASURES {
            let mut bytes = [0; ENTRY_BYTES];
            channel.receive(&mut bytes)?;
            match Entry::decode(self.agreement, &bytes) {
                Some(Entry::Part(part)) => match parts.add(part) {
                    AddedPart::Incomplete => {}
                    AddedPart::Complete(pair, answer) => {
                        return Ok(Some(Entry::Answer(pair, answer)));
                    }
                    AddedPart::OutOfOrder => return Ok(None),
                },
                entry => return Ok(entry),
            }
        }
        Ok(None)
    }

    fn is_valid(&self, answer: &Answer) -> bool {
        self.agreed.spec.allows(answer)
    }

    /// This side's halves of these pairs, all of which have one.
    fn halves(&self, pairs: &[usize]) -> Vec<u64> {
        let half = |&pair: &usize| {
            self.bookkeeping
                .journal
                .half(pair)
                .map_or(0, |half| half.half)
        };
        pairs.iter().map(half).collect()
    }
}
