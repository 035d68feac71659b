#![allow(unsafe_code)]
use super::*;
use super::ifma::Ifma;
use super::kernel::BatchKernel;
use std::time::Instant;
use core::arch::x86_64::*;
#[target_feature(enable = "avx512f,avx512ifma")]
fn pure(n: usize) -> __m512i {
    let mut a = [_mm512_set1_epi64(1); 16];
    let x = core::hint::black_box(_mm512_set1_epi64(12345));
    for _ in 0..n { for k in 0..16 { a[k] = _mm512_madd52lo_epu64(a[k], x, x); } }
    let mut s = a[0];
    for k in 1..16 { s = _mm512_add_epi64(s, a[k]); }
    s
}
fn best(mut f: impl FnMut()) -> f64 {
    let mut b = f64::INFINITY;
    for _ in 0..400 { let t = Instant::now(); f(); b = b.min(t.elapsed().as_secs_f64()); }
    b
}
#[test]
#[ignore]
fn timing() {
    let p = best(|| { unsafe { core::hint::black_box(pure(10000)); } }) / 160000.0 * 1e9;
    println!("pure ifma {p:.4} ns");
    for words in [4usize, 8, 16, 24, 32, 48, 64] {
        let m: Vec<u64> = (0..words).map(|i| (0x9E3779B97F4A7C15u64).wrapping_mul(i as u64 * 2 + 1) | 1 | (1<<63)).collect();
        let k = Ifma::new(&m).unwrap();
        let h = ((words as f64 * 64.0 + 4.0)/52.0).ceil();
        let x: Vec<Residue> = (0..8).map(|k| { let mut a = m.clone(); a[words-1] >>= 1 + k; Residue::from_digits(a.clone(), a) }).collect();
        let xs: Vec<_> = x.iter().collect();
        let mut s = k.scratch();
        let mut a = k.load(&xs);
        let b = k.load(&xs);
        let mul = best(|| for _ in 0..10 { k.multiply(&mut a, &b, &mut s) }) / 10.0 * 1e9;
        let sqr = best(|| for _ in 0..10 { k.square(&mut a, &mut s) }) / 10.0 * 1e9;
        let table: Vec<_> = (0..32).map(|_| k.copy(&b)).collect();
        let sel = best(|| for _ in 0..10 { k.select(&table, &[1,2,3,4,5,6,7,31], &mut a) }) / 10.0 * 1e9;
        println!("H={h}: mul {mul:.0} ns eff {:.3}, sqr {sqr:.0} ns eff {:.3}, select32 {sel:.0}", 10.0*h*h*p/mul, 7.0*h*h*p/sqr);
        let kp = super::portable::Portable::new(&m).unwrap();
        let mut s = kp.scratch();
        let mut a = kp.load(&xs);
        let b = kp.load(&xs);
        let w = words as f64;
        let mul = best(|| for _ in 0..10 { kp.multiply(&mut a, &b, &mut s) }) / 10.0 * 1e9;
        let sqr = best(|| for _ in 0..10 { kp.square(&mut a, &mut s) }) / 10.0 * 1e9;
        println!("  portable mul {mul:.0} ns {:.2} cyc/mac, sqr {sqr:.0} {:.2}", mul/p/(5.0*w*w), sqr/p/(3.5*w*w));
    }
}
