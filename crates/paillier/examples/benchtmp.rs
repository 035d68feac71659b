use veilpath_paillier::*;
fn main() {
    let bits: Vec<u32> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let plan = bench::BenchPlan { sizes: bits.iter().map(|&b| KeySize::try_from(b).unwrap()).collect(), ..Default::default() };
    bench::run(&plan, |m| println!("{} {:?} {:?}: {:.1} us, {:.1} /s, gmp {:.1}/s x{:.2}", m.bits, m.kernel, m.operation, m.microseconds, m.operations_per_second, m.gmp_operations_per_second.unwrap_or(0.), m.times_gmp.unwrap_or(0.))).unwrap();
}
