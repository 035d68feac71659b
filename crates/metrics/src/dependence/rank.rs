//! The rank of a matrix.

/// A prime. The rank modulo a prime is at most the rank.
const PRIME: u64 = (1 << 31) - 1;

/// No more is needed.
const MAX_RANK: usize = 64;

/// The rank of a matrix of zeros and ones, up to [`MAX_RANK`].
pub(super) fn of_bits(rows: impl Iterator<Item = Vec<bool>>) -> u32 {
    // Each row is reduced by those before it, and its first entry that is left is 1.
    let mut reduced: Vec<(usize, Vec<u64>)> = Vec::new();
    for row in rows {
        if reduced.len() == MAX_RANK {
            break;
        }
        let mut row: Vec<u64> = row.into_iter().map(u64::from).collect();
        for (first, other) in &reduced {
            let factor = PRIME - row[*first];
            for (entry, other) in row.iter_mut().zip(other) {
                *entry = (*entry + factor * other) % PRIME;
            }
        }
        if let Some(first) = row.iter().position(|entry| *entry != 0) {
            let inverse = power(row[first], PRIME - 2);
            row.iter_mut()
                .for_each(|entry| *entry = *entry * inverse % PRIME);
            reduced.push((first, row));
        }
    }
    u32::try_from(reduced.len()).unwrap_or(u32::MAX)
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % PRIME;
        }
        base = base * base % PRIME;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_match_known_matrices() {
        let rank = |rows: &[&str]| {
            let row = |row: &&str| row.chars().map(|it| it == '1').collect();
            of_bits(rows.iter().map(row))
        };
        assert_eq!(rank(&["100", "010", "001"]), 3);
        assert_eq!(rank(&["110", "011", "101"]), 3);
        assert_eq!(rank(&["1100", "0011", "1111"]), 2);
        assert_eq!(rank(&["000", "111", "111"]), 1);
        // A ring of ten, each with its two neighbours on either side.
        let ring = |at: usize| {
            (0..10).map(move |other: usize| [0, 1, 2, 8, 9].contains(&((other + 10 - at) % 10)))
        };
        assert_eq!(of_bits((0..10).map(|at| ring(at).collect())), 6);
    }
}
