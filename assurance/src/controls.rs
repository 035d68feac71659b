//! Code that leaks on purpose, and code that does not: the check must distinguish them.

use crate::valgrind::mark_secret;
use core::hint::black_box;

fn secret_byte() -> u8 {
    let byte = black_box([3u8]);
    mark_secret(&byte);
    // Read again: the compiler knows the value, but not that it is now secret.
    *black_box(&byte[0])
}

/// A branch on a secret.
pub fn branch() {
    let mut steps = 0u64;
    for _ in 0..black_box(u64::from(secret_byte())) {
        steps = black_box(steps + 1);
    }
}

/// An address that depends on a secret.
pub fn address() {
    let table: [u64; 256] = core::array::from_fn(|i| black_box(i as u64 * 7));
    let entry = black_box(&table)[usize::from(secret_byte())];
    black_box(entry);
}

/// The same look-up without a branch or address that depends on the secret.
pub fn constant_time_lookup() {
    let table: [u64; 256] = core::array::from_fn(|i| black_box(i as u64 * 7));
    let secret_index = u64::from(secret_byte());
    let mut entry = 0;
    for (index, value) in black_box(&table).iter().enumerate() {
        let difference = secret_index ^ index as u64;
        let equal = ((difference | difference.wrapping_neg()) >> 63) ^ 1;
        entry |= value & black_box(equal).wrapping_neg();
    }
    black_box(entry);
}
