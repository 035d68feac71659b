//! A host under load: several peers at once, floods of unauthenticated connections, bounds on memory and open files.
//!
//! The long tests are ignored by default. This command runs them:
//! `cargo test --release --locked -p veilpath-cli --test cli load -- --ignored --nocapture --test-threads 1`
//! `VEILPATH_LOAD_ROUNDS` sets how often the session is measured with and without the flood.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test's helpers may fail the test; it prints figures

use crate::common;
use crate::common::flood;
use crate::common::pair;

use common::Folder;
use flood::{Flood, Usage, Watcher, usage};
use pair::Running;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use veilpath_session::{Identity, StateDir};

/// A host and many peers, each with a folder, an identity and a cohort.
struct Setup {
    folder: Folder,
    host: Identity,
    peers: Vec<Identity>,
}

impl Setup {
    /// Makes cohorts of this many scanpaths of this length. Every peer's cohort is different.
    fn new(peers: usize, scanpaths: &str, length: &str) -> Self {
        let folder = Folder::new();
        let identity = |name: &str| {
            let home = StateDir::at(folder.path().join(name));
            Identity::create(&home.identity()).unwrap()
        };
        let host = identity("host");
        let peers: Vec<Identity> = (0..peers).map(|it| identity(&format!("p{it}"))).collect();
        let setup = Self {
            folder,
            host,
            peers,
        };
        setup.cohort("host", scanpaths, length, 1000);
        for index in 0..setup.peers.len() {
            setup.cohort(&format!("p{index}"), scanpaths, length, index);
        }
        let list = setup.peers.iter().enumerate();
        let list = list.map(|(index, it)| format!("{} p{index}\n", it.fingerprint()));
        setup.folder.file("partners.txt", list.collect::<String>());
        setup
    }

    fn cohort(&self, name: &str, scanpaths: &str, length: &str, seed: usize) {
        let call = format!(
            "synth random --count {scanpaths} --length {length} --letters 49 --seed {seed} -o {name}.csv"
        );
        self.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    }

    /// Starts a command of the host or a peer, pinned to `core` if one is given and this system supports it.
    fn start(&self, name: &str, call: &str, core: Option<&str>) -> Running {
        let words: Vec<&str> = call.split_whitespace().collect();
        let plain = self.folder.command(&words);
        let mut command = match core {
            None => plain,
            Some(core) => {
                let mut pinned = Command::new("taskset");
                pinned.args(["-c", core]).arg(plain.get_program());
                pinned.args(&words).current_dir(self.folder.path());
                pinned
            }
        };
        command
            .env("VEILPATH_HOME", self.folder.path().join(name))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Running::start(command, call.to_string())
    }

    fn host(&self, flags: &str, core: Option<&str>) -> (Running, SocketAddr) {
        let call = format!(
            "host --listen 127.0.0.1:0 --cohort host.csv --log json --pairs all --limit-per-scanpath 1000 {flags}"
        );
        let running = self.start("host", &call, core);
        let event = running.wait_for("listening").unwrap();
        let address = event["address"].as_str().unwrap().parse().unwrap();
        (running, address)
    }

    fn join(&self, index: usize, address: SocketAddr, flags: &str, core: Option<&str>) -> Running {
        let host = self.host.fingerprint();
        let call = format!(
            "join {address} --peer {host} --cohort p{index}.csv --log json --pairs all --limit-per-scanpath 1000 --format csv --wait 50 {flags}"
        );
        self.start(&format!("p{index}"), &call, core)
    }

    /// The result of a peer's comparison in the clear.
    fn expected(&self, index: usize) -> String {
        let peer = format!("p{index}.csv");
        let call = ["compare", "host.csv", &peer, "--format", "csv"];
        let engine = ["--engine", "plain", "--pairs", "all"];
        self.folder.run(&[&call[..], &engine].concat()).ok()
    }
}

/// A small test of everything at once: three peers, two session slots, a connection with an unknown key, and 300 without a key.
#[test]
fn three_peers_are_served_during_a_flood() {
    let setup = Setup::new(4, "4", "30");
    let list = setup.folder.read("partners.txt");
    let three: Vec<&str> = list.lines().take(3).collect();
    setup.folder.file("partners.txt", three.join("\n"));
    // The first peer's session is long; it must not keep the last peer waiting.
    setup.cohort("p0", "100", "300", 7);
    let (host, address) = setup.host("--peers partners.txt --sessions 2 -o results", None);
    let watcher = Watcher::start(host.child.id());
    let long = setup.join(0, address, "", None);
    long.wait_for("agreed").unwrap();
    let others = [1, 2].map(|index| setup.join(index, address, "", None));
    for other in &others {
        other.wait_for("connected").unwrap();
    }
    let is_rejected = || {
        let rejected = setup.join(3, address, "", None).end();
        assert_eq!(rejected.code, 3, "{}", rejected.stderr);
        assert!(rejected.stderr.contains("expects a different"));
    };
    is_rejected();
    let flood = Flood::start(address, 300);
    is_rejected();
    for (index, other) in others.into_iter().enumerate() {
        assert_eq!(other.end().ok(), setup.expected(index + 1));
    }
    flood.until(300);
    let (made, _) = flood.end();
    assert_eq!(long.end().ok(), setup.expected(0));
    let host = host.end();
    let finished: Vec<&str> = finished(&host.stderr);
    assert_eq!(
        finished.last(),
        Some(&"p0"),
        "a short session is not kept waiting by a long one"
    );
    assert!(made >= 300, "only {made} connections were made");
    let unknown = setup.peers[3].fingerprint().to_string();
    assert!(
        host.stderr.contains(&unknown),
        "the unknown key is reported"
    );
    let connected = host.stderr.matches("\"event\":\"connected\"").count();
    assert_eq!(connected, 3, "only the peers are connected");
    for index in 0..3 {
        let file = setup.folder.read(&format!("results/p{index}.csv"));
        assert_eq!(file, setup.expected(index));
    }
    let rows = host.ok();
    assert_eq!(rows.matches(",finished,").count(), 3, "{rows}");
    match watcher.end() {
        None => eprintln!("skipped: this system does not report the usage of a process"),
        Some(most) => bounded(most, 3),
    }
}

/// The first peer's results cannot be written until the others have finished: theirs wait, and must not fill the memory.
#[test]
#[cfg(target_os = "linux")]
fn results_that_wait_to_be_saved_need_no_memory() {
    const WAITING: usize = 6;
    // As many pairs as the limit of the setup allows.
    const SCANPATHS: [usize; 2] = [1000, 100];
    let setup = Setup::new(1 + WAITING, "1", "5");
    let cohort = |scanpaths: usize| {
        let lines = (0..scanpaths).map(|number| format!("{number},A\n"));
        let lines: String = lines.collect();
        format!("# veilpath cohort 1\n# alphabet: letters 49\nparticipant,scanpath\n{lines}")
    };
    setup.folder.file("host.csv", cohort(SCANPATHS[0]));
    for index in 0..setup.peers.len() {
        setup
            .folder
            .file(&format!("p{index}.csv"), cohort(SCANPATHS[1]));
    }
    let results = setup.folder.path().join("results");
    std::fs::create_dir(&results).unwrap();
    let pipe = results.join("p0.csv");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    // Neither opening the pipe nor the host's first check blocks while it is also open here.
    let mut options = std::fs::OpenOptions::new();
    let held = options.read(true).write(true).open(&pipe).unwrap();
    let (flags, limit) = ("--engine plain", 144);
    let call = format!("--peers partners.txt --sessions 1 --memory {limit} -o results {flags}");
    let (host, address) = setup.host(&call, None);
    let watcher = Watcher::start(host.child.id());
    for index in 0..=WAITING {
        setup.join(index, address, flags, None).end().ok();
    }
    let first = std::thread::spawn(move || {
        let reader = std::fs::File::open(pipe).unwrap();
        drop(held);
        std::io::read_to_string(reader).unwrap()
    });
    let host = host.end();
    let lines = first.join().unwrap().lines().count();
    assert_eq!(lines, SCANPATHS[0] * SCANPATHS[1] + 1);
    assert_eq!(
        finished(&host.stderr).first(),
        Some(&"p0"),
        "{}",
        host.stderr
    );
    host.ok();
    for index in 1..=WAITING {
        let file = setup.folder.read(&format!("results/p{index}.csv"));
        assert_eq!(file.lines().count(), lines);
    }
    let peak = watcher.end().unwrap().peak_memory;
    eprintln!("with {WAITING} sets of results that waited: {peak:.0} MiB");
    assert!(peak < f64::from(limit), "{peak:.0} MiB");
}

/// Checks that the median estimate of these sessions was right within a factor of 2.
fn estimated<'a>(logs: impl Iterator<Item = &'a str>) {
    let number = |log: &str, event: &str, pointer: &str| {
        let lines = log.lines().filter_map(|it| serde_json::from_str(it).ok());
        let mut events = lines.filter(|it: &serde_json::Value| it["event"] == event);
        events
            .next_back()
            .unwrap()
            .pointer(pointer)
            .unwrap()
            .as_f64()
            .unwrap()
    };
    let mut ratios: Vec<f64> = logs
        .map(|log| {
            let estimated = number(log, "agreed", "/estimate/seconds");
            let measured = number(log, "finished", "/cost/seconds");
            eprintln!("  {estimated:.2} s estimated, {measured:.2} s measured");
            estimated / measured
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    assert!((0.5..=2.0).contains(&median), "{ratios:?}");
}

/// The names of the peers in the order in which their sessions ended.
fn finished(log: &str) -> Vec<&str> {
    let lines = log.lines().filter(|line| line.contains("\"finished\""));
    lines
        .filter_map(|line| line.split("\"name\":\"").nth(1)?.split('"').next())
        .collect()
}

/// Checks the documented bounds.
fn bounded(most: Usage, peers: usize) {
    eprintln!(
        "the host had at most {:.0} MiB, {} open files, {} threads, and computed for {:.2} s",
        most.peak_memory, most.open_files, most.threads, most.cpu
    );
    // 20 for the process itself, 2 for each handshake, 9 for each peer.
    assert!(most.open_files <= 20 + 2 * 64 + 9 * peers, "{most:?}");
    assert!(most.peak_memory < 256.0, "{most:?}");
}

#[test]
fn a_host_reports_peers_that_did_not_connect() {
    let setup = Setup::new(2, "2", "5");
    let flags = "--peers partners.txt --sessions 1 -o results --wait 2";
    let (host, address) = setup.host(flags, None);
    let differs = setup
        .join(0, address, "--metric scanmatch --grid 7x7", None)
        .end();
    assert_eq!(differs.code, 3, "{}", differs.stderr);
    setup.join(0, address, "", None).end().ok();
    let host = host.end();
    assert_eq!(host.code, 4, "{}", host.stderr);
    assert!(host.stdout.contains("p0,") && host.stdout.contains(",finished,"));
    assert!(host.stdout.contains(",did not connect,"), "{}", host.stdout);
    assert!(
        host.stderr.contains("\"event\":\"failed\""),
        "{}",
        host.stderr
    );
    assert!(
        host.stderr.contains("1 of 2 partners did not finish"),
        "{}",
        host.stderr
    );
    assert!(!setup.folder.path().join("results/p1.csv").exists());

    let (host, address) = setup.host(flags, None);
    setup
        .join(0, address, "--metric scanmatch --grid 7x7", None)
        .end();
    assert_eq!(host.end().code, 3, "the most serious one");

    for (flags, word) in [
        ("--peers partners.txt", "name a folder"),
        ("--peers partners.txt -o host.csv", "folder"),
        ("--peers host.csv -o results", "line 4"),
        (
            "--peers partners.txt -o results --sessions 65",
            "--sessions",
        ),
    ] {
        let call = format!("host --listen 127.0.0.1:0 --cohort host.csv {flags}");
        let refused = setup.start("host", &call, None).end().refused();
        assert!(refused.contains(word), "{word}: {refused}");
    }
}

/// Ten peers with a hundred comparisons each, four at a time; and a single peer, to compare the memory with.
#[test]
#[ignore = "takes a minute; .ci/full runs it"]
fn ten_peers_with_a_hundred_comparisons_each_are_served() {
    let setup = Setup::new(10, "10", "100");
    let mut figures = Vec::new();
    for (peers, sessions) in [(1, 1), (10, 1), (10, 4), (10, 10)] {
        // Delete everything, as if the sides had never met: if only the journal is lost, nothing may be computed again.
        for side in (0..10)
            .map(|index| format!("p{index}"))
            .chain(["host".into()])
        {
            for folder in ["journals", "peers"] {
                let _ = std::fs::remove_dir_all(setup.folder.path().join(&side).join(folder));
            }
        }
        let list = setup.peers.iter().take(peers).enumerate();
        let list = list.map(|(index, it)| format!("{} p{index}\n", it.fingerprint()));
        setup.folder.file("some.txt", list.collect::<String>());
        let flags = format!("--peers some.txt --sessions {sessions} -o results");
        let (host, address) = setup.host(&flags, None);
        let watcher = Watcher::start(host.child.id());
        let start = Instant::now();
        let joins: Vec<Running> = (0..peers)
            .map(|index| setup.join(index, address, "", None))
            .collect();
        let ends: Vec<_> = joins.into_iter().map(Running::end).collect();
        let took = start.elapsed();
        host.end().ok();
        estimated(ends.iter().map(|output| output.stderr.as_str()));
        for (index, output) in ends.into_iter().enumerate() {
            let expected = setup.expected(index);
            assert_eq!(expected.lines().count(), 101);
            assert_eq!(output.ok(), expected);
            let file = setup.folder.read(&format!("results/p{index}.csv"));
            assert_eq!(file, expected);
        }
        let most = watcher.end();
        eprintln!("{peers} peers, {sessions} at a time: {took:.1?}");
        match most {
            None => eprintln!("skipped: this system does not report the usage of a process"),
            Some(most) => {
                bounded(most, peers);
                figures.push(most.peak_memory);
            }
        }
    }
    if let [one, .., ten] = figures[..] {
        assert!(ten < 15.0 * one, "{figures:?}");
    }
}

/// A session with and without a flood of 1,000 connections per second, alternating. The host and its peer share one core and
/// the flood has the other, so that the measurement covers the host's work for the flood and not the cost of generating it.
#[test]
#[ignore = "takes minutes, and needs two quiet cores; .ci/full runs it"]
fn a_flood_does_not_slow_a_session() {
    let rounds = std::env::var("VEILPATH_LOAD_ROUNDS").ok();
    let rounds: usize = rounds.and_then(|text| text.parse().ok()).unwrap_or(3);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let own = std::process::id().to_string();
    let pin = Command::new("taskset")
        .args(["-a", "-c", "-p", "1", &own])
        .output();
    let core = (cores > 1 && pin.is_ok_and(|it| it.status.success())).then_some("0");
    if core.is_none() {
        eprintln!(
            "the flood competes with the session: this system cannot pin them to different cores"
        );
    }
    // The second peer never connects, so the host keeps listening and can be measured after the first peer has finished.
    let setup = Setup::new(2, "40", "150");
    let mut times: [Vec<[f64; 2]>; 2] = [Vec::new(), Vec::new()];
    for round in 0..2 * rounds {
        let flooded = round % 2 == 1;
        let (mut host, address) =
            setup.host("--peers partners.txt --sessions 2 -o results --fresh", core);
        let flood = flooded.then(|| Flood::start(address, 1000));
        let start = Instant::now();
        let join = setup.join(0, address, "--fresh", core);
        join.wait_for("agreed").unwrap();
        let arrived = start.elapsed();
        let before = usage(host.child.id()).unwrap_or_default();
        let event = host.wait_for("finished").unwrap();
        let after = usage(host.child.id()).unwrap_or_default();
        let rate = flood.map(|flood| flood.end().1);
        let seconds = event["cost"]["seconds"].as_f64().unwrap();
        join.end().ok();
        host.kill();
        eprintln!(
            "{} the peer was connected after {arrived:.2?}; the session took {seconds:.2} s, and the host computed for {:.2} s; {} files",
            match rate {
                None => "nobody else:      ".to_string(),
                Some(rate) => format!("{rate:.0} connections/s:"),
            },
            after.cpu - before.cpu,
            after.open_files,
        );
        if let Some(rate) = rate {
            assert!(rate > 900.0, "the flood was too slow: {rate:.0} per second");
        }
        times[usize::from(flooded)].push([seconds, after.cpu - before.cpu]);
    }
    let median = |flooded: usize, what: usize| {
        let mut all: Vec<f64> = times[flooded].iter().map(|it| it[what]).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let slower = median(1, 0) / median(0, 0) - 1.0;
    // 0 if the system does not report CPU time.
    let more = match median(0, 1) {
        0.0 => 0.0,
        quiet => median(1, 1) / quiet - 1.0,
    };
    eprintln!(
        "medians of {rounds}: {:.1} % slower, {:.1} % more CPU time of the host",
        100.0 * slower,
        100.0 * more
    );
    // Other load on the machine changes the time, but hardly the host's CPU time.
    assert!(more < 0.10 && slower < 0.10, "{times:?}");
}

/// How long a peer takes to connect during a flood of 1,000 connections per second from its own address.
#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn a_peer_connects_during_a_flood_from_its_own_address() {
    let setup = Setup::new(2, "2", "5");
    let mut waits = Vec::new();
    for round in 0..10 {
        let one = format!("--peer {} -o one.csv", setup.peers[0].fingerprint());
        let several = "--peers partners.txt --sessions 2 -o results".to_string();
        let flags = if round % 2 == 0 { one } else { several };
        let (mut host, address) = setup.host(&flags, None);
        let flood = Flood::start(address, 1000);
        // Wait until the flood has used up the allowed burst.
        std::thread::sleep(Duration::from_secs(3));
        let start = Instant::now();
        let join = setup.join(0, address, "", None);
        join.wait_for("connected").unwrap();
        waits.push(start.elapsed());
        join.end().ok();
        flood.end();
        host.kill();
    }
    waits.sort();
    eprintln!(
        "during 1000 connections/s: median {:.1?}, longest {:.1?}",
        waits[5], waits[9]
    );
    assert!(waits[9] < Duration::from_secs(50));
}
