//! Errors in a metric and its parameters.

/// A metric that cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MetricError {
    /// A cost, penalty or radius below zero.
    #[error("the {name} is {value}, but must be 0 or more")]
    Negative {
        /// The parameter's name.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A cost that is NaN or infinite.
    #[error("the {name} is not a finite number")]
    NotFinite {
        /// The parameter's name.
        name: &'static str,
    },
    /// A cost that is out of range after scaling.
    #[error(
        "the {name} {value} is too large: multiplied by the scale {scale} it must not exceed {max}; choose {}",
        if *scale > 1.0 { "a smaller scale" } else { "smaller numbers" },
        max = crate::MAX_COST
    )]
    TooLarge {
        /// The parameter's name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The fixed-point scale.
        scale: f64,
    },
    /// A scale of zero, or too large.
    #[error("the scale is {scale}, but must be a whole number between 1 and {max}; for ScanMatch it may be any positive number up to that", max = crate::scale::MAX_SCALE)]
    Scale {
        /// The value given.
        scale: f64,
    },
    /// A precision that is invalid or that no scale achieves.
    #[error("the precision is {precision}, but must be at least {min} and below 1; a gap score far below zero needs a larger one", min = crate::scanmatch::MIN_PRECISION)]
    Precision {
        /// The value given.
        precision: f64,
    },
    /// A ScanMatch gap that would reward gaps more than matches.
    #[error(
        "ScanMatch needs a gap score of at most half the threshold: the gap is {gap}, the threshold {threshold}"
    )]
    GapAboveHalfThreshold {
        /// The gap score.
        gap: f64,
        /// The threshold.
        threshold: f64,
    },
    /// A threshold at or below zero.
    #[error("the ScanMatch threshold is {threshold}, but must be above zero")]
    Threshold {
        /// The value given.
        threshold: f64,
    },
    /// A threshold that every pair meets, or none does.
    #[error("a threshold of {threshold} gives the same answer for every pair: {reason}")]
    TrivialThreshold {
        /// The value given.
        threshold: f64,
        /// Why.
        reason: &'static str,
    },
    /// A score that is divided by a length, which is hidden.
    #[error("the score depends on the lengths of scanpaths, which are hidden")]
    NeedsLengths,
    /// The score is divided by the length of the longer scanpath.
    #[error(
        "the score is divided by the length of the longer scanpath, and both are empty; leave such pairs out, or use another metric"
    )]
    EmptyPair,
    /// A metric that needs at least one letter on each side.
    #[error("{metric} is not defined for an empty scanpath; leave it out, or use another metric")]
    EmptyScanpath {
        /// The metric.
        metric: &'static str,
    },
    /// A raw result was requested for a metric that is computed in the clear only.
    #[error("this metric is not computed in integers")]
    NoIntegers,
    /// A modulator outside 0 to 1.
    #[error("the modulator is {modulator}, but must be between 0 and 1")]
    Modulator {
        /// The value given.
        modulator: f64,
    },
    /// A viewing geometry without a positive distance or size.
    #[error("the viewing distance and the size of a pixel must be finite numbers above 0")]
    View,
    /// A screen without a size, or too many grid cells or duration classes.
    #[error(
        "fixations are rounded to at most {max} cells of a grid over the screen, and to at most 65536 combinations of a cell and a duration", max = crate::MAX_CELLS
    )]
    Classes,
    /// Duration classes that are not positive, or not in ascending order.
    #[error("the durations to round to must be greater than 0 and in ascending order, each once")]
    DurationOrder,
    /// A fixation metric on a cohort that has only letters.
    #[error("{metric} compares fixations, but there are only letters")]
    NeedsFixations {
        /// The metric.
        metric: &'static str,
    },
    /// A raw result above the largest rank.
    #[error("no distance has this rank")]
    NoSuchRank,
    /// A minimum line length out of range.
    #[error("the minimum length of a line is {line}, but must be from 2 to {max}", max = crate::non_alignment::MAX_LINE)]
    Line {
        /// The value given.
        line: u32,
    },
    /// A window out of range.
    #[error("the window has {window} letters, but must have 1 to {max}", max = crate::non_alignment::MAX_WINDOW)]
    Window {
        /// The value given.
        window: u32,
    },
    /// No measures, or a duplicate.
    #[error("name at least one measure, and none twice")]
    Measures,
    /// A threshold for several measures, or for one that can be undefined.
    #[error("a threshold needs one measure that is defined for every pair")]
    OneMeasure,
    /// Measures that do not fit into one raw result.
    #[error(
        "the numbers of a pair take {bits} bits together, but private engines reveal at most 63; ask for fewer numbers, or leave out very long scanpaths"
    )]
    TooManyBits {
        /// The bits they need.
        bits: u32,
    },
    /// A grid with fewer cells than the alphabet has letters.
    #[error("the alphabet ({alphabet}) does not fit a {grid} grid of {cells} cells")]
    GridTooSmall {
        /// The alphabet in words.
        alphabet: String,
        /// The grid.
        grid: String,
        /// Its cells.
        cells: u32,
    },
    /// A substitution table with fewer rows than the alphabet has letters.
    #[error(
        "the substitution table has {table} rows, but the alphabet ({alphabet}) has more letters"
    )]
    TableTooSmall {
        /// The number of rows of the table.
        table: u32,
        /// The alphabet in words.
        alphabet: String,
    },
    /// A scanpath that is too long.
    #[error("a scanpath has {length} letters; at most {max} are supported", max = crate::MAX_LENGTH)]
    TooLong {
        /// Its length.
        length: usize,
    },
    /// A letter that the alphabet of the comparison does not have.
    #[error("letter {position} of a scanpath is outside the alphabet ({alphabet})")]
    OutsideAlphabet {
        /// Its position, from 1.
        position: usize,
        /// The alphabet in words.
        alphabet: String,
    },
    /// A pair that refers to a scanpath that does not exist.
    #[error("a pair refers to scanpath {index}, but there are {count} (counted from 0)")]
    NoSuchScanpath {
        /// The index in the pair.
        index: usize,
        /// The number of scanpaths on that side.
        count: usize,
    },
}
