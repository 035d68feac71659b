//! A connection that ends at a chosen message, as when a process at one of its ends is killed.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// When a process is killed: at a request of a worker to its coordinator.
#[derive(Clone, Copy, Debug)]
pub(super) struct KillPoint {
    /// Whether the worker has its tile. Before that, the messages of the handshake count as requests, too.
    pub(super) has_tile: bool,
    /// The number of the request, from 1.
    pub(super) request: usize,
    /// Whether the coordinator gets it, and does what it asks for, before the kill.
    pub(super) delivered: bool,
}

/// A kill that ends all connections that share it.
#[derive(Clone, Debug, Default)]
pub(super) struct KillSwitch(Arc<AtomicBool>);

impl KillSwitch {
    pub(super) fn is_triggered(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn trigger(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Forwards connections until the kill.
pub(super) struct KillableProxy {
    pub(super) address: String,
    has_tile: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
}

#[derive(Default)]
struct Counter {
    has_tile: Arc<AtomicBool>,
    kill_at: Option<(KillPoint, KillSwitch)>,
    requests: AtomicUsize,
    /// Whether the last bytes came from the coordinator.
    answered: AtomicBool,
    /// The coordinator has the request at which something is killed.
    delivered: AtomicBool,
}

impl KillableProxy {
    pub(super) fn new(
        target: &str,
        cut: &KillSwitch,
        kill_at: Option<(KillPoint, &KillSwitch)>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let ended = Arc::new(AtomicBool::new(false));
        let has_tile = Arc::new(AtomicBool::new(false));
        let (target, cut) = (target.to_string(), cut.clone());
        let kill_at = kill_at.map(|(stage, kill)| (stage, kill.clone()));
        let (is_over, counted) = (Arc::clone(&ended), Arc::clone(&has_tile));
        std::thread::spawn(move || {
            while !cut.is_triggered() && !is_over.load(Ordering::SeqCst) {
                match listener.accept() {
                    Ok((client, _)) => pass(client, &target, &cut, &kill_at, &counted),
                    Err(_) => std::thread::sleep(Duration::from_millis(1)),
                }
            }
        });
        Self {
            address,
            has_tile,
            ended,
        }
    }

    /// Records that the worker has its tile.
    pub(super) fn start(&self) {
        self.has_tile.store(true, Ordering::SeqCst);
    }
}

impl Drop for KillableProxy {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
    }
}

fn pass(
    client: TcpStream,
    target: &str,
    cut: &KillSwitch,
    kill_at: &Option<(KillPoint, KillSwitch)>,
    has_tile: &Arc<AtomicBool>,
) {
    client.set_nonblocking(false).unwrap();
    let Ok(server) = TcpStream::connect(target) else {
        return;
    };
    let counter = Arc::new(Counter {
        has_tile: Arc::clone(has_tile),
        kill_at: kill_at.clone(),
        ..Counter::default()
    });
    for socket in [&client, &server] {
        socket.set_nodelay(true).unwrap();
        let soon = Some(Duration::from_millis(2));
        socket.set_read_timeout(soon).unwrap();
    }
    for (from, to, to_server) in [(&client, &server, true), (&server, &client, false)] {
        let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        let (cut, counter) = (cut.clone(), Arc::clone(&counter));
        std::thread::spawn(move || {
            copy(&from, &to, &cut, || match to_server {
                true => counter.request(),
                false => counter.answer(),
            });
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
}

impl Counter {
    /// Handles bytes to the coordinator: counts requests, and kills at the chosen one.
    fn request(&self) {
        let has_tile = self.has_tile.load(Ordering::SeqCst);
        let at = self.kill_at.as_ref();
        let Some((stage, kill)) = at.filter(|(stage, _)| stage.has_tile == has_tile) else {
            return;
        };
        let is_first = self.requests.load(Ordering::SeqCst) == 0;
        if self.answered.swap(false, Ordering::SeqCst) || is_first {
            self.requests.fetch_add(1, Ordering::SeqCst);
        }
        if stage.request == self.requests.load(Ordering::SeqCst) {
            match stage.delivered {
                true => self.delivered.store(true, Ordering::SeqCst),
                false => kill.trigger(),
            }
        }
    }

    /// Handles bytes from the coordinator: kills after a delivered request.
    fn answer(&self) {
        match &self.kill_at {
            Some((_, kill)) if self.delivered.load(Ordering::SeqCst) => kill.trigger(),
            _ => self.answered.store(true, Ordering::SeqCst),
        }
    }
}

/// Copies until the kill.
fn copy(mut from: &TcpStream, mut to: &TcpStream, cut: &KillSwitch, on_bytes: impl Fn()) {
    let mut buffer = vec![0; 64 << 10];
    while !cut.is_triggered() {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                on_bytes();
                if cut.is_triggered() || to.write_all(&buffer[..count]).is_err() {
                    return;
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return,
        }
    }
}
