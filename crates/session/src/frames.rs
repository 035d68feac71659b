//! Frames inside the TLS stream: a kind, a length, and that many bytes.
//!
//! | kind | length | meaning |
//! |---|---|---|
//! | 0 | 1 to [`MAX_FRAME`] | data, little-endian length |
//! | 1 | 0 | keep-alive, which both sides send as long as the session lasts |
//!
//! A length is checked against its limit first, and data is passed on as it arrives: an announced length reserves no memory.
//!
//! The header has 5 bytes, the kind and a `u32`. A frame has no meaning of its own: the data of all frames in one direction is the
//! stream, and a message may begin and end anywhere. Keep-alives may come between any two frames, about every quarter of the smaller of
//! the two sides' idle timeouts.

use veilpath_channel::chunked_copy;

/// The largest data of one frame, in bytes.
pub const MAX_FRAME: usize = 256 << 10;

/// Bytes before the data.
pub const HEADER: usize = 5;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes of the session.
    Data,
    /// A keep-alive without data.
    KeepAlive,
}

/// An invalid frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Neither data nor a keep-alive.
    #[error("a frame of an unknown kind")]
    Kind,
    /// A length that a frame of its kind may not have.
    #[error("a frame with an invalid length")]
    Length,
}

/// The header of a frame.
pub fn header(kind: Kind, length: usize) -> Result<[u8; HEADER], FrameError> {
    let allowed = match kind {
        Kind::Data => 1..=MAX_FRAME,
        Kind::KeepAlive => 0..=0,
    };
    let checked = u32::try_from(length)
        .ok()
        .filter(|_| allowed.contains(&length));
    let [a, b, c, d] = checked.ok_or(FrameError::Length)?.to_le_bytes();
    Ok([u8::from(kind == Kind::KeepAlive), a, b, c, d])
}

/// Parses a stream that arrives in chunks of any size.
#[derive(Debug, Default)]
pub struct Parser {
    header: [u8; HEADER],
    have: usize,
    remaining: usize,
}

impl Parser {
    /// Appends the data in `input` to `data`. After an error the stream cannot be parsed further.
    pub fn feed(&mut self, mut input: &[u8], data: &mut Vec<u8>) -> Result<(), FrameError> {
        while !input.is_empty() {
            if self.remaining > 0 {
                let (now, later) = input.split_at(self.remaining.min(input.len()));
                chunked_copy::append(now, data);
                self.remaining -= now.len();
                input = later;
                continue;
            }
            let (now, later) = input.split_at((HEADER - self.have).min(input.len()));
            self.header[self.have..self.have + now.len()].copy_from_slice(now);
            self.have += now.len();
            input = later;
            if self.have == HEADER {
                self.have = 0;
                self.remaining = announced(self.header)?;
            }
        }
        Ok(())
    }
}

fn announced([kind, length @ ..]: [u8; HEADER]) -> Result<usize, FrameError> {
    let kind = match kind {
        0 => Kind::Data,
        1 => Kind::KeepAlive,
        _ => return Err(FrameError::Kind),
    };
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(|_| FrameError::Length)?;
    header(kind, length).map(|_| length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(data: &[u8]) -> Vec<u8> {
        let mut bytes = header(Kind::Data, data.len()).unwrap().to_vec();
        bytes.extend(data);
        bytes
    }

    #[test]
    fn lengths_are_checked_against_their_limits() {
        assert_eq!(header(Kind::Data, 0), Err(FrameError::Length));
        assert_eq!(header(Kind::Data, MAX_FRAME + 1), Err(FrameError::Length));
        assert_eq!(header(Kind::KeepAlive, 1), Err(FrameError::Length));
        let mut data = Vec::new();
        for (bytes, error) in [
            (vec![0, 255, 255, 255, 255], FrameError::Length),
            (vec![0, 1, 0, 4, 0], FrameError::Length),
            (vec![0, 0, 0, 0, 0], FrameError::Length),
            (vec![1, 1, 0, 0, 0], FrameError::Length),
            (vec![2, 1, 0, 0, 0], FrameError::Kind),
            (b"GET / HTTP/1.1".to_vec(), FrameError::Kind),
        ] {
            assert_eq!(Parser::default().feed(&bytes, &mut data), Err(error));
        }
        assert_eq!(data.capacity(), 0, "an announcement reserves nothing");
        Parser::default()
            .feed(&header(Kind::Data, MAX_FRAME).unwrap(), &mut data)
            .unwrap();
    }

    proptest! {
        #[test]
        fn data_survives_any_chunking(
            frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
            piece in 1..50usize,
        ) {
            let mut stream = Vec::new();
            for data in &frames {
                if data.is_empty() {
                    stream.extend(header(Kind::KeepAlive, 0).unwrap());
                } else {
                    stream.extend(frame(data));
                }
            }
            let (mut parser, mut data) = (Parser::default(), Vec::new());
            for piece in stream.chunks(piece) {
                parser.feed(piece, &mut data).unwrap();
            }
            prop_assert_eq!((parser.have, parser.remaining), (0, 0));
            prop_assert_eq!(data, frames.concat());
        }

        #[test]
        fn parsed_data_is_never_longer_than_the_input(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            let (mut parser, mut data) = (Parser::default(), Vec::new());
            let _ = parser.feed(&bytes, &mut data);
            prop_assert!(data.len() <= bytes.len());
        }
    }
}
