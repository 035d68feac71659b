//! The attacker cheats in its oblivious transfers, to learn bits of the victim's offset Δ: 33 comparisons would give it all letters
//! (`crates/mpc/src/alignment/attack_tests.rs`).

use super::*;
use crate::error::{BanReason, Limit};

/// Bytes of the point that the sender of base transfers sends, and of all points of a receiver.
const POINT: usize = 32;
const POINTS: usize = 128 * 2 * POINT;
/// Corrections of all seed trees, and their check.
const SEEDS: usize = 4096 + 32;
/// The block with which each side of `shares` starts.
const START: usize = 16;

/// Where the attacker sends corrections of seed trees and of transfers, counted from its first message about transfers.
fn offsets(engine: Engine, attacker: Role) -> [usize; 2] {
    match (engine, attacker) {
        (Engine::Shares, Role::Host) => {
            let seeds = START + POINTS + POINT;
            [seeds, seeds + SEEDS]
        }
        (Engine::Shares, Role::Join) => {
            let seeds = START + POINT;
            [seeds, seeds + SEEDS + POINTS]
        }
        _ => [POINT, POINT + SEEDS],
    }
}

/// Enough corrupted bytes that the check fails whatever Δ is.
const FLIPPED_BYTES: usize = 512;

fn check_ban(case: Case, offset: usize, found: &str) {
    let setup = Setup::new(case, 1);
    let files = tempfile::tempdir().unwrap();
    let attempt = |flips| Attempt {
        flips,
        ..Attempt::new(files.path(), 1)
    };
    let flips = BitFlips {
        sent: 0,
        bytes: offset..offset + FLIPPED_BYTES,
        mask: 1,
    };
    let error = setup.attack(&attempt(Some(flips))).victim.unwrap();
    assert!(error.to_string().contains(found), "{case:?}: {error}");
    assert_eq!(error.ban(), Some(BanReason::FailedCheck), "{case:?}");
    // Honest from now on.
    let refused = setup.attack(&attempt(None));
    assert!(refused.agreed.is_none(), "{case:?}");
    assert!(
        matches!(
            refused.victim,
            Some(SessionError::Limit(Limit::Banned(BanReason::FailedCheck)))
        ),
        "{case:?}: {:?}",
        refused.victim
    );
    assert_eq!(setup.audit([files.path()]), (0, 0), "{case:?}");
    let state = StateDir::at(setup.victim_files.path());
    let lifted = state.unblock(setup.attacker.fingerprint()).unwrap();
    assert_eq!(lifted, Some(BanReason::FailedCheck), "{case:?}");
    let result = setup.attack(&attempt(None));
    assert!(result.victim.is_none(), "{case:?}: {:?}", result.victim);
    assert_eq!(setup.audit([files.path()]), (1, 1), "{case:?}");
}

/// The host of `garbled` receives no transfers.
#[test]
fn cheating_in_oblivious_transfers_is_banned() {
    std::thread::scope(|scope| {
        for (engine, attacker) in [
            (Engine::Garbled, Role::Join),
            (Engine::Shares, Role::Join),
            (Engine::Shares, Role::Host),
        ] {
            let case = Case {
                engine,
                reveal: Reveal::Score,
                to: RevealTo::Both,
                attacker,
            };
            scope.spawn(move || {
                let files = tempfile::tempdir().unwrap();
                let honest = Setup::new(case, 1).attack(&Attempt::new(files.path(), 1));
                // After the length of the attacker's scanpath, and workers or levels.
                let length = 4u64.to_le_bytes();
                let mut sent = honest.sent[1].windows(length.len());
                let start = sent.position(|it| it == length).unwrap() + length.len() + 1;
                let [seeds, transfers] = offsets(engine, attacker);
                check_ban(case, start + seeds, "the seed trees of the transfers");
                check_ban(case, start + transfers, "the transfers are inconsistent");
            });
        }
    });
}
