//! A host's peers: a fingerprint and a name for each.

use crate::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use veilpath_session::limits::MAX_PEERS;
use veilpath_session::{Fingerprint, FingerprintError};

/// The largest peer list file.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The longest name.
const MAX_NAME_CHARS: usize = 64;

/// The length of the fingerprint prefix that replaces a missing name.
const SHORT_FINGERPRINT: usize = 19;

/// A peer of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// This side's name for it. It is usable as a file name.
    pub name: String,
}

/// Peers that cannot be hosted together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeersError {
    /// There are too many.
    #[error("{peers} partners are too many: a host has at most {MAX_PEERS}")]
    TooMany {
        /// The number of peers.
        peers: usize,
    },
    /// A peer is listed twice.
    #[error("the partner {0} is listed twice")]
    Duplicate(Fingerprint),
    /// Two peers have the same name.
    #[error("two partners have the name {0}, so their results would go to the same file")]
    DuplicateName(String),
    /// The peer list cannot be used.
    #[error("{path}: {problem}", path = path.display())]
    File {
        /// The list.
        path: PathBuf,
        /// The problem.
        problem: PeersFileProblem,
    },
}

/// What is wrong with a peer list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeersFileProblem {
    /// The operating system reported an error.
    #[error("cannot be read: {0}")]
    Io(io::Error),
    /// The file is too large.
    #[error("this file is too large for a list of partners")]
    TooLarge,
    /// The file contains no peer.
    #[error("this list contains no partner")]
    Empty,
    /// A line does not start with a fingerprint.
    #[error("line {line}: {error}; a name may follow the fingerprint after a space")]
    Fingerprint {
        /// The line, from 1.
        line: usize,
        /// The problem.
        error: FingerprintError,
    },
    /// A name that is not a valid file name on every system.
    #[error(
        "line {line}: a name has at most {MAX_NAME_CHARS} letters, digits, hyphens, underscores and dots, and starts with a letter or a digit; names such as con and com1, which some systems reserve, are not allowed"
    )]
    Name {
        /// The line, from 1.
        line: usize,
    },
}

impl Peer {
    /// A peer named after the start of its fingerprint.
    pub fn unnamed(fingerprint: Fingerprint) -> Self {
        let text = fingerprint.to_string();
        let name = text.chars().take(SHORT_FINGERPRINT).collect();
        Self { fingerprint, name }
    }
}

/// Reads a peer list: on each line a fingerprint, then optionally a space and a name. Lines that start with `#` are
/// comments.
pub fn read_peers(path: &Path) -> Result<Vec<Peer>, Error> {
    let opened = File::open(path).map_err(|error| PeersError::File {
        path: path.to_path_buf(),
        problem: PeersFileProblem::Io(error),
    });
    read_peers_from(path, opened?)
}

/// Reads a peer list from any reader. `name` appears in errors.
pub fn read_peers_from(name: &Path, reader: impl Read) -> Result<Vec<Peer>, Error> {
    parse(reader).map_err(|problem| {
        let path = name.to_path_buf();
        PeersError::File { path, problem }.into()
    })
}

/// Checks that peers can be hosted together: there are not too many, and all fingerprints and names are distinct.
pub fn check_peers(peers: &[Peer]) -> Result<(), Error> {
    Ok(check(peers)?)
}

fn check(peers: &[Peer]) -> Result<(), PeersError> {
    if peers.len() > MAX_PEERS {
        return Err(PeersError::TooMany { peers: peers.len() });
    }
    for (index, peer) in peers.iter().enumerate() {
        for other in &peers[..index] {
            if peer.fingerprint == other.fingerprint {
                return Err(PeersError::Duplicate(peer.fingerprint));
            }
            // Some file systems ignore case.
            if peer.name.eq_ignore_ascii_case(&other.name) {
                return Err(PeersError::DuplicateName(peer.name.clone()));
            }
        }
    }
    Ok(())
}

fn parse(reader: impl Read) -> Result<Vec<Peer>, PeersFileProblem> {
    let mut text = String::new();
    // Read a bounded amount: not every file has a size, and some never end.
    let size = reader
        .take(MAX_FILE_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(PeersFileProblem::Io)?;
    if size as u64 > MAX_FILE_BYTES {
        return Err(PeersFileProblem::TooLarge);
    }
    // Some editors write a byte-order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut peers = Vec::new();
    for (content, line) in text.lines().zip(1..) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let (fingerprint, name) = match content.split_once(char::is_whitespace) {
            Some((fingerprint, name)) => (fingerprint, Some(name.trim())),
            None => (content, None),
        };
        let fingerprint: Fingerprint = fingerprint
            .parse()
            .map_err(|error| PeersFileProblem::Fingerprint { line, error })?;
        peers.push(match name {
            None => Peer::unnamed(fingerprint),
            Some(name) if is_file_name(name) => Peer {
                fingerprint,
                name: name.to_string(),
            },
            Some(_) => return Err(PeersFileProblem::Name { line }),
        });
    }
    if peers.is_empty() {
        return Err(PeersFileProblem::Empty);
    }
    Ok(peers)
}

/// Whether a name is a valid file name on every system.
fn is_file_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.len() <= MAX_NAME_CHARS
        && name.chars().all(plain)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !is_device(name)
}

/// Whether Windows reserves this name for a device, with any extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    match stem.as_str() {
        "con" | "prn" | "aux" | "nul" => true,
        stem => {
            let number = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
            number.is_some_and(|it| matches!(it.as_bytes(), [b'1'..=b'9']))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn list(text: &str) -> Result<Vec<Peer>, String> {
        read_peers_from(Path::new("peers.txt"), text.as_bytes())
            .and_then(|peers| check_peers(&peers).map(|()| peers))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_has_fingerprints_and_names() {
        let two = ONE.replace('0', "f");
        let text = format!("# partners\n\n{ONE}  clinic\r\n\t{two}\n");
        let peers = list(&text).unwrap();
        let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
        assert_eq!(names, ["clinic", "f123-4567-89ab-cdef"]);
        assert_eq!(peers[0].fingerprint, ONE.parse().unwrap());
        let windows = format!("\u{feff}{ONE} clinic\r\n{two}\r\n");
        assert_eq!(list(&windows).unwrap(), peers);
    }

    #[test]
    fn problems_in_a_list_are_reported_with_their_line() {
        let two = ONE.replace('0', "f");
        for (text, words) in [
            ("# nobody\n".to_string(), "no partner"),
            (format!("{ONE}\n12 clinic\n"), "line 2"),
            (format!("{ONE} ../clinic\n"), "line 1"),
            (format!("{ONE} .clinic\n"), "line 1"),
            (format!("{ONE} {}\n", "x".repeat(65)), "line 1"),
            (format!("{ONE} Con\n"), "line 1"),
            (format!("{ONE} nul.2026\n"), "line 1"),
            (format!("{ONE} com1\n"), "line 1"),
            (format!("{ONE} LPT9.x\n"), "line 1"),
            (format!("{ONE} a\n{ONE} b\n"), "listed twice"),
            (format!("{ONE} clinic\n{two} Clinic\n"), "the name Clinic"),
        ] {
            let error = list(&text).unwrap_err();
            assert!(error.contains(words), "{words}: {error}");
        }
        for name in [
            "console",
            "com",
            "com0",
            "com10",
            "lpt",
            "x.con",
            "auxiliary",
        ] {
            assert_eq!(list(&format!("{ONE} {name}\n")).unwrap()[0].name, name);
        }
        let many = (0..=MAX_PEERS).map(|index| format!("{index:064x}\n"));
        let error = list(&many.collect::<String>()).unwrap_err();
        assert!(error.contains("too many"), "{error}");
    }

    /// `/dev/zero` has a size of zero and never ends.
    #[cfg(unix)]
    #[test]
    fn an_endless_file_is_rejected() {
        let error = read_peers(Path::new("/dev/zero")).unwrap_err();
        assert!(error.to_string().contains("too large"), "{error}");
    }
}
