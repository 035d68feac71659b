//! A flood of unauthenticated connections to a host, at a chosen rate.
#![allow(dead_code, clippy::unwrap_used)] // every test file uses a part of this; a test's helpers may fail the test

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use veilpath_session::Identity;
use veilpath_session::limits::Timeouts;

/// Connections that a thread of the flood keeps open and silent.
const OPEN_PER_THREAD: usize = 100;

/// Threads of the flood.
const THREADS: u64 = 2;

/// A flood of unauthenticated connections at a constant rate, until it is stopped.
pub(crate) struct Flood {
    stop: Arc<AtomicBool>,
    made: Arc<AtomicU64>,
    start: Instant,
    threads: Vec<JoinHandle<()>>,
}

impl Flood {
    /// Starts `per_second` connections per second. A third of them close at once, a third send a valid ClientHello and close,
    /// and a third send one and stay open. The ClientHello causes as much work as an unauthenticated connection can.
    pub(crate) fn start(address: SocketAddr, per_second: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let made = Arc::new(AtomicU64::new(0));
        let hello: Arc<[u8]> = client_hello().into();
        let start = Instant::now();
        let threads = (0..THREADS).map(|thread| {
            let (stop, made, hello) = (Arc::clone(&stop), Arc::clone(&made), Arc::clone(&hello));
            std::thread::spawn(move || {
                let mut held = VecDeque::new();
                for index in (thread..).step_by(THREADS as usize) {
                    let due = start + Duration::from_micros(1_000_000 * index / per_second);
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let Ok(mut socket) =
                        TcpStream::connect_timeout(&address, Duration::from_millis(100))
                    else {
                        continue;
                    };
                    made.fetch_add(1, Ordering::Relaxed);
                    if index % 3 > 0 {
                        let _ = socket.write_all(&hello);
                    }
                    if index % 3 == 2 {
                        held.push_back(socket);
                        if held.len() > OPEN_PER_THREAD {
                            held.pop_front();
                        }
                    }
                }
            })
        });
        Self {
            threads: threads.collect(),
            stop,
            made,
            start,
        }
    }

    /// Waits until this many connections have been made.
    pub(crate) fn until(&self, made: u64) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.made.load(Ordering::Relaxed) < made && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops the flood; returns the number of connections and their rate per second.
    pub(crate) fn end(self) -> (u64, f64) {
        let seconds = self.start.elapsed().as_secs_f64();
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().unwrap();
        }
        let made = self.made.load(Ordering::Relaxed);
        (made, made as f64 / seconds)
    }
}

/// The first message of a client whose key the host does not expect.
fn client_hello() -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let client = std::thread::spawn(move || {
        let [own, host] = [(); 2].map(|()| Identity::ephemeral().unwrap());
        let timeouts = Timeouts::new(Duration::from_secs(1), Duration::ZERO);
        let _ = veilpath_session::join(&address, &own, host.fingerprint(), &timeouts);
    });
    let mut socket = listener.accept().unwrap().0;
    let mut words = vec![0; 4096];
    let count = socket.read(&mut words).unwrap();
    drop(socket);
    client.join().unwrap();
    words.truncate(count);
    assert!(count > 100, "a client's hello");
    words
}

/// Resource usage of a process, from Linux's /proc.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Peak memory in MiB.
    pub(crate) peak_memory: f64,
    /// Open files.
    pub(crate) open_files: usize,
    pub(crate) threads: u64,
    /// CPU time in seconds, user and system.
    pub(crate) cpu: f64,
}

/// `None` if this system does not provide it, or the process has ended.
pub(crate) fn usage(process: u32) -> Option<Usage> {
    let folder = format!("/proc/{process}");
    let status = std::fs::read_to_string(format!("{folder}/status")).ok()?;
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let open_files = std::fs::read_dir(format!("{folder}/fd")).ok()?.count();
    let stat = std::fs::read_to_string(format!("{folder}/stat")).ok()?;
    // User and system time are the twelfth and thirteenth fields after the name, which may contain spaces. They are in
    // hundredths of a second.
    let mut times = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || times.next()?.parse::<f64>().ok();
    Some(Usage {
        peak_memory: number("VmHWM:")? as f64 / 1024.0,
        open_files,
        threads: number("Threads:")?,
        cpu: (ticks()? + ticks()?) / 100.0,
    })
}

/// Samples a process 50 times per second and keeps the maximum of each value.
pub(crate) struct Watcher {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Option<Usage>>,
}

impl Watcher {
    pub(crate) fn start(process: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut most: Option<Usage> = None;
            while !stopped.load(Ordering::Relaxed) {
                if let Some(now) = usage(process) {
                    let most = most.get_or_insert(now);
                    most.peak_memory = most.peak_memory.max(now.peak_memory);
                    most.open_files = most.open_files.max(now.open_files);
                    most.threads = most.threads.max(now.threads);
                    most.cpu = most.cpu.max(now.cpu);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            most
        });
        Self { stop, thread }
    }

    /// `None` if this system does not provide it.
    pub(crate) fn end(self) -> Option<Usage> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}
