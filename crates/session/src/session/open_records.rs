//! This side's records of an agreement, before it starts.

use super::{Proposal, Session};
use crate::digests::journal_id;
use crate::disclosure::{AnswerRequest, Charge, DisclosureLedger};
use crate::error::InternalError;
use crate::groups::members;
use crate::journal::Journal;
use crate::ledger::Account;
use crate::records::AgreedPairs;
use crate::scanpath_limit::LimitSummary;
use crate::{SessionError, StateDir};
use veilpath_protocol::ProtocolError;

impl Session {
    /// Checks that scores of single pairs do not reveal what answers about groups hide, if the other side learns them. Counts nothing.
    pub(super) fn learned_pairs(
        &self,
        proposal: &Proposal,
        agreed: &AgreedPairs<'_>,
        id: &[u8; 32],
        state_dir: Option<&StateDir>,
    ) -> Result<Option<(DisclosureLedger, Charge)>, SessionError> {
        if !proposal.spec.reveal_to.includes(self.role.other()) {
            return Ok(None);
        }
        let ledger = DisclosureLedger::open(state_dir, &self.identity, self.peer);
        let answer = AnswerRequest::of(id, proposal.spec.reveal);
        let answer = answer.ok_or(InternalError::UnagreedAnswer)?;
        let members = members::of(&proposal.cohort, self.role, agreed.pairs);
        let charge = ledger.check(&answer, &members, proposal.disclosure)?;
        Ok(Some((ledger, charge)))
    }

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
        let counted_by_answer = agreed.counted_by_answer();
        if halves && lost.contains(&true) && !estimate_only {
            // Which of these were sent is not known, so none is computed again.
            let unknown = |&at: &usize| match counted_by_answer {
                Some(_) => at >= pairs && !journal.is_sent(at),
                None => at < pairs && lost[agreed.own(at)] && !journal.is_sent(at),
            };
            let unknown: Vec<usize> = (0..places).filter(unknown).collect();
            journal.mark_sent(&unknown)?;
        }
        // An answer about groups is limited by the disclosure ledger instead, unless it names single scanpaths.
        let learns_pairs = reveal.group_question().is_none();
        let peer_learns = learns_pairs && proposal.spec.reveal_to.includes(role.other());
        let planned = |&pair: &usize| match halves {
            true => peer_learns && !journal.is_sent(pair),
            false => !journal.is_answered(pair) && journal.half(pair).is_none(),
        };
        let planned = match counted_by_answer {
            Some(counted) if !journal.is_sent(pairs) => counted,
            Some(_) => Vec::new(),
            None => agreed.comparisons((0..pairs).filter(planned)),
        };
        let totals = match estimate_only {
            true => account.assess(&planned)?,
            false => account.check(&planned)?,
        };
        let max_agreements = totals.max_agreements;
        let limit = LimitSummary::new(&account.limits()?, &plan_limits, totals);
        Ok((journal, account, (max_agreements, limit)))
    }
}
