//! A proxy between two processes that spoils the line in one way, at one byte.
#![allow(dead_code, clippy::unwrap_used)] // every test file uses a part of this; a test's helpers may fail the test

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What happens to the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spoil {
    /// Nothing.
    Nothing,
    /// Both directions end.
    Cut,
    /// One direction ends; the other goes on.
    HalfClosed,
    /// One direction carries nothing any more, and does not end.
    Stalled,
    /// One direction waits for a moment.
    Delayed,
    /// Every piece of both directions waits for a time of its own, so that what was said last may be heard first.
    OutOfStep,
    /// The next bytes come one by one.
    Dripping,
    /// One bit is turned.
    BitTurned,
    /// Some bytes come twice.
    Repeated,
    /// Some bytes come before those that were sent before them.
    Swapped,
    /// Some bytes never come.
    Lost,
    /// Some bytes come that nobody sent.
    Added,
}

impl Spoil {
    pub(crate) const ALL: [Spoil; 11] = [
        Spoil::Cut,
        Spoil::HalfClosed,
        Spoil::Stalled,
        Spoil::Delayed,
        Spoil::OutOfStep,
        Spoil::Dripping,
        Spoil::BitTurned,
        Spoil::Repeated,
        Spoil::Swapped,
        Spoil::Lost,
        Spoil::Added,
    ];

    /// Whether nothing is lost: the comparison must come to its end.
    pub(crate) fn is_harmless(self) -> bool {
        matches!(
            self,
            Spoil::Nothing | Spoil::Delayed | Spoil::OutOfStep | Spoil::Dripping
        )
    }
}

/// What to spoil and where: towards the host or from it, and after how many bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) spoil: Spoil,
    pub(crate) to_host: bool,
    pub(crate) at: u64,
    pub(crate) seed: u64,
}

/// A proxy for one connection.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    carried: [Arc<AtomicU64>; 2],
}

impl Proxy {
    /// Stands in front of a host.
    pub(crate) fn before(host: &str, plan: Plan) -> Self {
        let host: SocketAddr = host.parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let carried = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
        let counts = carried.clone();
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
                let way = Way {
                    from: from.try_clone().unwrap(),
                    to: to.try_clone().unwrap(),
                    plan: ((direction == 0) == plan.to_host
                        || matches!(plan.spoil, Spoil::OutOfStep))
                    .then_some(plan),
                    carried: count,
                    numbers: ChaCha20Rng::seed_from_u64(plan.seed ^ direction as u64),
                };
                std::thread::spawn(move || way.carry());
            }
        });
        Self { address, carried }
    }

    /// Bytes that went towards the host, and from it.
    pub(crate) fn carried(&self) -> [u64; 2] {
        [0, 1].map(|direction: usize| self.carried[direction].load(Ordering::SeqCst))
    }
}

struct Way {
    from: TcpStream,
    to: TcpStream,
    plan: Option<Plan>,
    carried: Arc<AtomicU64>,
    numbers: ChaCha20Rng,
}

impl Way {
    fn carry(mut self) {
        let mut buffer = vec![0; 16 << 10];
        while let Ok(count @ 1..) = self.from.read(&mut buffer) {
            let before = self.carried.fetch_add(count as u64, Ordering::SeqCst);
            if self.hand_on(before, buffer[..count].to_vec()).is_none() {
                return;
            }
        }
        let _ = self.to.shutdown(Shutdown::Write);
    }

    fn hand_on(&mut self, before: u64, piece: Vec<u8>) -> Option<()> {
        let Some(plan) = self.plan else {
            return self.write(&piece);
        };
        if plan.spoil == Spoil::OutOfStep {
            self.nap(20);
            return self.write(&piece);
        }
        let end = before + piece.len() as u64;
        if plan.spoil == Spoil::Nothing || plan.at < before || plan.at >= end {
            return self.write(&piece);
        }
        let (first, rest) = piece.split_at(usize::try_from(plan.at - before).unwrap());
        let mut rest = rest.to_vec();
        self.write(first)?;
        let some = self.numbers.random_range(1..=rest.len());
        match plan.spoil {
            Spoil::Cut => {
                let _ = self.from.shutdown(Shutdown::Both);
                let _ = self.to.shutdown(Shutdown::Both);
                return None;
            }
            Spoil::HalfClosed => {
                let _ = self.to.shutdown(Shutdown::Write);
                self.swallow();
                return None;
            }
            Spoil::Stalled => {
                self.swallow();
                return None;
            }
            Spoil::Delayed => self.nap(400),
            Spoil::Dripping => {
                for byte in rest.drain(..some.min(200)).collect::<Vec<_>>() {
                    self.write(&[byte])?;
                    self.nap(2);
                }
            }
            Spoil::BitTurned => rest[0] ^= 1 << self.numbers.random_range(0..8),
            Spoil::Repeated => self.write(&rest.clone()[..some])?,
            Spoil::Swapped => rest.rotate_left(some.max(1)),
            Spoil::Lost => drop(rest.drain(..some)),
            Spoil::Added => {
                let added: Vec<u8> = (0..some).map(|_| self.numbers.random()).collect();
                self.write(&added)?;
            }
            Spoil::Nothing | Spoil::OutOfStep => (),
        }
        self.write(&rest)
    }

    fn write(&mut self, bytes: &[u8]) -> Option<()> {
        self.to.write_all(bytes).ok()
    }

    /// Takes in all that comes until the end, and gives nothing of it on.
    fn swallow(&mut self) {
        let mut buffer = [0; 4096];
        while let Ok(1..) = self.from.read(&mut buffer) {}
    }

    fn nap(&mut self, most_ms: u64) {
        let time = self.numbers.random_range(0..=most_ms);
        std::thread::sleep(Duration::from_millis(time));
    }
}
