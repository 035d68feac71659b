//! Matrix cells on the matrix owner's side: masks the candidates of a cell, and turns the key holder's minimum into the
//! cell's value.

use super::hardened::{CellSecrets, Pads};
use super::masking::Mask;
use super::messages::split;
use super::order::{CellPosition, arranged};
use super::parallel::Randomness;
use super::run_parameters::RunParameters;
use crate::ProtocolError;
use crypto_bigint::BoxedUint;
use veilpath_paillier::{Ciphertext, Plaintext, PublicKey, Scalar};
use zeroize::Zeroizing;

/// What a minimum is for: the value of a cell, or the least value of a round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) pair: usize,
    pub(super) cell: Option<CellPosition>,
}

/// The encrypted numbers from which candidates are formed.
pub(super) enum Inputs {
    /// M(i−1, j−1), D(i, k_B[j]), M(i, j−1) and M(i−1, j).
    Cell {
        diagonal: Ciphertext,
        substitution: Ciphertext,
        left: Ciphertext,
        above: Ciphertext,
    },
    /// Values whose minimum is sought.
    Round(Vec<Ciphertext>),
}

/// A selected cell or round, and its masks.
pub(super) struct CandidateSet {
    pub(super) target: Target,
    pub(super) inputs: Inputs,
    pub(super) mask: SetMask,
}

/// The masks of a cell.
pub(super) enum SetMask {
    /// The paper's, one for all candidates.
    Paper(Mask),
    /// The hardened variant's, one for each difference.
    Hardened(CellSecrets),
}

/// What unmasks a reply of the key holder in step 6.
pub(super) enum Unmasking {
    /// After the paper's masks.
    Paper(PaperUnmasking),
    /// After the hardened variant's masks.
    Hardened { target: Target, pads: Pads },
}

/// Values that undo the paper's mask.
pub(super) struct PaperUnmasking {
    target: Target,
    minus_offset: Plaintext,
    /// E(t·T).
    sum: Ciphertext,
    /// a⁻¹ mod n.
    inverse: Scalar,
}

/// One cell's candidates in the order π with their mask, and E(−t·T).
struct Masked {
    candidates: Vec<Ciphertext>,
    mask: Mask,
    minus_sum: Ciphertext,
}

/// Data shared by all cells.
pub(super) struct Context<'a> {
    pub(super) agreed: &'a RunParameters,
    pub(super) public: &'a PublicKey,
    pub(super) randomness: &'a Randomness,
}

impl Context<'_> {
    /// Runs steps 1 to 4 for some cells. Returns the bytes for the key holder, and what step 6 will need.
    pub(super) fn mask(
        &self,
        sets: Vec<CandidateSet>,
    ) -> Result<(Vec<u8>, Vec<Unmasking>), ProtocolError> {
        if let Some(parameters) = &self.agreed.hardened {
            return self.mask_hardened(parameters, sets);
        }
        let (mut targets, mut inputs, mut masks) = (Vec::new(), Vec::new(), Vec::new());
        for set in sets {
            targets.push(set.target);
            inputs.push(set.inputs);
            let SetMask::Paper(mask) = set.mask else {
                return Err(WRONG_MASK_KIND);
            };
            masks.push(mask);
        }
        let candidates = self.form_candidates(inputs)?;
        let sums = self.sum_powers(&candidates, &masks)?;
        let minus_sums = self.public.negate_batch(&sums.iter().collect::<Vec<_>>())?;
        let factors: Vec<&Scalar> = masks.iter().map(|mask| &mask.a).collect();
        let inverses = self.public.inverse_batch(&factors).map_err(|_| {
            // ρ₁, ρ₁+1 and ρ₂ are far below the primes of any honest key.
            ProtocolError::KeyRejected(veilpath_paillier::KeyFault::SmallFactor)
        })?;
        let unmaskings = targets
            .into_iter()
            .zip(sums)
            .zip(inverses)
            .zip(&masks)
            .map(|(((target, sum), inverse), mask)| {
                Unmasking::Paper(PaperUnmasking {
                    target,
                    minus_offset: mask.minus_offset(),
                    sum,
                    inverse,
                })
            })
            .collect();
        let masked: Vec<Masked> = candidates
            .into_iter()
            .zip(masks)
            .zip(minus_sums)
            .map(|((candidates, mask), minus_sum)| Masked {
                candidates: arranged(&candidates, &mask.order),
                mask,
                minus_sum,
            })
            .collect();
        Ok((self.pack(&masked)?, unmaskings))
    }

    /// Step 1: x₁ = M(i−1, j−1) ⊕ D(i, k_B[j]), x₂ = M(i, j−1) ⊕ E(c_ins), x₃ = M(i−1, j) ⊕ E(c_del); in a local
    /// alignment also x₄, which represents score 0. Constants added in the clear get their randomness in step 4.
    pub(super) fn form_candidates(
        &self,
        inputs: Vec<Inputs>,
    ) -> Result<Vec<Vec<Ciphertext>>, ProtocolError> {
        let recurrence = &self.agreed.recurrence;
        let constant = |value| self.public.trivial(&Plaintext::from(value));
        let insertion = constant(recurrence.insertion())?;
        let deletion = constant(recurrence.deletion())?;
        let mut sums = Vec::with_capacity(3 * inputs.len());
        for input in &inputs {
            if let Inputs::Cell {
                diagonal,
                substitution,
                left,
                above,
            } = input
            {
                sums.push((diagonal, substitution));
                sums.push((left, &insertion));
                sums.push((above, &deletion));
            }
        }
        let mut sums = self.public.add_batch(&sums)?.into_iter();
        let zero = recurrence.zero().map(constant).transpose()?;
        let candidates = inputs.into_iter().map(|input| match input {
            Inputs::Cell { .. } => sums.by_ref().take(3).chain(zero.clone()).collect(),
            // A short round is filled with values that represent score 0.
            Inputs::Round(values) => values
                .into_iter()
                .chain(zero.iter().cycle().cloned())
                .take(recurrence.width())
                .collect(),
        });
        Ok(candidates.collect())
    }

    /// E(t·T) with T = Σ xₗ: the part of option 2 of step 2 that all candidates share, and 0 under option 1.
    fn sum_powers(
        &self,
        candidates: &[Vec<Ciphertext>],
        masks: &[Mask],
    ) -> Result<Vec<Ciphertext>, ProtocolError> {
        let candidates_at = |index: usize| candidates.iter().filter_map(move |c| c.get(index));
        let mut totals: Vec<Ciphertext> = candidates_at(0).cloned().collect();
        for more in 1..self.agreed.recurrence.width() {
            let pairs: Vec<_> = totals.iter().zip(candidates_at(more)).collect();
            totals = self.public.add_batch(&pairs)?;
        }
        let powers: Vec<_> = totals
            .iter()
            .zip(masks)
            .map(|(total, mask)| (total, &mask.t))
            .collect();
        Ok(self.public.scalar_mul_batch(&powers)?)
    }

    /// Steps 2 to 4: every masked candidate `a·x − t·T + b` in its slot, each ciphertext under fresh randomness.
    fn pack(&self, masked: &[Masked]) -> Result<Vec<u8>, ProtocolError> {
        let layout = &self.agreed.layout;
        let groups: Vec<&[Masked]> = masked.chunks(layout.cells).collect();
        let nothing = self.public.trivial(&Plaintext::from(0u64))?;
        let (no_factor, one) = (Scalar::from(0u64), Scalar::new(&BoxedUint::one(), 1)?);
        let mut packed = Vec::new();
        for ciphertext in 0..layout.ciphertexts {
            let mut rows = Vec::with_capacity(groups.len());
            let mut offsets = Vec::with_capacity(groups.len());
            for group in &groups {
                let mut row = Vec::new();
                let mut slots = Zeroizing::new(Vec::with_capacity(layout.cells * layout.width()));
                for (cell, position) in layout.slot_entries(ciphertext) {
                    // The last group may have fewer cells, but the sums of all groups have the same shape.
                    let Some(cell) = group.get(cell) else {
                        row.extend([(&nothing, &no_factor), (&nothing, &one)]);
                        continue;
                    };
                    let candidate = &cell.candidates[position];
                    row.extend([(candidate, &cell.mask.a), (&cell.minus_sum, &one)]);
                    slots.push(cell.mask.offset());
                }
                rows.push(row);
                offsets.push(layout.slots().pack(&slots)?);
            }
            let sums = self
                .public
                .weighted_sums(&layout.shape(ciphertext), &rows)?;
            packed.push(self.add_offsets(&sums, &offsets)?);
        }
        self.in_groups(&packed, groups.len())
    }

    /// Adds an offset to each sum, under fresh randomness.
    pub(super) fn add_offsets(
        &self,
        sums: &[Ciphertext],
        offsets: &[Plaintext],
    ) -> Result<Vec<Ciphertext>, ProtocolError> {
        let offsets = self.public.encrypt_batch(
            &offsets.iter().collect::<Vec<_>>(),
            self.randomness.draw(offsets.len())?,
        )?;
        let pairs: Vec<_> = sums.iter().zip(&offsets).collect();
        Ok(self.public.add_batch(&pairs)?)
    }

    /// The bytes of the groups; `packed` has, for each place in a group, the ciphertexts of all groups.
    pub(super) fn in_groups(
        &self,
        packed: &[Vec<Ciphertext>],
        groups: usize,
    ) -> Result<Vec<u8>, ProtocolError> {
        let mut bytes = Vec::new();
        for group in 0..groups {
            for column in packed {
                bytes.extend(self.public.ciphertext_to_bytes(&column[group])?);
            }
        }
        Ok(bytes)
    }

    /// Step 6: from E(x*) to E(M(i, j)), `(E(x*) ⊕ E(−b) ⊕ E(t·T)) ⊗ a⁻¹`.
    pub(super) fn unmask(
        &self,
        minima: &[u8],
        unmaskings: Vec<Unmasking>,
    ) -> Result<Vec<(Target, Ciphertext)>, ProtocolError> {
        if let Some(parameters) = &self.agreed.hardened {
            return self.unmask_hardened(parameters, minima, unmaskings);
        }
        let unmaskings: Vec<PaperUnmasking> = unmaskings
            .into_iter()
            .map(|unmasking| match unmasking {
                Unmasking::Paper(unmasking) => Ok(unmasking),
                Unmasking::Hardened { .. } => Err(WRONG_MASK_KIND),
            })
            .collect::<Result<_, _>>()?;
        let encodings = split(minima, self.agreed.key_size());
        let minima = self.public.ciphertexts_from_bytes(&encodings)?;
        let shifts: Vec<_> = minima
            .iter()
            .zip(&unmaskings)
            .map(|(minimum, unmasking)| (minimum, &unmasking.minus_offset))
            .collect();
        let shifted = self.public.add_plain_batch(&shifts)?;
        let sums: Vec<_> = shifted
            .iter()
            .zip(&unmaskings)
            .map(|(value, unmasking)| (value, &unmasking.sum))
            .collect();
        let scaled = self.public.add_batch(&sums)?;
        let quotients: Vec<_> = scaled
            .iter()
            .zip(&unmaskings)
            .map(|(value, unmasking)| (value, &unmasking.inverse))
            .collect();
        let values = self.public.scalar_mul_batch(&quotients)?;
        let targets = unmaskings.iter().map(|unmasking| unmasking.target);
        Ok(targets.zip(values).collect())
    }
}

/// All candidate sets of a run have the same kind of mask.
pub(super) const WRONG_MASK_KIND: ProtocolError =
    ProtocolError::Internal("a mask of the other variant");
