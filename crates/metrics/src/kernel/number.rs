//! The number types that kernels compute with.

use super::sweep::Value;

/// A number type with which a kernel computes exactly within a given range.
///
/// It may be a single-precision float: floats are exact up to [`FLOAT_LIMIT`], and the baseline instruction set has a
/// vector maximum for floats but not for 32-bit integers.
pub(crate) trait Number: Copy + Default {
    /// The largest number.
    const LARGEST: Self;
    /// An integer with the same bits, as stored in profiles.
    type Bits: Value;

    /// Converts from an integer; returns the largest number if it does not fit.
    fn of(integer: i64) -> Self;
    /// Converts to an integer.
    fn integer(self) -> i64;
    /// To bits.
    fn bits(self) -> Self::Bits;
    /// From bits.
    fn from_bits(bits: Self::Bits) -> Self;
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// The difference.
    fn minus(self, other: Self) -> Self;
    /// The larger of both.
    fn larger(self, other: Self) -> Self;
    /// The smaller of both.
    fn smaller(self, other: Self) -> Self;
}

/// Single-precision floats represent every integer up to this one.
pub(crate) const FLOAT_LIMIT: i64 = 1 << f32::MANTISSA_DIGITS;

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Number for $integer {
            const LARGEST: Self = Self::MAX;

            type Bits = Self;

            #[inline(always)]
            fn of(integer: i64) -> Self {
                Self::try_from(integer).unwrap_or(Self::MAX)
            }

            #[inline(always)]
            fn integer(self) -> i64 {
                i64::from(self)
            }

            #[inline(always)]
            fn bits(self) -> Self {
                self
            }

            #[inline(always)]
            fn from_bits(bits: Self) -> Self {
                bits
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }

            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                self.max(other)
            }

            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                self.min(other)
            }
        }
    )*};
}

integers!(u8, u16, u32, i16, i32, i64);

macro_rules! floats {
    ($($float:ty, $bits:ty);*) => {$(
        #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // exact up to `FLOAT_LIMIT` and beyond
        impl Number for $float {
            const LARGEST: Self = Self::INFINITY;

            type Bits = $bits;

            #[inline(always)]
            fn of(integer: i64) -> Self {
                integer as Self
            }

            #[inline(always)]
            fn integer(self) -> i64 {
                self as i64
            }

            #[inline(always)]
            fn bits(self) -> $bits {
                self.to_bits()
            }

            #[inline(always)]
            fn from_bits(bits: $bits) -> Self {
                Self::from_bits(bits)
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }

            /// A single instruction, unlike the standard `max` of floats, which checks for NaN.
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                if self > other { self } else { other }
            }

            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
        }
    )*};
}

floats!(f32, u32; f64, u64);
