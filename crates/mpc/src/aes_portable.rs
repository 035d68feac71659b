//! The portable implementation of the AES kernel: the `aes` crate, which is constant-time with and without AES
//! instructions.

use crate::block::Block;
use crate::circuit::LANES;
use crate::field::times_x;
use crate::kernel::{AsBlock, Garbled, Gate, HashedPoints, Lanes, StreamSums, Tables, lane_tweak};
use aes::Aes128;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use zeroize::Zeroizing;

pub(crate) fn cipher(key: Block) -> Aes128 {
    Aes128::new(&Array::from(key.to_bytes()))
}

pub(crate) fn encrypt(cipher: &Aes128, blocks: &mut [Block]) {
    const AT_ONCE: usize = 16;
    for chunk in blocks.chunks_mut(AT_ONCE) {
        let mut bytes = [Array::from([0; 16]); AT_ONCE];
        for (bytes, block) in bytes.iter_mut().zip(chunk.iter()) {
            *bytes = Array::from(block.to_bytes());
        }
        cipher.encrypt_blocks(&mut bytes[..chunk.len()]);
        for (bytes, block) in bytes.iter().zip(chunk) {
            *block = Block::from_bytes(bytes.0);
        }
    }
}

pub(crate) fn encrypt_rekeyed(keys: &[Block], blocks: &mut [Block]) {
    for (key, block) in keys.iter().zip(blocks) {
        encrypt(&cipher(*key), std::slice::from_mut(block));
    }
}

pub(crate) fn garble<L: AsBlock>(gate: &Gate<'_, L>, delta: Block, lanes: usize) -> Garbled {
    let mut garbled = Garbled::default();
    for lane in 0..lanes.min(LANES) {
        let (a, b) = (gate.a[lane].block(), gate.b[lane].block());
        let (key_a, key_b) = keys(gate, lane);
        let [a0, a1] = hashes(key_a, [a, a ^ delta]);
        let [b0, b1] = hashes(key_b, [b, b ^ delta]);
        let garbler_half = a0 ^ a1 ^ (b.low_bit_mask() & delta);
        let evaluator_half = b0 ^ b1 ^ a;
        garbled.zero[lane] =
            a0 ^ (a.low_bit_mask() & garbler_half) ^ b0 ^ (b.low_bit_mask() & (evaluator_half ^ a));
        garbled.tables.garbler_half[lane] = garbler_half;
        garbled.tables.evaluator_half[lane] = evaluator_half;
    }
    garbled
}

pub(crate) fn evaluate<L: AsBlock>(gate: &Gate<'_, L>, tables: &Tables, lanes: usize) -> Lanes {
    let mut out = [Block::ZERO; LANES];
    for (lane, out) in out.iter_mut().enumerate().take(lanes) {
        let (a, b) = (gate.a[lane].block(), gate.b[lane].block());
        let (key_a, key_b) = keys(gate, lane);
        let ([hash_a], [hash_b]) = (hashes(key_a, [a]), hashes(key_b, [b]));
        *out = hash_a
            ^ (a.low_bit_mask() & tables.garbler_half[lane])
            ^ hash_b
            ^ (b.low_bit_mask() & (tables.evaluator_half[lane] ^ a));
    }
    out
}

pub(crate) fn sum_streams(leaves: &[Aes128], out: &mut StreamSums<'_>) {
    let mut stream = Zeroizing::new(vec![Block::ZERO; out.width]);
    let add = |sum: &mut [Block], stream: &[Block]| {
        for (sum, block) in sum.iter_mut().zip(stream) {
            *sum ^= *block;
        }
    };
    for (number, leaf) in leaves.iter().enumerate() {
        for (at, block) in stream.iter_mut().enumerate() {
            *block = out.counter(at);
        }
        encrypt(leaf, &mut stream);
        for (bit, sum) in out.sums.chunks_exact_mut(out.width).enumerate() {
            if number >> bit & 1 == 1 {
                add(sum, &stream);
            }
        }
        if let Some(total) = &mut out.total {
            add(total, &stream);
        }
    }
}

pub(crate) fn hash_low_words(points: &HashedPoints<'_>, words: &mut [u64]) {
    let lists = points.blocks.chunks_exact(points.blocks_each);
    let words = words.chunks_exact_mut(points.multiples.len());
    for (at, (blocks, words)) in lists.zip(words).enumerate() {
        let tweak = points.first.wrapping_add(at as u64);
        let cipher = cipher(points.hash_key ^ Block::new(u128::from(tweak)));
        let blocks = blocks.iter().rev();
        let combined = blocks.fold(Block::ZERO, |sum, block| times_x(sum) ^ *block);
        for (word, multiple) in words.iter_mut().zip(points.multiples) {
            let point = combined.orthomorphism() ^ *multiple;
            let mut image = [point];
            encrypt(&cipher, &mut image);
            *word = (image[0] ^ point).words()[0];
        }
    }
}

fn keys<L>(gate: &Gate<'_, L>, lane: usize) -> (Block, Block) {
    let tweak = u128::from(lane_tweak(lane));
    (
        gate.key ^ Block::new(tweak),
        gate.key ^ Block::new(tweak + 1),
    )
}

/// E(k, σ(x)) ⊕ σ(x) of labels that share a key.
fn hashes<const N: usize>(key: Block, labels: [Block; N]) -> [Block; N] {
    let mapped = labels.map(Block::orthomorphism);
    let mut hashes = mapped;
    encrypt(&cipher(key), &mut hashes);
    std::array::from_fn(|i| hashes[i] ^ mapped[i])
}
