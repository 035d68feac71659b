//! Workers that meet at a gateway.

use super::*;

/// A gateway that runs until it is dropped.
struct RunningGateway {
    address: String,
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl RunningGateway {
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

impl Drop for RunningGateway {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn workers_with_the_same_tile_meet_at_the_gateway() {
    let setup = Setup::new(Engine::Garbled);
    let gateway = RunningGateway::new(&setup.plan(0));
    let orders = [setup.order(0, "1-3"), setup.order(1, "1-3")];
    let work = |side: usize, index: u32| {
        let order = &orders[side];
        let channel = order.meet(&gateway.address, tile(index), &timeouts(), &|| false)?;
        let session = Session::open_with_order(channel, order, timeouts())?;
        let state_dir = setup.state_dir(side);
        let storage = TileStorage::Shared(&state_dir);
        let agreed = session.agree_on_tile(order, tile(index), storage, None)?;
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
    assert_eq!((host.pairs, setup.counted()), (18, [3, 3]));
}

#[test]
fn a_gateway_admits_only_keys_for_the_tile() {
    use crate::error::{NetworkError, RelayProblem};
    let setup = Setup::new(Engine::Garbled);
    let gateway = RunningGateway::new(&setup.plan(0));
    let is_refused = |order: &WorkOrder, index| {
        let met = order.meet(&gateway.address, tile(index), &timeouts(), &|| false);
        let error = met.err().unwrap();
        // The message must not mention a relay: workers use a gateway.
        assert!(!error.to_string().contains("relay"), "{error}");
        matches!(
            error,
            SessionError::Network(NetworkError::Gateway {
                problem: RelayProblem::Refused,
                ..
            })
        )
    };
    assert!(is_refused(&setup.order(1, "1-2"), 3));
    let other = Setup::new(Engine::Garbled);
    assert!(is_refused(&other.order(1, "1-3"), 1));
    let mut forged = setup.order(1, "1-3");
    forged.certificate = setup.order(1, "1-3").certificate;
    assert!(is_refused(&forged, 1));
    let mut expired = setup.order(1, "1-3");
    let past = SystemTime::now() - Duration::from_secs(5);
    let agreement = expired.plan.agreement.clone();
    let tiles = "1-3".parse().unwrap();
    let signer = &setup.identities[1];
    expired.certificate =
        WorkerCertificate::sign(signer, &expired.key, &agreement, tiles, past).unwrap();
    assert!(is_refused(&expired, 1));
    // An admitted worker waits, because no other worker is there.
    assert!(!is_refused(&setup.order(1, "1-3"), 1));
}

/// One key waits once for each tile, and takes only a share of the connections.
#[test]
fn one_key_cannot_take_all_connections_of_a_gateway() {
    use crate::relay::{Action, PONG, Rendezvous, RendezvousLimits, Reply};
    use crate::throttle::Origin;
    let setup = Setup::new(Engine::Garbled);
    let limits = RendezvousLimits {
        waiting: 4,
        connections: 4,
        allowed: None,
    };
    let form = Box::new(WorkerGreetings::of(&setup.plan(0)));
    let mut rendezvous = Rendezvous::with_format(limits, form);
    let now = std::time::Instant::now();
    let mut number = 0;
    let mut connect = |rendezvous: &mut Rendezvous, order: &WorkOrder, index| {
        number += 1;
        // From different addresses.
        let from = Origin::of(std::net::Ipv4Addr::new(192, 0, number, 1).into());
        let id = rendezvous.add_client(from, now);
        let (key, certificate, plan) = (&order.key, &order.certificate, &order.plan);
        let greeting =
            crate::worker::gateway::greeting(key, certificate, plan, tile(index)).unwrap();
        rendezvous.receive(id, &greeting, now);
        rendezvous.receive(id, &[PONG], now);
        id
    };
    let [stolen, other, hosts] = [
        setup.order(1, "1-3"),
        setup.order(1, "1-3"),
        setup.order(0, "1-3"),
    ];
    let honest = connect(&mut rendezvous, &other, 3);
    let first = connect(&mut rendezvous, &stolen, 1);
    rendezvous.actions();
    // The newest of a tile stays, and of four connections a key has two.
    let second = connect(&mut rendezvous, &stolen, 1);
    assert!(rendezvous.actions().contains(&Action::Close(first)));
    let third = connect(&mut rendezvous, &stolen, 2);
    assert!(!rendezvous.actions().contains(&Action::Close(second)));
    connect(&mut rendezvous, &stolen, 3);
    let actions = rendezvous.actions();
    assert!(actions.contains(&Action::Close(second)), "{actions:?}");
    assert!(!actions.contains(&Action::Close(third)), "{actions:?}");
    assert!(!actions.contains(&Action::Close(honest)), "{actions:?}");
    // Connections: the host's key has half of them, too.
    let mut connected = 0;
    for _ in 0..4 {
        connect(&mut rendezvous, &stolen, 2);
        let host = connect(&mut rendezvous, &hosts, 2);
        let actions = rendezvous.actions();
        match actions.contains(&Action::Send(host, Reply::Full)) {
            true => break,
            false => connected += 1,
        }
    }
    assert_eq!(connected, 2);
    let fresh = [setup.order(0, "3"), setup.order(1, "3")];
    let host = connect(&mut rendezvous, &fresh[0], 3);
    let actions = rendezvous.actions();
    assert!(
        actions.contains(&Action::Send(host, Reply::Start)),
        "{actions:?}"
    );
}

#[test]
fn a_greeting_is_accepted_once_and_anything_else_is_rejected() {
    use crate::relay::{BadGreeting, GreetingFormat};
    let setup = Setup::new(Engine::Garbled);
    let order = setup.order(0, "1-3");
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
