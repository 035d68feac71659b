//! Every stage has its own offset.

use super::*;
use rand::{Rng, TryCryptoRng, TryRng};
use std::collections::BTreeSet;
use std::convert::Infallible;

/// Remembers everything that was drawn.
struct RecordingRng {
    rng: ChaCha20Rng,
    draws: Vec<Vec<u8>>,
}

impl TryRng for RecordingRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.rng.fill_bytes(bytes);
        self.draws.push(bytes.to_vec());
        Ok(())
    }
}

impl TryCryptoRng for RecordingRng {}

#[test]
fn every_stage_draws_an_offset() {
    let (a, b) = (random_cohort(4, 20..21, 1), random_cohort(21, 20..21, 2));
    let spec = spec(&Metric::Levenshtein, &a, &b);
    let pairs = pairs_of(spec.pair_rule, &a, &b);
    let (first, second) = (scanpaths(&a), scanpaths(&b));
    let host_job = Job::new(&spec, Role::Host, &first, second.len(), &pairs).unwrap();
    let join_job = Job::new(&spec, Role::Join, &second, first.len(), &pairs).unwrap();
    let (mut host_end, mut join_end) = memory_pair();
    let mut rng = RecordingRng {
        rng: ChaCha20Rng::seed_from_u64(3),
        draws: Vec::new(),
    };
    let negotiated = Schedule::new(&host_job, vec![20; 4], vec![20; 21], 1, in_pieces(1).limits);
    let stages = negotiated.unwrap().stages.len();
    assert!(stages > 2, "{stages}");
    std::thread::scope(|scope| {
        let join = scope.spawn(move || {
            let mut rng = ChaCha20Rng::seed_from_u64(4);
            let watch = ProgressRecorder::default();
            join_with(&join_job, &mut join_end, &watch, in_pieces(1), &mut rng)
        });
        let watch = ProgressRecorder::default();
        let host = host_with(&host_job, &mut host_end, &watch, in_pieces(1), &mut rng);
        assert_eq!(host, join.join().unwrap());
        assert_eq!(host.unwrap(), expected(&spec.metric, &a, &b));
    });
    // Each stage draws the same number of bytes, and its offset first.
    let lengths: Vec<usize> = rng.draws.iter().map(Vec::len).collect();
    let of_stage = lengths.len() / stages;
    assert!(of_stage > 256, "two draws for each base transfer");
    let chunks = lengths.chunks(of_stage);
    assert!(chunks.clone().all(|stage| stage == &lengths[..of_stage]));
    assert_eq!((chunks.len(), lengths[0]), (stages, 16));
    let offsets: BTreeSet<&Vec<u8>> = rng.draws.iter().step_by(of_stage).collect();
    assert_eq!(offsets.len(), stages);
}
