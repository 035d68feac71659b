//! Connects institutions that can only dial out.

use crate::{Error, Event, EventSink};
use std::sync::atomic::AtomicBool;
use veilpath_session::{Relay, RelayOptions};

/// Serves as a relay on `address` until `stop` is set.
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
