//! Correlated transfers in bulk and pads from them, for each kernel that valgrind supports.

use crate::declassify::Declassifying;
use crate::secret_rng::SecretRng;
use std::sync::Arc;
use std::thread;
use veilpath_channel::memory_pair;
use veilpath_mpc::Kernel;
use veilpath_mpc::block::Block;
use veilpath_mpc::hash::TweakedHash;
use veilpath_mpc::label::Delta;
use veilpath_mpc::ot::correlated::{Receiver, Sender, TreeLevels};
use veilpath_mpc::ot::pads::{MAX_CHOICE_BITS, PadReceiver, PadSender};
use veilpath_mpc::ot::{CotReceiver, CotSender};

const COUNT: usize = 180;

/// COTs with trees of both depths, and all kinds of pads. The offset and all randomness are secret, and so are the bits, blocks and pads.
pub fn pads(kernel: Kernel) {
    for tree_levels in [TreeLevels::FOUR, TreeLevels::EIGHT] {
        let (left, right) = memory_pair();
        let hash = TweakedHash::new(kernel, Block::new(7));
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut channel = Declassifying(left);
                let mut rng = SecretRng::new(1);
                let delta = Arc::new(Delta::random(&mut rng));
                let mut sender = Sender::start(delta, tree_levels, kernel, &mut rng, &mut channel)
                    .expect("a start");
                let mut v = vec![Block::ZERO; COUNT];
                sender.extend(&mut v, &mut channel).expect("COTs");
                let mut pads = PadSender::new(hash, sender.delta(), 0);
                for bits in 1..=MAX_CHOICE_BITS {
                    let mut all = vec![0; (COUNT / bits) << bits];
                    pads.pads(bits, &v, &mut all).expect("pads");
                }
                let (mut zeros, mut ones) = ([0; 3], [0; 3]);
                pads.bits(&v, &mut zeros, &mut ones).expect("bits");
            });
            let mut channel = Declassifying(right);
            let mut rng = SecretRng::new(2);
            let mut receiver =
                Receiver::start(tree_levels, kernel, &mut rng, &mut channel).expect("a start");
            let (mut u, mut w) = ([0; 3], vec![Block::ZERO; COUNT]);
            receiver.extend(&mut u, &mut w, &mut channel).expect("COTs");
            let mut pads = PadReceiver::new(hash, 0);
            for bits in 1..=MAX_CHOICE_BITS {
                let mut chosen = vec![0; COUNT / bits];
                pads.pads(bits, &w, &mut chosen).expect("pads");
            }
            pads.bits(&w, &mut u).expect("bits");
        });
    }
}
