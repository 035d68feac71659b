//! Invitations: a small file in which one institution tells another its address, its identity and what it would like to
//! compute.

use crate::{Error, NamedPlan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use veilpath_metrics::Encoding;
use veilpath_metrics::text::is_unprintable;
use veilpath_session::{Fingerprint, MIN_GROUP_SIZE, check_address};

/// The largest invitation file.
const MAX_BYTES: usize = 64 << 10;

/// The longest setting or name.
const MAX_TEXT: usize = 1024;

/// The file type, stored in the first field.
const KIND: &str = "veilpath invitation";

/// The format version.
const VERSION: u32 = 3;

/// An invitation to compare, or the reply to one. It contains no secret. But an attacker who can change it in transit
/// can substitute another key, so both sides compare fingerprints by phone.
#[derive(Clone, Debug, PartialEq)]
pub struct Invitation {
    /// Where the two sides meet; `None` in the joining side's reply.
    pub meeting_place: Option<MeetingPlace>,
    /// The fingerprint of the institution that wrote the file.
    pub fingerprint: Fingerprint,
    /// The institution's name, as the partner sees it; may be empty.
    pub name: String,
    /// The plan that it proposes.
    pub plan: NamedPlan,
    /// The smallest number of participants behind any part of a group answer; `None` for the default.
    pub minimum_group: Option<u32>,
    /// How its scanpaths were encoded. The partner's must be encoded the same way.
    pub encoding: Encoding,
}

/// Where two sides meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeetingPlace {
    /// The address of the host.
    Host(String),
    /// The address of a relay, to which both connect.
    Relay(String),
}

impl MeetingPlace {
    fn address(&self) -> &str {
        match self {
            MeetingPlace::Host(address) | MeetingPlace::Relay(address) => address,
        }
    }
}

/// Why a file is not an invitation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvitationError {
    /// The file is larger than any invitation.
    #[error("this file is too large for an invitation")]
    TooLarge,
    /// The file is malformed.
    #[error("this is not an invitation: {0}")]
    Malformed(String),
    /// The file was written by another version.
    #[error("this invitation has version {0}, but this program reads version {VERSION}")]
    Version(u32),
    /// The address is invalid or has no port.
    #[error("{0:?} is not an address with a port, as in clinic.example:7070")]
    Address(String),
    /// Text that is too long or cannot be shown.
    #[error("a text in the invitation is too long, or contains control characters")]
    Text,
    /// A minimum group size below what any answer allows.
    #[error("a group answer needs at least {MIN_GROUP_SIZE} participants")]
    MinimumGroup,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct InvitationFile {
    kind: String,
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    relay: Option<String>,
    fingerprint: String,
    #[serde(default)]
    name: String,
    plan: NamedPlan,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    minimum_group: Option<u32>,
    #[serde(default)]
    encoding: BTreeMap<String, String>,
}

impl Invitation {
    /// The usual file extension.
    pub const EXTENSION: &'static str = "invitation";

    /// Whether a file starts like an invitation.
    pub fn is_start_of(bytes: &[u8]) -> bool {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
        start.trim_start().starts_with('{') && start.contains(KIND)
    }

    /// Reads and validates a file.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() > MAX_BYTES {
            return Err(InvitationError::TooLarge.into());
        }
        let malformed =
            |error: &dyn std::fmt::Display| InvitationError::Malformed(error.to_string());
        let file: InvitationFile =
            serde_json::from_slice(bytes).map_err(|error| malformed(&error))?;
        if file.kind != KIND {
            return Err(malformed(&"it is another kind of file").into());
        }
        if file.version != VERSION {
            return Err(InvitationError::Version(file.version).into());
        }
        let meeting_place = match (file.address, file.relay) {
            (Some(_), Some(_)) => {
                return Err(malformed(&"it names both a host and a relay").into());
            }
            (Some(address), None) => Some(MeetingPlace::Host(address)),
            (None, Some(address)) => Some(MeetingPlace::Relay(address)),
            (None, None) => None,
        };
        let invitation = Self {
            fingerprint: file
                .fingerprint
                .parse()
                .map_err(|error| malformed(&error))?,
            meeting_place,
            name: file.name,
            plan: file.plan,
            minimum_group: file.minimum_group,
            encoding: Encoding(file.encoding),
        };
        invitation.check()?;
        Ok(invitation)
    }

    /// Validates the address, the text fields, the minimum group and the plan.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(address) = self.meeting_place.as_ref().map(MeetingPlace::address) {
            let is_address = check_address(address).is_ok() && is_acceptable_text(address);
            if !is_address || address.starts_with(':') {
                return Err(InvitationError::Address(address.to_string()).into());
            }
        }
        let settings = self.encoding.0.iter();
        let mut texts = settings.flat_map(|(name, value)| [name, value]);
        if !is_acceptable_text(&self.name) || !texts.all(|text| is_acceptable_text(text)) {
            return Err(InvitationError::Text.into());
        }
        if self.minimum_group.is_some_and(|it| it < MIN_GROUP_SIZE) {
            return Err(InvitationError::MinimumGroup.into());
        }
        self.plan.options().map(|_| ())
    }

    /// Serializes the invitation.
    pub fn to_json(&self) -> String {
        let (address, relay) = match self.meeting_place.clone() {
            Some(MeetingPlace::Host(address)) => (Some(address), None),
            Some(MeetingPlace::Relay(address)) => (None, Some(address)),
            None => (None, None),
        };
        let file = InvitationFile {
            kind: KIND.into(),
            version: VERSION,
            address,
            relay,
            fingerprint: self.fingerprint.to_string(),
            name: self.name.clone(),
            plan: self.plan.clone(),
            minimum_group: self.minimum_group,
            encoding: self.encoding.0.clone(),
        };
        // Strings and finite numbers always have a JSON form, so this does not fail.
        serde_json::to_string_pretty(&file).unwrap_or_default()
    }
}

fn is_acceptable_text(text: &str) -> bool {
    text.len() <= MAX_TEXT && !text.chars().any(is_unprintable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invitation() -> Invitation {
        Invitation {
            meeting_place: Some(MeetingPlace::Host("clinic.example:7070".into())),
            fingerprint: "ab".repeat(32).parse().unwrap(),
            name: "Clinic".into(),
            plan: NamedPlan {
                metric: "scanmatch".into(),
                parameters: [("gap".to_string(), -0.5)].into(),
                ..NamedPlan::default()
            },
            minimum_group: Some(4),
            encoding: Encoding([("grid".to_string(), "7x7".to_string())].into()),
        }
    }

    #[test]
    fn files_are_read_back() {
        let written = invitation().to_json();
        assert!(Invitation::is_start_of(written.as_bytes()));
        assert_eq!(Invitation::read(written.as_bytes()).unwrap(), invitation());
        let relay = MeetingPlace::Relay("relay.example:7071".into());
        for meeting_place in [None, Some(relay)] {
            let other = Invitation {
                meeting_place,
                minimum_group: None,
                ..invitation()
            };
            let read = Invitation::read(other.to_json().as_bytes());
            assert_eq!(read.unwrap(), other);
        }
    }

    #[test]
    fn other_files_are_refused() {
        let written = invitation().to_json();
        for (from, to) in [
            ("veilpath invitation", "another file"),
            ("\"version\": 3", "\"version\": 4"),
            ("clinic.example:7070", "http://clinic.example/"),
            ("clinic.example:7070", ":7070"),
            ("clinic.example:7070", "clinic\\u0007:7070"),
            ("abab", "xyz"),
            ("scanmatch", "scanmatch; rm -rf"),
            ("\"grid\"", "\"gr\\u202eid\""),
            ("\"minimum_group\": 4", "\"minimum_group\": 2"),
            ("\"name\"", "\"command\""),
            ("\"name\"", "\"relay\": \"r.example:7071\", \"name\""),
        ] {
            let changed = written.replacen(from, to, 1);
            assert_ne!(changed, written);
            assert!(Invitation::read(changed.as_bytes()).is_err(), "{to}");
        }
        assert!(Invitation::read(&vec![b' '; MAX_BYTES + 1]).is_err());
        assert!(Invitation::read(b"").is_err());
    }
}
