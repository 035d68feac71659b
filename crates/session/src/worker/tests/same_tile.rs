//! A modified partner has one tile computed several times: with worker keys and with its institution's key, at the same time
//! and one after another, each time with other letters and with files of its own.

use super::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use veilpath_metrics::Scanpath;

const SESSIONS: usize = 4;

/// The files of the partner after the agreement.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// Other letters of the same alphabet.
fn shifted(letters: &[u16], by: u16) -> Vec<u16> {
    letters.iter().map(|letter| (letter + by) % 5).collect()
}

/// Workers compute the first tile. The joining side's worker has these files, and other letters.
fn with_worker_keys(setup: &Setup, files: &StateDir, by: u16) {
    let (host, mut join) = (setup.order(0, "1"), setup.order(1, "1"));
    for letters in &mut join.plan.letters {
        *letters = shifted(letters, by);
    }
    let [host_channel, join_channel] = attacks::connected([&host, &join], tile(1));
    let side = |channel, order: &WorkOrder, files: &StateDir| {
        let session = Session::open_with_order(channel, order, timeouts())?;
        let storage = TileStorage::Shared(files);
        session
            .agree_on_tile(order, tile(1), storage, None)?
            .run(&())
    };
    std::thread::scope(|scope| {
        scope.spawn(|| side(host_channel, &host, &setup.state_dir(0)));
        let _ = side(join_channel, &join, files);
    });
}

/// The same between the institutions themselves.
fn with_own_keys(setup: &Setup, files: &StateDir, by: u16) {
    let [a, b] = &setup.identities;
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address().to_string();
    let side = |channel, role, files: &StateDir| {
        let (own, peer, name) = match role {
            Role::Host => (a, b, "p"),
            Role::Join => (b, a, "q"),
        };
        let plan = Proposal {
            tile_count: None,
            tile: Some(tile(1)),
            ..proposal(name, Engine::Garbled)
        };
        let alphabet = AlphabetInfo {
            named: None,
            declared: None,
            read_as: plan.spec.alphabet,
            grid: None,
        };
        let peer = peer.fingerprint();
        let (session, _) = Session::open(channel, role, own, peer, &alphabet, timeouts())?;
        let mut agreed = session.agree(plan, Some(files), &mut |_| ())?;
        if role == Role::Join {
            for entry in &mut agreed.agreement.proposal.cohort.entries {
                entry.scanpath = Scanpath::new(shifted(entry.scanpath.letters(), by));
            }
        }
        agreed.run(&())
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let channel = listener.accept(a, b.fingerprint(), &timeouts(), &mut |_| ())?;
            side(channel, Role::Host, &setup.state_dir(0))
        });
        let channel = join(&address, b, a.fingerprint(), &timeouts()).unwrap();
        let _ = side(channel, Role::Join, files);
    });
}

#[test]
fn a_tile_gives_one_answer_per_pair_whoever_computes_it() {
    for at_once in [true, false] {
        let setup = Setup::new(Engine::Garbled);
        let folders = [(); SESSIONS].map(|()| tempfile::tempdir().unwrap());
        let attack = |number: usize| {
            let files = StateDir::at(folders[number].path());
            copy(setup.folders[1].path(), folders[number].path());
            let by = u16::try_from(number).unwrap();
            match number % 2 {
                0 => with_worker_keys(&setup, &files, by),
                _ => with_own_keys(&setup, &files, by),
            }
        };
        match at_once {
            true => std::thread::scope(|scope| {
                for number in 0..SESSIONS {
                    let attack = &attack;
                    scope.spawn(move || attack(number));
                }
            }),
            false => (0..SESSIONS).for_each(attack),
        }
        let mut answers: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for files in folders.iter().map(|it| StateDir::at(it.path())) {
            for comparison in files.comparisons().unwrap().entries {
                let Ok(outcome) = files.stored_outcome(&comparison.id) else {
                    continue;
                };
                for result in outcome.results.iter() {
                    let of_pair = answers.entry((result.a, result.b)).or_default();
                    of_pair.insert(format!("{:?}", result.values));
                }
            }
        }
        assert!(!answers.is_empty());
        assert!(answers.values().all(|it| it.len() == 1), "{answers:?}");
        assert!(setup.counted()[0] <= 3);
    }
}
