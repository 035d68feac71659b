//! How much memory a job takes on one side, from sizes that both sides know before anything is allocated.
//!
//! The formulas are upper bounds on what an engine keeps at the same time. Command-line tests compare them with the
//! actual memory of a process.

use crate::engines::{garbled, paillier, shares};
use crate::{Engine, Role, Spec, statistics};
use veilpath_metrics::{Comparison, Model};

/// The sizes of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobSize {
    /// Pairs to compare.
    pub pairs: u64,
    /// The host's scanpaths.
    pub host: SideSize,
    /// The joining side's scanpaths.
    pub join: SideSize,
}

/// The sizes of one side's scanpaths, as the other side sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideSize {
    /// Letters of all scanpaths.
    pub letters: u64,
    /// Letters of the longest scanpath.
    pub longest: u64,
    /// Letters of the shortest non-empty scanpath.
    pub shortest: u64,
}

impl SideSize {
    /// The sizes of scanpaths with these lengths.
    pub fn of(lengths: impl Iterator<Item = u64>) -> Self {
        let mut size = Self::default();
        for length in lengths.filter(|&length| length > 0) {
            size.letters = size.letters.saturating_add(length);
            size.longest = size.longest.max(length);
            size.shortest = match size.shortest {
                0 => length,
                shortest => shortest.min(length),
            };
        }
        size
    }
}

/// Bytes per letter of a pair that one thread needs to compare it in the clear.
const CLEAR_BYTES_PER_LETTER: u64 = 64;

/// Bytes per letter of a scanpath that was received in the clear.
const RECEIVED_BYTES_PER_LETTER: u64 = 4;

impl Spec {
    /// An upper bound on the bytes that the engine and a group answer need on one side.
    pub fn memory(&self, role: Role, size: &JobSize) -> u64 {
        let group = match self.reveal.group_question() {
            Some(question) if self.engine != Engine::Plain => {
                statistics::memory(question, size.pairs)
            }
            _ => 0,
        };
        // The answer is computed after the comparisons.
        self.engine_memory(role, size).max(group)
    }

    fn engine_memory(&self, role: Role, size: &JobSize) -> u64 {
        match self.engine {
            Engine::Plain if role == Role::Join => 0,
            Engine::Plain => {
                let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
                let longest = size.host.longest.saturating_add(size.join.longest);
                let working = longest.saturating_mul(CLEAR_BYTES_PER_LETTER * threads as u64);
                let received = size.join.letters.saturating_mul(RECEIVED_BYTES_PER_LETTER);
                working.saturating_add(received)
            }
            // The key holder keeps only batches.
            Engine::Paillier(_) if role == Role::Host => PAILLIER_BYTES,
            Engine::Paillier(options) => {
                // Local alignments search for the least value. A job whose metric is invalid is rejected before it needs memory.
                let comparison = Comparison::new(self.metric.clone(), self.alphabet);
                let searches = comparison.is_ok_and(|it| matches!(it.model(), Model::Local(_)));
                let longest = [size.host.longest, size.join.longest];
                let letters = self.alphabet.size();
                paillier::largest_storage(options.key_size(), letters, longest, searches)
                    .saturating_add(PAILLIER_BYTES)
            }
            Engine::Garbled | Engine::Shares => {
                match Comparison::new(self.metric.clone(), self.alphabet) {
                    Ok(comparison) if self.engine == Engine::Shares => {
                        shares::memory(&comparison, self.pad_to, size)
                    }
                    Ok(comparison) => garbled::memory(&comparison, self.pad_to, size),
                    // Such a job is rejected before it needs memory.
                    Err(_) => 0,
                }
            }
        }
    }
}

/// Encryption tables, and batches in several stages of processing.
const PAILLIER_BYTES: u64 = 48 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GroupQuestion, PaillierOptions, PairRule};
    use veilpath_metrics::{Alphabet, Cohort, Encoding, Metric, Substitution};

    fn mebibytes(engine: Engine, role: Role, pairs: u64, host: [u64; 2], join: [u64; 2]) -> u64 {
        mebibytes_by(Metric::Levenshtein, engine, role, pairs, [host, join])
    }

    fn mebibytes_by(
        metric: Metric,
        engine: Engine,
        role: Role,
        pairs: u64,
        [host, join]: [[u64; 2]; 2],
    ) -> u64 {
        let cohort = Cohort {
            alphabet: Alphabet::letters(52).unwrap(),
            encoding: Encoding::default(),
            screen: None,
            entries: Vec::new(),
        };
        let spec = Spec::new(engine, metric, PairRule::All, &cohort, &cohort).unwrap();
        let side = |[scanpaths, length]: [u64; 2]| {
            SideSize::of(std::iter::repeat_n(
                length,
                usize::try_from(scanpaths).unwrap(),
            ))
        };
        let size = JobSize {
            pairs,
            host: side(host),
            join: side(join),
        };
        spec.memory(role, &size) >> 20
    }

    #[test]
    fn common_jobs_need_little_and_long_scanpaths_much() {
        let paillier = Engine::Paillier(PaillierOptions::DEFAULT);
        for role in [Role::Host, Role::Join] {
            for engine in [Engine::Plain, Engine::Garbled, paillier] {
                assert!(mebibytes(engine, role, 900, [30, 100], [30, 100]) < 160);
                assert!(mebibytes(engine, role, 70_796, [266, 15], [266, 15]) < 160);
            }
            let long = mebibytes(Engine::Garbled, role, 1, [1, 1], [1, 1 << 22]);
            assert!(long > 400, "{long}");
        }
        assert!(mebibytes(Engine::Plain, Role::Host, 1, [1, 1], [1, 1 << 24]) > 1000);
        assert!(mebibytes(paillier, Role::Join, 1, [1, 1 << 16], [1, 10]) > 1000);
    }

    /// A ciphertext of a 2048-bit key takes 560 bytes on 64-bit Linux. The rows of one scanpath are stored at a time.
    #[test]
    fn stored_ciphertexts_take_more_than_their_bytes() {
        let paillier = Engine::Paillier(PaillierOptions::DEFAULT);
        let needed = |scanpaths| mebibytes(paillier, Role::Join, 2, [scanpaths, 8000], [1, 2]);
        assert_eq!(needed(1), needed(2));
        let rows = (8000 * 52 * 560) >> 20;
        assert!(needed(2) > rows + (PAILLIER_BYTES >> 20), "{}", needed(2));
        assert!(needed(2) < 3 * rows / 2 + (PAILLIER_BYTES >> 20));
    }

    /// A portion has as many matrices as its rows and columns allow, however many pairs there are.
    #[test]
    fn shares_need_indicators_for_the_matrices_of_a_portion() {
        let metric = Metric::NeedlemanWunsch {
            substitution: Substitution::Unit { mismatch: 301.0 },
            insert: 200.0,
            delete: 201.0,
            scale: Some(1),
        };
        let needed = |scanpaths: u64, letters: u64| {
            let side = [scanpaths, letters];
            let (metric, pairs) = (metric.clone(), scanpaths * scanpaths);
            mebibytes_by(metric, Engine::Shares, Role::Host, pairs, [side, side])
        };
        // 3361 matrices of 24 × 24 letters, with 51 indicators of 16 bytes each.
        let (portion, all) = (needed(58, 24), needed(267, 24));
        let letters = (2 * (267 - 58) * 24 * 1700) >> 20;
        assert!(all <= portion + letters + 1, "{all} and {portion} MiB");
    }

    #[test]
    fn means_are_rounded_in_memory_of_their_own() {
        let mean = |overall, pairs| statistics::memory(GroupQuestion::Mean { overall }, pairs);
        assert!(mean(false, 1 << 14) > mean(true, 1 << 14) + (20 << 20));
        assert_eq!(mean(false, 1 << 14), mean(false, 1 << 20));
    }

    #[test]
    fn sizes_leave_out_empty_scanpaths() {
        let size = SideSize::of([0, 7, 3, 0].into_iter());
        assert_eq!((size.letters, size.longest, size.shortest), (10, 7, 3));
        assert_eq!(SideSize::of([0].into_iter()), SideSize::default());
    }
}
