//! Estimates what a comparison will cost.
//!
//! An engine knows how many bytes it sends, how often it waits for the other side, how many of those waits overlap, and how
//! long it computes. The time follows from these and from the connection, which both sides measure when they connect.

use crate::{GroupWorkload, Reveal};
use std::time::{Duration, Instant};

/// The size of a job, as both sides know it in advance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Pairs to compare.
    pub pairs: u64,
    /// Matrix cells of these pairs.
    pub cells: u64,
    /// Scanpaths of the host in these pairs.
    pub host_scanpaths: u64,
    /// Scanpaths of the joining side in these pairs.
    pub join_scanpaths: u64,
    /// Letters of the host's scanpaths.
    pub host_letters: u64,
    /// Letters of the joining side's scanpaths.
    pub join_letters: u64,
    /// Letters of the host's longest scanpath.
    pub host_longest: u64,
    /// Letters of the joining side's longest scanpath.
    pub join_longest: u64,
    /// Pairs whose second scanpath is new: see [`newly_paired`](crate::newly_paired).
    pub newly_paired: u64,
    /// Letters of the alphabet.
    pub alphabet: u64,
    /// The kind of result.
    pub reveal: Reveal,
    /// The size of the question about groups, if one remains to be answered.
    pub group: Option<GroupWorkload>,
    /// Whether the lengths are hidden. Then the numbers above count padded scanpaths.
    pub padded: bool,
}

impl Workload {
    /// The size of the mean matrix: letters of the host's scanpath and of the joining side's.
    pub(crate) fn mean_matrix(&self) -> (u64, u64) {
        let rows = self.host_letters.div_ceil(self.host_scanpaths.max(1));
        let columns = self.cells.div_ceil(self.pairs.max(1)).div_ceil(rows.max(1));
        (rows, columns)
    }
}

/// The connection between two sides and their machines, as far as an estimate depends on them. Both sides agree on all
/// values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The time from a short message to its answer.
    pub round_trip: Duration,
    /// Bytes per second from the joining side to the host; `None` if it was not measured.
    pub bytes_per_second_to_host: Option<u64>,
    /// Bytes per second from the host to the joining side; `None` if it was not measured.
    pub bytes_per_second_to_join: Option<u64>,
    /// The number of cores of the side with fewer.
    pub cores: u32,
    /// How fast the slower side computes now, in percent of the reference machine on which the constants of the engines other
    /// than `plain` were measured.
    pub speed: u32,
}

/// Steps of [`speed`] per second on a core of the otherwise idle reference machine.
const STEPS_PER_SECOND: f64 = 7.4e8;

/// Steps between two clock readings.
const STEPS: u32 = 1 << 14;

/// Measures how fast this side computes, in percent of the reference machine. Other load on the machine is included if
/// the measurement is long enough for it to be scheduled: about ten milliseconds.
pub fn speed(time: Duration) -> u32 {
    let start = Instant::now();
    let mut state = 1u64;
    let mut measured = SpeedMeasurement::default();
    while measured.counted() < time {
        for _ in 0..STEPS {
            // Each step depends on the previous one.
            state = (state ^ state >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        state = std::hint::black_box(state);
        measured.record(start.elapsed());
    }
    measured.speed()
}

/// The time that the steps took, without the longest run of [`STEPS`]. Otherwise a machine that stalls once, for as long as the
/// measurement or longer, would seem half as fast or slower. A machine that is always busy pauses many times.
#[derive(Clone, Copy, Debug, Default)]
struct SpeedMeasurement {
    readings: u32,
    elapsed: Duration,
    longest: Duration,
}

impl SpeedMeasurement {
    /// Records the time that has passed after [`STEPS`] more steps.
    fn record(&mut self, elapsed: Duration) {
        self.longest = self.longest.max(elapsed.saturating_sub(self.elapsed));
        self.elapsed = elapsed;
        self.readings += 1;
    }

    /// The elapsed time without the longest run.
    fn counted(&self) -> Duration {
        self.elapsed.saturating_sub(self.longest)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it saturates
    fn speed(&self) -> u32 {
        let steps = f64::from(self.readings.saturating_sub(1)) * f64::from(STEPS);
        let speed = steps / self.counted().as_secs_f64() / STEPS_PER_SECOND;
        ((speed * 100.0) as u32).max(1)
    }
}

impl Link {
    /// Both sides on this machine.
    pub fn local() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            round_trip: Duration::ZERO,
            bytes_per_second_to_host: None,
            bytes_per_second_to_join: None,
            cores: u32::try_from(cores).unwrap_or(u32::MAX),
            speed: 100,
        }
    }

    /// A slower connection than any session is likely to use, between two slow machines: 64 kB per second with a round
    /// trip of one second, and one core at a tenth of the usual speed.
    pub fn slowest() -> Self {
        const BYTES_PER_SECOND: Option<u64> = Some(64_000);
        Self {
            round_trip: Duration::from_secs(1),
            bytes_per_second_to_host: BYTES_PER_SECOND,
            bytes_per_second_to_join: BYTES_PER_SECOND,
            cores: 1,
            speed: 10,
        }
    }

    /// The seconds that these bytes take to the host and to the joining side.
    #[allow(clippy::cast_precision_loss)] // an estimate
    fn seconds_of(&self, bytes_to_host: u64, bytes_to_join: u64) -> [f64; 2] {
        let seconds = |bytes: u64, rate: Option<u64>| match rate {
            Some(rate) => bytes as f64 / rate.max(1) as f64,
            None => 0.0,
        };
        [
            seconds(bytes_to_host, self.bytes_per_second_to_host),
            seconds(bytes_to_join, self.bytes_per_second_to_join),
        ]
    }
}

/// The estimated cost of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Bytes from the joining side to the host.
    pub bytes_to_host: u64,
    /// Bytes from the host to the joining side.
    pub bytes_to_join: u64,
    /// How often a side waits for the other.
    pub rounds: u64,
    /// Total time in seconds.
    pub seconds: f64,
    /// Seconds that both sides would need on a perfect connection.
    pub computing: f64,
}

impl Estimate {
    /// The cost of both, one after the other.
    pub(crate) fn and(self, next: Self) -> Self {
        Self {
            bytes_to_host: self.bytes_to_host.saturating_add(next.bytes_to_host),
            bytes_to_join: self.bytes_to_join.saturating_add(next.bytes_to_join),
            rounds: self.rounds.saturating_add(next.rounds),
            seconds: self.seconds + next.seconds,
            computing: self.computing + next.computing,
        }
    }
}

/// The costs of a job, as its engine computes them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JobCosts {
    pub(crate) bytes_to_host: u64,
    pub(crate) bytes_to_join: u64,
    /// Rounds during which nothing else happens.
    pub(crate) waits: u64,
    /// Rounds that overlap with computation and sending.
    pub(crate) exchanges: u64,
    /// Whether a round takes half a round trip, because both sides send at the same time.
    pub(crate) one_way: bool,
    /// How many exchanges are in flight at the same time.
    pub(crate) in_flight: f64,
    /// Seconds of computation before and between exchanges.
    pub(crate) setup: f64,
    /// Seconds of computation during exchanges.
    pub(crate) computing: f64,
}

impl JobCosts {
    /// The estimate for a connection. Computation and both directions of the traffic overlap. An exchange takes a round
    /// trip (or half of one) plus its share of the work, and `in_flight` exchanges overlap.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn on(&self, link: &Link) -> Estimate {
        let round = match self.one_way {
            true => link.round_trip.as_secs_f64() / 2.0,
            false => link.round_trip.as_secs_f64(),
        };
        let [to_host, to_join] = link.seconds_of(self.bytes_to_host, self.bytes_to_join);
        let slower = 100.0 / f64::from(link.speed.max(1));
        let (setup, computing) = (self.setup * slower, self.computing * slower);
        let work = computing.max(to_host).max(to_join);
        let latency = self.exchanges as f64 * round;
        let overlapping = work.max((latency + work) / self.in_flight.max(1.0));
        Estimate {
            bytes_to_host: self.bytes_to_host,
            bytes_to_join: self.bytes_to_join,
            rounds: self.waits.saturating_add(self.exchanges),
            seconds: overlapping + setup + self.waits as f64 * round,
            computing: computing + setup,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(round_trip: u64, rate: Option<u64>) -> Link {
        Link {
            round_trip: Duration::from_millis(round_trip),
            bytes_per_second_to_host: rate,
            bytes_per_second_to_join: rate,
            cores: 2,
            speed: 100,
        }
    }

    #[test]
    fn latency_adds_up_and_bandwidth_is_a_bottleneck() {
        let costs = JobCosts {
            bytes_to_host: 1_000,
            bytes_to_join: 100_000_000,
            waits: 5,
            exchanges: 300,
            one_way: false,
            in_flight: 3.0,
            setup: 0.0,
            computing: 1.0,
        };
        let seconds = |link: Link| costs.on(&link).seconds;
        assert!((seconds(link(0, None)) - 1.0).abs() < 1e-9);
        assert!((seconds(link(0, Some(10_000_000))) - 10.0).abs() < 1e-9);
        // 300 round trips, three at a time, and five more.
        let slow = seconds(link(200, None));
        assert!((20.0..22.5).contains(&slow), "{slow}");
        assert_eq!(costs.on(&link(200, None)).rounds, 305);
        let busy = Link {
            speed: 50,
            ..link(0, None)
        };
        assert!((seconds(busy) - 2.0).abs() < 1e-9);
    }

    /// The speed that a measurement of this many milliseconds shows on a machine with these pauses (start, duration).
    fn measured(milliseconds: u64, pauses: &[(f64, f64)]) -> u32 {
        let interval = f64::from(STEPS) / STEPS_PER_SECOND;
        let mut pauses = pauses.iter().peekable();
        let (mut measured, mut computed, mut paused) = (SpeedMeasurement::default(), 0.0, 0.0);
        while measured.counted() < Duration::from_millis(milliseconds) {
            computed += interval;
            while let Some((_, pause)) = pauses.next_if(|(at, _)| *at <= computed) {
                paused += pause;
            }
            measured.record(Duration::from_secs_f64(computed + paused));
        }
        measured.speed()
    }

    #[test]
    fn one_stall_does_not_make_a_machine_slow() {
        for milliseconds in [5, 20, 50] {
            assert!((99..=101).contains(&measured(milliseconds, &[])));
            for stall in [0.01, 0.05, 0.5] {
                for at in [0.0, 0.002, 0.0049] {
                    let speed = measured(milliseconds, &[(at, stall)]);
                    assert!(
                        (99..=101).contains(&speed),
                        "{milliseconds} {stall} {at}: {speed}"
                    );
                }
            }
        }
    }

    /// Another program gets every second time slice of four milliseconds.
    #[test]
    fn a_busy_machine_is_slow() {
        let turns: Vec<(f64, f64)> = (0..100)
            .map(|turn| (0.004 * f64::from(turn), 0.004))
            .collect();
        for milliseconds in [20, 50] {
            let speed = measured(milliseconds, &turns);
            assert!((45..=65).contains(&speed), "{milliseconds}: {speed}");
        }
    }

    #[test]
    fn a_measurement_takes_the_requested_time() {
        let start = Instant::now();
        let measured = speed(Duration::from_millis(2));
        assert!(measured > 0 && start.elapsed() >= Duration::from_millis(2));
    }
}
