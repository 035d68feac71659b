//! How long a host waits for a peer and for its first messages.

use super::*;
use veilpath_channel::{Channel, ChannelError};

/// A peer that is never idle and never sends a message does not keep the host running. One that waits for a slot may
/// take longer.
#[test]
fn first_messages_that_take_too_long_end_the_connection() {
    let mut setup = Setup::new(3, Duration::from_secs(20), Duration::from_secs(3));
    setup.open = Duration::from_secs(2);
    std::thread::scope(|scope| {
        let host = scope.spawn(|| setup.serve(1, Duration::from_millis(100)));
        let slow = scope.spawn(|| {
            let mut channel = setup.call(2, &setup.address);
            // The start of the first message.
            b"veilpath".iter().try_for_each(|byte| {
                channel.send(&[*byte])?;
                channel.flush()?;
                std::thread::sleep(Duration::from_secs(1));
                Ok::<_, ChannelError>(())
            })
        });
        let setup = &setup;
        let others = [0, 1].map(|peer| scope.spawn(move || setup.join(peer, &setup.address)));
        for other in others {
            other.join().unwrap().unwrap();
        }
        let states = host.join().unwrap();
        assert_eq!(finished(&states), 2);
        let PeerState::Failed(failure) = &states[2] else {
            panic!("{:?}", states[2]);
        };
        assert!(
            failure.error.to_string().contains("2.0 s"),
            "{}",
            failure.error
        );
        let _ = slow.join().unwrap();
    });
}

#[test]
fn a_wait_beyond_the_clock_is_capped() {
    let setup = Setup::new(1, Duration::from_secs(5), Duration::ZERO);
    let (peer, timeouts) = (&setup.peers[0], Timeouts::new(setup.idle, Duration::MAX));
    std::thread::scope(|scope| {
        let host = scope.spawn(|| setup.serve(1, Duration::MAX));
        setup.join(0, &setup.address).unwrap();
        assert_eq!(finished(&host.join().unwrap()), 1);
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address().to_string();
        let host = scope.spawn(|| {
            let accepted = listener.accept(&setup.host, peer.fingerprint(), &timeouts, &mut |_| ());
            drop(accepted.unwrap());
        });
        let called = join(&address, peer, setup.host.fingerprint(), &timeouts);
        drop(called.unwrap());
        host.join().unwrap();
    });
    assert_eq!(Timeouts::new(Duration::MAX, MINUTE).stall, Duration::MAX);
}

/// A stopped host does not wait for the other peer.
#[test]
fn a_stopped_host_ends_with_its_last_session() {
    let setup = Setup::new(2, Duration::from_secs(20), Duration::from_secs(1));
    std::thread::scope(|scope| {
        let host = scope.spawn(|| setup.serve(2, MINUTE));
        let first = scope.spawn(|| setup.join(0, &setup.address));
        let start = Instant::now();
        while setup.working.load(Ordering::SeqCst) == 0 {
            assert!(start.elapsed() < MINUTE / 4, "no session");
            std::thread::sleep(Duration::from_millis(5));
        }
        let start = Instant::now();
        setup.stopped.store(true, Ordering::SeqCst);
        assert!(matches!(
            host.join().unwrap()[..],
            [PeerState::Finished, PeerState::Awaited]
        ));
        assert!(start.elapsed() < MINUTE / 2, "{:?}", start.elapsed());
        first.join().unwrap().unwrap();
    });
}
