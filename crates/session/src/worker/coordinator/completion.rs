//! Tracks which tiles of an agreement are complete.

use super::super::plan::AgreedPlan;
use crate::digests::journal_id;
use crate::journal::Journal;
use crate::{SessionError, StateDir};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Tiles of which both sides have everything. Tiles that earlier processes completed are looked up once.
#[derive(Debug, Default)]
pub(super) struct CompleteTiles(Mutex<Option<BTreeSet<u32>>>);

impl CompleteTiles {
    /// Adds a tile that was just completed, if any, and removes the letters of the plan once all are complete. Returns whether it did.
    pub(super) fn add(
        &self,
        tile: Option<u32>,
        plan: &AgreedPlan,
        state_dir: &StateDir,
    ) -> Result<bool, SessionError> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut complete = match cached.take() {
            Some(complete) => complete,
            None => completed_earlier(plan, state_dir)?,
        };
        complete.extend(tile);
        let all = complete.len() as u64 >= u64::from(plan.tile_count());
        *cached = Some(complete);
        let has_letters = all && !plan.is_complete;
        if has_letters {
            state_dir.remove_letters(plan)?;
        }
        Ok(has_letters)
    }
}

fn completed_earlier(
    plan: &AgreedPlan,
    state_dir: &StateDir,
) -> Result<BTreeSet<u32>, SessionError> {
    let (id, role, folder) = (plan.id()?, plan.role(), state_dir.journals());
    let is_complete = |index: &u32| {
        let tile = plan.tile(*index);
        tile.is_some_and(|tile| Journal::ends_complete(&folder, &journal_id(&id, role, Some(tile))))
    };
    Ok((1..=plan.tile_count()).filter(is_complete).collect())
}
