//! This side's journal and account of an agreement, before it starts.

use super::{Proposal, Session};
use crate::counted_store::{AgreedPairs, always_informative};
use crate::digests::ScanpathDigests;
use crate::digests::journal_id;
use crate::disclosure::{AnswerRequest, Charge, DisclosureLedger};
use crate::groups::members;
use crate::journal::Journal;
use crate::ledger::{Account, LedgerFile};
use crate::roster::Roster;
use crate::scanpath_limit::{LimitSummary, Limits};
use crate::{SessionError, StateDir};
use std::path::Path;
use veilpath_protocol::{PairBlocks, ProtocolError, Role, Spec, Tile};

/// The agreement or tile whose journal and account are opened.
#[derive(Clone, Copy)]
pub(crate) struct StorageScope<'a> {
    pub(crate) agreed: &'a AgreedPairs<'a>,
    pub(crate) tile: Option<Tile>,
    /// For a tile, the comparisons of each scanpath of this side in the whole plan.
    pub(crate) whole: Option<&'a [u64]>,
    /// The numbers of a group answer.
    pub(crate) numbers: usize,
    pub(crate) id: &'a [u8; 32],
    pub(crate) estimate_only: bool,
    /// The names of this side's scanpaths in the ledger.
    pub(crate) names: &'a [String],
    pub(crate) limits: &'a Limits,
}

impl Session {
    /// Checks that scores of single pairs do not reveal what group answers hide, if the other side learns them or anything
    /// else about them. Charges nothing.
    pub(crate) fn check_learned_pairs(
        &self,
        proposal: &Proposal,
        plan: &PairBlocks,
        id: &[u8; 32],
        state_dir: Option<&StateDir>,
    ) -> Result<Option<(DisclosureLedger, Charge)>, SessionError> {
        if !is_learned(&proposal.spec, self.role) {
            return Ok(None);
        }
        let ledger = DisclosureLedger::open(state_dir, &self.identity, self.peer);
        let mut answer = AnswerRequest::of(id, proposal.spec.reveal);
        let digests = ScanpathDigests::of(&proposal.cohort, &proposal.spec.metric);
        answer.encoding = Some(digests.settings());
        // For the whole plan, so that the order of its tiles does not matter.
        let own = match self.role {
            Role::Host => plan.rows(),
            Role::Join => plan.columns(),
        };
        let members = members::of(&proposal.cohort, &proposal.spec.metric, own);
        let charge = ledger.check(&answer, &members, proposal.disclosure)?;
        Ok(Some((ledger, charge)))
    }

    /// The names of this side's scanpaths in the ledger, and their limits.
    pub(crate) fn ledger_names_and_limits(
        &self,
        proposal: &Proposal,
    ) -> Result<(Vec<String>, Limits), SessionError> {
        let limits = proposal
            .limit_per_scanpath
            .of(
                &proposal.spec,
                self.role,
                &proposal.cohort,
                proposal.declared_letters,
            )
            .map_err(ProtocolError::from)?;
        Ok((Account::names(&self.identity, &proposal.cohort), limits))
    }
}

/// Whether the other side learns something about the scanpaths of the side with this role. An engine without halves shows
/// it more than the results: with `plain`, the host sees all letters.
pub(crate) fn is_learned(spec: &Spec, role: Role) -> bool {
    !spec.engine.opens_outputs_by_halves() || spec.reveal_to.includes(role.other())
}

/// The comparisons of each scanpath of a side that the other side learns something from, in a whole plan.
pub(crate) fn all_comparisons(
    plan: &PairBlocks,
    spec: &Spec,
    role: Role,
    [host, join]: [&Roster; 2],
) -> Vec<u64> {
    let is_learned = is_learned(spec, role);
    let is_informative = |roster: &Roster, index| {
        is_learned && (roster.length(index) > 0 || always_informative(spec))
    };
    let sides: [&dyn Fn(usize) -> bool; 2] = [&|index| is_informative(host, index), &|index| {
        is_informative(join, index)
    }];
    let [of_host, of_join] = plan.comparisons([host.len(), join.len()], sides);
    match role {
        Role::Host => of_host,
        Role::Join => of_join,
    }
}

/// The journal and the account of an agreement or of one of its tiles, within its limits.
#[derive(Debug)]
pub(crate) struct OpenStorage {
    pub(crate) journal: Journal,
    pub(crate) account: Account,
    /// The largest number of agreements that a scanpath of this side is in.
    pub(crate) max_agreements: u64,
    pub(crate) limit: LimitSummary,
}

impl StorageScope<'_> {
    /// The name of the journal.
    pub(crate) fn journal_id(&self) -> [u8; 32] {
        journal_id(self.id, self.agreed.role, self.tile)
    }

    /// Opens the journal, in this folder or in memory.
    pub(crate) fn journal(&self, folder: Option<&Path>) -> Result<Journal, SessionError> {
        let (id, reveal) = (self.journal_id(), self.agreed.spec.reveal);
        let entries = self.agreed.pairs.len() + self.numbers;
        match folder {
            Some(folder) => Journal::open(folder, id, entries, reveal),
            None => Ok(Journal::in_memory(id, entries, reveal)),
        }
    }

    /// Opens the account, and checks the limit: for a tile, of the whole plan.
    pub(crate) fn open(
        &self,
        mut journal: Journal,
        ledger: LedgerFile,
    ) -> Result<OpenStorage, SessionError> {
        let StorageScope {
            agreed,
            tile,
            whole,
            numbers,
            id,
            estimate_only,
            names,
            limits: plan_limits,
        } = *self;
        let (role, spec) = (agreed.role, agreed.spec);
        let pairs = agreed.pairs.len();
        let entries = pairs + numbers;
        let journalled = agreed.journalled(&journal);
        let (mut account, lost) =
            Account::open(ledger, names.to_vec(), (id, tile), plan_limits, &journalled)?;
        let by_halves = spec.engine.opens_outputs_by_halves();
        let counted_by_answer = agreed.counted_by_answer();
        if by_halves && lost.contains(&true) && !estimate_only {
            // Which of these were sent is not known, so none is computed again.
            let unknown = |&at: &usize| match counted_by_answer {
                Some(_) => at >= pairs,
                // A half or an answer that is there can still be sent, and counts like any other.
                None => at < pairs && lost[agreed.own(at)],
            };
            let unknown = (0..entries).filter(unknown);
            let unknown: Vec<usize> = unknown.filter(|&at| !journal.may_be_sent(at)).collect();
            journal.withhold(&unknown)?;
        }
        // This comes first, because these pairs are sent without another charge.
        if !estimate_only {
            account.catch_up()?;
        }
        // A group answer is limited by the disclosure ledger instead, unless it names single scanpaths.
        let learns_pairs = spec.reveal.group_question().is_none();
        let peer_learns = learns_pairs && spec.reveal_to.includes(role.other());
        let planned = |&pair: &usize| match by_halves {
            true => {
                let can_be_sent = !journal.may_be_sent(pair)
                    || journal.half(pair).is_some()
                    || journal.is_answered(pair);
                peer_learns && !journal.is_sent(pair) && can_be_sent
            }
            false => !journal.is_answered(pair) && journal.half(pair).is_none(),
        };
        let planned = match counted_by_answer {
            Some(counted) if !journal.may_be_sent(pairs) => counted,
            Some(_) => Vec::new(),
            None => agreed.comparisons((0..pairs).filter(planned)),
        };
        let totals = match (whole, estimate_only) {
            (None, true) => account.assess(&planned)?,
            (None, false) => account.check(&planned)?,
            (Some(whole), true) => account.assess_plan(whole, &planned)?,
            (Some(whole), false) => account.check_plan(whole, &planned)?,
        };
        let max_agreements = totals.max_agreements;
        let limit = LimitSummary::new(&account.limits()?, plan_limits, totals);
        Ok(OpenStorage {
            journal,
            account,
            max_agreements,
            limit,
        })
    }
}
