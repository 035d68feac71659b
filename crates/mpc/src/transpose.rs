//! Transposing squares of 128 by 128 bits.

/// Bit j of row r becomes bit r of block j; both numbers are counted from the lowest bit.
pub(crate) fn transpose(rows: &mut [[u64; 2]; 128]) {
    for row in 0..64 {
        let (upper, lower) = rows.split_at_mut(64);
        std::mem::swap(&mut upper[row][1], &mut lower[row][0]);
    }
    transpose_within::<32>(rows, 0x0000_0000_ffff_ffff);
    transpose_within::<16>(rows, 0x0000_ffff_0000_ffff);
    transpose_within::<8>(rows, 0x00ff_00ff_00ff_00ff);
    transpose_within::<4>(rows, 0x0f0f_0f0f_0f0f_0f0f);
    transpose_within::<2>(rows, 0x3333_3333_3333_3333);
    transpose_within::<1>(rows, 0x5555_5555_5555_5555);
}

/// Swaps the off-diagonal squares of side `SIDE` in every word.
#[inline(always)]
fn transpose_within<const SIDE: usize>(rows: &mut [[u64; 2]; 128], low: u64) {
    for group in rows.chunks_exact_mut(2 * SIDE) {
        let (upper, lower) = group.split_at_mut(SIDE);
        for (upper, lower) in upper.iter_mut().zip(lower) {
            for word in 0..2 {
                let change = (upper[word] >> SIDE ^ lower[word]) & low;
                lower[word] ^= change;
                upper[word] ^= change << SIDE;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    #[test]
    fn transposing_moves_every_bit() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let rows: [[u64; 2]; 128] = std::array::from_fn(|_| [rng.next_u64(), rng.next_u64()]);
        let mut turned = rows;
        transpose(&mut turned);
        let bit =
            |rows: &[[u64; 2]; 128], row: usize, at: usize| rows[row][at / 64] >> (at % 64) & 1;
        for row in 0..128 {
            for at in 0..128 {
                assert_eq!(bit(&rows, row, at), bit(&turned, at, row));
            }
        }
    }
}
