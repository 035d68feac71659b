//! Connects institutions that can only dial out, and the workers of two clusters.

use crate::{Error, Event, EventSink};
use std::sync::atomic::AtomicBool;
use veilpath_session::{AgreedPlan, Relay, RelayOptions};

/// Runs a relay on `address` until `stop` is set.
pub fn relay(
    address: &str,
    options: &RelayOptions,
    stop: &AtomicBool,
    events: &dyn EventSink,
) -> Result<(), Error> {
    let mut relay = Relay::bind(address, options)?;
    relay.run(stop, &mut |event| events.event(Event::Relay(event)));
    Ok(())
}

/// Runs the gateway of an agreement on `address` until `stop` is set. It connects workers that have the same tile.
pub fn gateway(
    address: &str,
    plan: &AgreedPlan,
    options: &RelayOptions,
    stop: &AtomicBool,
    events: &dyn EventSink,
) -> Result<(), Error> {
    let mut gateway = Relay::gateway(address, plan, options)?;
    gateway.run(stop, &mut |event| events.event(Event::Relay(event)));
    Ok(())
}
