//! Why a worker key is not accepted.

/// What is wrong with a worker key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
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
    /// Its time is over.
    #[error("it has expired")]
    Expired,
    /// It would be valid for longer than a worker key may be, or not at all.
    #[error("a worker key is valid for at most 31 days")]
    Time,
}
