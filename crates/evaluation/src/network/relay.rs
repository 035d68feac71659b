//! A relay between the two sides that delays what it forwards and, if nothing else does, limits the rate.

use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// The delay and rate of each direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Conditions {
    /// Seconds between the arrival of a byte and its departure.
    pub(super) delay: f64,
    /// Bytes per second.
    pub(super) rate: Option<f64>,
}

/// The size of the largest piece that is forwarded at once.
const PIECE: usize = 64 << 10;

/// Pieces in flight in one direction: 32 MiB, enough for a delay of 10 ms at up to 3 GB/s.
const PIECES: usize = 512;

/// Forwards one connection to `upstream` until both directions have ended.
pub(super) fn serve(
    listener: &TcpListener,
    upstream: SocketAddr,
    conditions: Conditions,
) -> io::Result<()> {
    let (down, _) = listener.accept()?;
    let up = TcpStream::connect(upstream)?;
    for stream in [&down, &up] {
        stream.set_nodelay(true)?;
    }
    let forward = |from: &TcpStream, to: &TcpStream| -> io::Result<()> {
        let (from, to) = (from.try_clone()?, to.try_clone()?);
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(PIECES);
            scope.spawn(move || read(from, &sender, conditions));
            write(to, &receiver)
        })
    };
    std::thread::scope(|scope| {
        let responses = scope.spawn(|| forward(&up, &down));
        let requests = forward(&down, &up);
        requests.and(responses.join().unwrap_or(Ok(())))
    })
}

/// A piece, and when it leaves.
type DelayedChunk = (Instant, Vec<u8>);

fn read(mut from: TcpStream, to: &SyncSender<DelayedChunk>, conditions: Conditions) {
    let mut buffer = vec![0; PIECE];
    let mut free = Instant::now();
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let now = Instant::now();
        if let Some(rate) = conditions.rate {
            // The previous piece must be sent first.
            free = free.max(now) + Duration::from_secs_f64(count as f64 / rate);
        }
        let leaves = free.max(now) + Duration::from_secs_f64(conditions.delay);
        if to.send((leaves, buffer[..count].to_vec())).is_err() {
            return;
        }
    }
}

fn write(mut to: TcpStream, pieces: &Receiver<DelayedChunk>) -> io::Result<()> {
    for (leaves, piece) in pieces {
        std::thread::sleep(leaves.saturating_duration_since(Instant::now()));
        // A side that has everything it needs closes the connection first.
        if to.write_all(&piece).is_err() {
            break;
        }
    }
    match to.shutdown(Shutdown::Write) {
        Err(error) if error.kind() != io::ErrorKind::NotConnected => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may fail

    use super::*;

    /// Sends bytes through a relay to an echo, and returns how long it took.
    fn echo(bytes: usize, conditions: Conditions) -> Duration {
        let [relay, target] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let (address, upstream) = (relay.local_addr().unwrap(), target.local_addr().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(move || serve(&relay, upstream, conditions));
            scope.spawn(move || {
                let mut all = Vec::new();
                let mut stream = target.accept().unwrap().0;
                stream.read_to_end(&mut all).unwrap();
                stream.write_all(&all).unwrap();
            });
            let start = Instant::now();
            let mut stream = TcpStream::connect(address).unwrap();
            let sent: Vec<u8> = (0..bytes).map(|at| at as u8).collect();
            stream.write_all(&sent).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let mut received = Vec::new();
            stream.read_to_end(&mut received).unwrap();
            assert_eq!(received, sent);
            start.elapsed()
        })
    }

    #[test]
    fn the_relay_delays_and_limits() {
        let delay = 0.02;
        let late = echo(10, Conditions { delay, rate: None });
        assert!(late.as_secs_f64() >= 2.0 * delay, "{late:?}");
        let rate = Some(10e6);
        let slow = echo(500_000, Conditions { delay: 0.0, rate });
        assert!(slow.as_secs_f64() >= 0.1, "{slow:?}");
    }
}
