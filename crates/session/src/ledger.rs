//! How often a peer has had each scanpath of this side compared.
//!
//! Exact scores against chosen scanpaths add up: anyone who may ask without limit can reconstruct a scanpath from scores, with
//! any engine. So a side counts the different comparisons for every peer and every scanpath (by the ids of participant and
//! stimulus, whatever its letters), and can set a limit. The same agreement counts once, however often it is continued or
//! repeated: it gives the same answers. A different threshold is a different agreement.
//!
//! The file contains authentication tags under this side's key, not ids.

use crate::error::{FileProblem, InternalError, Limit};
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

/// The comparisons that a session needs.
pub(crate) struct Request<'a> {
    pub(crate) identity: &'a Identity,
    pub(crate) peer: Fingerprint,
    pub(crate) cohort: &'a Cohort,
    /// The number of pairs of each scanpath of the cohort.
    pub(crate) comparisons: &'a [u64],
    pub(crate) agreement: &'a [u8; 32],
    pub(crate) limit: Option<u64>,
}

/// Checks that the limit allows all of the comparisons, and counts nothing: asking is free. Returns the largest number of
/// agreements, this one included, that any scanpath of this side is in: each gives at most one answer for a pair.
pub(crate) fn check(folder: &Path, request: &Request<'_>) -> Result<u64, SessionError> {
    let path = folder.join(format!("{}.json", request.peer.plain()));
    read(&path)?.add(request)
}

/// Counts the comparisons if the limit allows all of them; otherwise counts none.
pub(crate) fn charge(folder: &Path, request: &Request<'_>) -> Result<(), SessionError> {
    create_private_dir(folder)?;
    let path = folder.join(format!("{}.json", request.peer.plain()));
    let guard_path = path.with_extension("lock");
    let guard = state_dir::private_file()
        .create(true)
        .truncate(false)
        .open(&guard_path)
        .map_err(|error| SessionError::io(&guard_path, error))?;
    // Locked briefly, so that two sessions with one peer do not overwrite each other's counts.
    guard
        .lock()
        .map_err(|error| SessionError::io(&guard_path, error))?;
    let mut ledger = read(&path)?;
    ledger.add(request)?;
    ledger.version = VERSION;
    let text =
        serde_json::to_vec(&ledger).map_err(|error| InternalError::Serialise(error.to_string()))?;
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
        let (mut exceeded, mut max_agreements) = (0, 0);
        for (name, comparisons) in here {
            let counts = self.scanpaths.entry(name).or_default();
            counts.insert(agreement.clone(), comparisons);
            // A manipulated file must not wrap around below the limit.
            let total = counts
                .values()
                .fold(0, |sum: u64, count| sum.saturating_add(*count));
            let agreements = counts.values().filter(|&&comparisons| comparisons > 0);
            max_agreements = max_agreements.max(agreements.count() as u64);
            exceeded += u64::from(request.limit.is_some_and(|limit| total > limit));
        }
        if let (Some(limit), 1..) = (request.limit, exceeded) {
            return Err(Limit::ComparisonsPerScanpath {
                limit,
                exceeded,
                scanpaths: request.cohort.entries.len() as u64,
            }
            .into());
        }
        Ok(max_agreements)
    }
}

/// The ledger in the content of a file.
fn parse(text: &[u8]) -> Option<Ledger> {
    let ledger: Option<Ledger> = serde_json::from_slice(text).ok();
    ledger.filter(|ledger| ledger.version == VERSION)
}

/// Whether the content of a file is a ledger, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn is_ledger(text: &[u8]) -> bool {
    let Some(ledger) = parse(text) else {
        return false;
    };
    let written = serde_json::to_vec(&ledger).ok();
    written.is_some_and(|text| parse(&text).is_some())
}

/// A corrupted ledger is an error: an empty one instead would forget what a peer has learned.
fn read(path: &Path) -> Result<Ledger, SessionError> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ledger::default()),
        Err(error) => return Err(SessionError::io(path, error)),
    };
    parse(&text).ok_or_else(|| SessionError::file(path, FileProblem::CorruptedLedger))
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
        // Counts that would wrap around exceed every limit.
        let most = format!(":{}", u64::MAX);
        std::fs::write(&path, text.replace(":3", &most)).unwrap();
        assert!(ask(peer, 4, &[1, 0], Some(u64::MAX - 1)).is_err());
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        let error = ask(peer, 1, &[0, 0], None).unwrap_err();
        assert!(matches!(error, SessionError::File { .. }), "{error}");
    }
}
