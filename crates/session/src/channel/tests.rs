use super::*;
use crate::acceptor::{Acceptor, Incoming};
use crate::connection::EARLY_BYTES;
use crate::{Fault, Identity, Listener, join};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use veilpath_protocol::ProtocolError;

fn timeouts(idle_timeout_ms: u64) -> Timeouts {
    Timeouts::new(
        Duration::from_millis(idle_timeout_ms),
        Duration::from_secs(5),
    )
}

/// Two ends on loopback, with this idle timeout.
fn pair(idle_timeout_ms: u64) -> (SecureChannel, SecureChannel) {
    let (a, b) = (
        Identity::ephemeral().unwrap(),
        Identity::ephemeral().unwrap(),
    );
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address().to_string();
    let timeouts = timeouts(idle_timeout_ms);
    std::thread::scope(|scope| {
        let host = scope.spawn(|| {
            listener
                .accept(&a, b.fingerprint(), &timeouts, &mut |error| {
                    panic!("{error}")
                })
                .unwrap()
        });
        let join = join(&address, &b, a.fingerprint(), &timeouts).unwrap();
        (host.join().unwrap(), join)
    })
}

/// Runs a host against a peer that writes raw bytes inside TLS.
fn with_raw_tls_peer(
    idle_timeout_ms: u64,
    peer: impl FnOnce(&mut dyn Write) + Send,
) -> (ChannelError, SessionError) {
    let (a, b) = (
        Identity::ephemeral().unwrap(),
        Identity::ephemeral().unwrap(),
    );
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let tls = crate::tls::client(&b, &PinnedKeys::new(a.fingerprint())).unwrap();
            let Connection::Client(mut tls) = tls else {
                panic!("a client was asked for");
            };
            let mut socket = TcpStream::connect(address).unwrap();
            tls.complete_io(&mut socket).unwrap();
            peer(&mut rustls::Stream::new(&mut tls, &mut socket));
        });
        let mut host = listener
            .accept(
                &a,
                b.fingerprint(),
                &timeouts(idle_timeout_ms),
                &mut |error| panic!("{error}"),
            )
            .unwrap();
        let error = host.receive(&mut [0; 100]).unwrap_err();
        let cause = host.connection().cause();
        let cause = cause.unwrap_or(SessionError::Protocol(ProtocolError::Channel(
            error.clone(),
        )));
        (error, cause)
    })
}

#[test]
fn bytes_arrive_in_order_in_both_directions() {
    let (mut host, mut join) = pair(5000);
    let sent: Vec<u8> = (0..3_000_000u32).map(|i| (i * 7 % 251) as u8).collect();
    std::thread::scope(|scope| {
        let bytes = &sent;
        scope.spawn(move || {
            for piece in bytes.chunks(77_777) {
                host.send(piece).unwrap();
            }
            host.flush().unwrap();
            let mut answer = vec![0; bytes.len()];
            host.receive(&mut answer).unwrap();
            assert_eq!(&answer, bytes);
        });
        // Both sides send megabytes before either receives.
        join.send(&sent).unwrap();
        join.flush().unwrap();
        let mut received = vec![0; sent.len()];
        for piece in received.chunks_mut(10_001) {
            join.receive(piece).unwrap();
        }
        assert_eq!(received, sent);
    });
}

#[test]
fn a_side_that_does_not_read_makes_the_other_wait() {
    let (mut host, mut join) = pair(5000);
    // More than the system buffers for a connection.
    let total = 64usize << 20;
    let sent = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let sent = &sent;
        scope.spawn(move || {
            let piece = vec![1; 1 << 20];
            for _ in 0..total >> 20 {
                host.send(&piece).unwrap();
                host.flush().unwrap();
                sent.fetch_add(1, Ordering::Relaxed);
            }
            // Closing waits for the other side.
            let _ = host.receive(&mut [0]);
        });
        std::thread::sleep(Duration::from_millis(500));
        let ahead = sent.load(Ordering::Relaxed);
        assert!(ahead < 60, "{ahead} MiB were buffered");
        let mut received = vec![0; total];
        join.receive(&mut received).unwrap();
        assert!(received.iter().all(|&byte| byte == 1));
        drop(join);
    });
}

#[test]
fn keep_alives_prevent_the_idle_timeout() {
    let (mut host, mut join) = pair(400);
    host.connection().set_stall(Duration::from_secs(10));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(1500));
            join.send(&[7]).unwrap();
            join.flush().unwrap();
            let _ = join.receive(&mut [0]);
        });
        let mut byte = [0];
        host.receive(&mut byte).unwrap();
        assert_eq!(byte, [7]);
        drop(host);
    });
}

#[test]
fn keep_alives_alone_are_a_stall_and_silence_is_an_idle_timeout() {
    let (mut host, join) = pair(400);
    host.connection().set_stall(Duration::from_millis(700));
    assert_eq!(host.receive(&mut [0]), Err(ChannelError::TimedOut));
    drop(join);
    let (error, _) = with_raw_tls_peer(400, |_| std::thread::sleep(Duration::from_millis(1200)));
    assert_eq!(error, ChannelError::TimedOut);
}

/// A host, and a peer with the right key that uses the raw socket after the handshake.
fn with_raw_socket_peer(
    idle_timeout_ms: u64,
    peer: impl FnOnce(rustls::ClientConnection, TcpStream) + Send,
    host: impl FnOnce(SecureChannel),
) {
    let (a, b) = (
        Identity::ephemeral().unwrap(),
        Identity::ephemeral().unwrap(),
    );
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let tls = crate::tls::client(&b, &PinnedKeys::new(a.fingerprint())).unwrap();
            let Connection::Client(mut tls) = tls else {
                panic!("a client was asked for");
            };
            let mut socket = TcpStream::connect(address).unwrap();
            tls.complete_io(&mut socket).unwrap();
            peer(tls, socket);
        });
        let accepted = listener.accept(
            &a,
            b.fingerprint(),
            &timeouts(idle_timeout_ms),
            &mut |error| panic!("{error}"),
        );
        host(accepted.unwrap());
    });
}

#[test]
fn garbage_after_close_notify_is_ignored() {
    let peer = |mut tls: rustls::ClientConnection, mut socket: TcpStream| {
        let read = rustls::Stream::new(&mut tls, &mut socket).read(&mut [0]);
        assert_eq!(read.unwrap(), 0, "close_notify");
        // A record that cannot be decrypted.
        socket.write_all(&[23, 3, 3, 0, 40]).unwrap();
        socket.write_all(&[7; 40]).unwrap();
    };
    with_raw_socket_peer(3000, peer, |mut host| {
        host.connection().close_notify().unwrap();
        assert_eq!(host.receive(&mut [0]), Err(ChannelError::Closed));
        host.connection().begin_close();
        for thread in host.threads.drain(..) {
            assert!(thread.join().is_ok(), "no thread may panic");
        }
    });
}

#[test]
fn an_incomplete_record_does_not_prevent_the_timeout() {
    let peer = |_, mut socket: TcpStream| {
        // A record of 16 KiB that arrives a byte at a time.
        let mut begun = socket.write_all(&[23, 3, 3, 64, 0]);
        for _ in 0..200 {
            if begun.is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
            begun = socket.write_all(&[7]);
        }
    };
    with_raw_socket_peer(300, peer, |mut host| {
        host.connection().set_stall(Duration::from_secs(60));
        let start = Instant::now();
        assert_eq!(host.receive(&mut [0]), Err(ChannelError::TimedOut));
        assert!(start.elapsed() < Duration::from_secs(5));
    });
}

#[test]
fn invalid_frames_are_misbehaviour_of_the_peer() {
    for bytes in [
        vec![0, 255, 255, 255, 255],
        vec![9, 1, 0, 0, 0, 7],
        vec![1, 1, 0, 0, 0, 7],
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
    ] {
        let (_, cause) = with_raw_tls_peer(3000, |tls| {
            tls.write_all(&bytes).unwrap();
            tls.flush().unwrap();
        });
        assert_eq!(cause.fault(), Fault::PeerMisbehaves, "{cause}");
    }
}

#[test]
fn an_early_end_is_reported_with_or_without_close_notify() {
    let (mut host, join) = pair(3000);
    drop(join);
    assert_eq!(host.receive(&mut [0]), Err(ChannelError::Closed));
    let (error, cause) =
        with_raw_tls_peer(3000, |tls| tls.write_all(&[0, 100, 0, 0, 0, 1]).unwrap());
    assert_eq!(error, ChannelError::Closed);
    assert_eq!(cause.fault(), Fault::Network);
}

#[test]
fn unauthenticated_connections_do_not_end_the_wait() {
    let (a, b) = (
        Identity::ephemeral().unwrap(),
        Identity::ephemeral().unwrap(),
    );
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address();
    let timeouts = timeouts(1000);
    let rejected = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // A busy machine drops connections without a report.
            while rejected.load(Ordering::Relaxed) == 0 {
                let mut garbage = TcpStream::connect(address).unwrap();
                garbage.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
                let _ = garbage.read_to_end(&mut Vec::new());
            }
            drop(TcpStream::connect(address).unwrap());
            let silent = TcpStream::connect(address).unwrap();
            let join = join(&address.to_string(), &b, a.fingerprint(), &timeouts);
            drop(silent);
            join.unwrap()
        });
        let host = listener.accept(&a, b.fingerprint(), &timeouts, &mut |_| {
            rejected.fetch_add(1, Ordering::Relaxed);
        });
        drop(host.unwrap());
    });
}

#[test]
fn an_absent_peer_is_reported_in_time() {
    let (a, b) = (
        Identity::ephemeral().unwrap(),
        Identity::ephemeral().unwrap(),
    );
    let short = Timeouts::new(Duration::from_secs(1), Duration::from_millis(300));
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let taken = listener.address().to_string();
    let error = Listener::bind(&taken).unwrap_err();
    assert!(error.to_string().contains("already"), "{error}");
    assert_eq!(error.fault(), Fault::Network);
    let error = listener
        .accept(&a, b.fingerprint(), &short, &mut |_| ())
        .unwrap_err();
    assert_eq!(error.fault(), Fault::Network);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let error = join(&address, &b, a.fingerprint(), &short).unwrap_err();
    assert_eq!(error.fault(), Fault::Network);
    let error = join("nonsense", &b, a.fingerprint(), &short).unwrap_err();
    assert_eq!(error.fault(), Fault::Usage);
}

/// A host with many peers queues little for a peer that has no session yet.
#[test]
fn a_peer_without_a_session_cannot_fill_the_queue() {
    const SENT: usize = 1 << 20;
    let (host, peer) = (
        Identity::ephemeral().unwrap(),
        Identity::ephemeral().unwrap(),
    );
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address().to_string();
    let timeouts = timeouts(20_000);
    let mut acceptor = Acceptor::new(listener, &host, &[peer.fingerprint()], &timeouts);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut channel = join(&address, &peer, host.fingerprint(), &timeouts).unwrap();
            channel.send(&vec![7; SENT]).unwrap();
            channel.flush().unwrap();
            // Until the other side has received everything.
            channel.receive(&mut [0]).unwrap();
        });
        let until = Instant::now() + Duration::from_secs(20);
        let Some(Incoming::Peer(_, mut channel)) = acceptor.next(until) else {
            panic!("the peer did not connect");
        };
        let connection = channel.connection();
        let waits_for = |bytes| {
            while connection.unread() < bytes {
                assert!(Instant::now() < until);
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        waits_for(EARLY_BYTES);
        std::thread::sleep(Duration::from_millis(200));
        // What arrived together is not split.
        assert!(connection.unread() < EARLY_BYTES + MAX_FRAME);
        connection.end_early_limit();
        waits_for(SENT);
        let mut received = vec![0; SENT];
        channel.receive(&mut received).unwrap();
        assert!(received.iter().all(|byte| *byte == 7));
        assert_eq!(connection.unread(), 0);
        channel.send(&[1]).unwrap();
        channel.flush().unwrap();
    });
}
