//! Workers that meet at a gateway.

use super::*;

/// A gateway that runs until it is dropped.
struct Served {
    address: String,
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    fn new(plan: &AgreedPlan) -> Self {
        let options = crate::RelayOptions::default();
        let mut gateway = crate::Relay::gateway("127.0.0.1:0", plan, &options).unwrap();
        let address = gateway.address().to_string();
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stopped = std::sync::Arc::clone(&stop);
        let thread = std::thread::spawn(move || gateway.run(&stopped, &mut |_| ()));
        Self {
            address,
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn workers_with_the_same_tile_meet_at_the_gateway() {
    let world = World::new(Engine::Garbled);
    let gateway = Served::new(&world.plan(0));
    let orders = [world.order(0, "1-3"), world.order(1, "1-3")];
    let work = |side: usize, index: u32| {
        let order = &orders[side];
        let channel = order.meet(&gateway.address, tile(index), &timeouts(), &|| false)?;
        let session = Session::open_with_order(channel, order, timeouts())?;
        let state_dir = world.state_dir(side);
        let records = TileRecords::Shared(&state_dir);
        let agreed = session.agree_on_tile(order, tile(index), records, None)?;
        agreed.run(&())
    };
    // All tiles at once, through one port, in any order.
    let parts = std::thread::scope(|scope| {
        let started: Vec<_> = [(0, 2), (1, 1), (0, 1), (1, 3), (1, 2), (0, 3)]
            .map(|(side, index)| (side, scope.spawn(move || work(side, index))))
            .into();
        let mut parts = [Vec::new(), Vec::new()];
        for (side, thread) in started {
            parts[side].push(thread.join().unwrap().unwrap().outcome);
        }
        parts
    });
    let [host, join] = parts.map(|parts| merge(parts).unwrap());
    assert_eq!(host.results, join.results);
    assert_eq!((host.pairs, world.counted()), (18, [3, 3]));
}

#[test]
fn a_gateway_lets_in_nobody_without_a_key_for_the_tile() {
    use crate::error::{NetworkError, RelayProblem};
    let world = World::new(Engine::Garbled);
    let gateway = Served::new(&world.plan(0));
    let is_refused = |order: &WorkOrder, index| {
        let met = order.meet(&gateway.address, tile(index), &timeouts(), &|| false);
        let error = met.err().unwrap();
        matches!(
            error,
            SessionError::Network(NetworkError::Relay {
                problem: RelayProblem::Refused,
                ..
            })
        )
    };
    assert!(is_refused(&world.order(1, "1-2"), 3));
    let other = World::new(Engine::Garbled);
    assert!(is_refused(&other.order(1, "1-3"), 1));
    let mut forged = world.order(1, "1-3");
    forged.certificate = world.order(1, "1-3").certificate;
    assert!(is_refused(&forged, 1));
    let mut expired = world.order(1, "1-3");
    let past = SystemTime::now() - Duration::from_secs(5);
    let agreement = expired.plan.agreement.clone();
    let tiles = "1-3".parse().unwrap();
    let signer = &world.identities[1];
    expired.certificate =
        WorkerCertificate::sign(signer, &expired.key, &agreement, tiles, past).unwrap();
    assert!(is_refused(&expired, 1));
    // A worker that is let in waits: nobody else has come.
    assert!(!is_refused(&world.order(1, "1-3"), 1));
}

#[test]
fn a_greeting_is_accepted_once_and_nothing_else_is_one() {
    use crate::relay::{BadGreeting, GreetingForm};
    let world = World::new(Engine::Garbled);
    let order = world.order(0, "1-3");
    let greeting =
        crate::worker::gateway::greeting(&order.key, &order.certificate, &order.plan, tile(2))
            .unwrap();
    let mut form = WorkerGreetings::of(&order.plan);
    for end in 0..greeting.len() {
        assert!(form.read(&greeting[..end]).is_none(), "{end}");
    }
    assert!(form.read(&greeting).unwrap().is_ok());
    assert_eq!(form.read(&greeting), Some(Err(BadGreeting::Refused)));
    for index in 10..greeting.len() {
        let mut changed = greeting.clone();
        changed[index] ^= 1;
        let mut form = WorkerGreetings::of(&order.plan);
        assert!(!matches!(form.read(&changed), Some(Ok(_))), "{index}");
    }
    let mut form = WorkerGreetings::of(&order.plan);
    assert_eq!(form.read(b"GET / HT"), Some(Err(BadGreeting::Unknown)));
    assert_eq!(
        form.read(b"VPGATEW\x02"),
        Some(Err(BadGreeting::OtherVersion))
    );
    assert_eq!(
        form.read(b"VPGATEW\x01\xff\xff"),
        Some(Err(BadGreeting::Unknown))
    );
}
