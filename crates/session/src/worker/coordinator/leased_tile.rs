//! The journal and the account of one tile at the coordinator.

use super::super::plan::AgreedPlan;
use super::super::tile::TilePairs;
use super::rules::{Rules, max_entries};
use crate::StateDir;
use crate::counted_store::{Bookkeeping, MAX_STARTS};
use crate::disclosure::WithdrawalWatch;
use crate::error::{Limit, SessionError};
use crate::journal::entry::AnswerParts;
use crate::ledger::LedgerFile;
use crate::session::open_storage::OpenStorage;
use crate::stored::Description;

/// The journal and the account of a tile, and the rules for what a worker may add.
#[derive(Debug)]
pub(crate) struct LeasedTile<'a> {
    plan: &'a AgreedPlan,
    pairs: TilePairs,
    pub(super) storage: OpenStorage,
    ledger: LedgerFile,
    max_starts: u32,
    max_entries: u64,
    /// The participants of this side about whom the peer learns something.
    withdrawals: WithdrawalWatch,
    /// The answer whose numbers are being received.
    parts: AnswerParts,
}

impl<'a> LeasedTile<'a> {
    /// Opens the journal and the account of a tile, and keeps them locked. Counts what a crash left uncounted.
    pub(crate) fn open(
        plan: &'a AgreedPlan,
        pairs: TilePairs,
        state_dir: &'a StateDir,
        ledger: &LedgerFile,
    ) -> Result<Self, SessionError> {
        let withdrawals = plan.check_withdrawn(state_dir, [pairs.tile])?;
        let lifted = ledger.inspect(|ledger| {
            ledger.check_tile(&pairs.id, pairs.tile)?;
            Ok::<_, SessionError>(ledger.lifted)
        })??;
        let agreed = pairs.agreed(plan);
        let scope = pairs.storage_scope(plan, &agreed);
        let mut journal = scope.journal(Some(&state_dir.journals()))?;
        journal.create()?;
        let storage = scope.open(journal, ledger.clone())?;
        let role = plan.role();
        if plan.spec.reveal_to.includes(role) {
            storage.journal.describe(|id| {
                let outcome = plan.without_results(&pairs);
                Description::of_tile(id, plan.peer(), role, outcome).to_bytes()
            })?;
        }
        Ok(Self {
            plan,
            max_starts: MAX_STARTS.saturating_mul(lifted.saturating_add(1)),
            max_entries: max_entries(pairs.pairs.len(), lifted),
            pairs,
            withdrawals,
            storage,
            ledger: ledger.clone(),
            parts: AnswerParts::default(),
        })
    }

    /// Stores and counts entries of a worker, durably, up to the first that it may not add.
    pub(crate) fn store(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        let agreed = self.pairs.agreed(self.plan);
        let mut rules = Rules {
            journal: self.pairs.storage_scope(self.plan, &agreed).journal_id(),
            agreed,
            max_starts: self.max_starts,
            max_entries: self.max_entries,
            parts: &mut self.parts,
        };
        let mut bookkeeping = Bookkeeping {
            journal: &mut self.storage.journal,
            account: &mut self.storage.account,
            withdrawals: &mut self.withdrawals,
            failure: None,
        };
        let stored = rules.store(&mut bookkeeping, bytes);
        if matches!(
            stored,
            Err(SessionError::Limit(
                Limit::TooManyStarts { .. } | Limit::TooManyEntries { .. }
            ))
        ) && !self.ledger.exists()
        {
            // Only a peer with a ledger can be unblocked.
            self.ledger.update(|_| Ok(()))?;
        }
        stored
    }

    /// Whether both sides have everything.
    pub(super) fn is_complete(&self) -> bool {
        self.storage.journal.is_complete()
    }

    #[cfg(test)]
    pub(crate) fn journal_mut(&mut self) -> &mut crate::journal::Journal {
        &mut self.storage.journal
    }
}
