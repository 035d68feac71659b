//! A scripted peer, and an honest peer whose bytes are changed in transit.

use veilpath_channel::{Channel, ChannelError, MemoryChannel};

/// Bytes to change in transit: where and how.
pub(super) type Changes = Vec<(usize, u8)>;

/// Sends prepared bytes, and ignores what it receives.
pub(super) struct ScriptedChannel {
    bytes: Vec<u8>,
    position: usize,
}

impl ScriptedChannel {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, position: 0 }
    }
}

impl Channel for ScriptedChannel {
    fn send(&mut self, _: &[u8]) -> Result<(), ChannelError> {
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let end = self.position + buffer.len();
        let bytes = self
            .bytes
            .get(self.position..end)
            .ok_or(ChannelError::Closed)?;
        buffer.copy_from_slice(bytes);
        self.position = end;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

/// Changes some of the bytes that are sent.
pub(super) struct TamperingChannel {
    channel: MemoryChannel,
    sent: usize,
    changes: Changes,
}

impl TamperingChannel {
    pub(super) fn new(channel: MemoryChannel, changes: Changes) -> Self {
        Self {
            channel,
            sent: 0,
            changes,
        }
    }
}

impl Channel for TamperingChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        let mut bytes = bytes.to_vec();
        for (at, change) in &self.changes {
            let index = at.checked_sub(self.sent);
            if let Some(byte) = index.and_then(|index| bytes.get_mut(index)) {
                *byte ^= change;
            }
        }
        self.sent += bytes.len();
        self.channel.send(&bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.channel.receive(buffer)
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.channel.flush()
    }
}
