//! Substitution costs of the next host scanpath are requested ahead only while there is room for them.

use super::super::matrix_owner::{Limits, join_tapped};
use super::{LETTERS, Recorded, cohort, key, rng, short_key, spec};
use crate::{Job, PairRule, Role};
use std::sync::Arc;
use veilpath_channel::memory_pair;
use veilpath_metrics::{Metric, Scanpath};

const LENGTH: u32 = 6;
const SCANPATHS: u32 = 4;
const CELLS: u32 = LENGTH * LENGTH;

/// The rows and the candidate sets of each request, if the matrix owner stores at most this much: several scanpaths of the host
/// with one of the joining side.
fn requests(stored_bytes: u64) -> Vec<[u32; 2]> {
    let letters: Vec<u16> = (0..LENGTH as u16).collect();
    let (a, b) = (
        cohort(&vec![letters.clone(); SCANPATHS as usize]),
        cohort(&[letters]),
    );
    let (options, key) = (short_key(), key());
    let spec = spec(options, Metric::Levenshtein, &a, &b);
    let pairs = crate::pairs_of(PairRule::All, &a, &b);
    let own: Vec<&Scanpath> = a.entries.iter().map(|it| &it.scanpath).collect();
    let host = Job::new(&spec, Role::Host, &own, 1, &pairs).unwrap();
    let host = host.with_key(Arc::clone(&key.secret));
    let own = [&b.entries[0].scanpath];
    let join = Job::new(&spec, Role::Join, &own, SCANPATHS as usize, &pairs).unwrap();
    let limits = Limits {
        stored_bytes,
        ..Limits::default()
    };
    let (host_end, mut join_end) = memory_pair();
    let mut channel = Recorded {
        inner: host_end,
        sent: Vec::new(),
        received: Vec::new(),
    };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut rng = rng(8);
            let with = (&() as &dyn super::super::tap::Tap, limits);
            join_tapped(&join, options, &mut join_end, &(), &mut rng, with).unwrap();
        });
        super::super::host(&host, options, &mut channel, &()).unwrap();
    });
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    // Only headers have twelve bytes.
    let headers = channel.received.iter().filter(|bytes| bytes.len() == 12);
    headers
        .map(|bytes| [number(&bytes[..4]), number(&bytes[4..8])])
        .collect()
}

/// The most rows that were requested before the cells of all earlier scanpaths were.
fn most_rows_ahead(stored_bytes: u64) -> u32 {
    let (mut rows, mut cells, mut most) = (0, 0, 0);
    for [more_rows, more_cells] in requests(stored_bytes) {
        rows += more_rows;
        cells += more_cells;
        most = most.max(rows - rows.min((cells / CELLS + 1) * LENGTH));
    }
    assert_eq!([rows, cells], [SCANPATHS * LENGTH, SCANPATHS * CELLS]);
    most
}

#[test]
fn rows_are_requested_ahead_while_there_is_room() {
    let row = 12 * (128 + 128) + 96;
    assert_eq!(LETTERS, 12);
    let matrix = u64::from(2 * LENGTH) * (128 + 128 + 192);
    let one = u64::from(LENGTH) * row + matrix;
    // Without room for it, a comparison still runs, alone.
    assert_eq!(most_rows_ahead(0), 0);
    assert_eq!(most_rows_ahead(one), 0);
    assert_eq!(most_rows_ahead(one + 2 * row), 2);
    let all = most_rows_ahead(Limits::default().stored_bytes);
    assert_eq!(all, (SCANPATHS - 1) * LENGTH);
}
