//! The bytes of a column: one entry per letter, each of `width` bits per row, padded to a byte.

/// Bytes of one entry.
pub fn entry_bytes(rows: usize, width: usize) -> usize {
    (rows * width).div_ceil(8)
}

/// Bytes of a whole column.
pub fn column_bytes(alphabet: usize, rows: usize, width: usize) -> usize {
    alphabet * entry_bytes(rows, width)
}
