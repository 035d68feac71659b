//! Digests that identify a cohort, an agreement, and one side's journal of it; and nonces.

use crate::Identity;
use crate::agreement::Terms;
use crate::error::{InternalError, SessionError};
use crate::identity::hex;
use crate::roster::{Parties, Roster};
use ring::digest::{Context, SHA256};
use ring::rand::{SecureRandom, SystemRandom};
use veilpath_metrics::{Cohort, Metric, Scanpath};
use veilpath_protocol::{Role, Spec, Tile};

/// The id of one side's journal. It differs between the two sides of an agreement, even for the same user, and between tiles.
pub(crate) fn journal_id(agreement: &[u8; 32], role: Role, tile: Option<Tile>) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(agreement);
    context.update(match role {
        Role::Host => b"host",
        Role::Join => b"join",
    });
    if let Some(tile) = tile {
        context.update(b"tile");
        context.update(&tile.index().to_le_bytes());
    }
    let mut id = [0; 32];
    id.copy_from_slice(context.finish().as_ref());
    id
}

/// The name of a journal's file. Users refer to the comparison by it.
pub(crate) fn journal_name(id: &[u8; 32]) -> String {
    hex(&id[..16])
}

/// An authentication tag of a cohort's content, under the key of its owner. It includes groups if the plan is about them.
pub(crate) fn cohort_tag(cohort: &Cohort, identity: &Identity, with_groups: bool) -> String {
    let mut context = Context::new(&SHA256);
    update_with(&mut context, cohort, with_groups);
    #[cfg(test)]
    if let Some(forged) = FORGED_TAG.with_borrow(Clone::clone) {
        return forged;
    }
    hex(&identity.tag("cohort", &[context.finish().as_ref()]))
}

/// Adds the content of a cohort.
fn update_with(context: &mut Context, cohort: &Cohort, with_groups: bool) {
    for entry in &cohort.entries {
        let group = with_groups.then_some(entry.group.as_ref());
        let ids = [Some(&entry.participant), entry.stimulus.as_ref()];
        for text in ids.into_iter().chain(group) {
            context.update(&[u8::from(text.is_some())]);
            let text = text.map(String::as_bytes).unwrap_or_default();
            context.update(&(text.len() as u64).to_le_bytes());
            context.update(text);
        }
        update_with_letters(context, &entry.scanpath);
    }
}

fn update_with_letters(context: &mut Context, scanpath: &Scanpath) {
    context.update(&(scanpath.len() as u64).to_le_bytes());
    for letter in scanpath.letters() {
        context.update(&letter.to_le_bytes());
    }
}

/// Digests of a cohort's scanpaths. If anything differs in how letters are made, all digests differ: if only those of
/// changed letters did, a refusal could depend on letters.
pub(crate) struct ScanpathDigests(Context);

impl ScanpathDigests {
    /// The digests of a cohort whose letters were made with these settings and, if the metric rounds fixations, by this rounding.
    pub(crate) fn of(cohort: &Cohort, metric: &Metric) -> Self {
        let mut context = Context::new(&SHA256);
        // The size does not change letters, and depends on what both sides declare.
        let (notation, modulus) = (cohort.alphabet.notation(), cohort.alphabet.modulus());
        let alphabet = format!("{notation:?} {modulus:?}");
        let rounding = metric.quantisation();
        let rounding = rounding.and_then(|it| serde_json::to_string(&it).ok());
        let rounding = rounding.unwrap_or_default();
        let settings = cohort.encoding.0.iter();
        let settings = settings.flat_map(|(name, value)| [name, value]);
        for text in [&alphabet, &rounding].into_iter().chain(settings) {
            context.update(&(text.len() as u64).to_le_bytes());
            context.update(text.as_bytes());
        }
        Self(context)
    }

    /// A digest of the settings.
    pub(crate) fn settings(&self) -> [u8; 32] {
        finish(self.0.clone())
    }

    pub(crate) fn digest(&self, scanpath: &Scanpath) -> [u8; 32] {
        let mut context = self.0.clone();
        update_with_letters(&mut context, scanpath);
        finish(context)
    }
}

fn finish(context: Context) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

#[cfg(test)]
thread_local! {
    /// A forged cohort tag for a modified peer in this thread.
    pub(crate) static FORGED_TAG: std::cell::RefCell<Option<String>> = const { std::cell::RefCell::new(None) };
}

/// The id of an agreement: the plan's, and the number of the agreement. A plan that is repeated on purpose has a new number.
pub(crate) fn agreement_id(plan: &[u8; 32], number: u32) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(plan);
    context.update(&number.to_le_bytes());
    let mut id = [0; 32];
    id.copy_from_slice(context.finish().as_ref());
    id
}

/// A random number.
pub(crate) fn nonce() -> Result<String, SessionError> {
    let mut bytes = [0; 16];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| InternalError::NoRandomness)?;
    Ok(hex(&bytes))
}

/// The tag of one computation under an agreement, from a random number of each side.
pub(crate) fn run_tag(agreement: &[u8; 32], host: &str, join: &str) -> u64 {
    let mut context = Context::new(&SHA256);
    context.update(agreement);
    for text in [host, join] {
        context.update(&(text.len() as u64).to_le_bytes());
        context.update(text.as_bytes());
    }
    let mut tag = [0; 8];
    tag.copy_from_slice(&context.finish().as_ref()[..8]);
    u64::from_le_bytes(tag)
}

/// The id of a plan with tiles between two cohorts on this machine: a digest of both cohorts and of all settings.
pub fn local_plan_id(
    spec: &Spec,
    tiles: u32,
    cohorts: [&Cohort; 2],
) -> Result<String, SessionError> {
    let mut context = Context::new(&SHA256);
    let spec = serde_json::to_vec(spec);
    let spec = spec.map_err(|error| InternalError::Serialise(error.to_string()))?;
    context.update(b"veilpath plan of two cohorts 1");
    context.update(&tiles.to_le_bytes());
    context.update(&(spec.len() as u64).to_le_bytes());
    context.update(&spec);
    for cohort in cohorts {
        context.update(&(cohort.entries.len() as u64).to_le_bytes());
        update_with(&mut context, cohort, false);
        for entry in &cohort.entries {
            context.update(&[u8::from(entry.fixations.is_some())]);
            let Some(fixations) = &entry.fixations else {
                continue;
            };
            context.update(&(fixations.len() as u64).to_le_bytes());
            for fixation in fixations.list() {
                let start = fixation.start.unwrap_or(f64::NAN);
                for number in [fixation.x, fixation.y, start, fixation.duration] {
                    context.update(&number.to_bits().to_le_bytes());
                }
            }
        }
    }
    Ok(hex(context.finish().as_ref()))
}

/// The id of a plan: a digest of everything that was agreed on, the same on both sides.
pub(crate) fn plan_id(
    terms: &Terms,
    spec: &Spec,
    parties: &Parties,
    cohort_tags: &[String; 2],
    rosters: &[&Roster; 2],
) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    let mut put = |bytes: &[u8]| {
        context.update(&(bytes.len() as u64).to_le_bytes());
        context.update(bytes);
    };
    put(b"veilpath plan 3");
    for fields in [&terms.fields, &spec.encoding] {
        put(&(fields.len() as u64).to_le_bytes());
        for (name, value) in fields {
            put(name.as_bytes());
            put(value.as_bytes());
        }
    }
    put(parties.host.bytes());
    put(parties.join.bytes());
    for (tag, roster) in cohort_tags.iter().zip(rosters) {
        put(tag.as_bytes());
        put(&roster.digest());
    }
    let mut id = [0; 32];
    id.copy_from_slice(context.finish().as_ref());
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_metrics::{
        Alphabet, Encoding, Entry, Fixation, Fixations, Frechet, Grid, Positions,
    };
    use veilpath_protocol::{Engine, PairRule};

    /// Two entries with the same scanpath; one of them has fixations.
    fn cohort(with_fixations: usize) -> Cohort {
        let fixation = Fixation {
            x: 1.0,
            y: 2.0,
            start: None,
            duration: 3.0,
        };
        let entries = (0..2).map(|index| Entry {
            participant: format!("P{index}"),
            group: None,
            stimulus: None,
            scanpath: Scanpath::new(vec![1]),
            fixations: (index == with_fixations).then(|| Fixations::new(vec![fixation]).unwrap()),
        });
        Cohort {
            alphabet: Alphabet::letters(4).unwrap(),
            encoding: Encoding::default(),
            screen: None,
            entries: entries.collect(),
        }
    }

    /// A refusal that depended on which fixations cross the boundary of a class would tell about them.
    #[test]
    fn all_digests_differ_with_another_rounding_of_fixations() {
        let metric = |width: f64| {
            let grid = Grid::new(2, 2).unwrap();
            Metric::Frechet(Frechet {
                positions: Positions::Cells {
                    grid,
                    width,
                    height: 10.0,
                },
            })
        };
        let cohort = cohort(2);
        let digest = |metric: &Metric| {
            let scanpath = &cohort.entries[0].scanpath;
            ScanpathDigests::of(&cohort, metric).digest(scanpath)
        };
        assert_eq!(digest(&metric(10.0)), digest(&metric(10.0)));
        assert_ne!(digest(&metric(10.0)), digest(&metric(11.0)));
        assert_ne!(digest(&metric(10.0)), digest(&Metric::Levenshtein));
        // The size of the alphabet follows from what both sides declare.
        let mut larger = cohort.clone();
        larger.alphabet = Alphabet::letters(9).unwrap();
        let settings = |cohort| ScanpathDigests::of(cohort, &Metric::Levenshtein).settings();
        assert_eq!(settings(&cohort), settings(&larger));
    }

    #[test]
    fn the_id_of_a_local_plan_says_whose_fixations_they_are() {
        let other = cohort(2);
        let metric = Metric::Levenshtein;
        let spec = Spec::new(Engine::Plain, metric, PairRule::All, &other, &other).unwrap();
        let id = |cohort: &Cohort| local_plan_id(&spec, 2, [cohort, &other]).unwrap();
        assert_ne!(id(&cohort(0)), id(&cohort(1)));
        assert_ne!(id(&cohort(0)), id(&other));
    }
}
