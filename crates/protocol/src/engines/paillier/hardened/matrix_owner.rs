//! Steps 2 to 4 and 6 of the hardened variant.

use super::super::cell::{CandidateSet, Context, SetMask, Target, Unmasking, WRONG_MASK_KIND};
use super::super::masking::random_bits;
use super::super::messages::split;
use super::super::order::{Order, arranged, permutation};
use super::HardenedParameters;
use crate::ProtocolError;
use crypto_bigint::{BoxedUint, Choice, CtSelect, Limb, U256};
use rand::{CryptoRng, RngExt};
use veilpath_paillier::{Ciphertext, Plaintext, Scalar, TermShape};
use zeroize::Zeroizing;

/// The secret numbers of one cell.
pub(in super::super) struct CellSecrets {
    /// π.
    order: Order,
    /// w·ρ of each difference.
    factors: Vec<Scalar>,
    /// The offset of each difference: ρ·(π(i) − π(j)) + r, plus the bias.
    offsets: Vec<Zeroizing<U256>>,
    pads: Pads,
}

/// The pads of one cell, in the order π. The last has an extra top bit, so it is the largest.
pub(in super::super) struct Pads(Vec<Zeroizing<U256>>);

impl CellSecrets {
    pub(in super::super) fn draw<R: CryptoRng + ?Sized>(
        parameters: &HardenedParameters,
        rng: &mut R,
    ) -> Result<Self, ProtocolError> {
        let order = permutation(parameters.width, rng);
        // Allocated at full size: growing would leave copies in freed memory.
        let mut masks = Vec::with_capacity(parameters.pairs());
        for _ in parameters.compared() {
            let factor = log_uniform(parameters.floor_bits(), parameters.factor_bits(), rng);
            let noise = below(&factor, rng);
            masks.push((factor, noise));
        }
        let pads = (0..parameters.width)
            .map(|_| random_bits(parameters.pad_bits, rng))
            .collect();
        Self::new(parameters, order, &masks, pads)
    }

    /// From π, ρ and r of each difference, and pads. The last pad does not have its extra top bit yet.
    pub(in super::super) fn new(
        parameters: &HardenedParameters,
        order: Order,
        masks: &[(Zeroizing<U256>, Zeroizing<U256>)],
        mut pads: Vec<Zeroizing<U256>>,
    ) -> Result<Self, ProtocolError> {
        let mut factors = Vec::with_capacity(parameters.pairs());
        let mut offsets = Vec::with_capacity(parameters.pairs());
        let times = |factor: &U256, small: usize| {
            Zeroizing::new(factor.wrapping_mul(&U256::from_u64(small as u64)))
        };
        for ((i, j), (factor, noise)) in parameters.compared().zip(masks) {
            let whole = times(factor, parameters.width);
            // π(i) − π(j) may be negative; π(i) − π(j) + w is not.
            let order_term = times(factor, order[i] + parameters.width - order[j]);
            let order_term = Zeroizing::new(order_term.wrapping_sub(&whole));
            let noise = Zeroizing::new(noise.wrapping_add(&order_term));
            offsets.push(Zeroizing::new(noise.wrapping_add(&parameters.bias())));
            let whole = Zeroizing::new(BoxedUint::from(&*whole));
            factors.push(Scalar::new(&whole, parameters.scalar_bits())?);
        }
        if let Some(last) = pads.last_mut() {
            **last |= U256::ONE.shl_vartime(parameters.pad_bits);
        }
        Ok(Self {
            order,
            factors,
            offsets,
            pads: Pads(pads),
        })
    }
}

/// A log-uniform number from 2^floor to 2^bits − 1: draws an octave, and within it each number with a probability
/// inversely proportional to its size.
pub(in super::super) fn log_uniform<R: CryptoRng + ?Sized>(
    floor: u32,
    bits: u32,
    rng: &mut R,
) -> Zeroizing<U256> {
    let octave = rng.random_range(floor + 1..=bits);
    loop {
        let mut number = random_bits(U256::BITS, rng);
        *number |= U256::ONE.shl_vartime(U256::BITS - 1);
        // A rejection reveals nothing about the number that is kept.
        let leading = Zeroizing::new(number.shr_vartime(U256::BITS / 2));
        let coin = Zeroizing::new(U256::from_u128(rng.random()));
        let product = Zeroizing::new(coin.wrapping_mul(&leading));
        let is_kept = product.shr_vartime(U256::BITS - 1) == U256::ZERO;
        if is_kept {
            return halved(number, U256::BITS - octave);
        }
    }
}

/// Halves a number `times` times, fewer than 256. The count is secret, and the library's shift branches on whether it
/// is too large.
fn halved(mut number: Zeroizing<U256>, times: u32) -> Zeroizing<U256> {
    for bit in 0..u8::BITS {
        let shifted = Zeroizing::new(number.shr_vartime(1 << bit));
        *number = number.ct_select(&shifted, Choice::from_u32_lsb(times >> bit));
    }
    number
}

/// A number below `bound`, uniform up to 2^(bits of bound − 512): the integer part of bound·u with u = 0.(512 random
/// bits).
pub(in super::super) fn below<R: CryptoRng + ?Sized>(bound: &U256, rng: &mut R) -> Zeroizing<U256> {
    let (first, second) = (random_bits(U256::BITS, rng), random_bits(U256::BITS, rng));
    let (part, whole) = bound.widening_mul(&*first);
    let (part, whole) = (Zeroizing::new(part), Zeroizing::new(whole));
    let (_, carried) = bound.widening_mul(&*second);
    let (_, carry) = part.carrying_add(&Zeroizing::new(carried), Limb::ZERO);
    let carry = Zeroizing::new(U256::from_word(carry.0));
    Zeroizing::new(whole.wrapping_add(&carry))
}

/// A cell before packing: candidates in the order π, their differences, and the numbers that mask them.
struct Masked {
    candidates: Vec<Ciphertext>,
    differences: Vec<Ciphertext>,
    secrets: CellSecrets,
}

impl Context<'_> {
    /// Runs steps 1 to 4 for some cells. Returns the bytes for the key holder, and what step 6 will need.
    pub(in super::super) fn mask_hardened(
        &self,
        parameters: &HardenedParameters,
        sets: Vec<CandidateSet>,
    ) -> Result<(Vec<u8>, Vec<Unmasking>), ProtocolError> {
        let (mut targets, mut inputs, mut secrets) = (Vec::new(), Vec::new(), Vec::new());
        for set in sets {
            let SetMask::Hardened(mask) = set.mask else {
                return Err(WRONG_MASK_KIND);
            };
            targets.push(set.target);
            inputs.push(set.inputs);
            secrets.push(mask);
        }
        let candidates: Vec<Vec<Ciphertext>> = self
            .form_candidates(inputs)?
            .into_iter()
            .zip(&secrets)
            .map(|(set, mask)| arranged(&set, &mask.order))
            .collect();
        let mut pairs = Vec::with_capacity(candidates.len() * parameters.pairs());
        for set in &candidates {
            pairs.extend(parameters.compared().map(|(i, j)| (&set[i], &set[j])));
        }
        let mut differences = self.public.subtract_batch(&pairs)?.into_iter();
        let masked: Vec<Masked> = candidates
            .into_iter()
            .zip(secrets)
            .map(|(candidates, secrets)| Masked {
                candidates,
                differences: differences.by_ref().take(parameters.pairs()).collect(),
                secrets,
            })
            .collect();
        let bytes = self.pack_hardened(parameters, &masked)?;
        let pads = masked.into_iter().map(|cell| cell.secrets.into_pads());
        let unmaskings = targets.into_iter().zip(pads);
        Ok((
            bytes,
            unmaskings
                .map(|(target, pads)| Unmasking::Hardened { target, pads })
                .collect(),
        ))
    }

    /// Packs every number into its slot, each ciphertext under fresh randomness.
    fn pack_hardened(
        &self,
        parameters: &HardenedParameters,
        masked: &[Masked],
    ) -> Result<Vec<u8>, ProtocolError> {
        let layout = &self.agreed.layout;
        let groups: Vec<&[Masked]> = masked.chunks(layout.cells).collect();
        let nothing = self.public.trivial(&Plaintext::from(0u64))?;
        let one = Scalar::new(&BoxedUint::one(), 1)?;
        let mut packed = Vec::new();
        for ciphertext in 0..layout.ciphertexts {
            let terms = parameters.terms(layout, ciphertext);
            let (mut rows, mut offsets) = (Vec::new(), Vec::new());
            for group in &groups {
                let mut row = Vec::with_capacity(terms.len());
                let mut slots = Zeroizing::new(Vec::new());
                for (cell, position) in layout.slot_entries(ciphertext) {
                    let cell = group.get(cell);
                    if position < parameters.pairs() {
                        row.push(match cell {
                            Some(cell) => {
                                (&cell.differences[position], &cell.secrets.factors[position])
                            }
                            // The last group may have fewer cells, but the sums of all groups have the same shape.
                            None => (&nothing, &one),
                        });
                    } else {
                        let first = (position - parameters.pairs()) * parameters.padded_in_slot;
                        row.extend((first..first + parameters.padded_in_slot).map(|at| {
                            let candidate = cell.and_then(|cell| cell.candidates.get(at));
                            (candidate.unwrap_or(&nothing), &one)
                        }));
                    }
                    if let Some(cell) = cell {
                        slots.push(BoxedUint::from(&*cell.secrets.offset(parameters, position)));
                    }
                }
                rows.push(row);
                offsets.push(layout.slots().pack(&slots)?);
            }
            let sums = self.public.weighted_sums(&terms, &rows)?;
            packed.push(self.add_offsets(&sums, &offsets)?);
        }
        self.in_groups(&packed, groups.len())
    }

    /// Step 6: `M = z_m − p_last + Σ β_i·(p_last − p_i)`.
    pub(in super::super) fn unmask_hardened(
        &self,
        parameters: &HardenedParameters,
        replies: &[u8],
        unmaskings: Vec<Unmasking>,
    ) -> Result<Vec<(Target, Ciphertext)>, ProtocolError> {
        let encodings = split(replies, self.agreed.key_size());
        let replies = self.public.ciphertexts_from_bytes(&encodings)?;
        let one = Scalar::new(&BoxedUint::one(), 1)?;
        let term = |scalar_bits| TermShape {
            scalar_bits,
            shift_bits: 0,
        };
        let mut terms = vec![term(1)];
        terms.resize(parameters.width, term(parameters.pad_bits + 1));
        let (mut targets, mut factors, mut minus_last) = (Vec::new(), Vec::new(), Vec::new());
        for unmasking in unmaskings {
            let Unmasking::Hardened { target, pads } = unmasking else {
                return Err(WRONG_MASK_KIND);
            };
            let Some((last, others)) = pads.0.split_last() else {
                return Err(WRONG_MASK_KIND);
            };
            let factor = |pad: &Zeroizing<U256>| {
                let difference = Zeroizing::new(last.wrapping_sub(pad));
                let difference = Zeroizing::new(BoxedUint::from(&*difference));
                Ok(Scalar::new(&difference, parameters.pad_bits + 1)?)
            };
            factors.push(
                others
                    .iter()
                    .map(factor)
                    .collect::<Result<Vec<_>, ProtocolError>>()?,
            );
            let last = Zeroizing::new(BoxedUint::from(&**last));
            minus_last.push(Plaintext::from_sign_and_magnitude(true, &last));
            targets.push(target);
        }
        let rows: Vec<Vec<(&Ciphertext, &Scalar)>> = replies
            .chunks(parameters.reply_ciphertexts())
            .zip(&factors)
            .map(|(reply, factors)| {
                reply
                    .iter()
                    .zip(std::iter::once(&one).chain(factors))
                    .collect()
            })
            .collect();
        let sums = self.public.weighted_sums(&terms, &rows)?;
        let shifts: Vec<_> = sums.iter().zip(&minus_last).collect();
        let values = self.public.add_plain_batch(&shifts)?;
        Ok(targets.into_iter().zip(values).collect())
    }
}

impl CellSecrets {
    /// The pads, which step 6 needs.
    pub(super) fn into_pads(self) -> Pads {
        self.pads
    }

    /// The number that is added to a slot in the clear.
    pub(in super::super) fn offset(
        &self,
        parameters: &HardenedParameters,
        position: usize,
    ) -> Zeroizing<U256> {
        if let Some(offset) = self.offsets.get(position) {
            return offset.clone();
        }
        let first = (position - parameters.pairs()) * parameters.padded_in_slot;
        let mut offset = Zeroizing::new(U256::ZERO);
        let pads = self
            .pads
            .0
            .iter()
            .skip(first)
            .take(parameters.padded_in_slot);
        for (k, pad) in (0u32..).zip(pads) {
            *offset |= pad.shl_vartime(k * parameters.padded_bits());
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// A growing list leaves its old contents in freed memory, where nothing erases them.
    #[test]
    fn lists_of_secrets_never_reallocate() {
        for width in [3, 4] {
            let parameters = HardenedParameters::new(width, 107, 1).unwrap();
            let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
            let secrets = CellSecrets::draw(&parameters, &mut rng).unwrap();
            assert_eq!(secrets.offsets.capacity(), parameters.pairs());
            assert_eq!(secrets.pads.0.capacity(), width);
        }
    }
}
