//! What one side proposes to the other.

use crate::disclosure::DisclosureLimits;
use crate::error::UsageError;
use crate::scanpath_limit::ScanpathLimit;
use crate::{HostKey, SessionError};
use veilpath_metrics::Cohort;
use veilpath_protocol::{EngineChoice, JobError, MAX_TILES, ProtocolError, Spec, Tile};

/// What one side proposes to the other.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// What to compute, as this side sees it.
    pub spec: Spec,
    /// Whether the sides choose between the proven engines, depending on the connection. The plan then names either of
    /// them.
    pub auto_engine: bool,
    /// This side's scanpaths.
    pub cohort: Cohort,
    /// Whether ids and stimuli are hidden from the other side.
    pub pseudonyms: bool,
    /// Whether to stop before the computation.
    pub estimate_only: bool,
    /// Whether to compute all pairs again, under a new agreement that counts again. Both sides must ask for it.
    pub fresh: bool,
    /// The most comparisons of one scanpath of this side with this peer, in all sessions.
    pub limit_per_scanpath: ScanpathLimit,
    /// How many letters this side's file or options say there are. The default limit depends on it.
    pub declared_letters: Option<u32>,
    /// The limits on group answers.
    pub disclosure: DisclosureLimits,
    /// The most memory that this side may use, in bytes.
    pub memory: Option<u64>,
    /// The part of the plan to compute; `None` for all of it. All tiles of a plan are one agreement.
    pub tile: Option<Tile>,
    /// Agree on a plan of this many tiles, and compute none: the tiles have sessions of their own, which may use worker keys.
    pub tile_count: Option<u32>,
    /// The host's key, for an engine that takes one; without it, a new one is made for this session. Never use a key for two
    /// sessions with a real partner: it could have numbers of the first one decrypted as results of the second, and nothing would
    /// count them. A key is for measurements and for both sides on one machine.
    pub key: Option<HostKey>,
}

impl Proposal {
    /// Checks that the plan can be computed, in tiles if it has any.
    pub(super) fn check(&self) -> Result<(), SessionError> {
        self.spec.check()?;
        let Some(count) = self.plan_tile_count() else {
            return Ok(());
        };
        if !(1..=MAX_TILES).contains(&count) {
            return Err(UsageError::TileCount.into());
        }
        if self.spec.reveal.group_question().is_some() {
            return Err(ProtocolError::Job(JobError::TileOfGroupAnswer).into());
        }
        match (self.auto_engine, self.fresh) {
            (true, _) => Err(UsageError::TileWithoutEngine.into()),
            (_, true) if self.tile_count.is_none() => Err(UsageError::FreshTile.into()),
            (false, _) => Ok(()),
        }
    }

    /// The number of tiles of the plan, if it has tiles.
    pub(crate) fn plan_tile_count(&self) -> Option<u32> {
        self.tile_count.or(self.tile.map(Tile::count))
    }

    /// The engine that this side names, or an open choice.
    pub(super) fn engine_choice(&self) -> EngineChoice {
        match self.auto_engine {
            true => EngineChoice::Auto,
            false => self.spec.engine.into(),
        }
    }
}
