//! A peer that adds scanpaths whose scores it knows, so that every bin of a histogram has pairs of everybody.

use super::*;
use veilpath_protocol::GroupAnswer;

/// A participant with scanpaths of one letter each.
fn entries(participant: usize, letters: &[u16], length: usize) -> Vec<Entry> {
    let entry = |letter: &u16| Entry {
        participant: format!("P{participant}"),
        group: None,
        stimulus: None,
        scanpath: Scanpath::new(vec![*letter; length]),
        fixations: None,
    };
    letters.iter().map(entry).collect()
}

/// The counts that the peer gets for its three participants with these scanpaths. Five participants of this side are
/// similar to the letter 0, and one is not.
fn counts(peer: &[Vec<Entry>]) -> Vec<Option<u64>> {
    let ours: Vec<Entry> = (0..6)
        .flat_map(|it| entries(it, if it < 5 { &[0] } else { &[5] }, 8))
        .collect();
    let results = with_sessions(|role, session, files, _| {
        let entries = match role {
            Role::Host => ours.clone(),
            Role::Join => peer.concat(),
        };
        let cohort = Cohort {
            entries,
            ..cohort(0)
        };
        let proposal = proposal(Engine::Shares, "histogram:2".parse().unwrap(), cohort);
        let agreed = session.agree(proposal, Some(files), &mut |_| ()).unwrap();
        agreed.run(&()).unwrap().outcome.answers
    });
    match &results[1].0[..] {
        [GroupAnswer::Histogram(histogram)] => histogram.bins.counts.clone(),
        other => panic!("{other:?}"),
    }
}

/// Three participants, each with scanpaths of these letters, and with a filler of this letter and length.
fn peer(letters: &[u16], filler: Option<(u16, usize)>) -> Vec<Vec<Entry>> {
    let with_filler = |participant| {
        let mut all = entries(participant, letters, 8);
        all.extend(
            filler
                .map(|(letter, length)| entries(participant, &[letter], length))
                .unwrap_or_default(),
        );
        all
    };
    (0..3).map(with_filler).collect()
}

/// Without fillers, a count about one participant of this side is hidden. A peer that adds empty scanpaths, or ones of a
/// letter that does not occur, knows how many of those pairs are in each bin, and subtracts them: a limitation that
/// docs/security.md names.
#[test]
fn known_scores_make_a_bin_large_enough() {
    assert_eq!(counts(&peer(&[0], None)), [None, None]);
    for filler in [(0, 0), (11, 8)] {
        let shown = counts(&peer(&[0], Some(filler)));
        // Three pairs of the dissimilar participant, besides the 18 of the fillers.
        assert_eq!(shown, [Some(21), Some(15)], "{filler:?}");
    }
}
