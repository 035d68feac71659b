use super::*;
use veilpath_channel::memory_pair;

fn cohort(rows: &[(&str, Option<&str>)]) -> Cohort {
    let alphabet = Alphabet::letters(4).unwrap();
    let entries = rows.iter().map(|(participant, stimulus)| Entry {
        participant: participant.to_string(),
        group: None,
        stimulus: stimulus.map(str::to_string),
        scanpath: alphabet.parse("ABC").unwrap(),
        fixations: None,
    });
    Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: entries.collect(),
    }
}

fn parties() -> (Identity, Identity, Parties) {
    let (a, b) = (
        Identity::ephemeral().unwrap(),
        Identity::ephemeral().unwrap(),
    );
    let parties = Parties {
        host: a.fingerprint(),
        join: b.fingerprint(),
    };
    (a, b, parties)
}

fn announced(roster: &Roster, pad_to: Option<u32>) -> AnnouncedRoster {
    AnnouncedRoster {
        scanpaths: roster.len() as u64,
        letters: roster.lengths().sum(),
        id_bytes: roster.id_bytes(),
        pad_to,
    }
}

#[test]
fn pseudonyms_pair_like_names_and_only_their_owner_can_read_them() {
    let (host, join, parties) = parties();
    let mut a = cohort(&[("P1", Some("cows")), ("P2", Some("boat"))]);
    let mut b = cohort(&[
        ("Q1", Some("boat")),
        ("Q2", Some("cows")),
        ("Q3", Some("sky")),
    ]);
    let hidden = Roster::of(&mut a, &host, parties.join, &parties, true, None).unwrap();
    let shown = Roster::of(&mut b, &join, parties.host, &parties, false, None).unwrap();
    let travelled = format!("{hidden:?}");
    for name in ["P1", "P2", "cows", "boat"] {
        assert!(!travelled.contains(name), "{travelled}");
    }
    let plan = blocks(PairRule::SameStimulus, &hidden, &shown, &parties);
    let pairs = pairs(&plan, &hidden, &shown, None, |_| Ok(())).unwrap();
    assert_eq!(pairs.pairs(), 2);
    for (i, j) in pairs.list() {
        assert_eq!(a.entries[i].stimulus, b.entries[j].stimulus);
    }
    let ids = hidden.scanpath_ids(&parties.names(&b));
    assert!(ids.iter().all(|id| id.participant.starts_with("p-")));
    let known: Vec<_> = ids.iter().filter_map(|id| id.stimulus.clone()).collect();
    assert!(known.contains(&"cows".to_string()), "{known:?}");
    let again = Roster::of(&mut a.clone(), &host, parties.join, &parties, true, None).unwrap();
    assert_eq!(again, hidden);
    let for_another = Roster::of(&mut a, &host, parties.host, &parties, true, None).unwrap();
    assert_ne!(for_another.0[0].id, hidden.0[0].id);
}

#[test]
fn rosters_are_sent_in_parts_and_must_be_as_announced() {
    let (host, _, parties) = parties();
    let id = "x".repeat(1000);
    let mut large = cohort(&vec![(id.as_str(), None); 700]);
    let roster = Roster::of(&mut large, &host, parties.join, &parties, false, None).unwrap();
    for (scanpaths, letters, id_bytes, fits) in [
        (700, 2100, 700_000, true),
        (699, 2100, 700_000, false),
        (700, 2101, 700_000, false),
        (700, 2100, 699_999, false),
        (700, 2100, 700_001, false),
    ] {
        let announced = AnnouncedRoster {
            scanpaths,
            letters,
            id_bytes,
            pad_to: None,
        };
        let (mut here, mut there) = memory_pair();
        std::thread::scope(|scope| {
            let sending = scope.spawn(|| roster.send(&mut here));
            let received = Roster::receive(&mut there, &announced);
            assert_eq!(received.is_ok(), fits);
            drop(there);
            let _ = sending.join().unwrap();
        });
    }
    let mut too_long = cohort(&[("y".repeat(1025).as_str(), None)]);
    assert!(Roster::of(&mut too_long, &host, parties.join, &parties, false, None).is_err());
}

#[test]
fn too_many_pairs_are_rejected_before_they_are_listed() {
    let row = Row {
        id: String::new(),
        stimulus: None,
        hash: None,
        letters: 1,
    };
    let many = Roster(vec![row; 1 << 13]);
    let (_, _, parties) = parties();
    let all = |host: &Roster, join: &Roster, tile| {
        pairs(
            &blocks(PairRule::All, host, join, &parties),
            host,
            join,
            tile,
            |_| Ok(()),
        )
    };
    assert!(matches!(
        all(&many, &many, None),
        Err(SessionError::Limit(_))
    ));
    assert!(all(&Roster::default(), &many, None).is_err());
    // A tile of the same plan is small enough.
    let tile = all(&many, &many, Some("3/5".parse().unwrap())).unwrap();
    assert!(tile.pairs() > (1 << 23) && tile.pairs() < MAX_SESSION_PAIRS);
}

/// A cohort of one participant with this scanpath.
fn single(text: &str) -> Cohort {
    let mut cohort = cohort(&[("P1", None)]);
    cohort.entries[0].scanpath = cohort.alphabet.parse(text).unwrap();
    cohort
}

#[test]
fn padded_scanpaths_are_indistinguishable() {
    let (host, _, parties) = parties();
    let roster = |text: &str, pad_to| {
        Roster::of(
            &mut single(text),
            &host,
            parties.join,
            &parties,
            false,
            pad_to,
        )
    };
    let sent = |roster: &Roster| {
        let (mut here, mut there) = memory_pair();
        roster.send(&mut here).unwrap();
        drop(here);
        control::receive_bytes(&mut there, Tag::Roster).unwrap()
    };
    let short = roster("A", Some(5)).unwrap();
    for text in ["", "ABC", "ABCDA"] {
        let other = roster(text, Some(5)).unwrap();
        assert_eq!(
            sent(&other),
            sent(&short),
            "not a byte depends on the length"
        );
        assert_eq!(other.digest(), short.digest());
        assert_eq!(other.lengths().collect::<Vec<_>>(), [5]);
    }
    assert_ne!(
        sent(&roster("A", None).unwrap()),
        sent(&roster("AB", None).unwrap())
    );
    let error = roster("ABCDAB", Some(5)).unwrap_err();
    let expected = UsageError::LongerThanPadding {
        number: 1,
        letters: 6,
        pad_to: 5,
    };
    assert!(
        matches!(&error, SessionError::Usage(found) if *found == expected),
        "{error}"
    );
}

#[test]
fn an_unpadded_length_is_rejected() {
    let (host, _, parties) = parties();
    let mut cohort = single("ABC");
    let roster = Roster::of(&mut cohort, &host, parties.join, &parties, false, None).unwrap();
    for (pad_to, fits) in [(None, true), (Some(3), true), (Some(4), false)] {
        let (mut here, mut there) = memory_pair();
        roster.send(&mut here).unwrap();
        let received = Roster::receive(&mut there, &announced(&roster, pad_to));
        assert_eq!(received.is_ok(), fits);
        if let Err(error) = received {
            assert!(matches!(error, SessionError::Misbehaved(_)), "{error}");
        }
    }
}

#[test]
fn ids_with_control_characters_are_neither_sent_nor_accepted() {
    let (host, _, parties) = parties();
    for hostile in ["\u{1b}[2J", "a\rb", "\u{9b}2J", "\u{202e}gpj"] {
        let mut own = cohort(&[("P1", None), ("P2", Some(hostile))]);
        let error = Roster::of(&mut own, &host, parties.join, &parties, false, None).unwrap_err();
        let expected = UsageError::UnprintableId { number: 2 };
        assert!(
            matches!(&error, SessionError::Usage(found) if *found == expected),
            "{error}"
        );
        let row = |id: &str, stimulus: Option<&str>| Row {
            id: id.into(),
            stimulus: stimulus.map(String::from),
            hash: None,
            letters: 3,
        };
        for row in [row(hostile, None), row("P1", Some(hostile))] {
            let (mut here, mut there) = memory_pair();
            let hostile = Roster(vec![row]);
            hostile.send(&mut here).unwrap();
            let announced = announced(&hostile, None);
            let error = Roster::receive(&mut there, &announced).unwrap_err();
            let found = matches!(error, SessionError::Misbehaved(Misbehaviour::UnprintableId));
            assert!(found, "{error}");
        }
    }
    let mut own = cohort(&[("Müller", Some("עברית")), ("=1", None)]);
    assert!(Roster::of(&mut own, &host, parties.join, &parties, false, None).is_ok());
}
