//! A session of two workers about one tile.
//!
//! ```text
//! host                                       join
//!  │── magic, version, Hello ───────────────▶│   as in every session
//!  │◀─────────────── magic, version, Hello ──│
//!  │── Ready ───────────────────────────────▶│   agreement, tile, a random number
//!  │◀─────────────────────────────── Ready ──│
//!  │◀─────── Statements …, the engine … ────▶│   from here on as in a session of two institutions, without signatures
//! ```

use super::order::WorkOrder;
use crate::agreement::{TILE_FIELD, Terms};
use crate::control::{self, Tag};
use crate::digests::{nonce, run_tag};
use crate::engine_decision::EngineReason;
use crate::error::{Difference, Limit, Misbehaviour, sanitize};
use crate::identity::unhex;
use crate::limits::Timeouts;
use crate::memory;
use crate::records::{AgreedPairs, MAX_STARTS};
use crate::resume::Resume;
use crate::roster::{self, Roster};
use crate::session::open_records::OpenedFor;
use crate::session::{AgreedSession, Agreement, Proposal};
use crate::signed_record::RecordFile;
use crate::{
    AlphabetInfo, DisclosureLimits, ScanpathLimit, SecureChannel, Session, SessionError, StateDir,
};
use serde::{Deserialize, Serialize};
use veilpath_protocol::{JobSize, Link, PairBlocks, Role, SideSize, Tile};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TileReady {
    agreement: String,
    tile: String,
    /// A random number: halves of results belong to one computation.
    nonce: String,
}

impl Session {
    /// Opens a session with the other side's worker, which has passed the gate.
    pub fn open_with_order(
        channel: SecureChannel,
        order: &WorkOrder,
        timeouts: Timeouts,
    ) -> Result<Self, SessionError> {
        let alphabet = AlphabetInfo {
            named: None,
            declared: None,
            read_as: order.plan.spec.alphabet,
            grid: None,
        };
        let (role, peer) = (order.role(), order.plan.peer());
        let opened = Self::open(channel, role, &order.key, peer, &alphabet, timeouts)?;
        Ok(opened.0)
    }

    /// Prepares the computation of a tile. All workers of an institution use the same state directory: its journals and ledgers are
    /// where pairs are counted.
    pub fn agree_on_tile(
        mut self,
        order: &WorkOrder,
        tile: Tile,
        state_dir: &StateDir,
        memory: Option<u64>,
    ) -> Result<AgreedSession, SessionError> {
        match self.prepare_tile(order, tile, state_dir, memory) {
            Ok(agreement) => Ok(AgreedSession {
                session: self,
                agreement,
                record_failure: None,
            }),
            Err(error) => Err(self.explain(error)),
        }
    }

    fn prepare_tile(
        &mut self,
        order: &WorkOrder,
        tile: Tile,
        state_dir: &StateDir,
        memory: Option<u64>,
    ) -> Result<Agreement, SessionError> {
        let (role, plan) = (self.role, &order.plan);
        self.or_decline(Tag::Ready, state_dir.check_agreement(&plan.agreement))?;
        let ours = TileReady {
            agreement: plan.agreement.clone(),
            tile: tile.to_string(),
            nonce: nonce()?,
        };
        let theirs: TileReady = control::exchange(&mut self.channel, role, Tag::Ready, &ours)?;
        if theirs.agreement != ours.agreement {
            return Err(Misbehaviour::DifferentAgreement.into());
        }
        if theirs.tile != ours.tile {
            return Err(SessionError::Differs(vec![Difference {
                field: TILE_FIELD.into(),
                ours: ours.tile,
                theirs: sanitize(&theirs.tile),
            }]));
        }
        let ids = (unhex(&plan.agreement), unhex(&plan.plan));
        let (Some(id), Some(plan_id)) = ids else {
            return Err(Misbehaviour::DifferentAgreement.into());
        };
        let [host, join] = plan.rosters.clone();
        let blocks = plan.blocks();
        let proposal = Proposal {
            spec: plan.spec.clone(),
            auto_engine: false,
            cohort: plan.cohort(),
            pseudonyms: false,
            estimate_only: false,
            fresh: false,
            // The limits of the plan are used as they were agreed on.
            limit_per_scanpath: ScanpathLimit::Default,
            declared_letters: None,
            disclosure: DisclosureLimits::default(),
            memory,
            tile: Some(tile),
            tiles: None,
            key: None,
        };
        let terms = |roster| Terms::new(&proposal.spec, None, roster, String::new());
        let (of_host, of_join) = (terms(&host)?, terms(&join)?);
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
                host: side(&host, pairs.rows()),
                join: side(&join, pairs.columns()),
            }
        };
        let ledger_file = self.ledger(Some(state_dir));
        let prepared = ledger_file.read().and_then(|ledger| {
            if let Some(reason) = ledger.banned {
                return Err(Limit::Banned(reason).into());
            }
            let fits = |pairs: &PairBlocks| {
                let needed = memory::whole_plan(&proposal.spec, role, roster_bytes, &size(pairs));
                memory::check(needed, memory)
            };
            let pairs = roster::pairs(&blocks, &host, &join, Some(tile), fits)?;
            Ok((ledger, size(&pairs), pairs.list()))
        });
        let (ledger, size, pairs) = self.or_decline(Tag::Statements, prepared)?;
        let cells: Vec<u64> = pairs
            .iter()
            .map(|&(i, j)| host.length(i).saturating_mul(join.length(j)))
            .collect();
        let whole = self.all_comparisons(&blocks, &proposal, [&host, &join]);
        let opened = self.open_records(
            &proposal,
            &OpenedFor {
                agreed: &AgreedPairs {
                    role,
                    spec: &proposal.spec,
                    pairs: &pairs,
                    cells: &cells,
                    scanpaths: proposal.cohort.entries.len(),
                },
                whole: Some(&whole),
                numbers: 0,
                id: &id,
                estimate_only: false,
                names: &plan.names,
                limits: &plan.limits,
            },
            Some(state_dir),
        );
        let (journal, account, (max_agreements, limit)) =
            self.or_decline(Tag::Statements, opened)?;
        let (host_nonce, join_nonce) = match role {
            Role::Host => (&ours.nonce, &theirs.nonce),
            Role::Join => (&theirs.nonce, &ours.nonce),
        };
        let agreement = Agreement {
            run: run_tag(&id, host_nonce, join_nonce),
            is_new_number: false,
            id,
            plan: plan_id,
            number: plan.number,
            // Workers sign nothing.
            record: RecordFile::of(None),
            parties: plan.parties(),
            host,
            join,
            pairs,
            blocks,
            cells,
            journal,
            ledger: ledger_file,
            account,
            resume: Resume::default(),
            group: None,
            learned_pairs: None,
            max_starts: MAX_STARTS.saturating_mul(ledger.lifted.saturating_add(1)),
            max_agreements,
            limit,
            proposal,
            peer_estimates_only: false,
            decision: None,
            engine_reason: EngineReason::Named,
            link: Link::local(),
            encoding_on_one_side: false,
            plans: None,
            signs: false,
        };
        self.settle(agreement, &size, roster_bytes)
    }
}
