//! The commands, one module each.

pub(crate) mod audit;
pub(crate) mod bench;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod coordinator;
pub(crate) mod demo;
pub(crate) mod encode;
pub(crate) mod gateway;
pub(crate) mod host;
pub(crate) mod identity;
pub(crate) mod join;
pub(crate) mod keygen;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod peers;
pub(crate) mod policy;
pub(crate) mod record;
pub(crate) mod relay;
pub(crate) mod report;
pub(crate) mod results;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod split;
pub(crate) mod stats;
pub(crate) mod synth;
pub(crate) mod ui;
pub(crate) mod worker;
pub(crate) mod worker_key;

/// Keeps the memory of this process, which holds keys and letters, out of core dumps.
fn disable_core_dumps() {
    if let Err(error) = veilpath::disable_core_dumps() {
        crate::messages::note(&format!("core dumps cannot be disabled: {error}"));
    }
}
