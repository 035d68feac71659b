//! The attacker announces more than fits into the victim's memory.

use super::*;
use crate::error::Limit;

/// The default of the command line.
const ALLOWED: u64 = 256 << 20;

/// The host of `paillier` sends a ciphertext for each of its letters and each letter of the alphabet, and the joining side keeps those
/// of a scanpath. A scanpath that is too long for that is refused before anything of it is sent.
#[test]
fn a_scanpath_too_long_for_paillier_is_refused_first() {
    let case = Case {
        engine: Engine::Paillier(PaillierOptions::new(KeySize::Bits512, true).unwrap()),
        reveal: Reveal::Score,
        to: RevealTo::Both,
        attacker: Role::Host,
    };
    let long = vec![0; 1 << 16];
    let attempt = |files| Attempt {
        announced: long.clone(),
        letters: long.clone(),
        cut: Some(Cut {
            to_victim: false,
            records: 0,
        }),
        ..Attempt::new(files, 1)
    };
    let files = tempfile::tempdir().unwrap();
    let needed = {
        let setup = Setup {
            memory: Some(ALLOWED),
            ..Setup::new(case, 1)
        };
        let result = setup.attack(&attempt(files.path()));
        assert!(result.agreed.is_none());
        assert_eq!(setup.audit([files.path()]), (0, 0));
        match result.victim {
            Some(SessionError::Limit(Limit::Memory { needed, .. })) => needed,
            other => panic!("{other:?}"),
        }
    };
    let ciphertexts = (long.len() * 26 * 128) as u64;
    assert!(needed > ALLOWED.max(ciphertexts), "{needed}");
    // The victim's user may allow it.
    let setup = Setup {
        memory: Some(needed),
        ..Setup::new(case, 1)
    };
    assert!(setup.attack(&attempt(files.path())).agreed.is_some());
}
