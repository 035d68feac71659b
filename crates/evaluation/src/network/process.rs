//! The processes of a measurement: one for each side, and the relay. Each reads its task from standard input and answers on
//! standard output, with one line of JSON each.

use super::relay::{self, Conditions};
use super::work::Work;
use crate::Error;
use crate::timer::process_time;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use veilpath_paillier::SecretKey;
use veilpath_protocol::{Engine, Role, Spec, TreeLevels};
use veilpath_session::limits::Timeouts;
use veilpath_session::{
    AlphabetInfo, Fingerprint, HostKey, Identity, Listener, Proposal, ScanpathLimit, Session,
    StateDir, join,
};

/// The task of a process.
#[derive(Debug, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant)] // one of them in each process
pub(super) enum Task {
    /// One side of the comparison.
    Side(SideTask),
    /// The relay between them.
    Relay {
        /// Where it listens.
        listen: SocketAddr,
        /// The host.
        upstream: SocketAddr,
        conditions: Conditions,
    },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SideTask {
    /// Whether it is the host, which listens on `address`; the joining side connects to it.
    pub(super) hosts: bool,
    pub(super) address: SocketAddr,
    /// The folder for identity, journal and counters.
    pub(super) folder: PathBuf,
    /// The fingerprint of the other side's key.
    pub(super) peer: String,
    pub(super) spec: Spec,
    /// Whether the sides choose the engine.
    pub(super) auto_engine: bool,
    pub(super) work: Work,
}

/// The answer of a process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// Where it listens.
    Listening(SocketAddr),
    /// The measurements of a side.
    Measured(SideReport),
}

/// The measurements of one side, from the connection to its outcome.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SideReport {
    /// The engine that ran.
    pub(super) engine: Engine,
    pub(super) tree_levels: Option<TreeLevels>,
    pub(super) seconds: f64,
    /// The estimate that the two sides agreed on.
    pub(super) estimated_seconds: f64,
    /// CPU time of all threads; `None` where the system does not report it.
    pub(super) cpu_seconds: Option<f64>,
    /// Peak memory of the process in bytes; `None` where the system does not report it.
    pub(super) peak_memory: Option<u64>,
    pub(super) comparisons: u64,
    pub(super) cells: u64,
    /// Bytes that this side sent and received.
    pub(super) bytes: [u64; 2],
}

/// How long a side waits for the other.
const TIMEOUTS: Timeouts = Timeouts {
    idle: Duration::from_secs(60),
    stall: Duration::from_secs(3600),
    connect: Duration::from_secs(60),
};

/// Runs the task on `input`, as one of the processes of [`super::run`].
pub fn run(input: impl BufRead, mut output: impl Write) -> Result<(), Error> {
    let mut lines = input.lines();
    let line = lines.next().unwrap_or(Ok(String::new()))?;
    match serde_json::from_str(&line).map_err(io::Error::from)? {
        Task::Relay {
            listen,
            upstream,
            conditions,
        } => {
            let listener = TcpListener::bind(listen)?;
            write(&mut output, &Answer::Listening(listener.local_addr()?))?;
            Ok(relay::serve(&listener, upstream, conditions)?)
        }
        Task::Side(task) => {
            let report = side(&task, &mut output)?;
            write(&mut output, &Answer::Measured(report))
        }
    }
}

fn write(output: &mut impl Write, answer: &Answer) -> Result<(), Error> {
    serde_json::to_writer(&mut *output, answer).map_err(io::Error::from)?;
    output.write_all(b"\n")?;
    Ok(output.flush()?)
}

fn side(task: &SideTask, output: &mut impl Write) -> Result<SideReport, Error> {
    let state_dir = StateDir::at(&task.folder);
    let identity = Identity::load(&state_dir.identity())?;
    let peer: Fingerprint = task.peer.parse().map_err(io::Error::other)?;
    let [host, join_cohort] = task.work.cohorts(task.spec.alphabet);
    let (role, cohort) = match task.hosts {
        true => (Role::Host, host),
        false => (Role::Join, join_cohort),
    };
    // No measured time includes key generation.
    let key = match (task.spec.engine, role) {
        (Engine::Paillier(options), Role::Host) => {
            let key = SecretKey::generate(options.key_size(), &mut rand::rng())?;
            Some(HostKey::from(key))
        }
        _ => None,
    };
    let alphabet = AlphabetInfo {
        named: None,
        declared: None,
        read_as: task.spec.alphabet,
        grid: None,
    };
    let proposal = Proposal {
        auto_engine: task.auto_engine,
        spec: task.spec.clone(),
        cohort,
        pseudonyms: false,
        estimate_only: false,
        fresh: false,
        limit_per_scanpath: ScanpathLimit::Unlimited,
        declared_letters: None,
        disclosure: veilpath_session::DisclosureLimits::default(),
        memory: None,
        tile: None,
        tile_count: None,
        key,
    };
    let (start, busy, channel);
    match role {
        Role::Host => {
            let listener = Listener::bind(&task.address.to_string())?;
            write(output, &Answer::Listening(listener.address()))?;
            channel = listener.accept(&identity, peer, &TIMEOUTS, &mut |_| ())?;
            (start, busy) = (Instant::now(), process_time());
        }
        Role::Join => {
            (start, busy) = (Instant::now(), process_time());
            channel = join(&task.address.to_string(), &identity, peer, &TIMEOUTS)?;
        }
    }
    let (session, _) = Session::open(channel, role, &identity, peer, &alphabet, TIMEOUTS)?;
    let agreed = session.agree(proposal, Some(&state_dir), &mut |_| ())?;
    let summary = agreed.summary();
    let (estimated_seconds, tree_levels) = (summary.estimate.seconds, summary.engine.tree_levels);
    let outcome = agreed.run(&())?.outcome;
    let seconds = start.elapsed().as_secs_f64();
    let busy = process_time().zip(busy);
    Ok(SideReport {
        engine: outcome.spec.engine,
        tree_levels,
        seconds,
        estimated_seconds,
        cpu_seconds: busy.map(|(end, start)| end.saturating_sub(start).as_secs_f64()),
        peak_memory: peak_memory(),
        comparisons: outcome.pairs,
        cells: outcome.cost.cells,
        bytes: [outcome.cost.bytes_sent, outcome.cost.bytes_received],
    })
}

/// The peak memory of this process in bytes, if the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}
