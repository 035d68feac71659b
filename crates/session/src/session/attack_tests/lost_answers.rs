//! The victim has lost the end of its journal, back to shares of a group answer that were computed but never sent. The attacker still
//! has its shares of that run.

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

/// The answer of another run was counted, so the shares that are left are not sent.
#[test]
fn shares_of_an_earlier_run_are_not_sent() {
    for case in [
        case(Engine::Shares, "nearest:1", RevealTo::Both, Role::Join),
        case(Engine::Shares, "groups", RevealTo::Both, Role::Join),
        case(Engine::Garbled, "groups", RevealTo::Both, Role::Host),
        case(Engine::Shares, "mean:overall", RevealTo::Host, Role::Host),
    ] {
        let setup = Setup::new(case, 1);
        let (victims, victim) = (setup.victim_files.path(), case.attacker.other());
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let attempt = |run: usize| Attempt {
            letters: letters(run).to_vec(),
            ..Attempt::new(folders[run].path(), 0)
        };
        let first = setup.attack(&attempt(0));
        assert!(first.victim.is_none(), "{case:?}: {:?}", first.victim);
        let agreement = first.agreed.unwrap().0;
        forget_what_was_sent(journal(folders[0].path(), &agreement, case.attacker));
        let length = forget_what_was_sent(journal(victims, &agreement, victim));
        let _ = std::fs::remove_dir_all(StateDir::at(victims).ledgers());
        std::fs::remove_dir_all(StateDir::at(victims).disclosures()).unwrap();

        let second = setup.attack(&attempt(1));
        assert!(second.victim.is_none(), "{case:?}: {:?}", second.victim);
        let counted = (setup.disclosed(), setup.counted());
        let (path, _) = journal(victims, &agreement, victim);
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        assert!(file.metadata().unwrap().len() > length, "{case:?}");
        file.set_len(length).unwrap();
        drop(file);

        let error = setup.attack(&attempt(0)).victim;
        assert!(
            matches!(error, Some(SessionError::Limit(Limit::LostPairs { .. }))),
            "{case:?}: {error:?}"
        );
        assert_eq!((setup.disclosed(), setup.counted()), counted, "{case:?}");
    }
}
