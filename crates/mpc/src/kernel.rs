//! AES-128 at hardware speed: VAES-512, AES-NI, or the portable `aes` crate, chosen at run time.
//!
//! A [`Kernel`] computes plain AES (many blocks under one key, or one block under each of many keys), whole half gates,
//! sums over the streams of seed trees, pad hashes, sums of products in GF(2¹²⁸), and transposed bits. [`crate::hash`]
//! and [`crate::half_gates`] define what it computes; kernels differ only in speed.

#[cfg(target_arch = "x86_64")]
use crate::aes_kernel::{AesNi, Vaes512};
use crate::aes_portable as portable;
use crate::block::Block;
use crate::chain_hash;
use crate::circuit::LANES;
use crate::field;
use crate::transpose::transpose_columns;
use aes::Aes128;
#[cfg(target_arch = "x86_64")]
use zeroize::{Zeroize, Zeroizing};

/// An implementation of AES that this processor supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Vaes512(Vaes512),
    #[cfg(target_arch = "x86_64")]
    AesNi(AesNi),
    Portable,
}

/// A label as a block. Only for this crate: elsewhere, a label is not a number.
pub(crate) trait AsBlock: Copy {
    fn block(self) -> Block;
}

impl AsBlock for Block {
    #[inline]
    fn block(self) -> Block {
        self
    }
}

/// One block per lane.
pub(crate) type Lanes = [Block; LANES];

/// An AND gate in all lanes: its labels (for 0, or active), and the key from which those of its half gates are derived.
pub(crate) struct Gate<'a, L> {
    pub(crate) key: Block,
    pub(crate) a: &'a [L; LANES],
    pub(crate) b: &'a [L; LANES],
}

/// The number added to a gate's key for the garbler's half in a lane. The evaluator's half adds one more, so a gate
/// uses the 2·[`LANES`] keys that differ in the lowest bits.
pub(crate) const fn lane_tweak(lane: usize) -> u64 {
    2 * lane as u64
}

/// The two ciphertexts of an AND gate in all lanes.
#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) garbler_half: Lanes,
    pub(crate) evaluator_half: Lanes,
}

/// The result of garbling a gate.
#[derive(Default)]
pub(crate) struct Garbled {
    pub(crate) zero: Lanes,
    pub(crate) tables: Tables,
}

/// The round keys of one AES key, in the format of the kernel that expanded them. Erased when dropped.
#[derive(Clone)]
pub(crate) struct Schedule(ScheduleKind);

#[derive(Clone)]
enum ScheduleKind {
    #[cfg(target_arch = "x86_64")]
    RoundKeys([Block; 11]),
    // Boxed, as bit-sliced round keys are much larger; `Aes128` erases itself.
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

/// The round keys of the leaves of a tree, with the kernel that expanded them. Erased when dropped.
pub(crate) struct LeafSchedules(LeafKind);

enum LeafKind {
    #[cfg(target_arch = "x86_64")]
    Vaes512(Vaes512, Zeroizing<Vec<[Block; 11]>>),
    #[cfg(target_arch = "x86_64")]
    AesNi(AesNi, Zeroizing<Vec<[Block; 11]>>),
    Portable(Vec<Aes128>),
}

/// The sums over the streams of a tree. Each leaf has a stream: AES of a counter.
pub(crate) struct StreamSums<'a> {
    /// The first counter block: the counter in the lower half, and in the higher half a number that all blocks share.
    pub(crate) first: Block,
    /// Blocks of each stream.
    pub(crate) width: usize,
    /// One row for each bit of a leaf's number: the sum of the streams of leaves whose number has the bit set.
    pub(crate) sums: &'a mut [Block],
    /// The sum of all streams. Without it, the first leaf is ignored.
    pub(crate) total: Option<&'a mut [Block]>,
}

impl StreamSums<'_> {
    /// The counter block of a block of the stream.
    pub(crate) fn counter(&self, at: usize) -> Block {
        let [counter, domain] = self.first.words();
        Block::from_words([counter.wrapping_add(at as u64), domain])
    }
}

/// Points to hash (see [`crate::hash`]): each multiple of an offset added to each combination of blocks. A combination
/// is Σ Xʲ·b_j in GF(2¹²⁸) over its blocks b, and has its own key.
pub(crate) struct HashedPoints<'a> {
    pub(crate) hash_key: Block,
    /// The tweak of the first combination. The others count from it.
    pub(crate) first: u64,
    pub(crate) blocks: &'a [Block],
    /// How many blocks are combined.
    pub(crate) blocks_each: usize,
    /// The multiples, already mapped by σ. Their number is a power of two.
    pub(crate) multiples: &'a [Block],
}

impl LeafSchedules {
    #[cfg(test)]
    pub(crate) fn replace(&mut self, leaf: usize, key: Block) {
        match &mut self.0 {
            #[cfg(target_arch = "x86_64")]
            LeafKind::Vaes512(token, keys) => keys[leaf] = token.round_keys(key),
            #[cfg(target_arch = "x86_64")]
            LeafKind::AesNi(token, keys) => keys[leaf] = token.round_keys(key),
            LeafKind::Portable(ciphers) => ciphers[leaf] = portable::cipher(key),
        }
    }

    /// Adds the streams of all leaves to sums.
    pub(crate) fn sum_streams(&self, mut out: StreamSums<'_>) {
        match &self.0 {
            #[cfg(target_arch = "x86_64")]
            LeafKind::Vaes512(token, keys) => token.sum_streams(keys, &mut out),
            #[cfg(target_arch = "x86_64")]
            LeafKind::AesNi(token, keys) => token.sum_streams(keys, &mut out),
            LeafKind::Portable(ciphers) => portable::sum_streams(ciphers, &mut out),
        }
    }
}

impl Kernel {
    /// The fastest kernel on this machine.
    pub fn best() -> Self {
        Self::available().pop().unwrap_or(Self::portable())
    }

    /// The portable kernel, which every machine has.
    pub fn portable() -> Self {
        Self(Kind::Portable)
    }

    /// All kernels that this machine supports, slowest first, for tests and benches.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "only x86-64 has more than one")]
        let mut kernels = vec![Self::portable()];
        #[cfg(target_arch = "x86_64")]
        {
            kernels.extend(AesNi::detect().map(|token| Self(Kind::AesNi(token))));
            kernels.extend(Vaes512::detect().map(|token| Self(Kind::Vaes512(token))));
        }
        kernels
    }

    /// Its name in benches and reports.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes512(_) => "vaes512",
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi(_) => "aesni",
            Kind::Portable => "portable",
        }
    }

    /// Compresses blocks of all chains (see [`crate::chain_hash`]).
    pub(crate) fn compress_chains(
        self,
        states: &mut [chain_hash::Words; 8],
        groups: &[[u8; chain_hash::GROUP_BYTES]],
    ) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes512(token) => token.compress_chains(states, groups),
            _ => chain_hash::compress_in_turns(states, groups),
        }
    }

    /// Garbles an AND gate in the first `lanes` lanes (the others are undefined).
    #[inline]
    pub(crate) fn garble<L: AsBlock>(
        self,
        gate: &Gate<'_, L>,
        delta: Block,
        lanes: usize,
    ) -> Garbled {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes512(token) => token.garble(gate, delta, lanes),
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi(token) => token.garble(gate, delta, lanes),
            Kind::Portable => portable::garble(gate, delta, lanes),
        }
    }

    /// Evaluates a garbled AND gate in the first `lanes` lanes (the others are undefined).
    #[inline]
    pub(crate) fn evaluate<L: AsBlock>(
        self,
        gate: &Gate<'_, L>,
        tables: &Tables,
        lanes: usize,
    ) -> Lanes {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes512(token) => token.evaluate(gate, tables, lanes),
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi(token) => token.evaluate(gate, tables, lanes),
            Kind::Portable => portable::evaluate(gate, tables, lanes),
        }
    }

    /// Encrypts block `i` under key `i`. Keys and blocks should have the same length; excess blocks are left
    /// unchanged.
    pub(crate) fn encrypt_rekeyed(self, keys: &[Block], blocks: &mut [Block]) {
        let count = keys.len().min(blocks.len());
        let (keys, blocks) = (&keys[..count], &mut blocks[..count]);
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes512(token) => token.encrypt_rekeyed(keys, blocks),
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi(token) => token.encrypt_rekeyed(keys, blocks),
            Kind::Portable => portable::encrypt_rekeyed(keys, blocks),
        }
    }

    /// Adds to each sum the products of its row with the coefficients, in GF(2¹²⁸). Rows have as many blocks as there
    /// are coefficients, which are public.
    pub(crate) fn add_products(self, coefficients: &[Block], rows: &[Block], sums: &mut [Block]) {
        if coefficients.is_empty() {
            return;
        }
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes512(token) => token.add_products(coefficients, rows, sums),
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi(token) => token.add_products(coefficients, rows, sums),
            Kind::Portable => field::add_products(coefficients, rows, sums),
        }
    }

    /// Expands the keys of the leaves of a tree.
    pub(crate) fn leaf_schedules(self, leaves: &[Block]) -> LeafSchedules {
        LeafSchedules(match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes512(token) => {
                let keys = leaves.iter().map(|leaf| token.round_keys(*leaf));
                LeafKind::Vaes512(token, Zeroizing::new(keys.collect()))
            }
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi(token) => {
                let keys = leaves.iter().map(|leaf| token.round_keys(*leaf));
                LeafKind::AesNi(token, Zeroizing::new(keys.collect()))
            }
            Kind::Portable => {
                LeafKind::Portable(leaves.iter().map(|leaf| portable::cipher(*leaf)).collect())
            }
        })
    }

    /// The lower halves of the hashes of all points. Those with the same key are adjacent.
    pub(crate) fn hash_low_words(self, points: &HashedPoints<'_>, words: &mut [u64]) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes512(token) => token.hash_low_words(points, words),
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi(token) => token.hash_low_words(points, words),
            Kind::Portable => portable::hash_low_words(points, words),
        }
    }

    /// The columns of 128 rows of `width` blocks, as many as fit into `columns`: bit j of row r becomes bit r of column
    /// j.
    pub(crate) fn transpose_columns(self, rows: &[Block], width: usize, columns: &mut [Block]) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes512(token) => token.transpose_columns(rows, width, columns),
            _ => transpose_columns(rows, width, columns),
        }
    }

    /// Expands a key that is used for many blocks.
    pub(crate) fn schedule(self, key: Block) -> Schedule {
        Schedule(match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes512(token) => ScheduleKind::RoundKeys(token.round_keys(key)),
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi(token) => ScheduleKind::RoundKeys(token.round_keys(key)),
            Kind::Portable => ScheduleKind::Portable(Box::new(portable::cipher(key))),
        })
    }

    /// Encrypts all blocks in place under one key. The schedule must come from the same kernel.
    pub(crate) fn encrypt(self, schedule: &Schedule, blocks: &mut [Block]) {
        match (&schedule.0, self.0) {
            #[cfg(target_arch = "x86_64")]
            (ScheduleKind::RoundKeys(keys), Kind::Vaes512(token)) => token.encrypt(keys, blocks),
            #[cfg(target_arch = "x86_64")]
            (ScheduleKind::RoundKeys(keys), Kind::AesNi(token)) => token.encrypt(keys, blocks),
            #[cfg(target_arch = "x86_64")]
            (ScheduleKind::RoundKeys(keys), Kind::Portable) => {
                // The first round key is the key.
                portable::encrypt(&portable::cipher(keys[0]), blocks);
            }
            (ScheduleKind::Portable(cipher), _) => portable::encrypt(cipher, blocks),
        }
    }
}

#[cfg(test)]
#[path = "kernel_tests.rs"]
mod tests;
