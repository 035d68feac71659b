//! Both sides sign what they are about to disclose, and later that they have disclosed it.

use super::AgreedSession;
use crate::SessionError;
use crate::control::{self, Tag};
use crate::error::Misbehaviour;
use crate::identity::hex;
use crate::signed_record::{Disclosure, RecordEntry, SentSignature, SessionEntry, Signed, Step};
use veilpath_protocol::EngineChoice;

impl AgreedSession {
    /// Exchanges signatures of the intent, and enters them into the record before anything is opened.
    pub(crate) fn sign_intent(&mut self, disclosure: &Disclosure) -> Result<(), SessionError> {
        let signed = self.own_signature(Step::Intent, disclosure)?;
        let ours = SentSignature::of(&signed);
        let (role, channel) = (self.session.role, &mut self.session.channel);
        let theirs = control::exchange(channel, role, Tag::Intent, &ours)?;
        let theirs = self.check_signature(Step::Intent, disclosure, theirs)?;
        self.record(Step::Intent, disclosure, signed, theirs)
    }

    /// This side's signature. One that is in the record is used again.
    pub(crate) fn own_signature(
        &self,
        step: Step,
        disclosure: &Disclosure,
    ) -> Result<Signed, SessionError> {
        let record = &self.agreement.record;
        let (role, identity) = (self.session.role, &self.session.identity);
        record.own_signature(step, disclosure, role, identity)
    }

    /// The other side's signature, if it is valid.
    pub(crate) fn check_signature(
        &self,
        step: Step,
        disclosure: &Disclosure,
        sent: SentSignature,
    ) -> Result<Signed, SessionError> {
        let key = self.session.connection.peer_key();
        let key = key.ok_or(Misbehaviour::NoKey)?;
        sent.check(disclosure, step, self.session.role.other(), key)
    }

    /// Enters a step into the record.
    pub(crate) fn record(
        &self,
        step: Step,
        disclosure: &Disclosure,
        ours: Signed,
        theirs: Signed,
    ) -> Result<(), SessionError> {
        let (host, join) = super::by_role(self.session.role, ours, theirs);
        let entry = SessionEntry {
            step,
            disclosure: disclosure.clone(),
            host,
            join,
        };
        let record = &self.agreement.record;
        let entry = RecordEntry::Session(Box::new(entry));
        record.append(entry, &self.session.identity)
    }

    /// What this agreement discloses, the same on both sides.
    pub(crate) fn disclosure(&self) -> Disclosure {
        let agreement = &self.agreement;
        let (proposal, pairs) = (&agreement.proposal, &agreement.pairs);
        let tile = proposal.tile.map(|tile| tile.to_string());
        // Where only tiles are agreed on, all of them will be disclosed.
        let (rows, columns, count) = match proposal.tile_count {
            None => (
                pairs.iter().map(|pair| pair.0).collect(),
                pairs.iter().map(|pair| pair.1).collect(),
                pairs.len() as u64,
            ),
            Some(_) => {
                let plan = &agreement.blocks;
                (plan.rows(), plan.columns(), plan.pairs())
            }
        };
        let sides = [
            agreement.host.count_participants(rows.into_iter()),
            agreement.join.count_participants(columns.into_iter()),
        ];
        Disclosure {
            agreement: hex(&agreement.id),
            plan: hex(&agreement.plan),
            number: agreement.number,
            host: agreement.parties.host,
            join: agreement.parties.join,
            participants: sides.map(|(participants, _)| participants),
            scanpaths: sides.map(|(_, scanpaths)| scanpaths),
            pairs: count,
            tile,
            // An open choice is signed as such: its decision is not part of the agreement.
            engine: match proposal.auto_engine {
                true => EngineChoice::AUTO.to_string(),
                false => proposal.spec.engine.name().to_string(),
            },
            metric: proposal.spec.metric.name().to_string(),
            answer: proposal.spec.reveal.to_string(),
            to: proposal.spec.reveal_to,
        }
    }
}
