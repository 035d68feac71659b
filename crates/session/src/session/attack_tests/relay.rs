//! A relay between the two sides that counts TLS records, and closes both connections after one of them.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use veilpath_protocol::Role;

/// Where a connection breaks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// The direction in which records are counted.
    pub(super) to_victim: bool,
    /// Records that pass in this direction after the agreement.
    pub(super) records: usize,
}

/// A relay for one connection.
pub(super) struct Relay {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    cut: Option<Cut>,
    counting: AtomicBool,
    has_cut: AtomicBool,
    /// To the victim, and to the attacker.
    records: [AtomicUsize; 2],
}

impl Relay {
    /// Waits for one connection. With `silence`, it ends once nothing has passed in one direction for this long.
    pub(super) fn start(
        host: SocketAddr,
        attacker: Role,
        cut: Option<Cut>,
        silence: Option<Duration>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            cut,
            counting: AtomicBool::new(false),
            has_cut: AtomicBool::new(false),
            records: Default::default(),
        });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            let (down, _) = listener.accept().unwrap();
            let up = TcpStream::connect(host).unwrap();
            for socket in [&down, &up] {
                socket.set_nodelay(true).unwrap();
                socket.set_read_timeout(silence).unwrap();
            }
            for (from, to, to_host) in [(&down, &up, true), (&up, &down, false)] {
                let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                let state = Arc::clone(&shared);
                let to_victim = to_host == (attacker == Role::Join);
                std::thread::spawn(move || {
                    while state
                        .forward_record(&mut from, &mut to, to_victim)
                        .is_some()
                    {}
                    // If a side hangs up, the other can still read everything before that.
                    let _ = to.shutdown(Shutdown::Write);
                    if state.has_cut.load(Ordering::SeqCst) {
                        for socket in [&from, &to] {
                            let _ = socket.shutdown(Shutdown::Both);
                        }
                    }
                });
            }
        });
        Self { address, state }
    }

    /// No relay: the connection is counted elsewhere, or not at all.
    pub(super) fn unused() -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            state: Arc::default(),
        }
    }

    pub(super) fn address(&self) -> String {
        self.address.to_string()
    }

    /// Starts to count.
    pub(super) fn count(&self) {
        self.state.counting.store(true, Ordering::SeqCst);
    }

    /// Records that have passed since then: to the victim, and to the attacker.
    pub(super) fn records(&self) -> [usize; 2] {
        let [to_victim, to_attacker] = &self.state.records;
        [to_victim, to_attacker].map(|count| count.load(Ordering::SeqCst))
    }
}

impl State {
    /// Forwards one record; `None` if the connection has ended.
    fn forward_record(
        &self,
        from: &mut TcpStream,
        to: &mut TcpStream,
        to_victim: bool,
    ) -> Option<()> {
        let mut record = vec![0; 5];
        from.read_exact(&mut record).ok()?;
        let length = u16::from_be_bytes([record[3], record[4]]);
        record.resize(5 + usize::from(length), 0);
        from.read_exact(&mut record[5..]).ok()?;
        if self.counting.load(Ordering::SeqCst) {
            let count = &self.records[usize::from(!to_victim)];
            let before = count.fetch_add(1, Ordering::SeqCst);
            let cut = self.cut.filter(|cut| cut.to_victim == to_victim);
            if cut.is_some_and(|cut| before >= cut.records) {
                self.has_cut.store(true, Ordering::SeqCst);
                return None;
            }
        }
        to.write_all(&record).ok()
    }
}
