//! All integration tests of the command in one binary, so that everything is linked only once.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

mod architecture;
mod assurance;
mod bad_input;
mod bench_network;
mod bench_paper;
mod book;
#[path = "../../../../fuzz/src/checks.rs"]
#[allow(
    unreachable_pub,
    clippy::panic,
    reason = "the fuzz targets use this file as a library"
)]
mod checks;
mod common;
mod contract;
mod coordinator;
mod corpus;
mod docs;
mod encode_input;
mod environment_faults;
mod faults;
mod garbled;
mod group_answers;
mod help_examples;
mod limits;
mod load;
mod loopback;
mod memory;
#[path = "../../../../fuzz/src/metrics.rs"]
#[allow(
    unreachable_pub,
    clippy::cast_precision_loss,
    reason = "the fuzz targets use this file as a library"
)]
mod metrics;
mod output_places;
mod paillier;
mod policy_and_record;
mod quiet;
mod real_files;
mod reference_scores;
mod relay;
mod report;
mod report_browser;
mod reveal;
mod rounded_fixations;
#[path = "../../../../fuzz/src/scripts.rs"]
#[allow(
    unreachable_pub,
    clippy::panic,
    reason = "the fuzz targets use this file as a library"
)]
mod scripts;
mod session;
mod session_hostile;
mod session_kill;
mod several_peers;
mod stats;
mod stored_results;
#[path = "../../../../fuzz/src/targets.rs"]
#[allow(
    unreachable_pub,
    clippy::panic,
    reason = "the fuzz targets use this file as a library"
)]
mod targets;
mod tiles;
mod ui_browser;
mod unprintable_text;
mod wire;
