//! A line of a record: JSON with the hash of the line before it and the owner's signature.

use super::statement::{Disclosure, Signed, Step};
use crate::error::InternalError;
use crate::identity::{PublicKey, hex};
use crate::{Fingerprint, Identity, SessionError, date};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use veilpath_protocol::Role;

/// The start of what the owner signs.
const LINE_PREFIX: &[u8] = b"veilpath record line 1\n";

/// The first line has this as the hash of the line before it.
const NO_LINE: [u8; 32] = [0; 32];

/// What a line of a record is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordEntry {
    /// Both sides have signed a step of an agreement.
    Session(Box<SessionEntry>),
    /// This side has excluded participants from later answers, although the difference from earlier ones is about them
    /// alone.
    Withdrawal(WithdrawalEntry),
}

/// A step of an agreement that both sides have signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionEntry {
    /// The step.
    pub step: Step,
    /// What the agreement discloses.
    pub disclosure: Disclosure,
    /// The host's signature.
    pub host: Signed,
    /// The joining side's signature.
    pub join: Signed,
}

/// A withdrawal of consent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WithdrawalEntry {
    /// When, in UTC.
    pub time: String,
    /// The partner whose answers are affected.
    pub partner: Fingerprint,
    /// How many participants.
    pub participants: u64,
}

impl SessionEntry {
    /// The signature of a side.
    pub fn signed(&self, role: Role) -> &Signed {
        match role {
            Role::Host => &self.host,
            Role::Join => &self.join,
        }
    }

    /// The first side whose signature is not valid.
    pub(super) fn not_signed_by(&self) -> Option<Role> {
        [Role::Host, Role::Join].into_iter().find(|&role| {
            let signed = self.signed(role);
            !self.disclosure.is_signed(self.step, role, signed)
        })
    }
}

/// A line of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChainedLine {
    /// Its number, from 1.
    pub(super) line: u64,
    /// The hash of the line before it.
    pub(super) previous: String,
    pub(super) entry: RecordEntry,
    /// The public key of the record's owner.
    pub(super) owner: PublicKey,
    /// The owner's signature of all of this.
    signature: String,
}

impl ChainedLine {
    /// The line after another one, given by its number and its text.
    pub(super) fn after(
        last: Option<(u64, &str)>,
        entry: RecordEntry,
        identity: &Identity,
    ) -> Result<Self, SessionError> {
        let mut line = Self {
            line: last.map_or(0, |(number, _)| number) + 1,
            previous: hash(last.map(|(_, text)| text)),
            entry,
            owner: identity.public_key()?,
            signature: String::new(),
        };
        line.signature = hex(&identity.sign(&line.signed_bytes()?)?);
        Ok(line)
    }

    /// Parses a line. Only its canonical form is accepted.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let line: Self = serde_json::from_str(text).ok()?;
        let same = line.to_text().is_ok_and(|again| again == text);
        let dated = match &line.entry {
            RecordEntry::Session(_) => true,
            RecordEntry::Withdrawal(entry) => date::is_date_and_time(&entry.time),
        };
        (same && dated).then_some(line)
    }

    pub(super) fn to_text(&self) -> Result<String, SessionError> {
        let text = serde_json::to_string(self);
        Ok(text.map_err(|error| InternalError::Serialise(error.to_string()))?)
    }

    /// Whether its owner has signed it.
    pub(super) fn is_signed(&self) -> bool {
        let bytes = self.signed_bytes();
        bytes.is_ok_and(|bytes| self.owner.verifies(&bytes, &self.signature))
    }

    /// Whether it continues a line with this text.
    pub(super) fn continues(&self, previous: Option<&str>) -> bool {
        self.previous == hash(previous)
    }

    /// Whether a text starts with this number and the hash of the line before it, as every line does.
    pub(super) fn is_chained(text: &str, number: u64, previous: Option<&str>) -> bool {
        let start = format!(r#"{{"line":{number},"previous":"{}","#, hash(previous));
        text.starts_with(&start)
    }

    /// What the owner signs: the line with an empty signature.
    fn signed_bytes(&self) -> Result<Vec<u8>, SessionError> {
        let unsigned = Self {
            signature: String::new(),
            ..self.clone()
        };
        Ok([LINE_PREFIX, unsigned.to_text()?.as_bytes()].concat())
    }
}

fn hash(text: Option<&str>) -> String {
    match text {
        None => hex(&NO_LINE),
        Some(text) => hex(digest(&SHA256, text.as_bytes()).as_ref()),
    }
}
