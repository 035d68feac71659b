//! The tests of the sessions, in one program: each of their files would link everything again.

mod broken_connections;
mod corrupted_messages;
mod delay;
mod loopback;
mod peer_server;
mod sessions;
