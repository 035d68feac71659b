//! Packets with a number and a checksum, on top of the encrypted connection.
//!
//! TLS keeps the network from changing anything. It cannot detect what happens to bytes before encryption and after decryption:
//! faulty memory, or a bug in a queue. A private computation would not detect it either: a
//! garbled table or a ciphertext with one flipped bit gives some number, and nobody can tell that it is wrong. So everything after
//! the versions is sent in packets:
//!
//! ```text
//! length (4 bytes) │ checksum (8 bytes) of the packet's number, length and content │ content
//! ```
//!
//! A packet that is corrupted, truncated, repeated, lost or out of order ends the session before its content is used. The
//! checksum is not keyed. It detects faults; it does not stop a malicious peer, which can send wrong content in valid packets.
//!
//! # Checksum
//! Let `step(s, w) = ((s rotated left by 29 bits) ⊕ w) · 0x9e3779b97f4a7c15` modulo 2⁶⁴. There are eight streams;
//! stream i, from 0, starts at `step(i + 1, number)`, where `number` counts the packets of one direction from 0. From
//! every complete block of 64 bytes, stream i absorbs word i: `stream = step(stream, word)`. The sum starts as the
//! length of the content. In the same way it absorbs the eight streams in order, then the remaining words of the
//! content, the last one padded with zeros. Words have 64 bits and are little-endian.

use veilpath_channel::{Channel, ChannelError, chunked_copy};

/// The largest content of one packet, and the most memory that an announced length reserves.
const MAX_PACKET: usize = 256 << 10;

/// Data of at least this length becomes a packet of its own, without a copy.
const MIN_DIRECT_BYTES: usize = 8 << 10;

/// Bytes before the content.
const HEADER: usize = 12;

/// A channel that sends its content in packets with checksums.
#[derive(Debug)]
pub struct ChecksummedChannel<C> {
    inner: C,
    sent: u64,
    received: u64,
    unsent: Vec<u8>,
    unread: Vec<u8>,
    read: usize,
    /// After a corrupted packet nothing that follows can be trusted.
    failed: bool,
    /// Everything that was sent, for tests.
    #[cfg(test)]
    pub(crate) record: Option<std::sync::Arc<std::sync::Mutex<Vec<u8>>>>,
    /// How a cheating side corrupts what it sends, for tests.
    #[cfg(test)]
    pub(crate) flips: Option<BitFlips>,
    /// Hangs up after this many more bytes, for tests.
    #[cfg(test)]
    pub(crate) left: Option<usize>,
}

/// Flips bits in some of the bytes that are sent. Positions count from when this is set.
#[cfg(test)]
#[derive(Clone, Debug)]
pub(crate) struct BitFlips {
    pub(crate) sent: usize,
    pub(crate) bytes: std::ops::Range<usize>,
    pub(crate) mask: u8,
}

#[cfg(test)]
impl BitFlips {
    fn apply(&mut self, bytes: &[u8]) -> Vec<u8> {
        let offsets = self.sent..;
        self.sent += bytes.len();
        let both = offsets.zip(bytes);
        both.map(|(offset, byte)| match self.bytes.contains(&offset) {
            true => byte ^ self.mask,
            false => *byte,
        })
        .collect()
    }
}

impl<C: Channel> ChecksummedChannel<C> {
    /// The channel without checksums, for what it can do beyond sending and receiving.
    pub fn inner_mut(&mut self) -> &mut C {
        &mut self.inner
    }

    /// Packets are counted from zero in both directions.
    pub fn new(inner: C) -> Self {
        Self {
            inner,
            sent: 0,
            received: 0,
            unsent: Vec::new(),
            unread: Vec::new(),
            read: 0,
            failed: false,
            #[cfg(test)]
            record: None,
            #[cfg(test)]
            flips: None,
            #[cfg(test)]
            left: None,
        }
    }

    fn send_buffered(&mut self) -> Result<(), ChannelError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        send_packet(&mut self.inner, &mut self.sent, &self.unsent)?;
        self.unsent.clear();
        Ok(())
    }

    /// The length and the checksum of the next packet.
    fn next_header(&mut self) -> Result<(usize, u64), ChannelError> {
        let mut header = [0; HEADER];
        self.inner.receive(&mut header)?;
        let [a, b, c, d, checksum @ ..] = header;
        let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        if !(1..=MAX_PACKET).contains(&length) {
            return Err(corrupted());
        }
        Ok((length, u64::from_le_bytes(checksum)))
    }

    fn receive_packets(&mut self, mut buffer: &mut [u8]) -> Result<(), ChannelError> {
        while !buffer.is_empty() {
            let unread = self.unread.get(self.read..).unwrap_or_default();
            if unread.is_empty() {
                let (length, expected) = self.next_header()?;
                let number = self.received;
                self.received += 1;
                let whole = length <= buffer.len();
                let content = if whole {
                    let (now, later) = buffer.split_at_mut(length);
                    buffer = later;
                    now
                } else {
                    self.read = 0;
                    self.unread.resize(length, 0);
                    &mut self.unread[..]
                };
                self.inner.receive(content)?;
                if checksum(number, content) != expected {
                    return Err(corrupted());
                }
                continue;
            }
            let count = unread.len().min(buffer.len());
            let (now, later) = buffer.split_at_mut(count);
            chunked_copy::copy(&unread[..count], now);
            self.read += count;
            buffer = later;
        }
        Ok(())
    }
}

impl<C: Channel> Channel for ChecksummedChannel<C> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        #[cfg(test)]
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(bytes.len()).ok_or(ChannelError::Closed)?;
        }
        #[cfg(test)]
        if let Some(record) = &self.record {
            let mut record = record.lock().unwrap_or_else(|error| error.into_inner());
            record.extend_from_slice(bytes);
        }
        #[cfg(test)]
        let flipped = self.flips.as_mut().map(|flips| flips.apply(bytes));
        #[cfg(test)]
        let bytes = flipped.as_deref().unwrap_or(bytes);
        if bytes.len() < MIN_DIRECT_BYTES {
            self.unsent.extend_from_slice(bytes);
            if self.unsent.len() >= MIN_DIRECT_BYTES {
                self.send_buffered()?;
            }
            return Ok(());
        }
        self.send_buffered()?;
        for content in bytes.chunks(MAX_PACKET) {
            send_packet(&mut self.inner, &mut self.sent, content)?;
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        if self.failed {
            return Err(corrupted());
        }
        let received = self.receive_packets(buffer);
        self.failed = received.is_err();
        received
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.send_buffered()?;
        self.inner.flush()
    }
}

fn send_packet(
    channel: &mut impl Channel,
    sent: &mut u64,
    content: &[u8],
) -> Result<(), ChannelError> {
    let length = u32::try_from(content.len()).map_err(|_| corrupted())?;
    let mut header = [0; HEADER];
    header[..4].copy_from_slice(&length.to_le_bytes());
    header[4..].copy_from_slice(&checksum(*sent, content).to_le_bytes());
    *sent += 1;
    channel.send(&header)?;
    channel.send(content)
}

fn corrupted() -> ChannelError {
    ChannelError::Failed("a packet arrived corrupted, truncated, repeated or out of order".into())
}

/// Odd, with about as many ones as zeros.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Independent sums, so that no multiplication waits for another.
const STREAMS: usize = 8;

/// The checksum of a packet. Each step is a bijection of the word and of the sum. So a change within any aligned eight
/// bytes of the content is always detected, and any other change is missed only with probability 2⁻⁶⁴.
fn checksum(number: u64, content: &[u8]) -> u64 {
    let mut streams = [0; STREAMS];
    for (start, stream) in (1..).zip(&mut streams) {
        *stream = step(start, number);
    }
    let (blocks, rest) = content.as_chunks::<{ 8 * STREAMS }>();
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (stream, word) in streams.iter_mut().zip(words) {
            *stream = step(*stream, u64::from_le_bytes(*word));
        }
    }
    let mut sum = streams.into_iter().fold(content.len() as u64, step);
    for word in rest.chunks(8) {
        let mut padded = [0; 8];
        padded[..word.len()].copy_from_slice(word);
        sum = step(sum, u64::from_le_bytes(padded));
    }
    sum
}

/// The rotation moves the highest bits, which influence a product least, to where they influence the next one.
fn step(sum: u64, word: u64) -> u64 {
    (sum.rotate_left(29) ^ word).wrapping_mul(MULTIPLIER)
}

#[cfg(test)]
mod tests;
