//! The coordinator of an institution whose workers compute tiles.

use crate::{Error, Event, EventSink};
use std::sync::atomic::AtomicBool;
use veilpath_session::{AgreedPlan, Coordinator, CoordinatorOptions, Identity, StateDir};

/// Serves this institution's workers on `address` until `stop` is set. Stores, counts and releases what they compute.
pub fn coordinate(
    address: &str,
    identity: &Identity,
    plan: AgreedPlan,
    state_dir: StateDir,
    options: CoordinatorOptions,
    stop: &AtomicBool,
    events: &dyn EventSink,
) -> Result<(), Error> {
    let mut coordinator = Coordinator::bind(address, identity, plan, state_dir, options)?;
    coordinator.run(stop, &mut |event| events.event(Event::Coordinator(event)));
    Ok(())
}
