//! What two institutions have agreed on for their workers, as each of them stores it.

use super::certificate::TileRange;
use crate::disclosure::{DisclosureLedger, Tag, WithdrawalWatch};
use crate::error::{FileProblem, InternalError, Misbehaviour, SessionError};
use crate::identity::{from_hex, hex};
use crate::roster::{self, Parties, Roster};
use crate::scanpath_limit::{Limits, ScanpathLimit};
use crate::session::AgreedSession;
use crate::{Fingerprint, StateDir, locked_file, secret_json, state_dir};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use veilpath_metrics::{Cohort, Encoding, Entry, Scanpath};
use veilpath_protocol::{MAX_TILES, PairBlocks, Role, ScanpathId, Spec, Tile};

const VERSION: u32 = 2;

/// The extension of the file of an agreement.
const EXTENSION: &str = "json";

/// An agreement on a plan with tiles, from this side.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgreedPlan {
    version: u32,
    pub(super) agreement: String,
    pub(super) plan: String,
    pub(super) number: u32,
    pub(super) tile_count: u32,
    is_host: bool,
    host: Fingerprint,
    join: Fingerprint,
    pub(super) spec: Spec,
    pub(super) rosters: [Roster; 2],
    /// The ids of this side's scanpaths, in the order of its roster.
    #[serde(rename = "labels")]
    ids: Vec<ScanpathId>,
    /// Their letters; empty where the tiles of a work order do not need them.
    pub(super) letters: Vec<Vec<u16>>,
    /// The tags of their participants in the disclosure ledger.
    participants: Vec<Tag>,
    /// Whether all tiles are complete, and the letters removed.
    #[serde(default)]
    pub(super) is_complete: bool,
    /// Their names in the ledger, and their limits.
    pub(super) names: Vec<String>,
    pub(super) limits: Limits,
    /// All pairs, once derived: every tile needs them, and deriving them takes many hashes.
    #[serde(skip)]
    derived: OnceLock<Arc<PairBlocks>>,
}

/// Shows no letters.
impl fmt::Debug for AgreedPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "AgreedPlan({}, {} tiles)",
            self.agreement, self.tile_count
        )
    }
}

impl AgreedPlan {
    /// The id of the agreement.
    pub fn agreement(&self) -> &str {
        &self.agreement
    }

    /// The number of tiles.
    pub fn tile_count(&self) -> u32 {
        self.tile_count
    }

    /// What is computed.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The limit per scanpath that this side's user has set, or the default.
    pub fn limit(&self) -> ScanpathLimit {
        let chosen = self.limits.chosen.iter().flatten().max();
        chosen.map_or(ScanpathLimit::Default, |limit| ScanpathLimit::Count(*limit))
    }

    /// This side's role.
    pub fn role(&self) -> Role {
        match self.is_host {
            true => Role::Host,
            false => Role::Join,
        }
    }

    /// This side's institution.
    pub fn institution(&self) -> Fingerprint {
        match self.is_host {
            true => self.host,
            false => self.join,
        }
    }

    /// The other side's.
    pub fn peer(&self) -> Fingerprint {
        match self.is_host {
            true => self.join,
            false => self.host,
        }
    }

    /// The pairs of all tiles. They are derived once; later copies share them.
    pub fn pairs(&self) -> u64 {
        self.blocks().pairs()
    }

    /// What all work orders of this agreement have in common, in bytes: the plan without letters.
    pub fn for_workers(&self) -> Result<Vec<u8>, SessionError> {
        let text = serde_json::to_vec(&self.without_letters());
        Ok(text.map_err(|error| InternalError::Serialise(error.to_string()))?)
    }

    /// The plan in these bytes; `None` if it is not one.
    pub fn from_bytes(text: &[u8]) -> Option<Self> {
        let plan: Option<Self> = serde_json::from_slice(text).ok();
        plan.filter(Self::is_consistent)
    }

    pub(super) fn without_letters(&self) -> Self {
        Self {
            letters: vec![Vec::new(); self.letters.len()],
            ..self.clone()
        }
    }

    /// The tile with this number.
    pub(super) fn tile(&self, index: u32) -> Option<Tile> {
        Tile::new(index, self.tile_count).ok()
    }

    pub(super) fn parties(&self) -> Parties {
        Parties {
            host: self.host,
            join: self.join,
        }
    }

    /// The id of the agreement.
    pub(super) fn id(&self) -> Result<[u8; 32], SessionError> {
        Ok(from_hex(&self.agreement).ok_or(Misbehaviour::DifferentAgreement)?)
    }

    /// The number of pairs of a tile, without listing them.
    pub(super) fn pairs_in(&self, tile: Tile) -> u64 {
        self.blocks_of(tile).pairs()
    }

    fn blocks_of(&self, tile: Tile) -> PairBlocks {
        let [host, join] = self
            .rosters
            .each_ref()
            .map(|it| it.lengths().collect::<Vec<_>>());
        self.blocks().tile([&host, &join], tile)
    }

    pub(super) fn blocks(&self) -> &Arc<PairBlocks> {
        self.derived.get_or_init(|| {
            let [host, join] = &self.rosters;
            let blocks = roster::blocks(self.spec.pair_rule, host, join, &self.parties());
            Arc::new(blocks)
        })
    }

    /// The scanpaths of this side in a tile.
    pub(super) fn own_in(&self, tile: Tile) -> Vec<usize> {
        let blocks = self.blocks_of(tile);
        match self.role() {
            Role::Host => blocks.rows(),
            Role::Join => blocks.columns(),
        }
    }

    /// The tags of this side's participants in some tiles.
    fn participants_in(&self, tiles: impl IntoIterator<Item = Tile>) -> BTreeSet<Tag> {
        let own = tiles.into_iter().flat_map(|tile| self.own_in(tile));
        own.filter_map(|index| self.participants.get(index).copied())
            .collect()
    }

    /// Refuses tiles with participants who have withdrawn since the plan was agreed on, and watches the others.
    pub(super) fn check_withdrawn(
        &self,
        state_dir: &StateDir,
        tiles: impl IntoIterator<Item = Tile>,
    ) -> Result<WithdrawalWatch, SessionError> {
        let mut watch = WithdrawalWatch::of(state_dir, self.peer(), self.participants_in(tiles));
        watch.check()?;
        Ok(watch)
    }

    /// This side's cohort, with the letters that it has.
    pub(super) fn cohort(&self) -> Cohort {
        let both = self.ids.iter().zip(&self.letters);
        let entries = both.map(|(id, letters)| Entry {
            participant: id.participant.clone(),
            group: None,
            stimulus: id.stimulus.clone(),
            scanpath: Scanpath::new(letters.clone()),
            fixations: None,
        });
        Cohort {
            alphabet: self.spec.alphabet,
            encoding: Encoding(self.spec.encoding.clone()),
            screen: None,
            entries: entries.collect(),
        }
    }

    /// Whether its parts fit together.
    pub(super) fn is_consistent(&self) -> bool {
        let own = &self.rosters[usize::from(!self.is_host)];
        let letters = |scanpath: &Vec<u16>| {
            let scanpath = Scanpath::new(scanpath.clone());
            self.spec.alphabet.check(&scanpath).is_ok()
        };
        self.version == VERSION
            && (1..=MAX_TILES).contains(&self.tile_count)
            && from_hex(&self.agreement).is_some()
            && from_hex(&self.plan).is_some()
            && self.ids.len() == own.len()
            && self.letters.len() == own.len()
            && self.participants.len() == own.len()
            && self.names.len() == own.len()
            && self.limits.default.len() == own.len()
            && self.letters.iter().all(letters)
    }
}

impl AgreedSession {
    /// Stores the plan for the workers.
    pub(crate) fn store_plan(&self, tile_count: u32) -> Result<(), SessionError> {
        let (session, agreement) = (&self.session, &self.agreement);
        let Some(folder) = &agreement.agreements_folder else {
            return Ok(());
        };
        let proposal = &agreement.proposal;
        let (names, limits) = session.ledger_names_and_limits(proposal)?;
        let entries = &proposal.cohort.entries;
        let disclosures = DisclosureLedger::open(None, &session.identity, session.peer);
        let plan = AgreedPlan {
            version: VERSION,
            agreement: hex(&agreement.id),
            plan: hex(&agreement.plan),
            number: agreement.number,
            tile_count,
            is_host: session.role == Role::Host,
            host: agreement.parties.host,
            join: agreement.parties.join,
            spec: proposal.spec.clone(),
            rosters: [agreement.host.clone(), agreement.join.clone()],
            ids: entries
                .iter()
                .map(|entry| ScanpathId {
                    participant: entry.participant.clone(),
                    stimulus: entry.stimulus.clone(),
                })
                .collect(),
            letters: entries
                .iter()
                .map(|entry| entry.scanpath.letters().to_vec())
                .collect(),
            participants: entries
                .iter()
                .map(|entry| disclosures.participant_tag(&entry.participant))
                .collect(),
            is_complete: false,
            names,
            limits,
            derived: OnceLock::new(),
        };
        save(folder, &plan)
    }
}

impl StateDir {
    /// Refuses tiles with participants of this side who have withdrawn.
    pub fn check_withdrawn(&self, plan: &AgreedPlan, tiles: TileRange) -> Result<(), SessionError> {
        let tiles = (tiles.first()..=tiles.last()).filter_map(|index| plan.tile(index));
        plan.check_withdrawn(self, tiles).map(|_| ())
    }

    /// Removes the letters of an agreement, because all of its tiles are complete: no worker needs them.
    pub(super) fn remove_letters(&self, plan: &AgreedPlan) -> Result<(), SessionError> {
        let mut plan = plan.clone();
        plan.letters.iter_mut().for_each(Vec::clear);
        plan.is_complete = true;
        save(&self.agreements(), &plan)
    }

    /// Refuses a directory without this agreement on tiles: its ledger is not the one that counts the pairs of the
    /// agreement.
    pub(super) fn check_agreement(&self, agreement: &str) -> Result<(), SessionError> {
        let path = path(&self.agreements(), agreement);
        match path.exists() {
            true => Ok(()),
            false => Err(SessionError::file(&path, FileProblem::NoSuchAgreement)),
        }
    }

    /// The plan of an agreement on tiles, by the start of its id.
    pub fn agreed_plan(&self, id: &str) -> Result<AgreedPlan, SessionError> {
        self.check()?;
        let folder = self.agreements();
        let mut found = state_dir::entries(&folder, EXTENSION)?;
        let id = id.to_ascii_lowercase();
        let matches = |path: &PathBuf| {
            let name = path.file_stem().and_then(|name| name.to_str());
            !id.is_empty() && name.is_some_and(|name| name.starts_with(&id))
        };
        found.retain(matches);
        let [path] = &found[..] else {
            return Err(SessionError::file(&folder, FileProblem::NoSuchAgreement));
        };
        let file = state_dir::open_private(std::fs::OpenOptions::new().read(true), path)?;
        let text = secret_json::read(file, u64::MAX);
        let text = text.map_err(|error| SessionError::io(path, error))?;
        AgreedPlan::from_bytes(&text)
            .ok_or_else(|| SessionError::file(path, FileProblem::NotAWorkOrder))
    }
}

/// Writes the file of a plan. It contains all letters, so an unfinished file of a killed process is removed at the next
/// start.
fn save(folder: &Path, plan: &AgreedPlan) -> Result<(), SessionError> {
    let path = path(folder, &plan.agreement);
    let _guard = locked_file::guard(&path)?;
    state_dir::replace(&path, &secret_json::write(plan)?)
}

fn path(folder: &Path, agreement: &str) -> PathBuf {
    folder.join(format!("{agreement}.{EXTENSION}"))
}
