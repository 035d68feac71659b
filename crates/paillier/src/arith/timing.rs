use super::*;
use std::time::Instant;
#[test]
#[ignore]
fn timing() {
    for words in [16usize, 32] {
        let m: Vec<u64> = (0..words).map(|i| (0x9E3779B97F4A7C15u64).wrapping_mul(i as u64 * 2 + 1) | 1 | (1<<63)).collect();
        for kernel in Kernel::all_available() {
            let ring = Ring::new(&limbs::to_uint(&m), kernel).unwrap();
            let x: Vec<Residue> = (0..8).map(|k| { let mut a = m.clone(); a[words-1] >>= 1 + k; Residue::from_digits(a.clone(), a) }).collect();
            let es: Vec<Exponent> = (0..8).map(|k| Exponent::from_words(m.iter().map(|w| w.rotate_left(k)).collect(), words as u32 * 64)).collect();
            let pairs: Vec<_> = x.iter().zip(&es).collect();
            let t = Instant::now();
            let mut n = 0;
            while t.elapsed().as_secs_f64() < 1.0 { ring.pow(&pairs); n += 8; }
            let ct = t.elapsed().as_secs_f64() / n as f64;
            let bases: Vec<_> = x.iter().collect();
            let t = Instant::now();
            let mut n = 0;
            while t.elapsed().as_secs_f64() < 1.0 { ring.pow_public_vartime(&bases, &es[0]); n += 8; }
            let pb = t.elapsed().as_secs_f64() / n as f64;
            println!("{kernel:?} m={} bits exp={}: ct {:.3} ms, public {:.3} ms", words*64, words*64, ct*1e3, pb*1e3);
        }
        #[cfg(feature="gmp")]
        {
            let n = rug::Integer::from_digits(&m, rug::integer::Order::Lsf);
            let n2 = rug::Integer::from(&n * &n);
            let b = rug::Integer::from(&n2 / 3u32);
            let t = Instant::now();
            let mut c = 0;
            while t.elapsed().as_secs_f64() < 1.0 { let _ = rug::Integer::from(b.pow_mod_ref(&n, &n2).unwrap()); c += 1; }
            println!("gmp {:.3} ms", t.elapsed().as_secs_f64()/c as f64*1e3);
        }
    }
}
