//! With `plain`, the attacker hosts and gets all letters of the scanpaths that it is compared with.

use super::*;
use crate::error::Limit;

/// An empty scanpath gets the letters as any other does, so its pairs count.
#[test]
fn empty_scanpaths_do_not_get_letters_beyond_the_limit() {
    let case = Case {
        engine: Engine::Plain,
        reveal: Reveal::Score,
        to: RevealTo::Both,
        attacker: Role::Host,
    };
    for (letters, limit) in [(vec![0], 0), (vec![], 0), (vec![], 1)] {
        let setup = Setup::new(case, limit);
        let files = tempfile::tempdir().unwrap();
        let end = setup.attack(&Attempt {
            announced: letters.clone(),
            letters,
            ..Attempt::new(files.path(), 0)
        });
        let refused = matches!(end.victim, Some(SessionError::Limit(Limit::Comparisons(_))));
        assert_eq!(refused, limit == 0, "{:?}", end.victim);
        let is_sent = |secret: &&[u16; 4]| {
            let bytes: Vec<u8> = secret.iter().flat_map(|it| it.to_le_bytes()).collect();
            end.sent[0].windows(bytes.len()).any(|it| *it == bytes)
        };
        let sent = SECRETS.iter().filter(is_sent).count();
        assert_eq!(sent == 0, refused, "{sent}");
        assert_eq!(setup.counted(), limit);
    }
}
