//! From two proposals to one agreement.
//!
//! ```text
//! host                                       join
//!  │── Terms, roster … ────────────────────▶│   see `agreement.rs`
//!  │◀──────────────────── Terms, roster … ──│
//!  │── Ready ──────────────────────────────▶│   plan, number of the last agreement on it, a random number
//!  │◀─────────────────────────────── Ready ──│
//!  │── Groups ─────────────────────────────▶│   only for a group answer; see `groups/mod.rs`
//!  │◀────────────────────────────── Groups ──│
//!  │── Statements ─────────────────────────▶│   what each side has of each pair; see `resume.rs`
//!  │◀────────────────────────── Statements ──│
//!  │◀─────────────── Probe …, Measured … ──▶│   how fast the connection is; see `link.rs`
//!  │── Engine ─────────────────────────────▶│   only where it depends on the connection; see `engine_decision.rs`
//!  │◀────────────────────────────── Engine ──│
//! ```
//!
//! An agreement is a plan and a number. Repeating a plan on purpose takes a new number, and both users must ask for it, because
//! everything is counted again. If only a side that has lost its files asks for it, it gets the number of the other side, and what
//! both may know is sent again without being counted.

use super::open_storage::{OpenStorage, StorageScope, all_comparisons};
use super::{Agreement, Proposal, Session, by_role};
use crate::agreement::Terms;
use crate::control::{self, Decline, Tag};
use crate::counted_store::{AgreedPairs, MAX_STARTS};
use crate::digests::{agreement_id, cohort_tag, nonce, plan_id, run_tag};
use crate::disclosure::DisclosureLedger;
use crate::engine_decision::EngineReason;
use crate::error::{DeclineReason, Difference, Limit, Misbehaviour, UsageError};
use crate::groups::{self, GroupNegotiation};
use crate::identity::hex;
use crate::memory;
use crate::resume::Resume;
use crate::roster::{self, Parties, Roster};
use crate::signed_record::RecordFile;
use crate::{SessionError, StateDir};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use veilpath_protocol::{Engine, EngineChoice, JobSize, Link, PairBlocks, Role, SideSize, Spec};

/// The field of a [`Difference`] in whether to start a new agreement.
pub const FRESH_FIELD: &str = "new agreement";

/// The field of a [`Difference`] in the number of the last agreement on a plan.
pub const NUMBER_FIELD: &str = "number of the agreement";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ready {
    plan: String,
    /// The number of the last agreement on this plan.
    number: u32,
    /// Whether this side asks for a new agreement.
    fresh: bool,
    /// A random number: halves of results belong to one computation.
    nonce: String,
}

impl Session {
    /// Exchanges everything that comes before the computation.
    pub(super) fn negotiate(
        &mut self,
        mut proposal: Proposal,
        state_dir: Option<&StateDir>,
        on_wait: &mut dyn FnMut(u64),
    ) -> Result<Agreement, SessionError> {
        let role = self.role;
        let question = proposal.spec.reveal.group_question();
        if let Some(question) = question {
            groups::check_cohort(question, role, &proposal)?;
        }
        // Before anything about the cohort is sent.
        let ledger_file = self.ledger(state_dir);
        let disclosures = DisclosureLedger::open(state_dir, &self.identity, self.peer);
        let allowed = ledger_file
            .read()
            .and_then(|ledger| ledger.check_ban())
            .and_then(|()| {
                let needed = memory::disclosures(disclosures.bytes());
                Ok(memory::check(needed, proposal.memory)?)
            })
            .and_then(|()| disclosures.check_withdrawn(&proposal.cohort));
        self.or_decline(Tag::Terms, allowed)?;
        let ours = self.identity.fingerprint();
        let (host, join) = by_role(role, ours, self.peer);
        let parties = Parties { host, join };
        let our_roster = Roster::of(
            &mut proposal.cohort,
            &self.identity,
            self.peer,
            &parties,
            proposal.pseudonyms,
            proposal.spec.pad_to,
        )?;
        let mut terms = Terms::new(
            &proposal.spec,
            proposal.tile,
            &our_roster,
            cohort_tag(&proposal.cohort, &self.identity, question.is_some()),
        )?;
        terms.estimate_only = proposal.estimate_only;
        if let Some(count) = proposal.tile_count {
            terms.set_tile_count(count);
        }
        if proposal.auto_engine {
            terms.set_engine(EngineChoice::AUTO);
        }
        terms.check().map_err(|error| match error {
            SessionError::Misbehaved(Misbehaviour::InvalidEncoding) => UsageError::InvalidEncoding,
            _ => UsageError::CohortTooLarge,
        })?;
        let theirs = self.exchange_terms(&terms, proposal.memory, on_wait)?;
        let differences = terms.differences(&theirs);
        if !differences.is_empty() {
            return Err(SessionError::Differs(differences));
        }
        let engine_reason = settle_engine(&mut proposal, &mut terms, &theirs);
        let fits = check_sizes(&terms, &theirs, proposal.memory).map_err(SessionError::from);
        self.or_decline(Tag::Roster, fits)?;
        let channel = &mut self.channel;
        let encoding_on_one_side = terms.encoding.is_empty() != theirs.encoding.is_empty();
        if proposal.spec.encoding.is_empty() {
            proposal.spec.encoding = theirs.encoding.clone();
        }
        let announced = roster::AnnouncedRoster {
            scanpaths: theirs.scanpaths,
            letters: theirs.letters,
            id_bytes: theirs.id_bytes,
            pad_to: proposal.spec.pad_to,
        };
        let their_roster = match role {
            Role::Host => {
                our_roster.send(channel)?;
                Roster::receive(channel, &announced)?
            }
            Role::Join => {
                let roster = Roster::receive(channel, &announced)?;
                our_roster.send(channel)?;
                roster
            }
        };
        let our_stimuli = proposal.cohort.entries.iter();
        let our_stimuli = our_stimuli.map(|entry| entry.stimulus.as_deref());
        let group_answer =
            memory::group_answer(&proposal.spec, our_stimuli, their_roster.stimuli());
        let roster_bytes = memory::rosters(&terms, &theirs)
            .saturating_add(group_answer)
            .saturating_add(memory::disclosures(disclosures.bytes()));
        let (host, join) = by_role(role, our_roster, their_roster);
        let cohort_tags = by_role(role, terms.cohort_tag.clone(), theirs.cohort_tag).into();
        let rosters = [&host, &join];
        let plan = plan_id(&terms, &proposal.spec, &parties, &cohort_tags, &rosters);
        proposal.fresh &= !self.pinned_agreement.is_pinned();
        let estimate_only = proposal.estimate_only || theirs.estimate_only;
        let blocks = roster::blocks(proposal.spec.pair_rule, &host, &join, &parties);
        let tile = proposal.tile;
        // A tile counts only its own scanpaths. A whole plan counts all of them, including those in no pair.
        let job_size = |pairs: &PairBlocks| {
            let side = |roster: &Roster, scanpaths: Vec<usize>| match tile {
                None => SideSize::of(roster.lengths()),
                Some(_) => SideSize::of(scanpaths.iter().map(|&index| roster.length(index))),
            };
            JobSize {
                pairs: pairs.pairs(),
                host: side(&host, pairs.rows()),
                join: side(&join, pairs.columns()),
            }
        };
        let needed =
            |spec: &Spec, size: &JobSize| memory::whole_plan(spec, role, roster_bytes, size);
        let prepared = ledger_file.read().and_then(|ledger| {
            ledger.check_ban()?;
            let fits = |pairs: &PairBlocks| {
                let needed = needed(&proposal.spec, &job_size(pairs));
                memory::check(needed, proposal.memory)
            };
            let pairs = match proposal.tile_count {
                None => roster::pairs(&blocks, &host, &join, tile, fits)?,
                // The tiles have sessions of their own.
                Some(_) if blocks.pairs() > 0 => PairBlocks::default(),
                Some(_) => return Err(Limit::NoPairs.into()),
            };
            Ok((ledger, job_size(&pairs), pairs.list()))
        });
        let (ledger, job_size, pairs) = self.or_decline(Tag::Ready, prepared)?;
        let ours = Ready {
            plan: hex(&plan),
            number: ledger.number(&plan),
            fresh: proposal.fresh,
            nonce: nonce()?,
        };
        let theirs_ready: Ready = control::exchange(&mut self.channel, role, Tag::Ready, &ours)?;
        if theirs_ready.plan != ours.plan {
            return Err(Misbehaviour::DifferentAgreement.into());
        }
        let number = agree_on_number(&ours, &theirs_ready)?;
        let id = agreement_id(&plan, number);
        let cells: Vec<u64> = pairs
            .iter()
            .map(|&(i, j)| host.length(i).saturating_mul(join.length(j)))
            .collect();
        let agreed = AgreedPairs {
            role,
            spec: &proposal.spec,
            pairs: &pairs,
            cells: &cells,
            scanpaths: proposal.cohort.entries.len(),
        };
        // An agreement that is not allowed leaves no trace on disk.
        let allowed = self.pinned_agreement.check(&id);
        let (their_roster, _) = by_role(role, &join, &host);
        let peer_lengths = crate::run::lengths(their_roster, 0..their_roster.len())?;
        let identity = self.identity.clone();
        let group = match question {
            None => allowed.map(|()| None),
            Some(question) => {
                let rosters = [&host, &join];
                let negotiation = GroupNegotiation {
                    role,
                    identity: &identity,
                    proposal: &proposal,
                    agreement: &id,
                    pairs: &pairs,
                    scanpath_ids: roster::scanpath_ids_of_both(
                        role,
                        &proposal.cohort,
                        &parties,
                        rosters,
                    ),
                    peer_lengths: &peer_lengths,
                    ledger: DisclosureLedger::open(state_dir, &identity, self.peer),
                };
                let allowed = allowed.and_then(|()| negotiation.check_own(question));
                self.or_decline(Tag::Groups, allowed)?;
                negotiation.agree(question, &mut self.channel).map(Some)
            }
        };
        let prepared = group.and_then(|group| {
            let pair_charge = match question {
                Some(_) => None,
                None => self.check_learned_pairs(&proposal, &blocks, &id, state_dir)?,
            };
            let pair_charge = pair_charge.filter(|_| !estimate_only);
            let numbers = group.as_ref().map_or(0, |group| group.schema.count());
            let whole = all_comparisons(&blocks, &proposal.spec, role, [&host, &join]);
            let (names, limits) = self.ledger_names_and_limits(&proposal)?;
            let scope = StorageScope {
                agreed: &agreed,
                tile,
                whole: proposal.plan_tile_count().map(|_| &whole[..]),
                numbers,
                id: &id,
                estimate_only,
                names: &names,
                limits: &limits,
            };
            if let Some(tile) = tile {
                ledger_file.inspect(|ledger| ledger.check_tile(&id, tile))??;
            }
            // If only tiles are agreed on, nothing is computed.
            let journals = state_dir.filter(|_| proposal.tile_count.is_none());
            let mut journal = scope.journal(journals.map(StateDir::journals).as_deref())?;
            if let Some(group) = &group {
                journal.check_group_digest(group.peer_digest())?;
            }
            // This comes first, because what may have been sent is counted.
            if let Some(group) = group.as_ref().filter(|_| !estimate_only) {
                group.withhold_lost(&mut journal, pairs.len())?;
            }
            let storage = scope.open(journal, ledger_file.clone())?;
            Ok((group, pair_charge, storage))
        });
        let (group, pair_charge, storage) = self.or_decline(Tag::Statements, prepared)?;
        let OpenStorage {
            journal,
            account,
            max_agreements,
            limit,
        } = storage;
        let withdrawals = match (&group, &pair_charge) {
            (Some(group), _) => group.watch(),
            (None, Some((ledger, charge))) => ledger.watch([charge]),
            // Only this side learns results. Its cohort must not be used without the participants' consent, either.
            (None, None) => DisclosureLedger::open(state_dir, &self.identity, self.peer)
                .watch_cohort(&proposal.cohort),
        };
        let (host_nonce, join_nonce) = by_role(role, &ours.nonce, &theirs_ready.nonce);
        let agreement = Agreement {
            run: run_tag(&id, host_nonce, join_nonce),
            is_new_number: number != ours.number,
            id,
            plan,
            number,
            record: RecordFile::of(state_dir),
            parties,
            host,
            join,
            pairs,
            blocks: Arc::new(blocks),
            cells,
            journal,
            ledger: ledger_file,
            account,
            resume: Resume::default(),
            group,
            pair_charge,
            withdrawals,
            max_starts: MAX_STARTS.saturating_mul(ledger.lifted.saturating_add(1)),
            #[cfg(test)]
            watch: None,
            max_agreements,
            limit,
            proposal,
            peer_estimates_only: theirs.estimate_only,
            decision: None,
            engine_reason,
            link: Link::local(),
            encoding_on_one_side,
            agreements_folder: state_dir.map(StateDir::agreements),
            signs: true,
        };
        self.settle(agreement, &job_size, roster_bytes)
    }

    /// The peer's terms, in exchange for this side's.
    fn exchange_terms(
        &mut self,
        ours: &Terms,
        memory: Option<u64>,
        on_wait: &mut dyn FnMut(u64),
    ) -> Result<Terms, SessionError> {
        let channel = &mut self.channel;
        match self.role {
            Role::Host => {
                let theirs: Terms = control::exchange(channel, Role::Host, Tag::Terms, ours)?;
                theirs.check()?;
                Ok(theirs)
            }
            Role::Join => {
                let theirs: Terms = control::receive_after_wait(channel, Tag::Terms, on_wait)?;
                theirs.check()?;
                // Checked now, before the host sends its roster.
                if let Err(limit) = check_sizes(ours, &theirs, memory) {
                    let error = limit.into();
                    let reason = DeclineReason::for_peer(&error);
                    control::send(channel, Tag::Decline, &Decline { reason })?;
                    return Err(error);
                }
                control::send(channel, Tag::Terms, ours)?;
                Ok(theirs)
            }
        }
    }

    /// If this side declines, tells the peer so in place of its next message.
    pub(crate) fn or_decline<T>(
        &mut self,
        next: Tag,
        prepared: Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        if let Err(error) = &prepared {
            let reason = DeclineReason::for_peer(error);
            let _ = control::decline(&mut self.channel, self.role, next, reason);
        }
        prepared
    }
}

/// Writes the common engine into this side's proposal and terms. If only one side names an engine, it is that one. The
/// plans must have no differences.
fn settle_engine(proposal: &mut Proposal, ours: &mut Terms, theirs: &Terms) -> EngineReason {
    let Some(common) = ours.common_engine(theirs).map(String::from) else {
        return EngineReason::Named;
    };
    let is_auto = common == EngineChoice::AUTO;
    let by_peer = proposal.auto_engine && !is_auto;
    let by_us = !proposal.auto_engine && theirs.leaves_engine_open();
    if let Some(engine) = Engine::proven(&common) {
        proposal.spec.engine = engine;
        ours.set_engine(&common);
    }
    proposal.auto_engine = is_auto;
    match (is_auto, by_peer, by_us) {
        (true, ..) => EngineReason::Estimated,
        (_, true, _) => EngineReason::NamedByPeer,
        (_, _, true) => EngineReason::NamedHere,
        _ => EngineReason::Named,
    }
}

/// Whether the rosters and scanpaths of two valid plans without differences fit the memory that this side's user allows.
fn check_sizes(ours: &Terms, theirs: &Terms, allowed: Option<u64>) -> Result<(), Limit> {
    if !ours.differences(theirs).is_empty() {
        return Ok(());
    }
    memory::check(memory::rosters(ours, theirs), allowed)
}

/// How far the peer's number may be ahead of this side's: a side that has lost its files starts again at 0. Without a limit, a
/// peer could use up all numbers in one session.
const MAX_NUMBER_LEAD: u32 = 1 << 16;

/// The number of the agreement, from both sides' statements.
fn agree_on_number(ours: &Ready, theirs: &Ready) -> Result<u32, SessionError> {
    let differs = |field: &str, ours: String, theirs: String| {
        Err(SessionError::Differs(vec![Difference {
            field: field.into(),
            ours,
            theirs,
        }]))
    };
    if theirs.number > ours.number.saturating_add(MAX_NUMBER_LEAD) {
        return Err(Misbehaviour::DifferentAgreement.into());
    }
    let last = ours.number.max(theirs.number);
    let asks = |fresh: bool| if fresh { "yes" } else { "no" }.to_string();
    match (ours.fresh, theirs.fresh) {
        (true, true) => match last.checked_add(1) {
            Some(number) => Ok(number),
            None => Err(Misbehaviour::DifferentAgreement.into()),
        },
        // The side that asks has lost its files: it gets the other's number.
        (true, false) if ours.number < theirs.number => Ok(last),
        (false, true) if theirs.number < ours.number => Ok(last),
        (false, false) if ours.number == theirs.number => Ok(last),
        (false, false) => differs(
            NUMBER_FIELD,
            ours.number.to_string(),
            theirs.number.to_string(),
        ),
        _ => differs(FRESH_FIELD, asks(ours.fresh), asks(theirs.fresh)),
    }
}

#[cfg(test)]
mod tests;
