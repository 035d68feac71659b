//! The scanpaths that take part: ids or pseudonyms, stimuli by name or by hash, and lengths.
//!
//! A pseudonym is made with this side's private key: it is the same for the same participant and peer, so that an interrupted
//! session can resume; different for every peer; and meaningless to anyone else. The hash of a stimulus is made with the two
//! fingerprints, which both sides know, because both must recognise equal stimuli: it hides a name only from those who cannot
//! guess it.
//!
//! Where lengths are hidden, every scanpath has the agreed length in a roster. The true lengths are in no message, and in
//! nothing that is derived from rosters (the agreement's id, the work, its estimate, the matrix cells of the result).

use crate::control::{self, Tag};
use crate::error::{Limit, Misbehaviour, SessionError, UsageError};
use crate::identity::hex;
use crate::limits::{MAX_ID_BYTES, MAX_LETTERS, MAX_SESSION_PAIRS};
use crate::{Fingerprint, Identity};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use veilpath_channel::Channel;
use veilpath_metrics::text::is_printable;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Scanpath};
use veilpath_protocol::{PairBlocks, PairRule, Role, ScanpathId, Tile};

/// Bytes of rows after which a message is sent.
const MESSAGE_BYTES: usize = 512 << 10;

/// The keys of the two sides of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parties {
    pub(crate) host: Fingerprint,
    pub(crate) join: Fingerprint,
}

/// One scanpath as the other side sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// An id, or a pseudonym.
    id: String,
    /// The name of the stimulus, where it is not hidden.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    stimulus: Option<String>,
    /// Its hash, where it is hidden.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    hash: Option<String>,
    letters: u64,
}

/// What the other side announced about its roster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnnouncedRoster {
    pub(crate) scanpaths: u64,
    pub(crate) letters: u64,
    /// Bytes of all ids and stimuli.
    pub(crate) id_bytes: u64,
    /// The length that every scanpath must have.
    pub(crate) pad_to: Option<u32>,
}

/// One side's scanpaths, as both sides see them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Roster(Vec<Row>);

impl Roster {
    /// The roster of this side's cohort. With pseudonyms the cohort is sorted by them first, because the order of a file reveals
    /// something about its ids.
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
        let too_long = |entry: &Entry| padding.is_some_and(|max| length(entry) > max);
        if let (Some(index), Some(pad_to)) = (cohort.entries.iter().position(too_long), pad_to) {
            return Err(UsageError::LongerThanPadding {
                number: index + 1,
                letters: length(&cohort.entries[index]),
                pad_to,
            }
            .into());
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
        if let Some(index) = roster.0.iter().position(|row| !row.is_printable()) {
            return Err(UsageError::UnprintableId { number: index + 1 }.into());
        }
        match roster.0.iter().position(|row| !row.is_within_limits()) {
            None => Ok(roster),
            Some(index) => Err(UsageError::ScanpathBeyondLimits { number: index + 1 }.into()),
        }
    }

    pub(crate) fn send(&self, channel: &mut dyn Channel) -> Result<(), SessionError> {
        let mut part = Vec::new();
        let mut size = 0;
        for row in &self.0 {
            part.push(row);
            // A byte takes at most six bytes when escaped.
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

    /// Receives the announced number of rows and letters.
    pub(crate) fn receive(
        channel: &mut dyn Channel,
        announced: &AnnouncedRoster,
    ) -> Result<Self, SessionError> {
        let mut rows: Vec<Row> = Vec::new();
        let mut id_bytes = 0;
        while (rows.len() as u64) < announced.scanpaths {
            let part: Vec<Row> = control::receive(channel, Tag::Roster)?;
            if part.is_empty() || part.iter().any(|row| !row.is_within_limits()) {
                return Err(Misbehaviour::InvalidRosterRow.into());
            }
            if !part.iter().all(Row::is_printable) {
                return Err(Misbehaviour::UnprintableId.into());
            }
            let padded = |row: &Row| {
                let padding = announced.pad_to.map(u64::from);
                padding.is_none_or(|length| row.letters == length)
            };
            if !part.iter().all(padded) {
                return Err(Misbehaviour::UnpaddedLength.into());
            }
            id_bytes += part.iter().map(Row::id_bytes).sum::<u64>();
            rows.extend(part);
            if rows.len() as u64 > announced.scanpaths || id_bytes > announced.id_bytes {
                return Err(Misbehaviour::RosterNotAsAnnounced.into());
            }
        }
        let sum: u64 = rows.iter().map(|row| row.letters).sum();
        if sum != announced.letters || id_bytes != announced.id_bytes {
            return Err(Misbehaviour::RosterNotAsAnnounced.into());
        }
        Ok(Self(rows))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of distinct participants and scanpaths among these.
    pub(crate) fn count_participants(&self, scanpaths: impl Iterator<Item = usize>) -> (u64, u64) {
        let mut taking_part = vec![false; self.len()];
        for index in scanpaths {
            if let Some(it) = taking_part.get_mut(index) {
                *it = true;
            }
        }
        let rows = self.0.iter().zip(&taking_part);
        let rows = rows.filter(|(_, taking_part)| **taking_part);
        let ids: HashSet<&str> = rows.clone().map(|(row, _)| row.id.as_str()).collect();
        (ids.len() as u64, rows.count() as u64)
    }

    /// Bytes of all ids and stimuli.
    pub(crate) fn id_bytes(&self) -> u64 {
        self.0.iter().map(Row::id_bytes).sum()
    }

    /// The letters of one scanpath.
    pub(crate) fn length(&self, index: usize) -> u64 {
        self.0.get(index).map_or(0, |row| row.letters)
    }

    /// The stimulus of each scanpath: its name, or its hash.
    pub(crate) fn stimuli(&self) -> impl Iterator<Item = Option<&str>> {
        let rows = self.0.iter();
        rows.map(|row| row.stimulus.as_deref().or(row.hash.as_deref()))
    }

    pub(crate) fn lengths(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|row| row.letters)
    }

    /// The ids for a result file. `names` maps the hashes of stimuli that this side knows to their names.
    pub(crate) fn scanpath_ids(&self, names: &HashMap<String, String>) -> Vec<ScanpathId> {
        let name = |row: &Row| match &row.hash {
            Some(hash) => Some(names.get(hash).unwrap_or(hash).clone()),
            None => row.stimulus.clone(),
        };
        self.0
            .iter()
            .map(|row| ScanpathId {
                participant: row.id.clone(),
                stimulus: name(row),
            })
            .collect()
    }

    /// A hash of the roster.
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

    /// Whether any scanpath has a stimulus, by name or by hash.
    pub(crate) fn has_stimuli(&self) -> bool {
        let has = |row: &Row| row.stimulus.is_some() || row.hash.is_some();
        self.0.iter().any(has)
    }

    /// A cohort with hashes for stimuli and empty scanpaths, as input for the pairing rule.
    fn outline(&self, parties: &Parties) -> Cohort {
        let entries = self.0.iter().map(|row| Entry {
            participant: String::new(),
            group: None,
            stimulus: match &row.stimulus {
                Some(name) => Some(parties.hash(name)),
                None => row.hash.clone(),
            },
            scanpath: Scanpath::default(),
            fixations: None,
        });
        Cohort {
            alphabet: Alphabet::full(veilpath_metrics::Notation::Letters),
            encoding: Encoding::default(),
            screen: None,
            entries: entries.collect(),
        }
    }
}

impl Row {
    fn id_bytes(&self) -> u64 {
        let texts = [Some(&self.id), self.stimulus.as_ref(), self.hash.as_ref()];
        texts
            .into_iter()
            .flatten()
            .map(|text| text.len() as u64)
            .sum()
    }

    /// Ids end up in tables and files of this side: they must not contain control characters or imitate other ids.
    fn is_printable(&self) -> bool {
        let texts = [Some(&self.id), self.stimulus.as_ref(), self.hash.as_ref()];
        texts.into_iter().flatten().all(|text| is_printable(text))
    }

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
    /// The hash of a stimulus name between these two parties.
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

/// The ids of the host's scanpaths and the joining side's, as this side knows them.
pub(crate) fn scanpath_ids_of_both(
    role: Role,
    cohort: &Cohort,
    parties: &Parties,
    [host, join]: [&Roster; 2],
) -> [Vec<ScanpathId>; 2] {
    let names = parties.names(cohort);
    let own = cohort.entries.iter().map(|entry| ScanpathId {
        participant: entry.participant.clone(),
        stimulus: entry.stimulus.clone(),
    });
    match role {
        Role::Host => [own.collect(), join.scanpath_ids(&names)],
        Role::Join => [host.scanpath_ids(&names), own.collect()],
    }
}

/// All pairs of two rosters, as blocks.
pub(crate) fn blocks(
    rule: PairRule,
    host: &Roster,
    join: &Roster,
    parties: &Parties,
) -> PairBlocks {
    PairBlocks::of(rule, &host.outline(parties), &join.outline(parties))
}

/// The pairs of a plan or of one of its tiles, if there are not too many and `fits` accepts them. A tile may be empty, a plan may not.
pub(crate) fn pairs(
    plan: &PairBlocks,
    host: &Roster,
    join: &Roster,
    tile: Option<Tile>,
    fits: impl FnOnce(&PairBlocks) -> Result<(), Limit>,
) -> Result<PairBlocks, SessionError> {
    if plan.pairs() == 0 {
        return Err(Limit::NoPairs.into());
    }
    let pairs = match tile {
        None => plan.clone(),
        Some(tile) => {
            let [host, join] = [host, join].map(|roster| roster.lengths().collect::<Vec<_>>());
            plan.tile([&host, &join], tile)
        }
    };
    let count = pairs.pairs();
    if count > MAX_SESSION_PAIRS {
        return Err(Limit::TooManyPairs {
            pairs: count,
            max: MAX_SESSION_PAIRS,
        }
        .into());
    }
    fits(&pairs)?;
    Ok(pairs)
}

#[cfg(test)]
mod tests;
