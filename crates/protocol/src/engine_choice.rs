//! Chooses between the proven engines, depending on the connection.
//!
//! Two engines are proven secure against semi-honest parties. One sends more bytes, the other takes more round trips,
//! so which is faster depends on the plan and the connection. The other side can slow the connection down or lie about
//! it, so only these two are ever chosen automatically.

use crate::engines::{garbled, shares};
use crate::{Engine, Estimate, JobError, JobSize, Link, Spec, Workload};
use serde::{Deserialize, Serialize};
use veilpath_mpc::ot::correlated;

/// How the engine of a comparison is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineChoice {
    /// One of the proven engines, chosen once the connection is known: [`ProvenEstimates::preferred`].
    Auto,
    /// The engine that the user chose.
    Fixed(Engine),
}

impl From<Engine> for EngineChoice {
    fn from(engine: Engine) -> Self {
        Self::Fixed(engine)
    }
}

impl EngineChoice {
    /// The name of [`EngineChoice::Auto`] in options and plans.
    pub const AUTO: &'static str = "auto";

    /// The fixed engine, or one that has all properties of the candidates except speed.
    pub fn representative(self) -> Engine {
        match self {
            Self::Auto => Engine::Garbled,
            Self::Fixed(engine) => engine,
        }
    }
}

impl Engine {
    /// The engines that are proven to reveal nothing but results to a side that follows the protocol. They support the
    /// same plans, reveal the same, and count equally towards limits.
    pub const PROVEN: [Engine; 2] = [Engine::Garbled, Engine::Shares];

    /// The proven engine with this name.
    pub fn proven(name: &str) -> Option<Self> {
        let mut all = Self::PROVEN.into_iter();
        all.find(|engine| engine.name() == name)
    }
}

/// The depth of the `shares` engine's seed trees. Deeper trees mean less traffic and more computation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum TreeLevels {
    /// 4 bytes per transfer.
    #[default]
    Four,
    /// 2 bytes per transfer, and several times the computation.
    Eight,
}

impl TreeLevels {
    /// All depths.
    pub const ALL: [Self; 2] = [Self::Four, Self::Eight];

    /// The same for the transfers.
    pub(crate) fn of_transfers(self) -> correlated::TreeLevels {
        match self {
            Self::Four => correlated::TreeLevels::FOUR,
            Self::Eight => correlated::TreeLevels::EIGHT,
        }
    }
}

impl From<TreeLevels> for u8 {
    fn from(levels: TreeLevels) -> Self {
        match levels {
            TreeLevels::Four => 4,
            TreeLevels::Eight => 8,
        }
    }
}

impl TryFrom<u8> for TreeLevels {
    type Error = UnknownTreeLevels;

    fn try_from(levels: u8) -> Result<Self, UnknownTreeLevels> {
        let mut all = Self::ALL.into_iter();
        all.find(|candidate| u8::from(*candidate) == levels)
            .ok_or(UnknownTreeLevels)
    }
}

/// Seed trees have four or eight levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("seed trees have four or eight levels")]
pub struct UnknownTreeLevels;

/// Secret sharing is chosen only if it saves at least this much time.
const MIN_SAVED_SECONDS: f64 = 2.0;

/// Secret sharing is chosen only if it takes at most this fraction of the garbled-circuit time.
const MAX_TIME_FRACTION: f64 = 0.75;

/// Estimates for the proven engines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProvenEstimates {
    /// With garbled circuits.
    pub garbled: Estimate,
    /// With secret sharing.
    pub shares: Estimate,
    /// The tree depth with which secret sharing is faster.
    pub tree_levels: TreeLevels,
}

impl ProvenEstimates {
    /// Secret sharing if it saves at least a quarter of the time, and at least two seconds. Otherwise garbled circuits, which
    /// give a cheating partner fewer options and store results pair by pair.
    pub fn preferred(&self) -> Engine {
        let (garbled, shares) = (self.garbled.seconds, self.shares.seconds);
        match garbled - shares >= MIN_SAVED_SECONDS && shares <= garbled * MAX_TIME_FRACTION {
            true => Engine::Shares,
            false => Engine::Garbled,
        }
    }
}

impl Spec {
    /// Estimates a job of this size over this connection with each of the proven engines.
    pub fn proven_estimates(&self, work: &Workload, link: &Link) -> ProvenEstimates {
        let with = |engine: Engine, levels: TreeLevels| {
            let spec = Spec {
                engine,
                ..self.clone()
            };
            spec.estimate_with(work, link, levels)
        };
        let [four, eight] = TreeLevels::ALL.map(|levels| with(Engine::Shares, levels));
        let (shares, tree_levels) = match eight.seconds < four.seconds {
            true => (eight, TreeLevels::Eight),
            false => (four, TreeLevels::Four),
        };
        ProvenEstimates {
            garbled: with(Engine::Garbled, TreeLevels::default()),
            shares,
            tree_levels,
        }
    }

    /// Checks that the numbers of every pair fit an output of `garbled` and `shares`.
    pub fn check_outputs(&self, size: &JobSize) -> Result<(), JobError> {
        garbled::check_outputs(self, size)
    }

    /// Whether the `shares` engine can compute a job of this size: its look-ups and messages are limited.
    pub fn check_shares(&self, size: &JobSize) -> Result<(), JobError> {
        shares::check(self, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_is_preferred_only_if_it_saves_enough() {
        let estimates = |[garbled, shares]: [f64; 2]| {
            let estimate = |seconds| Estimate {
                seconds,
                ..Estimate::default()
            };
            ProvenEstimates {
                garbled: estimate(garbled),
                shares: estimate(shares),
                tree_levels: TreeLevels::Four,
            }
        };
        for saves_enough in [[8.0, 6.0], [2.5, 0.5], [400.0, 20.0]] {
            assert_eq!(estimates(saves_enough).preferred(), Engine::Shares);
        }
        for saves_little in [
            [1.9, 0.0],
            [3.0, 1.1],
            [100.0, 76.0],
            [1.0, 50.0],
            [0.0, 0.0],
        ] {
            assert_eq!(estimates(saves_little).preferred(), Engine::Garbled);
        }
    }
}
