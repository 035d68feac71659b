use super::*;
use crate::{Fault, Input, LocalCohort, MetricOptions, PlanOptions, Policy, PolicyRule};
use std::path::Path;
use veilpath_metrics::Notation;
use veilpath_session::{Identity, StateDir};

/// A peer with long scanpaths must not stop a host that serves others.
#[test]
fn a_problem_caused_by_both_cohorts_is_not_this_sides_fault() {
    let fault = |error: ProtocolError| mark_if_caused_by_both(error.into()).fault();
    let does_not_fit = ProtocolError::DoesNotFit {
        needed: 600,
        key_bits: 512,
    };
    assert_eq!(fault(does_not_fit), Fault::Peer);
    assert_eq!(fault(ProtocolError::NoRandomness), Fault::Input);
}

/// A host waits for a peer that lost its connection, but not for one that is banned or gave an impossible result.
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
        assert_eq!(mark_if_caused_by_both(error.into()).is_final(), is_final);
    }
    let lost = SessionError::from(NetworkError::LeftQueue);
    let interrupted = Error::Interrupted {
        error: lost,
        counts_again: false,
    };
    assert!(!interrupted.is_final());
}

/// A cluster retries only after transient errors.
#[test]
fn errors_that_a_retry_cannot_fix_are_permanent() {
    use veilpath_session::{CoordinatorProblem, NetworkError, RelayProblem};
    let gateway = |problem| NetworkError::Gateway {
        address: "clinic:7070".into(),
        problem,
    };
    let permanent = [
        gateway(RelayProblem::Refused),
        gateway(RelayProblem::NotARelay),
        CoordinatorProblem::Storage.into(),
        CoordinatorProblem::Protocol.into(),
    ];
    let transient = [
        gateway(RelayProblem::Full),
        gateway(RelayProblem::Closed),
        CoordinatorProblem::Lost.into(),
        CoordinatorProblem::TileInUse.into(),
        CoordinatorProblem::Full.into(),
        NetworkError::LeftQueue,
    ];
    for (errors, expected) in [(Vec::from(permanent), true), (Vec::from(transient), false)] {
        for error in errors {
            let error = Error::Interrupted {
                error: error.into(),
                counts_again: false,
            };
            assert_eq!(error.is_permanent(), expected, "{error}");
        }
    }
}

/// A host may wait for a year, and its policy may expire meanwhile.
#[test]
fn a_policy_that_expired_while_a_host_waited_forbids_the_session() {
    let identities = [0, 1].map(|_| Identity::ephemeral().unwrap());
    let [host, peer] = identities.each_ref().map(Identity::fingerprint);
    let folders = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let options = |side: usize| {
        let cohort = b"participant,scanpath\np1,ABCD\np2,AAB\n".to_vec();
        let cohort = Input::from_bytes("cohort", cohort).unwrap();
        let plan = PlanOptions::new(Engine::Garbled, MetricOptions::default());
        let cohort = LocalCohort::new(crate::read_cohort_from(cohort).unwrap(), plan).unwrap();
        let state_dir = StateDir::at(folders[side].path());
        SessionOptions::new(cohort, identities[side].clone(), state_dir)
    };
    let policy = format!(
        "expires = 2020-12-31\nmetrics = [\"levenshtein\"]\nanswers = [\"score\"]\n\
         [[partners]]\nname = \"Other\"\nfingerprint = \"{peer}\"\n"
    );
    let mut waiting = options(0);
    waiting.policy = Some(Policy::parse(Path::new("policy.toml"), &policy).unwrap());
    // The policy was valid when it was checked on an earlier day.
    let side = Side::new(&waiting, Role::Host, &()).unwrap();
    let listener = side.listen("127.0.0.1:0", &[peer]).unwrap();
    let address = listener.address().to_string();
    let (hosted, joined) = std::thread::scope(|scope| {
        let joined = scope.spawn(|| join(&address, host, &options(1), &()));
        let identity = &waiting.identity;
        let channel = listener.accept(identity, peer, &side.timeouts, &mut |_| ());
        let peer = Arc::new(Peer::unnamed(peer));
        let hosted = side.run(channel.unwrap(), &peer, |_| Ok(|| true));
        (hosted, joined.join().unwrap())
    });
    let Err(Error::Forbidden(refusal)) = hosted else {
        panic!("the session ran")
    };
    assert_eq!(refusal.forbidden.len(), 1, "{refusal}");
    assert_eq!(refusal.forbidden[0].line, Some(1));
    assert!(matches!(
        refusal.forbidden[0].rule,
        PolicyRule::Expired { .. }
    ));
    // The other side learns that it was declined, but not why.
    let declined = joined.err().unwrap();
    assert_eq!(declined.fault(), Fault::Peer, "{declined}");
}

/// An answer that names the host's scanpaths has their default limit, so it needs the same lengths. The joining side's
/// scanpaths are not named.
#[test]
fn short_padded_scanpaths_are_refused_whatever_counts_them() {
    let rows = (0..20).map(|it| format!("p{it},g{},aBcDeFgHi\n", it % 2));
    let text = format!("participant,group,scanpath\n{}", rows.collect::<String>());
    let refused = |reveal: &str, role: Role| {
        let input = Input::from_bytes("cohort", text.clone().into_bytes()).unwrap();
        let plan = PlanOptions {
            pad_to: Some(80),
            letters: Some(52),
            notation: Some(Notation::Letters),
            reveal: reveal.parse().unwrap(),
            ..PlanOptions::new(Engine::Shares, MetricOptions::default())
        };
        let cohort = LocalCohort::new(crate::read_cohort_from(input).unwrap(), plan).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let identity = Identity::ephemeral().unwrap();
        let peer = Identity::ephemeral().unwrap().fingerprint();
        let options = SessionOptions::new(cohort, identity, StateDir::at(folder.path()));
        let checked = Side::checked(&options, role, &[peer], &());
        checked.is_err_and(|error| matches!(error, Error::ShortForPadding { .. }))
    };
    for (reveal, expected) in [
        ("score", [true, true]),
        ("nearest:5", [true, false]),
        ("nearest:5,rate", [false, false]),
        ("mean", [false, false]),
    ] {
        let found = [Role::Host, Role::Join].map(|role| refused(reveal, role));
        assert_eq!(found, expected, "{reveal}");
    }
}
