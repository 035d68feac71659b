//! A side that has lost files gets its results again from the other, and nothing counts twice.

use super::*;
use veilpath_session::NUMBER_FIELD;

fn garbled(fresh: [bool; 2]) -> [Proposal; 2] {
    let mut proposals = proposals(|proposal| proposal.spec.engine = Engine::Garbled);
    for (proposal, fresh) in proposals.iter_mut().zip(fresh) {
        proposal.fresh = fresh;
    }
    proposals
}

/// What a side loses.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Journals,
    /// Everything but the identity.
    All,
}

impl Setup {
    fn lose(&self, side: usize, loss: Loss) {
        let folder = self.folders[side].path();
        match loss {
            Loss::Journals => std::fs::remove_dir_all(folder.join("journals")).unwrap(),
            Loss::All => {
                for entry in std::fs::read_dir(folder).unwrap() {
                    let path = entry.unwrap().path();
                    if path.is_dir() {
                        std::fs::remove_dir_all(path).unwrap();
                    } else if path != self.state_dir(side).identity() {
                        std::fs::remove_file(path).unwrap();
                    }
                }
            }
        }
    }

    /// What each side's ledger has counted: its scanpaths, and the most comparisons of any of them.
    fn counted(&self) -> [(usize, u64); 2] {
        [0, 1].map(|side| {
            let peers = self.state_dir(side).peers().unwrap().entries;
            let [peer] = &peers[..] else {
                panic!("one partner")
            };
            (peer.scanpaths, peer.max_comparisons)
        })
    }

    /// Runs a session that must succeed, and returns both sides' results.
    fn results(&self, fresh: [bool; 2]) -> [Vec<String>; 2] {
        self.run(garbled(fresh)).map(|side| rows(&side.unwrap()))
    }
}

/// Sides that have completed the first agreement on a plan and this many new ones.
fn completed(new_agreements: usize) -> (Setup, [Vec<String>; 2]) {
    let setup = Setup::new();
    let mut results = setup.results([false; 2]);
    for _ in 0..new_agreements {
        results = setup.results([true; 2]);
    }
    (setup, results)
}

#[test]
fn the_other_side_sends_the_results_again_and_nothing_counts_twice() {
    for side in 0..2 {
        for loss in [Loss::Journals, Loss::All] {
            let (setup, results) = completed(0);
            let counted = setup.counted();
            assert!(counted.iter().all(|&(_, most)| most > 0), "{counted:?}");
            setup.lose(side, loss);
            // The second run finds the results in the journals.
            for _ in 0..2 {
                assert_eq!(setup.results([false; 2]), results, "{side} {loss:?}");
                assert_eq!(setup.counted(), counted, "{side} {loss:?}");
            }
        }
    }
}

/// Only the ledger has the number. The side that has lost it asks for a new agreement, and gets the other's.
#[test]
fn after_a_new_agreement_only_the_side_without_its_ledger_asks_for_another() {
    for side in 0..2 {
        let (setup, results) = completed(1);
        let counted = setup.counted();
        setup.lose(side, Loss::Journals);
        assert_eq!(setup.results([false; 2]), results, "{side}");
        assert_eq!(setup.counted(), counted, "{side}");

        setup.lose(side, Loss::All);
        for error in setup.run(garbled([false; 2])).map(Result::unwrap_err) {
            assert!(error.to_string().contains(NUMBER_FIELD), "{error}");
        }
        let fresh = [side == 0, side == 1];
        assert_eq!(setup.results(fresh), results, "{side}");
        // The side without its ledger has counted the last agreement, the other still counts both.
        let after = setup.counted();
        assert_eq!(after[1 - side], counted[1 - side], "{side}");
        assert_eq!(after[side].1, counted[side].1 / 2, "{side}");
        assert_eq!(setup.results([false; 2]), results, "{side}");
        assert_eq!(setup.counted(), after, "{side}");
    }
}

#[test]
fn pairs_that_both_sides_lost_need_a_new_agreement_that_counts() {
    let (setup, results) = completed(0);
    let counted = setup.counted();
    for side in 0..2 {
        setup.lose(side, Loss::Journals);
    }
    for error in setup.run(garbled([false; 2])).map(Result::unwrap_err) {
        let lost = matches!(error, SessionError::Limit(Limit::LostPairs { .. }));
        assert!(lost, "{error}");
    }
    assert_eq!(setup.counted(), counted);
    assert_eq!(setup.results([true; 2]), results);
    let again = counted.map(|(scanpaths, most)| (scanpaths, 2 * most));
    assert_eq!(setup.counted(), again);
}
