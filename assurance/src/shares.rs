//! Secret sharing: base transfers, trees, look-ups of both kinds, gates, comparisons and outputs, for each kernel that valgrind
//! supports.

use crate::declassify::Declassifying;
use crate::secret_rng::SecretRng;
use crate::valgrind::mark_secret;
use std::thread;
use veilpath_channel::{Channel, memory_pair};
use veilpath_mpc::Kernel;
use veilpath_mpc::ot::correlated::TreeLevels;
use veilpath_mpc::shares::{
    Finish, LetterLists, MatrixInput, MatrixRecurrence, Outputs, Party, SharesSession,
};

const ALPHABET: usize = 7;
const ROWS: usize = 9;
const COLUMNS: usize = 5;

/// Sessions of two comparisons with each recurrence and each kind of output. Letters and all randomness are secret.
pub fn session(kernel: Kernel) {
    let local = MatrixRecurrence::Local {
        largest: 20,
        largest_entry: 10,
        gap: 3,
    };
    let difference = MatrixRecurrence::Difference {
        insertion_and_deletion: 30,
    };
    // With this many cells per letter, one-bit entries are looked up for several lines at a time: as many as a tree has levels.
    for (cell, outputs, cells, levels) in [
        (
            MatrixRecurrence::Unit,
            Outputs::Numbers,
            1,
            TreeLevels::FOUR,
        ),
        (
            MatrixRecurrence::Unit,
            Outputs::Numbers,
            1 << 20,
            TreeLevels::FOUR,
        ),
        (
            MatrixRecurrence::Unit,
            Outputs::Numbers,
            1 << 20,
            TreeLevels::EIGHT,
        ),
        (difference, Outputs::AtLeast, 1, TreeLevels::FOUR),
        (local, Outputs::Numbers, 1, TreeLevels::FOUR),
    ] {
        let (left, right) = memory_pair();
        thread::scope(|scope| {
            scope.spawn(move || {
                let channel = Declassifying(left);
                side(Party::Host, kernel, levels, (cell, outputs, cells), channel);
            });
            let channel = Declassifying(right);
            side(Party::Join, kernel, levels, (cell, outputs, cells), channel);
        });
    }
}

fn side(
    party: Party,
    kernel: Kernel,
    levels: TreeLevels,
    (cell, outputs, cells): (MatrixRecurrence, Outputs, u64),
    mut channel: impl Channel,
) {
    let mut rng = SecretRng::new(1 + party as u64);
    let mut session =
        SharesSession::start(party, levels, kernel, &mut rng, &mut channel).expect("a start");
    let (rows, columns) = ([ROWS; 2], [COLUMNS; 2]);
    let (own_lengths, their_lengths) = match party {
        Party::Host => (rows, columns),
        Party::Join => (columns, rows),
    };
    let own: Vec<usize> = (0..own_lengths.iter().sum())
        .map(|at| at * 5 % ALPHABET)
        .collect();
    mark_secret(&own);
    let lists = LetterLists {
        own: &own,
        own_lengths: &own_lengths,
        their_lengths: &their_lengths,
        cells,
        tree_owner: Party::Host,
    };
    let entry = |x: usize, y: usize| match cell {
        MatrixRecurrence::Unit => u64::from(x == y),
        _ => 10u64.saturating_sub(x.abs_diff(y) as u64),
    };
    let letters = session
        .letters(lists, ALPHABET, cell.entry_bits(), entry, &mut channel)
        .expect("letters");
    let comparisons = [0, 1].map(|at| MatrixInput {
        rows: at * ROWS..(at + 1) * ROWS,
        columns: at * COLUMNS..(at + 1) * COLUMNS,
        term: 0,
        at_least: 9,
    });
    let finish = Finish {
        subtract: false,
        doubled: false,
        term_bits: 0,
        outputs,
    };
    let halves = session
        .align(cell, &letters, &comparisons, finish, &mut channel, &|_| ())
        .expect("an alignment");
    assert_eq!(halves.len(), 2);
}
