//! Whole comparisons between two processes, over connections with different rates and latencies.
//!
//! Both sides run on this machine as separate processes, with the sessions of `host` and `join`: TLS, agreement, journal and
//! counters. The kernel limits the rate (`tc tbf`) between two network namespaces. A relay adds latency by delaying every byte by
//! half a round trip. Where namespaces are not allowed, the relay also limits the rate, and the report says so.
//!
//! | file | contents |
//! |---|---|
//! | `work` | what is compared |
//! | `process` | what each process does |
//! | `relay` | latency |
//! | `namespaces` | rates |
//! | `report` | the rows as text, CSV and JSON |

mod namespaces;
mod process;
mod relay;
mod report;
mod work;

pub use process::run as run_process;
pub use report::{Limiter, Report, Row};
pub use work::Work;

use crate::Error;
use namespaces::{ADDRESSES, Namespaces};
use process::{Answer, SideReport, SideTask, Task};
use relay::Conditions;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use veilpath_metrics::{Alphabet, Metric};
use veilpath_protocol::{EngineChoice, Spec};
use veilpath_session::{Identity, StateDir};

/// The settings of a measurement.
#[derive(Debug)]
pub struct Options {
    /// The engines, each with what it compares.
    pub engines: Vec<(EngineChoice, Work)>,
    /// The metric.
    pub metric: Metric,
    /// The letters of both sides.
    pub alphabet: Alphabet,
    /// Megabits per second in each direction; `None` is the machine's loopback.
    pub rates: Vec<Option<u32>>,
    /// Round-trip times in milliseconds.
    pub round_trips: Vec<u32>,
    /// A command that calls [`run_process`] with its standard input and output.
    pub process: Command,
    /// A folder for identities and journals.
    pub folder: PathBuf,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    engine: EngineChoice,
    work: Work,
    rate: Option<u32>,
    round_trip: u32,
}

/// Measures every engine over every connection. `on_row` is called after each row, with the number of all rows.
pub fn run(options: &Options, on_row: &mut dyn FnMut(&Row, usize)) -> Result<Report, Error> {
    let namespaces = match options.rates.iter().any(Option::is_some) {
        true => Namespaces::new(),
        false => Err(String::new()),
    };
    let mut cases = Vec::new();
    for &(engine, work) in &options.engines {
        for &rate in &options.rates {
            for &round_trip in &options.round_trips {
                cases.push(Case {
                    engine,
                    work,
                    rate,
                    round_trip,
                });
            }
        }
    }
    let mut report = Report {
        metric: options.metric.name(),
        letters: options.alphabet.size(),
        // Namespaces are needed only to limit a rate.
        relay_reason: namespaces
            .as_ref()
            .err()
            .filter(|reason| !reason.is_empty())
            .cloned(),
        rows: Vec::new(),
    };
    for (number, case) in cases.iter().enumerate() {
        let folder = options.folder.join(number.to_string());
        let row = measure(options, case, &folder, namespaces.as_ref().ok())?;
        on_row(&row, cases.len());
        report.rows.push(row);
    }
    Ok(report)
}

fn measure(
    options: &Options,
    case: &Case,
    folder: &std::path::Path,
    namespaces: Option<&Namespaces>,
) -> Result<Row, Error> {
    let mut spec_cohorts = case.work.cohorts(options.alphabet);
    let [a, b] = &mut spec_cohorts;
    let engine = case.engine.representative();
    let spec = Spec::new(engine, options.metric.clone(), case.work.rule(), a, b)?;
    let folders = ["host", "join"].map(|side| folder.join(side));
    let mut fingerprints = Vec::new();
    for folder in &folders {
        let state_dir = StateDir::at(folder);
        state_dir.prepare()?;
        let identity = Identity::create(&state_dir.identity())?;
        fingerprints.push(identity.fingerprint().to_string());
    }
    let within = case.rate.and(namespaces);
    if let (Some(namespaces), Some(rate)) = (within, case.rate) {
        let limited = namespaces.limit(rate);
        limited.map_err(std::io::Error::other)?;
    }
    let conditions = Conditions {
        delay: f64::from(case.round_trip) / 2e3,
        rate: match within {
            Some(_) => None,
            None => case.rate.map(|rate| f64::from(rate) * 1e6 / 8.0),
        },
    };
    let start = |process, side: usize, task: &Task| {
        let command = &options.process;
        let command = match within {
            Some(namespaces) => namespaces.within(side, command),
            None => {
                let mut same = Command::new(command.get_program());
                same.args(command.get_args());
                same
            }
        };
        Process::start(process, command, task)
    };
    let side = |hosts: bool, address: SocketAddr| {
        Task::Side(SideTask {
            hosts,
            address,
            folder: folders[usize::from(!hosts)].clone(),
            peer: fingerprints[usize::from(hosts)].clone(),
            spec: spec.clone(),
            auto_engine: case.engine == EngineChoice::Auto,
            work: case.work,
        })
    };
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let reachable = match within {
        Some(_) => ADDRESSES[0].parse().unwrap_or(here),
        None => here,
    };
    let relayed = conditions.delay > 0.0 || conditions.rate.is_some();
    let listen = SocketAddr::new(if relayed { here } else { reachable }, 0);
    let mut host = start("the host", 0, &side(true, listen))?;
    let mut address = host.address()?;
    let relay = if relayed {
        let task = Task::Relay {
            listen: SocketAddr::new(reachable, 0),
            upstream: address,
            conditions,
        };
        let mut relay = start("the relay", 0, &task)?;
        address = relay.address()?;
        Some(relay)
    } else {
        None
    };
    let mut join = start("the joining side", 1, &side(false, address))?;
    let joined = join.measured()?;
    let hosted = host.measured()?;
    drop(relay);
    Ok(Row::new(case, within.is_some(), &hosted, &joined))
}

/// A process, which is killed on drop.
struct Process {
    name: &'static str,
    child: Child,
    answers: std::io::Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(name: &'static str, mut command: Command, task: &Task) -> Result<Self, Error> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(mut input), Some(output)) = (input, output) else {
            return Err(Error::NoAnswer { process: name });
        };
        let process = Self {
            name,
            child,
            answers: BufReader::new(output).lines(),
        };
        let mut line = serde_json::to_string(task).map_err(std::io::Error::from)?;
        line.push('\n');
        input.write_all(line.as_bytes())?;
        Ok(process)
    }

    fn answer(&mut self) -> Result<Answer, Error> {
        let missing = Error::NoAnswer { process: self.name };
        let line = self.answers.next().ok_or(missing)??;
        Ok(serde_json::from_str(&line).map_err(std::io::Error::from)?)
    }

    fn address(&mut self) -> Result<SocketAddr, Error> {
        match self.answer()? {
            Answer::Listening(address) => Ok(address),
            Answer::Measured(_) => Err(Error::NoAnswer { process: self.name }),
        }
    }

    fn measured(&mut self) -> Result<SideReport, Error> {
        match self.answer()? {
            Answer::Measured(report) => Ok(report),
            Answer::Listening(_) => Err(Error::NoAnswer { process: self.name }),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
