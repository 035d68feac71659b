//! Why a worker key is not accepted, and why a coordinator does not store something.

use serde::{Deserialize, Serialize};

/// What is wrong with a worker key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WorkerKeyProblem {
    /// The institution has not signed it.
    #[error("its institution has not signed it")]
    Forged,
    /// It belongs to another institution, or is signed by something other than an institution.
    #[error("it belongs to another institution")]
    OtherInstitution,
    /// The certificate is for another key than the one that was presented.
    #[error("its certificate is for another key")]
    OtherKey,
    /// It is for another agreement.
    #[error("it is for another agreement")]
    OtherAgreement,
    /// It is for other tiles.
    #[error("it is for other tiles")]
    OtherTile,
    /// It has expired.
    #[error("it has expired")]
    Expired,
    /// Its validity is longer than allowed, or empty.
    #[error("a worker key is valid for at most 31 days")]
    Time,
}

/// What is wrong with a worker's coordinator, or with its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CoordinatorProblem {
    /// The connection to it has ended.
    #[error("the connection to the coordinator was lost")]
    Lost,
    /// Another worker has the tile.
    #[error("another worker computes this tile")]
    TileInUse,
    /// It serves as many workers as it can.
    #[error("the coordinator is already serving its maximum number of workers")]
    Full,
    /// It cannot write its files.
    #[error("the coordinator cannot store this; its own messages say why")]
    Storage,
    /// Its answer is invalid.
    #[error("the coordinator answered something that is not part of the protocol")]
    Protocol,
}
