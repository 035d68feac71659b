//! Bytes on their way from one socket to another.
//!
//! On Linux they stay in the kernel: `splice` moves pages from the socket to a pipe, and on to the other socket, which saves two copies.
//! Elsewhere, and where a sandbox forbids that, they go through a buffer.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// Bytes that are copied at a time.
const SIZE: usize = 256 << 10;

/// Open files of one buffer.
pub(super) const FILES: usize = if cfg!(target_os = "linux") { 2 } else { 0 };

/// Holds bytes between [`fill`](Self::fill) and [`send`](Self::send).
#[derive(Debug)]
pub(super) struct CopyBuffer {
    storage: Storage,
    /// Bytes that have not been sent.
    unsent: usize,
}

#[derive(Debug)]
enum Storage {
    #[cfg(target_os = "linux")]
    Pipe(io::PipeReader, io::PipeWriter),
    /// The bytes, and where the unsent ones start.
    Memory(Vec<u8>, usize),
}

impl CopyBuffer {
    pub(super) fn new() -> Self {
        #[cfg(target_os = "linux")]
        if let Ok((reader, writer)) = io::pipe() {
            // The system limits a user's memory in pipes. Beyond the limit the default size remains.
            let _ = rustix::pipe::fcntl_setpipe_size(&writer, SIZE);
            return Self {
                storage: Storage::Pipe(reader, writer),
                unsent: 0,
            };
        }
        Self::in_memory()
    }

    fn in_memory() -> Self {
        Self {
            storage: Storage::Memory(vec![0; SIZE], 0),
            unsent: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.unsent == 0
    }

    /// Takes what has arrived, into an empty buffer; 0 at the end.
    pub(super) fn fill(&mut self, mut from: &TcpStream) -> io::Result<usize> {
        let count = match &mut self.storage {
            #[cfg(target_os = "linux")]
            Storage::Pipe(_, writer) => match splice(from, writer, SIZE) {
                Err(error) if is_unavailable(&error) => {
                    *self = Self::in_memory();
                    return self.fill(from);
                }
                result => result?,
            },
            Storage::Memory(bytes, start) => {
                *start = 0;
                from.read(bytes)?
            }
        };
        self.unsent = count;
        Ok(count)
    }

    /// Sends unsent bytes, as many as the socket takes.
    pub(super) fn send(&mut self, mut to: &TcpStream) -> io::Result<usize> {
        let count = match &mut self.storage {
            #[cfg(target_os = "linux")]
            Storage::Pipe(reader, _) => splice(reader, to, self.unsent)?,
            Storage::Memory(bytes, start) => {
                let unsent = bytes.get(*start..*start + self.unsent).unwrap_or_default();
                let count = to.write(unsent)?;
                *start += count;
                count
            }
        };
        self.unsent = self.unsent.saturating_sub(count);
        Ok(count)
    }
}

/// Moves up to `count` bytes. The time limits of a socket apply.
#[cfg(target_os = "linux")]
fn splice(
    from: impl std::os::fd::AsFd,
    to: impl std::os::fd::AsFd,
    count: usize,
) -> io::Result<usize> {
    use rustix::pipe::SpliceFlags;
    Ok(rustix::pipe::splice(
        from,
        None,
        to,
        None,
        count,
        SpliceFlags::MOVE,
    )?)
}

/// Whether the system does not offer `splice` between sockets and pipes.
#[cfg(target_os = "linux")]
fn is_unavailable(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Shutdown, TcpListener};

    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    #[test]
    fn bytes_arrive_in_order_through_both_kinds_of_buffer() {
        for mut buffer in [CopyBuffer::new(), CopyBuffer::in_memory()] {
            let sent: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
            let (mut source, from) = connected();
            let (to, mut sink) = connected();
            let received = std::thread::scope(|scope| {
                scope.spawn(|| {
                    source.write_all(&sent).unwrap();
                    source.shutdown(Shutdown::Write).unwrap();
                });
                let received = scope.spawn(|| {
                    let mut all = Vec::new();
                    sink.read_to_end(&mut all).unwrap();
                    all
                });
                while buffer.fill(&from).unwrap() > 0 {
                    while !buffer.is_empty() {
                        buffer.send(&to).unwrap();
                    }
                }
                to.shutdown(Shutdown::Write).unwrap();
                received.join().unwrap()
            });
            assert!(received == sent);
        }
    }

    #[test]
    fn what_a_slow_receiver_does_not_take_stays_in_the_buffer() {
        use crate::connection::is_timeout;
        use std::time::Duration;
        for mut buffer in [CopyBuffer::new(), CopyBuffer::in_memory()] {
            let (mut source, from) = connected();
            let (to, mut sink) = connected();
            to.set_write_timeout(Some(Duration::from_millis(20)))
                .unwrap();
            let writer = std::thread::spawn(move || {
                let sent: Vec<u8> = (0..20_000_000_u32).map(|n| (n % 251) as u8).collect();
                source.write_all(&sent).unwrap();
                sent
            });
            let mut moved = 0;
            let stopped = loop {
                if buffer.is_empty() {
                    buffer.fill(&from).unwrap();
                }
                match buffer.send(&to) {
                    Ok(count) => moved += count,
                    Err(error) => break error,
                }
            };
            assert!(is_timeout(&stopped), "{stopped}");
            assert!(!buffer.is_empty());
            let receiver = std::thread::spawn(move || {
                let mut all = Vec::new();
                sink.read_to_end(&mut all).unwrap();
                all
            });
            while !buffer.is_empty() || buffer.fill(&from).unwrap() > 0 {
                match buffer.send(&to) {
                    Ok(count) => moved += count,
                    Err(error) => assert!(is_timeout(&error), "{error}"),
                }
            }
            drop(to);
            let sent = writer.join().unwrap();
            assert_eq!(moved, sent.len());
            assert!(receiver.join().unwrap() == sent);
        }
    }
}
