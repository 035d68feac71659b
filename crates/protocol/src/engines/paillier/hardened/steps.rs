//! The individual steps of both sides, for the checks in `docs/assurance.md`: neither timing nor branches nor addresses
//! may depend on secrets.

use super::super::cell::{CandidateSet, Context, Inputs, SetMask, Target, Unmasking};
use super::super::key_holder::{encrypt, open_groups};
use super::super::parallel::Randomness;
use super::super::run_parameters::RunParameters;
use super::{CellSecrets, HardenedParameters};
use crate::engines::lengths::own_lengths;
use crate::{Engine, Job, JobError, ProtocolError, Role, Spec};
use crypto_bigint::BoxedUint;
use rand::CryptoRng;
use std::sync::Arc;
use veilpath_metrics::Scanpath;
use veilpath_paillier::{Ciphertext, PublicKey, RandomizerSource, SecretKey};
use zeroize::Zeroizing;

/// One side's steps of the hardened variant.
pub struct HardenedSteps {
    agreed: RunParameters,
    parameters: HardenedParameters,
    public: PublicKey,
    randomness: Randomness,
}

/// The matrix owner's secrets for some cells: orders, multipliers, noise and pads.
pub struct HardenedSecrets(Vec<CellSecrets>);

/// The decrypted slots of one cell.
pub type HardenedSet = Vec<Zeroizing<BoxedUint>>;

/// These steps are not part of a run, so there is no cell for the result.
const NO_TARGET: Target = Target {
    pair: 0,
    cell: None,
};

impl HardenedSteps {
    /// The steps for scanpaths of this length, with the side's own source of randomisers.
    pub fn new(
        spec: &Spec,
        length: usize,
        public: &PublicKey,
        source: Arc<dyn RandomizerSource>,
    ) -> Result<Self, ProtocolError> {
        let Engine::Paillier(options) = spec.engine else {
            return Err(ProtocolError::Job(JobError::NoMasks));
        };
        let scanpath = Scanpath::new(vec![0; length]);
        let own = [&scanpath];
        let job = Job::new(spec, Role::Join, &own, 1, &[(0, 0)])?;
        let agreed = RunParameters::new(&job, options, own_lengths(&job)?)?;
        let parameters = agreed
            .hardened
            .ok_or(ProtocolError::Job(JobError::NoMasks))?;
        Ok(Self {
            agreed,
            parameters,
            public: public.clone(),
            randomness: Randomness::of(source),
        })
    }

    /// The matrix owner draws the secrets for this many cells.
    pub fn draw<R: CryptoRng + ?Sized>(
        &self,
        cells: usize,
        rng: &mut R,
    ) -> Result<HardenedSecrets, ProtocolError> {
        let secrets = (0..cells).map(|_| CellSecrets::draw(&self.parameters, rng));
        Ok(HardenedSecrets(secrets.collect::<Result<_, _>>()?))
    }

    /// The matrix owner masks some cells, each given by M(i−1, j−1), `D(i, k_B[j])`, M(i, j−1) and M(i−1, j). Returns
    /// the bytes for the key holder.
    pub fn mask(
        &self,
        cells: &[[Ciphertext; 4]],
        secrets: HardenedSecrets,
    ) -> Result<Vec<u8>, ProtocolError> {
        let sets = cells.iter().cloned().zip(secrets.0).map(|(cell, secrets)| {
            let [diagonal, substitution, left, above] = cell;
            CandidateSet {
                target: NO_TARGET,
                inputs: Inputs::Cell {
                    diagonal,
                    substitution,
                    left,
                    above,
                },
                mask: SetMask::Hardened(secrets),
            }
        });
        Ok(self.context().mask(sets.collect())?.0)
    }

    /// The key holder decrypts the masked values.
    pub fn open(
        &self,
        key: &SecretKey,
        masked: &[u8],
        cells: usize,
    ) -> Result<Vec<HardenedSet>, ProtocolError> {
        let layout = &self.agreed.layout;
        let bytes = layout.ciphertexts * self.agreed.key_size().ciphertext_bytes();
        let groups: Vec<&[u8]> = masked.chunks(bytes).collect();
        let (slots, _) = open_groups(&self.agreed, key, &groups)?;
        let sets = slots.chunks(layout.width()).take(cells);
        Ok(sets.map(<[_]>::to_vec).collect())
    }

    /// The key holder replies. Returns the bytes for the matrix owner.
    pub fn reply(&self, sets: &[HardenedSet]) -> Result<Vec<u8>, ProtocolError> {
        let replies = sets.iter().flat_map(|set| self.parameters.reply(set));
        encrypt(&self.public, &self.randomness, replies.collect())
    }

    /// The matrix owner recovers the cells' values from the replies.
    pub fn unmask(
        &self,
        replies: &[u8],
        secrets: HardenedSecrets,
    ) -> Result<Vec<Ciphertext>, ProtocolError> {
        let unmaskings = secrets.0.into_iter().map(|secrets| Unmasking::Hardened {
            target: NO_TARGET,
            pads: secrets.into_pads(),
        });
        let values = self.context().unmask(replies, unmaskings.collect())?;
        Ok(values.into_iter().map(|(_, value)| value).collect())
    }

    fn context(&self) -> Context<'_> {
        Context {
            agreed: &self.agreed,
            public: &self.public,
            randomness: &self.randomness,
        }
    }
}
