//! The victim has lost the end of its journal, back to shares of a group answer that were computed but never sent. The attacker still
//! has its shares of that run. A second run was opened and counted.

use super::groups::case;
use super::*;
use crate::digests::{journal_id, journal_name};
use crate::error::Limit;
use crate::journal::HEADER;
use crate::journal::entry::{ENTRY_BYTES, Entry};
use std::path::PathBuf;

fn journal(files: &Path, agreement: &[u8; 32], role: Role) -> (PathBuf, [u8; 32]) {
    let id = journal_id(agreement, role, None);
    let name = format!("{}.journal", journal_name(&id));
    (StateDir::at(files).journals().join(name), id)
}

/// Leaves what a journal had when all shares were stored. Returns its length.
fn forget_what_was_sent((path, id): (PathBuf, [u8; 32])) -> u64 {
    let bytes = std::fs::read(&path).unwrap();
    let entries = bytes[HEADER..].as_chunks::<ENTRY_BYTES>().0.iter();
    let is_kept = |entry: &&[u8; ENTRY_BYTES]| {
        let entry = Entry::decode(&id, *entry);
        !matches!(entry, Some(Entry::Sent(..) | Entry::Number(..)) | None)
    };
    let length = HEADER + ENTRY_BYTES * entries.take_while(is_kept).count();
    std::fs::write(&path, &bytes[..length]).unwrap();
    length as u64
}

/// The numbers of the answer that this side knows.
fn numbers((path, id): (PathBuf, [u8; 32])) -> Vec<(usize, u64)> {
    let bytes = std::fs::read(&path).unwrap();
    let entries = bytes[HEADER..].as_chunks::<ENTRY_BYTES>().0.iter();
    let number = |entry: &[u8; ENTRY_BYTES]| match Entry::decode(&id, entry) {
        Some(Entry::Number(at, number)) => Some((at, number)),
        _ => None,
    };
    entries.filter_map(number).collect()
}

/// A victim that has lost the end of its journal, and the attacker's folders: of the first run, of the second, and an empty one.
struct Lost {
    case: Case,
    setup: Setup,
    folders: [TempDir; 3],
    agreement: [u8; 32],
    /// The answer of the first run.
    first: Vec<(usize, u64)>,
    counted: (u32, u64),
}

impl Lost {
    fn new(case: Case) -> Self {
        let setup = Setup::new(case, 1);
        let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let end = setup.attack(&Attempt::new(folders[0].path(), 0));
        assert!(end.victim.is_none(), "{case:?}: {:?}", end.victim);
        let mut lost = Self {
            case,
            agreement: end.agreed.unwrap().0,
            first: Vec::new(),
            counted: (0, 0),
            setup,
            folders,
        };
        let attackers = journal(lost.folders[0].path(), &lost.agreement, case.attacker);
        lost.first = numbers(attackers.clone());
        forget_what_was_sent(attackers);
        let length = forget_what_was_sent(lost.victims_journal());
        for files in [lost.folders[0].path(), lost.setup.victim_files.path()] {
            let state = StateDir::at(files);
            let _ = std::fs::remove_dir_all(state.ledgers());
            let _ = std::fs::remove_dir_all(state.disclosures());
        }
        assert_eq!(lost.counted(), (0, 0));
        assert!(lost.returns(1, 1).is_none(), "{case:?}");
        lost.counted = lost.counted();
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(lost.victims_journal().0);
        let file = file.unwrap();
        assert!(file.metadata().unwrap().len() > length, "{case:?}");
        file.set_len(length).unwrap();
        lost
    }

    fn victims_journal(&self) -> (PathBuf, [u8; 32]) {
        let files = self.setup.victim_files.path();
        journal(files, &self.agreement, self.case.attacker.other())
    }

    fn counted(&self) -> (u32, u64) {
        (self.setup.disclosed(), self.setup.counted())
    }

    /// The attacker returns with the letters of a run and one of its folders. Returns the victim's error.
    fn returns(&self, run: usize, folder: usize) -> Option<SessionError> {
        let attempt = Attempt {
            letters: letters(run * 7).to_vec(),
            ..Attempt::new(self.folders[folder].path(), 0)
        };
        self.setup.attack(&attempt).victim
    }

    /// The attacker returns with its shares of the first run.
    fn is_refused(&self) {
        let error = self.returns(0, 0);
        assert!(
            matches!(error, Some(SessionError::Limit(Limit::LostPairs { .. }))),
            "{:?}: {error:?}",
            self.case
        );
    }
}

/// The answer of another run was counted, so the shares that are left are not sent.
#[test]
fn shares_of_an_earlier_run_are_not_sent() {
    for case in [
        case(Engine::Shares, "nearest:1", RevealTo::Both, Role::Join),
        case(Engine::Shares, "groups", RevealTo::Both, Role::Join),
        case(Engine::Garbled, "groups", RevealTo::Both, Role::Host),
        case(Engine::Shares, "mean:overall", RevealTo::Host, Role::Host),
    ] {
        let lost = Lost::new(case);
        lost.is_refused();
        assert_eq!(lost.counted(), lost.counted, "{case:?}");
    }
}

/// The numbers of the second run are sent to the victim and back, but this does not make the shares of the first one of its run.
#[test]
fn shares_of_an_earlier_run_are_not_sent_after_the_numbers_were() {
    for attacker in [Role::Host, Role::Join] {
        let case = case(Engine::Shares, "groups", RevealTo::Both, attacker);
        let lost = Lost::new(case);
        lost.is_refused();
        for folder in [1, 2] {
            assert!(lost.returns(1, folder).is_none(), "{case:?}");
        }
        let _ = lost.returns(0, 0);
        let [known, second] = [0, 1].map(|folder| {
            let files = lost.folders[folder].path();
            numbers(journal(files, &lost.agreement, attacker))
        });
        assert_ne!(lost.first, second);
        assert!(known.is_empty() || known == second, "{case:?}");
        assert_eq!(lost.counted(), lost.counted, "{case:?}");
    }
}
