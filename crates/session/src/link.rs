//! Measures the connection before the estimate is shown: its round trip, and how many bytes per second it carries each way.
//!
//! Each side also measures how fast it computes now, if it is going to compute for long.
//!
//! ```text
//! host                                       join
//!  │── Probe, empty ───────────────────────▶│   a few times: the median round trip counts
//!  │◀─────────────────────── Probe, empty ──│
//!  │── Probe, 16 kB, 256 kB, 1 MB, 4 MB ───▶│   each is answered before the next; one of them may be repeated
//!  │◀─────────────────────── Probe, empty ──│
//!  │── Measured ───────────────────────────▶│
//!  ╎ then the same from the joining side    ╎
//! ```
//!
//! A side measures what it sends and tells the other, so both have the same numbers. They decide nothing about what is
//! revealed: a peer that is slow, or that lies, can distort an estimate, and with it the choice between two engines that reveal the
//! same (`engine_decision.rs`). Probes contain zeros. How large they may be follows from
//! the plan: a burst is at most a sixteenth of what the comparison will send in its direction, so that a small comparison has
//! none. A side starts no burst that would make its part longer than [`PROBE_TIME`] and the round trips of all of them, and the
//! other side answers a limited number of probes for a limited time. The longest burst is sent twice if the time allows it and the faster one counts, because
//! a stall of a busy machine would distort a single one.

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

/// The lengths of the other probes. TCP sends faster from one to the next, and what limits a rate may let short ones pass, so
/// only the longest that is sent counts.
const BURSTS: [usize; 4] = [16 << 10, 256 << 10, 1 << 20, MAX_BURST];

/// The most bursts of a side.
const MAX_BURSTS: usize = BURSTS.len() + 1;

/// The length of the longest.
pub(crate) const MAX_BURST: usize = 4 << 20;

/// The part of the comparison's bytes that a burst may have.
const BURST_SHARE: u64 = 16;

/// How long a side probes, without the time that its probes travel: if that is long, short bursts show no rate.
const PROBE_TIME: Duration = Duration::from_millis(500);

/// How long a side answers probes. Even a very slow connection needs less.
const ANSWER_TIME: Duration = Duration::from_secs(60);

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
const PIECE: usize = 64 << 10;

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
            (ours, answer(channel)?)
        }
        Role::Join => {
            let theirs = answer(channel)?;
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

/// How fast this side computes. Measured for a twentieth of the time that it is going to compute, unless that is too short
/// to be meaningful.
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
    let mut times = vec![time_of_answer(channel, 0)?];
    while times.len() < MAX_PINGS && start.elapsed() < PING_TIME {
        times.push(time_of_answer(channel, 0)?);
    }
    // A busy machine answers late: neither its best time nor its worst is typical.
    times.sort_unstable();
    let round_trip = times[(times.len() - 1) / 2];
    let mut bursts = Bursts::new(bytes, round_trip);
    while let Some(length) = bursts.next(start.elapsed()) {
        let took = time_of_answer(channel, length)?;
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
    longest_allowed: u64,
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
            longest_allowed: bytes / BURST_SHARE,
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
        let pace = self.last.map_or(0.0, |(_, pace)| pace);
        let takes = self.round_trip.as_secs_f64() + pace * length as f64;
        let travelling = self.round_trip.saturating_mul(MAX_BURSTS as u32 + 1);
        let fits = elapsed.as_secs_f64() + takes <= (PROBE_TIME + travelling).as_secs_f64();
        (length as u64 <= self.longest_allowed && fits).then_some(length)
    }

    /// Records that a burst of this length was answered after this time.
    fn add(&mut self, length: usize, took: Duration) {
        // Round trips vary; the variation must not look like an infinite rate.
        let least = (self.round_trip / 8).max(Duration::from_micros(1));
        let took = took.saturating_sub(self.round_trip).max(least);
        let pace = took.as_secs_f64() / length as f64;
        let pace = match self.last {
            Some((last, fastest)) if last == length => fastest.min(pace),
            _ => pace,
        };
        self.last = Some((length, pace));
        self.sent += 1;
        self.index += 1;
    }

    fn bytes_per_second(&self) -> Option<u64> {
        let (_, pace) = self.last?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it saturates
        let rate = (1.0 / pace) as u64;
        Some(rate.clamp(1, MAX_BYTES_PER_SECOND))
    }
}

/// The time until a probe is answered.
fn time_of_answer(channel: &mut dyn Channel, length: usize) -> Result<Duration, SessionError> {
    let zeros = vec![0; length];
    let start = Instant::now();
    control::send_bytes(channel, Tag::Probe, &zeros)?;
    match control::receive_head(channel, &[Tag::Probe])? {
        (_, 0) => Ok(start.elapsed()),
        _ => Err(Misbehaviour::InvalidMeasurement.into()),
    }
}

/// Answers probes until the other side reports what they showed.
pub(crate) fn answer(channel: &mut dyn Channel) -> Result<Measured, SessionError> {
    let start = Instant::now();
    let mut piece = vec![0; PIECE];
    for _ in 0..=MAX_PINGS + MAX_BURSTS {
        let (tag, length) = control::receive_head(channel, &[Tag::Measured, Tag::Probe])?;
        if tag == Tag::Measured {
            let measured: Measured = control::receive_content(channel, tag, length)?;
            return match measured.is_valid() {
                true => Ok(measured),
                false => Err(Misbehaviour::InvalidMeasurement.into()),
            };
        }
        let mut left = length;
        while left > 0 {
            let count = left.min(PIECE);
            channel.receive(&mut piece[..count])?;
            left -= count;
            if start.elapsed() > ANSWER_TIME {
                return Err(ChannelError::TimedOut.into());
            }
        }
        control::send_bytes(channel, Tag::Probe, &[])?;
    }
    Err(Misbehaviour::InvalidMeasurement.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_channel::memory_pair;

    fn expected(bytes_to_host: u64, bytes_to_join: u64) -> Estimate {
        Estimate {
            bytes_to_host,
            bytes_to_join,
            ..Estimate::default()
        }
    }

    #[test]
    fn both_sides_agree_and_small_jobs_are_not_probed() {
        for (bytes_to_host, bytes_to_join) in [(0, 0), (100_000, 1 << 30), (1 << 20, 1 << 20)] {
            let expected = expected(bytes_to_host, bytes_to_join);
            let (mut host, mut join) = memory_pair();
            let there = std::thread::spawn(move || measure(&mut join, Role::Join, &expected));
            let here = measure(&mut host, Role::Host, &expected).unwrap();
            assert_eq!(there.join().unwrap().unwrap(), here);
            let probed = |bytes: u64| bytes / BURST_SHARE >= BURSTS[0] as u64;
            assert_eq!(
                here.bytes_per_second_to_host.is_some(),
                probed(bytes_to_host)
            );
            assert_eq!(
                here.bytes_per_second_to_join.is_some(),
                probed(bytes_to_join)
            );
            assert!(here.round_trip < Duration::from_secs(1) && here.cores > 0);
        }
    }

    /// The lengths of the bursts over a simulated connection, and the rate that they show. One of them stalls.
    fn simulated(bytes: u64, rate: f64, stalled: Option<usize>) -> (Vec<usize>, f64) {
        simulated_over(Duration::from_millis(1), bytes, rate, stalled)
    }

    fn simulated_over(
        round_trip: Duration,
        bytes: u64,
        rate: f64,
        stalled: Option<usize>,
    ) -> (Vec<usize>, f64) {
        let mut bursts = Bursts::new(bytes, round_trip);
        let pings = if round_trip < PING_TIME / 5 { 5 } else { 1 };
        let (mut elapsed, mut lengths) = (round_trip * pings, Vec::new());
        while let Some(length) = bursts.next(elapsed) {
            let mut took = round_trip + Duration::from_secs_f64(length as f64 / rate);
            if stalled == Some(lengths.len()) {
                took += Duration::from_millis(100);
            }
            bursts.add(length, took);
            elapsed += took;
            lengths.push(length);
        }
        (lengths, bursts.bytes_per_second().unwrap() as f64)
    }

    /// A short burst over a connection with high latency shows no rate.
    #[test]
    fn long_round_trips_do_not_look_like_a_low_rate() {
        for milliseconds in [20, 200, 600] {
            let round_trip = Duration::from_millis(milliseconds);
            for rate in [1e6, 12.5e6] {
                let (_, measured) = simulated_over(round_trip, 1 << 30, rate, None);
                assert!(
                    (measured / rate - 1.0).abs() < 0.05,
                    "{milliseconds} ms: {measured}"
                );
            }
            let (lengths, measured) = simulated_over(round_trip, 1 << 30, 1e9, None);
            assert_eq!(lengths.iter().max(), Some(&MAX_BURST));
            assert!(measured > 4e7, "{milliseconds} ms: {measured}");
        }
    }

    #[test]
    fn one_stall_does_not_distort_the_rate() {
        for rate in [1e6, 12.5e6, 125e6, 1e9] {
            let (lengths, undisturbed) = simulated(1 << 30, rate, None);
            assert!((undisturbed / rate - 1.0).abs() < 0.01, "{undisturbed}");
            assert!(lengths.len() <= MAX_BURSTS);
            for stalled in 0..lengths.len() {
                let (_, measured) = simulated(1 << 30, rate, Some(stalled));
                assert!(
                    (rate / 1.7..=rate * 1.01).contains(&measured),
                    "{measured} of {rate}, burst {stalled}"
                );
            }
        }
        // A small job: its only burst is sent twice.
        let (lengths, measured) = simulated(400_000, 125e6, Some(1));
        assert_eq!(lengths, [BURSTS[0]; 2]);
        assert!((measured / 125e6 - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_zero_delay_does_not_give_an_infinite_rate() {
        let round_trip = Duration::from_micros(40);
        let mut bursts = Bursts::new(400_000, round_trip);
        bursts.add(BURSTS[0], round_trip / 2);
        assert!(bursts.bytes_per_second().unwrap() < 4_000_000_000);
    }

    fn answered(messages: &[(Tag, &[u8])]) -> SessionError {
        let (mut here, mut there) = memory_pair();
        for (tag, content) in messages {
            control::send_bytes(&mut there, *tag, content).unwrap();
        }
        answer(&mut here).unwrap_err()
    }

    #[test]
    fn probes_are_bounded_and_measurements_are_validated() {
        let is_refused = |error: SessionError| {
            assert!(
                matches!(
                    error,
                    SessionError::Misbehaved(Misbehaviour::InvalidMeasurement)
                ),
                "{error}"
            );
        };
        let empty: &[u8] = &[];
        is_refused(answered(&[(Tag::Probe, empty); MAX_PINGS + MAX_BURSTS + 1]));
        for nonsense in [
            r#"{"round_trip_us":3600000001,"bytes_per_second":null,"cores":2,"speed":100}"#,
            r#"{"round_trip_us":1,"bytes_per_second":0,"cores":2,"speed":100}"#,
            r#"{"round_trip_us":1,"bytes_per_second":null,"cores":0,"speed":100}"#,
            r#"{"round_trip_us":1,"bytes_per_second":null,"cores":2,"speed":0}"#,
            r#"{"round_trip_us":1,"bytes_per_second":18446744073709551615,"cores":2,"speed":1}"#,
            r#"{"round_trip_us":1,"bytes_per_second":null,"cores":4294967295,"speed":1}"#,
            r#"{"round_trip_us":1,"bytes_per_second":null,"cores":2,"speed":4294967295}"#,
        ] {
            is_refused(answered(&[(Tag::Measured, nonsense.as_bytes())]));
        }
        for not_a_number in ["-1", "1.5", "1e999", "NaN", "Infinity", "null", "\"1\""] {
            let text = format!(
                r#"{{"round_trip_us":{not_a_number},"bytes_per_second":null,"cores":2,"speed":1}}"#
            );
            assert!(matches!(
                answered(&[(Tag::Measured, text.as_bytes())]),
                SessionError::Misbehaved(Misbehaviour::MalformedMessage { .. })
            ));
        }
        let (mut here, mut there) = memory_pair();
        control::send_bytes(&mut there, Tag::Probe, &[0]).unwrap();
        is_refused(time_of_answer(&mut here, 0).unwrap_err());
    }
}
