//! The factors `rⁿ mod n²` that make ciphertexts unlinkable.

use std::sync::Arc;

use crypto_bigint::{BoxedUint, NonZero, RandomMod};
use rand::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::arith::{Exponent, Kernel, Residue, Ring, SubsetProducts, Words, limbs};
use crate::public_key::{KeyId, PublicKey};
use crate::secret_key::{PrimeHalf, SecretKey};

/// Bits by which an exponent exceeds the order of its group, so that its remainder is nearly uniform.
const EXCESS_BITS: u32 = 102;
/// Words by which a number exceeds a secret prime, so that its remainder is nearly uniform.
const EXCESS_WORDS: usize = 2;
/// The number of independent random powers from which a subset is taken.
const SUBSET_SIZE: u32 = 312;
/// The logarithm of the most ciphertexts of a session, and of the most cosets of `⟨h⟩` that the bound allows for.
const LOG_CIPHERTEXTS: u32 = 60;
const LOG_COSETS: u32 = 108;
/// The two distances of [`RandomizerTable`], as negative logarithms. Over the largest session each adds up to at most
/// 2⁻⁴², so both to at most 2⁻⁴¹ (more precisely, 3·2⁻⁴³); with the masks of the protocol (1.125·2⁻⁴¹) everything stays
/// within 2⁻⁴⁰.
const _: () = {
    let subset_distance = (SUBSET_SIZE - LOG_COSETS) / 2 + 1;
    assert!(EXCESS_BITS >= LOG_CIPHERTEXTS + 42 && subset_distance >= LOG_CIPHERTEXTS + 42);
};
/// Bases per table look-up: 64 entries each.
const WINDOW_WIDTH: u32 = 6;

/// One factor `rⁿ`, for one ciphertext. It is consumed by its use, cannot be copied or printed, and is erased.
#[derive(ZeroizeOnDrop)]
pub struct Randomizer {
    residue: Residue,
    #[zeroize(skip)]
    key: KeyId,
}

impl Randomizer {
    pub(crate) fn residue(&self) -> &Residue {
        &self.residue
    }

    pub(crate) fn key(&self) -> KeyId {
        self.key
    }
}

/// A source of randomisers, for a [`RandomizerPool`](crate::RandomizerPool).
pub trait RandomizerSource: Send + Sync {
    /// `count` fresh randomisers.
    fn draw(&self, count: usize, rng: &mut dyn CryptoRng) -> Vec<Randomizer>;
}

impl PublicKey {
    /// Randomisers `rⁿ`, each from a uniform `r`: one full exponentiation per factor, and no precomputation.
    pub fn fresh_randomizers<R: CryptoRng + ?Sized>(
        &self,
        count: usize,
        rng: &mut R,
    ) -> Vec<Randomizer> {
        let bases = random_bases(self.ring(), self.nonzero_modulus(), count, rng);
        let powers = self
            .ring()
            .pow_public_vartime(&bases.iter().collect::<Vec<_>>(), self.modulus_exponent());
        powers
            .into_iter()
            .map(|residue| self.randomizer(residue))
            .collect()
    }

    fn randomizer(&self, residue: Residue) -> Randomizer {
        Randomizer {
            residue,
            key: self.id(),
        }
    }
}

impl SecretKey {
    /// Randomisers from a uniform element modulo each prime: two half-length exponentiations per factor.
    ///
    /// Modulo `p²`, the `n`-th powers are the `p`-th powers, and the `p`-th power of a uniform element is uniform among
    /// them.
    pub fn fresh_randomizers<R: CryptoRng + ?Sized>(
        &self,
        count: usize,
        rng: &mut R,
    ) -> Vec<Randomizer> {
        let [by_p, by_q] = self.halves().map(|half| half.fresh_powers(count, rng));
        self.join_randomizers(&by_p, &by_q)
    }

    fn join_randomizers(&self, by_p: &[Residue], by_q: &[Residue]) -> Vec<Randomizer> {
        self.join_residues(by_p, by_q)
            .into_iter()
            .map(|residue| self.public_key().randomizer(residue))
            .collect()
    }
}

impl PrimeHalf {
    /// Uniform `p`-th powers modulo `p²`. Here the exponent is secret.
    fn fresh_powers<R: CryptoRng + ?Sized>(&self, count: usize, rng: &mut R) -> Vec<Residue> {
        let bases = random_bases_of_secret(self.ring(), self.nonzero_prime(), count, rng);
        let pairs: Vec<_> = bases
            .iter()
            .map(|base| (base, self.prime_exponent()))
            .collect();
        self.ring().pow(&pairs)
    }
}

/// Tables from which either side draws nearly uniform randomisers.
///
/// # Two sides, two requirements
///
/// The *other side* has only the public key and hides from the key holder. The key holder knows the factors of `n`, so
/// it can read the randomness of each ciphertext: the whole factor `rⁿ`, and with it every character of `r` modulo `p`
/// and `q`. Powers of one base would all lie in one subgroup and identify that base. Only a nearly uniform `n`-th power
/// is safe. The *key holder* hides from everyone else. It gets uniform factors as well: modulo `p²` and `q²` they are
/// so cheap that a shortcut with an assumption of its own (short exponents) is not worthwhile.
///
/// # Uniform, although precomputed
///
/// A randomiser is the product of
///
/// 1. `h^s`, where `h` is a random `n`-th power and `s` a random number 102 bits longer than the group's order: within
///    2⁻¹⁰² of uniform in the subgroup `⟨h⟩`;
/// 2. a random subset of 312 independent random `n`-th powers: by the leftover hash lemma its coset of `⟨h⟩` is within
///    `½·√(Q/2³¹²)` of uniform, where `Q` is the number of cosets.
///
/// A random `h` has a small `Q`: for each prime `ℓ` that divides the order of a cyclic part, it lies among the `ℓ`-th
/// powers with probability only `1/ℓ`, and if `p − 1` and `q − 1` share a factor, that factor counts once more. For `Q`
/// up to 2¹⁰⁸, far more than a key of random primes has, the second distance is at most 2⁻¹⁰³. The product is then
/// within 3·2⁻¹⁰³ of a uniform `n`-th power, even to a party that knows the bases. All of the at most 2⁶⁰ ciphertexts
/// of the largest session together are within 3·2⁻⁴³. With the masks of the protocol, which are within 1.125·2⁻⁴¹, this
/// stays below 2⁻⁴⁰. A key made on purpose with an enormous common factor of `p − 1` and `q − 1` would defeat the
/// bound. [`PublicKey::fresh_randomizers`] are uniform `n`-th powers for every key, but if `n` has a prime factor that
/// divides another one minus 1, even these leave a part of the plaintext visible that no mask hides.
///
/// # Cost
///
/// One product modulo `n²` for every six of the `κ + 414` random bits (for the key holder: modulo `p²` and `q²`, for
/// every six of `κ/2 + 414`), instead of about 1.2 for each bit of an exponentiation. The tables of the other side take
/// about 17 MB for κ = 2048 and grow with its square; those of the key holder take a quarter of that for each prime.
/// Draw a few dozen at a time, so that they share each table while it is in the cache.
pub struct RandomizerTable {
    side: Side,
}

enum Side {
    KeyHolder {
        key: Arc<SecretKey>,
        by_p: BaseTable,
        by_q: BaseTable,
    },
    Other {
        key: PublicKey,
        table: BaseTable,
    },
}

impl RandomizerTable {
    /// Tables modulo `p²` and `q²` for the key holder.
    pub fn for_key_holder<R: CryptoRng + ?Sized>(key: &Arc<SecretKey>, rng: &mut R) -> Self {
        // The fastest kernel computes the powers for tables of any kernel, because they are most of the work.
        let fastest = if_different(Kernel::detect(), key.public_key())
            .and_then(|kernel| key.with_kernel(kernel).ok());
        let makers = fastest.as_ref().unwrap_or(key).halves();
        // The length of the primes is public. If it were read from them, it would have to be treated as secret.
        let prime_bits = key.public_key().size().bits() / 2;
        let tables = |half: &PrimeHalf, maker: &PrimeHalf, rng: &mut R| {
            BaseTable::new(
                half.ring(),
                prime_bits,
                maker.fresh_powers(1 + SUBSET_SIZE as usize, rng),
            )
        };
        let [by_p, by_q] = [0, 1].map(|half| tables(key.halves()[half], makers[half], rng));
        Self {
            side: Side::KeyHolder {
                key: Arc::clone(key),
                by_p,
                by_q,
            },
        }
    }

    /// Tables modulo `n²` for a side that has only the public key.
    pub fn for_other_side<R: CryptoRng + ?Sized>(key: &PublicKey, rng: &mut R) -> Self {
        let fastest = if_different(Kernel::detect(), key).and_then(|k| key.with_kernel(k).ok());
        let maker = fastest.as_ref().unwrap_or(key);
        let powers = maker.fresh_randomizers(1 + SUBSET_SIZE as usize, rng);
        let powers = powers
            .iter()
            .map(|randomizer| randomizer.residue.clone())
            .collect();
        let table = BaseTable::new(key.ring(), key.size().bits(), powers);
        Self {
            side: Side::Other {
                key: key.clone(),
                table,
            },
        }
    }
}

/// This kernel, unless the key already uses it.
fn if_different(kernel: Kernel, key: &PublicKey) -> Option<Kernel> {
    (key.kernel() != kernel).then_some(kernel)
}

impl RandomizerSource for PublicKey {
    /// See [`PublicKey::fresh_randomizers`].
    fn draw(&self, count: usize, rng: &mut dyn CryptoRng) -> Vec<Randomizer> {
        self.fresh_randomizers(count, rng)
    }
}

impl RandomizerSource for SecretKey {
    /// See [`SecretKey::fresh_randomizers`].
    fn draw(&self, count: usize, rng: &mut dyn CryptoRng) -> Vec<Randomizer> {
        self.fresh_randomizers(count, rng)
    }
}

impl RandomizerSource for RandomizerTable {
    fn draw(&self, count: usize, rng: &mut dyn CryptoRng) -> Vec<Randomizer> {
        match &self.side {
            Side::KeyHolder { key, by_p, by_q } => {
                let [half_p, half_q] = key.halves();
                key.join_randomizers(
                    &by_p.draw(half_p.ring(), count, rng),
                    &by_q.draw(half_q.ring(), count, rng),
                )
            }
            Side::Other { key, table } => table
                .draw(key.ring(), count, rng)
                .into_iter()
                .map(|residue| key.randomizer(residue))
                .collect(),
        }
    }
}

/// The tables of one ring.
struct BaseTable {
    products: SubsetProducts,
    /// Random bits that select one factor.
    bits: u32,
}

impl BaseTable {
    /// The first power is `h`; subsets are taken from the others.
    fn new(ring: &Ring, order_bits: u32, powers: Vec<Residue>) -> Self {
        let exponent_bits = order_bits + EXCESS_BITS;
        let mut powers = powers.into_iter();
        let mut bases: Vec<Residue> = powers
            .next()
            .map(|h| ring.repeated_squares(&h, exponent_bits as usize))
            .unwrap_or_default();
        bases.extend(powers);
        Self {
            products: SubsetProducts::new(ring, &bases, WINDOW_WIDTH),
            bits: exponent_bits + SUBSET_SIZE,
        }
    }

    fn draw(&self, ring: &Ring, count: usize, rng: &mut dyn CryptoRng) -> Vec<Residue> {
        let exponents: Vec<Exponent> = (0..count)
            .map(|_| {
                let words = random_words(self.bits.div_ceil(64) as usize, rng);
                Exponent::from_words(words, self.bits)
            })
            .collect();
        self.products
            .evaluate(ring, &exponents.iter().collect::<Vec<_>>())
    }
}

/// Elements modulo a secret prime, within 2⁻¹²⁸ of uniform, in the same steps for each. Rejection sampling would reveal
/// the highest bits of the prime, by how often it rejects. (A draw is zero with probability one in the prime.)
fn random_bases_of_secret<R: CryptoRng + ?Sized>(
    ring: &Ring,
    prime: &NonZero<BoxedUint>,
    count: usize,
    rng: &mut R,
) -> Vec<Residue> {
    let zero = BoxedUint::zero_with_precision(prime.as_ref().bits_precision());
    let base = |_| {
        let words = random_words(ring.words() + EXCESS_WORDS, rng);
        let wide = Zeroizing::new(limbs::to_uint(&words));
        let base = Zeroizing::new(wide.rem(prime));
        ring.residue_of_digits(&base, &zero)
    };
    (0..count).map(base).collect()
}

fn random_words<R: CryptoRng + ?Sized>(count: usize, rng: &mut R) -> Words {
    let mut bytes = Zeroizing::new(vec![0; 8 * count]);
    rng.fill_bytes(&mut bytes);
    let mut words = Words::zeros(count);
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// Uniform non-zero elements below a public modulus. Elements that share a factor with it are not excluded: finding one
/// would mean factoring the modulus by chance.
fn random_bases<R: CryptoRng + ?Sized>(
    ring: &Ring,
    modulus: &NonZero<BoxedUint>,
    count: usize,
    rng: &mut R,
) -> Vec<Residue> {
    let zero = BoxedUint::zero_with_precision(modulus.as_ref().bits_precision());
    let mut bases = Vec::with_capacity(count);
    while bases.len() < count {
        let mut base = BoxedUint::random_mod_vartime(rng, modulus);
        if !bool::from(base.is_zero()) {
            bases.push(ring.residue_of_digits(&base, &zero));
        }
        base.zeroize();
    }
    bases
}
