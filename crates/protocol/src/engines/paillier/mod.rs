//! The paper's engine: Needleman–Wunsch over Paillier encryption, for alignments and the sequence score.
//!
//! The host is the key holder (Alice in the paper). The joining side is the matrix owner (Bob) and fills the encrypted
//! matrices. The names of steps come from the paper's section "Privacy-preserving Needleman-Wunsch protocol".
//!
//! ```text
//! matrix_owner.rs (join)                                 key_holder.rs (host)
//!  │── lengths of its scanpaths ───────────────────────────▶│
//!  │◀────────────────── lengths of its scanpaths, then pk ──│ Setup i
//!  │── requests rows of D ─────────────────────────────────▶│
//!  │◀───────────────── E(S(s_A[i], α[j])) for all letters ──│ Initialization i
//!  │ border of M (Initialization ii)                        │
//!  ╎                                                        ╎
//!  │ chooses ready cells at random, over all comparisons    │
//!  │ in flight (`matrix_owner/window.rs`)                   │
//!  │ Step 1: E(x₁), E(x₂), E(x₃)                            │
//!  │ Steps 2, 3: E(a·x − t·T + b); Step 4: permutes         │
//!  │── masked candidates of a batch of cells ──────────────▶│
//!  │ (prepares the next batch)                              │ Step 5: least of each set
//!  │◀────────────────────────── E(x*) for each cell ────────│
//!  │ Step 6: E(M(i, j))                                     │
//!  ╎ … until all cells of all comparisons are filled        ╎
//!  │── E(M(m, n)) of a finished comparison ────────────────▶│ Final result
//!  │◀──────────────────────────────────────── M(m, n) ──────│
//! ```
//!
//! Rows of D, batches and results share messages (`messages.rs`). With a batch of 1 and without packing, a cell is one
//! message of three ciphertexts and a reply of one, and one comparison runs at a time, as in the paper.
//!
//! # What each side learns
//! Both sides learn the number and the lengths of the other's scanpaths, and the score of every pair.
//!
//! The **matrix owner** learns no more than that if it follows the protocol, because everything else that it sees is
//! encrypted.
//!
//! The **key holder learns more, and you should assume that it uses what it learns.** It decrypts the masked candidates of
//! every cell. It sees them in random order, shifted and multiplied by secret numbers, but *the same* numbers for all
//! candidates of a cell. So it sees which candidates are equal; the exact ratio of their differences (for three
//! candidates 0, 1 and 4 apart it sees 1 : 3 : 4); and, because the multiplier has a limited length, roughly how large
//! the differences are. It does not see which cell it is, or which comparison, but with simple metrics and short
//! scanpaths the differences reveal much: most of the matrix owner's letters can be guessed with |a−b| costs, and a
//! good part of them with unit costs. Every further view of the same scanpath (another scanpath of the key holder, a
//! repetition after an interruption) adds to it. In a local alignment, one candidate is always the score 0, so the key
//! holder sees ratios of scores and not only of differences. The random choice between the two options of step 2
//! changes nothing: both give the same distribution. This engine is a faithful reproduction for study, and a heuristic
//! without a proof of privacy.
//!
//! # Assumption
//! Both sides are semi-honest. Then what the matrix owner sees is hidden under the decisional composite residuosity assumption
//! for keys of κ bits. What the key holder sees beyond the leakage above is hidden up to 2⁻⁴⁰ for a whole session, whatever
//! its size: up to 2⁻⁴¹ by the masks (`masking.rs`; hardened: 1.125·2⁻⁴¹), and up to 3·2⁻⁴³ by the randomness of ciphertexts (`RandomizerTable`, for
//! keys of random primes).
//!
//! # Malicious sides
//! The **matrix owner** can have a number of its choice decrypted as the "result" of each pair: any function of the key holder's
//! letters that it can compute under encryption and from minima, for any scanpath whose rows of D it has. The key holder decrypts one
//! number per pair and accepts only the R results that scanpaths of the lengths of *this* pair can have: for m and n letters
//! min(m, n) + 1 Levenshtein distances (fewer if the cost of a replacement limits them), and for other metrics
//! the range of the costs. That is **log₂ R bits per charged pair, one letter of an alphabet of up to R**, instead of a score: Σ
//! wₖ·D(i, k) with weights wₖ = k names the letter i. With 52 letters and Levenshtein distances of 20 letters (R = 21), a scanpath
//! of 20 letters takes 26 pairs, a quarter of what the scores of chosen scanpaths take. And a pair is charged to its own scanpath,
//! whichever scanpath the number is about. So the key holder's default limit is below half of that, and counts the pairs of all its
//! scanpaths together; a limit for each scanpath is for partners that follow the protocol. An out-of-range number reveals a bit by
//! itself, so such a pair is charged as well. Whether masked candidates could come from valid masks would be another such bit, for
//! which no pair is charged. So the key holder answers invalid candidates like valid ones, and fails only after all pairs have been opened.
//!
//! The **key holder** can return wrong minima, and so make scores wrong, or make the matrix owner's next candidates depend
//! on values of its choice. It sees no more numbers than before, but they come from a matrix that it steers. Nothing here
//! bounds what they reveal.
//!
//! # Charging
//! Each side records a pair in its [`PairStore`](crate::PairStore) before the first message from which the other side could learn
//! something about this side's letters in that pair:
//!
//! - the **matrix owner** when the comparison enters the window, right before its cells' candidates can be sent. Every start
//!   gives the key holder a view, whether the comparison ends or not;
//! - the **key holder** right after it has decrypted the result, together with the result, before it does or sends anything else.
//!   Whatever comes later, it does not open this pair again. Everything else that it sends is encrypted under its own key:
//!   rows of D, which serve all pairs of a scanpath, and minima, whose pair it does not know. An interrupted run shows
//!   the matrix owner nothing about the pairs that were not opened, no matter how often it is repeated.
//!
//! The key holder knows the factors of n and can read the randomness of every ciphertext that it receives. If that
//! randomness were not fresh, the key holder would recognise its own D entries by it, and so learn all of the matrix
//! owner's letters. So the matrix owner multiplies every ciphertext that it sends by a fresh uniform n-th power,
//! including the three values of a cell without packing.
//!
//! # Cost
//! With m·n cells, an alphabet of A letters, ciphertexts of C = κ/4 bytes and k cells per ciphertext (1 at κ = 512, 2 at
//! 1024, 4 or 5 at 2048, 7 at 3072, and fewer in very large sessions; ⅓ without packing):
//!
//! - bytes: (m·A + m·n·(1 + 1/k))·C; with the paper's pattern, the cells take 4·m·n·C instead (a test counts them);
//! - rounds: with many comparisons in flight, m·n divided by the batch. A single comparison takes two thirds of its
//!   ready cells at a time, which is about 5·max(m, n) batches;
//! - memory: the matrix owner keeps D of the scanpaths in use, and the m+n values along the frontier of each matrix in
//!   flight: about 96 MiB at most, plus the longest comparison; the key holder keeps one batch.
//!
//! Time is counted in products modulo n², eight at once. A squaring costs 0.7 of a product, and an operation modulo p² or q²
//! a quarter of one modulo n². For each cell, with masked values of L bits:
//!
//! | | squarings | products |
//! |---|---|---|
//! | matrix owner, step 6: the exponent a⁻¹ mod n | κ | κ/5 + 31 |
//! | matrix owner, steps 2 to 4: 3·k slots share their squarings | (64 + (3·k−1)·L)/k | 3·29 + 9 |
//! | matrix owner, step 2: T to the power t | 32 | 19 |
//! | matrix owner, a randomiser for each ciphertext | – | (κ + 414)/6/k |
//! | matrix owner, sums, and inverses in batches | – | 25 |
//! | key holder, decryption modulo p² and q² | κ/4/k | (κ/5 + 62)/4/k |
//! | key holder, encryption from tables modulo p² and q² | – | (κ + 828)/6/4 + 2 |
//!
//! Exponentiation windows have 5 bits for a secret exponent, 3 for short exponents and 6 for a table. Shorter keys have
//! narrower windows: constant time requires reading a whole table, which costs more relative to their products. At κ =
//! 2048, L = 133 and k = 5 this is 2,570 squarings and 800 products, equivalent to 2,600 products in all, of which step
//! 6 takes 72 %. `veilpath bench paillier` measures products (an addition is two) and whole exponentiations, `veilpath
//! bench cell` measures cells.
//!
//! Both sides use all cores. The matrix owner has three requests outstanding, so that the key holder has one to work on
//! while the matrix owner extracts the values from the previous reply and masks the next request
//! (`matrix_owner/requests.rs`).
//!
//! # Shares of results
//! For a group answer, nobody learns single results: the matrix owner adds a random number r to each encrypted result and
//! keeps −r, and the key holder decrypts the sum. The two numbers are shares of the result modulo 2⁶⁴. The key holder's view of
//! matrix cells is unchanged.
//!
//! Answers that are sums with public coefficients are computed from these shares: means, the test of sites, and, if groups are
//! published, group means and the group test. r has 192 bits and a result at most 62, so what the key holder decrypts is within 2⁻¹³⁰ of
//! a distribution that does not depend on the result, and the matrix owner has only r. Sums are local. Rounding and the comparison of
//! permuted sums use the gates of `statistics`, and the answer is opened as with the other engines. So no single result is opened, and
//! the answer is all that is added to the view of matrix cells.
//!
//! The other answers are refused. They would compare single results, or multiply them by labels that a side keeps secret. The key holder
//! learns many letters from matrix cells, and from those much about single results. Hiding comparisons and labels would promise a
//! protection of single participants that this engine does not give.
//!
//! # Errors in the paper, corrected
//! Step 6 adds x₁+x₂+x₃ before it divides; the paper writes an inverse. The affine transformation multiplies by ρ₂; the
//! appendix writes ⊕. Its option 1 multiplies by ρ₁; the appendix omits this. The key holder sends the minimum
//! encrypted. D has a row for each letter of the key holder. Masks have ranges that make every result exact
//! (`masking.rs`).
//!
//! # The hardened variant
//! [`PaillierOptions::with_hardening`] replaces the masks by those of `hardened/mod.rs`, which reveal no ties, no
//! ratios, no multiples, and only a little about sizes. Scores are the same; a cell has 4 slots instead of 3 and 3 reply ciphertexts
//! instead of 1.
//!
#![doc = include_str!("notation.md")]

mod cell;
mod costs;
mod hardened;
mod key_holder;
mod masking;
mod matrix;
mod matrix_owner;
mod messages;
mod order;
mod parallel;
mod recurrence;
mod run_parameters;
mod substitutions;
mod tap;
#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "watch"))]
mod watch;

pub(crate) use costs::costs;
#[cfg(any(test, feature = "watch"))]
pub use hardened::{HardenedSecrets, HardenedSet, HardenedSteps};
pub(crate) use key_holder::host;
pub(crate) use matrix_owner::{join, largest_storage};
pub use order::candidate_counts;
pub(crate) use recurrence::result_range_per_letter;
#[cfg(any(test, feature = "watch"))]
pub use watch::{HardenedMaskRanges, SeenMessage, Watched, watch_key_holder, watch_window};

use crate::{JobError, ProtocolError, RevealTo, Revealed, Spec};
use serde::{Deserialize, Serialize};
use veilpath_paillier::KeySize;

/// How the engine runs. Both sides must agree on all options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenOptions")]
pub struct PaillierOptions {
    #[serde(rename = "key_bits")]
    key_size: KeySize,
    batch: u32,
    packing: bool,
    hardened: bool,
}

/// The serialized options, before their numbers are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenOptions {
    #[serde(rename = "key_bits")]
    key_size: KeySize,
    batch: u32,
    packing: bool,
    hardened: bool,
}

impl TryFrom<WrittenOptions> for PaillierOptions {
    type Error = ProtocolError;

    fn try_from(written: WrittenOptions) -> Result<Self, ProtocolError> {
        Ok(Self::new(written.key_size, true)?
            .with_batch(written.batch)?
            .with_packing(written.packing)
            .with_hardening(written.hardened))
    }
}

impl PaillierOptions {
    /// A key of 2048 bits, batches of up to 512 cells, packed.
    pub const DEFAULT: Self = Self {
        key_size: KeySize::Bits2048,
        batch: 512,
        packing: true,
        hardened: false,
    };
    /// The largest batch, which limits what a peer can make this side allocate.
    pub const MAX_BATCH: u32 = 4096;

    /// Options with a key of this size. Sizes below 2048 bits are too short to protect anything today, and must be
    /// explicitly allowed.
    pub fn new(key_size: KeySize, allow_weak_key: bool) -> Result<Self, ProtocolError> {
        if key_size.is_weak() && !allow_weak_key {
            return Err(ProtocolError::Job(JobError::WeakKey {
                bits: key_size.bits(),
                minimum: 2048,
            }));
        }
        Ok(Self {
            key_size,
            ..Self::DEFAULT
        })
    }

    /// Sends at most this many matrix cells per message. 1 is the paper's pattern: one comparison, one cell at a time.
    pub fn with_batch(self, batch: u32) -> Result<Self, ProtocolError> {
        if !(1..=Self::MAX_BATCH).contains(&batch) {
            return Err(ProtocolError::Job(JobError::BatchOutOfRange {
                batch,
                limit: Self::MAX_BATCH,
            }));
        }
        Ok(Self { batch, ..self })
    }

    /// Sets whether several masked values share a ciphertext. Without packing, every value has its own, as in the
    /// paper.
    #[must_use]
    pub fn with_packing(self, packing: bool) -> Self {
        Self { packing, ..self }
    }

    /// Sets whether every difference has its own mask, which hides from the host what the paper's masks show.
    #[must_use]
    pub fn with_hardening(self, hardened: bool) -> Self {
        Self { hardened, ..self }
    }

    /// κ.
    pub fn key_size(self) -> KeySize {
        self.key_size
    }

    /// The largest number of cells in a message.
    pub fn batch(self) -> u32 {
        self.batch
    }

    /// Whether every difference has its own mask.
    pub fn hardened(self) -> bool {
        self.hardened
    }

    /// Whether masked values share ciphertexts.
    pub fn packing(self) -> bool {
        self.packing
    }
}

impl Default for PaillierOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The leakage of the paper's masks to the host, in words.
const PAPER_LEAKAGE: &str = "the ratios and the rough size of the differences between the candidates of every matrix cell, \
    in random order: a curious host can guess many letters from them, especially of scanpaths that are short or compared \
    often";
/// The leakage of the hardened masks, in words.
const HARDENED_LEAKAGE: &str = "a little about the size of the differences between the candidates of every matrix cell, \
    in random order, but no ties, ratios or multiples: little by itself, but without a proof, and several comparisons of the same \
    scanpath add up";

/// What each side learns, in words for users.
pub(crate) fn revealed(options: PaillierOptions, spec: &Spec) -> Vec<Revealed> {
    let answer = spec.describe_answer();
    let learned = |to: RevealTo, what: &str| Revealed {
        to,
        what: what.to_string(),
    };
    vec![
        learned(
            RevealTo::Host,
            "the length of every scanpath of the joining side",
        ),
        learned(RevealTo::Host, &answer),
        learned(
            RevealTo::Host,
            if options.hardened {
                HARDENED_LEAKAGE
            } else {
                PAPER_LEAKAGE
            },
        ),
        learned(RevealTo::Join, "the length of every scanpath of the host"),
        learned(RevealTo::Join, &answer),
        learned(
            RevealTo::Both,
            "nothing else, if both follow the protocol and Paillier encryption with a key of this size is secure",
        ),
    ]
}
