//! The other side is honest, but its connection breaks again and again. What is charged is compared with what the
//! engine asks its store to start, which is counted here without the journal and the ledger.

use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::atomic::{AtomicUsize, Ordering};
use veilpath_protocol::Observer;

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

/// Does this much of the victim's work and then no more, as if its process had ended.
struct EndingProcess(AtomicUsize);

impl Observer for EndingProcess {
    fn work(&self, work: &mut dyn FnMut()) {
        let one_less = |left: usize| left.checked_sub(1);
        if self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
            .is_ok()
        {
            work();
        }
    }
}

/// It ends at every piece of work in turn, also between a result and the minima of the same request.
#[test]
fn a_key_holder_that_ends_at_any_moment_is_charged_once() {
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    for reveal in ["score", "mean:overall"] {
        let case = Case {
            engine: Engine::Paillier(options),
            reveal: reveal.parse().unwrap(),
            to: RevealTo::Both,
            attacker: Role::Join,
        };
        let comparisons = match case.reveal.group_question() {
            None => 1,
            Some(_) => groups::comparisons(case),
        };
        for work in 0.. {
            let setup = Setup::new(case, comparisons);
            let files = tempfile::tempdir().unwrap();
            let attempt = match case.reveal.group_question() {
                None => Attempt::new(files.path(), 1),
                Some(_) => groups::attempt(files.path(), 0),
            };
            let ends = EndingProcess(AtomicUsize::new(work));
            let first = setup.attack(&Attempt {
                observer: Some(&ends),
                ..attempt.clone()
            });
            let again = setup.attack(&attempt).victim;
            assert!(again.is_none(), "{case:?}, {work}: {again:?}");
            assert_eq!(setup.counted(), comparisons, "{case:?}, {work}");
            if first.victim.is_none() {
                assert!(work > 10, "{case:?}: only {work} pieces of work");
                break;
            }
        }
    }
}
