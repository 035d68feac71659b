//! The attacker shifts a result so that it may be impossible, and watches what the host does while it saves the results, which
//! takes longer if all are possible.

use super::impossible::{IMPOSSIBLE, POSSIBLE, flips, honest, is_out_of_range};
use super::*;
use crate::{Acceptor, PeerConnection, PeerServer, SessionFailure, SessionSlots};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Instant;

const SOON: Duration = Duration::from_secs(30);

impl Setup {
    /// Runs a host that saves the results of the first session when `attack` has succeeded. `waits_on` is whether it also waits
    /// for a peer that never connects. Returns how the first session ended for the host.
    fn host_that_saves_after(
        &self,
        waits_on: bool,
        attack: impl FnOnce(SocketAddr),
    ) -> Option<SessionError> {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address();
        let absent = Identity::ephemeral().unwrap().fingerprint();
        let mut expected = vec![self.attacker.fingerprint()];
        expected.extend(waits_on.then_some(absent));
        let acceptor = Acceptor::new(listener, &self.victim, &expected, &TIMEOUTS);
        let (done, waits) = channel::<()>();
        let (waits, saved) = (Mutex::new(waits), Mutex::new(Vec::new()));
        let handler = |connection: PeerConnection, _: &SessionSlots| {
            let PeerConnection {
                channel,
                agreement,
                end,
                ..
            } = connection;
            let saves = std::cell::Cell::new(false);
            let ended = || {
                if end.reached() {
                    saves.set(true);
                    // A later session may end when the attack is over.
                    let waited = waits.lock().unwrap().recv_timeout(2 * SOON);
                    assert_ne!(waited, Err(RecvTimeoutError::Timeout));
                }
            };
            let attempt = Attempt::new(Path::new(""), 0);
            let observed = Observed::new(Relay::unused());
            let result = self.side(channel, Role::Host, &attempt, &observed, |session| {
                session.pin_agreement(&agreement);
                Ok(ended)
            });
            let is_final = result.as_ref().err().is_some_and(SessionError::is_final);
            let failure = result.is_err().then_some(SessionFailure {
                error: (),
                is_final,
            });
            if saves.get() {
                saved.lock().unwrap().push(result.err());
            }
            failure.map_or(Ok(()), Err)
        };
        let server = PeerServer {
            sessions: 1,
            wait: 6 * SOON,
            open: 6 * SOON,
        };
        let stopped = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let is_stopped = || stopped.load(Ordering::SeqCst);
            let handler = &handler;
            let host =
                scope.spawn(move || server.serve(&is_stopped, acceptor, handler, &mut |_| ()));
            attack(address);
            drop(done);
            stopped.store(true, Ordering::SeqCst);
            host.join().unwrap();
        });
        let mut saved = saved.into_inner().unwrap();
        saved.swap_remove(0)
    }
}

/// Runs the attack on a host that gets results, with a possible result and an impossible one.
fn for_both(waits_on: bool, attack: impl Fn(&Setup, &Attempt<'_>, SocketAddr) + Sync) {
    let attack = &attack;
    std::thread::scope(|scope| {
        for engine in [Engine::Garbled, Engine::Shares] {
            let case = Case {
                engine,
                reveal: Reveal::Score,
                to: RevealTo::Host,
                attacker: Role::Join,
            };
            scope.spawn(move || {
                let (_, offset) = honest(case);
                for mask in [POSSIBLE, IMPOSSIBLE] {
                    let setup = Setup::new(case, 1);
                    let files = tempfile::tempdir().unwrap();
                    let attempt = Attempt {
                        flips: flips(offset, mask),
                        ..Attempt::new(files.path(), 1)
                    };
                    let result = setup
                        .host_that_saves_after(waits_on, |host| attack(&setup, &attempt, host));
                    let impossible = result.as_ref().is_some_and(is_out_of_range);
                    assert_eq!(impossible, mask == IMPOSSIBLE, "{case:?}: {result:?}");
                    assert_eq!(result.is_some(), impossible, "{case:?}");
                }
            });
        }
    });
}

#[test]
fn a_host_serves_a_peer_again_before_it_looks_at_the_results() {
    for_both(true, |setup, attempt, host| {
        setup.return_to(host, attempt).unwrap();
        let again = Attempt {
            flips: None,
            ..attempt.clone()
        };
        for _ in 0..3 {
            setup.return_to(host, &again).unwrap();
        }
    });
}

#[test]
fn a_host_closes_its_port_before_it_looks_at_the_last_results() {
    for_both(false, |setup, attempt, host| {
        setup.return_to(host, attempt).unwrap();
        let start = Instant::now();
        while TcpStream::connect(host).is_ok() {
            assert!(start.elapsed() < SOON, "the port is still open");
            std::thread::sleep(Duration::from_millis(20));
        }
    });
}
