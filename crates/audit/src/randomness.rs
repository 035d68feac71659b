//! The attack on the randomness of ciphertexts.
//!
//! The key holder knows the primes. Modulo p every factor (1+n)^m is 1, so only the randomness of a ciphertext remains.
//! It shows what the matrix owner did to the key holder's randomness: candidate x₁ is made from the key holder's entry
//! D(i, k), where k is the matrix owner's letter. If the matrix owner adds no randomness of its own, the quotient of
//! two masked values is a power of that entry, and the key holder can try all letters one by one.
//!
//! The engine always adds fresh randomness, and has no option to omit it. The flaw is therefore reproduced in
//! miniature, with the operations of the cryptosystem, on the first cell of a matrix. The real engine is tested on the
//! same cell.
//!
//! Letters found in the first cell, out of 100, with unit costs, |a−b| and Euclidean costs: 100, 97 and 93 % without a
//! fresh factor or with one factor for the three values; 4.9, 5.9 and 8.3 %, as from the score alone, with a factor for
//! each value. If a letter costs as much as a deletion and an insertion, all three values are equal, and the attack
//! falls back on the score.

use crate::AuditError;
use crate::clue::Clue;
use crate::view::KeyHolderView;
use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, NonZero, Odd};
use rand::RngExt;
use veilpath_paillier::{Ciphertext, Plaintext, Scalar, SecretKey};

/// How the matrix owner re-randomises a masked value before it sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Nothing, as in the code that the paper's authors published.
    None,
    /// One random factor for the three values of a cell.
    Shared,
}

/// The first matrix cell of a comparison as the key holder sees it: its row of encrypted costs, and the three masked
/// values.
pub struct FirstCell {
    /// A ciphertext for each letter of the alphabet, as bytes.
    pub row: Vec<Vec<u8>>,
    /// Three ciphertexts, as bytes.
    pub masked: Vec<Vec<u8>>,
}

/// The first matrix cell of a comparison, by a matrix owner without fresh randomness.
pub fn first_cell_without(
    key: &SecretKey,
    view: &KeyHolderView,
    letter: u16,
    freshness: Freshness,
) -> Result<FirstCell, AuditError> {
    let mut rng = veilpath_paillier::system_rng()?;
    let public = key.public_key();
    let of_letter = view.class_of_letters();
    let cost = |letter: usize| {
        let cost = view.classes[of_letter[letter]].costs[0];
        Plaintext::from(cost)
    };
    let costs: Vec<Plaintext> = (0..view.letters).map(cost).collect();
    let row = public.encrypt_batch(
        &costs.iter().collect::<Vec<_>>(),
        key.fresh_randomizers(costs.len(), &mut rng),
    )?;
    let gaps = public.trivial(&Plaintext::from(view.insert + view.delete))?;
    let candidates = [&row[usize::from(letter)], &gaps, &gaps];
    let factor: u128 =
        u128::from(rng.random_range(1..1u64 << 40)) * u128::from(rng.random_range(1..1u64 << 40));
    let factor = Scalar::new(&BoxedUint::from(factor), 80)?;
    let offset = Plaintext::from_uint(&BoxedUint::from(rng.random::<u128>()));
    let shared = public.encrypt(
        &Plaintext::from(0u64),
        public
            .fresh_randomizers(1, &mut rng)
            .pop()
            .ok_or(AuditError::Internal("no randomness"))?,
    )?;
    let mask = |x: &Ciphertext| -> Result<Vec<u8>, AuditError> {
        let value = public.add_plain(&public.scalar_mul(x, &factor)?, &offset)?;
        let value = match freshness {
            Freshness::None => value,
            Freshness::Shared => public.add(&value, &shared)?,
        };
        Ok(public.ciphertext_to_bytes(&value)?)
    };
    let mut masked = candidates
        .into_iter()
        .map(mask)
        .collect::<Result<Vec<_>, _>>()?;
    masked.rotate_left(rng.random_range(0..3));
    let bytes = |c: &Ciphertext| Ok(public.ciphertext_to_bytes(c)?);
    Ok(FirstCell {
        row: row.iter().map(bytes).collect::<Result<_, AuditError>>()?,
        masked,
    })
}

/// The letter that the randomness reveals, if it does.
pub fn attack(
    key: &SecretKey,
    view: &KeyHolderView,
    cell: &FirstCell,
) -> Result<Option<u16>, AuditError> {
    let public = key.public_key();
    let mut opened = Vec::new();
    for bytes in &cell.masked {
        let ciphertext = public.ciphertext_from_bytes(bytes)?;
        opened.push(key.decrypt(&ciphertext)?.magnitude());
    }
    let Some(Clue::Shared { low, high }) = Clue::shared(&opened) else {
        return Err(AuditError::Internal("a cell without three values"));
    };
    // The values for a deletion and an insertion are equal; the third value depends on the letter.
    let mut places: Vec<usize> = (0..3).collect();
    places.sort_by(|&a, &b| opened[a].cmp(&opened[b]));
    let (odd, even) = if low == 0 {
        (places[2], places[0])
    } else {
        (places[0], places[2])
    };
    let field = Field::new(key)?;
    let of_letter = view.class_of_letters();
    let gaps = view.insert + view.delete;
    for (letter, entry) in cell.row.iter().enumerate() {
        let difference = view.classes[of_letter[letter]].costs[0].abs_diff(gaps);
        let difference = u128::from(difference);
        if high == 0 || difference == 0 || high % difference != 0 {
            continue;
        }
        let power = field.power(entry, high / difference);
        let expected = field.number(&cell.masked[even]).mul(&power);
        if expected == field.number(&cell.masked[odd]) {
            return Ok(u16::try_from(letter).ok());
        }
    }
    Ok(None)
}

/// Numbers modulo p.
struct Field {
    prime: NonZero<BoxedUint>,
    params: BoxedMontyParams,
}

impl Field {
    fn new(key: &SecretKey) -> Result<Self, AuditError> {
        let unreadable = AuditError::Internal("the key has no prime");
        let text = key.to_file_text();
        let digits = text.lines().find_map(|line| line.strip_prefix("p "));
        let digits = digits.ok_or(AuditError::Internal("the key has no prime"))?;
        let bits = u32::try_from(4 * digits.len()).unwrap_or(u32::MAX);
        let prime = BoxedUint::from_be_hex(digits, bits).into_option();
        let prime = prime.ok_or(AuditError::Internal("the key has no prime"))?;
        let odd = Odd::new(prime.clone()).into_option();
        let nonzero = NonZero::new(prime).into_option();
        let (Some(odd), Some(prime)) = (odd, nonzero) else {
            return Err(unreadable);
        };
        Ok(Self {
            prime,
            params: BoxedMontyParams::new(odd),
        })
    }

    fn number(&self, ciphertext: &[u8]) -> BoxedMontyForm {
        let number = BoxedUint::from_be_slice_vartime(ciphertext);
        BoxedMontyForm::new(number.rem_vartime(&self.prime), &self.params)
    }

    fn power(&self, ciphertext: &[u8], exponent: u128) -> BoxedMontyForm {
        self.number(ciphertext).pow(&BoxedUint::from(exponent))
    }
}
