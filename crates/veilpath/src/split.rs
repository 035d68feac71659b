//! Randomly splits the participants of a cohort into two cohorts, as in the paper's experiments.

use crate::Error;
use crate::synth::generator;
use rand::seq::SliceRandom;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use veilpath_metrics::Cohort;

/// How to split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitOptions {
    /// The fraction of participants in the first cohort, from 0 to 1.
    pub fraction: f64,
    /// The seed; `None` picks a new one.
    pub seed: Option<u64>,
}

/// Two halves.
impl Default for SplitOptions {
    fn default() -> Self {
        Self {
            fraction: 0.5,
            seed: None,
        }
    }
}

/// The two cohorts.
#[derive(Clone, Debug)]
pub struct Split {
    /// The first and the second cohort.
    pub cohorts: [Cohort; 2],
    /// The seed that reproduces the same cohorts.
    pub seed: u64,
}

/// Why a cohort cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SplitError {
    /// A fraction that is not between 0 and 1.
    #[error("the fraction {fraction} is not a number from 0 to 1")]
    Fraction {
        /// The fraction.
        fraction: f64,
    },
    /// A cohort without participants.
    #[error("one of the two cohorts would have no participants")]
    EmptyCohort,
}

/// Splits a cohort. All scanpaths of a participant go to the same side. If participants have groups, every group is
/// split in the same proportion. The same seed and participants give the same split on every machine.
pub fn split(cohort: Cohort, options: SplitOptions) -> Result<Split, Error> {
    let fraction = options.fraction;
    if !(0.0..=1.0).contains(&fraction) {
        return Err(SplitError::Fraction { fraction }.into());
    }
    let (first, seed) = choose(&cohort, options);
    let (a, b): (Vec<_>, Vec<_>) = cohort
        .entries
        .into_iter()
        .partition(|entry| first.contains(&entry.participant));
    if a.is_empty() || b.is_empty() {
        return Err(SplitError::EmptyCohort.into());
    }
    let cohorts = [a, b].map(|entries| Cohort {
        alphabet: cohort.alphabet,
        encoding: cohort.encoding.clone(),
        screen: cohort.screen,
        entries,
    });
    Ok(Split { cohorts, seed })
}

/// The number of participants in a cohort.
pub fn participants(cohort: &Cohort) -> usize {
    ids(cohort).values().map(BTreeSet::len).sum()
}

/// The default paths of the two cohorts: `everyone.csv` becomes `everyone-a.csv` and `everyone-b.csv`.
pub fn default_paths(file: &Path) -> [PathBuf; 2] {
    let stem = file
        .file_stem()
        .map(|stem| stem.to_string_lossy())
        .unwrap_or_default();
    let extension = file
        .extension()
        .map_or("csv".into(), |extension| extension.to_string_lossy());
    ["a", "b"].map(|side| file.with_file_name(format!("{stem}-{side}.{extension}")))
}

/// The participants' ids by group. They are sorted, so that file order does not matter.
fn ids(cohort: &Cohort) -> BTreeMap<Option<&str>, BTreeSet<&str>> {
    let mut ids: BTreeMap<Option<&str>, BTreeSet<&str>> = BTreeMap::new();
    for entry in &cohort.entries {
        let group = ids.entry(entry.group.as_deref()).or_default();
        group.insert(&entry.participant);
    }
    ids
}

/// The participants of the first cohort, and the seed.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)] // a count of people times a fraction between 0 and 1
fn choose(cohort: &Cohort, options: SplitOptions) -> (HashSet<String>, u64) {
    let (mut rng, seed) = generator(options.seed);
    let mut first = HashSet::new();
    let mut people_so_far = 0;
    for people in ids(cohort).into_values() {
        let mut people: Vec<&str> = people.into_iter().collect();
        people.shuffle(&mut rng);
        people_so_far += people.len();
        // Carry rounding errors over to the next group, so that the whole cohort is split in the same proportion.
        let wanted = (people_so_far as f64 * options.fraction).round() as usize;
        let count = wanted - first.len();
        first.extend(people.into_iter().take(count).map(str::to_string));
    }
    (first, seed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // tests may panic

    use super::*;
    use crate::synth::{LifelikeOptions, RandomOptions, lifelike, random};
    use veilpath_metrics::{Grid, Notation};

    fn cohort() -> Cohort {
        let options = RandomOptions {
            count: 8,
            lengths: vec![3..=3],
            notation: Notation::Letters,
            letters: None,
            seed: Some(1),
        };
        random(&options).unwrap().cohort
    }

    fn fraction(fraction: f64) -> Result<Split, Error> {
        let seed = Some(1);
        split(cohort(), SplitOptions { fraction, seed })
    }

    #[test]
    fn every_participant_is_on_exactly_one_side() {
        let [a, b] = fraction(0.25).unwrap().cohorts;
        assert_eq!([participants(&a), participants(&b)], [2, 6]);
        let both = [&a, &b]
            .map(ids)
            .into_iter()
            .flat_map(|side| side.into_values().flatten());
        assert_eq!(both.collect::<BTreeSet<&str>>().len(), 8);
    }

    #[test]
    fn fixations_stay_with_their_scanpaths() {
        let options = LifelikeOptions {
            keep_fixations: true,
            seed: Some(1),
            ..LifelikeOptions::default()
        };
        let whole = lifelike(&options, Grid::default()).unwrap().cohort;
        let parts = split(whole.clone(), SplitOptions::default()).unwrap();
        let mut entries = Vec::new();
        for part in parts.cohorts {
            assert!(part.screen.is_some() && part.screen == whole.screen);
            entries.extend(part.entries);
        }
        for entry in &entries {
            let fixations = entry.fixations.as_ref().unwrap();
            assert_eq!(fixations.len(), entry.scanpath.len());
            assert!(whole.entries.contains(entry));
        }
        assert_eq!(entries.len(), whole.entries.len());
    }

    #[test]
    fn groups_are_split_in_the_same_proportion() {
        let mut whole = cohort();
        for (number, entry) in whole.entries.iter_mut().enumerate() {
            entry.group = Some(if number < 3 { "patients" } else { "controls" }.to_string());
        }
        for seed in 0..20 {
            let options = SplitOptions {
                fraction: 0.5,
                seed: Some(seed),
            };
            let [a, b] = split(whole.clone(), options).unwrap().cohorts;
            assert_eq!(participants(&a), 4, "{seed}");
            for (cohort, sizes) in [(a, [3, 1]), (b, [2, 2])] {
                let found: Vec<usize> = cohort.group_sizes().into_values().collect();
                assert_eq!(found, sizes, "{seed}");
            }
        }
    }

    #[test]
    fn a_side_without_participants_is_refused() {
        for (part, expected) in [
            (0.0, SplitError::EmptyCohort),
            (1.0, SplitError::EmptyCohort),
            (1.5, SplitError::Fraction { fraction: 1.5 }),
        ] {
            let Err(Error::Split(error)) = fraction(part) else {
                unreachable!("{part} was accepted")
            };
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn default_names_keep_folder_and_extension() {
        let names = default_paths(Path::new("data/everyone.tsv"));
        assert_eq!(names[0], Path::new("data/everyone-a.tsv"));
        assert_eq!(names[1], Path::new("data/everyone-b.tsv"));
        let names = default_paths(Path::new("everyone"));
        assert_eq!(names[0], Path::new("everyone-a.csv"));
    }
}
