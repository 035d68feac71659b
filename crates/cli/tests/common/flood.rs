//! Strangers at a host's door, as many in a second as one likes.
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
const HELD: usize = 100;

/// Threads of the flood.
const THREADS: u64 = 2;

/// Strangers who come evenly until they are told to stop.
pub(crate) struct Flood {
    stop: Arc<AtomicBool>,
    made: Arc<AtomicU64>,
    start: Instant,
    threads: Vec<JoinHandle<()>>,
}

impl Flood {
    /// So many attempts in a second. A third of them closes at once, a third says the first words of a true handshake and closes,
    /// and a third says them and stays. Those words make the host compute as much as it ever does for a stranger.
    pub(crate) fn start(address: SocketAddr, per_second: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let made = Arc::new(AtomicU64::new(0));
        let hello: Arc<[u8]> = first_words().into();
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
                        if held.len() > HELD {
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

    /// Waits until so many have come.
    pub(crate) fn until(&self, made: u64) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.made.load(Ordering::Relaxed) < made && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends it; gives the attempts that reached the host, and those in a second.
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

/// The first words of somebody who speaks the protocol and is not expected.
fn first_words() -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let caller = std::thread::spawn(move || {
        let [own, host] = [(); 2].map(|()| Identity::ephemeral().unwrap());
        let timeouts = Timeouts::new(Duration::from_secs(1), Duration::ZERO);
        let _ = veilpath_session::join(&address, &own, host.fingerprint(), &timeouts);
    });
    let mut socket = listener.accept().unwrap().0;
    let mut words = vec![0; 4096];
    let count = socket.read(&mut words).unwrap();
    drop(socket);
    caller.join().unwrap();
    words.truncate(count);
    assert!(count > 100, "a client's hello");
    words
}

/// What a process has used, as Linux tells it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// The most memory that it ever had, in megabytes.
    pub(crate) peak_memory: f64,
    /// Files that are open now.
    pub(crate) open_files: usize,
    pub(crate) threads: u64,
    /// Seconds of computing, its own and the system's for it.
    pub(crate) cpu: f64,
}

/// `None` where this system does not tell, or the process is gone.
pub(crate) fn usage(process: u32) -> Option<Usage> {
    let folder = format!("/proc/{process}");
    let status = std::fs::read_to_string(format!("{folder}/status")).ok()?;
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let open_files = std::fs::read_dir(format!("{folder}/fd")).ok()?.count();
    let stat = std::fs::read_to_string(format!("{folder}/stat")).ok()?;
    // Behind the name, which may hold blanks, the twelfth and thirteenth number are hundredths of seconds.
    let mut times = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || times.next()?.parse::<f64>().ok();
    Some(Usage {
        peak_memory: number("VmHWM:")? as f64 / 1024.0,
        open_files,
        threads: number("Threads:")?,
        cpu: (ticks()? + ticks()?) / 100.0,
    })
}

/// Looks at a process ten times in a second; the most of everything that was seen.
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

    /// `None` where this system does not tell.
    pub(crate) fn end(self) -> Option<Usage> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}
