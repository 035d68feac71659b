//! What a job tells while it runs.

/// One thing to tell the user. Events about a session hold nothing of a participant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// So much of the work is known now: bytes of files, or matrix cells.
    Total(u64),
    /// So much more of it is done.
    Advanced(u64),
}

/// Where events go. Jobs run on several threads, so a sink takes events from any of them.
pub trait EventSink: Sync {
    /// Takes one event; it should return soon.
    fn event(&self, event: Event);
}

/// A closure is a sink.
impl<F: Fn(Event) + Sync> EventSink for F {
    fn event(&self, event: Event) {
        self(event);
    }
}

/// Nobody listens.
impl EventSink for () {
    fn event(&self, _: Event) {}
}
