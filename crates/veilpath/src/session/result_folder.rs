//! The result files of a host's peers, and what became of each peer.

use super::Peer;
use crate::{Contents, Error, Fault, OutcomeFormat, OutputFile, write_outcome};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use veilpath_protocol::Outcome;
use veilpath_report::csv;
use veilpath_session::PeerState;

/// A folder with one result file per peer.
#[derive(Clone, Debug)]
pub struct ResultFolder {
    folder: PathBuf,
    format: OutcomeFormat,
    inputs: Vec<PathBuf>,
    replace: bool,
}

impl ResultFolder {
    /// Creates the folder, and checks that a file for each peer can be written there. None of `inputs` may be overwritten; a
    /// file that exists and is not a result file is replaced only with `replace`.
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
        };
        for peer in peers {
            folder.open(peer)?;
        }
        Ok(folder)
    }

    /// The peer's result file.
    pub fn path(&self, peer: &Peer) -> PathBuf {
        let name = format!("{}.{}", peer.name, self.format.extension());
        self.folder.join(name)
    }

    /// Writes the peer's results.
    pub fn save(&self, peer: &Peer, outcome: &Outcome) -> Result<(), Error> {
        let file = self.open(peer)?;
        file.write(|out| write_outcome(outcome, self.format, out))
    }

    fn open(&self, peer: &Peer) -> Result<OutputFile, Error> {
        let inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
        OutputFile::create_for(Contents::Results, &self.path(peer), &inputs, self.replace)
    }
}

/// What became of a peer.
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

    /// Who can fix what went wrong; `None` if the session has finished.
    pub fn fault(&self) -> Option<Fault> {
        match &self.state {
            PeerState::Finished => None,
            PeerState::Failed(failure) => Some(failure.error.fault()),
            PeerState::Awaited => Some(Fault::Network),
        }
    }
}

/// The state in words.
impl fmt::Display for ServedPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            PeerState::Finished => "finished",
            PeerState::Failed(_) => "failed",
            PeerState::Awaited => "did not connect",
        })
    }
}

/// Writes the peers as CSV, with the result file of each that has finished.
pub fn write_peers(
    peers: &[ServedPeer],
    results: Option<&ResultFolder>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows = peers.iter().map(|served| {
        let results = results.filter(|_| served.is_finished());
        let file = results.map(|results| results.path(&served.peer).display().to_string());
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

    #[test]
    fn peers_are_written_as_csv_with_their_files() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("results, old");
        let peers = [("clinic", "1"), ("lab", "2")].map(|(name, digit)| Peer {
            fingerprint: digit.repeat(64).parse().unwrap(),
            name: name.into(),
        });
        let results = ResultFolder::create(&folder, OutcomeFormat::Json, &peers, &[], false);
        let [clinic, lab] = peers;
        let served = [(clinic, PeerState::Finished), (lab, PeerState::Awaited)];
        let served = served.map(|(peer, state)| ServedPeer { peer, state });
        let mut text = Vec::new();
        write_peers(&served, Some(&results.unwrap()), &mut text).unwrap();
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
        assert_eq!(served[1].fault(), Some(Fault::Network));
    }
}
