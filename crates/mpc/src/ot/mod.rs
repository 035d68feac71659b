//! Oblivious transfer: how the evaluator gets the labels of its bits without revealing the bits.
//!
//! | layer | what it gives | how | bytes per transfer |
//! |---|---|---|---|
//! | [`base`] | 128 random transfers, once per stage | elliptic curve (Masny and Rindal) | 64 |
//! | [`correlated`] | any number of transfers whose two messages differ by the garbling offset: wire labels | SoftSpoken (Roy, CRYPTO 2022), of which IKNP is the case k = 1, with its checks | 16/k |
//! | [`cot`] | correlated transfers with random choices, in bulk | an interface; today [`correlated`] | 16/k − 1/8 |
//! | [`pads`] | 1 of 2^m random words | one hash over a combination of m correlated transfers | 0 |
//! | [`letters`] | 1 of N keys per letter | one hash over the ⌈log₂ N⌉ transfers of the letter's bits | 0 |
//! | [`lookup`] | the entry of a table for a hidden letter, shared between the sides | the keys of `letters` as pads | N·w/8 per cell |
//!
//! With garbled circuits, the garbler is always the sender and the evaluator the receiver (except in [`base`]). Secret
//! sharing needs COTs in both directions. Upper layers use the correlated transfers through traits, so that tests can
//! replace them by ideal ones (module `ideal`, with the feature of that name).
//!
//! # What is proven
//! If SHA-256 and SHA-512 are random oracles, AES-128 is an ideal cipher, and the gap Diffie–Hellman problem is hard in
//! Ristretto255, the prime-order group over Curve25519:
//!
//! - **Against a malicious receiver** (the evaluator, or either side of `shares`), [`base`], [`correlated`], [`pads`]
//!   and [`letters`] give it one label of each wire, one pad of each transfer and one key of each letter; the others
//!   are indistinguishable from random ones. It learns about Δ what it guesses and no more: a guess that is right for a
//!   fraction 2⁻ᵐ of all Δ passes the checks with that probability, and a wrong one ends the session before anything
//!   that depends on the transfers is sent. (Worker threads share Δ, and the others may still send until all have
//!   stopped: less than one bit for eight threads.) Such a guess gains nothing: it weakens the bound for the remaining
//!   secrets by the factor 2ᵐ, but succeeds only with probability 2⁻ᵐ.
//! - **Against a malicious sender** (the garbler, or either side of `shares`), they hide the receiver's bits and
//!   letters.
//!
//! The modules give the arguments; [`pads`] has the proof for pads, in the ideal cipher model.
//!
//! # What is not proven
//! - [`lookup`] does not force the receiver to use the share that it got: a malicious evaluator can flip bits of its
//!   shares.
//! - Nothing forces a receiver to enter the same bit or letter in two transfers, or either side to continue with what a
//!   transfer gave it: shares are not authenticated ([`crate::shares`]).
//! - A malicious garbler can put any costs into a look-up, and garble any circuit on its result. See
//!   [`crate::alignment`].
//!
#![doc = include_str!("messages.md")]

pub mod base;
pub mod correlated;
pub mod cot;
#[cfg(any(test, feature = "ideal"))]
pub mod ideal;
pub mod letters;
pub mod lookup;
pub mod pads;

pub use crate::bits::Bits;
pub use cot::{CotReceiver, CotSender};

use crate::error::MpcError;
use crate::label::{ActiveLabel, ZeroLabel};
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// The side that knows the offset Δ.
pub trait CorrelatedSender {
    /// Announces that the next calls of [`CorrelatedSender::send`] will ask for `count` transfers in total, so that
    /// they can be made together. Both sides must announce the same.
    fn announce(&mut self, count: usize) {
        let _ = count;
    }

    /// The zero labels of the next `count` bits of the receiver.
    fn send(
        &mut self,
        count: usize,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ZeroLabel>>, MpcError>;
}

/// The side that knows the bits.
pub trait CorrelatedReceiver {
    /// As [`CorrelatedSender::announce`].
    fn announce(&mut self, count: usize) {
        let _ = count;
    }

    /// The labels of these bits.
    fn receive(
        &mut self,
        bits: &Bits,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ActiveLabel>>, MpcError>;
}
