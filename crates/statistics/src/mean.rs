//! Means over all pairs.

use crate::StatisticsError;
use crate::fixed_point::check_values;

/// A sum and the number of its values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeanSum {
    /// The sum.
    pub sum: i64,
    /// The number of values.
    pub count: u64,
}

impl MeanSum {
    /// The mean; `None` if there are no values.
    #[allow(clippy::cast_precision_loss)] // the result is a floating-point number
    pub fn mean(self, unit: f64) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 * unit)
    }
}

/// The sum and number of all values.
pub fn mean(values: &[i64]) -> Result<MeanSum, StatisticsError> {
    check_values(values)?;
    Ok(MeanSum {
        sum: values.iter().sum(),
        count: values.len() as u64,
    })
}

/// The sum and number of values for each key, such as a stimulus; `keys` has one entry below `count` for each value.
pub fn means_by_key(
    values: &[i64],
    keys: &[usize],
    count: usize,
) -> Result<Vec<MeanSum>, StatisticsError> {
    check_values(values)?;
    if keys.len() != values.len() {
        return Err(StatisticsError::Length {
            what: "keys",
            found: keys.len(),
            expected: values.len(),
        });
    }
    let mut sums = vec![MeanSum::default(); count];
    for (&value, &key) in values.iter().zip(keys) {
        let sum = sums.get_mut(key).ok_or(StatisticsError::Index {
            what: "key",
            index: key,
        })?;
        sum.sum += value;
        sum.count += 1;
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_added_up_by_key() {
        let sums = means_by_key(&[1, 2, 4, 8], &[0, 2, 0, 2], 3).unwrap();
        let [first, empty, last] = sums[..] else {
            panic!("three sums")
        };
        assert_eq!((first.sum, first.count), (5, 2));
        assert_eq!(empty.mean(1.0), None);
        assert_eq!(last.mean(0.5), Some(2.5));
        assert_eq!(mean(&[1, 2, 4, 8]).unwrap().sum, 15);
    }

    #[test]
    fn mismatched_inputs_are_refused() {
        assert!(means_by_key(&[1], &[1], 1).is_err());
        assert!(means_by_key(&[1], &[], 1).is_err());
        assert!(mean(&[i64::MAX, 1]).is_err());
        assert!(mean(&[i64::MIN]).is_err());
    }
}
