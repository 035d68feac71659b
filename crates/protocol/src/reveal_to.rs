//! Which sides get results.

use crate::Role;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The sides that get the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RevealTo {
    /// Both sides.
    #[default]
    Both,
    /// The host alone.
    Host,
    /// The joining side alone.
    Join,
}

impl From<Role> for RevealTo {
    fn from(role: Role) -> Self {
        match role {
            Role::Host => Self::Host,
            Role::Join => Self::Join,
        }
    }
}

impl fmt::Display for RevealTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RevealTo::Both => "both",
            RevealTo::Host => "host",
            RevealTo::Join => "join",
        })
    }
}

impl RevealTo {
    /// Whether a side gets the results.
    pub fn includes(self, role: Role) -> bool {
        match self {
            RevealTo::Both => true,
            RevealTo::Host => role == Role::Host,
            RevealTo::Join => role == Role::Join,
        }
    }
}
