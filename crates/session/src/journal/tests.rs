use super::*;

const ID: [u8; 32] = [7; 32];

fn reading(score: f64) -> Reading {
    Reading {
        score,
        similarity: (score > 1.0).then_some(0.1 + 0.2),
    }
}

fn only_file(folder: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(folder).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    file
}

#[test]
fn scores_come_back_to_the_last_bit_and_views_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(folder.path(), ID, 4).unwrap();
    journal.begin(&[0, 1, 3]).unwrap();
    journal.keep(1, reading(1.0 / 3.0)).unwrap();
    journal.keep(3, reading(7.0)).unwrap();
    drop(journal);
    let mut journal = Journal::open(folder.path(), ID, 4).unwrap();
    assert_eq!(
        journal.done().collect::<Vec<_>>(),
        [false, true, false, true]
    );
    assert_eq!(journal.score(3), Some(reading(7.0)));
    assert_eq!(journal.repeated_views(), (0, 1));
    journal.begin(&[0, 2]).unwrap();
    assert_eq!(journal.repeated_views(), (1, 2));
    journal.keep(1, reading(1.0 / 3.0)).unwrap();
    let error = journal.keep(1, reading(0.5)).unwrap_err();
    assert!(matches!(error, SessionError::Misbehaved(_)));
    journal.forget().unwrap();
    drop(journal);
    let journal = Journal::open(folder.path(), ID, 4).unwrap();
    assert_eq!(journal.done().filter(|done| *done).count(), 0);
    assert_eq!(journal.repeated_views(), (1, 2));
}

#[test]
fn a_torn_end_costs_only_itself_wherever_it_is_torn() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(folder.path(), ID, 3).unwrap();
    for pair in 0..3 {
        journal.keep(pair, reading(pair as f64)).unwrap();
    }
    drop(journal);
    let path = only_file(folder.path());
    let whole = std::fs::read(&path).unwrap();
    assert_eq!(whole.len(), HEADER + 3 * RECORD);
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let mut journal = Journal::open(folder.path(), ID, 3).unwrap();
        let kept = length.saturating_sub(HEADER) / RECORD;
        assert_eq!(journal.done().filter(|done| *done).count(), kept);
        journal.keep(2, reading(2.0)).unwrap();
        drop(journal);
        let journal = Journal::open(folder.path(), ID, 3).unwrap();
        assert_eq!(journal.score(2), Some(reading(2.0)));
    }
    for byte in HEADER + 2 * RECORD..whole.len() {
        let mut spoilt = whole.clone();
        spoilt[byte] ^= 0x40;
        std::fs::write(&path, &spoilt).unwrap();
        let journal = Journal::open(folder.path(), ID, 3).unwrap();
        assert_eq!(journal.done().filter(|done| *done).count(), 2);
    }
}

#[test]
fn journals_are_never_mixed_up_and_never_shared() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(folder.path(), ID, 1).unwrap();
    journal.keep(0, reading(1.0)).unwrap();
    let error = Journal::open(folder.path(), ID, 1).unwrap_err();
    assert!(error.to_string().contains("another veilpath"), "{error}");
    drop(journal);
    let path = only_file(folder.path());
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let error = Journal::open(folder.path(), ID, 1).unwrap_err();
    assert!(error.to_string().contains("never"), "{error}");
    let other = Journal::open(folder.path(), [8; 32], 1).unwrap();
    assert_eq!(other.score(0), None);
}
