//! The result files of a host's peers, and how each peer's session ended.

use super::Peer;
use crate::{Contents, Error, Fault, OutcomeFormat, OutputFile, has_content, write_outcome};
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use veilpath_protocol::Outcome;
use veilpath_report::csv;
use veilpath_session::PeerState;

/// A folder with one result file per peer.
#[derive(Debug)]
pub struct ResultFolder {
    folder: PathBuf,
    format: OutcomeFormat,
    inputs: Vec<PathBuf>,
    replace: bool,
    /// Where results were saved, by peer name.
    saved: Mutex<HashMap<String, ResultLocation>>,
}

/// Where a peer's results are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultLocation {
    /// At the default path.
    AtDefaultPath,
    /// In this file, because the default was taken in the meantime.
    Renamed(PathBuf),
    /// Nowhere: this side gets no results, and the file of an earlier session was kept.
    Withheld(PathBuf),
}

/// The most file names to try for a peer's results.
const MAX_NAMES: u32 = 1000;

impl ResultFolder {
    /// Creates the folder and checks that a file for each peer can be written there. None of `inputs` may be
    /// overwritten. An existing file that is not a result file is replaced only if `replace` is set.
    pub fn create(
        folder: &Path,
        format: OutcomeFormat,
        peers: &[Peer],
        inputs: &[&Path],
        replace: bool,
    ) -> Result<Self, Error> {
        std::fs::create_dir_all(folder).map_err(|source| Error::CreateFolder {
            path: folder.to_path_buf(),
            source,
        })?;
        let folder = Self {
            folder: folder.to_path_buf(),
            format,
            inputs: inputs.iter().map(PathBuf::from).collect(),
            replace,
            saved: Mutex::default(),
        };
        for peer in peers {
            folder.open(&folder.default_path(peer))?;
        }
        Ok(folder)
    }

    /// The file with the peer's results, if any were saved.
    pub fn path(&self, peer: &Peer) -> Option<PathBuf> {
        match self.saved().get(&peer.name) {
            Some(ResultLocation::Renamed(path)) => Some(path.clone()),
            Some(ResultLocation::AtDefaultPath) => Some(self.default_path(peer)),
            Some(ResultLocation::Withheld(_)) | None => None,
        }
    }

    /// Writes the peer's results.
    pub fn save(&self, peer: &Peer, outcome: &Outcome) -> Result<ResultLocation, Error> {
        let default = self.default_path(peer);
        let saved = if outcome.is_withheld() && has_content(&default) {
            ResultLocation::Withheld(default)
        } else {
            let (file, saved) = match self.open(&default) {
                Err(Error::Output { .. }) => {
                    let (file, path) = self.open_free(peer)?;
                    (file, ResultLocation::Renamed(path))
                }
                opened => (opened?, ResultLocation::AtDefaultPath),
            };
            file.write(|out| write_outcome(outcome, self.format, out))?;
            saved
        };
        self.saved().insert(peer.name.clone(), saved.clone());
        Ok(saved)
    }

    /// The file that was checked at the start.
    fn default_path(&self, peer: &Peer) -> PathBuf {
        self.folder
            .join(format!("{}.{}", peer.name, self.format.extension()))
    }

    /// Opens a file with a number in its name, as in `clinic (2).csv`.
    fn open_free(&self, peer: &Peer) -> Result<(OutputFile, PathBuf), Error> {
        let numbered = |number: u32| {
            let name = format!("{} ({number}).{}", peer.name, self.format.extension());
            self.folder.join(name)
        };
        let free = (2..MAX_NAMES).map(numbered).find(|path| !path.exists());
        let path = free.unwrap_or_else(|| numbered(MAX_NAMES));
        Ok((self.open(&path)?, path))
    }

    fn open(&self, path: &Path) -> Result<OutputFile, Error> {
        let inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
        OutputFile::create_for(Contents::Results, path, &inputs, self.replace)
    }

    /// Ignores poisoning: every change is one step.
    fn saved(&self) -> MutexGuard<'_, HashMap<String, ResultLocation>> {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How serving a peer ended.
#[derive(Debug)]
pub struct ServedPeer {
    /// The peer.
    pub peer: Peer,
    /// The state of its session.
    pub state: PeerState<Arc<Error>>,
}

impl ServedPeer {
    /// Whether its session has finished.
    pub fn is_finished(&self) -> bool {
        matches!(self.state, PeerState::Finished)
    }

    /// Where the cause lies; `None` if the session has finished.
    pub fn fault(&self) -> Option<Fault> {
        match &self.state {
            PeerState::Finished => None,
            PeerState::Failed(failure) => Some(failure.error.fault()),
            PeerState::Awaited => Some(Fault::Network),
        }
    }
}

/// Shows the state as text.
impl fmt::Display for ServedPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.state {
            PeerState::Finished => "finished",
            PeerState::Failed(failure) if failure.error.is_ban() => "banned",
            PeerState::Failed(failure) if failure.error.is_blocked() => "blocked",
            PeerState::Failed(_) => "failed",
            PeerState::Awaited => "did not connect",
        })
    }
}

/// Writes the peers as CSV, with the file to which results of a finished one were saved.
pub fn write_peers(
    peers: &[ServedPeer],
    results: Option<&ResultFolder>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows = peers.iter().map(|served| {
        let results = results.filter(|_| served.is_finished());
        let file = results.and_then(|results| results.path(&served.peer));
        let file = file.map(|path| path.display().to_string());
        [
            served.peer.name.clone(),
            served.peer.fingerprint.to_string(),
            served.to_string(),
            file.unwrap_or_default(),
        ]
    });
    csv::write_table(["name", "fingerprint", "state", "file"], rows, out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may fail

    use super::*;
    use veilpath_session::{BanReason, Limit, SessionError, SessionFailure};

    /// The outcome of comparing two empty cohorts.
    fn outcome() -> Outcome {
        let cohort = veilpath_metrics::Cohort {
            alphabet: veilpath_metrics::Alphabet::letters(4).unwrap(),
            encoding: veilpath_metrics::Encoding::default(),
            screen: None,
            entries: Vec::new(),
        };
        let spec = veilpath_protocol::Spec::new(
            veilpath_protocol::Engine::Plain,
            veilpath_metrics::Metric::Levenshtein,
            veilpath_protocol::PairRule::All,
            &cohort,
            &cohort,
        );
        veilpath_protocol::compare_locally(spec.unwrap(), &cohort, &cohort, &()).unwrap()
    }

    #[test]
    fn peers_are_written_as_csv_with_their_files() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("results, old");
        let peers =
            [("clinic", "1"), ("lab", "2"), ("university", "3")].map(|(name, digit)| Peer {
                fingerprint: digit.repeat(64).parse().unwrap(),
                name: name.into(),
            });
        let results =
            ResultFolder::create(&folder, OutcomeFormat::Json, &peers, &[], false).unwrap();
        let [clinic, lab, university] = peers;
        results.save(&clinic, &outcome()).unwrap();
        let served = [
            (clinic, PeerState::Finished),
            (lab, PeerState::Awaited),
            (university, PeerState::Finished),
        ];
        let served = served.map(|(peer, state)| ServedPeer { peer, state });
        let mut text = Vec::new();
        write_peers(&served, Some(&results), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "name,fingerprint,state,file");
        let quoted = folder.join("clinic.json").display().to_string();
        let quoted = quoted.replace('"', "\"\"");
        assert!(
            lines[1].ends_with(&format!(",finished,\"{quoted}\"")),
            "{text}"
        );
        assert!(lines[2].ends_with(",did not connect,"), "{text}");
        // An estimate gives no results.
        assert!(lines[3].ends_with(",finished,"), "{text}");
        assert_eq!(served[1].fault(), Some(Fault::Network));
    }

    /// Only a ban is called one: `peers unban` says of too many starts that the partner is not banned.
    #[test]
    fn a_peer_with_too_many_starts_is_blocked_and_not_banned() {
        let limits = [
            (Limit::TooManyStarts { starts: 9 }, "blocked"),
            (Limit::TileStopped(BanReason::FailedCheck), "blocked"),
            (Limit::Banned(BanReason::FailedCheck), "banned"),
            (Limit::OtherAgreement, "failed"),
        ];
        for (limit, state) in limits {
            let error = Arc::new(Error::from(SessionError::from(limit)));
            let is_final = error.is_final();
            let served = ServedPeer {
                peer: Peer {
                    fingerprint: "1".repeat(64).parse().unwrap(),
                    name: "clinic".into(),
                },
                state: PeerState::Failed(SessionFailure { error, is_final }),
            };
            assert_eq!(served.to_string(), state);
            assert_eq!(is_final, state != "failed");
        }
    }

    /// A file that appears during the computation is kept, and the results get another name.
    #[test]
    fn results_get_a_free_name_if_theirs_is_taken() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("results");
        let peer = Peer {
            fingerprint: "1".repeat(64).parse().unwrap(),
            name: "clinic".into(),
        };
        let peers = std::slice::from_ref(&peer);
        let results = ResultFolder::create(&folder, OutcomeFormat::Csv, peers, &[], false).unwrap();
        assert_eq!(results.path(&peer), None);
        let outcome = outcome();
        assert_eq!(
            results.save(&peer, &outcome).unwrap(),
            ResultLocation::AtDefaultPath
        );
        for (taken, free) in [
            ("clinic.csv", "clinic (2).csv"),
            ("clinic (2).csv", "clinic (3).csv"),
        ] {
            std::fs::write(folder.join(taken), "a note").unwrap();
            let saved = results.save(&peer, &outcome).unwrap();
            assert_eq!(saved, ResultLocation::Renamed(folder.join(free)));
            assert_eq!(results.path(&peer), Some(folder.join(free)));
            assert_eq!(std::fs::read(folder.join(taken)).unwrap(), b"a note");
        }
        // Results for the other side only do not replace those of an earlier session.
        let withheld = Outcome {
            pairs: 1,
            ..outcome
        };
        let saved = results.save(&peer, &withheld).unwrap();
        assert_eq!(saved, ResultLocation::Withheld(folder.join("clinic.csv")));
        assert_eq!(results.path(&peer), None);
        assert_eq!(std::fs::read(folder.join("clinic.csv")).unwrap(), b"a note");
    }
}
