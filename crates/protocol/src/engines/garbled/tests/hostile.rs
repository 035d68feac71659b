//! A peer that does not follow the protocol causes a typed error, no panic and no endless wait.

use super::channels::Recorder;
use super::*;
use veilpath_channel::{ChannelError, MemoryChannel};

/// Replays recorded bytes, then closes the channel.
struct ScriptedChannel {
    bytes: Vec<u8>,
    at: usize,
}

impl Channel for ScriptedChannel {
    fn send(&mut self, _: &[u8]) -> Result<(), ChannelError> {
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let next = self.bytes.get(self.at..self.at + buffer.len());
        buffer.copy_from_slice(next.ok_or(ChannelError::Closed)?);
        self.at += buffer.len();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

const SEED: u64 = 21;

struct Case {
    spec: Spec,
    a: Cohort,
    b: Cohort,
    partitioning: Partitioning,
}

impl Case {
    fn new(metric: &Metric, partitioning: Partitioning) -> Self {
        let (a, b) = (random_cohort(3, 9..30, 1), random_cohort(4, 9..30, 2));
        Self {
            spec: spec(metric, &a, &b),
            a,
            b,
            partitioning,
        }
    }

    /// What the garbler and the evaluator receive when both follow the protocol.
    fn honest(&self) -> [Vec<u8>; 2] {
        let partitionings = (self.partitioning, self.partitioning);
        let cohorts = (&self.a, &self.b);
        let (ends, recorders) =
            run_over(&self.spec, cohorts, partitionings, Recorder::pair(), SEED);
        assert!(ends.host.is_ok() && ends.join.is_ok());
        recorders.map(|recorder| recorder.seen)
    }

    fn against(&self, role: Role, bytes: Vec<u8>) -> Result<Vec<Answer>, ProtocolError> {
        let pairs = pairs_of(self.spec.pair_rule, &self.a, &self.b);
        let (first, second) = (scanpaths(&self.a), scanpaths(&self.b));
        let mut channel = ScriptedChannel { bytes, at: 0 };
        match role {
            Role::Host => {
                let job = Job::new(&self.spec, role, &first, second.len(), &pairs).unwrap();
                let mut rng = ChaCha20Rng::seed_from_u64(SEED);
                host_with(&job, &mut channel, &(), self.partitioning, &mut rng)
            }
            Role::Join => {
                let job = Job::new(&self.spec, role, &second, first.len(), &pairs).unwrap();
                let mut rng = ChaCha20Rng::seed_from_u64(SEED + 1);
                join_with(&job, &mut channel, &(), self.partitioning, &mut rng)
            }
        }
    }
}

fn is_typed(error: &ProtocolError) -> bool {
    matches!(
        error,
        ProtocolError::Channel(_) | ProtocolError::PeerMisbehaved(_)
    )
}

#[test]
fn an_early_end_is_an_error_at_any_point() {
    early_ends_are_errors(25);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn early_ends_at_many_points_and_many_random_bytes_are_errors() {
    early_ends_are_errors(60);
    random_bytes_are_errors(40);
}

fn early_ends_are_errors(points: usize) {
    for partitioning in [one_thread(), in_pieces(2)] {
        let case = Case::new(&metrics()[0], partitioning);
        let honest = case.honest();
        for (role, bytes) in [Role::Host, Role::Join].into_iter().zip(honest) {
            // With one thread, the other side's messages can be replayed.
            if partitioning.threads == 1 {
                assert!(case.against(role, bytes.clone()).is_ok());
            }
            let cuts = (0..points).map(|at| bytes.len() * at / points);
            for cut in cuts.chain([bytes.len() - 1]) {
                let error = case.against(role, bytes[..cut].to_vec()).unwrap_err();
                assert!(is_typed(&error), "{role:?} after {cut} bytes: {error:?}");
            }
        }
    }
}

#[test]
fn random_bytes_never_panic_and_are_never_an_internal_error() {
    random_bytes_are_errors(18);
}

fn random_bytes_are_errors(rounds: usize) {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    for (metric, partitioning) in [
        (&metrics()[0], one_thread()),
        (&metrics()[0], in_pieces(3)),
        (&metrics()[7], one_thread()),
    ] {
        let case = Case::new(metric, partitioning);
        let honest = case.honest();
        for (role, bytes) in [Role::Host, Role::Join].into_iter().zip(honest) {
            for round in 0..rounds {
                let mut wrong = bytes.clone();
                let start = wrong.len() * round / rounds;
                // Some bytes in the middle, or all that follow.
                let end = if round % 2 == 0 {
                    wrong.len()
                } else {
                    (start + 64).min(wrong.len())
                };
                rng.fill(&mut wrong[start..end]);
                if let Err(error) = case.against(role, wrong) {
                    assert!(is_typed(&error), "{role:?} round {round}: {error:?}");
                }
            }
        }
    }
}

#[test]
fn lengths_that_differ_from_the_announced_ones_are_refused() {
    let (a, b) = (random_cohort(1, 5..6, 1), random_cohort(1, 7..8, 2));
    let spec = spec(&Metric::Levenshtein, &a, &b);
    for (role, own, announced) in [(Role::Host, &a, [6]), (Role::Join, &b, [4])] {
        let own = scanpaths(own);
        let job = Job::new(&spec, role, &own, 1, &[(0, 0)]).unwrap();
        let job = job.with_peer_lengths(&announced).unwrap();
        let mut bytes = 5u64.to_le_bytes().to_vec();
        bytes.push(1);
        let mut channel = ScriptedChannel { bytes, at: 0 };
        let error = Engine::Garbled.run(&job, &mut channel, &()).unwrap_err();
        assert!(matches!(error, ProtocolError::PeerMisbehaved(_)), "{error}");
    }
}

#[test]
fn claims_out_of_bounds_are_refused() {
    let a = random_cohort(1, 5..6, 1);
    let own = scanpaths(&a);
    let spec = spec(&Metric::Levenshtein, &a, &a);
    let job = Job::new(&spec, Role::Host, &own, 1, &[(0, 0)]).unwrap();
    for (length, threads) in [(1 << 28, 1), (u64::MAX, 1), (5, 0), (5, 9), (5, 255)] {
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.push(threads);
        let mut channel = ScriptedChannel { bytes, at: 0 };
        let error = Engine::Garbled.run(&job, &mut channel, &()).unwrap_err();
        assert!(matches!(error, ProtocolError::PeerMisbehaved(_)), "{error}");
    }
}

/// A garbler that requests bytes from the evaluator's worker threads before it has sent what they need would cause a deadlock.
#[test]
fn a_request_that_cannot_be_answered_is_refused() {
    let case = Case::new(&Metric::Levenshtein, in_pieces(2));
    let [_, to_evaluator] = case.honest();
    let letters: usize = scanpaths(&case.a).len() * 8 + 1;
    // Lengths, offer, base transfers, seeds' start: the frames of worker threads follow.
    let frames = letters + 128 * 64 + 16;
    let header = &to_evaluator[frames..frames + 6];
    assert_eq!((header[0] < 2, header[1]), (true, 0), "a frame of data");
    let mut bytes = to_evaluator[..frames].to_vec();
    bytes.extend([0, 1, 100, 0, 0, 0]);
    let error = case.against(Role::Join, bytes).unwrap_err();
    assert!(matches!(error, ProtocolError::PeerMisbehaved(_)), "{error}");
    let mut bytes = to_evaluator[..frames].to_vec();
    bytes.extend([0, 2, 0, 0, 0, 0]);
    let error = case.against(Role::Join, bytes).unwrap_err();
    assert!(matches!(error, ProtocolError::PeerMisbehaved(_)), "{error}");
}

#[test]
fn a_closed_peer_is_detected() {
    let (mut channel, peer): (MemoryChannel, MemoryChannel) = memory_pair();
    drop(peer);
    let a = random_cohort(1, 5..6, 1);
    let own = scanpaths(&a);
    let spec = spec(&Metric::Levenshtein, &a, &a);
    for role in [Role::Host, Role::Join] {
        let job = Job::new(&spec, role, &own, 1, &[(0, 0)]).unwrap();
        let error = Engine::Garbled.run(&job, &mut channel, &()).unwrap_err();
        assert_eq!(error, ProtocolError::Channel(ChannelError::Closed));
    }
}

/// Flips one bit of what is sent.
struct Tampering {
    channel: MemoryChannel,
    sent: usize,
    at: usize,
}

impl Channel for Tampering {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        let mut bytes = bytes.to_vec();
        if let Some(byte) = self.at.checked_sub(self.sent) {
            bytes.iter_mut().skip(byte).take(1).for_each(|it| *it ^= 1);
        }
        self.sent += bytes.len();
        self.channel.send(&bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.channel.receive(buffer)
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.channel.flush()
    }
}

/// One of the evaluator's worker threads sends inconsistent transfers. The garbler reports the failed check, whatever happens
/// to the other threads.
#[test]
fn a_failed_check_of_one_thread_is_the_error_of_the_run() {
    let case = Case::new(&metrics()[7], in_pieces(3));
    let [to_garbler, _] = case.honest();
    let pairs = pairs_of(case.spec.pair_rule, &case.a, &case.b);
    let (first, second) = (scanpaths(&case.a), scanpaths(&case.b));
    let mut checks = 0;
    for at in (4..12).map(|part| to_garbler.len() * part / 12) {
        let (mut host_end, join_end) = memory_pair();
        let mut join_end = Tampering {
            channel: join_end,
            sent: 0,
            at,
        };
        let host = Job::new(&case.spec, Role::Host, &first, second.len(), &pairs).unwrap();
        let join = Job::new(&case.spec, Role::Join, &second, first.len(), &pairs).unwrap();
        let ended = std::thread::scope(|scope| {
            let partitioning = case.partitioning;
            scope.spawn(move || {
                let mut rng = ChaCha20Rng::seed_from_u64(SEED + 1);
                let _ = join_with(&join, &mut join_end, &(), partitioning, &mut rng);
            });
            let mut rng = ChaCha20Rng::seed_from_u64(SEED);
            let ended = host_with(&host, &mut host_end, &(), partitioning, &mut rng);
            drop(host_end);
            ended
        });
        match ended {
            Err(ProtocolError::PeerMisbehaved(crate::Misbehaviour::Computation(_))) => checks += 1,
            // A bit of an output.
            Ok(_) | Err(ProtocolError::PeerMisbehaved(crate::Misbehaviour::ResultOutOfRange)) => {}
            other => panic!("byte {at}: {other:?}"),
        }
    }
    assert!(checks > 3, "{checks}");
}
