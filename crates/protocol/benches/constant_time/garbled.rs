//! Labels, choices and letters in garbled circuits, on every kernel of this processor, and hidden lengths in the whole engine.

use crate::probe::{Expected::ConstantTime, Experiment, time};
use crate::statistics::Class;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::array::from_fn;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use veilpath_channel::{Channel, ChannelError, memory_pair};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, Scanpath};
use veilpath_mpc::Kernel;
use veilpath_mpc::block::Block;
use veilpath_mpc::circuit::{Bundle, Circuit, LANES};
use veilpath_mpc::half_gates::{Evaluator, Garbler};
use veilpath_mpc::label::{ActiveLabel, Delta, ZeroLabel};
use veilpath_mpc::ot::correlated::{Receiver, Sender, TreeLevels};
use veilpath_mpc::ot::letters;
use veilpath_mpc::ot::lookup::messages::column_bytes;
use veilpath_mpc::ot::lookup::{PadPosition, read_column};
use veilpath_mpc::ot::{Bits, CorrelatedReceiver};
use veilpath_protocol::{Engine, PairRule, Spec, compare_locally};

/// AND gates that are timed together.
const GATES: usize = 64;
/// Transfers that are timed together.
const TRANSFERS: usize = 1024;
const ALPHABET: usize = 52;
/// The number of rows in a looked-up column, and the bits of each cost.
const ROWS: usize = 64;
const WIDTH: usize = 9;
/// Letters with keys.
const LETTERS: usize = 64;

pub(crate) fn all(experiment: &mut Experiment) {
    for kernel in Kernel::available() {
        let name = |what: &str| format!("garbled {}: {what}", kernel.name());
        gates(experiment, kernel, &name);
        transfers(experiment, kernel, &name);
    }
    padding_or_letters(
        experiment,
        "garbled engine: padding or letters",
        Engine::Garbled,
    );
}

fn gates(experiment: &mut Experiment, kernel: Kernel, name: &dyn Fn(&str) -> String) {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let delta = Arc::new(Delta::random(&mut rng));
    let start = Block::new(7);
    experiment.probe(
        &name("garbling, labels zero or random"),
        ConstantTime,
        &mut |class, rng| {
            let mut garbler = Garbler::new(Arc::clone(&delta), kernel, start);
            let random: [Bundle<ZeroLabel>; 2] = from_fn(|_| from_fn(|_| ZeroLabel::random(rng)));
            // Both arrays are computed, whichever is used.
            let labels = [[[ZeroLabel::default(); LANES]; 2], random][class as usize];
            time(|| {
                for _ in 0..GATES {
                    garbler.and(&labels[0], &labels[1]);
                }
                garbler
            })
        },
    );
    let mut garbler = Garbler::new(Arc::clone(&delta), kernel, start);
    let zeros: [Bundle<ZeroLabel>; 2] = from_fn(|_| from_fn(|_| ZeroLabel::random(&mut rng)));
    for _ in 0..GATES {
        garbler.and(&zeros[0], &zeros[1]);
    }
    experiment.probe(
        &name("evaluating, bits zero or random"),
        ConstantTime,
        &mut |class, rng| {
            let mut evaluator = Evaluator::new(kernel, start);
            evaluator.add_tables(garbler.tables());
            let labels: [Bundle<ActiveLabel>; 2] = from_fn(|wire| {
                from_fn(|lane| {
                    let bit = rng.random::<bool>() & (class == Class::Random);
                    zeros[wire][lane].of(bit, &delta)
                })
            });
            time(|| {
                for _ in 0..GATES {
                    evaluator.and(&labels[0], &labels[1]);
                }
                evaluator
            })
        },
    );
}

fn transfers(experiment: &mut Experiment, kernel: Kernel, name: &dyn Fn(&str) -> String) {
    let mut receiver = receiver(kernel);
    experiment.probe(
        &name("transfers, choices zero or random"),
        ConstantTime,
        &mut |class, rng| {
            let mut bits = Bits::with_capacity(TRANSFERS);
            for _ in 0..TRANSFERS / 64 {
                let word = rng.next_u64() & [0, u64::MAX][class as usize];
                bits.push_low_bits(word, 64);
            }
            time(|| receiver.receive(&bits, &mut NullChannel).unwrap())
        },
    );
    experiment.probe(
        &name("keys of letters, first or random"),
        ConstantTime,
        &mut |class, rng| {
            let own = some_letters(class, rng);
            time(|| letters::receive(ALPHABET, &own, 0, &mut receiver, &mut NullChannel).unwrap())
        },
    );
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    // The letters of both classes are adjacent in memory, so that both are cached equally well. Either class comes first in
    // one of the lists, because the time of a read can depend on how its address is aligned.
    let of_classes = [Class::Fixed, Class::Random].map(|class| some_letters(class, &mut rng));
    let mut list = |first: Class| {
        let pairs = of_classes[0].iter().zip(&of_classes[1]);
        let both: Vec<usize> = pairs
            .flat_map(|(&fixed, &random)| match first {
                Class::Fixed => [fixed, random],
                Class::Random => [random, fixed],
            })
            .collect();
        letters::receive(ALPHABET, &both, 0, &mut receiver, &mut NullChannel).unwrap()
    };
    let lists = [list(Class::Fixed), list(Class::Random)];
    let mut message = vec![0; column_bytes(ALPHABET, ROWS, WIDTH)];
    rng.fill_bytes(&mut message);
    experiment.probe(
        &name("look-up, letters first or random"),
        ConstantTime,
        &mut |class, rng| {
            let list = rng.random_range(0..2);
            let column = 2 * rng.random_range(0..LETTERS) + (class as usize ^ list);
            let own = &lists[list];
            let position = PadPosition {
                comparison: rng.random(),
                strip: 0,
            };
            time(|| read_column(kernel, ROWS, WIDTH, own, column, position, &message).unwrap())
        },
    );
}

/// Letters of a class, drawn and written in the same way for both classes.
fn some_letters(class: Class, rng: &mut ChaCha20Rng) -> Vec<usize> {
    let mask = [0, usize::MAX][class as usize];
    let letters = (0..LETTERS).map(|_| rng.random_range(0..ALPHABET) & mask);
    letters.collect()
}

/// A receiver after its base transfers.
fn receiver(kernel: Kernel) -> Receiver {
    let (mut left, mut right) = memory_pair();
    let (give, take) = channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let receiver = Receiver::start(TreeLevels::default(), kernel, &mut rng, &mut right);
            give.send(receiver.unwrap()).unwrap();
        });
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let delta = Arc::new(Delta::random(&mut rng));
        Sender::start(delta, TreeLevels::default(), kernel, &mut rng, &mut left).unwrap();
        take.recv().unwrap()
    })
}

/// A channel without another end: the receiver's part of transfers only sends.
struct NullChannel;

impl Channel for NullChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        std::hint::black_box(bytes);
        Ok(())
    }

    fn receive(&mut self, _: &mut [u8]) -> Result<(), ChannelError> {
        Err(ChannelError::Closed)
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

/// Both roles of the engine, with scanpaths of one letter or of the full padded length.
pub(crate) fn padding_or_letters(experiment: &mut Experiment, name: &str, engine: Engine) {
    const PADDING: u32 = 40;
    experiment.probe(name, ConstantTime, &mut |class, rng| {
        let cohort = |rng: &mut ChaCha20Rng| {
            let mut letters: Vec<u16> = (0..PADDING).map(|_| rng.random_range(0..12)).collect();
            if class == Class::Fixed {
                letters.truncate(1);
            }
            Cohort {
                alphabet: Alphabet::letters(12).unwrap(),
                encoding: Encoding::default(),
                screen: None,
                entries: vec![Entry {
                    participant: "p".into(),
                    group: None,
                    stimulus: None,
                    scanpath: Scanpath::new(letters),
                    fixations: None,
                }],
            }
        };
        let (a, b) = (cohort(rng), cohort(rng));
        let metric = Metric::Levenshtein;
        let mut spec = Spec::new(engine, metric, PairRule::All, &a, &b).unwrap();
        spec.pad_to = Some(PADDING);
        time(|| compare_locally(spec, &a, &b, &()).unwrap())
    });
}
