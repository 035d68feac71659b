//! Who takes part: ids as given or as pseudonyms, stimuli by name or by hash, and lengths.
//!
//! A pseudonym is made with this side's private key: the same for the same participant and peer, so that an interrupted
//! session can go on, different for every peer, and of no use to anyone else. The hash of a stimulus is made with the two
//! fingerprints, which both sides know, because both must be able to tell equal stimuli: it hides a name from whoever
//! cannot guess it, and no more.
//!
//! Where lengths are hidden, every scanpath has the agreed length in a roster: the true ones are in no message, and in
//! nothing that is made of rosters (the agreement's name, the work, its estimate, the cells of the result).

use crate::SessionError;
use crate::control::{self, Tag};
use crate::error::sanitize;
use crate::identity::hex;
use crate::limits::{MAX_ID_BYTES, MAX_LETTERS, MAX_PAIRS};
use crate::{Fingerprint, Identity};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Scanpath};
use veilpath_protocol::{Channel, Label, PairRule, count_pairs, pairs_of};

/// Bytes of rows that are gathered into one message.
const MESSAGE_BYTES: usize = 512 << 10;

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

/// What the other side said of its roster before it sent it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announced {
    pub(crate) scanpaths: u64,
    pub(crate) letters: u64,
    /// How long every scanpath must look.
    pub(crate) pad_to: Option<u32>,
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
        pad_to: Option<u32>,
    ) -> Result<Self, SessionError> {
        let padding = pad_to.map(u64::from);
        let length = |entry: &Entry| entry.scanpath.len() as u64;
        let too_long = |entry: &&Entry| padding.is_some_and(|most| length(entry) > most);
        if let (Some(entry), Some(most)) = (cohort.entries.iter().find(too_long), padding) {
            return Err(SessionError::Ours(format!(
                "a scanpath of {} has more letters than the {most} of --pad-to",
                sanitize(&entry.participant)
            )));
        }
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
            letters: padding.unwrap_or_else(|| length(entry)),
        });
        let roster = Self(rows.collect());
        match roster.0.iter().position(|row| !row.is_within_limits()) {
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
            if size >= MESSAGE_BYTES {
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
        announced: &Announced,
    ) -> Result<Self, SessionError> {
        let mut rows: Vec<Row> = Vec::new();
        while (rows.len() as u64) < announced.scanpaths {
            let part: Vec<Row> = control::receive(channel, Tag::Roster)?;
            if part.is_empty() || part.iter().any(|row| !row.is_within_limits()) {
                return Err(SessionError::misbehaved("a roster with impossible rows"));
            }
            let padded = |row: &Row| {
                let padding = announced.pad_to.map(u64::from);
                padding.is_none_or(|length| row.letters == length)
            };
            if !part.iter().all(padded) {
                return Err(SessionError::misbehaved(
                    "a length that the agreed padding does not hide",
                ));
            }
            rows.extend(part);
        }
        let sum: u64 = rows.iter().map(|row| row.letters).sum();
        if rows.len() as u64 != announced.scanpaths || sum != announced.letters {
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
    /// Whether any scanpath has a stimulus, by name or by hash.
    pub(crate) fn has_stimuli(&self) -> bool {
        let has = |row: &Row| row.stimulus.is_some() || row.hash.is_some();
        self.0.iter().any(has)
    }

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
    fn is_within_limits(&self) -> bool {
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
mod tests;
