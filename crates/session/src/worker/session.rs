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

use super::coordinator::CoordinatedTile;
use super::order::WorkOrder;
use super::tile::TilePairs;
use crate::agreement::TILE_FIELD;
use crate::control::{self, Tag};
use crate::counted_store::MAX_STARTS;
use crate::digests::{nonce, run_tag};
use crate::disclosure::WithdrawalWatch;
use crate::engine_decision::EngineReason;
use crate::error::{Difference, Misbehaviour, UsageError, sanitize};
use crate::identity::from_hex;
use crate::ledger::LedgerFile;
use crate::limits::Timeouts;
use crate::resume::Resume;
use crate::session::open_storage::OpenStorage;
use crate::session::{AgreedSession, Agreement, Proposal};
use crate::signed_record::RecordFile;
use crate::{
    AlphabetInfo, DisclosureLimits, ScanpathLimit, SecureChannel, Session, SessionError, StateDir,
};
use serde::{Deserialize, Serialize};
use veilpath_protocol::{Link, Role, Tile};

/// Where the journal of a tile and the ledger are.
#[derive(Debug)]
pub enum TileStorage<'a> {
    /// In a state folder that all workers of the institution share.
    Shared(&'a StateDir),
    /// With the institution's coordinator.
    Coordinated(Box<CoordinatedTile>),
}

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

    /// Prepares the computation of a tile.
    pub fn agree_on_tile(
        mut self,
        order: &WorkOrder,
        tile: Tile,
        storage: TileStorage<'_>,
        memory: Option<u64>,
    ) -> Result<AgreedSession, SessionError> {
        match self.prepare_tile(order, tile, storage, memory) {
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
        storage: TileStorage<'_>,
        memory: Option<u64>,
    ) -> Result<Agreement, SessionError> {
        let (role, plan) = (self.role, &order.plan);
        if plan.is_complete {
            // The coordinator can still return what is stored.
            let complete = Err::<(), _>(UsageError::CompleteAgreement.into());
            self.or_decline(Tag::Ready, complete)?;
        }
        let withdrawals = match &storage {
            TileStorage::Shared(state_dir) => {
                let allowed = state_dir
                    .check_agreement(&plan.agreement)
                    .and_then(|()| plan.check_withdrawn(state_dir, [tile]));
                self.or_decline(Tag::Ready, allowed)?
            }
            // The coordinator has the ledger.
            TileStorage::Coordinated(_) => WithdrawalWatch::nobody(),
        };
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
        let plan_id = from_hex(&plan.plan).ok_or(Misbehaviour::DifferentAgreement)?;
        let proposal = Proposal {
            spec: plan.spec.clone(),
            auto_engine: false,
            cohort: plan.cohort(),
            pseudonyms: false,
            estimate_only: false,
            fresh: false,
            // The limits apply as they were agreed on.
            limit_per_scanpath: ScanpathLimit::Default,
            declared_letters: None,
            disclosure: DisclosureLimits::default(),
            memory,
            tile: Some(tile),
            tile_count: None,
            key: None,
        };
        let ledger_file = match &storage {
            TileStorage::Shared(state_dir) => self.ledger(Some(state_dir)),
            // The coordinator's account is the authoritative one.
            TileStorage::Coordinated(_) => LedgerFile::at(None),
        };
        let coordinated = matches!(storage, TileStorage::Coordinated(_));
        let id = plan.id()?;
        let lifted =
            ledger_file.inspect(|ledger| ledger.check_tile(&id, tile).map(|()| ledger.lifted));
        let prepared = lifted.and_then(|lifted| {
            let lifted = lifted?;
            let pairs = plan.pairs_of(tile, memory)?;
            let agreed = pairs.agreed(plan);
            let scope = pairs.storage_scope(plan, &agreed);
            let storage = match storage {
                TileStorage::Shared(state_dir) => {
                    let journal = scope.journal(Some(&state_dir.journals()))?;
                    scope.open(journal, ledger_file.clone())?
                }
                TileStorage::Coordinated(tile) => {
                    let (journal, max_agreements, limit) = tile.into_parts();
                    OpenStorage {
                        max_agreements,
                        limit,
                        ..scope.open(journal, ledger_file.clone())?
                    }
                }
            };
            let max_starts = match coordinated {
                true => u32::MAX,
                false => MAX_STARTS.saturating_mul(lifted.saturating_add(1)),
            };
            Ok((storage, max_starts, pairs))
        });
        let (storage, max_starts, of_tile) = self.or_decline(Tag::Statements, prepared)?;
        let OpenStorage {
            journal,
            account,
            max_agreements,
            limit,
        } = storage;
        let TilePairs {
            id,
            blocks,
            pairs,
            cells,
            size,
            roster_bytes,
            ..
        } = of_tile;
        let [host, join] = plan.rosters.clone();
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
            pair_charge: None,
            withdrawals,
            max_starts,
            #[cfg(test)]
            watch: None,
            max_agreements,
            limit,
            proposal,
            peer_estimates_only: false,
            decision: None,
            engine_reason: EngineReason::Named,
            link: Link::local(),
            encoding_on_one_side: false,
            agreements_folder: None,
            signs: false,
        };
        self.settle(agreement, &size, roster_bytes)
    }
}
