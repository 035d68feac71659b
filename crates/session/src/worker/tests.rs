use super::certificate::WorkerCertificate;
use super::*;
use crate::error::{Misbehaviour, UsageError, WorkerKeyProblem};
use crate::limits::Timeouts;
use crate::{
    AlphabetInfo, CompletedSession, DisclosureLimits, Identity, Listener, Proposal, ScanpathLimit,
    Session, SessionError, SignedRecord, StateDir, join,
};
use std::cell::Cell;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric};
use veilpath_protocol::{Engine, PairRule, Role, Spec, Tile, compare_locally, merge};

const TILES: u32 = 3;

fn timeouts() -> Timeouts {
    Timeouts::new(Duration::from_secs(5), Duration::from_secs(3))
}

fn cohort(side: &str) -> Cohort {
    let alphabet = Alphabet::letters(5).unwrap();
    let letters = ["ABCDE", "AAB", "C", "DDDDABC", "BA", ""];
    let entries = letters.iter().enumerate().map(|(at, letters)| Entry {
        participant: format!("{side}{at}"),
        group: None,
        stimulus: Some(["cows", "boat"][at % 2].into()),
        scanpath: alphabet.parse(letters).unwrap(),
        fixations: None,
    });
    Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: entries.collect(),
    }
}

fn spec(engine: Engine) -> Spec {
    let (a, b) = (cohort("p"), cohort("q"));
    Spec::new(engine, Metric::Levenshtein, PairRule::SameStimulus, &a, &b).unwrap()
}

/// Two institutions with an agreement on tiles.
pub(super) struct Setup {
    folders: [TempDir; 2],
    pub(super) identities: [Identity; 2],
}

fn proposal(side: &str, engine: Engine) -> Proposal {
    Proposal {
        spec: spec(engine),
        auto_engine: false,
        cohort: cohort(side),
        pseudonyms: side == "q",
        estimate_only: false,
        fresh: false,
        limit_per_scanpath: ScanpathLimit::Count(3),
        declared_letters: None,
        disclosure: DisclosureLimits::default(),
        memory: None,
        tile: None,
        tile_count: Some(TILES),
        key: None,
    }
}

impl Setup {
    pub(super) fn new(engine: Engine) -> Self {
        Self::with_limit(engine, 3)
    }

    /// Two institutions that each allow this many comparisons of a scanpath.
    fn with_limit(engine: Engine, limit: u64) -> Self {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let identities = [(); 2].map(|()| Identity::ephemeral().unwrap());
        let setup = Self {
            folders,
            identities,
        };
        setup.agree(engine, limit);
        setup
    }

    /// Agrees on the tiles, or agrees again with another limit.
    fn agree(&self, engine: Engine, limit: u64) {
        let plans = ["p", "q"].map(|side| Proposal {
            limit_per_scanpath: ScanpathLimit::Count(limit),
            ..proposal(side, engine)
        });
        for result in self.session(plans) {
            let result = result.unwrap();
            assert_eq!((result.pairs, result.outcome.results.len()), (0, 0));
        }
    }

    pub(super) fn state_dir(&self, side: usize) -> StateDir {
        StateDir::at(self.folders[side].path())
    }

    /// A session of the institutions themselves.
    fn session(
        &self,
        [host_plan, join_plan]: [Proposal; 2],
    ) -> [Result<CompletedSession, SessionError>; 2] {
        let [a, b] = &self.identities;
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address().to_string();
        let side = |channel, role, own: &Identity, peer, plan: Proposal, at| {
            let alphabet = AlphabetInfo {
                named: None,
                declared: None,
                read_as: plan.spec.alphabet,
                grid: None,
            };
            let (session, _) = Session::open(channel, role, own, peer, &alphabet, timeouts())?;
            session
                .agree(plan, Some(&self.state_dir(at)), &mut |_| ())?
                .run(&())
        };
        std::thread::scope(|scope| {
            let host = scope.spawn(|| {
                let peer = b.fingerprint();
                let channel = listener.accept(a, peer, &timeouts(), &mut |_| ())?;
                side(channel, Role::Host, a, peer, host_plan, 0)
            });
            let channel = join(&address, b, a.fingerprint(), &timeouts()).unwrap();
            let join = side(channel, Role::Join, b, a.fingerprint(), join_plan, 1);
            [host.join().unwrap(), join]
        })
    }

    pub(super) fn plan(&self, side: usize) -> AgreedPlan {
        let files = std::fs::read_dir(self.state_dir(side).agreements()).unwrap();
        let name = files.map(|it| it.unwrap().file_name()).next().unwrap();
        self.state_dir(side)
            .agreed_plan(&name.to_str().unwrap()[..12])
            .unwrap()
    }

    pub(super) fn order(&self, side: usize, tiles: &str) -> WorkOrder {
        let (identity, plan) = (&self.identities[side], self.plan(side));
        WorkOrder::new(identity, &plan, tiles.parse().unwrap(), in_one_hour()).unwrap()
    }

    /// The most comparisons of a scanpath that each side has counted.
    fn counted(&self) -> [u64; 2] {
        [0, 1].map(|side| {
            let peers = self.state_dir(side).peers().unwrap().entries;
            peers
                .iter()
                .map(|peer| peer.max_comparisons)
                .max()
                .unwrap_or(0)
        })
    }

    /// Two workers compute a tile, each with its own order.
    fn work(
        &self,
        orders: [&WorkOrder; 2],
        tile: Tile,
    ) -> [Result<CompletedSession, SessionError>; 2] {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address().to_string();
        let [host, join] = orders;
        let side = |channel, order: &WorkOrder, at| {
            let session = Session::open_with_order(channel, order, timeouts())?;
            session
                .agree_on_tile(order, tile, TileStorage::Shared(&self.state_dir(at)), None)?
                .run(&())
        };
        std::thread::scope(|scope| {
            let host = scope.spawn(|| {
                let rejected = Cell::new(None);
                let on_rejected = &mut |error: &SessionError| {
                    rejected.set(rejected.get().or(problem_of(error)));
                };
                // Nobody else connects.
                let is_stopped = || rejected.get().is_some();
                let channel = host.accept(listener, tile, &timeouts(), &is_stopped, on_rejected);
                match (channel, rejected.get()) {
                    (Err(_), Some(problem)) => Err(Misbehaviour::WorkerKey(problem).into()),
                    (channel, _) => side(channel?, host, 0),
                }
            });
            let channel = join.join(&address, tile, &timeouts(), &|| false);
            let join = channel.and_then(|channel| side(channel, join, 1));
            [host.join().unwrap(), join]
        })
    }
}

fn in_one_hour() -> SystemTime {
    crate::date::now() + Duration::from_secs(3600)
}

pub(super) fn tile(index: u32) -> Tile {
    Tile::new(index, TILES).unwrap()
}

fn problem_of(error: &SessionError) -> Option<WorkerKeyProblem> {
    match error {
        SessionError::Misbehaved(Misbehaviour::WorkerKey(problem)) => Some(*problem),
        SessionError::Usage(UsageError::WorkerKey(problem)) => Some(*problem),
        _ => None,
    }
}

#[test]
fn workers_compute_the_tiles_of_an_agreement_without_the_key() {
    for engine in [Engine::Garbled, Engine::Shares] {
        let setup = Setup::new(engine);
        assert_eq!(setup.counted(), [0, 0]);
        let orders = [setup.order(0, "1-2"), setup.order(1, "1-3")];
        let third = setup.order(0, "3");
        let mut parts = [Vec::new(), Vec::new()];
        // A tile that is computed again opens the same values, and is not counted again.
        for index in [2, 1, 3, 2] {
            let host = if index == 3 { &third } else { &orders[0] };
            let result = setup
                .work([host, &orders[1]], tile(index))
                .map(Result::unwrap);
            for (parts, result) in parts.iter_mut().zip(result) {
                parts.push(result.outcome);
            }
        }
        let (a, b) = (cohort("p"), cohort("q"));
        let expected = compare_locally(spec(Engine::Plain), &a, &b, &()).unwrap();
        let [host, join] = parts.map(|parts| merge(parts).unwrap());
        assert_eq!(host.results.len(), expected.results.len());
        let scores = |outcome: &veilpath_protocol::Outcome| {
            let mut scores: Vec<String> = outcome
                .results
                .iter()
                .map(|pair| format!("{:?}", pair.values))
                .collect();
            scores.sort();
            scores
        };
        // The joining side's scanpaths are in the order of their pseudonyms.
        assert_eq!(scores(&host), scores(&expected));
        assert_eq!(host.results, join.results);
        assert_eq!(host.a[0].participant, "p0");
        assert!(host.b[0].participant.starts_with("p-"));
        assert!(join.b.iter().any(|label| label.participant == "q0"));
        assert_eq!(setup.counted(), [3, 3]);
    }
}

#[test]
fn only_a_valid_key_for_the_tile_is_accepted() {
    let setup = Setup::new(Engine::Garbled);
    let good = [setup.order(0, "1-3"), setup.order(1, "1-3")];
    let refused = |join: WorkOrder, index| {
        let [host, _] = setup.work([&good[0], &join], tile(index));
        problem_of(&host.unwrap_err())
    };
    // Tiles that the key is not for.
    assert_eq!(
        refused(setup.order(1, "1-2"), 3),
        Some(WorkerKeyProblem::OtherTile)
    );
    assert!(problem_of(&setup.order(1, "1-2").tile(3).unwrap_err()).is_some());
    // An expired key: its owner does not use it, and the other side does not accept it.
    let mut expired = setup.order(1, "1-3");
    let past = crate::date::now() - Duration::from_secs(5);
    let sign = |signer: &Identity, order: &WorkOrder, agreement: &str, expires| {
        let tiles = "1-3".parse().unwrap();
        WorkerCertificate::sign(signer, &order.key, agreement, tiles, expires).unwrap()
    };
    let agreement = expired.plan.agreement.clone();
    expired.certificate = sign(&setup.identities[1], &expired, &agreement, past);
    assert_eq!(
        problem_of(&expired.tile(1).unwrap_err()),
        Some(WorkerKeyProblem::Expired)
    );
    assert_eq!(refused(expired, 1), Some(WorkerKeyProblem::Expired));
    // Another agreement.
    let mut other = setup.order(1, "1-3");
    other.certificate = sign(&setup.identities[1], &other, &"0".repeat(64), in_one_hour());
    assert_eq!(refused(other, 1), Some(WorkerKeyProblem::OtherAgreement));
    // A worker that makes a key for another worker, in its own name or in that of its institution.
    let worker = setup.order(1, "1-3");
    let mut made = setup.order(1, "1-3");
    made.certificate = sign(&worker.key, &made, &agreement, in_one_hour());
    assert_eq!(refused(made, 1), Some(WorkerKeyProblem::OtherInstitution));
    for changed in ["expires", "last_tile", "signature"] {
        let mut forged = setup.order(1, "1-2");
        let mut text: serde_json::Value = serde_json::to_value(&forged.certificate).unwrap();
        match changed {
            "signature" => text["signature"] = "0".repeat(128).into(),
            field => {
                let number = text["claim"][field].as_u64().unwrap();
                text["claim"][field] = (number + 1).into();
            }
        }
        forged.certificate = serde_json::from_value(text).unwrap();
        assert_eq!(
            refused(forged, 1),
            Some(WorkerKeyProblem::Forged),
            "{changed}"
        );
    }
    // The certificate of another worker's key.
    let mut taken = setup.order(1, "1-3");
    taken.certificate = setup.order(1, "1-3").certificate;
    assert_eq!(refused(taken, 1), Some(WorkerKeyProblem::OtherKey));
    // Nothing was counted for any of these.
    assert_eq!(setup.counted(), [0, 0]);
    let results = setup.work([&good[0], &good[1]], tile(1));
    assert!(results.iter().all(Result::is_ok));
}

#[test]
fn a_worker_key_is_not_an_identity_and_cannot_sign_records() {
    let setup = Setup::new(Engine::Garbled);
    let order = setup.order(1, "1-3");
    // The partner has pinned the institution's key.
    let impostor = Setup {
        folders: [(); 2].map(|()| tempfile::tempdir().unwrap()),
        identities: setup.identities.clone(),
    };
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address().to_string();
    let [a, b] = &impostor.identities;
    std::thread::scope(|scope| {
        let host = scope.spawn(|| {
            let is_rejected = Cell::new(false);
            let (is_stopped, on_rejected) =
                (|| is_rejected.get(), &mut |_: &_| is_rejected.set(true));
            let peer = b.fingerprint();
            let accepted = listener.accept_unless(&is_stopped, a, peer, &timeouts(), on_rejected);
            accepted.is_err() && is_rejected.get()
        });
        // The rejection arrives with the handshake, or with the first message.
        let joined = join(&address, &order.key, a.fingerprint(), &timeouts());
        drop(joined);
        assert!(host.join().unwrap());
    });
    // The file is not an identity file, and the record has only the signatures of the institutions.
    let path = impostor.folders[0].path().join("work.json");
    order.save(&path).unwrap();
    assert!(Identity::load(&path).is_err());
    assert!(order.save(&path).is_err(), "keys are not overwritten");
    let loaded = WorkOrder::load(&path).unwrap();
    assert_eq!(loaded.fingerprint(), order.fingerprint());
    let results = setup.work([&setup.order(0, "1"), &loaded], tile(1));
    assert!(results.iter().all(Result::is_ok));
    for side in [0, 1] {
        let record = SignedRecord::read(&setup.state_dir(side).record(), None).unwrap();
        // The intent of the whole plan, from the session of the institutions.
        assert_eq!(record.lines.len(), 1);
    }
}

#[test]
fn a_work_order_is_limited_to_its_tiles_and_expiry() {
    let setup = Setup::new(Engine::Garbled);
    let plan = setup.plan(0);
    let order = setup.order(0, "2");
    let own = plan.own_in(tile(2));
    assert!(own.len() < plan.letters.len());
    for (index, letters) in order.plan.letters.iter().enumerate() {
        let needed = own.contains(&index);
        assert!(letters.is_empty() || needed);
        assert!(!needed || *letters == plan.letters[index]);
    }
    let make = |identity: &Identity, tiles: &str, expires| {
        let made = WorkOrder::new(identity, &plan, tiles.parse().unwrap(), expires);
        problem_of(&made.unwrap_err())
    };
    let [a, b] = &setup.identities;
    assert_eq!(
        make(a, "1-4", in_one_hour()),
        Some(WorkerKeyProblem::OtherTile)
    );
    assert_eq!(
        make(b, "1", in_one_hour()),
        Some(WorkerKeyProblem::OtherInstitution)
    );
    // A worker cannot make a key for another.
    assert_eq!(
        make(&order.key, "2", in_one_hour()),
        Some(WorkerKeyProblem::OtherInstitution)
    );
    let past = crate::date::now() - Duration::from_secs(1);
    let far = crate::date::now() + MAX_WORKER_KEY_TIME + Duration::from_secs(9);
    for time in [past, far] {
        assert_eq!(make(a, "1", time), Some(WorkerKeyProblem::Time));
    }
    for text in ["", "0", "3-2", "1-", "-", "1-99999999", "a"] {
        assert!(text.parse::<TileRange>().is_err(), "{text}");
    }
    assert_eq!("4-7".parse::<TileRange>().unwrap().to_string(), "4-7");
    assert!(setup.state_dir(0).agreed_plan("ffffff").is_err());
}

/// The limits of the plan hold for workers, too.
#[test]
fn a_plan_beyond_the_limits_is_not_agreed_on() {
    let setup = Setup {
        folders: [(); 2].map(|()| tempfile::tempdir().unwrap()),
        identities: [(); 2].map(|()| Identity::ephemeral().unwrap()),
    };
    let plans = ["p", "q"].map(|side| {
        let mut plan = proposal(side, Engine::Garbled);
        plan.limit_per_scanpath = ScanpathLimit::Count(2);
        plan
    });
    assert!(setup.session(plans).iter().all(Result::is_err));
    assert!(!setup.state_dir(0).agreements().exists());
}

mod attacks;
mod coordinator;
mod gateway;
mod same_tile;
