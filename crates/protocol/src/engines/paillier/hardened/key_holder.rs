//! Step 5 of the hardened variant: the key holder finds the smallest candidate and returns an encrypted one-hot
//! selection of it.

use super::HardenedParameters;
use crypto_bigint::{BoxedUint, Choice, CtLt, CtSelect, Resize, U256};
use veilpath_paillier::Plaintext;
use zeroize::Zeroizing;

impl HardenedParameters {
    /// z of the smallest candidate, and all but the last of the bits that select it. The steps are the same for every set of
    /// numbers.
    pub(in super::super) fn reply(&self, slots: &[Zeroizing<BoxedUint>]) -> Vec<Plaintext> {
        let (differences, padded) = slots.split_at(self.pairs().min(slots.len()));
        let bias = self.bias();
        let mut is_minimum = vec![Choice::TRUE; self.width];
        for ((i, j), difference) in self.compared().zip(differences) {
            let below = narrow(difference).ct_lt(&bias);
            // If y_i < y_j, then j is not the least; otherwise i is not. No two are equal in this variant.
            is_minimum[j] &= !below;
            is_minimum[i] &= below;
        }
        let mask = U256::MAX.shr_vartime(U256::BITS - self.padded_bits());
        let mut chosen = Zeroizing::new(U256::ZERO);
        for (candidate, is_chosen) in is_minimum.iter().enumerate() {
            let Some(slot) = padded.get(candidate / self.padded_in_slot) else {
                continue;
            };
            let shift = (0..self.padded_bits() * self.padded_in_slot as u32)
                .step_by(self.padded_bits() as usize)
                .nth(candidate % self.padded_in_slot)
                .unwrap_or(0);
            let value = Zeroizing::new(narrow(slot).shr_vartime(shift) & mask);
            *chosen = chosen.ct_select(&value, *is_chosen);
        }
        let bits = is_minimum.iter().take(self.width - 1);
        let bits = bits.map(|bit| Plaintext::from(u64::from(bit.to_u8())));
        let chosen = Zeroizing::new(BoxedUint::from(&*chosen));
        std::iter::once(Plaintext::from_uint(&chosen))
            .chain(bits)
            .collect()
    }
}

/// A slot as a fixed-width number; slots are never longer.
fn narrow(slot: &BoxedUint) -> Zeroizing<U256> {
    let slot = Zeroizing::new(slot.resize_unchecked(U256::BITS));
    let bytes = Zeroizing::new(slot.to_le_bytes());
    Zeroizing::new(U256::from_le_slice(&bytes))
}
