//! What two sides have agreed on, for their users to see before the computation starts.

use super::{AgreedSession, Agreement, Proposal};
use crate::LimitSummary;
use crate::engine_decision::EngineSummary;
use crate::groups::resume::AnswerStep;
use crate::identity::hex;
use std::time::Duration;
use veilpath_protocol::{
    Engine, Estimate, FixationRounding, Link, PairRule, PlanTile, Reveal, RevealTo, Revealed, Spec,
    TreeLevels, Workload,
};

/// What two sides have agreed on, and what is left to do.
#[derive(Clone, Debug, PartialEq)]
pub struct AgreementSummary {
    /// What is computed.
    pub spec: Spec,
    /// What each side will learn.
    pub revealed: Vec<Revealed>,
    /// Scanpaths of the host.
    pub host_scanpaths: usize,
    /// Scanpaths of the joining side.
    pub join_scanpaths: usize,
    /// All pairs.
    pub pairs: usize,
    /// The id of the agreement.
    pub agreement: String,
    /// The tile that this session computes, and its plan; `None` for the whole plan.
    pub tile: Option<PlanTile>,
    /// The whole plan, if this session only agrees on its tiles.
    pub tiles: Option<TileTotals>,
    /// Pairs that need not be compared, because an earlier session has computed them.
    pub from_journal: usize,
    /// Matrix cells of the pairs that are left.
    pub cells: u64,
    /// The engine, and why it was chosen.
    pub engine: EngineSummary,
    /// What the pairs that are left will cost.
    pub estimate: Estimate,
    /// The connection, as both sides have measured it.
    pub link: Link,
    /// Scanpaths of the host and of the joining side that are in no pair.
    pub unpaired: [usize; 2],
    /// Whether only one side names its stimuli, so that all scanpaths are compared with all.
    pub stimuli_on_one_side: bool,
    /// Whether only one side's file contains encoding settings, so that nobody can check that they are the same.
    pub encoding_on_one_side: bool,
    /// Whether both sides have the same ids, stimuli and lengths in the same order, so that both may have read the same
    /// file by accident.
    pub same_scanpaths: bool,
    /// What is revealed of each pair, in words.
    pub answer_description: String,
    /// What is revealed of each pair.
    pub reveal: Reveal,
    /// Who learns it.
    pub reveal_to: RevealTo,
    /// The length that all scanpaths are padded to, where lengths are hidden.
    pub pad_to: Option<u32>,
    /// The largest difference between a score and one in double precision, where numbers are rounded.
    pub error_bound: Option<f64>,
    /// How fixations are rounded, where rounded ones are compared.
    pub fixation_rounding: Option<FixationRounding>,
    /// How often this side's scanpaths may be compared with this peer.
    pub limit: LimitSummary,
    /// The limits on the group answer, if the plan asks for one.
    pub groups: Option<GroupSummary>,
    /// Who asked to stop at the estimate, if anybody did.
    pub estimate_only: Option<Requested>,
}

/// The size of a plan whose tiles have sessions of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileTotals {
    /// How many tiles it has.
    pub tile_count: u32,
    /// How many pairs it has.
    pub pairs: u64,
}

/// The limits on a group answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupSummary {
    /// The fewest participants of each side that a group, a stimulus or a count is about: the larger of both sides' values.
    pub minimum: u32,
    /// The number of group answers for this peer, including this one; `None` if it does not learn this one.
    pub answers: Option<u32>,
    /// The most group answers for this peer.
    pub max_answers: u32,
}

/// Who asked for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requested {
    /// This side.
    ByUs,
    /// The other side.
    ByPeer,
}

impl AgreedSession {
    /// What was agreed on, and what is left to do.
    pub fn summary(&self) -> AgreementSummary {
        let agreement = &self.agreement;
        let spec = &agreement.proposal.spec;
        let (host, join, pairs) = (&agreement.host, &agreement.join, &agreement.pairs);
        let work = agreement.work();
        AgreementSummary {
            spec: spec.clone(),
            revealed: agreement.revealed(),
            host_scanpaths: host.len(),
            join_scanpaths: join.len(),
            pairs: pairs.len(),
            agreement: hex(&agreement.id),
            tile: agreement.plan_tile(),
            tiles: agreement.proposal.tile_count.map(|tile_count| TileTotals {
                tile_count,
                pairs: agreement.blocks.pairs(),
            }),
            from_journal: pairs.len() - agreement.resume.compare.len(),
            cells: work.cells,
            engine: agreement.engine(),
            estimate: agreement.estimate(),
            link: agreement.link,
            unpaired: [
                host.len() - agreement.blocks.rows().len(),
                join.len() - agreement.blocks.columns().len(),
            ],
            stimuli_on_one_side: spec.pair_rule == PairRule::SameStimulus
                && host.has_stimuli() != join.has_stimuli(),
            encoding_on_one_side: agreement.encoding_on_one_side,
            // Equal ids and stimuli alone can be a coincidence.
            same_scanpaths: spec.pad_to.is_none() && host == join,
            answer_description: spec.describe_answer(),
            reveal: spec.reveal,
            reveal_to: spec.reveal_to,
            pad_to: spec.pad_to,
            error_bound: spec.error_bound(),
            fixation_rounding: spec.fixation_rounding(),
            limit: agreement.limit.clone(),
            groups: agreement.group.as_ref().map(|group| GroupSummary {
                minimum: group.minimum(),
                answers: group.answers(),
                max_answers: agreement.proposal.disclosure.answers_per_partner,
            }),
            estimate_only: match (
                agreement.proposal.estimate_only,
                agreement.peer_estimates_only,
            ) {
                (true, _) => Some(Requested::ByUs),
                (false, true) => Some(Requested::ByPeer),
                (false, false) => None,
            },
        }
    }
}

impl AgreedSession {
    /// Whether the other side is still connected.
    pub fn is_connected(&self) -> bool {
        !self.session.connection.is_closed()
    }

    /// If the session's time is limited, sets the deadline for the plan: that time, plus what the plan takes on the
    /// slowest connection.
    pub(crate) fn limit_time(&self) {
        if let Some(time) = self.session.time_limit {
            let agreement = &self.agreement;
            let spec = &agreement.proposal.spec;
            let (work, levels) = (agreement.work(), agreement.tree_levels());
            let needed = spec.estimate_with(&work, &Link::slowest(), levels).seconds;
            let needed = Duration::try_from_secs_f64(needed).unwrap_or(Duration::MAX);
            let connection = &self.session.connection;
            connection.set_deadline(time.saturating_add(needed));
        }
    }
}

impl Agreement {
    /// Whether a side asks only for the estimate.
    pub(crate) fn estimate_only(&self) -> bool {
        self.proposal.estimate_only || self.peer_estimates_only
    }

    /// Which part of the plan is computed, if it is a part.
    pub(crate) fn plan_tile(&self) -> Option<PlanTile> {
        self.proposal.tile.map(|tile| PlanTile {
            tile,
            agreement: hex(&self.id),
            pairs: self.blocks.pairs(),
        })
    }

    /// The pairs that are left.
    fn work(&self) -> Workload {
        let spec = &self.proposal.spec;
        let group = self.group.as_ref();
        let group = group.filter(|_| self.resume.answer == AnswerStep::Compute);
        Workload {
            group: group.map(|group| group.work(&self.pairs)),
            ..self.resume.work(&self.pairs, &self.host, &self.join, spec)
        }
    }

    /// The seed trees that were decided on.
    pub(crate) fn tree_levels(&self) -> TreeLevels {
        let decision = self.decision.as_ref();
        decision.map_or(TreeLevels::default(), |decision| decision.tree_levels)
    }

    fn engine(&self) -> EngineSummary {
        let Proposal {
            spec, auto_engine, ..
        } = &self.proposal;
        EngineSummary {
            engine: spec.engine,
            reason: self.engine_reason,
            tree_levels: (spec.engine == Engine::Shares).then(|| self.tree_levels()),
            estimates: auto_engine.then(|| spec.proven_estimates(&self.work(), &self.link)),
        }
    }

    /// The estimated cost of the remaining pairs.
    fn estimate(&self) -> Estimate {
        let spec = &self.proposal.spec;
        let engine = spec.estimate_with(&self.work(), &self.link, self.tree_levels());
        // Plus two exchanges: the intent, and the end. In the last one, one side waits for a whole round trip; the
        // other is done once it has answered.
        Estimate {
            rounds: engine.rounds + 2,
            seconds: engine.seconds + self.link.round_trip.as_secs_f64() * 1.5,
            ..engine
        }
    }
}
