use super::*;
use std::time::Duration;
use veilpath_channel::memory_pair;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Metric};
use veilpath_protocol::PairRule;

fn spec(engine: Engine) -> Spec {
    let cohort = Cohort {
        alphabet: Alphabet::letters(49).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: Vec::new(),
    };
    Spec::new(engine, Metric::Levenshtein, PairRule::All, &cohort, &cohort).unwrap()
}

/// Pairs of scanpaths of this length, none of which is in two pairs.
fn work(pairs: u64, length: u64) -> Workload {
    Workload {
        pairs,
        cells: pairs * length * length,
        host_scanpaths: pairs,
        join_scanpaths: pairs,
        host_letters: pairs * length,
        join_letters: pairs * length,
        newly_paired: pairs,
        alphabet: 49,
        ..Workload::default()
    }
}

fn link(round_trip: Duration, rate: u64) -> Link {
    Link {
        round_trip,
        bytes_per_second_to_host: Some(rate),
        bytes_per_second_to_join: Some(rate),
        cores: 2,
        speed: 100,
    }
}

const AUTO: EngineChoice = EngineChoice::Auto;
const SHARES: EngineDecision = EngineDecision {
    engine: Engine::Shares,
    tree_levels: TreeLevels::Eight,
};
const GARBLED: EngineDecision = EngineDecision {
    engine: Engine::Garbled,
    tree_levels: TreeLevels::Four,
};

/// What each side knows besides the plan.
#[derive(Clone, Copy)]
struct Side {
    stored: Option<EngineDecision>,
    shares_obstacle: Option<SharesObstacle>,
}

const NEW_SIDE: Side = Side {
    stored: None,
    shares_obstacle: None,
};

type Decided = Option<(EngineDecision, EngineReason)>;

/// Both sides decide; they must agree.
fn decided(choice: EngineChoice, link: Link, work: Workload, sides: [Side; 2]) -> Decided {
    let [host, join] = both(choice, link, work, sides);
    let (host, join) = (host.unwrap(), join.unwrap());
    assert_eq!(host, join);
    host
}

fn both(
    choice: EngineChoice,
    link: Link,
    work: Workload,
    sides: [Side; 2],
) -> [Result<Decided, SessionError>; 2] {
    let spec = spec(choice.representative());
    let decide = |role: Role, side: Side, channel: &mut dyn Channel| {
        let negotiation = EngineNegotiation {
            role,
            choice,
            spec: &spec,
            work: &work,
            link: &link,
            stored: side.stored,
            shares_obstacle: side.shares_obstacle,
        };
        negotiation.decide(channel)
    };
    let (mut host, mut join) = memory_pair();
    std::thread::scope(|scope| {
        let there = scope.spawn(|| {
            let decided = decide(Role::Join, sides[1], &mut join);
            drop(join);
            decided
        });
        let here = decide(Role::Host, sides[0], &mut host);
        drop(host);
        [here, there.join().unwrap()]
    })
}

const SLOW: u64 = 1_000_000;
const MANY: (u64, u64) = (1000, 100);
const FEW: (u64, u64) = (1, 400);

#[test]
fn both_sides_choose_by_the_estimates() {
    let of = |(pairs, length): (u64, u64), round_trip: u64, rate: u64| {
        let link = link(Duration::from_millis(round_trip), rate);
        decided(AUTO, link, work(pairs, length), [NEW_SIDE; 2]).unwrap()
    };
    // Little bandwidth and many comparisons.
    let (decision, reason) = of(MANY, 1, SLOW);
    assert_eq!(decision, SHARES);
    assert_eq!(reason, EngineReason::Estimated);
    // One comparison over a connection with high latency.
    assert_eq!(of(FEW, 200, 100 * SLOW).0.engine, Engine::Garbled);
}

#[test]
fn seed_trees_of_a_named_engine_follow_the_connection() {
    let shares = Engine::Shares.into();
    let levels = |rate: u64| {
        let link = link(Duration::from_millis(1), rate);
        let decided = decided(shares, link, work(MANY.0, MANY.1), [NEW_SIDE; 2]);
        decided.unwrap().0.tree_levels
    };
    assert_eq!(levels(SLOW), TreeLevels::Eight);
    assert_eq!(levels(10_000 * SLOW), TreeLevels::Four);
    // Nothing to decide, and so nothing is sent.
    for engine in [Engine::Garbled, Engine::Plain] {
        let link = link(Duration::ZERO, SLOW);
        assert_eq!(
            decided(engine.into(), link, work(MANY.0, MANY.1), [NEW_SIDE; 2]),
            None
        );
    }
}

#[test]
fn a_stored_decision_overrides_the_connection() {
    let slow = link(Duration::from_millis(1), SLOW);
    let far = link(Duration::from_secs(1), 1000 * SLOW);
    let stored = |decision| Side {
        stored: Some(decision),
        ..NEW_SIDE
    };
    for decision in [SHARES, GARBLED] {
        for link in [slow, far] {
            for sides in [
                [stored(decision), stored(decision)],
                // One side has lost its journal.
                [stored(decision), NEW_SIDE],
                [NEW_SIDE, stored(decision)],
            ] {
                let (again, reason) = decided(AUTO, link, work(MANY.0, MANY.1), sides).unwrap();
                assert_eq!(again, decision);
                assert_eq!(reason, EngineReason::ChosenEarlier);
            }
        }
    }
    let differing = [stored(SHARES), stored(GARBLED)];
    for end in both(AUTO, slow, work(MANY.0, MANY.1), differing) {
        assert!(matches!(
            end,
            Err(SessionError::Misbehaved(Misbehaviour::DifferentAgreement))
        ));
    }
}

#[test]
fn garbled_is_used_if_one_side_cannot_run_shares() {
    let cannot = Side {
        shares_obstacle: Some(SharesObstacle::Memory),
        ..NEW_SIDE
    };
    let slow = link(Duration::from_millis(1), SLOW);
    for sides in [[cannot, NEW_SIDE], [NEW_SIDE, cannot], [cannot, cannot]] {
        for (end, side) in both(AUTO, slow, work(MANY.0, MANY.1), sides)
            .into_iter()
            .zip(sides)
        {
            let (decision, reason) = end.unwrap().unwrap();
            assert_eq!(decision.engine, Engine::Garbled);
            let obstacle = side.shares_obstacle.unwrap_or(SharesObstacle::OtherSide);
            assert_eq!(reason, EngineReason::SharesImpossible(obstacle));
        }
        // A named engine is not replaced.
        let named = decided(Engine::Shares.into(), slow, work(MANY.0, MANY.1), sides);
        assert_eq!(named.unwrap().0.engine, Engine::Shares);
    }
}

#[test]
fn a_claimed_decision_cannot_force_an_engine_that_cannot_run() {
    let cannot = Side {
        shares_obstacle: Some(SharesObstacle::Memory),
        ..NEW_SIDE
    };
    let claims = Side {
        stored: Some(SHARES),
        ..NEW_SIDE
    };
    let slow = link(Duration::from_millis(1), SLOW);
    let [host, _] = both(AUTO, slow, work(MANY.0, MANY.1), [cannot, claims]);
    assert!(matches!(
        host,
        Err(SessionError::Misbehaved(Misbehaviour::InvalidEngine))
    ));
}

/// Whatever a peer reports about the connection, estimates are numbers and both sides decide on a proven engine.
#[test]
fn extreme_connections_give_a_decision() {
    let times = [Duration::ZERO, Duration::from_secs(3600)];
    for round_trip in times {
        for rate in [None, Some(1), Some(1 << 40)] {
            for (cores, speed) in [(1, 1), (1 << 16, 1 << 16)] {
                for (pairs, length) in [(0, 0), (1, 1), FEW, (1 << 24, 1 << 10)] {
                    let link = Link {
                        round_trip,
                        bytes_per_second_to_host: rate,
                        bytes_per_second_to_join: None,
                        cores,
                        speed,
                    };
                    let work = work(pairs, length);
                    let estimates = spec(Engine::Garbled).proven_estimates(&work, &link);
                    for estimate in [estimates.garbled, estimates.shares] {
                        assert!(estimate.seconds.is_finite() && estimate.seconds >= 0.0);
                    }
                    let (decision, _) = decided(AUTO, link, work, [NEW_SIDE; 2]).unwrap();
                    assert!(Engine::PROVEN.contains(&decision.engine));
                }
            }
        }
    }
}

/// A peer can only steer between engines that this side accepts.
#[test]
fn a_peer_cannot_decide_on_another_engine() {
    let offer = |engine: &str| {
        format!(r#"{{"engine":{engine},"tree_levels":4,"stored":true,"can_run_shares":true}}"#)
    };
    let received = |role: Role, choice: EngineChoice, message: &str| {
        let (mut here, mut there) = memory_pair();
        control::send_bytes(&mut there, Tag::Engine, message.as_bytes()).unwrap();
        let spec = spec(choice.representative());
        let negotiation = EngineNegotiation {
            role,
            choice,
            spec: &spec,
            work: &work(MANY.0, MANY.1),
            link: &link(Duration::ZERO, SLOW),
            stored: None,
            shares_obstacle: None,
        };
        negotiation.decide(&mut here)
    };
    let paillier = serde_json::to_string(&Engine::ALL[1]).unwrap();
    for role in [Role::Host, Role::Join] {
        for (choice, engine) in [
            (AUTO, "\"plain\""),
            (AUTO, paillier.as_str()),
            (Engine::Shares.into(), "\"garbled\""),
        ] {
            assert!(
                matches!(
                    received(role, choice, &offer(engine)),
                    Err(SessionError::Misbehaved(Misbehaviour::InvalidEngine))
                ),
                "{engine}"
            );
        }
        assert!(received(role, AUTO, &offer("\"garbled\"")).is_ok());
        // Nor can it claim that it cannot run the engine that both users named.
        let cannot = r#"{"engine":"shares","tree_levels":4,"stored":false,"can_run_shares":false}"#;
        assert!(received(role, Engine::Shares.into(), cannot).is_err());
        for malformed in [
            offer("\"auto\""),
            offer("\"shares\"").replace('4', "5"),
            offer("\"shares\"").replace('4', "1e9"),
            offer("\"shares\"").replace('4', "-4"),
            offer("\"shares\"").replace("true", "1"),
        ] {
            assert!(
                matches!(
                    received(role, AUTO, &malformed),
                    Err(SessionError::Misbehaved(
                        Misbehaviour::MalformedMessage { .. }
                    ))
                ),
                "{malformed}"
            );
        }
    }
}
