//! Results that are secret-shared between the two sides.

use super::super::run_parameters::MASK_WORDS;
use super::MatrixOwner;
use crate::ProtocolError;
use rand::CryptoRng;
use veilpath_paillier::{Ciphertext, Plaintext};
use zeroize::Zeroizing;

impl<R: CryptoRng> MatrixOwner<'_, R> {
    /// Adds a random number to each encrypted result and keeps its negative as this side's half (see
    /// [`PairStore`](crate::PairStore)). The key holder gets the other half.
    pub(super) fn mask_results(
        &mut self,
        results: &[(usize, Ciphertext)],
    ) -> Result<Vec<Ciphertext>, ProtocolError> {
        let masks: Zeroizing<Vec<[u64; MASK_WORDS]>> = Zeroizing::new(
            results
                .iter()
                .map(|_| std::array::from_fn(|_| self.rng.next_u64()))
                .collect(),
        );
        let pairs: Vec<usize> = results.iter().map(|(pair, _)| *pair).collect();
        let share = |[low, ..]: &[u64; MASK_WORDS]| {
            let value = low.wrapping_neg();
            self.agreed.recurrence.raw_share(value, false)
        };
        let shares: Zeroizing<Vec<u64>> = Zeroizing::new(masks.iter().map(share).collect());
        self.job.store.store_halves(&pairs, &shares)?;
        let masks: Vec<Plaintext> = masks.iter().map(|mask| Plaintext::from(*mask)).collect();
        let values = results.iter().map(|(_, value)| value);
        let values: Vec<_> = values.zip(&masks).collect();
        Ok(self.public.add_plain_batch(&values)?)
    }
}
