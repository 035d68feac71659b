//! Decides what depends on the connection: the engine, if both users leave the choice between the proven engines open,
//! and the seed trees of the engine `shares`.
//!
//! ```text
//! host                                       join
//!  │── Engine ─────────────────────────────▶│   what this side decided earlier under this agreement, or else would
//!  │◀────────────────────────────── Engine ──│   decide now
//! ```
//!
//! Each agreement is decided once. Each side stores the decision in its journal when the computation starts, and the
//! stored decision holds from then on, however fast the connection of a later session is. A side that has lost its
//! journal adopts the decision that the other has stored. If neither has stored one, the host decides. Both have
//! measured the same connection (`link.rs`) and estimate the same costs, so the joining side sees the same two numbers;
//! but it checks only that the decision is one that it accepts.
//!
//! A peer can steer the decision: by being slow, by lying about what it measured, or by claiming to have decided
//! earlier. But it can steer only between engines that its partner accepts: the two that reveal the same to a side that
//! follows the protocol. A user who wants one of them names it.

use crate::SessionError;
use crate::control::{self, Tag};
use crate::error::Misbehaviour;
use serde::{Deserialize, Serialize};
use veilpath_channel::Channel;
use veilpath_protocol::{
    Engine, EngineChoice, Estimate, JobError, Link, ProvenEstimates, Role, Spec, TreeLevels,
    Workload,
};

/// What two sides have decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EngineDecision {
    /// One of [`Engine::PROVEN`].
    pub(crate) engine: Engine,
    /// The seed trees, if the engine is `shares`.
    pub(crate) tree_levels: TreeLevels,
}

/// Why an agreement has its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineReason {
    /// Both users named it.
    Named,
    /// This side's user named it, and the other left the choice open.
    NamedHere,
    /// The other side's user named it, and this one left the choice open.
    NamedByPeer,
    /// Both users left the choice open, and the estimates for this connection decided.
    Estimated,
    /// It was chosen when the comparison started, in an earlier session.
    ChosenEarlier,
    /// Both users left the choice open, and the engine `shares` cannot run.
    SharesImpossible(SharesObstacle),
}

/// Why the engine `shares` cannot compute a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharesObstacle {
    /// The alphabet is too large for its look-ups.
    Alphabet {
        /// Letters, including padding.
        letters: usize,
        /// The largest supported number.
        max_letters: usize,
    },
    /// The longest scanpaths are too long for its messages.
    Lengths,
    /// It needs more memory than this side's user allows.
    Memory,
    /// The other side cannot run it, or does not want to.
    OtherSide,
}

impl From<JobError> for SharesObstacle {
    fn from(error: JobError) -> Self {
        match error {
            JobError::AlphabetTooLarge { letters, limit } => Self::Alphabet {
                letters,
                max_letters: limit,
            },
            _ => Self::Lengths,
        }
    }
}

/// The engine of an agreement, and why it was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineSummary {
    /// The engine.
    pub engine: Engine,
    /// Why it was chosen.
    pub reason: EngineReason,
    /// The levels of its seed trees, if it has any.
    pub tree_levels: Option<TreeLevels>,
    /// What each of the proven engines would cost, if the users left the choice open.
    pub estimates: Option<ProvenEstimates>,
}

/// The message Engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EngineOffer {
    engine: Engine,
    tree_levels: TreeLevels,
    /// Whether it was decided in an earlier session.
    stored: bool,
    /// Whether the engine `shares` can run on this side.
    can_run_shares: bool,
}

/// What one side knows when it negotiates the engine.
pub(crate) struct EngineNegotiation<'a> {
    pub(crate) role: Role,
    /// What the users allow.
    pub(crate) choice: EngineChoice,
    pub(crate) spec: &'a Spec,
    pub(crate) work: &'a Workload,
    pub(crate) link: &'a Link,
    /// The decision of an earlier session.
    pub(crate) stored: Option<EngineDecision>,
    /// Why this side cannot run the engine `shares`, if it cannot.
    pub(crate) shares_obstacle: Option<SharesObstacle>,
}

/// The cost that the connection is measured for. If the choice is open, each number is the larger one of the two
/// engines.
pub(crate) fn expected(choice: EngineChoice, spec: &Spec, work: &Workload) -> Estimate {
    let link = Link::local();
    match choice {
        EngineChoice::Fixed(_) => spec.estimate(work, &link),
        EngineChoice::Auto => {
            let ProvenEstimates {
                garbled, shares, ..
            } = spec.proven_estimates(work, &link);
            Estimate {
                bytes_to_host: garbled.bytes_to_host.max(shares.bytes_to_host),
                bytes_to_join: garbled.bytes_to_join.max(shares.bytes_to_join),
                computing: garbled.computing.max(shares.computing),
                ..garbled
            }
        }
    }
}

impl EngineNegotiation<'_> {
    /// Decides together with the other side, and returns the reason. There is nothing to decide about a named engine other than `shares`.
    pub(crate) fn decide(
        &self,
        channel: &mut dyn Channel,
    ) -> Result<Option<(EngineDecision, EngineReason)>, SessionError> {
        if !matches!(
            self.choice,
            EngineChoice::Auto | EngineChoice::Fixed(Engine::Shares)
        ) {
            return Ok(None);
        }
        let ours = self.offer();
        let theirs: EngineOffer = control::exchange(channel, self.role, Tag::Engine, &ours)?;
        let (host, join) = match self.role {
            Role::Host => (ours, theirs),
            Role::Join => (theirs, ours),
        };
        let (decision, reason) = agree(&host, &join)?;
        let reason = match (reason, self.shares_obstacle) {
            (EngineReason::SharesImpossible(_), Some(obstacle)) => {
                EngineReason::SharesImpossible(obstacle)
            }
            _ => reason,
        };
        // A peer that claims an earlier decision cannot impose an engine that this side cannot run.
        let impossible = decision.engine == Engine::Shares
            && self.choice == EngineChoice::Auto
            && self.stored.is_none()
            && self.shares_obstacle.is_some();
        match self.accepts(theirs.engine) && self.accepts(decision.engine) && !impossible {
            true => Ok(Some((decision, reason))),
            false => Err(Misbehaviour::InvalidEngine.into()),
        }
    }

    /// Whether it is an engine that the users allow.
    fn accepts(&self, engine: Engine) -> bool {
        match self.choice {
            EngineChoice::Auto => Engine::PROVEN.contains(&engine),
            EngineChoice::Fixed(named) => engine == named,
        }
    }

    fn offer(&self) -> EngineOffer {
        let estimates = self.spec.proven_estimates(self.work, self.link);
        let decision = self.stored.unwrap_or(EngineDecision {
            engine: match self.choice {
                EngineChoice::Auto => estimates.preferred(),
                EngineChoice::Fixed(engine) => engine,
            },
            tree_levels: estimates.tree_levels,
        });
        EngineOffer {
            engine: decision.engine,
            tree_levels: decision.tree_levels,
            stored: self.stored.is_some(),
            // A named engine reports its own obstacles.
            can_run_shares: self.shares_obstacle.is_none() || self.choice != EngineChoice::Auto,
        }
    }
}

impl EngineOffer {
    fn decision(&self) -> EngineDecision {
        EngineDecision {
            engine: self.engine,
            tree_levels: self.tree_levels,
        }
    }
}

/// The decision of both sides, from their offers.
fn agree(
    host: &EngineOffer,
    join: &EngineOffer,
) -> Result<(EngineDecision, EngineReason), SessionError> {
    let earlier = |offer: &EngineOffer| Ok((offer.decision(), EngineReason::ChosenEarlier));
    match (host.stored, join.stored) {
        (true, true) if host.decision() != join.decision() => {
            Err(Misbehaviour::DifferentAgreement.into())
        }
        (true, _) => earlier(host),
        (false, true) => earlier(join),
        (false, false) => {
            let decision = host.decision();
            Ok(match host.can_run_shares && join.can_run_shares {
                true => (decision, EngineReason::Estimated),
                false => (
                    EngineDecision {
                        engine: Engine::Garbled,
                        ..decision
                    },
                    EngineReason::SharesImpossible(SharesObstacle::OtherSide),
                ),
            })
        }
    }
}

#[cfg(test)]
mod tests;
