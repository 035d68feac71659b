//! SHA-256's compression function on sixteen chains at once, for long public messages.
//!
//! A single SHA-256 is limited by the latency of its rounds. Here a message is divided among sixteen independent chains
//! of the compression function, which start from SHA-256's initial state. The caller hashes the chains' final states
//! together with the length of the message and the bytes that are left over (fewer than [`GROUP_BYTES`]). Two different
//! messages with equal results would be a collision of the compression function: their lengths are equal, so some chain
//! has different blocks and the same final state.
//!
//! A group of the message is 256 little-endian words, and word 16·t + i is word t of the block of chain i. So the same
//! words of all blocks are contiguous, and AVX-512 needs no transposition. Other kernels compute one chain after the
//! other, with the processor's SHA instructions if it has them.

use crate::kernel::Kernel;
use sha2::block_api::compress256;

pub(crate) const CHAINS: usize = 16;

/// Bytes that all chains take together.
pub(crate) const GROUP_BYTES: usize = 64 * CHAINS;

/// One word of every chain.
pub(crate) type Words = [u32; CHAINS];

/// Compresses a message as far as it fills all chains. Returns the chains' final states, and the bytes that are left
/// over.
pub(crate) fn compress_chains(kernel: Kernel, message: &[u8]) -> ([u8; 32 * CHAINS], &[u8]) {
    let mut states = INITIAL.map(|word| [word; CHAINS]);
    let (groups, rest) = message.as_chunks::<GROUP_BYTES>();
    kernel.compress_chains(&mut states, groups);
    let mut bytes = [0; 32 * CHAINS];
    for (bytes, word) in bytes
        .as_chunks_mut()
        .0
        .iter_mut()
        .zip(states.as_flattened())
    {
        *bytes = word.to_be_bytes();
    }
    (bytes, rest)
}

/// One chain after the other.
pub(crate) fn compress_in_turns(states: &mut [Words; 8], groups: &[[u8; GROUP_BYTES]]) {
    for group in groups {
        let words = words_of(group);
        for chain in 0..CHAINS {
            let mut state = states.map(|words| words[chain]);
            let mut block = [0; 64];
            for (bytes, words) in block.as_chunks_mut().0.iter_mut().zip(&words) {
                *bytes = words[chain].to_be_bytes();
            }
            compress256(&mut state, &[block]);
            for (words, word) in states.iter_mut().zip(state) {
                words[chain] = word;
            }
        }
    }
}

/// The words of a group: word t of all chains, for each t.
fn words_of(group: &[u8; GROUP_BYTES]) -> [Words; 16] {
    let bytes = group.as_chunks::<4>().0;
    let (rows, _) = bytes.as_chunks::<CHAINS>();
    let mut words = [[0; CHAINS]; 16];
    for (words, row) in words.iter_mut().zip(rows) {
        *words = row.map(u32::from_le_bytes);
    }
    words
}

/// SHA-256's initial state.
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// SHA-256's round constants.
pub(crate) const CONSTANTS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    fn message(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
    }

    /// The words of one chain of a message, as SHA-256 reads them.
    fn chain(message: &[u8], chain: usize) -> Vec<u8> {
        let words = message.as_chunks::<4>().0;
        let words = words.iter().skip(chain).step_by(CHAINS);
        words.flat_map(|word| word.iter().rev().copied()).collect()
    }

    #[test]
    fn kernels_agree() {
        for length in [0, 1, 1023, 1024, 1025, 4 * GROUP_BYTES + 100, 32 * 1024] {
            let message = message(length);
            let expected = compress_chains(Kernel::portable(), &message);
            assert_eq!(expected.1.len(), length % GROUP_BYTES);
            for kernel in Kernel::available() {
                assert_eq!(compress_chains(kernel, &message), expected, "{kernel:?}");
            }
        }
    }

    /// With SHA-256's padding as its last block, every chain computes SHA-256.
    #[test]
    fn a_chain_is_sha_256() {
        let mut message = message(2 * GROUP_BYTES);
        for chain in 0..CHAINS {
            // The padding of 64 bytes: a one, zeros, and the length in bits.
            for (word, value) in [(0, 0x8000_0000_u32), (15, 512)] {
                let at = GROUP_BYTES + 4 * (CHAINS * word + chain);
                message[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
            for word in 1..15 {
                let at = GROUP_BYTES + 4 * (CHAINS * word + chain);
                message[at..at + 4].fill(0);
            }
        }
        for kernel in Kernel::available() {
            let (states, _) = compress_chains(kernel, &message);
            for index in 0..CHAINS {
                let words = states.as_chunks::<4>().0.iter();
                let state: Vec<u8> = words
                    .skip(index)
                    .step_by(CHAINS)
                    .flatten()
                    .copied()
                    .collect();
                let block = chain(&message[..GROUP_BYTES], index);
                assert_eq!(state, Sha256::digest(block)[..], "{kernel:?}, {index}");
            }
        }
    }

    /// Every byte counts.
    #[test]
    fn another_message_has_another_result() {
        let message = message(2 * GROUP_BYTES + 5);
        let expected = compress_chains(Kernel::best(), &message);
        for at in (0..message.len()).step_by(13).chain([message.len() - 1]) {
            let mut changed = message.clone();
            changed[at] ^= 1;
            assert_ne!(compress_chains(Kernel::best(), &changed), expected, "{at}");
        }
    }
}
