//! Compares two cohorts that are both on this machine.

use crate::progress::CellObserver;
use crate::{Error, EventSink, PlannedComparison};
use std::str::FromStr;
use std::time::Instant;
use veilpath_metrics::Cohort;
use veilpath_protocol::{
    Cost, Engine, Observer, Outcome, PairBlocks, PlanTile, Spec, Tile, compare_locally,
    compare_locally_with_coins, compare_tile_locally, count_pairs, tile_lengths,
};
use veilpath_session::{HostKey, compare_tile_on_loopback, local_plan_id};

/// Options for running a planned comparison.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// The host's Paillier key; `None` to generate one.
    pub key: Option<HostKey>,
    /// The coins of a private test, for repeating its permutations in the clear.
    pub coins: Option<TestCoins>,
}

/// The seed of a test's permutations. In a result file, it is 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestCoins([u8; 32]);

/// Text that is not 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the 64 hexadecimal digits of `coins` in the result of a test")]
pub struct TestCoinsError;

impl FromStr for TestCoins {
    type Err = TestCoinsError;

    fn from_str(text: &str) -> Result<Self, TestCoinsError> {
        let mut bytes = [0; 32];
        if text.len() != 2 * bytes.len() || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(TestCoinsError);
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * at..2 * at + 2).ok_or(TestCoinsError)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| TestCoinsError)?;
        }
        Ok(Self(bytes))
    }
}

/// Runs a planned comparison.
///
/// The `plain` engine computes directly. Any other engine runs both roles over TLS on this machine, as two institutions
/// would.
pub fn compare(
    planned: &PlannedComparison,
    options: CompareOptions,
    events: &dyn EventSink,
) -> Result<Outcome, Error> {
    run(planned, options, events).map_err(|error| error.or_cancelled(events))
}

fn run(
    planned: &PlannedComparison,
    options: CompareOptions,
    events: &dyn EventSink,
) -> Result<Outcome, Error> {
    let PlannedComparison { a, b, spec, .. } = planned;
    if options.coins.is_some() && !takes_coins(spec) {
        return Err(Error::NoUseForCoins);
    }
    let cells = match planned.tile {
        None => spec.cells(&count_pairs(spec.pair_rule, a, b)),
        Some(tile) => spec.cells(&tile_blocks(spec, a, b, tile).count(a, b)),
    };
    let observer = CellObserver::new(cells, events);
    let mut outcome = match spec.engine {
        Engine::Plain => {
            let start = Instant::now();
            let mut outcome = match (planned.tile, options.coins) {
                (Some(tile), _) => compare_tile_locally(spec.clone(), a, b, tile, &observer)?,
                (None, None) => compare_locally(spec.clone(), a, b, &observer)?,
                (None, Some(TestCoins(coins))) => {
                    compare_locally_with_coins(spec.clone(), a, b, coins, &observer)?
                }
            };
            // With only one party, nothing is sent or revealed.
            outcome.cost = Cost {
                seconds: start.elapsed().as_secs_f64(),
                cells: outcome.cost.cells,
                ..Cost::default()
            };
            outcome.revealed.clear();
            outcome
        }
        Engine::Paillier(_) | Engine::Garbled | Engine::Shares => {
            let observers: [&dyn Observer; 2] = [&observer, &()];
            compare_tile_on_loopback(spec, options.key, [a, b], planned.tile, observers)
                .map_err(Error::Loopback)?
        }
    };
    // Only the scanpaths count: a copy of a file without its header is the same cohort.
    outcome.one_cohort = a.entries == b.entries;
    outcome.tile = match planned.tile {
        None => None,
        Some(tile) => Some(PlanTile {
            tile,
            agreement: local_plan_id(spec, tile.count(), [a, b])?,
            pairs: count_pairs(spec.pair_rule, a, b).pairs,
        }),
    };
    Ok(outcome)
}

fn tile_blocks(spec: &Spec, a: &Cohort, b: &Cohort, tile: Tile) -> PairBlocks {
    let [first, second] = [a, b].map(|cohort| tile_lengths(spec, cohort));
    PairBlocks::of(spec.pair_rule, a, b).tile([&first, &second], tile)
}

/// Whether coins may be given. In a private test, both sides draw them together.
fn takes_coins(spec: &Spec) -> bool {
    let question = spec.reveal.group_question();
    spec.engine == Engine::Plain && question.is_some_and(|it| it.permutations().is_some())
}
