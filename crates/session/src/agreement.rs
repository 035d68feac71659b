//! What both sides must hold in common before anything is computed.
//!
//! ```text
//! host                                       join
//!  │── magic, version ──────────────────────▶│   as they are; all that follows in the packets of `sealed.rs`
//!  │◀────────────────────── magic, version ──│
//!  │── Hello ───────────────────────────────▶│   patience, and how this side's letters are written
//!  │◀─────────────────────────────── Hello ──│
//!  │── Terms ───────────────────────────────▶│   every field of the plan, the cohort's size and its seal
//!  │◀─────────────────────────────── Terms ──│
//!  │── Roster … ────────────────────────────▶│   ids or pseudonyms, and lengths
//!  │◀──────────────────────────── Roster … ──│
//! ```
//!
//! The fields are those of [`Spec`] as it is written to result files: whatever an engine or metric adds there is agreed on
//! without another word here. A difference is found by both sides, and each names the field and both values.

use crate::SessionError;
use crate::control::{self, Tag};
use crate::error::{Difference, sanitize};
use crate::limits::{IDLE_TIMEOUT_RANGE, MAX_COHORT_LETTERS, MAX_SCANPATHS, PROTOCOL_VERSION};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use veilpath_metrics::{Alphabet, Encoding, Grid};
use veilpath_protocol::{Channel, Role, Spec};

/// What opens every conversation, whatever the version.
const MAGIC: &[u8; 8] = b"VEILPATH";

/// The field that says which metric it is.
const METRIC: &str = "metric.name";

/// The field that says which engine it is, where it has no numbers to set.
const ENGINE: &str = "engine";

/// How the fields of an engine with numbers begin; its name follows.
const ENGINE_NUMBERS: &str = "engine.";

/// Settings that are not written while they have the value that they had before there was a choice: so agreements from then
/// keep their names, and journals and counts go on.
const OMITTED_DEFAULTS: [(&str, &str); 1] = [("reveal", "score")];

/// How one side's scanpaths are written, as far as it knows without the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlphabetInfo {
    /// The alphabet that the user named.
    pub named: Option<Alphabet>,
    /// The alphabet that the cohort's file declares.
    pub declared: Option<Alphabet>,
    /// The alphabet in which the file was read.
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
    pub(crate) fn new(letters: &AlphabetInfo, idle: Duration) -> Self {
        Self {
            idle_timeout_ms: u64::try_from(idle.as_millis()).unwrap_or(u64::MAX),
            named: letters.named.map(|alphabet| alphabet.to_string()),
            declared: letters.declared.map(|alphabet| alphabet.to_string()),
            read_as: letters.read_as.to_string(),
            grid: letters.grid.map(|grid| grid.to_string()),
        }
    }

    /// How long the other side can bear silence.
    pub(crate) fn idle(&self) -> Duration {
        let (least, most) = IDLE_TIMEOUT_RANGE;
        Duration::from_millis(self.idle_timeout_ms).clamp(least, most)
    }

    pub(crate) fn letters(&self) -> Result<AlphabetInfo, SessionError> {
        let bad = || SessionError::misbehaved("an alphabet or grid that does not exist");
        let alphabet = |text: &Option<String>| {
            let parsed = text.as_deref().map(str::parse::<Alphabet>);
            parsed.transpose().map_err(|_| bad())
        };
        Ok(AlphabetInfo {
            named: alphabet(&self.named)?,
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

/// Exchanges versions. They stand outside of any packet and message, so that every version can read them.
pub(crate) fn exchange_versions(channel: &mut dyn Channel) -> Result<(), SessionError> {
    channel.send(MAGIC)?;
    channel.send(&PROTOCOL_VERSION.to_le_bytes())?;
    channel.flush()?;
    let mut opening = [0; 10];
    channel.receive(&mut opening)?;
    let (magic, version) = opening.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(SessionError::AnotherProgram);
    }
    let version = u16::from_le_bytes([version[0], version[1]]);
    if version != PROTOCOL_VERSION {
        return Err(SessionError::Differs(vec![Difference {
            field: "protocol version".into(),
            ours: PROTOCOL_VERSION.to_string(),
            theirs: version.to_string(),
        }]));
    }
    Ok(())
}

/// Exchanges hellos.
pub(crate) fn open(
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
    /// A name for the content of the cohort that only its owner can make: the same content has the same name, so that a
    /// journal is never continued with another cohort.
    pub(crate) cohort_tag: String,
    pub(crate) estimate_only: bool,
}

impl Terms {
    pub(crate) fn new(
        spec: &Spec,
        scanpaths: u64,
        letters: u64,
        cohort_tag: String,
    ) -> Result<Self, SessionError> {
        let value = serde_json::to_value(spec)
            .map_err(|error| SessionError::Ours(format!("the plan cannot be written: {error}")))?;
        let mut fields = BTreeMap::new();
        flatten("", &value, &mut fields);
        // The encoding has its own rule: a cohort that says nothing of it differs from none.
        fields.retain(|name, value| {
            let written = !OMITTED_DEFAULTS.contains(&(name.as_str(), value.as_str()));
            written && !name.starts_with("encoding.")
        });
        Ok(Self {
            fields,
            encoding: spec.encoding.clone(),
            scanpaths,
            letters,
            cohort_tag,
            estimate_only: false,
        })
    }

    /// Everything in which two plans differ, by this side's view.
    pub(crate) fn differences(&self, theirs: &Terms) -> Vec<Difference> {
        const ABSENT: &str = "(not given)";
        let unwritten = |name: &str| {
            OMITTED_DEFAULTS
                .iter()
                .find(|(unwritten, _)| *unwritten == name)
        };
        let names = self.fields.keys().chain(theirs.fields.keys());
        let names: std::collections::BTreeSet<&String> = names.collect();
        let value = |terms: &Terms, name: &str| {
            let absent = unwritten(name).map_or(ABSENT, |(_, value)| value);
            let value = terms.fields.get(name).map_or(absent, String::as_str);
            sanitize(value)
        };
        let (ours_encoding, theirs_encoding) = (
            Encoding(self.encoding.clone()),
            Encoding(theirs.encoding.clone()),
        );
        let encoding = ours_encoding.differences(&theirs_encoding);
        // Another metric has other numbers: that it is another says it all.
        let same_metric = self.fields.get(METRIC) == theirs.fields.get(METRIC);
        let both = |name: &str| self.fields.contains_key(name) && theirs.fields.contains_key(name);
        // So it is with engines, whose names stand alone or before their numbers.
        let engines = (self.engine(), theirs.engine());
        let same_engine = engines.0 == engines.1;
        let of_engine = |name: &str| name == ENGINE || name.starts_with(ENGINE_NUMBERS);
        let engine = (!same_engine).then(|| Difference {
            field: ENGINE.into(),
            ours: sanitize(engines.0.unwrap_or(ABSENT)),
            theirs: sanitize(engines.1.unwrap_or(ABSENT)),
        });
        let others = names
            .into_iter()
            .filter(|name| self.fields.get(*name) != theirs.fields.get(*name))
            .filter(|name| same_metric || both(name) || !name.starts_with("metric."))
            .filter(|name| same_engine || !of_engine(name))
            .map(|name| Difference {
                field: sanitize(name),
                ours: value(self, name),
                theirs: value(theirs, name),
            });
        engine
            .into_iter()
            .chain(others)
            .chain(encoding.into_iter().map(|(name, ours, theirs)| Difference {
                field: format!("encoding.{}", sanitize(name)),
                ours: sanitize(ours),
                theirs: sanitize(theirs),
            }))
            .collect()
    }

    /// The name of the engine.
    fn engine(&self) -> Option<&str> {
        let alone = self.fields.get(ENGINE).map(String::as_str);
        alone.or_else(|| {
            let mut names = self.fields.keys();
            let numbers = names.find_map(|name| name.strip_prefix(ENGINE_NUMBERS))?;
            numbers.split('.').next()
        })
    }

    /// Whether the numbers are within what this side can bear.
    pub(crate) fn check(&self) -> Result<(), SessionError> {
        let tag_is_valid =
            self.cohort_tag.len() == 64 && self.cohort_tag.bytes().all(|c| c.is_ascii_hexdigit());
        if self.scanpaths > MAX_SCANPATHS as u64
            || self.letters > MAX_COHORT_LETTERS
            || !tag_is_valid
        {
            return Err(SessionError::misbehaved(
                "it announced a cohort beyond all limits",
            ));
        }
        Ok(())
    }
}

/// The leaves of a value, each under the path of its names.
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
                flatten(&below(name), value, fields);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                flatten(&below(&index.to_string()), value, fields);
            }
        }
        leaf => {
            let text = match leaf {
                // Not given is the same as not there.
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
