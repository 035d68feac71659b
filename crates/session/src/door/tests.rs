use super::*;
use crate::join;
use std::io::Write;

fn patience() -> Patience {
    Patience::new(Duration::from_secs(5), Duration::from_secs(10))
}

fn identity() -> Identity {
    Identity::ephemeral().unwrap()
}

/// The next peer within ten seconds, and the strangers before it.
fn next_peer(door: &mut Door) -> (Fingerprint, Vec<SessionError>) {
    let mut strangers = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(10);
    while let Some(visit) = door.next(deadline) {
        match visit {
            Visit::Peer(peer, _) => return (peer, strangers),
            Visit::Stranger(error) => strangers.push(error),
        }
    }
    unreachable!("no peer came; strangers: {strangers:?}");
}

#[test]
fn all_who_are_expected_come_in_and_others_are_named() {
    let (host, stranger) = (identity(), identity());
    let peers = [identity(), identity()];
    let guests = [0, 1].map(|index: usize| peers[index].fingerprint());
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address().to_string();
    let mut door = Door::open(listener, &host, &guests, &patience());
    std::thread::scope(|scope| {
        let call = |identity| join(&address, identity, host.fingerprint(), &patience());
        let callers = [&stranger, &peers[1], &peers[0]];
        scope.spawn(move || callers.map(|caller| drop(call(caller))));
        let (first, strangers) = next_peer(&mut door);
        assert_eq!(first, guests[1]);
        assert!(
            matches!(strangers[..], [SessionError::UnknownPeer { .. }]),
            "{strangers:?}"
        );
        assert_eq!(next_peer(&mut door).0, guests[0]);
    });
    assert!(door.places.is_empty());
}

/// Silent connections take every place, and more come all the time.
#[test]
fn a_crowd_that_says_nothing_does_not_keep_a_peer_out() {
    let (host, peer) = (identity(), identity());
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address();
    let mut door = Door::open(listener, &host, &[peer.fingerprint()], &patience());
    let silent: Vec<TcpStream> = (0..120)
        .map(|index| {
            let mut socket = TcpStream::connect(address).unwrap();
            // Some begin what looks like a handshake.
            let _ = (index % 3 == 0).then(|| socket.write_all(&[22, 3, 1, 2, 0, 1]));
            // The system does not hold them all.
            door.take_in();
            socket
        })
        .collect();
    assert!(door.untold.0 > 0, "most are closed unheard");
    assert!((40..=PLACES).contains(&door.places.len()));
    std::thread::scope(|scope| {
        let call = || join(&address.to_string(), &peer, host.fingerprint(), &patience());
        scope.spawn(move || drop(call()));
        assert_eq!(next_peer(&mut door).0, peer.fingerprint());
    });
    drop(silent);
}

#[test]
fn a_full_door_gives_the_place_of_who_holds_most() {
    let (host, peer) = (identity(), identity());
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address();
    let mut door = Door::open(listener, &host, &[peer.fingerprint()], &patience());
    let origin = |text: &str| Origin::of(text.parse().unwrap());
    let (greedy, modest) = (origin("192.0.2.1"), origin("192.0.2.2"));
    let mut callers = Vec::new();
    for index in 0..=PLACES {
        callers.push(TcpStream::connect(address).unwrap());
        let socket = loop {
            match door.listener.accept_one() {
                Ok((socket, _)) => break socket,
                Err(_) => std::thread::yield_now(),
            }
        };
        // The modest one came first and would be the oldest.
        assert!(door.receive(socket, if index == 0 { modest } else { greedy }));
    }
    assert_eq!(door.places.len(), PLACES);
    let first = door.places.first().unwrap();
    assert_eq!((first.number, first.from), (0, modest));
    assert!(door.places.iter().all(|place| place.number != 1));
}
