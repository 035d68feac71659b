//! Who is connected with whom, and what hostile clients achieve.

use super::*;
use crate::throttle::Origin;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);

fn token(number: u8) -> Token {
    Token([number; 32])
}

fn from(number: u8) -> Origin {
    Origin::of(IpAddr::V4(Ipv4Addr::new(192, 0, 2, number)))
}

fn limits(waiting: usize, connections: usize) -> RendezvousLimits {
    RendezvousLimits {
        waiting,
        connections,
        allowed: None,
    }
}

fn greeting(role: Role, number: u8) -> [u8; GREETING] {
    let token = token(number);
    let sender = None;
    Greeting {
        role,
        token,
        sender,
    }
    .encode()
}

/// A client that has greeted, and answered the first ping if `answers`.
fn connect_client(
    rendezvous: &mut Rendezvous,
    role: Role,
    number: u8,
    now: Instant,
    answers: bool,
) -> u64 {
    let id = connect_client_from(rendezvous, role, number, from(number), now);
    if answers {
        rendezvous.receive(id, &[PONG], now);
    }
    id
}

/// A client of this address that has greeted.
fn connect_client_from(
    rendezvous: &mut Rendezvous,
    role: Role,
    number: u8,
    from: Origin,
    now: Instant,
) -> u64 {
    let id = rendezvous.add_client(from, now);
    rendezvous.receive(id, &greeting(role, number), now);
    let actions = rendezvous.actions();
    assert_eq!(actions.last(), Some(&Action::Send(id, Reply::Ping)));
    id
}

#[test]
fn greetings_survive_a_round_trip_and_nothing_else_is_accepted() {
    for role in [Role::Host, Role::Join] {
        let greeting = Greeting {
            role,
            token: token(7),
            sender: None,
        };
        let bytes = greeting.encode();
        assert_eq!(Greeting::decode(&bytes), Ok(greeting));
        for index in 0..=MAGIC.len() {
            let mut changed = bytes;
            changed[index] ^= 0x40;
            let expected = match index == MAGIC.len() - 1 {
                true => BadGreeting::OtherVersion,
                false => BadGreeting::Unknown,
            };
            assert_eq!(Greeting::decode(&changed), Err(expected));
        }
    }
    for byte in 0..=u8::MAX {
        if let Some(reply) = Reply::from_byte(byte) {
            assert_eq!(reply.byte(), byte);
        }
    }
}

/// The token depends on who hosts, and on both fingerprints.
#[test]
fn tokens_differ_by_peers_and_roles() {
    let [a, b, c] = [(); 3].map(|()| crate::Identity::ephemeral().unwrap().fingerprint());
    let tokens = [(a, b), (b, a), (a, c), (c, b)].map(|(host, join)| Token::new(&host, &join));
    assert_eq!(HashSet::from(tokens).len(), tokens.len());
    assert_eq!(Token::new(&a, &b), tokens[0]);
}

#[test]
fn two_sides_meet_in_either_order() {
    let now = Instant::now();
    for roles in [[Role::Host, Role::Join], [Role::Join, Role::Host]] {
        let mut rendezvous = Rendezvous::new(limits(8, 8));
        let first = connect_client(&mut rendezvous, roles[0], 1, now, true);
        let other_token = connect_client(&mut rendezvous, roles[1], 2, now, true);
        let same_role = connect_client(&mut rendezvous, roles[0], 1, now, true);
        assert_eq!(rendezvous.actions(), []);
        let later = now + Duration::from_secs(10);
        let second = connect_client(&mut rendezvous, roles[1], 1, later, true);
        // The first has waited for a while, so it is pinged.
        assert_eq!(
            rendezvous.actions(),
            [Action::Send(first, Reply::Ping)],
            "the first of its role"
        );
        rendezvous.receive(first, &[PONG], later);
        let (host, join) = match roles[0] {
            Role::Host => (first, second),
            Role::Join => (second, first),
        };
        assert_eq!(
            rendezvous.actions(),
            [
                Action::Send(first, Reply::Start),
                Action::Send(second, Reply::Start),
                Action::Connect { host, join }
            ]
        );
        assert_eq!(rendezvous.len(), 2, "{other_token} and {same_role} wait");
    }
}

#[test]
fn a_client_that_has_gone_silently_is_replaced() {
    let mut now = Instant::now();
    let mut rendezvous = Rendezvous::new(limits(8, 8));
    let dead = connect_client(&mut rendezvous, Role::Host, 1, now, true);
    let alive = connect_client(&mut rendezvous, Role::Host, 1, now, true);
    now += Duration::from_secs(10);
    let join = connect_client(&mut rendezvous, Role::Join, 1, now, true);
    assert_eq!(rendezvous.actions(), [Action::Send(dead, Reply::Ping)]);
    now += Duration::from_secs(6);
    rendezvous.tick(now);
    let actions = rendezvous.actions();
    assert!(actions.contains(&Action::Close(dead)), "{actions:?}");
    // Neither has answered for a while.
    for id in [join, alive] {
        assert!(
            actions.contains(&Action::Send(id, Reply::Ping)),
            "{actions:?}"
        );
        rendezvous.receive(id, &[PONG], now);
    }
    let connected = Action::Connect { host: alive, join };
    assert_eq!(rendezvous.actions().last(), Some(&connected));
}

#[test]
fn refused_clients_are_told_why() {
    let now = Instant::now();
    let mut rendezvous = Rendezvous::new(RendezvousLimits {
        allowed: Some([token(1)].into()),
        ..limits(8, 1)
    });
    let uninvited = rendezvous.add_client(from(2), now);
    rendezvous.receive(uninvited, &greeting(Role::Host, 2), now);
    let refused = [
        Action::Send(uninvited, Reply::Refused),
        Action::Close(uninvited),
    ];
    assert_eq!(rendezvous.actions(), refused);
    let old = rendezvous.add_client(from(2), now);
    let mut bytes = greeting(Role::Host, 1);
    bytes[MAGIC.len() - 1] += 1;
    rendezvous.receive(old, &bytes, now);
    let other = [Action::Send(old, Reply::OtherVersion), Action::Close(old)];
    assert_eq!(rendezvous.actions(), other);
    // This relay allows one connection.
    let mut hosts = Vec::new();
    for is_free in [true, false] {
        hosts.push(connect_client(&mut rendezvous, Role::Host, 1, now, true));
        connect_client(&mut rendezvous, Role::Join, 1, now, true);
        let actions = rendezvous.actions();
        let connects = |it: &Action| matches!(it, Action::Connect { .. });
        assert_eq!(actions.iter().any(connects), is_free, "{actions:?}");
        let full = |it: &Action| matches!(it, Action::Send(_, Reply::Full));
        assert_eq!(actions.iter().any(full), !is_free, "{actions:?}");
    }
    rendezvous.pair_closed(hosts[0]);
    connect_client(&mut rendezvous, Role::Host, 1, now, true);
    connect_client(&mut rendezvous, Role::Join, 1, now, true);
    let last = rendezvous.actions().pop();
    assert!(matches!(last, Some(Action::Connect { .. })));
}

/// Silent clients, even many of them, are closed and do not keep others out.
#[test]
fn a_flood_evicts_only_its_own_clients() {
    let mut now = Instant::now();
    let mut rendezvous = Rendezvous::new(limits(8, 8));
    let host = connect_client(&mut rendezvous, Role::Host, 1, now, true);
    for _ in 0..1000 {
        rendezvous.add_client(from(9), now);
        connect_client(&mut rendezvous, Role::Host, 9, now, true);
        assert!(rendezvous.len() <= 64 + 8);
    }
    rendezvous.actions();
    connect_client(&mut rendezvous, Role::Join, 1, now, true);
    let last = rendezvous.actions().pop();
    assert!(matches!(last, Some(Action::Connect { host: it, .. }) if it == host));
    // No client answers any more.
    for _ in 0..10 {
        now += Duration::from_secs(10);
        rendezvous.tick(now);
    }
    assert_eq!(rendezvous.len(), 0);
}

/// An attacker who knows both fingerprints waits many times in place of each side.
#[test]
fn one_address_cannot_keep_two_sides_apart() {
    let now = Instant::now();
    for roles in [[Role::Host, Role::Join], [Role::Join, Role::Host]] {
        let mut rendezvous = Rendezvous::new(limits(64, 64));
        for _ in 0..20 {
            let id = connect_client_from(&mut rendezvous, roles[0], 1, from(9), now);
            rendezvous.receive(id, &[PONG], now);
        }
        let first = connect_client(&mut rendezvous, roles[0], 1, now, true);
        let second = connect_client_from(&mut rendezvous, roles[1], 1, from(2), now);
        rendezvous.receive(second, &[PONG], now);
        let (host, join) = match roles[0] {
            Role::Host => (first, second),
            Role::Join => (second, first),
        };
        let connected = Action::Connect { host, join };
        assert_eq!(rendezvous.actions().last(), Some(&connected));
    }
}

/// Lets clients of two addresses greet and answer. Returns whether they are connected, and which connections end for them.
fn connects(rendezvous: &mut Rendezvous, [host, join]: [u8; 2]) -> (bool, Vec<u64>) {
    let now = Instant::now();
    for (role, address) in [(Role::Host, host), (Role::Join, join)] {
        let id = connect_client_from(rendezvous, role, 1, from(address), now);
        rendezvous.receive(id, &[PONG], now);
    }
    let actions = rendezvous.actions();
    let is_connected = matches!(actions.last(), Some(Action::Connect { .. }));
    let ended = actions.iter().filter_map(|action| match action {
        Action::End(host) => Some(*host),
        _ => None,
    });
    (is_connected, ended.collect())
}

/// A connection may last for a week, with a byte now and then. Anyone who knows two allowed fingerprints can make one.
#[test]
fn one_address_cannot_take_all_connections() {
    for allowed in [None, Some([token(1)].into())] {
        let mut rendezvous = Rendezvous::new(RendezvousLimits {
            allowed,
            ..limits(8, 4)
        });
        let taken = (0..10).filter(|_| connects(&mut rendezvous, [9, 9]).0);
        assert_eq!(taken.count(), 2);
        assert!(!connects(&mut rendezvous, [1, 9]).0);
        for addresses in [[1, 2], [3, 4]] {
            assert_eq!(connects(&mut rendezvous, addresses), (true, vec![]));
        }
    }
}

/// An attacker with a few addresses takes all connections, and loses them again.
#[test]
fn few_addresses_cannot_keep_others_out() {
    let mut rendezvous = Rendezvous::new(limits(8, 4));
    for addresses in [[8, 8], [9, 9], [8, 8], [9, 9]] {
        assert_eq!(connects(&mut rendezvous, addresses), (true, vec![]));
    }
    assert!(!connects(&mut rendezvous, [8, 8]).0, "it has its share");
    assert!(!connects(&mut rendezvous, [1, 8]).0, "so has the other");
    // This ends the oldest connection of an address with two of four.
    assert_eq!(connects(&mut rendezvous, [1, 2]), (true, vec![0]));
    let (is_connected, ended) = connects(&mut rendezvous, [3, 4]);
    assert!(is_connected && ended.len() == 1);
    // Four pairs of addresses now have one connection each: none is ended.
    assert_eq!(connects(&mut rendezvous, [5, 6]), (false, vec![]));
}

/// Client actions, in any order.
#[derive(Clone, Debug)]
enum ClientAction {
    Arrive(u8),
    Greet(usize, bool, u8),
    Pong(usize),
    Send(usize, Vec<u8>),
    Leave(usize),
    Pass(u16),
    End,
}

fn client_actions() -> impl Strategy<Value = Vec<ClientAction>> {
    let action = prop_oneof![
        any::<u8>().prop_map(|it| ClientAction::Arrive(it % 4)),
        (0..40usize, any::<bool>(), 0..3u8)
            .prop_map(|(id, host, it)| ClientAction::Greet(id, host, it)),
        (0..40usize).prop_map(ClientAction::Pong),
        (0..40usize).prop_map(ClientAction::Pong),
        (0..40usize, prop::collection::vec(any::<u8>(), 0..50))
            .prop_map(|(id, bytes)| ClientAction::Send(id, bytes)),
        (0..40usize).prop_map(ClientAction::Leave),
        (0..20_000u16).prop_map(ClientAction::Pass),
        Just(ClientAction::End),
    ];
    prop::collection::vec(action, 0..200)
}

proptest! {
    /// Whatever clients send: only two with the same token and different roles are connected, after each has answered
    /// its last ping; everything stays bounded, and in the end nobody is left.
    #[test]
    fn any_client_behaviour_gives_only_valid_connections(client_actions in client_actions()) {
        let start = Instant::now();
        let mut now = start;
        let mut rendezvous = Rendezvous::new(limits(6, 3));
        let mut connected: Vec<u64> = Vec::new();
        let mut greetings: HashMap<u64, (Role, u8)> = HashMap::new();
        let mut unanswered: HashMap<u64, u32> = HashMap::new();
        let mut ids: Vec<u64> = Vec::new();
        for action in client_actions {
            let id = |index: usize| ids.get(index).copied().unwrap_or(u64::MAX);
            match action {
                ClientAction::Arrive(address) => ids.push(rendezvous.add_client(from(address), now)),
                ClientAction::Greet(index, host, number) => {
                    let role = if host { Role::Host } else { Role::Join };
                    // A second greeting is closed as misbehaviour; it must not change the first.
                    greetings.entry(id(index)).or_insert((role, number));
                    rendezvous.receive(id(index), &greeting(role, number), now);
                }
                ClientAction::Pong(index) => {
                    rendezvous.receive(id(index), &[PONG], now);
                    unanswered.entry(id(index)).and_modify(|it| *it = it.saturating_sub(1));
                }
                ClientAction::Send(index, bytes) => {
                    // Bytes before a greeting change it.
                    greetings.entry(id(index)).or_insert((Role::Host, u8::MAX));
                    rendezvous.receive(id(index), &bytes, now);
                }
                ClientAction::Leave(index) => rendezvous.client_closed(id(index), now),
                ClientAction::Pass(milliseconds) => {
                    now += Duration::from_millis(milliseconds.into());
                    rendezvous.tick(now);
                }
                ClientAction::End => {
                    if let Some(host) = connected.pop() {
                        rendezvous.pair_closed(host);
                    }
                }
            }
            for action in rendezvous.actions() {
                match action {
                    Action::Send(id, Reply::Ping) => *unanswered.entry(id).or_default() += 1,
                    Action::End(host) => connected.retain(|&it| it != host),
                    Action::Connect { host, join } => {
                        connected.push(host);
                        let (a, b) = (greetings[&host], greetings[&join]);
                        prop_assert_eq!((a.0, b.0), (Role::Host, Role::Join));
                        prop_assert_eq!(a.1, b.1);
                        prop_assert_ne!(a.1, u8::MAX);
                    }
                    _ => {}
                }
            }
            prop_assert!(connected.len() <= 3);
            prop_assert!(rendezvous.len() <= 64 + 6);
        }
        for _ in 0..10 {
            now += HOUR;
            rendezvous.tick(now);
        }
        prop_assert_eq!(rendezvous.len(), 0);
    }
}
