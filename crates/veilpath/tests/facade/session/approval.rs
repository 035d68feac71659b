//! An approval is about one agreement.

use super::*;
use std::sync::mpsc::Receiver;

/// A host whose sessions wait for its user.
struct Host<'a> {
    address: String,
    fingerprint: Fingerprint,
    control: &'a SessionControl,
    agreed: Mutex<Receiver<(Fingerprint, String)>>,
    saved: &'a Mutex<Vec<Fingerprint>>,
}

impl Host<'_> {
    /// The next agreement, which must be with this peer.
    fn agreed(&self, party: &Party) -> String {
        let (peer, agreement) = self.agreed.lock().unwrap().recv().unwrap();
        assert_eq!(peer, party.fingerprint());
        agreement
    }

    fn join(&self, party: &Party, cohort: &str) -> Result<Option<CompletedSession>, Error> {
        join(&self.address, self.fingerprint, &party.options(cohort), &())
    }

    /// Nobody else is served meanwhile.
    fn assert_saved(&self, expected: &[&Party]) {
        std::thread::sleep(Duration::from_millis(300));
        let expected: Vec<Fingerprint> = expected.iter().map(|it| it.fingerprint()).collect();
        assert_eq!(*self.saved.lock().unwrap(), expected);
    }
}

/// Serves these peers while `test` runs.
fn serve_with_approval(parties: &[Party; 2], test: impl FnOnce(&Host<'_>)) {
    let a = Party::new();
    let peers = parties.each_ref().map(|it| Peer::unnamed(it.fingerprint()));
    let control = SessionControl::with_approval();
    let mut options = a.options(A);
    options.wait = Duration::from_secs(20);
    options.control = control.clone();
    let saved = Mutex::new(Vec::new());
    let save = |peer: &Peer, _: &CompletedSession| {
        saved.lock().unwrap().push(peer.fingerprint);
        Ok(())
    };
    let (sender, address) = channel();
    let (agreed_sender, agreed) = channel();
    let agreed_sender = Mutex::new(agreed_sender);
    std::thread::scope(|scope| {
        let listening = address_to(sender);
        let events = move |event: Event| {
            if let Event::Session(SessionEvent::Peer {
                peer,
                event: PeerEvent::Agreed(summary),
            }) = &event
            {
                let agreed = (peer.fingerprint, summary.agreement.clone());
                agreed_sender.lock().unwrap().send(agreed).unwrap();
            }
            listening(event);
        };
        let (peers, options, save) = (&peers, &options, &save);
        let serving = scope.spawn(move || serve("127.0.0.1:0", peers, 2, options, &events, save));
        test(&Host {
            address: address.recv().unwrap(),
            fingerprint: a.fingerprint(),
            control: &control,
            agreed: Mutex::new(agreed),
            saved: &saved,
        });
        let served = serving.join().unwrap().unwrap();
        assert!(served.iter().all(ServedPeer::is_finished), "{served:?}");
    });
}

/// Another peer has agreed a moment before the user approves what the first one shows.
#[test]
fn an_approval_covers_no_other_peer() {
    let parties = [Party::new(), Party::new()];
    serve_with_approval(&parties, |host| {
        let [first, second] = &parties;
        std::thread::scope(|scope| {
            let one = scope.spawn(|| host.join(first, B).unwrap());
            let first_agreement = host.agreed(first);
            let other = scope.spawn(|| host.join(second, B).unwrap());
            let second_agreement = host.agreed(second);
            assert!(!host.control.approve("another"));
            host.assert_saved(&[]);
            assert!(host.control.approve(&first_agreement));
            one.join().unwrap();
            host.assert_saved(&[first]);
            assert!(!host.control.approve(&first_agreement));
            assert!(host.control.approve(&second_agreement));
            other.join().unwrap();
        });
    });
}

/// A peer leaves before the user approves the agreement, and returns with another cohort.
#[test]
fn an_approval_covers_no_other_agreement_with_the_same_peer() {
    let parties = [Party::new(), Party::new()];
    serve_with_approval(&parties, |host| {
        let [first, second] = &parties;
        std::thread::scope(|scope| {
            let leaving = SessionControl::default();
            let mut options = first.options(B);
            options.control = leaving.clone();
            let left = scope
                .spawn(move || join(&host.address, host.fingerprint, &options, &()).unwrap_err());
            let shown = host.agreed(first);
            leaving.stop();
            left.join().unwrap();
            let back = scope.spawn(|| {
                // Its old session may not have ended yet.
                let start = Instant::now();
                loop {
                    match host.join(first, "participant,scanpath\nq1,EEEE\n") {
                        Err(_) if start.elapsed() < Duration::from_secs(10) => {}
                        other => return other.unwrap(),
                    }
                }
            });
            let returned = host.agreed(first);
            assert_ne!(returned, shown);
            assert!(!host.control.approve(&shown));
            host.assert_saved(&[]);
            assert!(host.control.approve(&returned));
            back.join().unwrap();
            let other = scope.spawn(|| host.join(second, B).unwrap());
            assert!(host.control.approve(&host.agreed(second)));
            other.join().unwrap();
        });
    });
}
