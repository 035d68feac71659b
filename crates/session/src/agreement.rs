//! What both sides must agree on before anything is computed.
//!
//! ```text
//! host                                       join
//!  │── magic, version ──────────────────────▶│   in frames; everything after it is also in the packets of `checksummed.rs`
//!  │◀────────────────────── magic, version ──│
//!  │── Hello ───────────────────────────────▶│   idle timeout, and the alphabet of this side's cohort
//!  │◀─────────────────────────────── Hello ──│
//!  │── Terms ───────────────────────────────▶│   every field of the plan, the size of the cohort and its tag
//!  │◀─────────────────────────────── Terms ──│
//!  │── Roster … ────────────────────────────▶│   ids or pseudonyms, and lengths
//!  │◀──────────────────────────── Roster … ──│
//! ```
//!
//! The fields are those of [`Spec`] as a result file contains it, so a setting that an engine or metric adds is agreed
//! on without a change here. Both sides find every difference, and each reports the field and both values.

use crate::SessionError;
use crate::control::{self, Tag};
use crate::error::{Difference, InternalError, Misbehaviour, sanitize};
use crate::limits::{
    IDLE_TIMEOUT_RANGE, MAX_COHORT_LETTERS, MAX_ID_BYTES, MAX_SCANPATHS, PROTOCOL_VERSION,
};
use crate::roster::Roster;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use veilpath_channel::Channel;
use veilpath_metrics::text::is_printable;
use veilpath_metrics::{Alphabet, Encoding, Grid};
use veilpath_protocol::{Engine, EngineChoice, Role, Spec, Tile, check_encoding};

/// The field of a [`Difference`] in the protocol version.
pub const PROTOCOL_VERSION_FIELD: &str = "protocol version";

/// The first bytes of every session, in every version.
const MAGIC: &[u8; 8] = b"VEILPATH";

/// The field with the name of the metric.
const METRIC: &str = "metric.name";

/// The field with the scale of the metric's costs.
const SCALE: &str = "metric.scale";

/// The field of a [`Difference`] in the engine. In Terms, it names an engine without settings.
pub const ENGINE_FIELD: &str = "engine";

/// The field of a [`Difference`] in the number of tiles.
pub const TILE_COUNT_FIELD: &str = "tile_count";

/// The field of a [`Difference`] in the tile of the session.
pub const TILE_FIELD: &str = "tile";

/// The value that leaves the choice between the proven engines open.
const AUTO: &str = EngineChoice::AUTO;

/// The prefix of the fields of an engine with settings; the engine's name follows.
const ENGINE_SETTINGS: &str = "engine.";

/// What one side knows about the alphabet of its cohort before it connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlphabetInfo {
    /// The alphabet that the user asked for.
    pub named: Option<Alphabet>,
    /// The alphabet that the cohort's file declares.
    pub declared: Option<Alphabet>,
    /// The alphabet in which the file was parsed.
    pub read_as: Alphabet,
    /// The grid that the file declares.
    pub grid: Option<Grid>,
}

/// The first message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hello {
    idle_timeout_ms: u64,
    named: Option<String>,
    declared: Option<String>,
    read_as: String,
    grid: Option<String>,
}

impl Hello {
    pub(crate) fn new(alphabet: &AlphabetInfo, idle: Duration) -> Self {
        Self {
            idle_timeout_ms: u64::try_from(idle.as_millis()).unwrap_or(u64::MAX),
            named: alphabet.named.map(|alphabet| alphabet.to_string()),
            declared: alphabet.declared.map(|alphabet| alphabet.to_string()),
            read_as: alphabet.read_as.to_string(),
            grid: alphabet.grid.map(|grid| grid.to_string()),
        }
    }

    /// The idle timeout of the other side.
    pub(crate) fn idle_timeout(&self) -> Duration {
        let (min, max) = IDLE_TIMEOUT_RANGE;
        Duration::from_millis(self.idle_timeout_ms).clamp(min, max)
    }

    pub(crate) fn alphabet(&self) -> Result<AlphabetInfo, SessionError> {
        let bad = || SessionError::from(Misbehaviour::InvalidAlphabet);
        let alphabet = |text: &Option<String>| {
            let parsed = text.as_deref().map(str::parse::<Alphabet>);
            parsed.transpose().map_err(|_| bad())
        };
        let named = alphabet(&self.named)?;
        // A user names a notation, not a number of letters. A smaller alphabet would probe which letters this side has.
        if named.is_some_and(|named| named != Alphabet::full(named.notation())) {
            return Err(bad());
        }
        Ok(AlphabetInfo {
            named,
            declared: alphabet(&self.declared)?,
            read_as: self.read_as.parse().map_err(|_| bad())?,
            grid: self
                .grid
                .as_deref()
                .map(str::parse::<Grid>)
                .transpose()
                .map_err(|_| bad())?,
        })
    }
}

/// Exchanges versions. They are outside of packets and messages, so that every version can read them.
pub(crate) fn exchange_versions(channel: &mut dyn Channel) -> Result<(), SessionError> {
    channel.send(MAGIC)?;
    channel.send(&PROTOCOL_VERSION.to_le_bytes())?;
    channel.flush()?;
    let mut opening = [0; 10];
    channel.receive(&mut opening)?;
    let (magic, version) = opening.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(SessionError::NotVeilpath);
    }
    let version = u16::from_le_bytes([version[0], version[1]]);
    if version != PROTOCOL_VERSION {
        return Err(SessionError::Differs(vec![Difference {
            field: PROTOCOL_VERSION_FIELD.into(),
            ours: PROTOCOL_VERSION.to_string(),
            theirs: version.to_string(),
        }]));
    }
    Ok(())
}

/// Exchanges Hello messages.
pub(crate) fn exchange_hellos(
    channel: &mut dyn Channel,
    role: Role,
    ours: &Hello,
) -> Result<Hello, SessionError> {
    control::exchange(channel, role, Tag::Hello, ours)
}

/// The whole plan of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Terms {
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) encoding: BTreeMap<String, String>,
    pub(crate) scanpaths: u64,
    pub(crate) letters: u64,
    /// Bytes of all ids and stimuli in the roster.
    pub(crate) id_bytes: u64,
    /// An authentication tag of the cohort's content under its owner's key. The same content has the same tag, so a
    /// journal is never continued with another cohort.
    pub(crate) cohort_tag: String,
    pub(crate) estimate_only: bool,
    /// The number of the tile, where the session is about one. The number of tiles is a field of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tile: Option<u32>,
}

impl Terms {
    pub(crate) fn new(
        spec: &Spec,
        tile: Option<Tile>,
        roster: &Roster,
        cohort_tag: String,
    ) -> Result<Self, SessionError> {
        let value = serde_json::to_value(spec)
            .map_err(|error| InternalError::Serialise(error.to_string()))?;
        let mut fields = BTreeMap::new();
        flatten("", &value, &mut fields);
        // The encoding has its own rule: a cohort without encoding settings is compatible with any.
        fields.retain(|name, _| !name.starts_with("encoding."));
        if let Some(tile) = tile {
            fields.insert(TILE_COUNT_FIELD.into(), tile.count().to_string());
        }
        Ok(Self {
            fields,
            encoding: spec.encoding.clone(),
            scanpaths: roster.len() as u64,
            letters: roster.lengths().sum(),
            id_bytes: roster.id_bytes(),
            cohort_tag,
            estimate_only: false,
            tile: tile.map(Tile::index),
        })
    }

    /// Everything in which the two plans differ.
    pub(crate) fn differences(&self, theirs: &Terms) -> Vec<Difference> {
        const ABSENT: &str = "(not given)";
        let names = self.fields.keys().chain(theirs.fields.keys());
        let names: std::collections::BTreeSet<&String> = names.collect();
        let value = |terms: &Terms, name: &str| {
            let value = terms.fields.get(name).map_or(ABSENT, String::as_str);
            sanitize(value)
        };
        let (ours_encoding, theirs_encoding) = (
            Encoding(self.encoding.clone()),
            Encoding(theirs.encoding.clone()),
        );
        let encoding = ours_encoding.differences(&theirs_encoding);
        // Different metrics have different parameters, so only the name of the metric is reported.
        let same_metric = self.fields.get(METRIC) == theirs.fields.get(METRIC);
        let both = |name: &str| self.fields.contains_key(name) && theirs.fields.contains_key(name);
        // Likewise for engines. The name of an engine is a field of its own, or the prefix of its settings.
        let engines = (self.engine(), theirs.engine());
        let compatible = engines.0 == engines.1 || self.common_engine(theirs).is_some();
        let engine = (!compatible).then(|| Difference {
            field: ENGINE_FIELD.into(),
            ours: sanitize(engines.0.unwrap_or(ABSENT)),
            theirs: sanitize(engines.1.unwrap_or(ABSENT)),
        });
        let of_engine = |name: &str| match compatible {
            true => name == ENGINE_FIELD,
            false => name == ENGINE_FIELD || name.starts_with(ENGINE_SETTINGS),
        };
        let others = names
            .into_iter()
            .filter(|name| self.fields.get(*name) != theirs.fields.get(*name))
            .filter(|name| same_metric || both(name) || !name.starts_with("metric."))
            .filter(|name| !of_engine(name))
            .map(|name| Difference {
                field: sanitize(name),
                ours: value(self, name),
                theirs: value(theirs, name),
            });
        let mut others: Vec<Difference> = others.collect();
        // The scale usually follows from the other parameters. One that was set is reported once these agree.
        if others
            .iter()
            .any(|it| it.field.starts_with("metric.") && it.field != SCALE)
        {
            others.retain(|it| it.field != SCALE);
        }
        let tile = |terms: &Terms| terms.tile.map_or(ABSENT.into(), |tile| tile.to_string());
        let same_tiles = self.fields.get(TILE_COUNT_FIELD) == theirs.fields.get(TILE_COUNT_FIELD);
        let tiles = (same_tiles && self.tile != theirs.tile).then(|| Difference {
            field: TILE_FIELD.into(),
            ours: tile(self),
            theirs: tile(theirs),
        });
        engine
            .into_iter()
            .chain(others)
            .chain(tiles)
            .chain(encoding.into_iter().map(|(name, ours, theirs)| Difference {
                field: format!("encoding.{}", sanitize(name)),
                ours: sanitize(ours),
                theirs: sanitize(theirs),
            }))
            .collect()
    }

    /// The engine that both sides accept: both name it, or one names it and the other leaves the choice open.
    pub(crate) fn common_engine<'a>(&'a self, theirs: &'a Terms) -> Option<&'a str> {
        let (ours, theirs) = (self.engine()?, theirs.engine()?);
        let includes = |choice: &str, name: &str| choice == AUTO && Engine::proven(name).is_some();
        match (ours, theirs) {
            (ours, theirs) if ours == theirs || includes(theirs, ours) => Some(ours),
            (ours, theirs) if includes(ours, theirs) => Some(theirs),
            _ => None,
        }
    }

    /// Sets the number of tiles of the plan.
    pub(crate) fn set_tile_count(&mut self, count: u32) {
        self.fields
            .insert(TILE_COUNT_FIELD.into(), count.to_string());
    }

    /// Whether the choice between the proven engines is open.
    pub(crate) fn leaves_engine_open(&self) -> bool {
        self.engine() == Some(AUTO)
    }

    /// Names the engine, or leaves the choice open.
    pub(crate) fn set_engine(&mut self, name: &str) {
        self.fields.insert(ENGINE_FIELD.into(), name.into());
    }

    /// The name of the engine.
    fn engine(&self) -> Option<&str> {
        let without_settings = self.fields.get(ENGINE_FIELD).map(String::as_str);
        without_settings.or_else(|| {
            let mut names = self.fields.keys();
            let settings = names.find_map(|name| name.strip_prefix(ENGINE_SETTINGS))?;
            settings.split('.').next()
        })
    }

    /// Checks that the announced sizes are within the limits, and that a result file can contain the encoding settings.
    pub(crate) fn check(&self) -> Result<(), SessionError> {
        let tag_is_valid =
            self.cohort_tag.len() == 64 && self.cohort_tag.bytes().all(|c| c.is_ascii_hexdigit());
        if self.scanpaths > MAX_SCANPATHS as u64
            || self.letters > MAX_COHORT_LETTERS
            || self.id_bytes > MAX_SCANPATHS as u64 * 2 * MAX_ID_BYTES as u64
            || !tag_is_valid
        {
            return Err(Misbehaviour::CohortBeyondLimits.into());
        }
        let mut settings = self.encoding.iter().flat_map(|(name, value)| [name, value]);
        if check_encoding(&self.encoding).is_err() || !settings.all(|text| is_printable(text)) {
            return Err(Misbehaviour::InvalidEncoding.into());
        }
        Ok(())
    }
}

/// The leaves of a value, each with its path.
fn flatten(path: &str, value: &Value, fields: &mut BTreeMap<String, String>) {
    let below = |name: &str| {
        let name = name.replace('_', "-");
        if path.is_empty() {
            name
        } else {
            format!("{path}.{name}")
        }
    };
    match value {
        Value::Object(entries) => {
            for (name, value) in entries {
                // A table is compared by its hash; its numbers would be thousands of fields.
                let hashed = name == "values" && entries.contains_key("sha256");
                if !hashed {
                    flatten(&below(name), value, fields);
                }
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                flatten(&below(&index.to_string()), value, fields);
            }
        }
        leaf => {
            let text = match leaf {
                // `null` is the same as absent.
                Value::Null => return,
                Value::String(text) => text.clone(),
                // −0 and 0 are the same cost.
                Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
                    Some(number) => format!("{}", number + 0.0),
                    None => number.to_string(),
                },
                other => other.to_string(),
            };
            fields.insert(path.to_string(), text);
        }
    }
}

#[cfg(test)]
mod tests;
