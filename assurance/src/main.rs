//! Runs the product's code under valgrind with every secret marked as uninitialised memory. Memcheck then reports
//! each branch and each address that depends on a secret. Called without arguments, this program runs itself under
//! valgrind, one case after the other, compares the report with `accepted.txt`, and prints a table.

#![allow(
    clippy::expect_used,
    reason = "a check stops at the first thing that is not as expected"
)]

mod accepted;
mod blocks;
mod controls;
mod cots;
mod declassify;
mod driver;
mod engines;
mod findings;
mod garbled;
mod hardened;
mod paillier;
mod secret_rng;
mod shares;
mod statistics;
mod valgrind;

use paillier::Keys;
use std::process::ExitCode;
use veilpath_metrics::Metric;
use veilpath_mpc::Kernel;

#[global_allocator]
static ALLOCATOR: blocks::Recorder = blocks::Recorder;

/// A test case that runs with its secrets marked.
struct Case {
    name: String,
    /// Whether it leaks on purpose.
    leaks: bool,
    run: Box<dyn Fn()>,
}

fn cases() -> Vec<Case> {
    let case = |name: &str, run: fn()| Case {
        name: name.into(),
        leaks: false,
        run: Box::new(run),
    };
    let control = |name: &str, run: fn()| Case {
        leaks: true,
        ..case(name, run)
    };
    let mut cases = vec![
        control("control: a branch on a secret", controls::branch),
        control("control: an address from a secret", controls::address),
        case(
            "control: a constant-time look-up",
            controls::constant_time_lookup,
        ),
        case("paillier: decryption", || Keys::new().decrypt()),
        case("paillier: key holder's randomisers", || {
            Keys::new().key_holder_randomizers();
        }),
        case("paillier: key holder's tables", || {
            Keys::new().key_holder_table();
        }),
        case("paillier: other side's randomisers", || {
            Keys::new().other_side_randomizers();
        }),
        case("paillier: encryption", || Keys::new().encrypt()),
        case("paillier: secret exponents", || Keys::new().scalars()),
        case("paillier: division by a secret", || Keys::new().division()),
        case("paillier: packing", || Keys::new().packing()),
        case("engine paillier: both roles", || {
            engines::paillier(&Keys::new(), engines::by_index(), false);
        }),
        case("engine paillier: Levenshtein", || {
            engines::paillier(&Keys::new(), Metric::Levenshtein, false);
        }),
        case("hardened: matrix owner's masks", || {
            hardened::draw(&Keys::new())
        }),
        case("hardened: masked values", || {
            hardened::mask(&Keys::new());
        }),
        case("hardened: key holder's reply", || {
            hardened::reply(&Keys::new());
        }),
        case("hardened: unmasking", || {
            hardened::unmask(&Keys::new());
        }),
        case("engine paillier: hardened", || {
            engines::paillier(&Keys::new(), engines::by_index(), true);
        }),
        case("engine paillier: hardened, local", || {
            engines::paillier(&Keys::new(), engines::local(), true);
        }),
    ];
    // Only the kernels that valgrind supports: its emulated processor has no AVX-512.
    for kernel in Kernel::available() {
        cases.push(Case {
            name: format!("garbled: session, {} kernel", kernel.name()),
            leaks: false,
            run: Box::new(move || garbled::session(kernel)),
        });
        cases.push(Case {
            name: format!("shares: session, {} kernel", kernel.name()),
            leaks: false,
            run: Box::new(move || shares::session(kernel)),
        });
        cases.push(Case {
            name: format!("transfers: pads, {} kernel", kernel.name()),
            leaks: false,
            run: Box::new(move || cots::pads(kernel)),
        });
    }
    cases.extend([
        case("engine garbled: Levenshtein", || {
            engines::garbled(Metric::Levenshtein, None);
        }),
        case("engine garbled: costs by index", || {
            engines::garbled(engines::by_index(), None);
        }),
        case("engine garbled: lengths hidden", || {
            engines::garbled(engines::by_index(), Some(8));
        }),
        case("engine shares: Levenshtein", || {
            engines::shares(Metric::Levenshtein, None);
        }),
        case("engine shares: costs by index", || {
            engines::shares(engines::by_index(), None);
        }),
        case("engine shares: local", || {
            engines::shares(engines::local(), None);
        }),
        case("engine shares: lengths hidden", || {
            engines::shares(engines::by_index(), Some(8));
        }),
        case("engine garbled: dtw", || {
            engines::garbled(engines::dtw(), None);
        }),
        case("engine garbled: frechet", || {
            engines::garbled(engines::frechet(), None);
        }),
        case("engine garbled: hausdorff", || {
            engines::garbled(engines::hausdorff(), None);
        }),
        case("engine garbled: crqa", || {
            engines::garbled(engines::crqa(), None);
        }),
        case("engine garbled: scasim", || {
            engines::garbled(engines::scasim(), None);
        }),
        case("engine garbled: scasim, lengths hidden", || {
            engines::garbled(engines::scasim(), Some(8));
        }),
        case("engine shares: dtw", || {
            engines::shares(engines::dtw(), None);
        }),
        case("engine shares: frechet", || {
            engines::shares(engines::frechet(), None);
        }),
        case("engine shares: hausdorff", || {
            engines::shares(engines::hausdorff(), None);
        }),
        case("engine shares: crqa", || {
            engines::shares(engines::crqa(), None);
        }),
        case("engine shares: scasim", || {
            engines::shares(engines::scasim(), None);
        }),
        case("engine shares: scasim, lengths hidden", || {
            engines::shares(engines::scasim(), Some(8));
        }),
        case("statistics: means", || statistics::answer("mean")),
        case("statistics: means of groups", || {
            statistics::answer("groups");
        }),
        case("statistics: test of groups", || {
            statistics::answer("test:groups,5");
        }),
        case("statistics: test of sites", || {
            statistics::answer("test:sites,5");
        }),
        case("statistics: nearest", || statistics::answer("nearest:2")),
        case("statistics: rate", || statistics::answer("nearest:2,rate")),
        case("statistics: histogram", || {
            statistics::answer("histogram:3");
        }),
    ]);
    cases
}

fn main() -> ExitCode {
    match (std::env::args().nth(1).as_deref(), valgrind::is_running()) {
        (None, false) => driver::run(),
        // List the cases under valgrind, because its emulated processor has other kernels than this machine.
        (None, true) => {
            for case in cases() {
                println!("{}", case.name);
            }
            ExitCode::SUCCESS
        }
        (Some(name), true) => match cases().iter().find(|case| case.name == name) {
            Some(case) => {
                (case.run)();
                ExitCode::SUCCESS
            }
            None => ExitCode::FAILURE,
        },
        (Some(_), false) => {
            eprintln!("run a case under valgrind");
            ExitCode::FAILURE
        }
    }
}
