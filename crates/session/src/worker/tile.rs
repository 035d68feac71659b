//! The pairs of one tile, as a worker and its coordinator derive them from the plan.

use super::plan::AgreedPlan;
use crate::agreement::Terms;
use crate::counted_store::AgreedPairs;
use crate::error::SessionError;
use crate::memory;
use crate::roster::{self, Roster};
use crate::session::open_storage::{StorageScope, all_comparisons};
use std::sync::Arc;
use veilpath_protocol::{JobSize, PairBlocks, Role, SideSize, Tile};

#[cfg(test)]
thread_local! {
    /// How often this thread has listed the pairs of a tile.
    pub(super) static LISTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The pairs of a tile.
#[derive(Debug)]
pub(super) struct TilePairs {
    pub(super) tile: Tile,
    /// The agreement.
    pub(super) id: [u8; 32],
    /// The pairs of the whole plan.
    pub(super) blocks: Arc<PairBlocks>,
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) cells: Vec<u64>,
    /// The comparisons of each scanpath of this side in the whole plan.
    whole: Vec<u64>,
    pub(super) size: JobSize,
    /// Memory that the rosters need.
    pub(super) roster_bytes: u64,
}

impl AgreedPlan {
    /// The pairs of a tile, if a worker with this much memory can compare them.
    pub(super) fn pairs_of(
        &self,
        tile: Tile,
        memory: Option<u64>,
    ) -> Result<TilePairs, SessionError> {
        #[cfg(test)]
        LISTED.with(|listed| listed.set(listed.get() + 1));
        let (role, spec, [host, join]) = (self.role(), &self.spec, &self.rosters);
        let id = self.id()?;
        let blocks = Arc::clone(self.blocks());
        let terms = |roster| Terms::new(spec, None, roster, String::new());
        let (of_host, of_join) = (terms(host)?, terms(join)?);
        let roster_bytes = match role {
            Role::Host => memory::rosters(&of_host, &of_join),
            Role::Join => memory::rosters(&of_join, &of_host),
        };
        let size = |pairs: &PairBlocks| {
            let side = |roster: &Roster, scanpaths: Vec<usize>| {
                SideSize::of(scanpaths.iter().map(|&index| roster.length(index)))
            };
            JobSize {
                pairs: pairs.pairs(),
                host: side(host, pairs.rows()),
                join: side(join, pairs.columns()),
            }
        };
        let fits = |pairs: &PairBlocks| {
            let needed = memory::whole_plan(spec, role, roster_bytes, &size(pairs));
            memory::check(needed, memory)
        };
        let of_tile = roster::pairs(&blocks, host, join, Some(tile), fits)?;
        let pairs = of_tile.list();
        let cells = pairs.iter();
        let cells = cells.map(|&(i, j)| host.length(i).saturating_mul(join.length(j)));
        Ok(TilePairs {
            tile,
            id,
            cells: cells.collect(),
            pairs,
            whole: all_comparisons(&blocks, spec, role, [host, join]),
            size: size(&of_tile),
            blocks,
            roster_bytes,
        })
    }
}

impl TilePairs {
    /// The pairs as this side stores and counts them.
    pub(super) fn agreed<'a>(&'a self, plan: &'a AgreedPlan) -> AgreedPairs<'a> {
        AgreedPairs {
            role: plan.role(),
            spec: &plan.spec,
            pairs: &self.pairs,
            cells: &self.cells,
            scanpaths: plan.names.len(),
        }
    }

    /// Which journal and account belong to the tile.
    pub(super) fn storage_scope<'a>(
        &'a self,
        plan: &'a AgreedPlan,
        agreed: &'a AgreedPairs<'a>,
    ) -> StorageScope<'a> {
        StorageScope {
            agreed,
            tile: Some(self.tile),
            whole: Some(&self.whole),
            numbers: 0,
            id: &self.id,
            estimate_only: false,
            names: &plan.names,
            limits: &plan.limits,
        }
    }
}
