//! The paper's tables and figures as numbers. Its Alice is the key holder, our host; its Bob is the matrix owner, our joining side.

use veilpath_paillier::KeySize;

/// A mean and its standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

const fn spread(mean: f64, deviation: f64) -> Spread {
    Spread { mean, deviation }
}

/// The key sizes, in the order of the tables here.
pub(super) const KEYS: [KeySize; 4] = [
    KeySize::Bits512,
    KeySize::Bits1024,
    KeySize::Bits2048,
    KeySize::Bits3072,
];

/// Seconds per comparison of two random scanpaths of a length, by key.
pub(super) const TIMES: [(usize, [Spread; 4]); 10] = [
    (
        8,
        [
            spread(0.43, 0.02),
            spread(3.04, 0.18),
            spread(22.52, 3.83),
            spread(73.37, 1.20),
        ],
    ),
    (
        10,
        [
            spread(0.62, 0.03),
            spread(4.49, 0.24),
            spread(32.79, 5.20),
            spread(108.29, 1.81),
        ],
    ),
    (
        20,
        [
            spread(2.27, 0.09),
            spread(16.15, 0.69),
            spread(114.73, 7.99),
            spread(372.95, 9.03),
        ],
    ),
    (
        50,
        [
            spread(13.92, 0.67),
            spread(105.08, 13.18),
            spread(688.61, 27.69),
            spread(2.27e3, 87.83),
        ],
    ),
    (
        100,
        [
            spread(58.51, 7.64),
            spread(401.69, 30.42),
            spread(2.62e3, 136.44),
            spread(8.04e3, 860.09),
        ],
    ),
    (
        200,
        [
            spread(239.96, 24.77),
            spread(1.58e3, 71.86),
            spread(1.01e4, 1.24e3),
            spread(3.18e4, 3.29e3),
        ],
    ),
    (
        300,
        [
            spread(542.05, 36.46),
            spread(3.39e3, 243.72),
            spread(2.26e4, 2.72e3),
            spread(7.07e4, 6.74e3),
        ],
    ),
    (
        400,
        [
            spread(951.74, 52.60),
            spread(5.69e3, 490.49),
            spread(4.01e4, 4.74e3),
            spread(1.25e5, 1.06e4),
        ],
    ),
    (
        500,
        [
            spread(1.49e3, 72.35),
            spread(9.47e3, 1.03e3),
            spread(6.24e4, 7.13e3),
            spread(1.96e5, 1.48e4),
        ],
    ),
    (
        1000,
        [
            spread(5.33e3, 534.42),
            spread(3.66e4, 4.17e3),
            spread(2.46e5, 1.46e4),
            spread(7.80e5, 3.31e5),
        ],
    ),
];

/// Alice's seconds per cell, by key.
pub(super) const ALICE_PER_CELL: [Spread; 4] = [
    spread(0.001_443, 0.000_164),
    spread(0.009_914, 0.000_851),
    spread(0.063_402, 0.007_192),
    spread(0.206_448, 0.016_885),
];

/// Bob's seconds per cell, by key. They include Alice's and the network.
pub(super) const BOB_PER_CELL: [Spread; 4] = [
    spread(0.005_462, 0.000_625),
    spread(0.037_187, 0.003_511),
    spread(0.252_462, 0.028_816),
    spread(0.820_365, 0.059_302),
];

/// Megabytes of one comparison of 100 × 100 letters, in both directions, by key; Bob sent about two thirds.
pub(super) const MEGABYTES: [f64; 4] = [13.0, 26.5, 53.2, 79.7];

/// The mean number of candidates in a matrix of this size.
pub(super) const CANDIDATES: (u32, f64) = (20, 6.8);

/// The base-2 logarithm of the number of orders up to a step, in a matrix of 200 × 200.
pub(super) const ORDERS: (u32, [(usize, f64); 2]) = (200, [(46, 80.0), (65, 128.0)]);

/// How long the scanpaths of one side of a data set are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    pub(super) mean: f64,
    pub(super) deviation: f64,
    pub(super) min: usize,
    pub(super) max: usize,
}

/// A data set of the paper.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataSet {
    pub(super) name: &'static str,
    /// Alice's scanpaths, and Bob's.
    pub(super) lengths: [Lengths; 2],
    pub(super) comparisons: usize,
    /// Cells of a comparison.
    pub(super) cells: Spread,
    /// Seconds per comparison, by key.
    pub(super) seconds: [Spread; 4],
    /// Numbers of stimuli, and how many scanpaths Alice and Bob have of each. The paper gives the mean counts and the number of
    /// comparisons; these whole numbers are closest to the former and match the latter exactly.
    pub(super) stimuli: &'static [(usize, usize, usize)],
}

pub(super) const DATA_SETS: [DataSet; 3] = [
    DataSet {
        name: "Salient360",
        lengths: [
            Lengths {
                mean: 23.743,
                deviation: 13.040,
                min: 2,
                max: 63,
            },
            Lengths {
                mean: 23.128,
                deviation: 12.797,
                min: 2,
                max: 66,
            },
        ],
        comparisons: 70_796,
        cells: spread(569.4, 508.4),
        seconds: [
            spread(3.69, 3.31),
            spread(24.9, 22.7),
            spread(149.3, 133.6),
            spread(460.1, 391.4),
        ],
        stimuli: &[(27, 51, 48), (2, 47, 50)],
    },
    DataSet {
        name: "EHTask",
        lengths: [
            Lengths {
                mean: 416.156,
                deviation: 197.538,
                min: 95,
                max: 849,
            },
            Lengths {
                mean: 479.978,
                deviation: 173.409,
                min: 150,
                max: 825,
            },
        ],
        comparisons: 135,
        cells: spread(201_333.5, 125_776.8),
        seconds: [
            spread(1_130.1, 704.9),
            spread(7_744.1, 4_837.8),
            spread(50_297.0, 31_178.4),
            spread(132_552.7, 85_561.4),
        ],
        stimuli: &[(15, 3, 3)],
    },
    DataSet {
        name: "360em",
        lengths: [
            Lengths {
                mean: 118.948,
                deviation: 39.342,
                min: 26,
                max: 210,
            },
            Lengths {
                mean: 116.648,
                deviation: 44.663,
                min: 18,
                max: 192,
            },
        ],
        comparisons: 1_320,
        cells: spread(13_808.4, 7_142.3),
        seconds: [
            spread(75.4, 38.9),
            spread(522.9, 273.3),
            spread(3_404.9, 1_811.2),
            spread(10_310.6, 5_575.1),
        ],
        stimuli: &[(4, 14, 12), (3, 12, 18)],
    },
];
