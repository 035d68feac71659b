//! Who takes part: ids as given or as pseudonyms, stimuli by name or by hash, and lengths.
//!
//! A pseudonym is made with this side's private key: the same for the same participant and peer, so that an interrupted
//! session can go on, different for every peer, and of no use to anyone else. The hash of a stimulus is made with the two
//! fingerprints, which both sides know, because both must be able to tell equal stimuli: it hides a name from whoever
//! cannot guess it, and no more.

use crate::SessionError;
use crate::control::{self, Tag};
use crate::identity::hex;
use crate::limits::{MAX_ID_BYTES, MAX_LETTERS, MAX_PAIRS};
use crate::{Fingerprint, Identity};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Scanpath};
use veilpath_protocol::{Channel, Label, PairRule, count_pairs, pairs_of};

/// Bytes of rows that are gathered into one message.
const PART: usize = 512 << 10;

/// The keys of the two sides of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parties {
    pub(crate) host: Fingerprint,
    pub(crate) join: Fingerprint,
}

/// One scanpath as the other side may know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// An id, or a pseudonym.
    id: String,
    /// The name of the stimulus, where it may be known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    stimulus: Option<String>,
    /// Its hash, where it may not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    hash: Option<String>,
    letters: u64,
}

/// One side's scanpaths, as both sides know them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roster(Vec<Row>);

impl Roster {
    /// What this side tells of its cohort. With pseudonyms the cohort is put into their order first: the order of a file
    /// says something about the ids in it.
    pub(crate) fn of(
        cohort: &mut Cohort,
        identity: &Identity,
        peer: Fingerprint,
        parties: &Parties,
        pseudonyms: bool,
    ) -> Result<Self, SessionError> {
        let pseudonym = |entry: &Entry| {
            let parts: [&[u8]; 2] = [peer.bytes(), entry.participant.as_bytes()];
            format!("p-{}", hex(&identity.tag("participant", &parts)[..8]))
        };
        let hash = |entry: &Entry| entry.stimulus.as_deref().map(|name| parties.hash(name));
        if pseudonyms {
            cohort
                .entries
                .sort_by_cached_key(|entry| (pseudonym(entry), hash(entry)));
        }
        let rows = cohort.entries.iter().map(|entry| Row {
            id: if pseudonyms {
                pseudonym(entry)
            } else {
                entry.participant.clone()
            },
            stimulus: entry.stimulus.clone().filter(|_| !pseudonyms),
            hash: hash(entry).filter(|_| pseudonyms),
            letters: entry.scanpath.len() as u64,
        });
        let roster = Self(rows.collect());
        match roster.0.iter().position(|row| !row.is_bearable()) {
            None => Ok(roster),
            Some(index) => Err(SessionError::Ours(format!(
                "scanpath {} of the cohort cannot be compared over a network: its ids have more than {MAX_ID_BYTES} bytes, or it has more than {MAX_LETTERS} letters",
                index + 1
            ))),
        }
    }

    pub(crate) fn send(&self, channel: &mut dyn Channel) -> Result<(), SessionError> {
        let mut part = Vec::new();
        let mut size = 0;
        for row in &self.0 {
            part.push(row);
            // Escaped, a byte takes at most six.
            let bytes = |text: &Option<String>| text.as_ref().map_or(0, |text| 6 * text.len());
            size += 6 * row.id.len() + bytes(&row.stimulus) + bytes(&row.hash) + 100;
            if size >= PART {
                control::send(channel, Tag::Roster, &part)?;
                part.clear();
                size = 0;
            }
        }
        if !part.is_empty() {
            control::send(channel, Tag::Roster, &part)?;
        }
        Ok(())
    }

    /// Receives as many rows and letters as the other side announced.
    pub(crate) fn receive(
        channel: &mut dyn Channel,
        scanpaths: u64,
        letters: u64,
    ) -> Result<Self, SessionError> {
        let mut rows: Vec<Row> = Vec::new();
        while (rows.len() as u64) < scanpaths {
            let part: Vec<Row> = control::receive(channel, Tag::Roster)?;
            if part.is_empty() || part.iter().any(|row| !row.is_bearable()) {
                return Err(SessionError::misbehaved("a roster with impossible rows"));
            }
            rows.extend(part);
        }
        let sum: u64 = rows.iter().map(|row| row.letters).sum();
        if rows.len() as u64 != scanpaths || sum != letters {
            return Err(SessionError::misbehaved(
                "a roster that is not as it was announced",
            ));
        }
        Ok(Self(rows))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The letters of one scanpath.
    pub(crate) fn length(&self, index: usize) -> u64 {
        self.0.get(index).map_or(0, |row| row.letters)
    }

    pub(crate) fn lengths(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|row| row.letters)
    }

    /// The ids for a result file. `known` are the stimuli whose names this side knows by their hashes.
    pub(crate) fn labels(&self, known: &HashMap<String, String>) -> Vec<Label> {
        let name = |row: &Row| match &row.hash {
            Some(hash) => Some(known.get(hash).unwrap_or(hash).clone()),
            None => row.stimulus.clone(),
        };
        self.0
            .iter()
            .map(|row| Label {
                participant: row.id.clone(),
                stimulus: name(row),
            })
            .collect()
    }

    /// A hash of everything in it.
    pub(crate) fn digest(&self) -> [u8; 32] {
        let mut context = Context::new(&SHA256);
        for row in &self.0 {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            for part in [row.id.clone(), text(&row.stimulus), text(&row.hash)] {
                context.update(&(part.len() as u64).to_le_bytes());
                context.update(part.as_bytes());
            }
            let kind = u8::from(row.stimulus.is_some()) | u8::from(row.hash.is_some()) << 1;
            context.update(&[kind]);
            context.update(&row.letters.to_le_bytes());
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(context.finish().as_ref());
        digest
    }

    /// A cohort with hashes for stimuli and nothing to look at: for the rule that pairs scanpaths.
    fn outline(&self, parties: &Parties) -> Cohort {
        let entries = self.0.iter().map(|row| Entry {
            participant: String::new(),
            stimulus: match &row.stimulus {
                Some(name) => Some(parties.hash(name)),
                None => row.hash.clone(),
            },
            scanpath: Scanpath::default(),
        });
        Cohort {
            alphabet: Alphabet::full(veilpath_metrics::Notation::Letters),
            encoding: Encoding::default(),
            entries: entries.collect(),
        }
    }
}

impl Row {
    fn is_bearable(&self) -> bool {
        let short = |text: &Option<String>| text.as_ref().is_none_or(|t| t.len() <= MAX_ID_BYTES);
        let one = !(self.stimulus.is_some() && self.hash.is_some());
        self.id.len() <= MAX_ID_BYTES
            && short(&self.stimulus)
            && short(&self.hash)
            && one
            && self.letters <= MAX_LETTERS
    }
}

impl Parties {
    /// What stands for the name of a stimulus between these two.
    pub(crate) fn hash(&self, stimulus: &str) -> String {
        let mut context = Context::new(&SHA256);
        context.update(b"veilpath stimulus");
        context.update(self.host.bytes());
        context.update(self.join.bytes());
        context.update(stimulus.as_bytes());
        format!("s-{}", hex(&context.finish().as_ref()[..8]))
    }

    /// The names of a cohort's stimuli by their hashes.
    pub(crate) fn names(&self, cohort: &Cohort) -> HashMap<String, String> {
        let names = cohort
            .entries
            .iter()
            .filter_map(|entry| entry.stimulus.clone());
        names.map(|name| (self.hash(&name), name)).collect()
    }
}

/// The pairs of two rosters, where there are not too many.
pub(crate) fn pairs(
    rule: PairRule,
    host: &Roster,
    join: &Roster,
    parties: &Parties,
) -> Result<Vec<(usize, usize)>, SessionError> {
    let (a, b) = (host.outline(parties), join.outline(parties));
    let count = count_pairs(rule, &a, &b).pairs;
    if count > MAX_PAIRS {
        return Err(SessionError::Limit(format!(
            "{count} pairs are more than the {MAX_PAIRS} of one session; compare the cohorts in parts"
        )));
    }
    if count == 0 {
        return Err(SessionError::Limit(
            "there is nothing to compare: the two cohorts have no stimulus in common\n  \
             both sides can compare all scanpaths with all others by --pairs all"
                .into(),
        ));
    }
    Ok(pairs_of(rule, &a, &b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_protocol::memory_pair;

    fn cohort(rows: &[(&str, Option<&str>)]) -> Cohort {
        let alphabet = Alphabet::letters(4).unwrap();
        let entries = rows.iter().map(|(participant, stimulus)| Entry {
            participant: participant.to_string(),
            stimulus: stimulus.map(str::to_string),
            scanpath: alphabet.parse("ABC").unwrap(),
        });
        Cohort {
            alphabet,
            encoding: Encoding::default(),
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

    #[test]
    fn pseudonyms_pair_like_names_and_only_their_owner_can_read_them() {
        let (host, join, parties) = parties();
        let mut a = cohort(&[("P1", Some("cows")), ("P2", Some("boat"))]);
        let mut b = cohort(&[
            ("Q1", Some("boat")),
            ("Q2", Some("cows")),
            ("Q3", Some("sky")),
        ]);
        let hidden = Roster::of(&mut a, &host, parties.join, &parties, true).unwrap();
        let shown = Roster::of(&mut b, &join, parties.host, &parties, false).unwrap();
        let travelled = format!("{hidden:?}");
        for name in ["P1", "P2", "cows", "boat"] {
            assert!(!travelled.contains(name), "{travelled}");
        }
        let pairs = pairs(PairRule::SameStimulus, &hidden, &shown, &parties).unwrap();
        assert_eq!(pairs.len(), 2);
        for (i, j) in pairs {
            assert_eq!(a.entries[i].stimulus, b.entries[j].stimulus);
        }
        let labels = hidden.labels(&parties.names(&b));
        assert!(
            labels
                .iter()
                .all(|label| label.participant.starts_with("p-"))
        );
        let known: Vec<_> = labels.iter().filter_map(|l| l.stimulus.clone()).collect();
        assert!(known.contains(&"cows".to_string()), "{known:?}");
        let again = Roster::of(&mut a.clone(), &host, parties.join, &parties, true).unwrap();
        assert_eq!(again, hidden);
        let for_another = Roster::of(&mut a, &host, parties.host, &parties, true).unwrap();
        assert_ne!(for_another.0[0].id, hidden.0[0].id);
    }

    #[test]
    fn rosters_travel_in_parts_and_must_be_as_announced() {
        let (host, _, parties) = parties();
        let id = "x".repeat(1000);
        let mut large = cohort(&vec![(id.as_str(), None); 700]);
        let roster = Roster::of(&mut large, &host, parties.join, &parties, false).unwrap();
        for (scanpaths, letters, fits) in
            [(700, 2100, true), (699, 2100, false), (700, 2101, false)]
        {
            let (mut here, mut there) = memory_pair();
            std::thread::scope(|scope| {
                let sending = scope.spawn(|| roster.send(&mut here));
                let received = Roster::receive(&mut there, scanpaths, letters);
                assert_eq!(received.is_ok(), fits);
                drop(there);
                let _ = sending.join().unwrap();
            });
        }
        let mut too_long = cohort(&[("y".repeat(1025).as_str(), None)]);
        assert!(Roster::of(&mut too_long, &host, parties.join, &parties, false).is_err());
    }

    #[test]
    fn more_pairs_than_a_session_bears_are_refused_before_they_are_listed() {
        let row = Row {
            id: String::new(),
            stimulus: None,
            hash: None,
            letters: 1,
        };
        let many = Roster(vec![row; 1 << 13]);
        let (_, _, parties) = parties();
        assert!(matches!(
            pairs(PairRule::All, &many, &many, &parties),
            Err(SessionError::Limit(_))
        ));
        assert!(pairs(PairRule::All, &Roster::default(), &many, &parties).is_err());
    }
}
