//! Several processes change one ledger.

use super::*;

/// A reproducible sequence of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Three processes count, replace the snapshot, fail, and are killed while they write, in any order.
#[test]
fn no_sequence_of_changes_loses_a_count() {
    for seed in 0..2 {
        let setup = Setup::new();
        let mut numbers = Numbers(seed);
        let mut processes = [(); 3].map(|()| setup.file());
        let (mut counts, mut lifted) = (BTreeMap::new(), 0);
        for _ in 0..40 {
            let process = usize::try_from(numbers.below(3)).unwrap();
            let file = &processes[process];
            match numbers.below(8) {
                0 => {
                    lifted += 1;
                    let lift = |ledger: &mut Ledger| {
                        ledger.lifted += 1;
                        Ok(())
                    };
                    file.update(lift).unwrap();
                }
                1 if file.exists() => {
                    let partial = &br#"{"agreement":"a/1","counts":{"x":9"#[..];
                    let kept = usize::try_from(numbers.below(30)).unwrap();
                    let log = [&setup.bytes(LOG), &partial[..kept]].concat();
                    std::fs::write(setup.path(LOG), log).unwrap();
                    processes[process] = setup.file();
                }
                2 => {
                    let fail = |ledger: &mut Ledger| {
                        ledger.lifted = 99;
                        Err(InternalError::NoRandomness.into())
                    };
                    assert!(file.update(fail).is_err());
                }
                _ => {
                    // Some lines are long, so that the log outgrows the snapshot.
                    let long = "x".repeat(usize::try_from(numbers.below(2)).unwrap() << 18);
                    let name = format!("{}{long}", numbers.below(3));
                    let known = counts.entry(name.clone()).or_insert(0);
                    let count = |ledger: &Ledger| {
                        assert_eq!(ledger.count(&name, "a/1"), *known, "{seed}");
                        Ok(counted(&name, *known + 1))
                    };
                    file.count(count).unwrap();
                    *known += 1;
                }
            }
        }
        for file in processes.into_iter().chain([setup.file()]) {
            let ledger = file.read().unwrap();
            assert_eq!(ledger.lifted, lifted, "{seed}");
            for (name, known) in &counts {
                assert_eq!(ledger.count(name, "a/1"), *known, "{seed}");
            }
        }
    }
}

#[test]
fn counts_of_processes_at_the_same_time_add_up() {
    let setup = Setup::new();
    std::thread::scope(|scope| {
        for process in 0..4 {
            let file = setup.file();
            scope.spawn(move || {
                for round in 0..20 {
                    let one_more = |ledger: &Ledger| Ok(counted("x", ledger.count("x", "a/1") + 1));
                    file.count(one_more).unwrap();
                    if (round + process) % 7 == 0 {
                        file.update(|_| Ok(())).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(setup.count("x"), 80);
}
