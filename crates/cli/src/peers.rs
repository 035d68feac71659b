//! The peers of a host: their fingerprints, and a name for each to call its results by.

use crate::dash;
use crate::failure::Failure;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use veilpath_session::Fingerprint;
use veilpath_session::limits::MAX_PEERS;

/// No list of peers is larger.
const MOST_BYTES: u64 = 1 << 20;

/// Letters of a name.
const MOST_LETTERS: usize = 64;

/// The groups of a fingerprint that stand for it where there is no name.
const SHORT: usize = 19;

/// One peer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Peer {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) name: String,
}

impl Peer {
    pub(crate) fn unnamed(fingerprint: Fingerprint) -> Self {
        let name = fingerprint.to_string().chars().take(SHORT).collect();
        Self { fingerprint, name }
    }
}

/// All peers that are named on the command line and in a file. Every peer and every name is there once.
pub(crate) fn gather(named: &[Fingerprint], file: Option<&Path>) -> Result<Vec<Peer>, Failure> {
    let mut peers: Vec<Peer> = named.iter().copied().map(Peer::unnamed).collect();
    if let Some(path) = file {
        peers.extend(read(path)?);
    }
    if peers.len() > MAX_PEERS {
        return Err(Failure::input(format!(
            "{} peers are too many for one host: it may have {MAX_PEERS}\n  start another host, on another port, for the others",
            peers.len()
        )));
    }
    for (index, peer) in peers.iter().enumerate() {
        for other in &peers[..index] {
            if peer.fingerprint == other.fingerprint {
                return Err(Failure::input(format!(
                    "the peer {} is named twice",
                    peer.fingerprint
                )));
            }
            // Some file systems take large and small letters for the same.
            if peer.name.eq_ignore_ascii_case(&other.name) {
                return Err(Failure::input(format!(
                    "two peers have the name {}; their results would have one file",
                    peer.name
                )));
            }
        }
    }
    Ok(peers)
}

/// A line for each peer: its fingerprint, and a name where the user likes. Lines that start with `#` are for people.
fn read(path: &Path) -> Result<Vec<Peer>, Failure> {
    dash::refuse_as_input(path)?;
    let failed = |problem: String| Failure::input(format!("{}: {problem}", path.display()));
    let mut text = String::new();
    // Not every file tells its size, and some never end.
    let size = File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text))
        .map_err(|error| failed(format!("cannot be read: {error}")))?;
    if size as u64 > MOST_BYTES {
        return Err(failed("this is too large for a list of peers".into()));
    }
    // Some editors put a mark before the first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut peers = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (fingerprint, name) = match line.split_once(char::is_whitespace) {
            Some((fingerprint, name)) => (fingerprint, Some(name.trim())),
            None => (line, None),
        };
        let at = |problem: &str| failed(format!("line {}: {problem}", index + 1));
        let fingerprint: Fingerprint = fingerprint.parse().map_err(|error| {
            at(&format!(
                "{error}; in a list a blank ends it, and a name may follow"
            ))
        })?;
        let peer = match name {
            None => Peer::unnamed(fingerprint),
            Some(name) if is_good(name) => Peer {
                fingerprint,
                name: name.to_string(),
            },
            Some(_) => {
                return Err(at(
                    "a name has at most 64 letters, digits, hyphens, underscores and dots, and starts with a letter or a digit; some, like con and com1, are no names of files everywhere",
                ));
            }
        };
        peers.push(peer);
    }
    if peers.is_empty() {
        return Err(failed("nobody is in this list".into()));
    }
    Ok(peers)
}

/// Whether a name can be the name of a file everywhere.
fn is_good(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.len() <= MOST_LETTERS
        && name.chars().all(plain)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !is_device(name)
}

/// Whether Windows takes this name for a device, whatever follows a dot.
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
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("peers.txt");
        std::fs::write(&path, text).unwrap();
        gather(&[], Some(&path)).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_list_has_fingerprints_and_names() {
        let two = ONE.replace('0', "f");
        let text = format!("# partners\n\n{ONE}  clinic\r\n\t{two}\n");
        let peers = list(&text).unwrap();
        let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
        assert_eq!(names, ["clinic", "f123-4567-89ab-cdef"]);
        assert_eq!(peers[0].fingerprint, ONE.parse().unwrap());
        let of_windows = format!("\u{feff}{ONE} clinic\r\n{two}\r\n");
        assert_eq!(list(&of_windows).unwrap(), peers);
    }

    #[test]
    fn what_is_wrong_with_a_list_is_told_with_its_line() {
        let two = ONE.replace('0', "f");
        for (text, words) in [
            ("# nobody\n".to_string(), "nobody"),
            (format!("{ONE}\n12 clinic\n"), "line 2"),
            (format!("{ONE} ../clinic\n"), "line 1"),
            (format!("{ONE} .clinic\n"), "line 1"),
            (format!("{ONE} {}\n", "x".repeat(65)), "line 1"),
            (format!("{ONE} Con\n"), "line 1"),
            (format!("{ONE} nul.2026\n"), "line 1"),
            (format!("{ONE} com1\n"), "line 1"),
            (format!("{ONE} LPT9.x\n"), "line 1"),
            (format!("{ONE} a\n{ONE} b\n"), "named twice"),
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

    /// Its size is told as nothing.
    #[cfg(unix)]
    #[test]
    fn a_list_that_never_ends_is_refused() {
        let error = gather(&[], Some(Path::new("/dev/zero"))).unwrap_err();
        assert!(error.to_string().contains("too large"), "{error}");
    }
}
