//! What an institution signs for a worker: which key may compute which tiles of which agreement, and until when.

use crate::error::{InternalError, WorkerKeyProblem};
use crate::identity::{PublicKey, hex};
use crate::{Fingerprint, Identity, SessionError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use veilpath_protocol::MAX_TILES;

/// The prefix of what is signed. It differs from the prefixes of records and of TLS, so no signature can be taken for
/// another.
const STATEMENT: &[u8] = b"veilpath worker key 1\n";

/// The largest certificate in a message, in bytes. A real one has about 600.
pub(crate) const MAX_BYTES: usize = 2 << 10;

/// The longest time for which a worker key is made. Keys cannot be revoked, so they expire soon.
pub const MAX_WORKER_KEY_TIME: Duration = Duration::from_secs(31 * 24 * 3600);

/// The tolerated clock difference: the clock of the side that checks a key may be behind.
const MAX_CLOCK_DIFFERENCE: Duration = Duration::from_secs(24 * 3600);

/// Connections of a worker key in addition to one for each of its tiles.
const SPARE_CONNECTIONS: usize = 4;

/// Consecutive tiles of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileRange {
    first: u32,
    last: u32,
}

/// A text that is not a range of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tiles are a number or a range, as in 7 or 1-100")]
pub struct TileRangeError;

/// A signed statement of an institution about a worker's key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkerCertificate {
    claim: Claim,
    signature: String,
}

/// What is signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    institution: PublicKey,
    worker: PublicKey,
    agreement: String,
    first_tile: u32,
    last_tile: u32,
    /// Seconds since 1970.
    expires: u64,
}

impl TileRange {
    /// The first and the last tile, from 1.
    pub fn new(first: u32, last: u32) -> Result<Self, TileRangeError> {
        match 1 <= first && first <= last && last <= MAX_TILES {
            true => Ok(Self { first, last }),
            false => Err(TileRangeError),
        }
    }

    /// The first tile.
    pub fn first(self) -> u32 {
        self.first
    }

    /// The last tile.
    pub fn last(self) -> u32 {
        self.last
    }

    /// Whether a tile is one of them.
    pub fn contains(self, tile: u32) -> bool {
        (self.first..=self.last).contains(&tile)
    }
}

impl fmt::Display for TileRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

impl FromStr for TileRange {
    type Err = TileRangeError;

    fn from_str(text: &str) -> Result<Self, TileRangeError> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| text.parse().map_err(|_| TileRangeError);
        Self::new(number(first)?, number(last)?)
    }
}

impl WorkerCertificate {
    /// Signs that this key may compute these tiles.
    pub(crate) fn sign(
        institution: &Identity,
        worker: &Identity,
        agreement: &str,
        tiles: TileRange,
        expires: SystemTime,
    ) -> Result<Self, SessionError> {
        let claim = Claim {
            institution: institution.public_key()?,
            worker: worker.public_key()?,
            agreement: agreement.to_string(),
            first_tile: tiles.first,
            last_tile: tiles.last,
            expires: seconds(expires),
        };
        let signature = hex(&institution.sign(&claim.message()?)?);
        Ok(Self { claim, signature })
    }

    /// Whether this institution lets this key compute this tile, or any tile, of this agreement now; and for how long.
    ///
    /// A key that is valid for too long is rejected. So the institution that made it does not decide alone how long a
    /// stolen key works, and a clock that was set back by months does not revive an old key.
    pub(crate) fn check(
        &self,
        institution: Fingerprint,
        worker: PublicKey,
        agreement: &str,
        tile: Option<u32>,
        now: SystemTime,
    ) -> Result<Duration, WorkerKeyProblem> {
        let claim = &self.claim;
        if claim.institution.fingerprint() != institution {
            return Err(WorkerKeyProblem::OtherInstitution);
        }
        let message = claim.message().map_err(|_| WorkerKeyProblem::Forged)?;
        if !claim.institution.verifies(&message, &self.signature) {
            return Err(WorkerKeyProblem::Forged);
        }
        if claim.worker != worker {
            return Err(WorkerKeyProblem::OtherKey);
        }
        if claim.agreement != agreement {
            return Err(WorkerKeyProblem::OtherAgreement);
        }
        if !tile.is_none_or(|tile| self.tiles().is_some_and(|tiles| tiles.contains(tile))) {
            return Err(WorkerKeyProblem::OtherTile);
        }
        let left = Duration::from_secs(claim.expires.saturating_sub(seconds(now)));
        if left.is_zero() {
            return Err(WorkerKeyProblem::Expired);
        }
        match left <= MAX_WORKER_KEY_TIME + MAX_CLOCK_DIFFERENCE {
            true => Ok(left),
            false => Err(WorkerKeyProblem::Time),
        }
    }

    /// The tiles that it is for.
    pub(crate) fn tiles(&self) -> Option<TileRange> {
        TileRange::new(self.claim.first_tile, self.claim.last_tile).ok()
    }

    /// How many connections its workers may have: one for each tile, and some left behind by interrupted workers.
    pub(crate) fn max_connections(&self) -> usize {
        let tiles = self.tiles().map_or(0, |it| it.last() - it.first() + 1);
        let tiles = usize::try_from(tiles).unwrap_or(usize::MAX);
        tiles.saturating_add(SPARE_CONNECTIONS)
    }

    /// When it expires. A time that the clock cannot represent counts as expired.
    pub(crate) fn expires(&self) -> SystemTime {
        let time = UNIX_EPOCH.checked_add(Duration::from_secs(self.claim.expires));
        time.unwrap_or(UNIX_EPOCH)
    }

    /// The worker's key.
    pub(crate) fn worker(&self) -> PublicKey {
        self.claim.worker
    }

    /// Whose worker it is, if the signature is valid.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn institution(&self) -> Fingerprint {
        self.claim.institution.fingerprint()
    }

    /// The id of the agreement.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn agreement(&self) -> &str {
        &self.claim.agreement
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, SessionError> {
        let bytes = serde_json::to_vec(self);
        Ok(bytes.map_err(|error| InternalError::Serialise(error.to_string()))?)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

impl Claim {
    fn message(&self) -> Result<Vec<u8>, SessionError> {
        signed_message(STATEMENT, self)
    }
}

/// The bytes that are signed for a claim, after a start that tells kinds of claims apart.
pub(super) fn signed_message(
    start: &[u8],
    claim: &impl Serialize,
) -> Result<Vec<u8>, SessionError> {
    let json = serde_json::to_vec(claim);
    let json = json.map_err(|error| InternalError::Serialise(error.to_string()))?;
    Ok([start, &json].concat())
}

/// Seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}
