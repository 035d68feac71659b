//! A proxy between two processes that injects one fault, at one byte.
#![allow(dead_code, clippy::unwrap_used)] // every test file uses a part of this; a test's helpers may fail the test

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A fault of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FaultKind {
    /// No fault.
    Nothing,
    /// Both directions end.
    Cut,
    /// One direction ends; the other continues.
    HalfClosed,
    /// One direction stays open, but delivers nothing more.
    Stalled,
    /// One direction pauses once.
    Delayed,
    /// Every chunk of both directions is delayed independently.
    Jitter,
    /// The next bytes arrive one by one.
    Trickle,
    /// One bit is flipped.
    BitFlipped,
    /// Some bytes arrive twice.
    Repeated,
    /// Some bytes overtake earlier ones.
    Swapped,
    /// Some bytes never arrive.
    Lost,
    /// Some bytes are inserted.
    Added,
}

impl FaultKind {
    pub(crate) const ALL: [FaultKind; 11] = [
        FaultKind::Cut,
        FaultKind::HalfClosed,
        FaultKind::Stalled,
        FaultKind::Delayed,
        FaultKind::Jitter,
        FaultKind::Trickle,
        FaultKind::BitFlipped,
        FaultKind::Repeated,
        FaultKind::Swapped,
        FaultKind::Lost,
        FaultKind::Added,
    ];

    /// Whether no byte is lost or changed, so that the comparison must finish.
    pub(crate) fn preserves_bytes(self) -> bool {
        matches!(
            self,
            FaultKind::Nothing | FaultKind::Delayed | FaultKind::Jitter | FaultKind::Trickle
        )
    }
}

/// A fault and where it occurs: in which direction, and after how many bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) to_host: bool,
    pub(crate) at: u64,
    pub(crate) seed: u64,
}

/// A proxy for one connection.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    forwarded: [Arc<AtomicU64>; 2],
}

impl Proxy {
    /// Starts a proxy to this host.
    pub(crate) fn start(host: &str, fault: Fault) -> Self {
        let host: SocketAddr = host.parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let forwarded = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
        let counts = forwarded.clone();
        std::thread::spawn(move || {
            let Ok((down, _)) = listener.accept() else {
                return;
            };
            let Ok(up) = TcpStream::connect(host) else {
                return;
            };
            for (direction, count) in counts.into_iter().enumerate() {
                let (from, to) = match direction {
                    0 => (&down, &up),
                    _ => (&up, &down),
                };
                from.set_nodelay(true).unwrap();
                let forwarder = Direction {
                    from: from.try_clone().unwrap(),
                    to: to.try_clone().unwrap(),
                    fault: ((direction == 0) == fault.to_host
                        || matches!(fault.kind, FaultKind::Jitter))
                    .then_some(fault),
                    forwarded: count,
                    rng: ChaCha20Rng::seed_from_u64(fault.seed ^ direction as u64),
                };
                std::thread::spawn(move || forwarder.run());
            }
        });
        Self { address, forwarded }
    }

    /// Bytes forwarded to the host, and from it.
    pub(crate) fn forwarded(&self) -> [u64; 2] {
        [0, 1].map(|direction: usize| self.forwarded[direction].load(Ordering::SeqCst))
    }
}

struct Direction {
    from: TcpStream,
    to: TcpStream,
    fault: Option<Fault>,
    forwarded: Arc<AtomicU64>,
    rng: ChaCha20Rng,
}

impl Direction {
    fn run(mut self) {
        let mut buffer = vec![0; 16 << 10];
        while let Ok(count @ 1..) = self.from.read(&mut buffer) {
            let before = self.forwarded.fetch_add(count as u64, Ordering::SeqCst);
            if self.forward(before, buffer[..count].to_vec()).is_none() {
                return;
            }
        }
        let _ = self.to.shutdown(Shutdown::Write);
    }

    fn forward(&mut self, before: u64, piece: Vec<u8>) -> Option<()> {
        let Some(fault) = self.fault else {
            return self.write(&piece);
        };
        if fault.kind == FaultKind::Jitter {
            self.sleep_up_to(20);
            return self.write(&piece);
        }
        let end = before + piece.len() as u64;
        if fault.kind == FaultKind::Nothing || fault.at < before || fault.at >= end {
            return self.write(&piece);
        }
        let (first, rest) = piece.split_at(usize::try_from(fault.at - before).unwrap());
        let mut rest = rest.to_vec();
        self.write(first)?;
        let some = self.rng.random_range(1..=rest.len());
        match fault.kind {
            FaultKind::Cut => {
                let _ = self.from.shutdown(Shutdown::Both);
                let _ = self.to.shutdown(Shutdown::Both);
                return None;
            }
            FaultKind::HalfClosed => {
                let _ = self.to.shutdown(Shutdown::Write);
                self.discard();
                return None;
            }
            FaultKind::Stalled => {
                self.discard();
                return None;
            }
            FaultKind::Delayed => self.sleep_up_to(400),
            FaultKind::Trickle => {
                for byte in rest.drain(..some.min(200)).collect::<Vec<_>>() {
                    self.write(&[byte])?;
                    self.sleep_up_to(2);
                }
            }
            FaultKind::BitFlipped => rest[0] ^= 1 << self.rng.random_range(0..8),
            FaultKind::Repeated => self.write(&rest.clone()[..some])?,
            FaultKind::Swapped => rest.rotate_left(some.max(1)),
            FaultKind::Lost => drop(rest.drain(..some)),
            FaultKind::Added => {
                let added: Vec<u8> = (0..some).map(|_| self.rng.random()).collect();
                self.write(&added)?;
            }
            FaultKind::Nothing | FaultKind::Jitter => (),
        }
        self.write(&rest)
    }

    fn write(&mut self, bytes: &[u8]) -> Option<()> {
        self.to.write_all(bytes).ok()
    }

    /// Reads until the end and forwards nothing.
    fn discard(&mut self) {
        let mut buffer = [0; 4096];
        while let Ok(1..) = self.from.read(&mut buffer) {}
    }

    fn sleep_up_to(&mut self, max_ms: u64) {
        let time = self.rng.random_range(0..=max_ms);
        std::thread::sleep(Duration::from_millis(time));
    }
}
