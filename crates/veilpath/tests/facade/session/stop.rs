//! A stop ends a host of several peers.

use super::*;
use veilpath_metrics::Alphabet;
use veilpath_protocol::Role;
use veilpath_session::limits::Timeouts;
use veilpath_session::{AlphabetInfo, Session};

/// Peers that have connected and send nothing do not keep a stopped host.
#[test]
fn a_stop_closes_the_connections_of_all_peers() {
    let (a, parties) = (Party::new(), [Party::new(), Party::new()]);
    let peers = parties.each_ref().map(|it| Peer::unnamed(it.fingerprint()));
    let mut options = a.options(A);
    let minute = Duration::from_secs(60);
    options.wait = minute;
    options.idle_timeout = minute;
    let (sender, address) = channel();
    let (connected_sender, connected) = channel();
    let connected_sender = Mutex::new(connected_sender);
    std::thread::scope(|scope| {
        let listening = address_to(sender);
        let events = move |event: Event| {
            if let Event::Session(SessionEvent::Peer {
                event: PeerEvent::Connected,
                ..
            }) = &event
            {
                connected_sender.lock().unwrap().send(()).unwrap();
            }
            listening(event);
        };
        let (peers, options) = (&peers, &options);
        let serving =
            scope.spawn(move || serve("127.0.0.1:0", peers, 2, options, &events, &save_nothing));
        let address = address.recv().unwrap();
        let timeouts = Timeouts::new(minute, minute);
        let alphabet = AlphabetInfo {
            named: None,
            declared: None,
            read_as: Alphabet::letters(26).unwrap(),
            grid: None,
        };
        let silent = parties.each_ref().map(|party| {
            let (identity, host) = (&party.identity, a.fingerprint());
            let channel = veilpath_session::join(&address, identity, host, &timeouts).unwrap();
            let session =
                Session::open(channel, Role::Join, identity, host, &alphabet, timeouts).unwrap();
            connected.recv().unwrap();
            session
        });
        let start = Instant::now();
        options.control.stop();
        let served = serving.join().unwrap().unwrap();
        assert!(start.elapsed() < minute / 3, "{:?}", start.elapsed());
        assert!(!served.iter().any(ServedPeer::is_finished));
        drop(silent);
    });
}

/// A duplicate connection that is being declined, and sends nothing, does not keep a stopped host.
#[test]
fn a_stop_closes_a_connection_that_is_being_declined() {
    let (a, b) = (Party::new(), Party::new());
    let peers = [Peer::unnamed(b.fingerprint())];
    let idle = Duration::from_secs(20);
    let mut options = a.options(A);
    options.wait = Duration::from_secs(60);
    options.idle_timeout = idle;
    options.control = SessionControl::with_approval();
    let mut joining = b.options(B);
    joining.idle_timeout = idle;
    let (sender, address) = channel();
    let (declined_sender, declined) = channel();
    let declined_sender = Mutex::new(declined_sender);
    let (agreed_sender, agreed) = channel();
    let agreed_sender = Mutex::new(agreed_sender);
    std::thread::scope(|scope| {
        let listening = address_to(sender);
        let events = move |event: Event| {
            if let Event::Session(SessionEvent::Peer { event, .. }) = &event {
                match event {
                    PeerEvent::Agreed(_) => agreed_sender.lock().unwrap().send(()).unwrap(),
                    PeerEvent::Declined(_) => declined_sender.lock().unwrap().send(()).unwrap(),
                    _ => {}
                }
            }
            listening(event);
        };
        let (peers, options, joining) = (&peers, &options, &joining);
        let serving =
            scope.spawn(move || serve("127.0.0.1:0", peers, 1, options, &events, &save_nothing));
        let (address, host) = (address.recv().unwrap(), a.fingerprint());
        let first = {
            let address = address.clone();
            scope.spawn(move || join(&address, host, joining, &()))
        };
        agreed.recv().unwrap();
        let timeouts = Timeouts::new(idle, idle);
        let silent = veilpath_session::join(&address, &b.identity, host, &timeouts).unwrap();
        declined.recv().unwrap();
        let start = Instant::now();
        options.control.stop();
        serving.join().unwrap().unwrap();
        assert!(start.elapsed() < idle / 2, "{:?}", start.elapsed());
        assert!(first.join().unwrap().is_err());
        drop(silent);
    });
}
