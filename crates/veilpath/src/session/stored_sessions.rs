//! What the state folder stores about earlier sessions, as tables.

use std::io::{self, Write};
use veilpath_protocol::Role;
use veilpath_report::csv;
use veilpath_session::{KnownPeer, StoredComparison, date_and_time};

/// The number of characters of a comparison's id that are shown: enough to identify it.
pub(super) const SHORT_ID: usize = 12;

pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Host => "host",
        Role::Join => "join",
    }
}

/// Writes the peers of earlier sessions as CSV.
pub fn write_known_peers(peers: &[KnownPeer], out: &mut dyn Write) -> io::Result<()> {
    let rows = peers.iter().map(|peer| {
        [
            peer.fingerprint.to_string(),
            peer.scanpaths.to_string(),
            peer.max_comparisons.to_string(),
            peer.banned.map(|it| it.to_string()).unwrap_or_default(),
            peer.stopped_tiles.to_string(),
        ]
    });
    let columns = [
        "fingerprint",
        "scanpaths",
        "max_comparisons_per_scanpath",
        "banned",
        "stopped_tiles",
    ];
    csv::write_table(columns, rows, out)
}

/// Writes the comparisons of earlier sessions as CSV.
pub fn write_comparisons(comparisons: &[StoredComparison], out: &mut dyn Write) -> io::Result<()> {
    let rows = comparisons.iter().map(|it| {
        // A group answer is one answer for all pairs.
        let expected = match it.reveal.group_question() {
            None => it.pairs,
            Some(_) => 1,
        };
        let state = match it.answered {
            None => "running",
            Some(answered) if answered < expected => "incomplete",
            Some(_) => "complete",
        };
        [
            it.id.chars().take(SHORT_ID).collect(),
            it.started.map(date_and_time).unwrap_or_default(),
            it.peer.to_string(),
            role_name(it.role).to_string(),
            it.engine.to_string(),
            it.metric.to_string(),
            it.reveal.to_string(),
            it.answered.map(|it| it.to_string()).unwrap_or_default(),
            it.pairs.to_string(),
            state.to_string(),
        ]
    });
    let columns = [
        "id", "started", "peer", "role", "engine", "metric", "reveal", "results", "pairs", "state",
    ];
    csv::write_table(columns, rows, out)
}
