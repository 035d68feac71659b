//! The other side is honest, but its connection breaks again and again. What is charged is compared with what the
//! engine asks its store to start, which is counted here without the journal and the ledger.

use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// How often the connection breaks.
const BREAKS: usize = 25;

/// A victim, an honest other side, and the starts of the victim's engine.
struct Honest {
    setup: Setup,
    files: TempDir,
    watch: Arc<StartWatch>,
}

impl Honest {
    fn new(case: Case) -> Self {
        Self {
            setup: Setup::new(case, 10_000),
            files: tempfile::tempdir().unwrap(),
            watch: Arc::default(),
        }
    }

    /// A session in which the other side sends this many bytes after the agreement.
    fn session(&self, bytes: Option<usize>) -> SessionEnd {
        self.setup.attack(&Attempt {
            bytes,
            watch: Some(Arc::clone(&self.watch)),
            ..Attempt::new(self.files.path(), 1)
        })
    }

    /// How often each pair was started.
    fn starts(&self) -> Vec<u64> {
        let starts = self.watch.lock().unwrap();
        starts.values().map(|it| u64::from(*it)).collect()
    }
}

/// The fewest bytes of the other side after which the victim's engine has started both pairs.
pub(super) fn bytes_to_start(case: Case) -> usize {
    let (mut without, mut with) = (0, Honest::new(case).session(None).sent[1].len());
    while with - without > 1 {
        let middle = usize::midpoint(without, with);
        let honest = Honest::new(case);
        honest.session(Some(middle));
        match honest.starts().len() == 2 {
            true => with = middle,
            false => without = middle,
        }
    }
    with
}

/// Finishes after many breaks. Returns how often the victim's engine has started pairs, and the comparisons that were
/// charged: the most for one pair, and all together. Each pair has a scanpath of the victim of its own.
fn survive(case: Case) -> [[u64; 2]; 2] {
    let started = bytes_to_start(case);
    let honest = Honest::new(case);
    let mut rng = ChaCha20Rng::seed_from_u64(1915);
    for number in 0..BREAKS {
        let bytes = match number % 5 {
            0 => rng.random_range(0..started),
            _ => started + rng.random_range(0..8),
        };
        honest.session(Some(bytes));
    }
    let error = honest.session(None).victim;
    assert!(error.is_none(), "{case:?}: {error:?}");
    let starts = honest.starts();
    assert_eq!(starts.len(), 2, "{case:?}");
    let setup = &honest.setup;
    let directory = StateDir::at(setup.victim_files.path()).ledgers();
    let ledger = LedgerFile::of(Some(&directory), setup.attacker.fingerprint());
    let charged = ledger.read().unwrap().all_comparisons();
    let most = starts.iter().copied().max().unwrap_or(0);
    [[most, starts.iter().sum()], [setup.counted(), charged]]
}

#[test]
fn a_result_is_charged_once_however_often_its_pair_is_started() {
    for_all_cases(|case| {
        if !case.engine.opens_outputs_by_halves() {
            return;
        }
        let [starts, charged] = survive(case);
        assert!(starts[0] > BREAKS as u64 / 2, "{case:?}: {starts:?}");
        assert_eq!(charged, [1, 2], "{case:?}: {starts:?}");
    });
}

#[test]
fn paillier_is_charged_for_every_pair_that_the_engine_starts() {
    for_all_cases(|case| {
        if case.engine.opens_outputs_by_halves() {
            return;
        }
        let [starts, charged] = survive(case);
        // A host that has started a pair may already have sent its result.
        let few = if case.attacker == Role::Host {
            BREAKS as u64 / 2
        } else {
            0
        };
        assert!(starts[0] > few, "{case:?}: {starts:?}");
        assert_eq!(charged, starts, "{case:?}");
    });
}
