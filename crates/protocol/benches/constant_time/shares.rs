//! Pads, trees, look-ups, gates and comparisons in secret sharing, on every kernel of this processor, and hidden lengths in the
//! whole engine. A session is timed from one side, while the other side's input stays the same.

use crate::garbled::padding_or_letters;
use crate::probe::{Expected::ConstantTime, Experiment, time};
use crate::statistics::Class;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Requests, channel};
use std::thread;
use veilpath_channel::{MemoryChannel, memory_pair};
use veilpath_mpc::Kernel;
use veilpath_mpc::block::Block;
use veilpath_mpc::hash::TweakedHash;
use veilpath_mpc::label::Delta;
use veilpath_mpc::ot::correlated::TreeLevels;
use veilpath_mpc::ot::pads::{PadReceiver, PadSender};
use veilpath_mpc::shares::{
    Finish, LetterLists, MatrixInput, MatrixRecurrence, Outputs, Party, SharesSession,
};
use veilpath_protocol::Engine;

/// Pads that are timed together, and the bits of their choices.
const PADS: usize = 1024;
const CHOICE_BITS: usize = 3;
const ALPHABET: usize = 48;
/// The number of matrices in a session, and of their rows and columns.
const MATRICES: usize = 4;
const LENGTH: usize = 16;
/// Enough cells per letter that letters are looked up for several lines at a time, as many as a seed tree has levels, if entries
/// have one bit.
const MANY: u64 = 1 << 30;

pub(crate) fn all(experiment: &mut Experiment) {
    let difference = MatrixRecurrence::Difference {
        insertion_and_deletion: 448,
    };
    for kernel in Kernel::available() {
        let name = |what: &str| format!("shares {}: {what}", kernel.name());
        pads(experiment, kernel, &name);
        for (what, cell, cells, levels) in [
            ("unit costs", MatrixRecurrence::Unit, 0, TreeLevels::FOUR),
            (
                "unit costs, eight levels",
                MatrixRecurrence::Unit,
                0,
                TreeLevels::EIGHT,
            ),
            (
                "lines of four",
                MatrixRecurrence::Unit,
                MANY,
                TreeLevels::FOUR,
            ),
            (
                "lines of eight",
                MatrixRecurrence::Unit,
                MANY,
                TreeLevels::EIGHT,
            ),
            ("any costs", difference, 0, TreeLevels::FOUR),
        ] {
            let name = name(&format!("{what}, letters first or random"));
            let work = Work {
                cell,
                cells,
                levels,
            };
            session(experiment, kernel, &name, work);
        }
    }
    padding_or_letters(
        experiment,
        "shares engine: padding or letters",
        Engine::Shares,
    );
}

fn pads(experiment: &mut Experiment, kernel: Kernel, name: &dyn Fn(&str) -> String) {
    let hash = TweakedHash::new(kernel, Block::new(7));
    // Drawn and written in the same way for both classes.
    let blocks = |class: Class, rng: &mut ChaCha20Rng| -> Vec<Block> {
        let mask = [0, u128::MAX][class as usize];
        let block = |_| Block::new(rng.random::<u128>() & mask);
        (0..PADS * CHOICE_BITS).map(block).collect()
    };
    experiment.probe(
        &name("receiver's pads, blocks zero or random"),
        ConstantTime,
        &mut |class, rng| {
            let w = blocks(class, rng);
            let mut pads = PadReceiver::new(hash, 0);
            let mut chosen = vec![0; PADS];
            time(|| {
                pads.pads(CHOICE_BITS, &w, &mut chosen).unwrap();
                chosen
            })
        },
    );
    let delta = Arc::new(Delta::random(&mut ChaCha20Rng::seed_from_u64(5)));
    experiment.probe(
        &name("sender's pads, blocks zero or random"),
        ConstantTime,
        &mut |class, rng| {
            let v = blocks(class, rng);
            let mut pads = PadSender::new(hash, &delta, 0);
            let mut all = vec![0; PADS << CHOICE_BITS];
            time(|| {
                pads.pads(CHOICE_BITS, &v, &mut all).unwrap();
                all
            })
        },
    );
}

/// What a session computes.
#[derive(Clone, Copy)]
struct Work {
    cell: MatrixRecurrence,
    /// The number of cells that the sides announce.
    cells: u64,
    levels: TreeLevels,
}

/// Trees, look-ups, all steps and outputs of a few matrices, with only the first letter or with random letters.
fn session(experiment: &mut Experiment, kernel: Kernel, name: &str, work: Work) {
    let (left, right) = memory_pair();
    let (ask, requests) = channel();
    thread::scope(|scope| {
        scope.spawn(move || partner(kernel, work, right, &requests));
        let mut side = Side::start(Party::Host, kernel, work, left);
        experiment.probe(name, ConstantTime, &mut |class, rng| {
            let mask = [0, usize::MAX][class as usize];
            let letters = (0..MATRICES * LENGTH).map(|_| rng.random_range(0..ALPHABET) & mask);
            let letters: Vec<usize> = letters.collect();
            ask.send(()).unwrap();
            time(|| side.compare(&letters))
        });
        drop(ask);
    });
}

/// The other side, which answers until the channel is closed.
fn partner(kernel: Kernel, work: Work, channel: MemoryChannel, asked: &Requests<()>) {
    let mut side = Side::start(Party::Join, kernel, work, channel);
    let letters: Vec<usize> = (0..MATRICES * LENGTH)
        .map(|at| at * at % ALPHABET)
        .collect();
    while asked.recv().is_ok() {
        side.compare(&letters);
    }
}

struct Side {
    work: Work,
    session: SharesSession,
    channel: MemoryChannel,
}

impl Side {
    fn start(party: Party, kernel: Kernel, work: Work, mut channel: MemoryChannel) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(party as u64);
        let session = SharesSession::start(party, work.levels, kernel, &mut rng, &mut channel);
        Self {
            work,
            session: session.unwrap(),
            channel,
        }
    }

    fn compare(&mut self, own: &[usize]) -> Vec<u64> {
        let Work { cell, cells, .. } = self.work;
        let lengths = [LENGTH; MATRICES];
        let lists = LetterLists {
            own,
            own_lengths: &lengths,
            their_lengths: &lengths,
            cells,
            tree_owner: Party::Host,
        };
        let entry = |x: usize, y: usize| match cell {
            MatrixRecurrence::Unit => u64::from(x == y),
            _ => 448u64.saturating_sub(64 * x.abs_diff(y) as u64),
        };
        let Self {
            session, channel, ..
        } = self;
        let bits = cell.entry_bits();
        let letters = session.letters(lists, ALPHABET, bits, entry, channel);
        let comparisons: Vec<MatrixInput> = (0..MATRICES)
            .map(|at| MatrixInput {
                rows: at * LENGTH..(at + 1) * LENGTH,
                columns: at * LENGTH..(at + 1) * LENGTH,
                term: 0,
                at_least: 0,
            })
            .collect();
        let finish = Finish {
            subtract: false,
            doubled: false,
            term_bits: 0,
            outputs: Outputs::Numbers,
        };
        let letters = letters.unwrap();
        let halves = session.align(cell, &letters, &comparisons, finish, channel, &|_| ());
        halves.unwrap()
    }
}
