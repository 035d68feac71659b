//! What both sides sign: the same statement about an agreement, each with its own time.

use crate::digests::{journal_id, journal_name};
use crate::error::{InternalError, Misbehaviour};
use crate::identity::{PublicKey, from_hex, hex};
use crate::{Fingerprint, Identity, SessionError, date};
use serde::{Deserialize, Serialize};
use veilpath_protocol::{RevealTo, Role};

/// The prefix of everything that is signed. It differs from the prefix that TLS signs, so neither signature can be
/// taken for the other.
const STATEMENT: &[u8] = b"veilpath record statement 1\n";

/// When a statement is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Before anything is opened.
    Intent,
    /// After everything was opened.
    Completion,
}

impl Step {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Step::Intent => "intent",
            Step::Completion => "completion",
        }
    }
}

/// What an agreement discloses. Everything in it follows from what both sides have agreed on, so neither has to send it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disclosure {
    /// The id of the agreement.
    pub agreement: String,
    /// The hash of the plan, which covers all settings and both cohorts.
    pub plan: String,
    /// The number of the agreement on this plan.
    pub number: u32,
    /// The host's key.
    pub host: Fingerprint,
    /// The joining side's key.
    pub join: Fingerprint,
    /// Participants of the host and of the joining side.
    pub participants: [u64; 2],
    /// Their scanpaths.
    pub scanpaths: [u64; 2],
    /// Pairs of scanpaths.
    pub pairs: u64,
    /// The tile of the plan, as in `3/8`; `None` for the whole plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tile: Option<String>,
    /// The agreed engine, or `auto`.
    pub engine: String,
    /// The metric.
    pub metric: String,
    /// What is disclosed, as in a plan.
    pub answer: String,
    /// To whom.
    pub to: RevealTo,
}

impl Disclosure {
    /// The key of a side.
    pub fn key_of(&self, role: Role) -> Fingerprint {
        match role {
            Role::Host => self.host,
            Role::Join => self.join,
        }
    }

    /// The name of the comparison in the state folder of the side with this role, as [`crate::StoredComparison::id`] has it.
    pub fn comparison_id(&self, role: Role) -> Option<String> {
        let agreement = from_hex(&self.agreement)?;
        let tile = match &self.tile {
            None => None,
            Some(tile) => Some(tile.parse().ok()?),
        };
        Some(journal_name(&journal_id(&agreement, role, tile)))
    }

    /// The side with this key.
    pub fn role_of(&self, key: Fingerprint) -> Option<Role> {
        [Role::Host, Role::Join]
            .into_iter()
            .find(|&role| self.key_of(role) == key)
    }

    /// What a side signs.
    fn message(&self, step: Step, signer: Role, time: &str) -> Result<Vec<u8>, SessionError> {
        #[derive(Serialize)]
        struct Statement<'a> {
            step: Step,
            signer: &'static str,
            time: &'a str,
            disclosure: &'a Disclosure,
        }
        let statement = Statement {
            step,
            signer: role_name(signer),
            time,
            disclosure: self,
        };
        let json = serde_json::to_vec(&statement)
            .map_err(|error| InternalError::Serialise(error.to_string()))?;
        Ok([STATEMENT, &json].concat())
    }

    /// Signs a step now, as this side.
    pub(super) fn sign(
        &self,
        step: Step,
        signer: Role,
        identity: &Identity,
    ) -> Result<Signed, SessionError> {
        let time = date::date_and_time(date::now());
        let signature = identity.sign(&self.message(step, signer, &time)?)?;
        Ok(Signed {
            key: identity.public_key()?,
            time,
            signature: hex(&signature),
        })
    }

    /// Whether a side has signed a step.
    pub(super) fn is_signed(&self, step: Step, signer: Role, signed: &Signed) -> bool {
        let message = self.message(step, signer, &signed.time);
        signed.key.fingerprint() == self.key_of(signer)
            && date::is_date_and_time(&signed.time)
            && message.is_ok_and(|message| signed.key.verifies(&message, &signed.signature))
    }
}

/// A side's signature, as the record stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// The public key.
    pub(super) key: PublicKey,
    /// When it was signed, by the signer's clock.
    pub(super) time: String,
    pub(super) signature: String,
}

impl Signed {
    /// When it was signed, by the signer's clock, in UTC.
    pub fn time(&self) -> &str {
        &self.time
    }
}

/// A side's signature, as it is sent: both sides know the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentSignature {
    time: String,
    signature: String,
}

impl SentSignature {
    /// This side's signature.
    pub(crate) fn of(signed: &Signed) -> Self {
        Self {
            time: signed.time.clone(),
            signature: signed.signature.clone(),
        }
    }

    /// The signature under the peer's authenticated key, if it is valid.
    pub(crate) fn check(
        self,
        disclosure: &Disclosure,
        step: Step,
        signer: Role,
        key: PublicKey,
    ) -> Result<Signed, SessionError> {
        let signed = Signed {
            key,
            time: self.time,
            signature: self.signature,
        };
        match disclosure.is_signed(step, signer, &signed) {
            true => Ok(signed),
            false => Err(Misbehaviour::InvalidSignature.into()),
        }
    }
}

pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Host => "host",
        Role::Join => "join",
    }
}
