//! The victim has lost its journal, or the end of it, in the middle of a comparison, but not its ledger.

use super::*;
use crate::digests::{journal_id, journal_name};
use crate::error::Limit;
use crate::journal::entry::{ENTRY_BYTES, Entry};
use crate::journal::{HEADER, Journal};
use crate::ledger::Account;
use std::path::PathBuf;

const PAIRS: usize = 4;

/// A comparison of both of the victim's scanpaths with two of the attacker's.
struct Interrupted {
    setup: Setup,
    attackers_files: TempDir,
    agreement: [u8; 32],
    /// The length of the victim's journal before it was marked that halves were sent.
    length: u64,
}

impl Interrupted {
    /// A victim that has stored its halves of all four pairs, and has charged and sent one of each scanpath: what a kill between
    /// two portions leaves.
    fn new() -> Self {
        let setup = Setup {
            partners: 2,
            ..Setup::new(cases()[0], 2)
        };
        let attackers_files = tempfile::tempdir().unwrap();
        let end = setup.attack(&Attempt::new(attackers_files.path(), 0));
        let mut interrupted = Self {
            setup,
            attackers_files,
            agreement: end.agreed.unwrap().0,
            length: 0,
        };
        interrupted.forget_what_was_sent(interrupted.attackers_files.path(), Role::Join);
        let victims = interrupted.setup.victim_files.path();
        interrupted.length = interrupted.forget_what_was_sent(victims, Role::Host);
        std::fs::remove_dir_all(StateDir::at(victims).ledgers()).unwrap();
        assert_eq!(interrupted.states(), [(true, false); PAIRS]);
        interrupted.reveal_two_pairs();
        interrupted
    }

    /// Leaves what a journal had when all halves were stored. Returns its length.
    fn forget_what_was_sent(&self, files: &Path, role: Role) -> u64 {
        let (folder, id) = self.journal(files, role);
        let path = folder.join(format!("{}.journal", journal_name(&id)));
        let bytes = std::fs::read(&path).unwrap();
        let entries = bytes[HEADER..].as_chunks::<ENTRY_BYTES>().0.iter();
        let is_kept = |entry: &&[u8; ENTRY_BYTES]| {
            let entry = Entry::decode(&id, *entry);
            !matches!(entry, Some(Entry::Sent(..) | Entry::Answer(..)) | None)
        };
        let length = HEADER + ENTRY_BYTES * entries.take_while(is_kept).count();
        std::fs::write(&path, &bytes[..length]).unwrap();
        length as u64
    }

    fn reveal_two_pairs(&self) {
        let (folder, id) = self.journal(self.setup.victim_files.path(), Role::Host);
        let mut journal = Journal::open(&folder, id, PAIRS, Reveal::Score).unwrap();
        journal.mark_sent(&[0]).unwrap();
        journal.mark_sent(&[2]).unwrap();
        drop(journal);
        let proposal = self.setup.proposal(Role::Host, &self.attempt());
        let names = Account::names(&self.setup.victim, &proposal.cohort);
        let limits = self.setup.limit;
        let limits = limits.of(&proposal.spec, Role::Host, &proposal.cohort, None);
        let scope = (&self.agreement, None);
        let account = Account::open(self.ledger(), names, scope, &limits.unwrap(), &[0, 0]);
        account.unwrap().0.charge(&[1, 1]).unwrap();
        let revealed = [(true, true), (true, false)];
        assert_eq!(self.states(), [revealed, revealed].concat());
    }

    fn attempt(&self) -> Attempt<'_> {
        Attempt::new(self.attackers_files.path(), 0)
    }

    fn journal(&self, files: &Path, role: Role) -> (PathBuf, [u8; 32]) {
        let folder = StateDir::at(files).journals();
        (folder, journal_id(&self.agreement, role, None))
    }

    fn journal_path(&self) -> PathBuf {
        let (folder, id) = self.journal(self.setup.victim_files.path(), Role::Host);
        folder.join(format!("{}.journal", journal_name(&id)))
    }

    /// Whether the victim has a half of each pair, and whether it was sent.
    fn states(&self) -> Vec<(bool, bool)> {
        let (folder, id) = self.journal(self.setup.victim_files.path(), Role::Host);
        let journal = Journal::read_only(&folder, id, PAIRS, Reveal::Score).unwrap();
        let state = |pair| (journal.half(pair).is_some(), journal.is_sent(pair));
        (0..PAIRS).map(state).collect()
    }

    fn ledger(&self) -> LedgerFile {
        let folder = StateDir::at(self.setup.victim_files.path()).ledgers();
        std::fs::create_dir_all(&folder).unwrap();
        LedgerFile::of(Some(&folder), self.setup.attacker.fingerprint())
    }

    fn all_counted(&self) -> u64 {
        self.ledger().read().unwrap().all_comparisons()
    }
}

/// It is not known which pairs were counted, so all that are sent count, as if none had been.
#[test]
fn a_journal_without_its_end_sends_nothing_uncounted() {
    for (limit, counted) in [(2, 1), (3, 3)] {
        let mut interrupted = Interrupted::new();
        let path = interrupted.journal_path();
        let file = std::fs::OpenOptions::new().write(true).open(path);
        file.unwrap().set_len(interrupted.length).unwrap();
        interrupted.setup.limit = ScanpathLimit::Count(limit);
        let error = interrupted.setup.attack(&interrupted.attempt()).victim;
        let refused = matches!(error, Some(SessionError::Limit(Limit::Comparisons(_))));
        assert_eq!(refused, counted == 1, "{error:?}");
        let files = interrupted.attackers_files.path();
        let learned = interrupted.setup.learned([files]);
        assert_eq!(learned, if refused { 0 } else { 2 });
        assert_eq!(interrupted.setup.counted(), counted);
    }
}

/// Nothing more is revealed, so nothing more counts, however often the same two sides try.
#[test]
fn a_lost_journal_counts_nothing_that_was_not_revealed() {
    let interrupted = Interrupted::new();
    std::fs::remove_file(interrupted.journal_path()).unwrap();
    for _ in 0..3 {
        let error = interrupted.setup.attack(&interrupted.attempt()).victim;
        assert!(
            matches!(error, Some(SessionError::Limit(Limit::LostPairs { .. }))),
            "{error:?}"
        );
        assert_eq!(
            (interrupted.setup.counted(), interrupted.all_counted()),
            (1, 2)
        );
    }
}
