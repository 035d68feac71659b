//! The coins of a test: the seed of its permutations, to which both sides contribute and which neither can choose.
//!
//! A side derives its part from its key and the agreement, so that a resumed session has the same. Each commits to its part in
//! [`GroupTerms`](super::GroupTerms). When the computation starts, a side makes the other's commitment durable before it opens its
//! own part: a peer that breaks off once it has seen that part cannot come back with another commitment.

use super::GroupAgreement;
use crate::control::{self, Tag};
use crate::error::{Misbehaviour, SessionError};
use crate::identity::{hex, unhex};
use crate::journal::Journal;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use veilpath_channel::Channel;
use veilpath_protocol::Role;

/// Coins that are committed to and not yet opened.
#[derive(Debug)]
pub(super) struct ClosedCoins {
    pub(super) own: [u8; 32],
    pub(super) their_commitment: [u8; 32],
}

/// The message Coins: the part that was committed to.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CoinsPart {
    pub(super) coins: String,
}

impl GroupAgreement {
    /// Opens the coins, if the question is a test.
    pub(crate) fn open_coins(
        &mut self,
        role: Role,
        journal: &mut Journal,
        channel: &mut dyn Channel,
    ) -> Result<(), SessionError> {
        let Some(closed) = self.coins.take() else {
            return Ok(());
        };
        journal.keep_commitment(&closed.their_commitment)?;
        let message = CoinsPart {
            coins: hex(&closed.own),
        };
        let theirs: CoinsPart = control::exchange(channel, role, Tag::Coins, &message)?;
        let theirs =
            unhex(&theirs.coins).filter(|part| commitment(part) == closed.their_commitment);
        let theirs = theirs.ok_or(Misbehaviour::InvalidCoins)?;
        let (host, join) = match role {
            Role::Host => (closed.own, theirs),
            Role::Join => (theirs, closed.own),
        };
        self.terms.coins = hash(b"veilpath permutations", &[&host, &join]);
        self.form.set_coins(&self.terms.coins);
        Ok(())
    }
}

/// The commitment to a part.
pub(super) fn commitment(part: &[u8; 32]) -> [u8; 32] {
    hash(b"veilpath coins", &[part])
}

fn hash(purpose: &[u8], parts: &[&[u8; 32]]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(purpose);
    for part in parts {
        context.update(*part);
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    digest
}
