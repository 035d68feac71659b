//! Any number of correlated transfers with the garbling offset, from 128 base transfers.
//!
//! ```text
//! receiver (bits x)                                              sender (offset Δ)
//!   base transfers, as their sender             ◀───────────▶     … with the bits of Δ as choices
//!   corrections of the seed trees (once)        ────────────▶     128·(k − 1)/k · 32 bytes
//!   for every chunk: uᵢ ⊕ x of each tree        ────────────▶     128/k bits per transfer
//!   labels tⱼ = qⱼ ⊕ xⱼ·Δ                                          zero labels qⱼ
//! ```
//!
//! SoftSpoken (Roy, CRYPTO 2022) in its semi-honest form with the repetition code. The bits of Δ are split into 128/k
//! groups. For a group with the value δ both sides have 2^k seeds, the sender all but number δ (a tree of seeds
//! punctured at δ). With r_y the stream of seed y, the receiver computes u = ⊕ r_y and v_b = ⊕ of the r_y with bit b
//! of y set; the sender, which numbers seeds by y ⊕ δ, computes the same sums w_b = v_b ⊕ δ_b·u without the missing
//! one. Once u is corrected to x, the columns w_b and v_b are those of labels that differ by x·Δ. With k = 1 this is
//! the extension of Ishai, Kilian, Nissim and Petrank (CRYPTO 2003). Traffic falls with k, AES work grows with 2^k/k;
//! k = 4 sends 4 bytes per transfer for twice the AES of k = 1.
//!
//! The sender sees x only under the stream of the seed that it does not have. The receiver sees nothing that depends
//! on Δ. Seeds are secret, so the sender's tree is stored by y ⊕ δ from the start: no address depends on Δ.

mod matrix;
pub mod messages;
mod receiver;
mod sender;
mod tree;

pub use receiver::Receiver;
pub use sender::Sender;

/// k of the module documentation: how many bits of Δ share a tree of seeds. Both sides must use the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupBits(usize);

impl GroupBits {
    /// The extension of Ishai, Kilian, Nissim and Petrank: 16 bytes per transfer, the least AES work.
    pub const ONE: Self = Self(1);
    /// 8 bytes per transfer, as much AES work as with one.
    pub const TWO: Self = Self(2);
    /// 4 bytes per transfer: what sessions use.
    pub const FOUR: Self = Self(4);
    /// 2 bytes per transfer, for slow connections: eight times the AES work of four.
    pub const EIGHT: Self = Self(8);

    fn bits(self) -> usize {
        self.0
    }

    fn groups(self) -> usize {
        128 / self.0
    }

    fn leaves(self) -> usize {
        1 << self.0
    }
}

impl Default for GroupBits {
    fn default() -> Self {
        Self::FOUR
    }
}

/// Transfers that are made at a time; more are made chunk by chunk. The rows of a tree then fit the fastest cache.
pub const CHUNK: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::MpcError;
    use crate::kernel::Kernel;
    use crate::label::Delta;
    use crate::ot::{Bits, CorrelatedReceiver, CorrelatedSender};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;
    use std::sync::Arc;
    use veilpath_channel::{Channel, Counted, memory_pair};

    #[test]
    fn labels_differ_by_the_offset_where_the_bit_is_set() {
        for (seed, group_bits) in [
            GroupBits::ONE,
            GroupBits::TWO,
            GroupBits::FOUR,
            GroupBits::EIGHT,
        ]
        .into_iter()
        .enumerate()
        {
            let counts = [1, 128, 300, CHUNK + 77, 0, 5];
            let mut rng = ChaCha20Rng::seed_from_u64(seed as u64);
            let delta = Arc::new(Delta::random(&mut rng));
            let choices: Vec<Vec<bool>> = counts
                .iter()
                .map(|&count| (0..count).map(|_| rng.next_u32() & 1 == 1).collect())
                .collect();
            let (left, right) = memory_pair();
            let (mut left, mut right) = (left, Counted::new(right));
            std::thread::scope(|scope| {
                let offset = Arc::clone(&delta);
                let sent = scope.spawn(move || {
                    let mut rng = ChaCha20Rng::seed_from_u64(70);
                    let mut sender =
                        Sender::start(offset, group_bits, Kernel::best(), &mut rng, &mut left)
                            .unwrap();
                    counts.map(|count| sender.send(count, &mut left).unwrap())
                });
                let mut rng = ChaCha20Rng::seed_from_u64(71);
                let mut receiver =
                    Receiver::start(group_bits, Kernel::portable(), &mut rng, &mut right).unwrap();
                let received: Vec<_> = choices
                    .iter()
                    .map(|choices| {
                        let before = right.traffic().sent;
                        let bits: Bits = choices.iter().copied().collect();
                        let labels = receiver.receive(&bits, &mut right).unwrap();
                        let bytes = right.traffic().sent - before;
                        assert_eq!(
                            bytes,
                            messages::extension_bytes(choices.len(), group_bits) as u64
                        );
                        labels
                    })
                    .collect();
                let sent = sent.join().unwrap();
                for ((zeros, active), choices) in sent.iter().zip(&received).zip(&choices) {
                    assert_eq!(zeros.len(), choices.len());
                    assert_eq!(active.len(), choices.len());
                    for at in 0..choices.len() {
                        assert_eq!(active[at].0, zeros[at].of(choices[at], &delta).0);
                    }
                }
            });
        }
    }

    #[test]
    fn a_closed_receiver_is_an_error() {
        let (mut left, mut right) = memory_pair();
        right.send(&[9; 8]).unwrap();
        right.flush().unwrap();
        drop(right);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let delta = Arc::new(Delta::random(&mut rng));
        let refused = Sender::start(delta, GroupBits::FOUR, Kernel::best(), &mut rng, &mut left);
        assert!(matches!(refused, Err(MpcError::Channel(_))));
    }
}
