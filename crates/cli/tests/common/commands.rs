//! Commands that documents show outside of console blocks, or in them and too long to run there, each with the test that runs it. Above
//! each test stands what it does of them.
//!
//! `commands.rs` holds this table against the documents, in both directions, and looks up that each test asks for its commands here.
#![allow(dead_code)] // every test file uses a part of this

/// A test that runs commands of the documents.
pub(crate) struct Runner {
    /// In `crates/cli/tests`.
    pub(crate) file: &'static str,
    pub(crate) test: &'static str,
    /// As they stand in the documents, without comments.
    pub(crate) commands: &'static [&'static str],
}

pub(crate) const RUNNERS: [Runner; 12] = [
    // As they stand, but that words in capitals stand for files and names.
    Runner {
        file: "commands_run.rs",
        test: "calls_run_as_they_stand",
        commands: &[
            "veilpath --version",
            "veilpath encode --help",
            "veilpath encode FILE --summary json",
            "veilpath compare A B --metric NAME",
            "veilpath report RESULT -o report.html",
            "veilpath synth random --count 30 --length 100 --seed 1 -o a.csv",
            "veilpath compare a.csv b.csv --format json",
        ],
    },
    // With smaller numbers: a key of 512 bits, a hundredth of a second, one round, few hypotheses, scanpaths of three letters. `--gmp` is
    // there only in a build with that feature, and left out in others.
    Runner {
        file: "commands_run.rs",
        test: "measurements_run_with_smaller_numbers",
        commands: &[
            "veilpath bench paillier --key-bits 2048 --seconds 0.25",
            "veilpath bench cell --engine paillier --key-bits 2048 --seconds 25 --gmp",
            "veilpath bench cell --engine paillier --seconds 6 --key-bits 2048",
            "veilpath bench cell --engine garbled --seconds 6",
            "veilpath audit leakage --rounds 100 --many 5 --hypotheses 500",
        ],
    },
    // As they stand, killed once the folder is begun, and again after a measurement in a folder that has the first five, which take twenty
    // seconds each. `help_examples.rs` runs it to its end with --quick.
    Runner {
        file: "bench_paper.rs",
        test: "the_calls_of_the_book_measure_and_go_on",
        commands: &[
            "veilpath bench paper --budget 20 -o paper",
            "veilpath bench paper --budget 20 -o FOLDER",
            "veilpath bench paper -o FOLDER",
        ],
    },
    // As it stands, but for the address: a port of the system's choice on loopback.
    Runner {
        file: "several_peers.rs",
        test: "the_host_of_the_book_serves_its_partners",
        commands: &[
            "veilpath host --listen 0.0.0.0:7070 --peers partners.txt --sessions 4 --cohort clinic.csv -o results",
        ],
    },
    // As they stand, but for the port and the fingerprints.
    Runner {
        file: "help_examples.rs",
        test: "the_two_institutions_of_the_readme_compare",
        commands: &[
            "veilpath identity --identity clinic.pem",
            "veilpath identity --identity university.pem",
            "veilpath host --listen 127.0.0.1:7070 --identity clinic.pem --peer JOIN-FINGERPRINT --cohort everyone-a.csv -o host.csv",
            "veilpath join 127.0.0.1:7070 --identity university.pem --peer HOST-FINGERPRINT --cohort everyone-b.csv -o join.csv",
        ],
    },
    // As it stands, in a shell that then makes an identity.
    Runner {
        file: "commands_run.rs",
        test: "a_shell_keeps_a_sides_files_where_it_is_told",
        commands: &["export VEILPATH_HOME=$PWD/home"],
    },
    // As it stands, but for the place of the picture, with a profile of its own and without sandbox and graphics card, as all tests in a
    // browser; where Chromium is installed, and `.ci/run` sees to that.
    Runner {
        file: "report_browser.rs",
        test: "the_picture_of_the_report_is_taken_as_the_book_says",
        commands: &[
            "chromium --headless --hide-scrollbars --window-size=1200,1210 --screenshot=docs/images/report.png report.html",
        ],
    },
    // As it stands, but for the place of the pages, where mdBook is installed; `.ci/run` sees to that.
    Runner {
        file: "commands_run.rs",
        test: "the_book_is_built",
        commands: &["mdbook build docs"],
    },
    // As they stand, offline.
    Runner {
        file: "commands_run.rs",
        test: "trees_of_dependencies_are_as_the_book_says",
        commands: &[
            "cargo tree -p veilpath-cli -e normal,no-proc-macro --prefix none --format '{p}' --no-dedupe | sed 's/ (.*//' | sort -u | wc -l",
            "cargo tree -p veilpath-cli -e normal,build -i cc",
        ],
    },
    // Not run as they stand in the plain run, because a second build would take a minute; `long_commands.rs` does it. What they build is run by the suite: the
    // program by nearly all of it, and with `demo` here; the tests by `.ci/run` as this very command. That folder, package and program
    // are there is looked up.
    Runner {
        file: "commands_run.rs",
        test: "what_cargo_builds_is_there",
        commands: &[
            "cargo run --release --locked -- demo",
            "cargo install --path crates/cli --locked",
            "cargo test --workspace --locked",
        ],
    },
    // Not run in the plain run, because building and running take minutes; `long_commands.rs` does it. Packages, targets, variables, and tests or benches that match are looked up.
    Runner {
        file: "commands_run.rs",
        test: "tests_and_benches_that_cargo_is_asked_for_are_there",
        commands: &[
            "cargo test -p veilpath-cli --test assurance",
            "cargo test --release --locked -p veilpath-cli --test load -- --ignored --nocapture --test-threads 1",
            "cargo bench -p veilpath-protocol --bench constant_time -- ifma",
        ],
    },
    // With `--list`: the scripts print what they would run, and all of that is looked up as in the test above. `long_commands.rs` runs
    // them as they stand.
    Runner {
        file: "commands_run.rs",
        test: "scripts_run_what_is_there",
        commands: &[
            ".ci/faults",
            ".ci/faults 20261115",
            "fuzz/run 60",
            "assurance/run",
            "assurance/run secrets timing sanitizer miri dependencies",
            "assurance/run secrets",
            "assurance/run timing",
            "assurance/run sanitizer",
            "assurance/run miri",
            "assurance/run dependencies",
            "VEILPATH_ADVISORIES=1 assurance/run dependencies",
        ],
    },
];

/// The commands that this test has to run.
pub(crate) fn assigned(test: &str) -> &'static [&'static str] {
    RUNNERS
        .iter()
        .find(|runner| runner.test == test)
        .map_or(&[], |runner| runner.commands)
}
