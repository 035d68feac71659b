use super::*;
use crate::Identity;

fn with_folders(folder: &Path) -> StateDir {
    let state_dir = StateDir::at(folder);
    for folder in [
        state_dir.journals(),
        state_dir.ledgers(),
        state_dir.agreements(),
    ] {
        create_private_dir(&folder).unwrap();
    }
    state_dir
}

/// A kill leaves the new file, and the lock of the guard ends with the process.
#[test]
fn files_of_killed_processes_are_removed_and_those_in_use_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let state_dir = with_folders(folder.path());
    let journals = [("1", "journal"), ("2", "journal"), ("3", "journal")];
    let ledgers = [("1", "lock"), ("2", "lock"), ("3", "lock")];
    let mut locks = Vec::new();
    let mut new_files = Vec::new();
    for (folder, files) in [
        (state_dir.journals(), journals),
        (state_dir.ledgers(), ledgers),
        (state_dir.agreements(), ledgers),
    ] {
        for (name, guard) in files {
            let path = folder.join(name);
            std::fs::write(path.with_extension(NEW_EXTENSION), "half").unwrap();
            new_files.push(path.with_extension(NEW_EXTENSION));
            match name {
                "1" => {
                    let lock = File::create(path.with_extension(guard)).unwrap();
                    lock.try_lock().unwrap();
                    locks.push(lock);
                }
                "2" => std::fs::write(path.with_extension(guard), "").unwrap(),
                _ => {}
            }
        }
    }
    state_dir.prepare().unwrap();
    let kept: Vec<bool> = new_files.iter().map(|path| path.exists()).collect();
    assert_eq!(kept, [true, false, false].repeat(3));
    drop(locks);
    state_dir.prepare().unwrap();
    assert!(new_files.iter().all(|path| !path.exists()));
}

/// A kill between the link to the identity and the removal of its other name leaves a second copy of the secret key.
#[test]
fn a_second_copy_of_the_identity_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let state_dir = with_folders(folder.path());
    Identity::create(&state_dir.identity()).unwrap();
    let copy = state_dir.identity().with_extension("new-12345");
    std::fs::hard_link(state_dir.identity(), &copy).unwrap();
    let other = state_dir.identity().with_extension("new-2");
    std::fs::write(&other, "another key").unwrap();
    Identity::load(&state_dir.identity()).unwrap();
    assert!(!copy.exists() && state_dir.identity().exists());
    assert!(other.exists(), "it may be in use, or a backup");
}

/// The only copy of a key may have such a name, and so may a file that is no key.
#[test]
fn an_identity_that_is_named_like_a_copy_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.new-2026");
    Identity::create(&path).unwrap();
    for _ in 0..2 {
        Identity::load(&path).unwrap();
    }
    let others = ["clinic.pem", "clinic.new-1"].map(|name| folder.path().join(name));
    for other in &others {
        let mut file = private_file().create_new(true).open(other).unwrap();
        file.write_all(b"no key").unwrap();
    }
    assert!(Identity::load(&others[0]).is_err());
    assert!(others[1].exists());
}

#[test]
fn bans_are_listed_and_lifted() {
    let folder = tempfile::tempdir().unwrap();
    let state_dir = StateDir::at(folder.path());
    let [known, unknown] = ["1", "2"].map(|digit| digit.repeat(64).parse().unwrap());
    let file = LedgerFile::of(Some(&state_dir.ledgers()), known);
    file.update(|ledger| {
        ledger.banned = Some(BanReason::FailedCheck);
        Ok(())
    })
    .unwrap();
    let banned = |peers: Listing<KnownPeer>| {
        let peers = peers.entries.iter();
        peers.map(|it| it.banned).collect::<Vec<_>>()
    };
    assert_eq!(
        banned(state_dir.peers().unwrap()),
        [Some(BanReason::FailedCheck)]
    );
    assert_eq!(
        state_dir.unblock(known).unwrap(),
        Some(BanReason::FailedCheck)
    );
    assert_eq!(banned(state_dir.peers().unwrap()), [None]);
    assert!(state_dir.ban(unknown).is_err() && state_dir.unblock(unknown).is_err());
    assert_eq!(state_dir.peers().unwrap().entries.len(), 1);
}

#[test]
fn a_damaged_ledger_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let state_dir = with_folders(folder.path());
    let [sound, damaged]: [Fingerprint; 2] =
        ["1", "2"].map(|digit| digit.repeat(64).parse().unwrap());
    for peer in [sound, damaged] {
        let file = LedgerFile::of(Some(&state_dir.ledgers()), peer);
        file.update(|_| Ok(())).unwrap();
    }
    let path = state_dir
        .ledgers()
        .join(format!("{}.json", damaged.plain()));
    std::fs::write(path, "{").unwrap();
    let peers = state_dir.peers().unwrap();
    assert_eq!(peers.entries.len(), 1);
    assert_eq!(peers.entries[0].fingerprint, sound);
    assert_eq!(peers.unreadable.len(), 1);
}

#[cfg(unix)]
#[test]
fn files_that_others_may_change_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let state_dir = with_folders(folder.path());
    let set = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let peer: Fingerprint = "1".repeat(64).parse().unwrap();
    let ledger = LedgerFile::of(Some(&state_dir.ledgers()), peer);
    ledger.update(|_| Ok(())).unwrap();
    let path = entries(&state_dir.ledgers(), crate::locked_file::EXTENSION).unwrap();
    set(&path[0], 0o666);
    assert!(ledger.read().is_err());
    set(&path[0], 0o600);
    ledger.read().unwrap();
    for folder in [folder.path(), &state_dir.journals(), &state_dir.ledgers()] {
        state_dir.prepare().unwrap();
        set(folder, 0o777);
        assert!(state_dir.prepare().is_err(), "{}", folder.display());
        assert!(state_dir.peers().is_err() && state_dir.comparisons().is_err());
        set(folder, 0o700);
    }
}
