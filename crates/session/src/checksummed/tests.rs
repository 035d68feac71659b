use super::*;
use proptest::prelude::*;
use veilpath_channel::memory_pair;

/// The packets of these messages, as they are sent.
fn packets_of(messages: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let mut checksummed = ChecksummedChannel::new(Script::default());
    for message in messages {
        checksummed.send(message).unwrap();
        checksummed.flush().unwrap();
        packets.push(std::mem::take(&mut checksummed.inner.bytes));
    }
    packets
}

/// Receives these bytes in chunks of the given lengths.
fn received(bytes: Vec<u8>, lengths: &[usize]) -> Result<Vec<u8>, ChannelError> {
    let mut checksummed = ChecksummedChannel::new(Script {
        bytes,
        ..Script::default()
    });
    let mut all = Vec::new();
    for &length in lengths {
        let mut piece = vec![0; length];
        checksummed.receive(&mut piece)?;
        all.extend(piece);
    }
    Ok(all)
}

/// Returns given bytes, and keeps what is sent.
#[derive(Default)]
struct Script {
    bytes: Vec<u8>,
    read: usize,
}

impl Channel for Script {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let end = self.read + buffer.len();
        let bytes = self.bytes.get(self.read..end).ok_or(ChannelError::Closed)?;
        buffer.copy_from_slice(bytes);
        self.read = end;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

#[test]
fn every_flipped_bit_is_detected() {
    let content: Vec<u8> = (0..200u8).map(|byte| byte.wrapping_mul(37)).collect();
    let packet = packets_of(&[&content]).concat();
    for bit in 0..8 * packet.len() {
        let mut flipped = packet.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(received(flipped, &[content.len()]).is_err(), "bit {bit}");
    }
    assert_eq!(received(packet, &[content.len()]), Ok(content));
}

#[test]
fn repeated_lost_and_swapped_packets_are_detected() {
    let packets = packets_of(&[b"same", b"same", b"same"]);
    let order = |order: &[usize]| {
        let bytes: Vec<Vec<u8>> = order.iter().map(|&at| packets[at].clone()).collect();
        received(bytes.concat(), &[4, 4, 4])
    };
    assert_eq!(order(&[0, 1, 2]), Ok(b"samesamesame".to_vec()));
    for wrong in [[0, 0, 1], [1, 0, 2], [0, 2, 1], [1, 2, 2], [0, 1, 1]] {
        assert_eq!(order(&wrong), Err(corrupted()), "{wrong:?}");
    }
    assert_eq!(order(&[0, 1]), Err(ChannelError::Closed));
}

#[test]
fn nothing_is_received_after_a_corrupted_packet() {
    let packets = packets_of(&[b"first", b"second"]);
    let mut bytes = packets[0].clone();
    bytes[HEADER] ^= 1;
    bytes.extend(&packets[1]);
    let mut checksummed = ChecksummedChannel::new(Script {
        bytes,
        ..Script::default()
    });
    assert_eq!(checksummed.receive(&mut [0; 5]), Err(corrupted()));
    assert_eq!(checksummed.receive(&mut [0; 6]), Err(corrupted()));
}

#[test]
fn lengths_are_checked_against_their_limits() {
    for length in [0, MAX_PACKET as u32 + 1, u32::MAX] {
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend([0; 8]);
        assert_eq!(received(bytes, &[1]), Err(corrupted()));
    }
}

#[test]
fn large_chunks_are_not_copied() {
    let (here, there) = memory_pair();
    let (mut here, mut there) = (
        ChecksummedChannel::new(here),
        ChecksummedChannel::new(there),
    );
    let sent: Vec<u8> = (0..3 * MAX_PACKET + 5).map(|at| (at % 253) as u8).collect();
    std::thread::scope(|scope| {
        let sent = &sent;
        scope.spawn(move || {
            here.send(&[1]).unwrap();
            here.send(sent).unwrap();
            here.flush().unwrap();
        });
        let mut received = vec![0; sent.len() + 1];
        there.receive(&mut received[..1]).unwrap();
        there.receive(&mut received[1..]).unwrap();
        assert_eq!(received[1..], sent[..]);
    });
}

proptest! {
    #[test]
    fn content_survives_any_chunking(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 0..20),
        piece in 1..5000usize,
    ) {
        let chunks: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let bytes = packets_of(&chunks).concat();
        let whole = messages.concat();
        let lengths: Vec<usize> = whole.chunks(piece).map(<[u8]>::len).collect();
        prop_assert_eq!(received(bytes, &lengths), Ok(whole));
    }

    #[test]
    fn changes_in_several_places_are_detected(
        content in prop::collection::vec(any::<u8>(), 1..400),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let packet = packets_of(&[&content]).concat();
        let mut changed = packet.clone();
        for (at, value) in changes {
            let at = at.index(changed.len());
            changed[at] = value;
        }
        prop_assert_eq!(changed == packet, received(changed, &[content.len()]).is_ok());
    }
}
