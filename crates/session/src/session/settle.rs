//! The last steps of an agreement: what is left to do, how fast the connection is, and which engine computes.

use super::{Agreement, Session};
use crate::SessionError;
use crate::counted_store::AgreedPairs;
use crate::engine_decision::{self, EngineNegotiation, SharesObstacle};
use crate::error::Limit;
use crate::link;
use crate::memory;
use crate::resume::Resume;
use veilpath_protocol::{Engine, EngineChoice, JobSize, ProtocolError, Spec};

impl Session {
    /// Exchanges what each side has for each pair, measures the connection, and decides on the engine. `size` is the
    /// size of the pairs.
    pub(crate) fn settle(
        &mut self,
        mut agreement: Agreement,
        size: &JobSize,
        roster_bytes: u64,
    ) -> Result<Agreement, SessionError> {
        let role = self.role;
        let proposal = &agreement.proposal;
        let (spec, pairs) = (&proposal.spec, &agreement.pairs);
        let agreed = AgreedPairs {
            role,
            spec,
            pairs,
            cells: &agreement.cells,
            scanpaths: proposal.cohort.entries.len(),
        };
        let journal = &agreement.journal;
        let resume = match &agreement.group {
            None => Resume::exchange(&mut self.channel, journal, &agreed)?,
            Some(group) => {
                let numbers = group.schema.count();
                Resume::exchange_for_answer(&mut self.channel, journal, &agreed, numbers)?
            }
        };
        if resume.lost > 0 && !agreement.estimate_only() {
            return Err(Limit::LostPairs {
                pairs: resume.lost as u64,
                all: pairs.len() as u64,
            }
            .into());
        }
        if spec.engine.opens_outputs_by_halves() {
            spec.check_outputs(size).map_err(ProtocolError::Job)?;
        }
        let work = resume.work(pairs, &agreement.host, &agreement.join, spec);
        let choice = proposal.engine_choice();
        let expected = engine_decision::expected(choice, spec, &work);
        let link = link::measure(self.channel.uncounted(), role, &expected)?;
        let with_shares = Spec {
            engine: Engine::Shares,
            ..spec.clone()
        };
        let needed = memory::whole_plan(&with_shares, role, roster_bytes, size);
        let shares_memory = memory::check(needed, proposal.memory);
        let negotiation = EngineNegotiation {
            role,
            choice,
            spec,
            work: &work,
            link: &link,
            stored: journal.engine(),
            shares_obstacle: match spec.check_shares(size) {
                Err(error) => Some(error.into()),
                Ok(()) => shares_memory.is_err().then_some(SharesObstacle::Memory),
            },
        };
        if let Some((decision, reason)) = negotiation.decide(self.channel.uncounted())? {
            if decision.engine == Engine::Shares {
                shares_memory?;
            }
            agreement.proposal.spec.engine = decision.engine;
            if choice == EngineChoice::Auto {
                agreement.engine_reason = reason;
            }
            agreement.decision = Some(decision);
        }
        agreement.resume = resume;
        agreement.link = link;
        Ok(agreement)
    }
}
