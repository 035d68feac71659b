//! Comparing two cohorts that are both on this machine.

use crate::progress::CellObserver;
use crate::{Error, EventSink, PlannedComparison};
use std::time::Instant;
use veilpath_protocol::{Cost, Engine, Outcome, compare_locally, count_pairs};
use veilpath_session::{HostKey, compare_on_loopback};

/// Runs a planned comparison.
///
/// The engine `plain` computes directly. Any other engine runs both roles, as between two institutions, over TLS within
/// this machine; `key` is the host's Paillier key, if it is not to be generated.
pub fn compare(
    planned: &PlannedComparison,
    key: Option<HostKey>,
    events: &dyn EventSink,
) -> Result<Outcome, Error> {
    let PlannedComparison { a, b, spec, .. } = planned;
    let cells = spec.cells(&count_pairs(spec.pairs, a, b));
    let observer = CellObserver::new(cells, events);
    let mut outcome = match spec.engine {
        Engine::Plain => {
            let start = Instant::now();
            let mut outcome = compare_locally(spec.clone(), a, b, &observer)?;
            // There is only one party: nothing is sent, and nothing is revealed to another.
            outcome.cost = Cost {
                seconds: start.elapsed().as_secs_f64(),
                cells: outcome.cost.cells,
                ..Cost::default()
            };
            outcome.revealed.clear();
            outcome
        }
        Engine::Paillier(_) | Engine::Garbled | Engine::Shares => {
            compare_on_loopback(spec, key, [a, b], [&observer, &()]).map_err(Error::Loopback)?
        }
    };
    // A copy without header lines is the same cohort.
    outcome.one_cohort = a.entries == b.entries;
    Ok(outcome)
}
