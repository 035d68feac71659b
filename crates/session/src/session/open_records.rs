//! This side's records of an agreement, before it starts.

use super::{Proposal, Session};
use crate::digests::journal_id;
use crate::journal::Journal;
use crate::ledger::Account;
use crate::records::AgreedPairs;
use crate::scanpath_limit::LimitSummary;
use crate::{SessionError, StateDir};
use veilpath_protocol::ProtocolError;

impl Session {
    /// Opens the journal and the account of an agreement, and checks the limit.
    pub(super) fn open_records(
        &self,
        proposal: &Proposal,
        agreed: &AgreedPairs<'_>,
        numbers: usize,
        id: &[u8; 32],
        state_dir: Option<&StateDir>,
        estimate_only: bool,
    ) -> Result<(Journal, Account, (u64, LimitSummary)), SessionError> {
        let (role, reveal) = (self.role, proposal.spec.reveal);
        let (name, pairs) = (journal_id(id, role), agreed.pairs.len());
        let places = pairs + numbers;
        let mut journal = match state_dir {
            Some(state_dir) => Journal::open(&state_dir.journals(), name, places, reveal)?,
            None => Journal::in_memory(name, places, reveal),
        };
        let plan_limits = proposal
            .limit_per_scanpath
            .of(
                &proposal.spec,
                role,
                &proposal.cohort,
                proposal.declared_letters,
            )
            .map_err(ProtocolError::from)?;
        let (account, lost) = Account::open(
            self.ledger(state_dir),
            &self.identity,
            &proposal.cohort,
            id,
            &plan_limits,
            &agreed.known(&journal),
        )?;
        let halves = proposal.spec.engine.has_halves();
        if halves && lost.contains(&true) && !estimate_only {
            // Which of these were sent is not known, so none is computed again.
            let unknown = |&pair: &usize| lost[agreed.own(pair)] && !journal.is_sent(pair);
            let unknown: Vec<usize> = (0..pairs).filter(unknown).collect();
            journal.mark_sent(&unknown)?;
        }
        // An answer about groups is limited by the disclosure ledger instead.
        let learns_pairs = reveal.group_question().is_none();
        let peer_learns = learns_pairs && proposal.spec.reveal_to.includes(role.other());
        let planned = |&pair: &usize| match halves {
            true => peer_learns && !journal.is_sent(pair),
            false => !journal.is_answered(pair) && journal.half(pair).is_none(),
        };
        let planned = agreed.comparisons((0..pairs).filter(planned));
        let totals = match estimate_only {
            true => account.assess(&planned)?,
            false => account.check(&planned)?,
        };
        let max_agreements = totals.max_agreements;
        let limit = LimitSummary::new(&account.limits()?, &plan_limits, totals);
        Ok((journal, account, (max_agreements, limit)))
    }
}
