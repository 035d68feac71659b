//! How many connections from strangers are listened to.
//!
//! Until a connection has shown its key it is a stranger's. A handshake is the only work that is done for one, and it is
//! rationed before it begins: so many in a second from one address, so many from all. What is beyond is closed unheard, which
//! costs as much as opening it did and no more.
//!
//! Nobody is banned. The true peer may be behind the same address as a thousand strangers; its next attempt has the same chance
//! as any of theirs, and the joining side goes on trying. An address from which a peer has come before has a small ration
//! that no stranger elsewhere can use up.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

/// Handshakes from all addresses together.
const ALL: Rate = Rate::new(50, 100);

/// Handshakes from one address.
const ONE_ADDRESS: Rate = Rate::new(25, 50);

/// More handshakes for an address from which a peer has come.
const KNOWN_ADDRESS: Rate = Rate::new(2, 4);

/// Addresses that are told apart. Where there are more at once, the rest share one ration.
const MAX_ADDRESSES: usize = 1024;

/// Addresses of peers that are remembered.
const MAX_KNOWN_ADDRESSES: usize = 256;

/// So many in a second, and so many at once after a rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    interval: Duration,
    burst: Duration,
}

impl Rate {
    pub(crate) const fn new(per_second: u32, at_once: u32) -> Self {
        let interval = Duration::from_nanos(1_000_000_000 / per_second as u64);
        let burst = Duration::from_nanos(1_000_000_000 / per_second as u64 * (at_once - 1) as u64);
        Self { interval, burst }
    }
}

/// How much of a rate is used up: the moment at which all of it is there again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    rested: Instant,
}

impl Bucket {
    pub(crate) fn new(now: Instant) -> Self {
        Self { rested: now }
    }

    fn allows(&self, rate: Rate, now: Instant) -> bool {
        self.rested <= now + rate.burst
    }

    fn spend(&mut self, rate: Rate, now: Instant) {
        self.rested = self.rested.max(now) + rate.interval;
    }

    /// Takes one, where there is one.
    pub(crate) fn take(&mut self, rate: Rate, now: Instant) -> bool {
        let allowed = self.allows(rate, now);
        if allowed {
            self.spend(rate, now);
        }
        allowed
    }
}

/// An address, or as much of it as one owner has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin(IpAddr);

impl Origin {
    /// In IPv6 whoever has an address has 2⁶⁴ of them.
    pub(crate) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let prefix = u128::from(address) >> 64 << 64;
                Self(IpAddr::V6(Ipv6Addr::from(prefix)))
            }
            v4 @ IpAddr::V4(_) => Self(v4),
        }
    }
}

/// The rations of all addresses.
#[derive(Debug)]
pub(crate) struct Throttle {
    all: Bucket,
    rest: Bucket,
    origins: HashMap<Origin, Bucket>,
    known: HashMap<Origin, Bucket>,
}

impl Throttle {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            all: Bucket::new(now),
            rest: Bucket::new(now),
            origins: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// Whether a connection from there is listened to.
    pub(crate) fn admits(&mut self, from: Origin, now: Instant) -> bool {
        if self.origins.len() >= MAX_ADDRESSES && !self.origins.contains_key(&from) {
            self.origins.retain(|_, gauge| gauge.rested > now);
        }
        let room = self.origins.len() < MAX_ADDRESSES || self.origins.contains_key(&from);
        let own = match room {
            true => self.origins.entry(from).or_insert(Bucket::new(now)),
            false => &mut self.rest,
        };
        // An address that has used up its own must not use up the others'.
        if own.allows(ONE_ADDRESS, now) && self.all.take(ALL, now) {
            own.spend(ONE_ADDRESS, now);
            return true;
        }
        let known = self.known.get_mut(&from);
        known.is_some_and(|gauge| gauge.take(KNOWN_ADDRESS, now))
    }

    /// A peer has come from there.
    pub(crate) fn remember(&mut self, from: Origin, now: Instant) {
        if self.known.len() < MAX_KNOWN_ADDRESSES {
            self.known.entry(from).or_insert(Bucket::new(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(last: u32) -> Origin {
        Origin::of(IpAddr::V4(last.into()))
    }

    /// How many of `count` attempts are admitted that come evenly over this time.
    fn admitted(
        throttle: &mut Throttle,
        start: Instant,
        count: u32,
        over: Duration,
        from: impl Fn(u32) -> Origin,
    ) -> u32 {
        let at = |index: u32| start + over * index / count;
        (0..count)
            .filter(|&index| throttle.admits(from(index), at(index)))
            .count() as u32
    }

    #[test]
    fn one_address_gets_its_ration_and_leaves_the_others_theirs() {
        let start = Instant::now();
        let mut throttle = Throttle::new(start);
        let ten = Duration::from_secs(10);
        let flood = admitted(&mut throttle, start, 10_000, ten, |_| v4(1));
        assert!((290..=310).contains(&flood), "{flood}");
        let other = admitted(&mut throttle, start + ten, 10, ten / 1000, |_| v4(2));
        assert_eq!(other, 10);
        // A moment's rest gives back what a moment is worth.
        let end = start + ten;
        while throttle.admits(v4(1), end) {}
        let rested = (0..10).filter(|_| throttle.admits(v4(1), end + Duration::from_millis(200)));
        assert_eq!(rested.count(), 5);
    }

    #[test]
    fn many_addresses_get_no_more_than_all_may_and_known_ones_still_come_in() {
        let start = Instant::now();
        let mut throttle = Throttle::new(start);
        throttle.remember(v4(7), start);
        let ten = Duration::from_secs(10);
        let flood = admitted(&mut throttle, start, 50_000, ten, |index| v4(1000 + index));
        assert!((590..=610).contains(&flood), "{flood}");
        assert!(
            throttle.origins.len() <= MAX_ADDRESSES,
            "memory does not grow with the flood"
        );
        // Right after an attempt that was refused nothing is left for a newcomer.
        let end = start + ten;
        while throttle.admits(v4(5), end) {}
        assert!(!throttle.admits(v4(6), end));
        let known = (0..10).filter(|_| throttle.admits(v4(7), end)).count();
        assert_eq!(known, 4, "its small ration and no more");
    }

    #[test]
    fn an_owner_of_many_addresses_is_one_origin() {
        let of = |text: &str| Origin::of(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
