use super::*;
use veilpath_channel::memory_pair;
use veilpath_protocol::ProtocolError;

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
        let probed = |bytes: u64| bytes / BURST_DIVISOR >= BURSTS[0] as u64;
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
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut messages = messages.iter();
            // The other side hangs up when it has refused one.
            messages.all(|(tag, content)| control::send_bytes(&mut there, *tag, content).is_ok())
        });
        let answered = answer_probes(&mut here).unwrap_err();
        drop(here);
        answered
    })
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
    is_refused(answered(&[(Tag::Probe, empty); MAX_PINGS + 1]));
    let zeros = vec![0; MAX_BURST];
    let bursts = |lengths: &[usize]| {
        let probes = lengths.iter().map(|&length| (Tag::Probe, &zeros[..length]));
        answered(&probes.collect::<Vec<_>>())
    };
    let [short, longer, ..] = BURSTS;
    is_refused(bursts(&[1]));
    is_refused(bursts(&[short - 1]));
    is_refused(bursts(&[short; 3]));
    is_refused(bursts(&[short, short, longer, longer]));
    is_refused(bursts(&[MAX_BURST; 3]));
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
    is_refused(probe_round_trip(&mut here, 0).unwrap_err());
}

#[test]
fn answers_take_a_limited_time() {
    let (mut here, mut there) = memory_pair();
    control::send_bytes(&mut there, Tag::Probe, &[]).unwrap();
    let error = answer_probes_for(Duration::ZERO, &mut here).unwrap_err();
    assert!(
        matches!(
            error,
            SessionError::Protocol(ProtocolError::Channel(ChannelError::TimedOut))
        ),
        "{error:?}"
    );
}
