use super::*;
use crate::join;
use std::io::{ErrorKind, Write};
use veilpath_channel::Channel;

fn timeouts() -> Timeouts {
    Timeouts::new(Duration::from_secs(5), Duration::from_secs(10))
}

fn identity() -> Identity {
    Identity::ephemeral().unwrap()
}

/// The next peer within ten seconds.
fn next_peer(acceptor: &mut Acceptor) -> Fingerprint {
    let mut rejected = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(10);
    while let Some(incoming) = acceptor.next(deadline) {
        match incoming {
            Incoming::Peer(peer, _) => return peer,
            Incoming::Rejected(error) => rejected.push(error),
        }
    }
    unreachable!("no peer came; rejected: {rejected:?}");
}

#[test]
fn expected_peers_are_accepted_and_others_are_reported() {
    let (host, unexpected) = (&identity(), &identity());
    let peers = [identity(), identity()];
    let expected = [0, 1].map(|index: usize| peers[index].fingerprint());
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address().to_string();
    let mut acceptor = Acceptor::new(listener, host, &expected, &timeouts());
    let deadline = Instant::now() + Duration::from_secs(10);
    let call = &|identity| drop(join(&address, identity, host.fingerprint(), &timeouts()));
    std::thread::scope(|scope| {
        // The next one calls when the one before has been reported: handshakes run at the same time.
        scope.spawn(move || call(unexpected));
        let Some(Incoming::Rejected(error)) = acceptor.next(deadline) else {
            unreachable!("an unexpected peer was accepted");
        };
        assert!(
            matches!(error, SessionError::UnknownPeer { .. }),
            "{error:?}"
        );
        for (caller, expected) in [(&peers[1], expected[1]), (&peers[0], expected[0])] {
            scope.spawn(move || call(caller));
            assert_eq!(next_peer(&mut acceptor), expected);
        }
    });
    assert!(acceptor.pending.is_empty());
}

/// Silent connections take every handshake slot, and more arrive all the time.
#[test]
fn silent_connections_do_not_keep_a_peer_out() {
    let (host, peer) = (identity(), identity());
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address();
    let mut acceptor = Acceptor::new(listener, &host, &[peer.fingerprint()], &timeouts());
    let silent: Vec<TcpStream> = (0..120)
        .map(|index| {
            let mut socket = TcpStream::connect(address).unwrap();
            // Some send the start of a handshake.
            let _ = (index % 3 == 0).then(|| socket.write_all(&[22, 3, 1, 2, 0, 1]));
            // The listen backlog cannot hold them all.
            acceptor.accept_pending();
            socket
        })
        .collect();
    assert!(
        acceptor.unreported.0 > 0,
        "most are dropped before the handshake"
    );
    assert!((40..=MAX_HANDSHAKES).contains(&acceptor.pending.len()));
    std::thread::scope(|scope| {
        let call = || join(&address.to_string(), &peer, host.fingerprint(), &timeouts());
        scope.spawn(move || drop(call()));
        assert_eq!(next_peer(&mut acceptor), peer.fingerprint());
    });
    drop(silent);
}

#[test]
fn a_new_connection_evicts_the_oldest_of_the_address_with_the_most() {
    let (host, peer) = (identity(), identity());
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address();
    let mut acceptor = Acceptor::new(listener, &host, &[peer.fingerprint()], &timeouts());
    let origin = |text: &str| Origin::of(text.parse().unwrap());
    let (greedy, modest) = (origin("192.0.2.1"), origin("192.0.2.2"));
    let mut callers = Vec::new();
    for index in 0..=MAX_HANDSHAKES {
        callers.push(TcpStream::connect(address).unwrap());
        let socket = loop {
            match acceptor.listener.accept_one() {
                Ok((socket, _)) => break socket,
                Err(_) => std::thread::yield_now(),
            }
        };
        // The address with a single connection has the oldest one.
        assert!(acceptor.start_handshake(socket, if index == 0 { modest } else { greedy }));
    }
    assert_eq!(acceptor.pending.len(), MAX_HANDSHAKES);
    let first = acceptor.pending.first().unwrap();
    assert_eq!((first.id, first.from), (0, modest));
    assert!(acceptor.pending.iter().all(|handshake| handshake.id != 1));
}

/// A peer that has authenticated stays connected while its result waits to be picked up.
#[test]
fn a_flood_does_not_disconnect_a_peer_that_has_authenticated() {
    let (host, peer) = (identity(), identity());
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address();
    let mut acceptor = Acceptor::new(listener, &host, &[peer.fingerprint()], &timeouts());
    let deadline = Instant::now() + Duration::from_secs(30);
    let accept = |acceptor: &mut Acceptor| loop {
        match acceptor.listener.accept_one() {
            Ok((socket, address)) => break (socket, Origin::of(address.ip())),
            Err(error) => {
                let may_retry = error.kind() == ErrorKind::WouldBlock && Instant::now() < deadline;
                assert!(may_retry, "{error}");
            }
        }
        std::thread::yield_now();
    };
    std::thread::scope(|scope| {
        let call = || join(&address.to_string(), &peer, host.fingerprint(), &timeouts());
        let caller = scope.spawn(move || call().unwrap());
        let (socket, from) = accept(&mut acceptor);
        assert!(acceptor.start_handshake(socket, from));
        while !acceptor.pending[0].authenticated.load(Ordering::Acquire) {
            assert!(Instant::now() < deadline, "not authenticated");
            std::thread::yield_now();
        }
        let silent: Vec<TcpStream> = (0..2 * MAX_HANDSHAKES)
            .map(|_| {
                let socket = TcpStream::connect(address).unwrap();
                let (accepted, from) = accept(&mut acceptor);
                assert!(acceptor.start_handshake(accepted, from));
                socket
            })
            .collect();
        assert_eq!(acceptor.pending.len(), MAX_HANDSHAKES);
        let deadline = Instant::now() + Duration::from_secs(10);
        let incoming = std::iter::from_fn(|| acceptor.next(deadline));
        let channel = incoming.into_iter().find_map(|incoming| match incoming {
            Incoming::Peer(_, channel) => Some(channel),
            Incoming::Rejected(_) => None,
        });
        let (mut here, mut there) = (channel.unwrap(), caller.join().unwrap());
        there.send(&[7]).unwrap();
        there.flush().unwrap();
        let mut byte = [0];
        here.receive(&mut byte).unwrap();
        assert_eq!(byte, [7]);
        drop(silent);
    });
}
