//! The one port of a host's cluster: connects the workers of two institutions that have the same tile.
//!
//! ```text
//! worker of the host          gateway             worker of the joining side
//!  │── greeting ────────────────▶│◀──────────────────── greeting ──│   certificate, tile, time, signature with the worker's key
//!  │◀─ ping, pong, start ───────▶│◀────────── ping, pong, start ──▶│   as at a relay (`relay/`), whose code and bounds it shares
//!  │◀══════════ TLS 1.3 between the two workers, certificates (`gate.rs`) ═════════▶│   the gateway copies bytes
//! ```
//!
//! A gateway is a relay for one agreement that requires a worker key. It admits workers of the two institutions, for
//! the tiles that their keys allow, until the keys expire. It holds no key, and TLS stays between the workers: an
//! attacker who takes over a gateway sees what a relay sees, plus the agreement and the public keys in the greetings.
//! So does an eavesdropper, because greetings are not encrypted.
//!
//! A key has one waiting connection per tile, the newest. In total it has at most a few more connections than tiles,
//! and never more than half of all connections.
//!
//! A greeting contains a random number and the time, is signed with the worker's key, and is accepted once, so that
//! nobody who has seen it can replay it. Its signatures are checked only after the throttle has admitted the
//! connection, and only when its size is plausible.

use super::certificate::{MAX_BYTES, WorkerCertificate, seconds, signed_message};
use super::plan::AgreedPlan;
use crate::digests::nonce;
use crate::error::InternalError;
use crate::identity::{PublicKey, hex};
use crate::relay::{BadGreeting, Greeting, GreetingFormat, Sender, Token};
use crate::{Fingerprint, Identity, SessionError, date};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::SystemTime;
use veilpath_protocol::{Role, Tile};

/// What a greeting starts with; the last byte is the version. Its length follows.
const MAGIC: [u8; 8] = *b"VPGATEW\x01";

/// Magic and length.
const HEADER: usize = MAGIC.len() + 2;

/// The longest greeting after its header.
const MAX_GREETING: usize = MAX_BYTES + 512;

/// How far the clocks of a worker and the gateway may differ, in seconds.
const MAX_CLOCK_DIFFERENCE: u64 = 120;

/// The most remembered greetings. They are from authenticated workers, and are forgotten when they expire.
const MAX_REMEMBERED: usize = 1 << 16;

/// The start of what is signed.
const STATEMENT: &[u8] = b"veilpath gateway greeting 1\n";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignedGreeting {
    certificate: WorkerCertificate,
    claim: Claim,
    signature: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    is_host: bool,
    tile: u32,
    /// Seconds since 1970.
    time: u64,
    agreement: String,
    /// A random number, because a worker may reconnect within a second and needs another greeting then.
    nonce: String,
}

impl Claim {
    fn message(&self) -> Result<Vec<u8>, SessionError> {
        signed_message(STATEMENT, self)
    }
}

/// A new greeting of a worker.
pub(super) fn greeting(
    key: &Identity,
    certificate: &WorkerCertificate,
    plan: &AgreedPlan,
    tile: Tile,
) -> Result<Vec<u8>, SessionError> {
    let claim = Claim {
        is_host: plan.role() == Role::Host,
        tile: tile.index(),
        time: seconds(date::now()),
        agreement: plan.agreement().to_string(),
        nonce: nonce()?,
    };
    let greeting = SignedGreeting {
        certificate: certificate.clone(),
        signature: hex(&key.sign(&claim.message()?)?),
        claim,
    };
    let json = serde_json::to_vec(&greeting);
    let json = json.map_err(|error| InternalError::Serialise(error.to_string()))?;
    let length = u16::try_from(json.len()).unwrap_or(u16::MAX);
    Ok([&MAGIC[..], &length.to_le_bytes(), &json].concat())
}

/// Which greetings a gateway accepts.
#[derive(Debug)]
pub(crate) struct WorkerGreetings {
    host: Fingerprint,
    join: Fingerprint,
    agreement: String,
    /// Signatures of greetings that were accepted, by the time in them.
    seen: BTreeSet<(u64, String)>,
}

impl WorkerGreetings {
    pub(crate) fn of(plan: &AgreedPlan) -> Self {
        let parties = plan.parties();
        Self {
            host: parties.host,
            join: parties.join,
            agreement: plan.agreement().to_string(),
            seen: BTreeSet::new(),
        }
    }

    /// The greeting in this text, if it is new and signed by a worker whose key allows its tile.
    fn check(&mut self, text: &[u8], now: SystemTime) -> Option<Greeting> {
        let SignedGreeting {
            certificate,
            claim,
            signature,
        } = serde_json::from_slice(text).ok()?;
        let (role, institution) = match claim.is_host {
            true => (Role::Host, self.host),
            false => (Role::Join, self.join),
        };
        let worker: PublicKey = certificate.worker();
        let (agreement, tile) = (&self.agreement, Some(claim.tile));
        certificate
            .check(institution, worker, agreement, tile, now)
            .ok()?;
        let recent = seconds(now).abs_diff(claim.time) <= MAX_CLOCK_DIFFERENCE;
        let is_signed = worker.verifies(&claim.message().ok()?, &signature);
        if !recent || !is_signed || claim.agreement != self.agreement {
            return None;
        }
        let oldest = seconds(now).saturating_sub(MAX_CLOCK_DIFFERENCE);
        self.seen = self.seen.split_off(&(oldest, String::new()));
        let is_full = self.seen.len() >= MAX_REMEMBERED;
        if is_full || !self.seen.insert((claim.time, signature)) {
            return None;
        }
        let token = token(&self.agreement, claim.tile);
        let sender = Some(Sender {
            key: worker.fingerprint(),
            max_connections: certificate.max_connections(),
        });
        Some(Greeting {
            role,
            token,
            sender,
        })
    }
}

impl GreetingFormat for WorkerGreetings {
    fn authenticates(&self) -> bool {
        true
    }

    fn read(&mut self, bytes: &[u8]) -> Option<Result<Greeting, BadGreeting>> {
        let (magic, name) = (bytes.len().min(MAGIC.len()), MAGIC.len() - 1);
        if bytes[..magic] != MAGIC[..magic] {
            return Some(Err(match bytes.get(..name) == MAGIC.get(..name) {
                true => BadGreeting::OtherVersion,
                false => BadGreeting::Unknown,
            }));
        }
        let (header, text) = bytes.split_at_checked(HEADER)?;
        let length = header
            .last_chunk::<2>()
            .map_or(0, |it| u16::from_le_bytes(*it));
        let length = usize::from(length);
        if length > MAX_GREETING {
            return Some(Err(BadGreeting::Unknown));
        }
        (text.len() == length).then(|| {
            let greeting = self.check(text, date::now());
            greeting.ok_or(BadGreeting::Refused)
        })
    }
}

/// Whether this is a greeting that its institution's gateway accepts, for fuzzing: once, for its own agreement, and at
/// its own time.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn is_greeting(text: &[u8]) -> bool {
    let Ok(greeting) = serde_json::from_slice::<SignedGreeting>(text) else {
        return false;
    };
    let written = serde_json::to_vec(&greeting).unwrap_or_default();
    assert!(
        serde_json::from_slice::<SignedGreeting>(&written).is_ok(),
        "a greeting that cannot be read again"
    );
    let SignedGreeting {
        certificate, claim, ..
    } = greeting;
    let institution = certificate.institution();
    let time = std::time::UNIX_EPOCH.checked_add(std::time::Duration::from_secs(claim.time));
    let Some(now) = time else {
        return false;
    };
    let mut gateway = WorkerGreetings {
        host: institution,
        join: institution,
        agreement: claim.agreement,
        seen: BTreeSet::new(),
    };
    // With its header, at another time.
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    let sent = [&MAGIC[..], &length.to_le_bytes(), text].concat();
    let _ = gateway.read(&sent);
    gateway.seen.clear();
    let accepted = gateway.check(text, now).is_some();
    assert!(gateway.check(text, now).is_none(), "accepted twice");
    gateway.agreement.push('0');
    gateway.seen.clear();
    assert!(gateway.check(text, now).is_none(), "another agreement");
    accepted
}

/// Where the workers of a tile meet.
fn token(agreement: &str, tile: u32) -> Token {
    let mut context = Context::new(&SHA256);
    context.update(b"veilpath gateway token 1");
    context.update(agreement.as_bytes());
    context.update(&tile.to_le_bytes());
    Token::of_digest(&context.finish())
}
