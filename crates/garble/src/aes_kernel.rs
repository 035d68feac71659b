//! AES-128 at the speed of the processor: VAES-512, AES-NI, or the portable `aes` crate, chosen at run time.
//!
//! This is the one file of the crate with unsafe code. What it offers is plain AES: many blocks under one key, or
//! many keys with few blocks each. The second is what hashing with a fresh key per gate needs; there the round keys
//! are made on the way and never reach memory. Which path runs changes speed and nothing else: tests compare every
//! path with the portable one.
//!
//! None of the paths has branches or addresses that depend on keys or blocks (the portable one is constant-time by
//! its own promise).
#![allow(unsafe_code)]

use crate::block::Block;
use aes::Aes128;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use zeroize::Zeroize;

/// A way to compute AES that this processor has. There is no other way to get one than from the functions here, so
/// holding one proves that its instructions exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Vaes512,
    #[cfg(target_arch = "x86_64")]
    AesNi,
    Portable,
}

/// The round keys of one AES key, in the form that the kernel which made them wants. Erased when dropped.
pub(crate) struct Schedule(ScheduleKind);

enum ScheduleKind {
    #[cfg(target_arch = "x86_64")]
    RoundKeys([Block; 11]),
    // Boxed, as the bit-sliced round keys are much larger; `Aes128` erases itself.
    Portable(Box<Aes128>),
}

impl Drop for Schedule {
    fn drop(&mut self) {
        match &mut self.0 {
            #[cfg(target_arch = "x86_64")]
            ScheduleKind::RoundKeys(keys) => keys.zeroize(),
            ScheduleKind::Portable(_) => {}
        }
    }
}

impl Kernel {
    /// The fastest one here.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if has_vaes512() {
                return Self(Kind::Vaes512);
            }
            if has_aes_ni() {
                return Self(Kind::AesNi);
            }
        }
        Self::portable()
    }

    /// The one that is everywhere.
    pub fn portable() -> Self {
        Self(Kind::Portable)
    }

    /// All that work here, slowest first, for tests and benches.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "only x86-64 has more than one")]
        let mut kernels = vec![Self::portable()];
        #[cfg(target_arch = "x86_64")]
        {
            if has_aes_ni() {
                kernels.push(Self(Kind::AesNi));
            }
            if has_vaes512() {
                kernels.push(Self(Kind::Vaes512));
            }
        }
        kernels
    }

    /// Its name in benches and reports.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes512 => "vaes512",
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi => "aesni",
            Kind::Portable => "portable",
        }
    }

    /// Encrypts block `i` of every plane under key `i`. Keys and planes are meant to be of one length; what is longer
    /// stays as it is.
    pub(crate) fn encrypt_rekeyed<const PLANES: usize>(
        self,
        keys: &[Block],
        mut planes: [&mut [Block]; PLANES],
    ) {
        let count = planes
            .iter()
            .map(|plane| plane.len())
            .fold(keys.len(), usize::min);
        let keys = &keys[..count];
        let planes = planes.each_mut().map(|plane| &mut plane[..count]);
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a kernel of this kind is only made after its instructions were detected.
            Kind::Vaes512 => unsafe { x86::vaes512_rekeyed(keys, planes) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kind::AesNi => unsafe { x86::aes_ni_rekeyed(keys, planes) },
            Kind::Portable => {
                for plane in planes {
                    for (key, block) in keys.iter().zip(plane) {
                        let cipher = Aes128::new(&Array::from(key.to_bytes()));
                        let mut bytes = Array::from(block.to_bytes());
                        cipher.encrypt_block(&mut bytes);
                        *block = Block::from_bytes(bytes.0);
                    }
                }
            }
        }
    }

    /// Expands a key that is used for many blocks.
    pub(crate) fn schedule(self, key: Block) -> Schedule {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: kernels of these kinds are only made after AES-NI was detected.
            Kind::Vaes512 | Kind::AesNi => {
                Schedule(ScheduleKind::RoundKeys(unsafe { x86::round_keys(key) }))
            }
            Kind::Portable => Schedule(ScheduleKind::Portable(Box::new(Aes128::new(
                &Array::from(key.to_bytes()),
            )))),
        }
    }

    /// Encrypts all blocks in place under one key.
    pub(crate) fn encrypt(self, schedule: &Schedule, blocks: &mut [Block]) {
        match (&schedule.0, self.0) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a kernel of this kind is only made after its instructions were detected.
            (ScheduleKind::RoundKeys(keys), Kind::Vaes512) => unsafe {
                x86::vaes512_encrypt(keys, blocks);
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: round keys in this form only come from a kernel that has AES-NI.
            (ScheduleKind::RoundKeys(keys), _) => unsafe { x86::aes_ni_encrypt(keys, blocks) },
            (ScheduleKind::Portable(cipher), _) => portable_encrypt(cipher, blocks),
        }
    }
}

fn portable_encrypt(cipher: &Aes128, blocks: &mut [Block]) {
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

#[cfg(target_arch = "x86_64")]
fn has_aes_ni() -> bool {
    std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("ssse3")
}

#[cfg(target_arch = "x86_64")]
fn has_vaes512() -> bool {
    has_aes_ni()
        && std::arch::is_x86_feature_detected!("vaes")
        && std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Block;
    use core::arch::x86_64::*;
    use zeroize::Zeroize;

    /// What round `i + 1` adds to the first byte of each column of the key.
    const ROUND_CONSTANTS: [i32; 10] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

    /// Brings the last column, rotated by one byte, into all four columns.
    const LAST_COLUMN_ROTATED: i32 = 0x0c0f_0e0d;

    /// The next round key. `aesenclast` applies the S-box; its row shift does nothing, as all columns are the same.
    #[inline]
    #[target_feature(enable = "aes,ssse3")]
    fn next_key(key: __m128i, round_constant: i32) -> __m128i {
        let rotated = _mm_shuffle_epi8(key, _mm_set1_epi32(LAST_COLUMN_ROTATED));
        let mixed = _mm_aesenclast_si128(rotated, _mm_set1_epi32(round_constant));
        let sums = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
        let sums = _mm_xor_si128(sums, _mm_slli_si128::<8>(sums));
        _mm_xor_si128(sums, mixed)
    }

    /// [`next_key`] for four keys at a time.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,vaes")]
    fn next_keys(keys: __m512i, round_constant: i32) -> __m512i {
        let rotated = _mm512_shuffle_epi8(keys, _mm512_set1_epi32(LAST_COLUMN_ROTATED));
        let mixed = _mm512_aesenclast_epi128(rotated, _mm512_set1_epi32(round_constant));
        let sums = _mm512_xor_si512(keys, _mm512_bslli_epi128::<4>(keys));
        // One instruction for three terms: 0x96 is the truth table of a ⊕ b ⊕ c.
        _mm512_ternarylogic_epi64::<0x96>(sums, _mm512_bslli_epi128::<8>(sums), mixed)
    }

    #[target_feature(enable = "aes,ssse3")]
    pub(super) fn round_keys(key: Block) -> [Block; 11] {
        let mut keys = [key; 11];
        let mut current = load(&key);
        for round in 0..10 {
            current = next_key(current, ROUND_CONSTANTS[round]);
            store(&mut keys[round + 1], current);
        }
        keys
    }

    #[target_feature(enable = "aes,ssse3")]
    pub(super) fn aes_ni_rekeyed<const PLANES: usize>(
        keys: &[Block],
        mut planes: [&mut [Block]; PLANES],
    ) {
        let whole = keys.len() / 4 * 4;
        for at in (0..whole).step_by(4) {
            aes_ni_group::<PLANES, 4>(keys, &mut planes, at);
        }
        for at in whole..keys.len() {
            aes_ni_group::<PLANES, 1>(keys, &mut planes, at);
        }
    }

    /// `KEYS` keys and their blocks in flight, from index `at` on.
    #[inline]
    #[target_feature(enable = "aes,ssse3")]
    fn aes_ni_group<const PLANES: usize, const KEYS: usize>(
        keys: &[Block],
        planes: &mut [&mut [Block]; PLANES],
        at: usize,
    ) {
        let mut key = [_mm_setzero_si128(); KEYS];
        let mut state = [[_mm_setzero_si128(); KEYS]; PLANES];
        for i in 0..KEYS {
            key[i] = load(&keys[at + i]);
            for plane in 0..PLANES {
                state[plane][i] = _mm_xor_si128(load(&planes[plane][at + i]), key[i]);
            }
        }
        for round_constant in ROUND_CONSTANTS[..9].iter() {
            for i in 0..KEYS {
                key[i] = next_key(key[i], *round_constant);
                for state in &mut state {
                    state[i] = _mm_aesenc_si128(state[i], key[i]);
                }
            }
        }
        for i in 0..KEYS {
            key[i] = next_key(key[i], ROUND_CONSTANTS[9]);
            for plane in 0..PLANES {
                let last = _mm_aesenclast_si128(state[plane][i], key[i]);
                store(&mut planes[plane][at + i], last);
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,vaes")]
    pub(super) fn vaes512_rekeyed<const PLANES: usize>(
        keys: &[Block],
        mut planes: [&mut [Block]; PLANES],
    ) {
        let mut at = 0;
        while at + 16 <= keys.len() {
            vaes512_group::<PLANES, 4>(keys, &mut planes, at);
            at += 16;
        }
        while at + 4 <= keys.len() {
            vaes512_group::<PLANES, 1>(keys, &mut planes, at);
            at += 4;
        }
        if at < keys.len() {
            // Fewer than four are left: they travel through a full vector.
            let rest = keys.len() - at;
            let mut few_keys = [Block::ZERO; 4];
            let mut few = [[Block::ZERO; 4]; PLANES];
            few_keys[..rest].copy_from_slice(&keys[at..]);
            for (few, plane) in few.iter_mut().zip(&planes) {
                few[..rest].copy_from_slice(&plane[at..]);
            }
            vaes512_group::<PLANES, 1>(&few_keys, &mut few.each_mut().map(|f| &mut f[..]), 0);
            for (few, plane) in few.iter().zip(&mut planes) {
                plane[at..].copy_from_slice(&few[..rest]);
            }
            few_keys.zeroize();
        }
    }

    /// `VECTORS` times four keys and their blocks in flight, from index `at` on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,vaes")]
    fn vaes512_group<const PLANES: usize, const VECTORS: usize>(
        keys: &[Block],
        planes: &mut [&mut [Block]; PLANES],
        at: usize,
    ) {
        let mut key = [_mm512_setzero_si512(); VECTORS];
        let mut state = [[_mm512_setzero_si512(); VECTORS]; PLANES];
        for i in 0..VECTORS {
            key[i] = load4(&keys[at + 4 * i..]);
            for plane in 0..PLANES {
                state[plane][i] = _mm512_xor_si512(load4(&planes[plane][at + 4 * i..]), key[i]);
            }
        }
        for round_constant in ROUND_CONSTANTS[..9].iter() {
            for i in 0..VECTORS {
                key[i] = next_keys(key[i], *round_constant);
                for state in &mut state {
                    state[i] = _mm512_aesenc_epi128(state[i], key[i]);
                }
            }
        }
        for i in 0..VECTORS {
            key[i] = next_keys(key[i], ROUND_CONSTANTS[9]);
            for plane in 0..PLANES {
                let last = _mm512_aesenclast_epi128(state[plane][i], key[i]);
                store4(&mut planes[plane][at + 4 * i..], last);
            }
        }
    }

    #[target_feature(enable = "aes,ssse3")]
    pub(super) fn aes_ni_encrypt(keys: &[Block; 11], blocks: &mut [Block]) {
        let mut loaded = [_mm_setzero_si128(); 11];
        for (loaded, key) in loaded.iter_mut().zip(keys) {
            *loaded = load(key);
        }
        let (wholes, rest) = blocks.as_chunks_mut::<8>();
        for chunk in wholes {
            aes_ni_encrypt_some(&loaded, chunk);
        }
        for block in rest {
            aes_ni_encrypt_some(&loaded, std::array::from_mut(block));
        }
    }

    #[inline]
    #[target_feature(enable = "aes,ssse3")]
    fn aes_ni_encrypt_some<const N: usize>(keys: &[__m128i; 11], blocks: &mut [Block; N]) {
        let mut state = [_mm_setzero_si128(); N];
        for (state, block) in state.iter_mut().zip(blocks.iter()) {
            *state = _mm_xor_si128(load(block), keys[0]);
        }
        for key in &keys[1..10] {
            for state in &mut state {
                *state = _mm_aesenc_si128(*state, *key);
            }
        }
        for (block, state) in blocks.iter_mut().zip(state) {
            store(block, _mm_aesenclast_si128(state, keys[10]));
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,vaes,aes,ssse3")]
    pub(super) fn vaes512_encrypt(round_keys: &[Block; 11], blocks: &mut [Block]) {
        let mut keys = [_mm512_setzero_si512(); 11];
        for (key, round_key) in keys.iter_mut().zip(round_keys) {
            *key = _mm512_broadcast_i32x4(load(round_key));
        }
        let (wholes, rest) = blocks.as_chunks_mut::<32>();
        for chunk in wholes {
            let mut state = [_mm512_setzero_si512(); 8];
            for (i, state) in state.iter_mut().enumerate() {
                *state = _mm512_xor_si512(load4(&chunk[4 * i..]), keys[0]);
            }
            for key in &keys[1..10] {
                for state in &mut state {
                    *state = _mm512_aesenc_epi128(*state, *key);
                }
            }
            for (i, state) in state.into_iter().enumerate() {
                store4(
                    &mut chunk[4 * i..],
                    _mm512_aesenclast_epi128(state, keys[10]),
                );
            }
        }
        aes_ni_encrypt(round_keys, rest);
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn load(block: &Block) -> __m128i {
        // SAFETY: a block is 16 readable bytes, and the unaligned form asks for no more.
        unsafe { _mm_loadu_si128(std::ptr::from_ref(block).cast()) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn store(block: &mut Block, value: __m128i) {
        // SAFETY: a block is 16 writable bytes for which every pattern is valid, and the unaligned form asks for no more.
        unsafe { _mm_storeu_si128(std::ptr::from_mut(block).cast(), value) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load4(blocks: &[Block]) -> __m512i {
        let four = &blocks[..4];
        // SAFETY: `four` is 64 readable bytes, and the unaligned form asks for no more.
        unsafe { _mm512_loadu_si512(four.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store4(blocks: &mut [Block], value: __m512i) {
        let four = &mut blocks[..4];
        // SAFETY: `four` is 64 writable bytes for which every pattern is valid, and the unaligned form asks for no more.
        unsafe { _mm512_storeu_si512(four.as_mut_ptr().cast(), value) }
    }
}

#[cfg(test)]
#[path = "aes_kernel_tests.rs"]
mod tests;
