//! Measures the connection before the estimate is shown: its round trip, and how many bytes per second it carries each way.
//!
//! Each side also measures how fast it computes now, if it is going to compute for long.
//!
//! ```text
//! host                                       join
//!  │── Probe, empty ───────────────────────▶│   a few times: the median round trip counts
//!  │◀─────────────────────── Probe, empty ──│
//!  │── Probe, 16 kB, 256 kB, 1 MB, 4 MB ───▶│   each is answered before the next
//!  │◀─────────────────────── Probe, empty ──│
//!  │── Measured ───────────────────────────▶│
//!  ╎ then the same from the joining side    ╎
//! ```
//!
//! A side measures what it sends and tells the other, so both have the same numbers. They decide nothing about what is
//! revealed: a peer that is slow, or that lies, spoils an estimate, and with it the choice between two engines that reveal the
//! same (`engine_decision.rs`). Probes contain zeros. How large they may be follows from
//! the plan: a burst is at most a sixteenth of what the comparison will send in its direction, so that a small comparison has
//! none. A side starts no burst that would make its part longer than [`PROBE_TIME`], and the other side answers a limited
//! number of probes for a limited time.

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

/// The lengths of the other probes. TCP sends faster from one to the next, and only the last that is sent counts.
const BURSTS: [usize; 4] = [16 << 10, 256 << 10, 1 << 20, MAX_BURST];

/// The length of the largest.
pub(crate) const MAX_BURST: usize = 4 << 20;

/// The part of the comparison's bytes that a burst may have.
const BURST_SHARE: u64 = 16;

/// How long a side probes.
const PROBE_TIME: Duration = Duration::from_millis(500);

/// How long a side answers probes. Even a very slow connection needs less.
const ANSWER_TIME: Duration = Duration::from_secs(60);

/// How long a side measures how fast it computes.
const MAX_SPEED_TIME: Duration = Duration::from_millis(20);

/// A shorter time says nothing about what else the machine does.
const MIN_SPEED_TIME: Duration = Duration::from_millis(5);

/// The longest round trip that a side may report.
const MAX_ROUND_TRIP_US: u64 = 3_600_000_000;

/// The most bytes per second, the most cores and the highest speed that a side may report: more than any machine has.
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
    /// Whether a machine can have measured this.
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
/// to see anything.
fn own_speed(computing: f64) -> u32 {
    let time = Duration::from_secs_f64((computing / 20.0).clamp(0.0, MAX_SPEED_TIME.as_secs_f64()));
    match time < MIN_SPEED_TIME {
        true => 100,
        false => speed(time),
    }
}

/// Sends probes, and says what they showed.
fn probe(channel: &mut dyn Channel, bytes: u64, speed: u32) -> Result<Measured, SessionError> {
    let start = Instant::now();
    let mut times = vec![time_of_answer(channel, 0)?];
    while times.len() < MAX_PINGS && start.elapsed() < PING_TIME {
        times.push(time_of_answer(channel, 0)?);
    }
    // A busy machine answers late: neither its best time nor its worst is typical.
    times.sort_unstable();
    let round_trip = times[(times.len() - 1) / 2];
    // Seconds per byte.
    let mut pace: Option<f64> = None;
    for length in BURSTS {
        if length as u64 > bytes / BURST_SHARE {
            break;
        }
        let takes = Duration::from_secs_f64(pace.unwrap_or(0.0) * length as f64);
        if start.elapsed() + round_trip + takes > PROBE_TIME {
            break;
        }
        let took = time_of_answer(channel, length)?.saturating_sub(round_trip);
        pace = Some(took.as_secs_f64() / length as f64);
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it saturates
    let bytes_per_second = pace.map(|pace| ((1.0 / pace) as u64).clamp(1, MAX_BYTES_PER_SECOND));
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

/// Answers probes until the other side says what they showed.
pub(crate) fn answer(channel: &mut dyn Channel) -> Result<Measured, SessionError> {
    let start = Instant::now();
    let mut piece = vec![0; PIECE];
    for _ in 0..=MAX_PINGS + BURSTS.len() {
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

    fn answered(messages: &[(Tag, &[u8])]) -> SessionError {
        let (mut here, mut there) = memory_pair();
        for (tag, content) in messages {
            control::send_bytes(&mut there, *tag, content).unwrap();
        }
        answer(&mut here).unwrap_err()
    }

    #[test]
    fn a_peer_cannot_probe_for_ever_or_report_nonsense() {
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
        is_refused(answered(
            &[(Tag::Probe, empty); MAX_PINGS + BURSTS.len() + 1],
        ));
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
