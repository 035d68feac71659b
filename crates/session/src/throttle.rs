//! Limits the handshakes with unauthenticated connections.
//!
//! A handshake is the only work that is done for an unauthenticated connection, and its rate is limited before it
//! starts: for each address, and for all together. Excess connections are dropped, which costs no more than accepting
//! them.
//!
//! Nobody is banned. The peer may share its address with a thousand unauthenticated connections; its next attempt has the same
//! chance as any of theirs, and the joining side keeps trying. An address from which a peer has authenticated gets a small
//! reserve that no other address can use up.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

/// Handshakes with all addresses together.
const TOTAL_RATE: Rate = Rate::new(50, 100);

/// Handshakes with one address.
const ADDRESS_RATE: Rate = Rate::new(25, 50);

/// The reserve of an address from which a peer has authenticated.
const KNOWN_ADDRESS_RATE: Rate = Rate::new(2, 4);

/// Addresses with their own bucket. If there are more at once, the others share one.
const MAX_ADDRESSES: usize = 1024;

/// Addresses of peers with a reserve.
const MAX_KNOWN_ADDRESSES: usize = 256;

/// Handshakes per second, and in a burst.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    interval: Duration,
    burst: Duration,
}

impl Rate {
    pub(crate) const fn new(per_second: u32, burst_size: u32) -> Self {
        let interval = Duration::from_nanos(1_000_000_000 / per_second as u64);
        let burst =
            Duration::from_nanos(1_000_000_000 / per_second as u64 * (burst_size - 1) as u64);
        Self { interval, burst }
    }
}

/// A token bucket, kept as the time at which it is full again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    full_at: Instant,
}

impl Bucket {
    pub(crate) fn new(now: Instant) -> Self {
        Self { full_at: now }
    }

    fn allows(&self, rate: Rate, now: Instant) -> bool {
        self.full_at <= now + rate.burst
    }

    fn consume(&mut self, rate: Rate, now: Instant) {
        self.full_at = self.full_at.max(now) + rate.interval;
    }

    /// Takes a token, if there is one.
    pub(crate) fn take(&mut self, rate: Rate, now: Instant) -> bool {
        let allowed = self.allows(rate, now);
        if allowed {
            self.consume(rate, now);
        }
        allowed
    }
}

/// An IPv4 address, or an IPv6 prefix of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin(IpAddr);

impl Origin {
    /// The owner of an IPv6 address usually has 2⁶⁴ of them.
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

/// The buckets of all addresses.
#[derive(Debug)]
pub(crate) struct Throttle {
    all: Bucket,
    shared: Bucket,
    addresses: HashMap<Origin, Bucket>,
    known_addresses: HashMap<Origin, Bucket>,
}

impl Throttle {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            all: Bucket::new(now),
            shared: Bucket::new(now),
            addresses: HashMap::new(),
            known_addresses: HashMap::new(),
        }
    }

    /// Whether a handshake with this address may start.
    pub(crate) fn admit(&mut self, from: Origin, now: Instant) -> bool {
        if self.addresses.len() >= MAX_ADDRESSES && !self.addresses.contains_key(&from) {
            self.addresses.retain(|_, bucket| bucket.full_at > now);
        }
        let room = self.addresses.len() < MAX_ADDRESSES || self.addresses.contains_key(&from);
        let own = match room {
            true => self.addresses.entry(from).or_insert(Bucket::new(now)),
            false => &mut self.shared,
        };
        // An address that has used up its own bucket must not use up the others'.
        if own.allows(ADDRESS_RATE, now) && self.all.take(TOTAL_RATE, now) {
            own.consume(ADDRESS_RATE, now);
            return true;
        }
        let bucket = self.known_addresses.get_mut(&from);
        bucket.is_some_and(|bucket| bucket.take(KNOWN_ADDRESS_RATE, now))
    }

    /// A peer has authenticated from this address.
    pub(crate) fn remember(&mut self, from: Origin, now: Instant) {
        if self.known_addresses.len() < MAX_KNOWN_ADDRESSES {
            self.known_addresses.entry(from).or_insert(Bucket::new(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(last: u32) -> Origin {
        Origin::of(IpAddr::V4(last.into()))
    }

    /// How many of `count` attempts, evenly spread over this time, are admitted.
    fn admitted(
        throttle: &mut Throttle,
        start: Instant,
        count: u32,
        over: Duration,
        from: impl Fn(u32) -> Origin,
    ) -> u32 {
        let at = |index: u32| start + over * index / count;
        (0..count)
            .filter(|&index| throttle.admit(from(index), at(index)))
            .count() as u32
    }

    #[test]
    fn one_address_cannot_use_up_the_others_share() {
        let start = Instant::now();
        let mut throttle = Throttle::new(start);
        let ten = Duration::from_secs(10);
        let flood = admitted(&mut throttle, start, 10_000, ten, |_| v4(1));
        assert!((290..=310).contains(&flood), "{flood}");
        let other = admitted(&mut throttle, start + ten, 10, ten / 1000, |_| v4(2));
        assert_eq!(other, 10);
        // A short pause refills its bucket in part.
        let end = start + ten;
        while throttle.admit(v4(1), end) {}
        let full_at = (0..10).filter(|_| throttle.admit(v4(1), end + Duration::from_millis(200)));
        assert_eq!(full_at.count(), 5);
    }

    #[test]
    fn many_addresses_share_one_limit_and_known_ones_keep_a_reserve() {
        let start = Instant::now();
        let mut throttle = Throttle::new(start);
        throttle.remember(v4(7), start);
        let ten = Duration::from_secs(10);
        let flood = admitted(&mut throttle, start, 50_000, ten, |index| v4(1000 + index));
        assert!((590..=610).contains(&flood), "{flood}");
        assert!(
            throttle.addresses.len() <= MAX_ADDRESSES,
            "memory does not grow with the flood"
        );
        // Right after a rejected attempt nothing is left for a new address.
        let end = start + ten;
        while throttle.admit(v4(5), end) {}
        assert!(!throttle.admit(v4(6), end));
        let admitted = (0..10).filter(|_| throttle.admit(v4(7), end)).count();
        assert_eq!(admitted, 4, "its reserve and no more");
    }

    #[test]
    fn an_ipv6_prefix_is_one_origin() {
        let of = |text: &str| Origin::of(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
