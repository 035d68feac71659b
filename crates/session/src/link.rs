//! Measures the connection before the estimate is shown: its round trip, and how many bytes per second it carries each way.
//!
//! Each side also measures how fast it computes now, if it is going to compute for long.
//!
//! ```text
//! host                                       join
//!  │── Probe, empty ───────────────────────▶│   a few times: the median round trip counts
//!  │◀─────────────────────── Probe, empty ──│
//!  │── Probe, 16 KiB to 4 MiB ─────────────▶│   each is answered before the next; one of them may be repeated
//!  │◀─────────────────────── Probe, empty ──│
//!  │── Measured ───────────────────────────▶│
//!  ╎ then the same from the joining side    ╎
//! ```
//!
//! A side measures what it sends and tells the other, so both have the same numbers. They decide nothing about what is
//! revealed: a peer that is slow, or that lies, can distort an estimate, and with it the choice between two engines
//! that reveal the same (`engine_decision.rs`). Probes contain zeros. How large they may be follows from the plan: a
//! burst is at most a sixteenth of what the comparison will send in its direction, so that a small comparison has none.
//! A side starts no burst that would make its part longer than [`PROBE_TIME`] plus the round trips of all bursts. The
//! other side answers a limited number of probes for a limited time. If time allows, the longest burst is sent twice
//! and the faster one counts, because a stall of a busy machine would distort a single one.

use crate::control::{self, Tag};
use crate::error::{Misbehaviour, SessionError};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use veilpath_channel::{Channel, ChannelError};
use veilpath_protocol::{Estimate, Link, Role, speed};

/// The most empty probes of a side.
const MAX_PINGS: usize = 5;

/// No further empty probe is sent after this time.
const PING_TIME: Duration = Duration::from_millis(50);

/// The lengths of the other probes. TCP speeds up from one to the next, and a rate limiter may let short ones pass, so
/// only the longest one that is sent counts.
const BURSTS: [usize; 4] = [16 << 10, 256 << 10, 1 << 20, MAX_BURST];

/// The most bursts of a side.
const MAX_BURSTS: usize = BURSTS.len() + 1;

/// The length of the longest burst.
pub(crate) const MAX_BURST: usize = 4 << 20;

/// A burst has at most the comparison's bytes divided by this.
const BURST_DIVISOR: u64 = 16;

/// How long a side probes, not counting round trips: with a high latency, short bursts show no rate.
const PROBE_TIME: Duration = Duration::from_millis(500);

/// How long a side answers probes. Even a very slow connection needs less.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a side measures how fast it computes.
const MAX_SPEED_TIME: Duration = Duration::from_millis(50);

/// A shorter measurement does not show the load of the machine.
const MIN_SPEED_TIME: Duration = Duration::from_millis(5);

/// The longest round trip that a side may report.
const MAX_ROUND_TRIP_US: u64 = 3_600_000_000;

/// The largest rate, number of cores and speed that a side may report; no machine reaches them.
const MAX_BYTES_PER_SECOND: u64 = 1 << 40;
const MAX_CORES: u32 = 1 << 16;
const MAX_SPEED: u32 = 1 << 16;

/// Bytes that are read and dropped at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// What one side has measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measured {
    round_trip_us: u64,
    /// From this side to the other, if there was a burst.
    bytes_per_second: Option<u64>,
    cores: u32,
    /// How fast this side computes; see [`Link::speed`].
    speed: u32,
}

impl Measured {
    /// Whether these values are plausible.
    pub(crate) fn is_valid(&self) -> bool {
        self.round_trip_us <= MAX_ROUND_TRIP_US
            && self
                .bytes_per_second
                .is_none_or(|rate| (1..=MAX_BYTES_PER_SECOND).contains(&rate))
            && (1..=MAX_CORES).contains(&self.cores)
            && (1..=MAX_SPEED).contains(&self.speed)
    }
}

/// Measures the connection for a comparison of this size. Both sides get the same result.
pub(crate) fn measure(
    channel: &mut dyn Channel,
    role: Role,
    expected: &Estimate,
) -> Result<Link, SessionError> {
    // On both sides at the same time.
    let speed = own_speed(expected.computing);
    let (host, join) = match role {
        Role::Host => {
            let ours = probe(channel, expected.bytes_to_join, speed)?;
            (ours, answer_probes(channel)?)
        }
        Role::Join => {
            let theirs = answer_probes(channel)?;
            (theirs, probe(channel, expected.bytes_to_host, speed)?)
        }
    };
    Ok(Link {
        round_trip: Duration::from_micros(host.round_trip_us.max(join.round_trip_us)),
        bytes_per_second_to_host: join.bytes_per_second,
        bytes_per_second_to_join: host.bytes_per_second,
        cores: host.cores.min(join.cores),
        speed: host.speed.min(join.speed),
    })
}

/// How fast this side computes. The measurement takes a twentieth of the expected computing time, and is skipped if
/// that is too short to be meaningful.
fn own_speed(computing: f64) -> u32 {
    let time = Duration::from_secs_f64((computing / 20.0).clamp(0.0, MAX_SPEED_TIME.as_secs_f64()));
    match time < MIN_SPEED_TIME {
        true => 100,
        false => speed(time),
    }
}

/// Sends probes, and returns what they showed.
fn probe(channel: &mut dyn Channel, bytes: u64, speed: u32) -> Result<Measured, SessionError> {
    let start = Instant::now();
    let mut times = vec![probe_round_trip(channel, 0)?];
    while times.len() < MAX_PINGS && start.elapsed() < PING_TIME {
        times.push(probe_round_trip(channel, 0)?);
    }
    // A busy machine answers late: neither its best time nor its worst is typical.
    times.sort_unstable();
    let round_trip = times[(times.len() - 1) / 2];
    let mut bursts = Bursts::new(bytes, round_trip);
    while let Some(length) = bursts.next(start.elapsed()) {
        let took = probe_round_trip(channel, length)?;
        bursts.add(length, took);
    }
    let bytes_per_second = bursts.bytes_per_second();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let measured = Measured {
        round_trip_us: u64::try_from(round_trip.as_micros())
            .map_or(MAX_ROUND_TRIP_US, |time| time.min(MAX_ROUND_TRIP_US)),
        bytes_per_second,
        cores: u32::try_from(cores).map_or(MAX_CORES, |cores| cores.min(MAX_CORES)),
        speed: speed.clamp(1, MAX_SPEED),
    };
    control::send(channel, Tag::Measured, &measured)?;
    Ok(measured)
}

/// Which bursts are sent, and what they show.
struct Bursts {
    round_trip: Duration,
    max_burst: u64,
    sent: usize,
    /// The next one in [`BURSTS`].
    index: usize,
    repeated: bool,
    /// The length of the last one, and the seconds per byte of the fastest of this length.
    last: Option<(usize, f64)>,
}

impl Bursts {
    /// Bursts for a direction in which the comparison will send this many bytes.
    fn new(bytes: u64, round_trip: Duration) -> Self {
        Self {
            round_trip,
            max_burst: bytes / BURST_DIVISOR,
            sent: 0,
            index: 0,
            repeated: false,
            last: None,
        }
    }

    /// The length of the next one, if there is one.
    fn next(&mut self, elapsed: Duration) -> Option<usize> {
        if self.sent == MAX_BURSTS {
            return None;
        }
        if let Some(length) = self.allowed(self.index, elapsed) {
            return Some(length);
        }
        if self.repeated || self.index == 0 {
            return None;
        }
        self.repeated = true;
        self.index -= 1;
        self.allowed(self.index, elapsed)
    }

    fn allowed(&self, index: usize, elapsed: Duration) -> Option<usize> {
        let length = *BURSTS.get(index)?;
        let seconds_per_byte = self
            .last
            .map_or(0.0, |(_, seconds_per_byte)| seconds_per_byte);
        let expected = self.round_trip.as_secs_f64() + seconds_per_byte * length as f64;
        let travel_time = self.round_trip.saturating_mul(MAX_BURSTS as u32 + 1);
        let fits = elapsed.as_secs_f64() + expected <= (PROBE_TIME + travel_time).as_secs_f64();
        (length as u64 <= self.max_burst && fits).then_some(length)
    }

    /// Records that a burst of this length was answered after this time.
    fn add(&mut self, length: usize, took: Duration) {
        // Round trips vary; the variation must not look like an infinite rate.
        let minimum = (self.round_trip / 8).max(Duration::from_micros(1));
        let took = took.saturating_sub(self.round_trip).max(minimum);
        let seconds_per_byte = took.as_secs_f64() / length as f64;
        let seconds_per_byte = match self.last {
            Some((last, fastest)) if last == length => fastest.min(seconds_per_byte),
            _ => seconds_per_byte,
        };
        self.last = Some((length, seconds_per_byte));
        self.sent += 1;
        self.index += 1;
    }

    fn bytes_per_second(&self) -> Option<u64> {
        let (_, seconds_per_byte) = self.last?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it saturates
        let rate = (1.0 / seconds_per_byte) as u64;
        Some(rate.clamp(1, MAX_BYTES_PER_SECOND))
    }
}

/// The time until a probe is answered.
fn probe_round_trip(channel: &mut dyn Channel, length: usize) -> Result<Duration, SessionError> {
    let zeros = vec![0; length];
    let start = Instant::now();
    control::send_bytes(channel, Tag::Probe, &zeros)?;
    match control::receive_head(channel, &[Tag::Probe])? {
        (_, 0) => Ok(start.elapsed()),
        _ => Err(Misbehaviour::InvalidMeasurement.into()),
    }
}

/// The probes of the other side so far.
#[derive(Default)]
struct ReceivedProbes {
    pings: usize,
    bursts: [bool; BURSTS.len()],
    repeated: bool,
}

impl ReceivedProbes {
    /// Whether a side may also send one of this length. How much the plan will send is not checked: each side
    /// estimates that for its own number of cores.
    fn accepts(&mut self, length: usize) -> bool {
        if length == 0 {
            self.pings += 1;
            return self.pings <= MAX_PINGS;
        }
        let Some(index) = BURSTS.iter().position(|&burst| burst == length) else {
            return false;
        };
        let is_repeated = std::mem::replace(&mut self.bursts[index], true);
        !is_repeated || !std::mem::replace(&mut self.repeated, true)
    }
}

/// Answers probes until the other side reports what they showed.
pub(crate) fn answer_probes(channel: &mut dyn Channel) -> Result<Measured, SessionError> {
    answer_probes_for(ANSWER_TIMEOUT, channel)
}

fn answer_probes_for(time: Duration, channel: &mut dyn Channel) -> Result<Measured, SessionError> {
    let start = Instant::now();
    let check_time = || match start.elapsed() > time {
        true => Err(ChannelError::TimedOut),
        false => Ok(()),
    };
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut received = ReceivedProbes::default();
    loop {
        let (tag, length) = control::receive_head(channel, &[Tag::Measured, Tag::Probe])?;
        check_time()?;
        if tag == Tag::Measured {
            let measured: Measured = control::receive_content(channel, tag, length)?;
            return match measured.is_valid() {
                true => Ok(measured),
                false => Err(Misbehaviour::InvalidMeasurement.into()),
            };
        }
        if !received.accepts(length) {
            return Err(Misbehaviour::InvalidMeasurement.into());
        }
        let mut left = length;
        while left > 0 {
            let count = left.min(CHUNK_BYTES);
            channel.receive(&mut chunk[..count])?;
            left -= count;
            check_time()?;
        }
        control::send_bytes(channel, Tag::Probe, &[])?;
    }
}

#[cfg(test)]
mod tests;
