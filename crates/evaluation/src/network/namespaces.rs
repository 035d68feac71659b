//! Two network namespaces, connected by a virtual cable with a limited rate. This works only on Linux, as root.

use std::io;
use std::process::{Command, Stdio};

/// Two namespaces, which are removed on drop.
pub(super) struct Namespaces {
    names: [String; 2],
    cables: [String; 2],
}

/// The addresses of the two ends.
pub(super) const ADDRESSES: [&str; 2] = ["10.0.0.1", "10.0.0.2"];

/// How long packets may wait in the queue of a direction, in milliseconds, before they are dropped.
const QUEUE_MS: u32 = 50;

impl Namespaces {
    /// Creates the namespaces. The error explains to the user why this machine cannot.
    pub(super) fn new() -> Result<Self, String> {
        let process = std::process::id();
        let both = |name: &str| ["host", "join"].map(|side| format!("{name}{process}{side}"));
        let namespaces = Self {
            names: both("veilpath-"),
            // A device name has at most 15 characters.
            cables: ["h", "j"].map(|side| format!("vp{process}{side}")),
        };
        namespaces.connect()?;
        Ok(namespaces)
    }

    fn connect(&self) -> Result<(), String> {
        for name in &self.names {
            run(&["ip", "netns", "add", name])?;
        }
        let [host, join] = &self.cables;
        run(&[
            "ip", "link", "add", host, "type", "veth", "peer", "name", join,
        ])?;
        for ((name, cable), address) in self.names.iter().zip(&self.cables).zip(ADDRESSES) {
            let address = format!("{address}/30");
            run(&["ip", "link", "set", cable, "netns", name])?;
            run(&["ip", "-n", name, "address", "add", &address, "dev", cable])?;
            for device in [cable, "lo"] {
                run(&["ip", "-n", name, "link", "set", device, "up"])?;
            }
        }
        Ok(())
    }

    /// Limits both directions to this many megabits per second.
    pub(super) fn limit(&self, megabits: u32) -> Result<(), String> {
        let rate = format!("{megabits}mbit");
        // What passes in one tick of a 250 Hz timer, but at least one large packet.
        let burst = (megabits * 1_000_000 / 8 / 250).max(128 << 10).to_string();
        let queue = format!("{QUEUE_MS}ms");
        for (name, cable) in self.names.iter().zip(&self.cables) {
            run(&[
                "tc", "-n", name, "qdisc", "replace", "dev", cable, "root", "tbf", "rate", &rate,
                "burst", &burst, "latency", &queue,
            ])?;
        }
        Ok(())
    }

    /// A command, run in the namespace of a side.
    pub(super) fn within(&self, side: usize, command: &Command) -> Command {
        let mut within = Command::new("ip");
        within.args(["netns", "exec", &self.names[side]]);
        within.arg(command.get_program()).args(command.get_args());
        within
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            // Deleting a namespace also deletes its cable.
            let _ = run(&["ip", "netns", "delete", name]);
        }
    }
}

fn run(words: &[&str]) -> Result<(), String> {
    let [program, arguments @ ..] = words else {
        return Ok(());
    };
    let command = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    match command {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let message = String::from_utf8_lossy(&output.stderr);
            let line = message.lines().next().unwrap_or_default();
            Err(format!("`{}` failed: {line}", words.join(" ")))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("`{program}` is not installed"))
        }
        Err(error) => Err(format!("`{program}` cannot be started: {error}")),
    }
}
