//! All integration tests of the sessions in one binary, so that everything is linked once.

mod broken_connections;
mod corrupted_messages;
mod delay;
mod group_answers;
mod loopback;
mod peer_server;
mod sessions;
