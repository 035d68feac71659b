//! Every path of the kernel computes the same AES-128.

use super::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;

fn blocks(count: usize, rng: &mut ChaCha20Rng) -> Vec<Block> {
    let mut bytes = [0; 16];
    let mut one = || {
        rng.fill_bytes(&mut bytes);
        Block::from_bytes(bytes)
    };
    (0..count).map(|_| one()).collect()
}

#[test]
fn all_kernels_give_the_published_ciphertext() {
    // FIPS 197, appendix B.
    let key = Block::from_bytes([
        0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f,
        0x3c,
    ]);
    let plain = Block::from_bytes([
        0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d, 0x31, 0x31, 0x98, 0xa2, 0xe0, 0x37, 0x07,
        0x34,
    ]);
    let cipher = Block::from_bytes([
        0x39, 0x25, 0x84, 0x1d, 0x02, 0xdc, 0x09, 0xfb, 0xdc, 0x11, 0x85, 0x97, 0x19, 0x6a, 0x0b,
        0x32,
    ]);
    for kernel in Kernel::available() {
        let mut one = [plain];
        kernel.encrypt(&kernel.schedule(key), &mut one);
        assert_eq!(one, [cipher], "{}", kernel.name());
        let mut one = [plain];
        kernel.encrypt_rekeyed(&[key], &mut one);
        assert_eq!(one, [cipher], "{}", kernel.name());
    }
}

#[test]
fn all_kernels_agree_at_every_length() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for count in 0..70 {
        let (keys, plain) = (blocks(count, &mut rng), blocks(count, &mut rng));
        let key = Block::new(u128::from(rng.next_u64()));
        let portable = Kernel::portable();
        let (mut a, mut b) = (plain.clone(), plain.clone());
        portable.encrypt_rekeyed(&keys, &mut a);
        portable.encrypt(&portable.schedule(key), &mut b);
        for kernel in Kernel::available() {
            let (mut x, mut y) = (plain.clone(), plain.clone());
            kernel.encrypt_rekeyed(&keys, &mut x);
            assert!(x == a, "{} with {count} keys", kernel.name());
            kernel.encrypt(&kernel.schedule(key), &mut y);
            assert!(y == b, "{} with {count} blocks", kernel.name());
        }
    }
}

#[test]
fn all_kernels_garble_and_evaluate_equally() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for lanes in 0..=LANES {
        let values = blocks(2 * LANES + 2, &mut rng);
        let (a, rest) = values.split_first_chunk().unwrap();
        let (b, rest) = rest.split_first_chunk().unwrap();
        let gate = Gate { key: rest[0], a, b };
        let delta = Block::new(rest[1].value() | 1);
        let expected = Kernel::portable().garble(&gate, delta, lanes);
        let result = Kernel::portable().evaluate(&gate, &expected.tables, lanes);
        for kernel in Kernel::available() {
            let garbled = kernel.garble(&gate, delta, lanes);
            for lane in 0..lanes {
                assert_eq!(garbled.zero[lane], expected.zero[lane]);
                assert_eq!(
                    garbled.tables.garbler_half[lane],
                    expected.tables.garbler_half[lane]
                );
                assert_eq!(
                    garbled.tables.evaluator_half[lane],
                    expected.tables.evaluator_half[lane]
                );
            }
            let out = kernel.evaluate(&gate, &expected.tables, lanes);
            assert_eq!(out[..lanes], result[..lanes]);
        }
    }
}

#[test]
fn the_best_kernel_is_an_available_one() {
    assert_eq!(Kernel::available().last(), Some(&Kernel::best()));
    assert_eq!(Kernel::available().first(), Some(&Kernel::portable()));
}
