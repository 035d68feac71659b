//! `veilpath coordinator`: when processes are killed, nothing is lost or counted twice.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common::pair::{Pair, Running, Side};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;

/// The events of a tile's worker after which a process is killed.
const KILL_MOMENTS: [&str; 4] = ["connecting", "connected", "agreed", "progress"];

/// The processes of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Worker(Side),
    /// At the host, this includes the gateway.
    Coordinator(Side),
}

const VICTIMS: [Victim; 4] = [
    Victim::Worker(Side::Host),
    Victim::Worker(Side::Join),
    Victim::Coordinator(Side::Host),
    Victim::Coordinator(Side::Join),
];

struct Institutions {
    pair: Pair,
    agreement: String,
    /// The addresses of each side's coordinator, and of the gateway for all workers.
    coordinators: [String; 2],
    gateway: String,
}

impl Institutions {
    fn new(tiles: usize) -> Self {
        let pair = Pair::with_cohorts();
        let tiles = tiles.to_string();
        let agreed = pair.run(&["--engine", "garbled", "--tile-count", &tiles], &[], &[]);
        let [agreement, _] = agreed.map(|side| {
            let mut lines = side.stderr.lines();
            let event = lines.find(|line| line.contains("agreed-on-tiles")).unwrap();
            let event: Value = serde_json::from_str(event).unwrap();
            event["agreement"].as_str().unwrap()[..12].to_string()
        });
        Self {
            pair,
            agreement,
            coordinators: ["127.0.0.1:0", "127.0.0.1:0"].map(String::from),
            gateway: "127.0.0.1:0".into(),
        }
    }

    /// Starts a coordinator; a restarted one uses the same port.
    fn coordinator(&mut self, side: Side) -> Running {
        let at = &self.coordinators[side as usize];
        let mut call = format!("coordinator {} --listen {at}", self.agreement);
        if side == Side::Host {
            call += &format!(" --gateway {}", self.gateway);
        }
        let words: Vec<String> = call.split(' ').map(String::from).collect();
        let running = self.pair.start(side, &words);
        // The coordinator and the gateway start at the same time, and report in any order.
        let mut lines = vec![running.wait_for_line("")];
        if side == Side::Host {
            lines.push(running.wait_for_line(""));
        }
        for line in lines {
            match line.strip_prefix("listening on ") {
                Some(address) => self.gateway = address.to_string(),
                None => {
                    let address = line.strip_prefix("workers connect to ").unwrap();
                    self.coordinators[side as usize] = address.to_string();
                }
            }
        }
        running
    }

    /// Starts a worker on a machine that has only a new work order.
    fn worker(&self, side: Side, tile: usize, round: usize) -> Running {
        let name = ["host", "join"][side as usize];
        let order = format!("{name}-{tile}-{round}.order");
        let key = format!(
            "worker-key {} --tiles {tile} --hours 1 -o {order}",
            self.agreement
        );
        let words: Vec<String> = key.split(' ').map(String::from).collect();
        self.pair.start(side, &words).end().ok();
        let call = format!(
            "worker {order} --tile {tile} --gateway {} --coordinator {} --wait 20 --log json -o {name}-{tile}.json",
            self.gateway, self.coordinators[side as usize]
        );
        let words: Vec<&str> = call.split(' ').collect();
        let mut command = self.pair.folder.command(&words);
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::start(command, call)
    }

    /// All comparisons that a side has counted.
    fn counted(&self, name: &str) -> u64 {
        let folder = self.pair.folder.path().join(name).join("peers");
        let files = std::fs::read_dir(folder).unwrap();
        let paths = files.map(|it| it.unwrap().path());
        let ledgers = paths.filter(|path| path.extension().is_some_and(|it| it == "json"));
        let count = |path: PathBuf| {
            let ledger: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let mut counts = BTreeMap::new();
            let mut enter = |agreement: &str, name: &str, count: &Value| {
                counts.insert(format!("{agreement} {name}"), count.as_u64().unwrap());
            };
            for (name, agreements) in ledger["scanpaths"].as_object().unwrap() {
                for (agreement, count) in agreements.as_object().unwrap() {
                    enter(agreement, name, count);
                }
            }
            // Later counts are in the log of this snapshot.
            let log = std::fs::read_to_string(path.with_extension("log")).unwrap_or_default();
            let mut lines = log.lines();
            let stamp = ledger["stamp"].as_str().unwrap();
            if lines.next().is_some_and(|first| first.ends_with(stamp)) {
                for line in lines {
                    let line: Value = serde_json::from_str(line).unwrap();
                    for (name, count) in line["counts"].as_object().unwrap() {
                        enter(line["agreement"].as_str().unwrap(), name, count);
                    }
                }
            }
            counts.values().sum::<u64>()
        };
        ledgers.map(count).sum()
    }
}

#[test]
fn killed_workers_coordinators_and_gateways_lose_nothing() {
    let whole = Pair::with_cohorts();
    let [host, join] = whole.run(
        &["--engine", "garbled"],
        &["-o", "host.json"],
        &["-o", "join.json"],
    );
    host.ok();
    join.ok();
    let cases = KILL_MOMENTS.len() * VICTIMS.len();
    let mut both = Institutions::new(cases);
    let mut coordinators = [Side::Host, Side::Join].map(|side| both.coordinator(side));
    for tile in 1..=cases {
        let moment = KILL_MOMENTS[(tile - 1) / VICTIMS.len()];
        let victim = VICTIMS[(tile - 1) % VICTIMS.len()];
        let mut workers = [Side::Host, Side::Join].map(|side| both.worker(side, tile, 1));
        // A small tile may end before its last moments are observed.
        let _ = workers[0].wait_for(moment);
        match victim {
            Victim::Worker(side) => workers[side as usize].kill(),
            Victim::Coordinator(side) => {
                coordinators[side as usize].kill();
                coordinators[side as usize].child.wait().unwrap();
                coordinators[side as usize] = both.coordinator(side);
            }
        }
        for worker in &mut workers {
            // A worker would otherwise keep waiting for a killed one.
            if !worker.ends_within(std::time::Duration::from_millis(300)) {
                worker.kill();
            }
        }
        drop(workers);
        let workers = [Side::Host, Side::Join].map(|side| both.worker(side, tile, 2));
        for worker in workers {
            let result = worker.end();
            assert_eq!(result.code, 0, "{moment}, {victim:?}: {}", result.stderr);
        }
    }
    let folder = &both.pair.folder;
    for side in ["host", "join"] {
        let files: Vec<String> = (1..=cases)
            .map(|tile| format!("{side}-{tile}.json"))
            .collect();
        let merged = format!("{side}-merged.json");
        let files = files.iter().map(String::as_str);
        let call: Vec<&str> = ["merge"]
            .into_iter()
            .chain(files)
            .chain(["-o", &merged])
            .collect();
        folder.run(&call).ok();
        let merged: Value = serde_json::from_str(&folder.read(&merged)).unwrap();
        let whole = whole.folder.read(&format!("{side}.json"));
        let whole: Value = serde_json::from_str(&whole).unwrap();
        assert_eq!(merged["results"], whole["results"]);
        // Every pair counts once.
        assert_eq!(both.counted(side), merged["pairs"].as_u64().unwrap());
    }
    // The workers stored nothing.
    assert!(!folder.path().join("home").exists());
}

/// These processes hold the letters of a plan.
#[cfg(target_os = "linux")]
#[test]
fn coordinators_and_gateways_disable_core_dumps() {
    let mut both = Institutions::new(1);
    both.coordinator(Side::Join).assert_no_core_dumps();
    let call = format!("gateway {} --listen 127.0.0.1:0", both.agreement);
    let words: Vec<String> = call.split(' ').map(String::from).collect();
    let gateway = both.pair.start(Side::Host, &words);
    gateway.wait_for_line("listening on ");
    gateway.assert_no_core_dumps();
}

#[test]
fn worker_keys_follow_the_policy() {
    let both = Institutions::new(2);
    let make = |more: &str| {
        let call = format!("worker-key {} --tiles 1 {more}", both.agreement);
        both.pair.run_alone(Side::Host, &call)
    };
    make("--hours 1 -o first.order").ok();
    // A key is not overwritten, and the message says so.
    let refused = make("--hours 1 -o first.order").refused();
    assert!(refused.contains("this file exists"), "{refused}");
    assert!(!refused.contains("os error"), "{refused}");
    let partner = both.pair.fingerprint(Side::Join);
    let write = |expires: &str, metric: &str, partner: &str| {
        let text = format!(
            "expires = {expires}\nmetrics = [\"{metric}\"]\nanswers = [\"score\"]\n[[partners]]\nname = \"Other\"\nfingerprint = \"{partner}\"\n"
        );
        std::fs::write(both.pair.folder.path().join("host/policy.toml"), text).unwrap();
    };
    write("2099-12-31", "levenshtein", &partner);
    make("--hours 1 -o allowed.order").ok();
    let nobody = "0".repeat(64);
    for (expires, metric, partner, word) in [
        ("2099-12-31", "scanmatch", &partner, "metrics"),
        ("2020-01-01", "levenshtein", &partner, "expires"),
        ("2099-12-31", "levenshtein", &nobody, "partners"),
    ] {
        write(expires, metric, partner);
        let refused = make("--hours 1 -o refused.order").refused();
        assert!(
            refused.contains("policy.toml") && refused.contains(word),
            "{refused}"
        );
    }
    assert!(!both.pair.folder.path().join("refused.order").exists());
}

#[test]
fn a_partner_can_be_banned_and_unbanned() {
    let both = Institutions::new(2);
    let partner = both.pair.fingerprint(Side::Join);
    both.pair
        .run_alone(Side::Host, &format!("peers ban {partner} --yes"))
        .ok();
    let list = both.pair.run_alone(Side::Host, "peers").ok();
    assert!(list.contains("this institution banned it"), "{list}");
    let [host, join] = both.pair.run(&["--engine", "garbled"], &[], &[]);
    assert!(host.stderr.contains("banned"), "{}", host.stderr);
    assert_eq!((host.code, join.code), (3, 3));
    both.pair
        .run_alone(Side::Host, &format!("peers unban {partner} --yes"))
        .ok();
    let list = both.pair.run_alone(Side::Host, "peers").ok();
    assert!(!list.contains("this institution banned it"), "{list}");
}
