//! Permutation tests: are participants with the same label more similar?

use crate::fixed_point::check_values;
use crate::{Coins, Contrast, CrossMatrix, PairMatrix, StatisticsError, TestResult};

/// A test over all pairs of participants in one set. Labels are permuted among all participants.
///
/// With one label for each of two sites, it tests whether the sites differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelTest {
    labels: Vec<usize>,
    contrast: Contrast,
}

/// A test over the pairs of participants of two sites. Labels are permuted within each site, so that a difference
/// between sites is not mistaken for one between labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossTest {
    labels: [Vec<usize>; 2],
    contrast: Contrast,
}

impl LabelTest {
    /// A test of these labels, one for each participant.
    pub fn new(labels: Vec<usize>) -> Result<Self, StatisticsError> {
        let sizes = sizes(&labels);
        let pairs = |size: u64| size * size.saturating_sub(1) / 2;
        let same = sizes.iter().copied().map(pairs).sum();
        let contrast = Contrast::new(same, pairs(labels.len() as u64) - same)?;
        Ok(Self { labels, contrast })
    }

    /// Tests whether two sites differ: pairs from the same site against pairs from different sites.
    pub fn of_sites(first: usize, second: usize) -> Result<Self, StatisticsError> {
        let labels = [vec![0; first], vec![1; second]].concat();
        Self::new(labels)
    }

    /// The labels, one for each participant.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Which means are compared.
    pub fn contrast(&self) -> Contrast {
        self.contrast
    }

    /// The labels of one permutation.
    pub fn permuted(&self, coins: &Coins, index: u64) -> Vec<usize> {
        arranged(&self.labels, &coins.permutation(index, self.labels.len()))
    }

    /// The sum over pairs with the same label, modulo 2⁶⁴.
    pub fn sum_wrapping(values: &PairMatrix, labels: &[usize]) -> Result<i64, StatisticsError> {
        check_labels(labels, values.size())?;
        let pairs = values.pairs();
        let same = pairs.filter(|&(a, b, _)| labels[a] == labels[b]);
        Ok(same.fold(0, |sum: i64, (_, _, value)| sum.wrapping_add(value)))
    }

    /// The test with this many permutations.
    pub fn run(
        &self,
        values: &PairMatrix,
        coins: &Coins,
        permutations: u64,
    ) -> Result<TestResult, StatisticsError> {
        check_values(values.values())?;
        let same = Self::sum_wrapping(values, &self.labels)?;
        let permuted = (0..permutations)
            .map(|index| Self::sum_wrapping(values, &self.permuted(coins, index)))
            .collect::<Result<_, _>>()?;
        Ok(TestResult {
            contrast: self.contrast,
            same,
            all: values.values().iter().sum(),
            permuted,
            tolerance: 0,
        })
    }
}

impl CrossTest {
    /// A test of these labels, one for each participant of either site.
    pub fn new(labels: [Vec<usize>; 2]) -> Result<Self, StatisticsError> {
        let [first, second] = [&labels[0], &labels[1]].map(|labels| sizes(labels));
        let same = first.iter().zip(&second).map(|(a, b)| a * b).sum();
        let all = labels[0].len() as u64 * labels[1].len() as u64;
        let contrast = Contrast::new(same, all - same)?;
        Ok(Self { labels, contrast })
    }

    /// The labels, one for each participant of either site.
    pub fn labels(&self) -> [&[usize]; 2] {
        [&self.labels[0], &self.labels[1]]
    }

    /// Which means are compared.
    pub fn contrast(&self) -> Contrast {
        self.contrast
    }

    /// The labels of one permutation.
    pub fn permuted(&self, coins: &Coins, index: u64) -> [Vec<usize>; 2] {
        let sizes = [self.labels[0].len(), self.labels[1].len()];
        let [first, second] = coins.permutations(index, sizes);
        [
            arranged(&self.labels[0], &first),
            arranged(&self.labels[1], &second),
        ]
    }

    /// The sum over pairs with the same label, modulo 2⁶⁴.
    pub fn sum_wrapping(
        values: &CrossMatrix,
        [rows, columns]: [&[usize]; 2],
    ) -> Result<i64, StatisticsError> {
        check_labels(rows, values.rows())?;
        check_labels(columns, values.columns())?;
        let mut sum = 0_i64;
        for (row, label) in rows.iter().enumerate() {
            let values = &values.values()[row * columns.len()..(row + 1) * columns.len()];
            for (value, _) in values.iter().zip(columns).filter(|(_, it)| *it == label) {
                sum = sum.wrapping_add(*value);
            }
        }
        Ok(sum)
    }

    /// The test with this many permutations.
    pub fn run(
        &self,
        values: &CrossMatrix,
        coins: &Coins,
        permutations: u64,
    ) -> Result<TestResult, StatisticsError> {
        check_values(values.values())?;
        let same = Self::sum_wrapping(values, self.labels())?;
        let permuted = (0..permutations)
            .map(|index| {
                let [rows, columns] = self.permuted(coins, index);
                Self::sum_wrapping(values, [&rows, &columns])
            })
            .collect::<Result<_, _>>()?;
        Ok(TestResult {
            contrast: self.contrast,
            same,
            all: values.values().iter().sum(),
            permuted,
            tolerance: 0,
        })
    }
}

/// Participant `i` gets the label of participant `permutation[i]`.
fn arranged(labels: &[usize], permutation: &[usize]) -> Vec<usize> {
    permutation.iter().map(|&from| labels[from]).collect()
}

/// How many participants have each label. Labels are small integers.
fn sizes(labels: &[usize]) -> Vec<u64> {
    let mut sizes = Vec::new();
    for &label in labels {
        if sizes.len() <= label {
            sizes.resize(label + 1, 0);
        }
        sizes[label] += 1;
    }
    sizes
}

fn check_labels(labels: &[usize], participants: usize) -> Result<(), StatisticsError> {
    match labels.len() == participants {
        true => Ok(()),
        false => Err(StatisticsError::Length {
            what: "labels",
            found: labels.len(),
            expected: participants,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Participants 0 and 1 are similar, and so are 2, 3 and 4.
    fn clustered() -> PairMatrix {
        let value = |a: usize, b: usize| if (a < 2) == (b < 2) { 10 } else { 1 };
        let pairs = (0..5).flat_map(|a| (a + 1..5).map(move |b| value(a, b)));
        PairMatrix::new(5, pairs.collect()).unwrap()
    }

    #[test]
    fn sites_that_differ_are_found() {
        let test = LabelTest::of_sites(2, 3).unwrap();
        assert_eq!(
            [test.contrast().same(), test.contrast().different()],
            [4, 6]
        );
        let result = test.run(&clustered(), &Coins::new([3; 32]), 999).unwrap();
        assert_eq!((result.same, result.all), (40, 46));
        assert!((result.difference(0.1) - 0.9).abs() < 1e-12);
        // There are ten ways to choose two of five.
        assert!((0.07..0.13).contains(&result.p_value()), "{result:?}");
    }

    #[test]
    fn permutations_keep_the_sizes_of_groups() {
        let test = LabelTest::new(vec![0, 1, 1, 2, 2, 2]).unwrap();
        let mut labels = test.permuted(&Coins::new([3; 32]), 5);
        labels.sort_unstable();
        assert_eq!(labels, [0, 1, 1, 2, 2, 2]);
        let test = CrossTest::new([vec![0, 1, 1], vec![0, 0, 1]]).unwrap();
        let [mut rows, mut columns] = test.permuted(&Coins::new([3; 32]), 5);
        rows.sort_unstable();
        columns.sort_unstable();
        assert_eq!((rows, columns), (vec![0, 1, 1], vec![0, 0, 1]));
    }

    #[test]
    fn groups_that_differ_at_both_sites_are_found() {
        let labels = [vec![0, 0, 0, 1, 1, 1], vec![0, 0, 1, 1, 1, 1]];
        let values = labels[0]
            .iter()
            .flat_map(|a| labels[1].iter().map(move |b| if a == b { 5 } else { -5 }));
        let values = CrossMatrix::new(6, 6, values.collect()).unwrap();
        let test = CrossTest::new(labels).unwrap();
        assert_eq!(
            [test.contrast().same(), test.contrast().different()],
            [18, 18]
        );
        let result = test.run(&values, &Coins::new([9; 32]), 999).unwrap();
        assert_eq!(result.same, 90);
        assert!((result.difference(1.0) - 10.0).abs() < 1e-12);
        assert!(result.p_value() < 0.03, "{}", result.p_value());
    }

    #[test]
    fn labels_without_a_contrast_are_refused() {
        assert!(LabelTest::new(vec![0, 0, 0]).is_err());
        assert!(LabelTest::new(vec![0, 1, 2]).is_err());
        assert!(LabelTest::new(Vec::new()).is_err());
        assert!(CrossTest::new([vec![0, 0], vec![1, 1]]).is_err());
        assert!(CrossTest::new([vec![0, 0], vec![0]]).is_err());
    }

    #[test]
    fn sums_that_could_wrap_are_refused() {
        let values = PairMatrix::new(3, vec![i64::MAX / 2; 3]).unwrap();
        let test = LabelTest::of_sites(1, 2).unwrap();
        assert!(matches!(
            test.run(&values, &Coins::new([0; 32]), 1),
            Err(StatisticsError::TooManyPairs { .. })
        ));
    }

    /// Shares of any size add up to the sum of the values.
    #[test]
    fn sums_of_shares_add_up() {
        let values = clustered();
        let shares = |sign: i64| {
            let shares = values.values().iter().zip(1_i64..).map(|(value, at)| {
                let mask = at.wrapping_mul(0x1234_5678_9abc_def1);
                match sign {
                    1 => value.wrapping_add(mask),
                    _ => mask.wrapping_neg(),
                }
            });
            PairMatrix::new(5, shares.collect()).unwrap()
        };
        let labels = [0, 1, 0, 1, 1];
        let sums = [1, -1].map(|sign| LabelTest::sum_wrapping(&shares(sign), &labels).unwrap());
        assert_eq!(
            sums[0].wrapping_add(sums[1]),
            LabelTest::sum_wrapping(&values, &labels).unwrap()
        );
    }
}
