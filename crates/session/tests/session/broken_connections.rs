//! A connection that breaks fifty times, at any byte: the comparison still finishes, with the right scores, and is charged once per
//! pair (with `paillier`, once per start).
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test's helpers may fail the test

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, Scanpath};
use veilpath_protocol::{Engine, KeySize, PaillierOptions, PairRule, Role, Spec, compare_locally};
use veilpath_session::limits::Timeouts;
use veilpath_session::{
    AgreedSession, AgreementSummary, AlphabetInfo, CompletedSession, DisclosureLedger, Identity,
    Listener, Proposal, Session, SessionError, StateDir, join_unless,
};

/// How often the connection breaks.
const BREAKS: usize = 50;

/// A proxy that forwards a limited number of bytes, both ways together, and then closes both connections.
fn breaking_proxy(upstream: SocketAddr, left: &Arc<AtomicI64>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let left = Arc::clone(left);
    std::thread::spawn(move || {
        let (down, _) = listener.accept().unwrap();
        let up = TcpStream::connect(upstream).unwrap();
        for (from, to) in [(&down, &up), (&up, &down)] {
            from.set_nodelay(true).unwrap();
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            let left = Arc::clone(&left);
            std::thread::spawn(move || {
                let mut buffer = vec![0; 16 << 10];
                while let Ok(count @ 1..) = from.read(&mut buffer) {
                    let read = i64::try_from(count).unwrap();
                    let before = left.fetch_sub(read, Ordering::SeqCst);
                    let pass = usize::try_from(before.clamp(0, read)).unwrap();
                    if to.write_all(&buffer[..pass]).is_err() || pass < count {
                        break;
                    }
                }
                for socket in [&from, &to] {
                    let _ = socket.shutdown(Shutdown::Both);
                }
            });
        }
    });
    address
}

pub(crate) struct Setup {
    identities: [Identity; 2],
    folders: [TempDir; 2],
    pub(crate) proposals: [Proposal; 2],
}

impl Setup {
    pub(crate) fn new(engine: Engine, count: usize, length: usize) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(15);
        let mut cohort = || {
            let entries = (0..count).map(|index| Entry {
                participant: format!("P{index}"),
                group: None,
                stimulus: None,
                scanpath: Scanpath::new((0..length).map(|_| rng.random_range(0..9)).collect()),
                fixations: None,
            });
            Cohort {
                alphabet: Alphabet::letters(9).unwrap(),
                encoding: Encoding::default(),
                screen: None,
                entries: entries.collect(),
            }
        };
        let proposals = [(); 2].map(|()| {
            let cohort = cohort();
            let metric = Metric::Levenshtein;
            Proposal {
                auto_engine: false,
                spec: Spec::new(engine, metric, PairRule::All, &cohort, &cohort).unwrap(),
                cohort,
                pseudonyms: false,
                estimate_only: false,
                fresh: false,
                limit_per_scanpath: veilpath_session::ScanpathLimit::Unlimited,
                declared_letters: None,
                disclosure: veilpath_session::DisclosureLimits::default(),
                memory: None,
                tile: None,
                tile_count: None,
                key: None,
            }
        });
        Self {
            identities: [(); 2].map(|()| Identity::ephemeral().unwrap()),
            folders: [(); 2].map(|()| tempfile::tempdir().unwrap()),
            proposals,
        }
    }

    /// One session through a connection that forwards this many bytes. Also returns how many it forwarded.
    pub(crate) fn run_through(
        &self,
        bytes: i64,
    ) -> ([Result<CompletedSession, SessionError>; 2], i64) {
        let left = Arc::new(AtomicI64::new(bytes));
        let result = self.sessions(&left, |agreed| agreed.run(&()));
        (result, bytes - left.load(Ordering::SeqCst))
    }

    /// What both sides see before the computation starts; then they end the session.
    pub(crate) fn summaries(&self) -> [Result<AgreementSummary, SessionError>; 2] {
        let left = Arc::new(AtomicI64::new(i64::MAX));
        self.sessions(&left, |agreed| {
            let summary = agreed.summary();
            // Closing a connection at once may discard what the other side has not read.
            std::thread::sleep(Duration::from_millis(200));
            drop(agreed);
            Ok(summary)
        })
    }

    fn sessions<T: Send>(
        &self,
        left: &Arc<AtomicI64>,
        end: impl Fn(AgreedSession) -> Result<T, SessionError> + Sync,
    ) -> [Result<T, SessionError>; 2] {
        let timeouts = Timeouts::new(Duration::from_secs(30), Duration::from_secs(5));
        // There is no other connection for a side that was cut off in the handshake.
        let is_broken = || left.load(Ordering::SeqCst) < 0;
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = breaking_proxy(listener.address(), left).to_string();
        let [a, b] = &self.identities;
        let side = |channel, role: Role, identity: &Identity, peer| {
            let side = usize::from(role == Role::Join);
            let proposal = self.proposals[side].clone();
            let alphabet = AlphabetInfo {
                named: None,
                declared: None,
                read_as: proposal.cohort.alphabet,
                grid: None,
            };
            let files = StateDir::at(self.folders[side].path());
            let (session, _) = Session::open(channel, role, identity, peer, &alphabet, timeouts)?;
            end(session.agree(proposal, Some(&files), &mut |_| ())?)
        };
        std::thread::scope(|scope| {
            let host = scope.spawn(|| {
                let peer = b.fingerprint();
                let channel =
                    listener.accept_unless(&is_broken, a, peer, &timeouts, &mut |_| ())?;
                side(channel, Role::Host, a, peer)
            });
            let joined = join_unless(&is_broken, &address, b, a.fingerprint(), &timeouts);
            let join = joined.and_then(|channel| side(channel, Role::Join, b, a.fingerprint()));
            [host.join().unwrap(), join]
        })
    }

    /// The pairs of which a side could write the result without the other.
    fn stored(&self, side: usize) -> usize {
        let files = StateDir::at(self.folders[side].path());
        let comparisons = files.comparisons().unwrap().entries;
        let outcomes = comparisons.iter().map(|it| files.stored_outcome(&it.id));
        outcomes.flatten().map(|it| it.results.iter().count()).sum()
    }

    /// The group answers that a side has counted.
    pub(crate) fn disclosed(&self, side: usize) -> u32 {
        let files = StateDir::at(self.folders[side].path());
        let peer = self.identities[1 - side].fingerprint();
        let ledger = DisclosureLedger::open(Some(&files), &self.identities[side], peer);
        ledger.answers().unwrap()
    }

    /// The comparisons of each scanpath that a side has counted.
    fn charged(&self, side: usize) -> Vec<u64> {
        let peer = self.identities[1 - side].fingerprint().to_string();
        let name = peer.replace('-', "");
        let path = self.folders[side].path().join(format!("peers/{name}.json"));
        let ledger: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let mut scanpaths: BTreeMap<String, BTreeMap<String, u64>> =
            serde_json::from_value(ledger["scanpaths"].clone()).unwrap();
        // What was counted since is in the log of this snapshot.
        let log = std::fs::read_to_string(path.with_extension("log")).unwrap_or_default();
        let mut lines = log.lines();
        let stamp = ledger["stamp"].as_str().unwrap();
        if lines.next().is_some_and(|first| first.ends_with(stamp)) {
            for line in lines {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                let counts: BTreeMap<String, u64> =
                    serde_json::from_value(line["counts"].clone()).unwrap();
                for (name, count) in counts {
                    let agreement = line["agreement"].as_str().unwrap().to_string();
                    scanpaths.entry(name).or_default().insert(agreement, count);
                }
            }
        }
        scanpaths.values().map(|it| it.values().sum()).collect()
    }

    /// Breaks the connection until enough sessions have failed, then lets one finish. An undisturbed run takes `total` bytes. Returns both
    /// sides' last outcomes.
    fn survive(&self, total: i64) -> [CompletedSession; 2] {
        let mut rng = ChaCha20Rng::seed_from_u64(1915);
        let mut total = total;
        let (mut broken, mut rounds) = (0, 0);
        // A session may take fewer bytes than the last one, and end before the connection does.
        while broken < BREAKS {
            rounds += 1;
            assert!(rounds <= 2 * BREAKS, "only {broken} sessions failed");
            // The first breaks come before the results, the later ones among the last bytes, where results are
            // exchanged.
            let results = (total - 3000).max(1);
            let bytes = match broken < BREAKS * 3 / 5 {
                true => rng.random_range(0..results),
                false => rng.random_range(results..total),
            };
            let (results, passed) = self.run_through(bytes);
            if results.iter().all(Result::is_ok) {
                // Nothing was left to compare: from now on a session is a few messages.
                total = passed;
            } else {
                broken += 1;
            }
        }
        eprintln!("{broken} of {rounds} sessions failed");
        let [host, join] = self.run_through(i64::MAX).0.map(Result::unwrap);
        assert_eq!(host.outcome.results, join.outcome.results);
        let [a, b] = &self.proposals;
        let spec = host.outcome.spec.clone();
        let plain = Spec {
            engine: Engine::Plain,
            ..spec
        };
        let oracle = compare_locally(plain, &a.cohort, &b.cohort, &()).unwrap();
        assert_eq!(host.outcome.results, oracle.results);
        [host, join]
    }
}

/// The bytes that both sides send in a run without faults.
fn bytes_without_faults(setup: &Setup) -> i64 {
    let (results, passed) = setup.run_through(i64::MAX);
    for result in results {
        result.unwrap();
    }
    passed
}

fn is_charged_once_per_pair(engine: Engine, count: usize, length: usize) {
    let total = bytes_without_faults(&Setup::new(engine, count, length));
    let setup = Setup::new(engine, count, length);
    let [host, _] = setup.survive(total);
    eprintln!(
        "{total} bytes; {} pairs started more than once, at most {} times",
        host.restarted_pairs, host.max_starts
    );
    for side in 0..2 {
        assert_eq!(setup.charged(side), vec![count as u64; count]);
    }
}

#[test]
fn garbled_is_charged_once_per_pair() {
    is_charged_once_per_pair(Engine::Garbled, 4, 8);
}

#[test]
fn shares_is_charged_once_per_pair() {
    is_charged_once_per_pair(Engine::Shares, 4, 8);
}

/// The results of some portions arrive before those of others.
#[test]
fn garbled_in_portions_is_charged_once_per_pair() {
    is_charged_once_per_pair(Engine::Garbled, 12, 100);
}

#[test]
fn paillier_is_charged_once_per_start() {
    const COUNT: usize = 4;
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let engine = Engine::Paillier(options);
    let total = bytes_without_faults(&Setup::new(engine, COUNT, 6));
    let setup = Setup::new(engine, COUNT, 6);
    let results = setup.survive(total);
    let pairs = (COUNT * COUNT) as u64;
    for (side, results) in results.iter().enumerate() {
        let charged: u64 = setup.charged(side).iter().sum();
        assert_eq!(charged, results.starts);
    }
    // Some pairs were started again.
    assert!(results.iter().any(|it| it.starts > pairs));
}

/// Pairs finish steadily, so an interrupted run has results to keep.
#[test]
fn paillier_stores_results_long_before_the_end() {
    const COUNT: usize = 16;
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let engine = Engine::Paillier(options);
    let total = bytes_without_faults(&Setup::new(engine, COUNT, 6));
    let setup = Setup::new(engine, COUNT, 6);
    let (results, _) = setup.run_through(total * 6 / 10);
    assert!(results.iter().all(Result::is_err));
    let stored = [0, 1].map(|side| setup.stored(side));
    eprintln!(
        "{stored:?} of {} pairs after 60 % of the bytes",
        COUNT * COUNT
    );
    // With this short key and short scanpaths it is a sixth of them; without the window it would be none.
    for stored in stored {
        assert!(stored * 10 >= COUNT * COUNT, "{stored} pairs");
    }
}

/// What a peer can make this side write for one agreement grows only with its ids and its pairs (docs/sessions.md).
#[test]
fn an_agreement_leaves_few_bytes_on_the_disk() {
    const ID_BYTES: usize = 1000;
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    for (engine, count) in [
        (Engine::Garbled, 4),
        (Engine::Shares, 4),
        (Engine::Paillier(options), 4),
        (Engine::Garbled, 24),
    ] {
        let mut setup = Setup::new(engine, count, 8);
        for (number, entry) in setup.proposals[1].cohort.entries.iter_mut().enumerate() {
            // Quotation marks have a backslash in JSON.
            entry.participant = format!("{number}{}", "\"".repeat(ID_BYTES - 3));
        }
        let total = bytes_without_faults(&setup);
        for part in 1..6 {
            let broken = Setup {
                proposals: setup.proposals.clone(),
                ..Setup::new(engine, 1, 1)
            };
            let _ = broken.run_through(total * part / 6);
            let _ = broken.run_through(i64::MAX).0.map(Result::unwrap);
            let [scanpaths, pairs] = [2 * count, count * count].map(|it| it as u64);
            let bound = 8192 + 6 * (count * ID_BYTES) as u64 + 500 * scanpaths + 400 * pairs;
            let written = size(broken.folders[0].path());
            eprintln!("{count} × {count} pairs: {written} bytes, at most {bound}");
            assert!(written <= bound, "{written} bytes");
        }
    }
}

/// The bytes of all files in a folder.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let size = entries.map(|entry| match entry.file_type().unwrap().is_dir() {
        true => size(&entry.path()),
        false => entry.metadata().unwrap().len(),
    });
    size.sum()
}
