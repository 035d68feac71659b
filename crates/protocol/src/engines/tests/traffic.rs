//! The traffic per matrix cell when many scanpaths of 100 letters are compared, which determines the cost on slow
//! connections.

use super::*;
use crate::TreeLevels;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use veilpath_channel::Counted;

/// Scanpaths of 100 random letters.
fn random(count: usize, alphabet: Alphabet, seed: u64) -> Cohort {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let letters = u16::try_from(alphabet.size()).unwrap();
    let mut scanpath = || (0..100).map(|_| rng.random_range(0..letters)).collect();
    Cohort {
        alphabet,
        ..cohort(&(0..count).map(|_| scanpath()).collect::<Vec<Vec<u16>>>())
    }
}

/// ScanMatch on an 8 × 6 grid.
pub(crate) fn scanmatch() -> Metric {
    Metric::ScanMatch {
        grid: Grid::new(8, 6).unwrap(),
        wrap: false,
        threshold: 3.5,
        gap: 0.0,
        scale: None,
    }
}

/// The alphabet for which a metric's costs are documented: that of its grid, or of rounded fixations.
pub(crate) fn documented_alphabet(metric: &Metric) -> Alphabet {
    let letters = match (metric, metric.quantisation()) {
        (_, Some(rounded)) => return rounded.alphabet().unwrap(),
        (Metric::Levenshtein, _) => 52,
        (Metric::ScanMatch { .. }, _) => 48,
        _ => 49,
    };
    Alphabet::letters(letters).unwrap()
}

/// Bytes in both directions, comparing all of one side's scanpaths with all of the other's.
fn bytes_per_cell(engine: Engine, levels: TreeLevels, metric: &Metric, count: usize) -> f64 {
    let alphabet = documented_alphabet(metric);
    let (a, b) = (random(count, alphabet, 1), random(count, alphabet, 2));
    let spec = Spec::new(engine, metric.clone(), PairRule::All, &a, &b).unwrap();
    let pairs = crate::pairs_of(PairRule::All, &a, &b);
    let (host_end, mut join_end) = memory_pair();
    let mut host_end = Counted::new(host_end);
    let side = |role: Role, own: &Cohort, channel: &mut dyn Channel| {
        let own: Vec<&Scanpath> = own.entries.iter().map(|entry| &entry.scanpath).collect();
        let job = Job::new(&spec, role, &own, count, &pairs).unwrap();
        let answers = engine.run(&job.with_tree_levels(levels), channel, &());
        assert_eq!(answers.unwrap().len(), count * count);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| side(Role::Join, &b, &mut join_end));
        side(Role::Host, &a, &mut host_end);
    });
    let traffic = host_end.traffic();
    let cells = (count * count * 100 * 100) as f64;
    (traffic.sent + traffic.received) as f64 / cells
}

#[test]
fn bytes_per_cell_stay_within_their_targets() {
    check_bytes(&[
        (Engine::Garbled, TreeLevels::Four, true, 2, 1_650.0),
        (Engine::Shares, TreeLevels::Eight, true, 6, 120.0),
        (Engine::Shares, TreeLevels::Four, false, 12, 31.5),
    ]);
}

#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn bytes_per_cell_of_many_stay_within_their_targets() {
    check_bytes(&[
        (Engine::Garbled, TreeLevels::Four, true, 3, 1_650.0),
        (Engine::Shares, TreeLevels::Eight, true, 6, 120.0),
        (Engine::Shares, TreeLevels::Four, true, 6, 200.0),
        (Engine::Shares, TreeLevels::Eight, false, 20, 16.0),
        (Engine::Shares, TreeLevels::Four, false, 20, 29.5),
    ]);
}

/// Each case has the engine, the tree depth, whether it is ScanMatch or Levenshtein, the scanpaths of a side, and the
/// upper bound in bytes.
fn check_bytes(cases: &[(Engine, TreeLevels, bool, usize, f64)]) {
    for &(engine, levels, is_scanmatch, count, max_bytes) in cases {
        let metric = match is_scanmatch {
            true => scanmatch(),
            false => Metric::Levenshtein,
        };
        let bytes = bytes_per_cell(engine, levels, &metric, count);
        println!("{engine:?}, {levels:?}, {}: {bytes:.1}", metric.name());
        assert!(
            bytes <= max_bytes,
            "{engine:?}, {levels:?}: {bytes} of {max_bytes}"
        );
    }
}
