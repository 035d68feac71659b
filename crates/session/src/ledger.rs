//! How often a peer has had each scanpath of this side compared.
//!
//! Exact scores against chosen scanpaths add up: whoever may ask without limit can find a scanpath out from scores alone,
//! whatever the engine. So a side counts, for every peer and for every scanpath (by the ids of participant and stimulus,
//! whatever its letters), the different comparisons, and can set a limit. The same agreement counts once, however often it
//! is continued or repeated: it gives the same answers. Another threshold is another agreement.
//!
//! The file holds names that only this side's key can make, not ids.

use crate::identity::hex;
use crate::state_dir::{self, create_private_dir};
use crate::{Fingerprint, Identity, SessionError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use veilpath_metrics::Cohort;

const VERSION: u32 = 1;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ledger {
    version: u32,
    /// Comparisons by scanpath and agreement.
    scanpaths: BTreeMap<String, BTreeMap<String, u64>>,
}

/// What is about to be compared.
pub(crate) struct Request<'a> {
    pub(crate) identity: &'a Identity,
    pub(crate) peer: Fingerprint,
    pub(crate) cohort: &'a Cohort,
    /// For each scanpath of the cohort, in how many pairs it is.
    pub(crate) comparisons: &'a [u64],
    pub(crate) agreement: &'a [u8; 32],
    pub(crate) limit: Option<u64>,
}

/// Whether the limit allows all of the comparisons. Nothing is counted: a peer that only asks costs nothing. Gives the most
/// agreements, with this one, that a scanpath of this side is in: a pair has at most one answer by each.
pub(crate) fn check(folder: &Path, request: &Request<'_>) -> Result<u64, SessionError> {
    let path = folder.join(format!("{}.json", request.peer.plain()));
    read(&path)?.add(request)
}

/// Counts the comparisons, where the limit allows all of them; else counts none.
pub(crate) fn charge(folder: &Path, request: &Request<'_>) -> Result<(), SessionError> {
    create_private_dir(folder)?;
    let path = folder.join(format!("{}.json", request.peer.plain()));
    let guard_path = path.with_extension("lock");
    let guard = state_dir::private_file()
        .create(true)
        .truncate(false)
        .open(&guard_path)
        .map_err(|error| SessionError::file(&guard_path, &error))?;
    // Held for a moment, so that two sessions with one peer do not forget each other's comparisons.
    guard
        .lock()
        .map_err(|error| SessionError::file(&guard_path, &error))?;
    let mut ledger = read(&path)?;
    ledger.add(request)?;
    ledger.version = VERSION;
    let text = serde_json::to_vec(&ledger)
        .map_err(|error| SessionError::bad_file(&path, error.to_string()))?;
    state_dir::replace(&path, &text)
}

impl Ledger {
    fn add(&mut self, request: &Request<'_>) -> Result<u64, SessionError> {
        let agreement = hex(&request.agreement[..16]);
        let mut here: BTreeMap<String, u64> = BTreeMap::new();
        for (entry, comparisons) in request.cohort.entries.iter().zip(request.comparisons) {
            let stimulus = entry.stimulus.as_deref();
            let parts: [&[u8]; 3] = [
                entry.participant.as_bytes(),
                &[u8::from(stimulus.is_some())],
                stimulus.unwrap_or_default().as_bytes(),
            ];
            let name = hex(&request.identity.tag("ledger", &parts)[..16]);
            let here = here.entry(name).or_default();
            *here = here.saturating_add(*comparisons);
        }
        let (mut beyond, mut max_agreements) = (0, 0);
        for (name, comparisons) in here {
            let counts = self.scanpaths.entry(name).or_default();
            counts.insert(agreement.clone(), comparisons);
            // A file that somebody spoilt must not wrap around below the limit.
            let total = counts
                .values()
                .fold(0, |sum: u64, count| sum.saturating_add(*count));
            let agreements = counts.values().filter(|&&comparisons| comparisons > 0);
            max_agreements = max_agreements.max(agreements.count() as u64);
            beyond += u64::from(request.limit.is_some_and(|limit| total > limit));
        }
        if let (Some(limit), 1..) = (request.limit, beyond) {
            return Err(SessionError::Limit(format!(
                "the limit of {limit} comparisons per scanpath with this peer would be passed for {beyond} of {} scanpaths",
                request.cohort.entries.len()
            )));
        }
        Ok(max_agreements)
    }
}

/// The ledger that a file's content holds.
fn parse(text: &[u8]) -> Option<Ledger> {
    let ledger: Option<Ledger> = serde_json::from_slice(text).ok();
    ledger.filter(|ledger| ledger.version == VERSION)
}

/// Whether a file's content is a ledger that comes back from its own text, for fuzzing.
pub(crate) fn is_ledger(text: &[u8]) -> bool {
    let Some(ledger) = parse(text) else {
        return false;
    };
    let written = serde_json::to_vec(&ledger).ok();
    written.is_some_and(|text| parse(&text).is_some())
}

/// A spoilt ledger is an error: an empty one in its place would forget what a peer has had.
fn read(path: &Path) -> Result<Ledger, SessionError> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ledger::default()),
        Err(error) => return Err(SessionError::file(path, &error)),
    };
    parse(&text)
        .ok_or_else(|| {
            SessionError::bad_file(
                path,
                "the count of comparisons with this peer cannot be read; move the file away to start from zero",
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_metrics::{Alphabet, Encoding, Entry};

    #[test]
    fn agreements_add_up_to_the_limit_and_repetitions_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let identity = Identity::ephemeral().unwrap();
        let alphabet = Alphabet::letters(4).unwrap();
        let cohort = Cohort {
            alphabet,
            encoding: Encoding::default(),
            entries: ["P1", "P2"]
                .map(|participant| Entry {
                    participant: participant.into(),
                    stimulus: None,
                    scanpath: alphabet.parse("AB").unwrap(),
                })
                .to_vec(),
        };
        let other = Identity::ephemeral().unwrap().fingerprint();
        let peer = Identity::ephemeral().unwrap().fingerprint();
        let ask = |peer, agreement: u8, comparisons: &[u64], limit| {
            let request = Request {
                identity: &identity,
                peer,
                cohort: &cohort,
                comparisons,
                agreement: &[agreement; 32],
                limit,
            };
            let allowed = check(folder.path(), &request);
            assert_eq!(allowed.is_ok(), check(folder.path(), &request).is_ok());
            let charged = charge(folder.path(), &request);
            assert_eq!(allowed.is_ok(), charged.is_ok());
            charged
        };
        ask(peer, 1, &[3, 4], Some(5)).unwrap();
        ask(peer, 1, &[3, 4], Some(5)).unwrap();
        let error = ask(peer, 2, &[2, 2], Some(5)).unwrap_err().to_string();
        assert!(
            error.contains("5 comparisons") && error.contains("1 of 2"),
            "{error}"
        );
        ask(peer, 3, &[2, 1], Some(5)).unwrap();
        ask(other, 2, &[2, 2], Some(5)).unwrap();
        ask(peer, 2, &[2, 2], None).unwrap();
        assert!(ask(peer, 4, &[1, 0], Some(5)).is_err());
        let path = folder.path().join(format!("{}.json", peer.plain()));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("P1"));
        // Counts that would wrap around are beyond every limit.
        let most = format!(":{}", u64::MAX);
        std::fs::write(&path, text.replace(":3", &most)).unwrap();
        assert!(ask(peer, 4, &[1, 0], Some(u64::MAX - 1)).is_err());
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        let error = ask(peer, 1, &[0, 0], None).unwrap_err();
        assert!(matches!(error, SessionError::File { .. }), "{error}");
    }
}
