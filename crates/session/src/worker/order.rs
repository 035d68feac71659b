//! A worker's key, its certificate, and the plan: one file for a worker.

use super::certificate::{MAX_WORKER_KEY_TIME, TileRange, WorkerCertificate};
use super::gate::WorkerGate;
use super::gateway;
use super::plan::AgreedPlan;
use crate::connect::{join_with_worker_key, worker_handshake};
use crate::error::{FileProblem, UsageError, WorkerKeyProblem};
use crate::limits::Timeouts;
use crate::{Fingerprint, Identity, Listener, SecureChannel, SessionError, date};
use crate::{secret_json, state_dir};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;
use veilpath_protocol::{Role, Tile};
use zeroize::Zeroizing;

/// The version of a work order, in its first field.
const VERSION: u32 = 2;

/// The version of a work order's own part, in its first field.
const PART_VERSION: u32 = 2;

/// The largest work order that is read. The letters of the largest cohort take less.
const MAX_FILE_BYTES: u64 = 4 << 30;

/// What a worker needs to compute its tiles.
pub struct WorkOrder {
    pub(super) key: Identity,
    pem: Zeroizing<String>,
    pub(super) certificate: WorkerCertificate,
    pub(super) plan: AgreedPlan,
}

/// Shows no key and no letters.
impl fmt::Debug for WorkOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkOrder({}, {:?})", self.fingerprint(), self.tiles())
    }
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderFile {
    veilpath_work_order: u32,
    key: String,
    certificate: WorkerCertificate,
    plan: AgreedPlan,
}

/// The same, for writing.
#[derive(Serialize)]
struct NewOrderFile<'a> {
    veilpath_work_order: u32,
    key: &'a str,
    certificate: &'a WorkerCertificate,
    plan: &'a AgreedPlan,
}

/// A work order without what all orders of an agreement share.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderPart {
    veilpath_work_order_part: u32,
    key: String,
    certificate: WorkerCertificate,
    /// The letters of its tiles, with their indices in the roster.
    letters: Vec<(usize, Vec<u16>)>,
}

/// The same, for writing.
#[derive(Serialize)]
struct NewOrderPart<'a> {
    veilpath_work_order_part: u32,
    key: &'a str,
    certificate: &'a WorkerCertificate,
    letters: Vec<(usize, &'a [u16])>,
}

impl WorkOrder {
    /// Creates a key for these tiles of an agreement of this institution.
    pub fn new(
        institution: &Identity,
        plan: &AgreedPlan,
        tiles: TileRange,
        expires: SystemTime,
    ) -> Result<Self, SessionError> {
        let refuse = |problem| Err(UsageError::WorkerKey(problem).into());
        if institution.fingerprint() != plan.institution() {
            return refuse(WorkerKeyProblem::OtherInstitution);
        }
        if tiles.last() > plan.tile_count {
            return refuse(WorkerKeyProblem::OtherTile);
        }
        let time = expires.duration_since(date::now()).ok();
        if time.is_none_or(|time| time.is_zero() || time > MAX_WORKER_KEY_TIME) {
            return refuse(WorkerKeyProblem::Time);
        }
        let (key, pem) = Identity::new_with_pem()?;
        let agreement = &plan.agreement;
        let certificate = WorkerCertificate::sign(institution, &key, agreement, tiles, expires)?;
        let mut plan = plan.clone();
        let mut needed = vec![false; plan.letters.len()];
        let in_range = (tiles.first()..=tiles.last()).filter_map(|index| plan.tile(index));
        for index in in_range.flat_map(|tile| plan.own_in(tile)) {
            if let Some(needed) = needed.get_mut(index) {
                *needed = true;
            }
        }
        for (letters, needed) in plan.letters.iter_mut().zip(needed) {
            if !needed {
                letters.clear();
            }
        }
        Ok(Self {
            key,
            pem,
            certificate,
            plan,
        })
    }

    /// Reads a work order, which only its owner may read.
    pub fn load(path: &Path) -> Result<Self, SessionError> {
        let failed = |error: io::Error| SessionError::io(path, error);
        let not_one = || SessionError::file(path, FileProblem::NotAWorkOrder);
        let file = std::fs::File::open(path).map_err(failed)?;
        crate::identity::check_permissions(path, &file.metadata().map_err(failed)?)?;
        let text = secret_json::read(file, MAX_FILE_BYTES).map_err(failed)?;
        Self::from_bytes(&text).ok_or_else(not_one)
    }

    /// A work order in the form of its file; `None` if it is not one.
    pub fn from_bytes(text: &[u8]) -> Option<Self> {
        let file: OrderFile = serde_json::from_slice(text).ok()?;
        let pem = Zeroizing::new(file.key);
        let key = Identity::from_pem(pem.as_bytes())?;
        let is_consistent = file.veilpath_work_order == VERSION
            && file.plan.is_consistent()
            && file.certificate.worker() == key.public_key().ok()?;
        is_consistent.then_some(Self {
            key,
            pem,
            certificate: file.certificate,
            plan: file.plan,
        })
    }

    /// Writes it to a new file that only its owner can read.
    pub fn save(&self, path: &Path) -> Result<(), SessionError> {
        let failed = |error: io::Error| SessionError::io(path, error);
        let text = self.to_bytes()?;
        let mut file = state_dir::private_file()
            .create_new(true)
            .open(path)
            .map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => SessionError::file(path, FileProblem::Exists),
                _ => failed(error),
            })?;
        file.write_all(&text)
            .and_then(|()| file.sync_all())
            .map_err(failed)
    }

    /// The content of its file. It is as secret as the cohort.
    pub fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>, SessionError> {
        secret_json::write(&NewOrderFile {
            veilpath_work_order: VERSION,
            key: &self.pem,
            certificate: &self.certificate,
            plan: &self.plan,
        })
    }

    /// Its own part: the key, its certificate, and the letters of its tiles. [`AgreedPlan::for_workers`] is the other part, which a
    /// cluster passes to each machine once. This part is as secret as the cohort.
    pub fn to_part(&self) -> Result<Zeroizing<Vec<u8>>, SessionError> {
        let letters = self.plan.letters.iter().map(Vec::as_slice).enumerate();
        secret_json::write(&NewOrderPart {
            veilpath_work_order_part: PART_VERSION,
            key: &self.pem,
            certificate: &self.certificate,
            letters: letters.filter(|(_, letters)| !letters.is_empty()).collect(),
        })
    }

    /// A work order from its own part and the plan; `None` if they do not fit together. Whether they belong to one agreement is checked
    /// with the certificate ([`Self::tile`]).
    pub fn from_part(plan: &AgreedPlan, text: &[u8]) -> Option<Self> {
        let part: OrderPart = serde_json::from_slice(text).ok()?;
        let pem = Zeroizing::new(part.key);
        let key = Identity::from_pem(pem.as_bytes())?;
        let mut plan = plan.without_letters();
        for (index, letters) in part.letters {
            *plan.letters.get_mut(index)? = letters;
        }
        let is_consistent = part.veilpath_work_order_part == PART_VERSION
            && plan.is_consistent()
            && part.certificate.worker() == key.public_key().ok()?;
        is_consistent.then_some(Self {
            key,
            pem,
            certificate: part.certificate,
            plan,
        })
    }

    /// The tiles that its key allows.
    pub fn tiles(&self) -> Option<TileRange> {
        self.certificate.tiles()
    }

    /// When its key expires.
    pub fn expires(&self) -> SystemTime {
        self.certificate.expires()
    }

    /// The fingerprint of the worker's own key.
    pub fn fingerprint(&self) -> Fingerprint {
        self.key.fingerprint()
    }

    /// The plan.
    pub fn plan(&self) -> &AgreedPlan {
        &self.plan
    }

    /// The role of this side.
    pub fn role(&self) -> Role {
        self.plan.role()
    }

    /// The tile with this number, if the key is valid for it now.
    pub fn tile(&self, index: u32) -> Result<Tile, SessionError> {
        let AgreedPlan { agreement, .. } = &self.plan;
        let (institution, key) = (self.plan.institution(), self.certificate.worker());
        let checked = self
            .certificate
            .check(institution, key, agreement, Some(index), date::now());
        let tile = checked.and(self.plan.tile(index).ok_or(WorkerKeyProblem::OtherTile));
        Ok(tile.map_err(UsageError::WorkerKey)?)
    }

    /// Waits for the other side's worker of a tile.
    pub fn accept(
        &self,
        listener: Listener,
        tile: Tile,
        timeouts: &Timeouts,
        is_stopped: &dyn Fn() -> bool,
        on_rejected: &mut dyn FnMut(&SessionError),
    ) -> Result<SecureChannel, SessionError> {
        listener.accept_worker(
            is_stopped,
            &self.key,
            self.gate(tile),
            timeouts,
            on_rejected,
        )
    }

    /// Connects to the other side's worker of a tile.
    pub fn join(
        &self,
        address: &str,
        tile: Tile,
        timeouts: &Timeouts,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<SecureChannel, SessionError> {
        join_with_worker_key(is_stopped, address, &self.key, &self.gate(tile), timeouts)
    }

    /// Meets the other side's worker of a tile at the host's gateway.
    pub fn meet(
        &self,
        address: &str,
        tile: Tile,
        timeouts: &Timeouts,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<SecureChannel, SessionError> {
        let gate = self.gate(tile);
        let handshake = |socket| worker_handshake(socket, self.role(), &self.key, &gate, timeouts);
        let greeting = || gateway::greeting(&self.key, &self.certificate, &self.plan, tile);
        crate::relay::meet(is_stopped, (address, true), &greeting, timeouts, &handshake)
    }

    pub(super) fn gate(&self, tile: Tile) -> WorkerGate {
        WorkerGate {
            role: self.role(),
            institution: self.plan.peer(),
            agreement: self.plan.agreement.clone(),
            tile: Some(tile.index()),
            own: Some(self.certificate.clone()),
        }
    }
}
