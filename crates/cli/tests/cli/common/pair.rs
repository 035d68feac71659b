//! Two institutions on this machine, each with its own identity, whose commands run as real processes.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test's helpers may fail the test

use crate::common::{Folder, RunOutput};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use veilpath_session::{Identity, StateDir};

/// Limit on the run time of a process.
const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// Which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Host,
    Join,
}

/// A folder with two institutions.
pub(crate) struct Pair {
    pub(crate) folder: Folder,
    pub(crate) identities: [Identity; 2],
    /// Changes to each side's command before it starts.
    wrappers: [Option<Wrapper>; 2],
}

/// Changes a command: its environment, or the limits under which it runs.
pub(crate) type Wrapper = Box<dyn Fn(Command) -> Command>;

impl Pair {
    pub(crate) fn new() -> Self {
        let folder = Folder::new();
        let identities = ["host", "join"].map(|name| {
            let home = StateDir::at(folder.path().join(name));
            Identity::create(&home.identity()).unwrap()
        });
        Self {
            folder,
            identities,
            wrappers: [None, None],
        }
    }

    /// A pair with two cohorts, split from lifelike scanpaths.
    pub(crate) fn with_cohorts() -> Self {
        let pair = Self::new();
        let run = |call: &str| pair.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
        run("synth lifelike --seed 7 --participants 8 --stimuli 2 -o everyone.csv");
        run("split everyone.csv --seed 1 --first a.csv --second b.csv");
        pair
    }

    /// Sets or removes the change to this side's command.
    pub(crate) fn wrap(&mut self, side: Side, wrapper: Option<Wrapper>) {
        self.wrappers[side as usize] = wrapper;
    }

    pub(crate) fn fingerprint(&self, side: Side) -> String {
        self.identities[side as usize].fingerprint().to_string()
    }

    /// Deletes the journals, and the counters of comparisons and answers.
    pub(crate) fn forget(&self) {
        for name in ["host", "join"] {
            for part in ["journals", "peers", "disclosures"] {
                let _ = std::fs::remove_dir_all(self.folder.path().join(name).join(part));
            }
        }
    }

    fn command(&self, side: Side, arguments: &[&str]) -> Command {
        let name = ["host", "join"][side as usize];
        let mut command = self.folder.command(arguments);
        command.env("VEILPATH_HOME", self.folder.path().join(name));
        if let Some(wrapper) = &self.wrappers[side as usize] {
            command = wrapper(command);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts a side with exactly these arguments.
    pub(crate) fn start(&self, side: Side, arguments: &[String]) -> Running {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Running::start(self.command(side, &arguments), arguments.join(" "))
    }

    /// Runs a command of one side that needs no peer.
    pub(crate) fn run_alone(&self, side: Side, call: &str) -> RunOutput {
        let arguments: Vec<String> = call.split(' ').map(String::from).collect();
        self.start(side, &arguments).end()
    }

    /// Starts a host on a free port.
    pub(crate) fn host(&self, arguments: &[&str]) -> Running {
        let peer = self.fingerprint(Side::Join);
        let mut call = vec![
            "host",
            "--listen",
            "127.0.0.1:0",
            "--peer",
            &peer,
            "--log",
            "json",
        ];
        if !arguments.contains(&"--wait") {
            call.extend(["--wait", "20"]);
        }
        if !arguments.contains(&"--cohort") {
            call.extend(["--cohort", "a.csv"]);
        }
        if !arguments.contains(&"--engine") {
            call.extend(["--engine", "plain"]);
        }
        // The scanpaths of tests are short, and the default limit is low.
        if !arguments.contains(&"--limit-per-scanpath") {
            call.extend(["--limit-per-scanpath", "1000"]);
        }
        call.extend(arguments);
        let mut running = Running::start(self.command(Side::Host, &call), call.join(" "));
        running.address = running.wait_for_address();
        running
    }

    /// Starts a joining side.
    pub(crate) fn join(&self, address: &str, arguments: &[&str]) -> Running {
        let peer = self.fingerprint(Side::Host);
        let mut call = vec!["join", address, "--peer", &peer, "--log", "json"];
        if !arguments.contains(&"--cohort") {
            call.extend(["--cohort", "b.csv"]);
        }
        if !arguments.contains(&"--engine") {
            call.extend(["--engine", "plain"]);
        }
        // The scanpaths of tests are short, and the default limit is low.
        if !arguments.contains(&"--limit-per-scanpath") {
            call.extend(["--limit-per-scanpath", "1000"]);
        }
        call.extend(arguments);
        Running::start(self.command(Side::Join, &call), call.join(" "))
    }

    /// Runs both sides with shared arguments and their own.
    pub(crate) fn run(&self, both: &[&str], host: &[&str], join: &[&str]) -> [RunOutput; 2] {
        let host = self.host(&[both, host].concat());
        let address = host.address.clone().unwrap_or_else(|| "127.0.0.1:1".into());
        let join = self.join(&address, &[both, join].concat());
        [host.end(), join.end()]
    }
}

/// A process and its output.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) address: Option<String>,
    call: String,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<String>>,
    lines: std::sync::mpsc::Receiver<String>,
    connected: bool,
}

impl Running {
    pub(crate) fn start(mut command: Command, call: String) -> Self {
        let mut child = command.spawn().unwrap();
        let (to_owner, lines) = std::sync::mpsc::channel();
        let mut out = child.stdout.take().unwrap();
        let err = BufReader::new(child.stderr.take().unwrap());
        let stdout = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = out.read_to_end(&mut bytes);
            bytes
        });
        let stderr = std::thread::spawn(move || {
            let mut all = String::new();
            for line in err.lines().map_while(Result::ok) {
                all.push_str(&line);
                all.push('\n');
                let _ = to_owner.send(line);
            }
            all
        });
        Self {
            child,
            address: None,
            call,
            stdout: Some(stdout),
            stderr: Some(stderr),
            lines,
            connected: false,
        }
    }

    /// The address on which the host listens; `None` if it ended first.
    fn wait_for_address(&self) -> Option<String> {
        self.wait_for("listening")
            .map(|event| event["address"].as_str().unwrap().to_string())
    }

    /// The rest of the first line that starts with `start`, up to a semicolon.
    pub(crate) fn wait_for_line(&self, start: &str) -> String {
        let mut others = String::new();
        while let Ok(line) = self.lines.recv_timeout(RUN_TIMEOUT) {
            if let Some(rest) = line.strip_prefix(start) {
                return rest.split(';').next().unwrap_or_default().to_string();
            }
            others.push_str(&line);
            others.push('\n');
        }
        panic!(
            "veilpath {} did not print {start:?}, but\n{others}",
            self.call
        );
    }

    /// The next event of this name; `None` if the process ended first.
    pub(crate) fn wait_for(&self, name: &str) -> Option<serde_json::Value> {
        while let Ok(line) = self.lines.recv_timeout(RUN_TIMEOUT) {
            let event: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if event["event"] == name {
                return Some(event);
            }
        }
        None
    }

    /// Waits for the process to end; fails after [`RUN_TIMEOUT`].
    pub(crate) fn end(self) -> RunOutput {
        self.end_after_at_most(RUN_TIMEOUT)
    }

    /// Waits for the process to end; fails after this time.
    pub(crate) fn end_after_at_most(mut self, time: Duration) -> RunOutput {
        let deadline = Instant::now() + time;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                let _ = self.child.kill();
                panic!("veilpath {} did not end", self.call);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let output = Output {
            status,
            stdout: self.stdout.take().unwrap().join().unwrap(),
            stderr: self.stderr.take().unwrap().join().unwrap().into_bytes(),
        };
        RunOutput::from(self.call.clone(), output)
    }

    /// Whether the process ends within this time.
    pub(crate) fn ends_within(&mut self, time: Duration) -> bool {
        let deadline = Instant::now() + time;
        while Instant::now() < deadline {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// Whether it has reported a connection.
    pub(crate) fn has_connected(&mut self) -> bool {
        self.connected =
            self.connected || self.lines.try_iter().any(|line| line.contains("connected"));
        self.connected
    }

    /// Asserts that a crash of the process would not write its memory to disk.
    #[cfg(target_os = "linux")]
    pub(crate) fn assert_no_core_dumps(&self) {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", self.child.id())).unwrap();
        let line = limits.lines().find(|line| line.starts_with("Max core"));
        let words: Vec<&str> = line.unwrap().split_whitespace().collect();
        assert_eq!(&words[4..6], ["0", "0"], "{}: {words:?}", self.call);
    }

    /// Kills the process.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

/// A test that fails must not leave a process behind.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
