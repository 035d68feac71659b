use super::*;
use crate::identity::hex;
use veilpath_metrics::PairScore;
use veilpath_protocol::Opened;

const ID: [u8; 32] = [7; 32];

fn reading(score: f64) -> Answer {
    Answer::Score(PairScore::new(score, (score > 1.0).then_some(0.1 + 0.2)))
}

fn open(folder: &Path, id: [u8; 32], pairs: usize) -> Result<Journal, SessionError> {
    let mut journal = Journal::open(folder, id, pairs, Reveal::Score)?;
    journal.create()?;
    Ok(journal)
}

fn answered(journal: &Journal) -> usize {
    let pairs = 0..journal.pairs.len();
    pairs.filter(|&pair| journal.is_answered(pair)).count()
}

fn only_file(folder: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(folder).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    file
}

#[test]
fn scores_are_read_back_exactly_and_starts_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path(), ID, 4).unwrap();
    journal.start_pairs(&[0, 1, 3]).unwrap();
    journal.store(1, reading(1.0 / 3.0)).unwrap();
    journal.store(3, reading(7.0)).unwrap();
    drop(journal);
    let mut journal = open(folder.path(), ID, 4).unwrap();
    assert_eq!(
        [0, 1, 2, 3].map(|pair| journal.is_answered(pair)),
        [false, true, false, true]
    );
    assert_eq!(journal.answer(3), Some(reading(7.0)));
    assert_eq!(journal.repeated_starts(2), (0, 1));
    journal.start_pairs(&[0, 2]).unwrap();
    assert_eq!(journal.repeated_starts(2), (1, 2));
    journal.store(1, reading(1.0 / 3.0)).unwrap();
    let error = journal.store(1, reading(0.5)).unwrap_err();
    assert!(matches!(error, SessionError::Misbehaved(_)));
}

#[test]
fn halves_and_sent_marks_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path(), ID, 5).unwrap();
    journal
        .store_halves(&[1, 2, 4], &[7, u64::MAX, 0], 9)
        .unwrap();
    journal.store_halves(&[2], &[8], 10).unwrap();
    journal.mark_sent(&[1, 2, 4]).unwrap();
    journal.reject(4);
    drop(journal);
    let journal = open(folder.path(), ID, 5).unwrap();
    let half = |half, run| Some(Half { half, run });
    assert_eq!(
        [0, 1, 2, 3, 4].map(|pair| journal.half(pair)),
        [None, half(7, 9), half(8, 10), None, half(0, 9)]
    );
    assert_eq!(
        [0, 1, 2, 3, 4].map(|pair| journal.is_sent(pair)),
        [false, true, true, false, true]
    );
    assert!(journal.is_answered(4) && journal.answer(4).is_none());
    assert!(journal.has_rejected() && !journal.is_answered(1));
}

/// The other side sees how long a portion takes. It must not see which outputs are possible results.
#[test]
fn answers_and_rejections_are_synced_alike() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path(), ID, 4).unwrap();
    let mut syncs = |age: Duration, change: &dyn Fn(&mut Journal)| {
        journal.synced = Instant::now() - age;
        state_dir::LAST_SYNC.set(None);
        change(&mut journal);
        state_dir::LAST_SYNC.get().is_some()
    };
    let store =
        |pair: usize| move |journal: &mut Journal| journal.store(pair, reading(1.0)).unwrap();
    let reject = |pair: usize| move |journal: &mut Journal| journal.reject(pair);
    for (age, due) in [(Duration::ZERO, false), (SYNC_EVERY, true)] {
        let first = usize::from(due);
        assert_eq!(syncs(age, &store(first)), due);
        assert_eq!(syncs(age, &reject(2 + first)), due);
    }
}

#[test]
fn entries_after_a_partial_one_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path(), ID, 3).unwrap();
    journal.store(0, reading(5.0)).unwrap();
    // A full disk takes only a part of an entry.
    let mut file = journal.file.as_ref().unwrap();
    file.write_all(&[1; 10]).unwrap();
    truncate_to(file, journal.end);
    journal.store(2, reading(6.0)).unwrap();
    drop(journal);
    let journal = open(folder.path(), ID, 3).unwrap();
    assert_eq!(journal.answer(0), Some(reading(5.0)));
    assert_eq!(journal.answer(2), Some(reading(6.0)));
}

#[test]
fn a_truncated_entry_is_the_only_loss() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path(), ID, 3).unwrap();
    for pair in 0..3 {
        journal.store(pair, reading(pair as f64)).unwrap();
    }
    drop(journal);
    let path = only_file(folder.path());
    let whole = std::fs::read(&path).unwrap();
    assert_eq!(whole.len(), HEADER + 3 * ENTRY_BYTES);
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let mut journal = open(folder.path(), ID, 3).unwrap();
        let complete = length.saturating_sub(HEADER) / ENTRY_BYTES;
        assert_eq!(answered(&journal), complete);
        journal.store(2, reading(2.0)).unwrap();
        drop(journal);
        let journal = open(folder.path(), ID, 3).unwrap();
        assert_eq!(journal.answer(2), Some(reading(2.0)));
    }
    for byte in HEADER + 2 * ENTRY_BYTES..whole.len() {
        let mut corrupted = whole.clone();
        corrupted[byte] ^= 0x40;
        std::fs::write(&path, &corrupted).unwrap();
        let journal = open(folder.path(), ID, 3).unwrap();
        assert_eq!(answered(&journal), 2);
    }
}

#[test]
fn journals_are_never_mixed_up_or_shared() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path(), ID, 1).unwrap();
    journal.store(0, reading(1.0)).unwrap();
    let error = open(folder.path(), ID, 1).unwrap_err();
    assert!(error.to_string().contains("another veilpath"), "{error}");
    drop(journal);
    let path = only_file(folder.path());
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let error = open(folder.path(), ID, 1).unwrap_err();
    assert!(error.to_string().contains("never"), "{error}");
    let other = open(folder.path(), [8; 32], 1).unwrap();
    assert_eq!(other.answer(0), None);
}

fn reveal_threshold(threshold: &str) -> Reveal {
    format!("threshold:{threshold}").parse().unwrap()
}

#[test]
fn bits_are_read_back_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Journal::open(folder.path(), ID, 3, reveal_threshold("2")).unwrap();
    let mut journal = open();
    journal.start_pairs(&[0, 1, 2]).unwrap();
    journal.store(0, Answer::Within(true)).unwrap();
    journal.store(2, Answer::Within(false)).unwrap();
    drop(journal);
    let mut journal = open();
    let bits = [
        Some(Answer::Within(true)),
        None,
        Some(Answer::Within(false)),
    ];
    assert_eq!([0, 1, 2].map(|pair| journal.answer(pair)), bits);
    journal.store(2, Answer::Within(false)).unwrap();
    for other in [Answer::Within(true), reading(0.0)] {
        let error = journal.store(2, other).unwrap_err();
        assert!(matches!(error, SessionError::Misbehaved(_)), "{error}");
    }
    drop(journal);
    // Whatever is changed in the file, an entry is read as it was written or not at all.
    let path = only_file(folder.path());
    let whole = std::fs::read(&path).unwrap();
    for byte in HEADER..whole.len() {
        for flip in [1, 0x80] {
            let mut corrupted = whole.clone();
            corrupted[byte] ^= flip;
            std::fs::write(&path, &corrupted).unwrap();
            let journal = open();
            for (pair, bit) in bits.iter().enumerate() {
                let found = journal.answer(pair);
                assert!(found.is_none() || found == *bit, "byte {byte}");
            }
        }
    }
}

/// The bytes of an entry with a valid checksum, whatever its content.
fn forged(kind: u32, numbers: [u64; 3]) -> Vec<u8> {
    let mut content = kind.to_le_bytes().to_vec();
    content.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    entry::with_checksum(&ID, content.as_slice().try_into().unwrap()).to_vec()
}

#[test]
fn an_entry_of_the_wrong_kind_is_rejected_and_an_invalid_one_truncated() {
    let append = |reveal, kind, numbers| {
        let folder = tempfile::tempdir().unwrap();
        let entry = forged(kind, numbers);
        let mut journal = Journal::open(folder.path(), ID, 2, reveal).unwrap();
        journal.create().unwrap();
        drop(journal);
        let path = only_file(folder.path());
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend(entry);
        std::fs::write(&path, bytes).unwrap();
        let journal = Journal::open(folder.path(), ID, 2, reveal)?;
        Ok::<_, SessionError>(answered(&journal))
    };
    let (score, bit) = (Reveal::Score, reveal_threshold("2"));
    assert_eq!(append(bit, 5, [1, 1, 0]).unwrap(), 1);
    assert_eq!(append(score, 1, [1, 1, 0]).unwrap(), 1);
    for (reveal, kind) in [(score, 5), (bit, 1), (bit, 2)] {
        let error = append(reveal, kind, [1, 1, 0]).unwrap_err();
        assert!(error.to_string().contains("never"), "{error}");
    }
    for numbers in [[1, 2, 0], [1, u64::MAX, 0]] {
        assert_eq!(append(bit, 5, numbers).unwrap(), 0);
    }
    assert_eq!(append(bit, 5, [7, 1, 0]).unwrap(), 0, "no such pair");
    assert_eq!(append(bit, 5, [u64::MAX, 1, 0]).unwrap(), 0);
    assert_eq!(append(bit, 4, [0, 1, 0]).unwrap(), 0, "no such kind");
}

/// The bytes were computed by another program, from the description of the format.
#[test]
fn entries_have_the_documented_form() {
    let known = [
        (
            Entry::Answer(3, reading(7.0)),
            "0200000003000000000000000000000000001c40343333333333d33f8cb4d99d",
        ),
        (
            Entry::Started(1, 3),
            "03000000010000000000000003000000000000000000000000000000c03dc7c6",
        ),
    ];
    for (entry, written) in known {
        assert_eq!(hex(&entry.encode(&ID)), written);
        assert_eq!(Entry::decode(&ID, &entry.encode(&ID)), Some(entry));
    }
}

/// A session that was opened earlier does not know what another session has sent since.
#[test]
fn a_journal_is_created_when_something_is_stored_and_only_once() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Journal::open(folder.path(), ID, 2, Reveal::Score).unwrap();
    let (mut first, mut second) = (open(), open());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    first.mark_sent(&[1]).unwrap();
    assert!(second.start_pairs(&[1]).is_err());
    drop(first);
    assert!(second.start_pairs(&[1]).is_err());
    drop(second);
    assert!(open().is_sent(1));
}

/// The complete state of each pair in a journal.
fn content(journal: &Journal) -> Vec<String> {
    let pairs = journal.pairs.iter();
    let whole = format!("{:?} {:?}", journal.engine, journal.peer_groups);
    pairs
        .map(|pair| format!("{pair:?}"))
        .chain([format!("{whole} {}", journal.complete)])
        .collect()
}

/// Pairs that are started again and again, as by a peer that hangs up each time.
#[test]
fn a_journal_does_not_grow_with_starts() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path(), ID, 40).unwrap();
    let several = PairScore::from_numbers([Some(0.5), None, Some(2.0)]);
    journal
        .store_engine(EngineDecision {
            engine: veilpath_protocol::Engine::Shares,
            tree_levels: veilpath_protocol::TreeLevels::default(),
        })
        .unwrap();
    journal.store_group_digest(&[3; 32]).unwrap();
    journal.start_pairs(&[0, 1, 2, 5]).unwrap();
    journal.mark_sent(&[0, 1, 5]).unwrap();
    journal.store(0, reading(7.0)).unwrap();
    journal.store(1, Answer::Score(several)).unwrap();
    journal.reject(5);
    let pairs: Vec<usize> = (10..40).collect();
    for run in 0..50 {
        journal.start_pairs(&pairs).unwrap();
        journal.store_halves(&pairs, &[run; 30], run).unwrap();
    }
    // One more start, which has no half yet.
    journal.start_pairs(&[39]).unwrap();
    journal.mark_complete().unwrap();
    let before = content(&journal);
    assert_eq!(journal.starts(39), 51);
    assert!(journal.expects_half(39) && !journal.expects_half(38));
    drop(journal);
    let path = only_file(folder.path());
    let length = || std::fs::metadata(&path).unwrap().len() as usize;
    assert!(length() > 50 * 30 * ENTRY_BYTES);
    let mut journal = open(folder.path(), ID, 40).unwrap();
    assert_eq!(content(&journal), before);
    // A half and no more for each of them, and the entries of the others.
    assert!(length() <= HEADER + (30 + 14) * ENTRY_BYTES, "{}", length());
    let entries = (length() - HEADER) / ENTRY_BYTES;
    assert_eq!(journal.entry_count(), entries as u64);
    assert!(Journal::ends_complete(folder.path(), &ID));
    assert_eq!(only_file(folder.path()), path);
    // It is still locked, and usable.
    let error = open(folder.path(), ID, 40).unwrap_err();
    assert!(error.to_string().contains("another veilpath"), "{error}");
    journal.store(6, reading(3.0)).unwrap();
    let before = content(&journal);
    drop(journal);
    for _ in 0..2 {
        let journal = open(folder.path(), ID, 40).unwrap();
        assert_eq!(content(&journal), before);
    }
}

/// A peer that states fewer groups than before, so that the answer has fewer numbers, does not shorten the journal.
#[test]
fn a_journal_opened_for_fewer_numbers_loses_none() {
    let question: Reveal = "groups".parse().unwrap();
    for fewer in [0, 3, 5] {
        let folder = tempfile::tempdir().unwrap();
        let open = |numbers| Journal::open(folder.path(), ID, numbers, question).unwrap();
        let mut journal = open(6);
        journal.create().unwrap();
        for _ in 0..200 {
            journal.start_pairs(&[0, 1, 2, 3, 4, 5]).unwrap();
        }
        journal.store_number(5, 17).unwrap();
        journal.mark_sent(&[4, 5]).unwrap();
        let before = content(&journal);
        drop(journal);
        drop(open(fewer));
        assert_eq!(content(&open(6)), before, "{fewer}");
    }
}

/// A session that opened the file before another one rewrote it must not write to the old one.
#[cfg(unix)]
#[test]
fn a_replaced_file_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path(), ID, 1).unwrap());
    let path = only_file(folder.path());
    let file = File::open(&path).unwrap();
    assert!(state_dir::is_at(&file, &path));
    state_dir::replace(&path, &std::fs::read(&path).unwrap()).unwrap();
    assert!(!state_dir::is_at(&file, &path));
    std::fs::remove_file(&path).unwrap();
    assert!(!state_dir::is_at(&file, &path));
}

/// A half is secret, even where the run that it belongs to is not.
#[test]
fn debug_output_contains_no_half() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path(), ID, 1).unwrap();
    journal.store_halves(&[0], &[0xdead_beef], 7).unwrap();
    let entry = Entry::half(0, 0xdead_beef, 7);
    for text in [format!("{journal:?}"), format!("{entry:?}")] {
        assert!(!text.contains(&0xdead_beef_u64.to_string()), "{text}");
    }
}

/// Limits depend on these entries, so they are on the disk before the next message. Answers can be sent again.
#[test]
fn entries_that_limits_depend_on_are_synced_after_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path(), ID, 4).unwrap();
    let path = only_file(folder.path());
    type Write = fn(&mut Journal) -> Result<(), SessionError>;
    let writes: [(&str, Write); 5] = [
        ("start", |journal| journal.start_pairs(&[0, 1, 3])),
        ("opened", |journal| {
            journal.start_opened(&[1], &[Opened::Answer(reading(2.0))], 9)
        }),
        ("half", |journal| {
            journal.store_halves(&[0, 1, 3], &[1, 2, 3], 9)
        }),
        ("sent", |journal| journal.mark_sent(&[0, 1, 3])),
        ("complete", Journal::mark_complete),
    ];
    for (name, write) in writes {
        let before = std::fs::metadata(&path).unwrap().len();
        state_dir::LAST_SYNC.set(None);
        write(&mut journal).unwrap();
        let length = std::fs::metadata(&path).unwrap().len();
        assert!(length > before, "{name}");
        assert_eq!(state_dir::LAST_SYNC.get(), Some(length), "{name}");
    }
    journal.store(2, reading(7.0)).unwrap();
    journal.finish().unwrap();
    let length = std::fs::metadata(&path).unwrap().len();
    assert_eq!(state_dir::LAST_SYNC.get(), Some(length));
}
