use super::*;
use crate::Identity;
use crate::error::BanReason;

/// A ledger in a folder, and other processes that use it.
struct World {
    folder: tempfile::TempDir,
    peer: Fingerprint,
}

impl World {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            peer: Identity::ephemeral().unwrap().fingerprint(),
        }
    }

    /// As another process sees it.
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
fn large() -> World {
    let world = World::new();
    world
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
    world
}

#[test]
fn a_charge_does_not_rewrite_the_whole_ledger() {
    let world = large();
    let file = world.file();
    let snapshot = world.bytes(EXTENSION);
    assert!(snapshot.len() > 1 << 20, "{}", snapshot.len());
    for count in 1..=50 {
        charge(&file, "new", count);
    }
    assert_eq!(world.bytes(EXTENSION), snapshot);
    let log = world.bytes(LOG).len();
    assert!(log < 50 * 120 + 100, "{log}");
    assert_eq!(world.count("new"), 50);
}

/// A log that has outgrown its snapshot becomes a part of it.
#[test]
fn a_log_stays_short() {
    let world = World::new();
    let file = world.file();
    let name = "n".repeat(100_000);
    let mut longest = 0;
    for count in 1..=40 {
        charge(&file, &name, count);
        longest = longest.max(world.bytes(LOG).len() as u64);
    }
    assert!((MIN_LOG / 2..2 * MIN_LOG).contains(&longest), "{longest}");
    assert_eq!(world.count(&name), 40);
}

#[test]
fn processes_see_what_others_have_counted_and_banned() {
    let world = World::new();
    let [one, other] = [(); 2].map(|()| world.file());
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
    assert_eq!((world.count("x"), world.count("y")), (9, 3));
}

#[test]
fn a_truncated_line_is_overwritten() {
    let world = World::new();
    charge(&world.file(), "x", 1);
    charge(&world.file(), "x", 2);
    let whole = world.bytes(LOG);
    charge(&world.file(), "x", 3);
    let longer = world.bytes(LOG);
    for end in whole.len()..longer.len() {
        let mut torn = longer[..end].to_vec();
        std::fs::write(world.path(LOG), &torn).unwrap();
        assert_eq!(world.count("x"), 2, "{end}");
        // Blocks that did not reach the disk.
        torn.resize(longer.len() + 40, 0);
        std::fs::write(world.path(LOG), &torn).unwrap();
        assert_eq!(world.count("x"), 2, "{end}");
    }
    charge(&world.file(), "y", 5);
    assert_eq!((world.count("x"), world.count("y")), (2, 5));
    // What is not at the end was synced, and is missed.
    let mut text = world.bytes(LOG);
    let place = whole.len() - 10;
    text[place] ^= 1;
    std::fs::write(world.path(LOG), &text).unwrap();
    assert!(matches!(
        world.file().read(),
        Err(SessionError::File {
            problem: FileProblem::CorruptedLedger,
            ..
        })
    ));
}

/// A process that is killed after it has written a new snapshot leaves the log of the old one.
#[test]
fn the_log_of_another_snapshot_is_ignored() {
    let world = World::new();
    let file = world.file();
    charge(&file, "x", 1);
    charge(&file, "x", 2);
    let old = world.bytes(LOG);
    file.update(|ledger| {
        ledger.scanpaths.clear();
        Ok(())
    })
    .unwrap();
    assert_eq!(world.bytes(LOG), old);
    assert_eq!(world.count("x"), 0);
    // The next one has a log of its own.
    charge(&file, "y", 1);
    assert_eq!((world.count("x"), world.count("y")), (0, 1));
    // A log that is gone, as after the wrong backup, is not made up from what this process has read.
    std::fs::remove_file(world.path(LOG)).unwrap();
    assert_eq!(file.read().unwrap().count("y", "a/1"), 0);
}

/// What fails leaves nothing in memory, either.
#[test]
fn a_failed_change_is_forgotten() {
    let world = World::new();
    let file = world.file();
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
#[ignore = "a measurement"]
fn time_of_a_charge() {
    let world = large();
    let file = world.file();
    let start = std::time::Instant::now();
    for count in 1..=100 {
        charge(&file, "new", count);
    }
    let bytes = world.bytes(EXTENSION).len();
    println!("{bytes} bytes: {:?} each", start.elapsed() / 100);
}
