//! What was read, used and dropped, for people and for programs.

use serde::Serialize;

/// What became of the rows of all files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The format's name, or `mixed`.
    pub format: String,
}
