//! Commitments of each side to its part of the coins and to published labels, made before it knows those of the other
//! side.
//!
//! The coins of a test are the seed of its permutations, to which both sides contribute and which neither can choose. A
//! side derives its part from its key and the agreement, so that a resumed session uses the same one. Each side commits
//! to its part, and to its labels if they are published, in [`GroupTerms`](super::GroupTerms). When the computation
//! starts, a side makes the other's commitment durable (with its groups) before it opens its own: a peer that
//! disconnects after the opening cannot return with another commitment.
//!
//! A commitment names the agreement and the role of the side that makes it. So a joining side cannot send back the host's commitment, and
//! then its labels, as its own; nor can a partner of two institutions use the commitment of one in its session with the other.

use super::GroupAgreement;
use crate::control::{self, Tag};
use crate::error::{Misbehaviour, SessionError};
use crate::identity::{from_hex, hex};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use std::fmt;
use veilpath_channel::Channel;
use veilpath_protocol::Role;

/// Coins and labels that were committed to but not opened yet.
pub(super) struct Committed {
    pub(super) agreement: [u8; 32],
    pub(super) own: [u8; 32],
    /// This side's labels, if both sides publish theirs.
    pub(super) own_labels: Option<Vec<u8>>,
    pub(super) their_commitment: [u8; 32],
}

/// Without this side's part and labels, which are secret until they are opened.
impl fmt::Debug for Committed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Committed").finish_non_exhaustive()
    }
}

/// The message Coins: the part that was committed to. Not `Debug`: it is secret until it is opened.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CoinsPart {
    pub(super) coins: String,
}

impl GroupAgreement {
    /// Opens the labels that both sides publish, and the coins of a test, where there are any.
    pub(crate) fn open_committed(
        &mut self,
        role: Role,
        channel: &mut dyn Channel,
    ) -> Result<(), SessionError> {
        let Some(committed) = self.committed.take() else {
            return Ok(());
        };
        let labels = committed.own_labels.as_deref();
        let labels = labels.map(|ours| control::exchange_bytes(channel, role, Tag::Labels, ours));
        let labels = labels.transpose()?;
        let message = CoinsPart {
            coins: hex(&committed.own),
        };
        let theirs: CoinsPart = control::exchange(channel, role, Tag::Coins, &message)?;
        let is_as_committed = |part: &[u8; 32]| {
            let opened = commitment(&committed.agreement, role.other(), part, labels.as_deref());
            opened == committed.their_commitment
        };
        let theirs = from_hex(&theirs.coins).filter(is_as_committed);
        let theirs = theirs.ok_or(Misbehaviour::InvalidCoins)?;
        if let Some(labels) = labels {
            self.groups.publish(role, &labels)?;
        }
        if self.groups.question.permutations().is_none() {
            return Ok(());
        }
        let (host, join) = match role {
            Role::Host => (committed.own, theirs),
            Role::Join => (theirs, committed.own),
        };
        self.groups.coins = hash(b"veilpath permutations", &[&host, &join]);
        self.schema.set_coins(&self.groups.coins);
        Ok(())
    }
}

/// The commitment of the side with this role to its part, and to its labels.
pub(super) fn commitment(
    agreement: &[u8; 32],
    role: Role,
    part: &[u8; 32],
    labels: Option<&[u8]>,
) -> [u8; 32] {
    let role: &[u8] = match role {
        Role::Host => b"host",
        Role::Join => b"join",
    };
    let labels = labels.unwrap_or_default();
    hash(b"veilpath coins", &[agreement, role, part, labels])
}

fn hash(purpose: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(purpose);
    for part in parts {
        context.update(part);
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_contains_no_secret() {
        let committed = Committed {
            agreement: [1; 32],
            own: [222; 32],
            own_labels: Some(vec![223; 3]),
            their_commitment: [2; 32],
        };
        let text = format!("{committed:?}");
        assert!(!text.contains("222") && !text.contains("223"), "{text}");
    }
}
