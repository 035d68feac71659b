mod tiles;
mod totals;

use super::*;
use crate::SessionError;
use crate::error::{BanReason, ExceededLimit, Limit, LimitOrigin};
use crate::scanpath_limit::Limits;
use crate::{Fingerprint, Identity};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry};

/// One side with two scanpaths.
struct Side {
    folder: tempfile::TempDir,
    identity: Identity,
    cohort: Cohort,
}

impl Side {
    fn new() -> Self {
        let alphabet = Alphabet::letters(4).unwrap();
        Self {
            folder: tempfile::tempdir().unwrap(),
            identity: Identity::ephemeral().unwrap(),
            cohort: Cohort {
                alphabet,
                encoding: Encoding::default(),
                screen: None,
                entries: ["P1", "P2"]
                    .map(|participant| Entry {
                        participant: participant.into(),
                        group: None,
                        stimulus: None,
                        scanpath: alphabet.parse("AB").unwrap(),
                        fixations: None,
                    })
                    .to_vec(),
            },
        }
    }

    fn file(&self, peer: Fingerprint) -> LedgerFile {
        LedgerFile::of(Some(self.folder.path()), peer)
    }

    fn account(
        &self,
        peer: Fingerprint,
        agreement: u8,
        limit: Option<u64>,
        journalled: &[u64],
    ) -> (Account, Vec<bool>) {
        let limits = Limits {
            chosen: limit.map(|limit| vec![limit; 2]),
            ..unlimited()
        };
        self.account_with(peer, agreement, &limits, journalled)
    }

    fn account_with(
        &self,
        peer: Fingerprint,
        agreement: u8,
        limits: &Limits,
        journalled: &[u64],
    ) -> (Account, Vec<bool>) {
        let (file, id) = (self.file(peer), [agreement; 32]);
        Account::open(
            file,
            Account::names(&self.identity, &self.cohort),
            (&id, None),
            limits,
            journalled,
        )
        .unwrap()
    }

    /// Checks and counts more comparisons.
    fn ask(
        &self,
        peer: Fingerprint,
        agreement: u8,
        journalled: &[u64],
        more: &[u64],
        limit: Option<u64>,
    ) -> Result<(), SessionError> {
        let (mut account, _) = self.account(peer, agreement, limit, journalled);
        let allowed = account.check(more);
        assert_eq!(allowed.is_ok(), account.check(more).is_ok());
        let charged = account.charge(more);
        assert_eq!(allowed.is_ok(), charged.is_ok());
        charged
    }
}

fn unlimited() -> Limits {
    Limits {
        chosen: None,
        default: vec![u64::MAX; 2],
        policy: None,
        assumed_letters: None,
        about_any: false,
        pad_to: None,
    }
}

fn fingerprint() -> Fingerprint {
    Identity::ephemeral().unwrap().fingerprint()
}

#[test]
fn agreements_add_up_to_the_limit() {
    let side = Side::new();
    let (peer, other) = (fingerprint(), fingerprint());
    side.ask(peer, 1, &[0, 0], &[3, 4], Some(5)).unwrap();
    // The journal has them already, so nothing is new.
    side.ask(peer, 1, &[3, 4], &[0, 0], Some(5)).unwrap();
    let error = side.ask(peer, 2, &[0, 0], &[2, 2], Some(5)).unwrap_err();
    assert!(
        matches!(
            error,
            SessionError::Limit(Limit::Comparisons(ExceededLimit {
                limit: 5,
                before: 4,
                now: 2,
                exceeded: 1,
                scanpaths: 2,
                origin: LimitOrigin::Chosen,
                ..
            }))
        ),
        "{error}"
    );
    side.ask(peer, 3, &[0, 0], &[2, 1], Some(5)).unwrap();
    side.ask(other, 2, &[0, 0], &[2, 2], Some(5)).unwrap();
    side.ask(peer, 2, &[0, 0], &[2, 2], None).unwrap();
    assert!(side.ask(peer, 4, &[0, 0], &[1, 0], Some(5)).is_err());
    // Nothing is new: what was revealed may be sent again.
    side.ask(peer, 1, &[3, 4], &[0, 0], Some(5)).unwrap();
    // Everything is in one file.
    side.file(peer).update(|_| Ok(())).unwrap();
    let path = side.folder.path().join(format!("{}.json", peer.plain()));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("P1"));
    // Counts that would wrap around exceed every limit.
    let most = format!(":{}", u64::MAX);
    let (before, counts) = text.split_once("scanpaths").unwrap();
    let text = format!("{before}scanpaths{}", counts.replace(":4", &most));
    std::fs::write(&path, &text).unwrap();
    let limit = Some(u64::MAX - 1);
    assert!(side.ask(peer, 4, &[0, 0], &[0, 1], limit).is_err());
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    let error = side.file(peer).read().unwrap_err();
    assert!(matches!(error, SessionError::File { .. }), "{error}");
}

#[test]
fn a_crash_between_journal_and_ledger_is_repaired() {
    let side = Side::new();
    let peer = fingerprint();
    let (mut account, lost) = side.account(peer, 1, Some(9), &[2, 0]);
    assert_eq!(lost, [false, false]);
    account.catch_up().unwrap();
    let (_, lost) = side.account(peer, 1, Some(9), &[2, 0]);
    assert_eq!(lost, [false, false]);
    let (account, lost) = side.account(peer, 1, Some(9), &[1, 0]);
    assert_eq!(lost, [true, false], "the journal has lost a pair");
    // What was counted stays counted.
    assert!(account.check(&[8, 0]).is_err());
    account.check(&[7, 9]).unwrap();
}

/// A crash left two comparisons uncounted, and another plan has used up the limit since. They were not sent, and are not sent now.
#[test]
fn uncounted_comparisons_are_not_free_when_the_limit_is_used_up() {
    let side = Side::new();
    let peer = fingerprint();
    let (mut other, _) = side.account(peer, 2, Some(3), &[0, 0]);
    other.charge(&[3, 0]).unwrap();
    for _ in 0..2 {
        let (mut account, _) = side.account(peer, 1, Some(3), &[2, 0]);
        assert!(account.check(&[0, 0]).is_err());
        assert!(account.catch_up().is_err());
        assert!(account.charge(&[0, 1]).is_err());
    }
    let (mut account, _) = side.account(peer, 1, Some(5), &[2, 0]);
    account.catch_up().unwrap();
    let (account, _) = side.account(peer, 1, Some(3), &[2, 0]);
    // What was counted may be sent again under any limit.
    account.check(&[0, 0]).unwrap();
}

#[test]
fn bans_and_numbers_are_kept() {
    let side = Side::new();
    let peer = fingerprint();
    let file = side.file(peer);
    assert_eq!(file.read().unwrap().number(&[1; 32]), 0);
    file.update(|ledger| {
        ledger.set_number(&[1; 32], 3);
        ledger.banned = Some(BanReason::FailedCheck);
        Ok(())
    })
    .unwrap();
    let (mut account, _) = side.account(peer, 1, None, &[0, 0]);
    assert!(account.charge(&[1, 1]).is_err());
    let ledger = file.read().unwrap();
    assert_eq!((ledger.number(&[1; 32]), ledger.number(&[2; 32])), (3, 0));
    assert_eq!(ledger.banned, Some(BanReason::FailedCheck));
}

/// Plans whose answers reveal less have larger defaults. A peer that proposes them last gets no more than under the
/// first plan.
#[test]
fn the_smallest_default_limit_of_all_plans_applies() {
    let side = Side::new();
    let peer = Identity::ephemeral().unwrap().fingerprint();
    let limits = |default: u64, chosen: Option<u64>| Limits {
        chosen: chosen.map(|limit| vec![limit; 2]),
        default: vec![default; 2],
        policy: None,
        assumed_letters: None,
        about_any: false,
        pad_to: None,
    };
    let ask = |agreement: u8, limits: &Limits, more: u64| {
        let (mut account, _) = side.account_with(peer, agreement, limits, &[0, 0]);
        account
            .charge(&[more, 0])
            .map(|()| account.limits().unwrap().limits)
    };
    ask(1, &limits(3, None), 3).unwrap();
    // The other scanpath was not compared under the first plan.
    let (account, _) = side.account_with(peer, 2, &limits(47, None), &[0, 0]);
    let in_force = account.limits().unwrap();
    assert_eq!(in_force.origin, LimitOrigin::EarlierDefault);
    let mut now = in_force.limits;
    now.sort_unstable();
    assert_eq!(now, [3, 47]);
    assert!(matches!(
        ask(2, &limits(47, None), 1),
        Err(SessionError::Limit(Limit::Comparisons(ExceededLimit {
            limit: 3,
            before: 3,
            now: 1,
            origin: LimitOrigin::EarlierDefault,
            ..
        })))
    ));
    // This side's user may allow more.
    assert_eq!(ask(2, &limits(47, Some(10)), 7).unwrap(), [10, 10]);
    // The default that would hold is still the smaller one.
    let (account, _) = side.account_with(peer, 2, &limits(47, Some(10)), &[7, 0]);
    assert_eq!(account.limits().unwrap().defaults.iter().min(), Some(&3));
    assert!(ask(3, &limits(47, Some(10)), 1).is_err());
}

/// An answer that may be about any scanpath leaves its plan's default limit for all of them: with the larger one of the
/// next plan, the two plans would together reveal more of a scanpath than either may.
#[test]
fn an_answer_about_any_scanpath_limits_all_later_plans() {
    let limits = |about_any: bool, default: u64, chosen: Option<u64>| Limits {
        chosen: chosen.map(|limit| vec![limit; 2]),
        default: vec![default; 2],
        policy: None,
        assumed_letters: None,
        about_any,
        pad_to: None,
    };
    for chosen in [None, Some(3)] {
        let side = Side::new();
        let peer = fingerprint();
        let ask = |agreement: u8, limits: &Limits, more: [u64; 2]| {
            let (mut account, _) = side.account_with(peer, agreement, limits, &[0, 0]);
            account.charge(&more)
        };
        // All three may be about the second scanpath.
        ask(1, &limits(true, 3, chosen), [3, 0]).unwrap();
        let refused = ask(2, &limits(false, 47, None), [0, 1]);
        assert!(
            matches!(
                refused,
                Err(SessionError::Limit(Limit::Comparisons(ExceededLimit {
                    limit: 3,
                    before: 3,
                    now: 1,
                    origin: LimitOrigin::EarlierDefault,
                    ..
                })))
            ),
            "{refused:?}"
        );
    }
}

/// Answers that may be about any scanpath count for all of them, also under later agreements. Under a limit set by the
/// user they do not.
#[test]
fn comparisons_can_count_for_all_scanpaths() {
    let side = Side::new();
    let peer = fingerprint();
    let limits = |about_any: bool, chosen: Option<u64>| Limits {
        chosen: chosen.map(|limit| vec![limit; 2]),
        default: vec![10; 2],
        policy: None,
        assumed_letters: None,
        about_any,
        pad_to: None,
    };
    let ask = |agreement: u8, limits: &Limits, more: [u64; 2]| {
        let (mut account, _) = side.account_with(peer, agreement, limits, &[0, 0]);
        account.charge(&more)
    };
    ask(1, &limits(false, None), [4, 0]).unwrap();
    ask(2, &limits(true, None), [2, 3]).unwrap();
    // P1 has 4 of its own, and all have 5.
    let refused = ask(3, &limits(true, None), [0, 2]).unwrap_err();
    assert!(
        matches!(
            refused,
            SessionError::Limit(Limit::Comparisons(ExceededLimit {
                limit: 10,
                before: 9,
                now: 2,
                counts_together: true,
                per_scanpath: 6,
                ..
            }))
        ),
        "{refused}"
    );
    let refused = ask(4, &limits(false, None), [2, 0]).unwrap_err();
    assert!(
        matches!(
            refused,
            SessionError::Limit(Limit::Comparisons(ExceededLimit {
                limit: 10,
                before: 9,
                now: 2,
                counts_together: true,
                per_scanpath: 8,
                ..
            }))
        ),
        "{refused}"
    );
    ask(5, &limits(false, None), [1, 5]).unwrap();
    // What was revealed may be sent again.
    let (mut account, _) = side.account_with(peer, 2, &limits(true, None), &[2, 3]);
    account.charge(&[0, 0]).unwrap();
    ask(6, &limits(true, Some(20)), [9, 9]).unwrap();
}

/// Another session may use up the limit, or ban the peer, after the plan was checked.
#[test]
fn a_refused_charge_is_not_recorded() {
    let side = Side::new();
    let peer = fingerprint();
    let (mut late, _) = side.account(peer, 1, Some(3), &[0, 0]);
    side.ask(peer, 2, &[0, 0], &[3, 3], Some(3)).unwrap();
    let recorded = std::cell::Cell::new(false);
    let record = || {
        recorded.set(true);
        Ok(())
    };
    let refused = late.charge_for(&[1, 0], record).unwrap_err();
    assert!(matches!(
        refused,
        SessionError::Limit(Limit::Comparisons(_))
    ));
    let (mut open, _) = side.account(peer, 3, None, &[0, 0]);
    open.charge_for(&[1, 0], || Ok(())).unwrap();
    let ban = |ledger: &mut Ledger| {
        ledger.banned = Some(BanReason::FailedCheck);
        Ok(())
    };
    side.file(peer).update(ban).unwrap();
    let refused = open.charge_for(&[1, 0], record).unwrap_err();
    assert!(matches!(refused, SessionError::Limit(Limit::Banned(_))));
    assert!(!recorded.get());
}

/// A line that could not be synced is removed. A process that has read it must not continue from its end.
#[test]
fn a_rolled_back_line_is_forgotten() {
    let side = Side::new();
    let peer = fingerprint();
    let charge = |agreement, more: &[u64]| {
        let (mut account, _) = side.account(peer, agreement, None, &[0, 0]);
        account.charge(more).unwrap();
    };
    // The first charge creates the file, the second its log.
    charge(1, &[1, 1]);
    charge(2, &[1, 1]);
    let files = std::fs::read_dir(side.folder.path()).unwrap();
    let mut files = files.map(|it| it.unwrap().path());
    let log = files.find(|it| it.extension().is_some_and(|it| it == "log"));
    let log = log.unwrap();
    let length = std::fs::metadata(&log).unwrap().len();
    charge(3, &[1, 0]);
    let reader = side.file(peer);
    reader.read().unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&log).unwrap();
    file.set_len(length).unwrap();
    charge(4, &[1, 1]);
    let expected = side.file(peer).read().unwrap();
    let read = reader.read().unwrap();
    let text = |ledger| serde_json::to_string(ledger).unwrap();
    assert_eq!(text(&read), text(&expected));
}

/// Through results of a long scanpath, a joining side of `paillier` reads a short one: all results that the limit of the
/// short one allows must have at most half of its bits, however long the other scanpaths are.
#[test]
fn long_scanpaths_lower_the_limit_of_short_ones() {
    use veilpath_metrics::{Metric, Scanpath};
    use veilpath_protocol::{Engine, KeySize, PaillierOptions, PairRule, Role, Spec};
    let mut side = Side::new();
    side.cohort.alphabet = Alphabet::letters(26).unwrap();
    for lengths in [[20, 20], [10, 200], [20, 1000], [20, 17_575]] {
        for (entry, length) in side.cohort.entries.iter_mut().zip(lengths) {
            entry.scanpath = Scanpath::new(vec![1; length]);
        }
        let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
        let engine = Engine::Paillier(options);
        let cohort = &side.cohort;
        let spec = Spec::new(engine, Metric::Levenshtein, PairRule::All, cohort, cohort).unwrap();
        let limits = crate::ScanpathLimit::Default
            .of(&spec, Role::Host, cohort, Some(26))
            .unwrap();
        let (account, _) = side.account_with(fingerprint(), 1, &limits, &[0, 0]);
        // Pairs of the long scanpath, after one of the short one, which makes the host send its costs.
        let mut pairs = 0;
        while account.check(&[1, pairs + 1]).is_ok() {
            pairs += 1;
        }
        let bits = |letters: usize| (letters as f64 + 1.0).log2();
        let opened = pairs as f64 * bits(lengths[1]) + bits(lengths[0]);
        let secret = lengths[0] as f64 * 26f64.log2();
        assert!(opened <= secret / 2.0, "{opened:.0} of {secret:.0} bits");
    }
}
