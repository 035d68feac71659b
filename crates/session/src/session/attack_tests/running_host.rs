//! The host runs once and serves several peers (`--peers`). One of them hangs up and returns with other letters for as long as
//! the host waits for another.

use super::*;
use crate::error::Limit;
use crate::{Acceptor, PeerConnection, PeerServer, SessionFailure, SessionSlots};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

const LIMIT: u64 = 3;

impl Setup {
    /// Runs a host that also waits for a peer that never connects. Returns how each session of the attacker ended for the
    /// host.
    fn host_while(&self, attacks: impl FnOnce(SocketAddr)) -> Vec<Option<SessionError>> {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address();
        let absent = Identity::ephemeral().unwrap();
        let expected = [self.attacker.fingerprint(), absent.fingerprint()];
        let acceptor = Acceptor::new(listener, &self.victim, &expected, &TIMEOUTS);
        let (ends, stopped) = (Mutex::new(Vec::new()), AtomicBool::new(false));
        let handler = |connection: PeerConnection, slots: &SessionSlots| {
            let result = self.serve(connection, slots);
            let failure = result.as_ref().err().map(|error| SessionFailure {
                error: (),
                is_final: error.is_final(),
            });
            ends.lock().unwrap().push(result.err());
            failure.map_or(Ok(()), Err)
        };
        let server = PeerServer {
            sessions: 1,
            wait: Duration::from_secs(60),
            open: Duration::from_secs(60),
        };
        std::thread::scope(|scope| {
            let is_stopped = || stopped.load(Ordering::SeqCst);
            let host =
                scope.spawn(move || server.serve(&is_stopped, acceptor, &handler, &mut |_| ()));
            attacks(address);
            stopped.store(true, Ordering::SeqCst);
            host.join().unwrap();
        });
        ends.into_inner().unwrap()
    }

    /// One connection, as the host serves it.
    fn serve(&self, connection: PeerConnection, slots: &SessionSlots) -> Result<(), SessionError> {
        let PeerConnection {
            channel, agreement, ..
        } = connection;
        assert!(connection.decline.is_none());
        let attempt = Attempt::new(Path::new(""), 0);
        // The attacker's end has the relay that counts.
        let observed = Observed::new(Relay::unused());
        self.side(channel, Role::Host, &attempt, &observed, |session| {
            session.pin_agreement(&agreement);
            let slot = session.acquire_slot(slots, &mut |_| ())?;
            Ok(move || drop(slot))
        })
    }

    /// One return of the attacker to the host at this address.
    pub(super) fn return_to(
        &self,
        host: SocketAddr,
        attempt: &Attempt<'_>,
    ) -> Result<(), SessionError> {
        let observed = Observed::new(Relay::start(host, Role::Join, attempt.cut, None));
        let (own, victim) = (&self.attacker, self.victim.fingerprint());
        let channel = join(&observed.relay.address(), own, victim, &TIMEOUTS)?;
        self.side(channel, Role::Join, attempt, &observed, |_| Ok(|| ()))
    }
}

/// The cases with this attacker.
fn for_joining_attackers(attack: impl Fn(Case) + Sync) {
    for_all_cases(|case| {
        if case.attacker == Role::Join {
            attack(case);
        }
    });
}

/// The attacker keeps its announcement, swaps its letters, and hangs up after another message each time.
#[test]
fn returning_to_a_running_host_gives_no_second_answer() {
    for_joining_attackers(|case| {
        let cuts = hang_ups::chosen(hang_ups::cuts(case));
        for keeps_files in [true, false] {
            let setup = Setup::new(case, LIMIT);
            let folders = folders(if keeps_files { 1 } else { cuts.len() + 1 });
            let sessions = cuts.iter().copied().map(Some).chain([None]);
            let ends = setup.host_while(|host| {
                for (number, cut) in sessions.enumerate() {
                    let files = folders[number % folders.len()].path();
                    let _ = setup.return_to(
                        host,
                        &Attempt {
                            cut,
                            ..Attempt::new(files, number)
                        },
                    );
                }
            });
            assert_eq!(ends.len(), cuts.len() + 1, "{case:?}: the host was met");
            let (_, counted) = setup.audit(paths(&folders));
            assert_eq!(counted, 1, "{case:?}, keeps files: {keeps_files}");
        }
    });
}

/// Once a computation has started, another announcement is refused before anything is computed.
#[test]
fn a_running_host_starts_no_other_agreement_with_the_same_peer() {
    for_joining_attackers(|case| {
        let setup = Setup::new(case, LIMIT);
        let folders = folders(4);
        let mut ends = setup.host_while(|host| {
            for (number, files) in folders.iter().enumerate() {
                let cut = Cut {
                    to_victim: false,
                    records: 3,
                };
                let _ = setup.return_to(
                    host,
                    &Attempt {
                        announced: letters(number).to_vec(),
                        cut: (number == 0).then_some(cut),
                        ..Attempt::new(files.path(), number)
                    },
                );
            }
        });
        assert_eq!(ends.len(), folders.len(), "{case:?}");
        for refused in ends.drain(1..) {
            let other = matches!(refused, Some(SessionError::Limit(Limit::OtherAgreement)));
            assert!(other, "{case:?}: {refused:?}");
        }
        let (_, counted) = setup.audit(paths(&folders));
        assert!(counted <= 1, "{case:?}");
    });
}
