mod processes;

use super::*;
use crate::Identity;
use crate::error::BanReason;

/// A ledger in a folder, and other processes that use it.
struct Setup {
    folder: tempfile::TempDir,
    peer: Fingerprint,
}

impl Setup {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            peer: Identity::ephemeral().unwrap().fingerprint(),
        }
    }

    /// The ledger as another process sees it.
    fn file(&self) -> LedgerFile {
        LedgerFile::of(Some(self.folder.path()), self.peer)
    }

    fn path(&self, extension: &str) -> PathBuf {
        let name = format!("{}.{extension}", self.peer.plain());
        self.folder.path().join(name)
    }

    fn bytes(&self, extension: &str) -> Vec<u8> {
        std::fs::read(self.path(extension)).unwrap_or_default()
    }

    /// The lengths of the snapshot and the log.
    fn lengths(&self) -> [u64; 2] {
        [EXTENSION, LOG].map(|extension| self.bytes(extension).len() as u64)
    }

    fn count(&self, name: &str) -> u64 {
        self.file().read().unwrap().count(name, "a/1")
    }
}

fn counted(name: &str, count: u64) -> Counted {
    Counted {
        agreement: "a/1".into(),
        counts: BTreeMap::from([(name.to_string(), count)]),
        ..Counted::default()
    }
}

fn charge(file: &LedgerFile, name: &str, count: u64) {
    file.count(|_| Ok(counted(name, count))).unwrap();
}

/// A ledger of 2,000 scanpaths in 20 tiles each.
fn large() -> Setup {
    let setup = Setup::new();
    setup
        .file()
        .update(|ledger| {
            for scanpath in 0..2000 {
                let tiles = (0..20).map(|tile| (format!("{:032x}/{tile}", 7), 9));
                let name = format!("{scanpath:032x}");
                ledger.scanpaths.insert(name, tiles.collect());
            }
            Ok(())
        })
        .unwrap();
    setup
}

#[test]
fn a_charge_does_not_rewrite_the_whole_ledger() {
    let setup = large();
    let file = setup.file();
    let snapshot = setup.bytes(EXTENSION);
    assert!(snapshot.len() > 1 << 20, "{}", snapshot.len());
    for count in 1..=50 {
        charge(&file, "new", count);
    }
    assert_eq!(setup.bytes(EXTENSION), snapshot);
    let log = setup.bytes(LOG).len();
    assert!(log < 50 * 120 + 100, "{log}");
    assert_eq!(setup.count("new"), 50);
}

/// A log that has outgrown its snapshot is merged into it.
#[test]
fn a_log_stays_short() {
    let setup = Setup::new();
    let file = setup.file();
    let name = "n".repeat(100_000);
    let mut longest = 0;
    for count in 1..=40 {
        charge(&file, &name, count);
        longest = longest.max(setup.bytes(LOG).len() as u64);
    }
    assert!((MIN_LOG / 2..2 * MIN_LOG).contains(&longest), "{longest}");
    assert_eq!(setup.count(&name), 40);
}

#[test]
fn processes_see_what_others_have_counted_and_banned() {
    let setup = Setup::new();
    let [one, other] = [(); 2].map(|()| setup.file());
    for round in 1..4 {
        charge(&one, "x", round);
        let seen = |ledger: &Ledger| ledger.count("x", "a/1");
        assert_eq!(other.inspect(seen).unwrap(), round);
        charge(&other, "y", round);
        assert_eq!(one.inspect(|it| it.count("y", "a/1")).unwrap(), round);
    }
    let ban = |ledger: &mut Ledger| {
        ledger.banned = Some(BanReason::FailedCheck);
        Ok(())
    };
    other.update(ban).unwrap();
    assert!(one.inspect(|it| it.banned.is_some()).unwrap());
    charge(&one, "x", 9);
    assert!(other.inspect(|it| it.banned.is_some()).unwrap());
    assert_eq!((setup.count("x"), setup.count("y")), (9, 3));
}

#[test]
fn a_truncated_line_is_overwritten() {
    let setup = Setup::new();
    charge(&setup.file(), "x", 1);
    charge(&setup.file(), "x", 2);
    let whole = setup.bytes(LOG);
    charge(&setup.file(), "x", 3);
    let longer = setup.bytes(LOG);
    for end in whole.len()..longer.len() {
        let mut torn = longer[..end].to_vec();
        std::fs::write(setup.path(LOG), &torn).unwrap();
        assert_eq!(setup.count("x"), 2, "{end}");
        // Blocks that did not reach the disk.
        torn.resize(longer.len() + 40, 0);
        std::fs::write(setup.path(LOG), &torn).unwrap();
        assert_eq!(setup.count("x"), 2, "{end}");
    }
    charge(&setup.file(), "y", 5);
    assert_eq!((setup.count("x"), setup.count("y")), (2, 5));
    // A line that is not the last one was synced, so its loss is an error.
    let mut text = setup.bytes(LOG);
    let place = whole.len() - 10;
    text[place] ^= 1;
    std::fs::write(setup.path(LOG), &text).unwrap();
    assert!(matches!(
        setup.file().read(),
        Err(SessionError::File {
            problem: FileProblem::CorruptedLedger,
            ..
        })
    ));
}

/// A process that is killed after it has written a new snapshot leaves the log of the old one.
#[test]
fn the_log_of_another_snapshot_is_ignored() {
    let setup = Setup::new();
    let file = setup.file();
    charge(&file, "x", 1);
    charge(&file, "x", 2);
    let old = setup.bytes(LOG);
    file.update(|ledger| {
        ledger.scanpaths.clear();
        Ok(())
    })
    .unwrap();
    assert_eq!(setup.bytes(LOG), old);
    assert_eq!(setup.count("x"), 0);
    // The next one has a log of its own.
    charge(&file, "y", 1);
    assert_eq!((setup.count("x"), setup.count("y")), (0, 1));
}

/// A deleted log, or a backup without it, would forget what the peer has learned.
#[test]
fn a_missing_log_is_an_error() {
    let setup = Setup::new();
    let file = setup.file();
    // The first charge writes only a snapshot, the second one the log.
    for count in 1..=2 {
        charge(&file, "x", count);
        let log = setup.bytes(LOG);
        std::fs::remove_file(setup.path(LOG)).unwrap();
        for file in [&file, &setup.file()] {
            let read = file.read().map(|_| ());
            let counted = file.count(|_| Ok(counted("x", 9)));
            let updated = file.update(|_| Ok(()));
            for result in [read, counted, updated] {
                assert!(
                    matches!(
                        result,
                        Err(SessionError::File {
                            problem: FileProblem::NoLedgerLog,
                            ..
                        })
                    ),
                    "{result:?}"
                );
            }
        }
        std::fs::write(setup.path(LOG), log).unwrap();
        assert_eq!(setup.count("x"), count);
    }
}

fn is_corrupted<T>(result: &Result<T, SessionError>) -> bool {
    let Err(SessionError::File { problem, .. }) = result else {
        return false;
    };
    matches!(problem, FileProblem::CorruptedLedger)
}

/// Neither an empty log, nor one without its first line, nor that of another snapshot is read as a log without counts.
#[test]
fn the_start_of_a_log_cannot_be_lost() {
    let setup = Setup::new();
    let file = setup.file();
    let mut logs = Vec::new();
    for count in 1..=6 {
        charge(&file, "x", count);
        logs.push(setup.bytes(LOG));
        let log = setup.bytes(LOG);
        let first_line = log.iter().position(|&byte| byte == b'\n').unwrap();
        let mut lost: Vec<Vec<u8>> = (0..=first_line).map(|end| log[..end].to_vec()).collect();
        lost.push(log[first_line + 1..].to_vec());
        lost.push(vec![0; log.len()]);
        // Logs of snapshots before the one that this snapshot includes.
        if count == 6 {
            lost.push(logs[0].clone());
            lost.push(logs[1].clone());
        }
        for lost in lost {
            std::fs::write(setup.path(LOG), &lost).unwrap();
            for file in [&file, &setup.file()] {
                assert!(is_corrupted(&file.read()), "{count}: {lost:?}");
                assert!(is_corrupted(&file.count(|_| Ok(counted("x", 9)))));
                assert!(is_corrupted(&file.update(|_| Ok(()))));
            }
        }
        std::fs::write(setup.path(LOG), log).unwrap();
        assert_eq!(setup.count("x"), count);
        // Snapshots with and without a charge since the one before.
        if count == 2 || count == 4 {
            file.update(|_| Ok(())).unwrap();
            file.update(|_| Ok(())).unwrap();
            assert_eq!(setup.count("x"), count);
        }
    }
    // A process that has read the log of this snapshot does not accept an earlier one.
    file.read().unwrap();
    std::fs::write(setup.path(LOG), &logs[2]).unwrap();
    assert!(is_corrupted(&file.read()));
}

#[test]
fn a_log_of_counts_without_a_snapshot_is_an_error() {
    let setup = Setup::new();
    charge(&setup.file(), "x", 1);
    // A process that is killed before it has written the first snapshot.
    std::fs::remove_file(setup.path(EXTENSION)).unwrap();
    charge(&setup.file(), "x", 1);
    charge(&setup.file(), "x", 2);
    std::fs::remove_file(setup.path(EXTENSION)).unwrap();
    assert!(is_corrupted(&setup.file().read()));
    assert!(is_corrupted(&setup.file().update(|_| Ok(()))));
}

/// Readers do not take the lock, so they may see a log that is newer than the snapshot that they have read.
#[test]
fn readers_do_not_disturb_a_writer() {
    let setup = Setup::new();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                while !over.load(std::sync::atomic::Ordering::SeqCst) {
                    let file = setup.file();
                    let count = file.read().unwrap().count("x", "a/1");
                    assert!(count >= last, "{count} after {last}");
                    last = count;
                }
            });
        }
        let file = setup.file();
        for count in 1..=100 {
            charge(&file, "x", count);
            if count % 3 == 0 {
                file.update(|_| Ok(())).unwrap();
            }
        }
        over.store(true, std::sync::atomic::Ordering::SeqCst);
    });
    assert_eq!(setup.count("x"), 100);
}

/// A failed change leaves nothing in memory.
#[test]
fn a_failed_change_is_forgotten() {
    let setup = Setup::new();
    let file = setup.file();
    charge(&file, "x", 1);
    let failed = file.update(|ledger| {
        ledger.scanpaths.clear();
        Err(InternalError::NewKey.into())
    });
    assert!(failed.is_err());
    let failed = file.count(|_| Err(InternalError::NewKey.into()));
    assert!(failed.is_err());
    assert_eq!(file.read().unwrap().count("x", "a/1"), 1);
}

/// `cargo test --release … -- --ignored --nocapture` prints what a charge costs.
#[test]
#[ignore = "a measurement; .ci/full runs it"]
fn time_of_a_charge() {
    let setup = large();
    let file = setup.file();
    let start = std::time::Instant::now();
    for count in 1..=100 {
        charge(&file, "new", count);
    }
    let bytes = setup.bytes(EXTENSION).len();
    println!("{bytes} bytes: {:?} each", start.elapsed() / 100);
}

/// Nothing is revealed before its charge is on the disk: what `count` writes is synced when it returns, a whole line or, at
/// first, a snapshot.
#[test]
fn a_charge_is_synced_after_it_is_written() {
    let setup = Setup::new();
    let file = setup.file();
    for count in 1..6 {
        let before = setup.lengths();
        state_dir::LAST_SYNC.set(None);
        charge(&file, "s", count);
        let after = setup.lengths();
        let written: Vec<u64> = (0..2)
            .filter(|&it| before[it] != after[it])
            .map(|it| after[it])
            .collect();
        assert!(!written.is_empty(), "{count}");
        assert!(
            state_dir::LAST_SYNC
                .get()
                .is_some_and(|it| written.contains(&it)),
            "{count}"
        );
    }
}
