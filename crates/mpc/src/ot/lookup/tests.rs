//! The two shares of every cell add up to its cost.

use super::messages::column_bytes;
use super::*;
use crate::bits::bits_at;
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::label::Delta;
use crate::ot::ideal::ideal_pair;
use crate::ot::letters;
use crate::prg::Prg;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::sync::Arc;
use veilpath_channel::memory_pair;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn shares_add_up_to_the_cost(
        (alphabet, width, rows) in (1usize..30, 1usize..20, 1usize..140),
        seed in any::<u64>(),
    ) {
        let cost = |row: usize, letter: usize| {
            (seed ^ (row * 64 + letter) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - width)
        };
        let fill = |row: usize, costs: &mut [u64]| {
            for (letter, entry) in costs.iter_mut().enumerate() {
                *entry = cost(row, letter);
            }
        };
        let own_letters: Vec<usize> = (0..4).map(|i| i * 11 % alphabet).collect();

        let delta = Arc::new(Delta::random(&mut ChaCha20Rng::seed_from_u64(3)));
        let (mut sender, mut receiver) = ideal_pair(Arc::clone(&delta), seed);
        let (mut channel, _peer) = memory_pair();
        let sent = letters::send(alphabet, 4, 0, &delta, &mut sender, &mut channel).unwrap();
        let received = letters::receive(alphabet, &own_letters, 0, &mut receiver, &mut channel).unwrap();
        let mut table = StripTable::new(alphabet, width, rows, fill).unwrap();
        prop_assert_eq!(table.rows(), rows);
        let mut shares = Prg::new(Kernel::best(), Block::new(9));
        let position = PadPosition { comparison: 3, strip: 1 };
        let mut seen = std::collections::BTreeSet::new();
        for (column, letter) in own_letters.iter().enumerate() {
            let mut message = vec![0xaa; 5];
            let sender_share = write_column(Kernel::best(), &mut table, &sent, column, position, &mut shares, &mut message).unwrap();
            let message = &message[5..];
            prop_assert_eq!(message.len(), column_bytes(alphabet, rows, width));
            let got = read_column(Kernel::portable(), rows, width, &received, column, position, message).unwrap();
            for row in 0..rows {
                let sum = bits_at(&sender_share[..], row * width, width) ^ bits_at(&got[..], row * width, width);
                prop_assert_eq!(sum, cost(row, *letter));
            }
            seen.insert(message.to_vec());
            let other = PadPosition { comparison: 3, strip: 2 };
            let wrong = read_column(Kernel::best(), rows, width, &received, column, other, message).unwrap();
            prop_assert!(rows * width < 40 || wrong[0] != got[0], "pads of another strip differ");
        }
        prop_assert!(rows * width < 40 || seen.len() == 4);
    }
}

#[test]
fn wrong_shapes_are_refused() {
    let ones = |_: usize, costs: &mut [u64]| costs.fill(1);
    for (width, rows) in [(65, 1), (64, 2 * MAX_BLOCKS + 1)] {
        assert!(matches!(
            StripTable::new(1, width, rows, ones),
            Err(MpcError::Misuse(_))
        ));
    }
    let delta = Arc::new(Delta::random(&mut ChaCha20Rng::seed_from_u64(3)));
    let (_, mut receiver) = ideal_pair(delta, 1);
    let (mut channel, _peer) = memory_pair();
    let received = letters::receive(3, &[1], 0, &mut receiver, &mut channel).unwrap();
    let position = PadPosition {
        comparison: 0,
        strip: 0,
    };
    let refused = read_column(Kernel::best(), 8, 1, &received, 0, position, &[0; 4]);
    assert!(matches!(refused, Err(MpcError::Misuse(_))));
}
