use super::*;
use crate::Fault;

/// A peer with long scanpaths must not end a host that serves others.
#[test]
fn a_problem_caused_by_both_cohorts_is_not_this_sides_fault() {
    let fault = |error: ProtocolError| with_peer(error.into()).fault();
    let does_not_fit = ProtocolError::DoesNotFit {
        needed: 600,
        key_bits: 512,
    };
    assert_eq!(fault(does_not_fit), Fault::Peer);
    assert_eq!(fault(ProtocolError::NoRandomness), Fault::Input);
}

/// A host waits for a peer that lost its connection, and not for one that was caught.
#[test]
fn bans_and_impossible_results_are_final() {
    use veilpath_protocol::Misbehaviour;
    use veilpath_session::{BanReason, Limit, NetworkError};
    let banned = SessionError::from(Limit::Banned(BanReason::ChangedAnswer));
    assert!(Error::from(banned).is_final());
    for (misbehaviour, is_final) in [
        (Misbehaviour::ResultOutOfRange, true),
        (Misbehaviour::StoppedEarly, false),
    ] {
        let error = ProtocolError::from(misbehaviour);
        assert_eq!(with_peer(error.into()).is_final(), is_final);
    }
    let lost = SessionError::from(NetworkError::LeftQueue);
    let interrupted = Error::Interrupted {
        error: lost,
        counts_again: false,
    };
    assert!(!interrupted.is_final());
}
