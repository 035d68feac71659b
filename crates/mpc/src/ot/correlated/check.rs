//! The consistency check of a batch: the hash of everything sent so far, the coefficients derived from it, and the sums
//! that are compared. The module documentation of [`super`] says what the check proves.

use super::messages::PROOF_BYTES;
use crate::block::{BLOCK_BYTES, Block};
use crate::chain_hash::compress_chains;
use crate::field;
use crate::kernel::Kernel;
use crate::prg::Prg;
use crate::worker_thread::WorkerThread;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

/// A hash of all messages so far, equal on both sides.
#[derive(Clone)]
pub(super) struct Transcript {
    kernel: Kernel,
    digest: [u8; 32],
}

impl Transcript {
    /// Starts with the hash of the base transfers and the message about the seed trees.
    pub(super) fn new(kernel: Kernel, base: &[u8; 32], seeds: &[u8]) -> Self {
        let mut transcript = Self {
            kernel,
            digest: *base,
        };
        transcript.absorb(b"seeds", seeds);
        transcript
    }

    /// The transcript of a worker thread, which has its own messages.
    pub(super) fn for_thread(&self, thread: WorkerThread) -> Self {
        let mut transcript = self.clone();
        transcript.absorb(b"worker", &thread.number().to_le_bytes());
        transcript
    }

    pub(super) fn absorb(&mut self, kind: &[u8], message: &[u8]) {
        let mut digest = Sha256::new();
        digest.update(b"veilpath correlated transfers, version 3");
        digest.update(self.digest);
        digest.update((kind.len() as u64).to_le_bytes());
        digest.update(kind);
        digest.update((message.len() as u64).to_le_bytes());
        let (chains, rest) = compress_chains(self.kernel, message);
        digest.update(chains);
        digest.update(rest);
        self.digest = digest.finalize().into();
    }

    /// The coefficients of the last chunk that was absorbed. Each is uniform. The powers of a single one would be
    /// cheaper to draw, but would lose a factor of the polynomial's degree.
    pub(super) fn coefficients(&self, width: usize) -> Vec<Block> {
        let mut seed = [0; BLOCK_BYTES];
        seed.copy_from_slice(&self.digest[..BLOCK_BYTES]);
        let mut coefficients = vec![Block::ZERO; width];
        Prg::new(self.kernel, Block::from_bytes(seed)).fill(&mut coefficients);
        coefficients
    }
}

/// The sums over a batch: of every row, and of the choices (on the receiver's side).
pub(super) struct Sums {
    kernel: Kernel,
    rows: Zeroizing<Vec<Block>>,
    choices: [Block; 1],
    started: bool,
}

impl Drop for Sums {
    fn drop(&mut self) {
        self.choices.zeroize();
    }
}

impl Sums {
    pub(super) fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            rows: Zeroizing::new(vec![Block::ZERO; 128]),
            choices: [Block::ZERO],
            started: false,
        }
    }

    /// Adds a chunk whose corrections were just absorbed. The sender has no choices.
    ///
    /// The last block of the first chunk only masks the sums, so its coefficient is 1. It belongs to the first chunk
    /// because its corrections must be fixed before the coefficients of all others are known.
    pub(super) fn add(&mut self, transcript: &Transcript, rows: &[Block], choices: &[Block]) {
        let mut coefficients = transcript.coefficients(rows.len() / 128);
        if !std::mem::replace(&mut self.started, true)
            && let Some(mask) = coefficients.last_mut()
        {
            *mask = field::ONE;
        }
        self.kernel
            .add_products(&coefficients, rows, &mut self.rows);
        self.kernel
            .add_products(&coefficients, choices, &mut self.choices);
    }

    /// The receiver's proof.
    pub(super) fn proof(&self, transcript: &Transcript) -> [u8; PROOF_BYTES] {
        prove(transcript, self.choices[0], &self.rows)
    }

    /// Whether the receiver's proof is the one that follows from the sender's sums and its offset. Constant-time.
    pub(super) fn accepts(
        &self,
        transcript: &Transcript,
        delta: Block,
        proof: &[u8; PROOF_BYTES],
    ) -> bool {
        let mut choices = [0; BLOCK_BYTES];
        choices.copy_from_slice(&proof[..BLOCK_BYTES]);
        let choices = Block::from_bytes(choices);
        let offset = Zeroizing::new(delta.value());
        let rows = self.rows.iter().enumerate();
        let rows = rows.map(|(row, sum)| *sum ^ (choices & Block::mask(*offset >> row & 1 == 1)));
        let expected = prove(
            transcript,
            choices,
            &Zeroizing::new(rows.collect::<Vec<_>>()),
        );
        bool::from(expected.ct_eq(proof))
    }
}

/// The sum of the choices, which the mask makes uniform, and a hash of the row sums, which the sender can compute
/// itself. So the proof reveals nothing else.
pub(super) fn prove(transcript: &Transcript, choices: Block, rows: &[Block]) -> [u8; PROOF_BYTES] {
    let choices = choices.to_bytes();
    let mut digest = Sha256::new();
    digest.update(b"veilpath correlated transfers, version 3, proof");
    digest.update(transcript.digest);
    digest.update(choices);
    for row in rows {
        digest.update(row.to_bytes());
    }
    let mut proof = [0; PROOF_BYTES];
    proof[..BLOCK_BYTES].copy_from_slice(&choices);
    proof[BLOCK_BYTES..].copy_from_slice(&digest.finalize());
    proof
}
