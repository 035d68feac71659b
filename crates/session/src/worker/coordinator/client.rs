//! A worker's connection to its coordinator.

use super::super::certificate::WorkerCertificate;
use super::super::order::WorkOrder;
use super::super::tile::TilePairs;
use super::{BATCH_BYTES, Order, Refusal, Report, TileState, problem_error, timeouts};
use crate::agreement;
use crate::connect::{connect_until, join_on};
use crate::control::{self, Tag};
use crate::error::{BanReason, CoordinatorProblem, SessionError};
use crate::journal::Journal;
use crate::outcome;
use crate::{CompletedSession, Fingerprint, Identity, LimitSummary, SecureChannel, StateDir};
use std::net::TcpStream;
use std::time::Duration;
use veilpath_channel::Channel;
use veilpath_protocol::{Cost, Misbehaviour, Outcome, PlanTile, ProtocolError, Tile};

/// How long a live coordinator may take to store something: many workers may wait for one ledger.
const STALL_TIMEOUT: Duration = Duration::from_secs(600);

/// How long a worker tries to report what it has seen.
const REPORT_TIMEOUT: Duration = Duration::from_secs(60);

/// A tile that the coordinator has leased to this worker.
#[derive(Debug)]
pub struct CoordinatedTile {
    journal: Journal,
    pairs: TilePairs,
    max_agreements: u64,
    limit: LimitSummary,
}

/// What a worker does with a leased tile.
#[derive(Debug)]
pub enum TileStep {
    /// The coordinator has the results.
    Stored(Box<CompletedSession>),
    /// The sides hold a session.
    Session(Box<(SecureChannel, CoordinatedTile)>),
}

/// Sends the entries of a journal to the coordinator.
#[derive(Debug)]
pub(crate) struct CoordinatorLink {
    /// `None` after the first error. An answer that arrives late, after a timeout, would otherwise be taken for the
    /// answer to the next entries.
    channel: Option<SecureChannel>,
    /// Entries that need not be stored at once.
    unsent: Vec<u8>,
    endpoint: CoordinatorEndpoint,
    tile: u32,
}

/// The address of the coordinator, and what authenticates both ends.
#[derive(Clone, Debug)]
struct CoordinatorEndpoint {
    address: String,
    institution: Fingerprint,
    key: Identity,
    certificate: WorkerCertificate,
}

impl CoordinatorEndpoint {
    /// Retries until the request succeeds or the time is over.
    fn connect_until<T>(
        &self,
        time: Duration,
        is_stopped: &dyn Fn() -> bool,
        request: &dyn Fn(SecureChannel) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        let request = |socket| {
            self.handshake(socket)
                .and_then(request)
                .map_err(coordinator_error)
        };
        connect_until(is_stopped, &self.address, &timeouts(time), &request)
    }

    fn handshake(&self, socket: TcpStream) -> Result<SecureChannel, SessionError> {
        let timeouts = timeouts(Duration::ZERO);
        let mut channel = join_on(socket, &self.key, self.institution, &timeouts)?;
        self.certificate.send(&mut channel)?;
        agreement::exchange_versions(&mut channel)?;
        Ok(channel)
    }
}

impl WorkOrder {
    /// Asks this institution's coordinator for a tile, and tries again while it cannot be reached or another worker has the tile,
    /// until `wait` has passed.
    pub fn coordinate(
        &self,
        address: &str,
        tile: Tile,
        wait: Duration,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<CoordinatedTile, SessionError> {
        let endpoint = CoordinatorEndpoint {
            address: address.to_string(),
            institution: self.plan.institution(),
            key: self.key.clone(),
            certificate: self.certificate.clone(),
        };
        endpoint.connect_until(wait, is_stopped, &|channel| {
            self.request_tile(channel, &endpoint, tile)
        })
    }

    fn request_tile(
        &self,
        mut channel: SecureChannel,
        endpoint: &CoordinatorEndpoint,
        tile: Tile,
    ) -> Result<CoordinatedTile, SessionError> {
        let order = Order { tile: tile.index() };
        control::send(&mut channel, Tag::Order, &order)?;
        let state: TileState = control::decode(Tag::Tile, &answer(&mut channel, Tag::Tile)?)?;
        let pairs = self.plan.pairs_of(tile, None)?;
        let agreed = pairs.agreed(&self.plan);
        let mut journal = pairs.storage_scope(&self.plan, &agreed).journal(None)?;
        let mut left = state.entries;
        while left > 0 {
            let entries = control::receive_bytes(&mut channel, Tag::JournalEntries)?;
            left = left
                .checked_sub(entries.len() as u64)
                .filter(|_| !entries.is_empty() && journal.restore(&entries))
                .ok_or_else(|| problem_error(CoordinatorProblem::Protocol))?;
        }
        channel.connection().set_stall(STALL_TIMEOUT);
        journal.set_coordinator(CoordinatorLink {
            channel: Some(channel),
            unsent: Vec::new(),
            endpoint: endpoint.clone(),
            tile: tile.index(),
        });
        Ok(CoordinatedTile {
            journal,
            max_agreements: state.max_agreements,
            limit: state.limit,
            pairs,
        })
    }
}

impl CoordinatedTile {
    /// Connects to the other side's worker, unless both sides have everything. If the other side cannot be reached and this
    /// side has everything, returns what is stored.
    ///
    /// An impossible result is reported only when this worker need not connect any more: the other side sees whether it does.
    pub fn connect(
        self,
        order: &WorkOrder,
        is_stopped: &dyn Fn() -> bool,
        connect: impl FnOnce() -> Result<SecureChannel, SessionError>,
    ) -> Result<TileStep, SessionError> {
        if self.journal.is_complete() {
            return self.stored(order);
        }
        match connect() {
            // The other side also has everything, or will reach this side when it runs again.
            Err(SessionError::Network(_)) if self.has_everything(order) && !is_stopped() => {
                self.stored(order)
            }
            channel => Ok(TileStep::Session(Box::new((channel?, self)))),
        }
    }

    /// Whether the coordinator has everything that this side needs of the tile. The other side may still need something.
    fn has_everything(&self, order: &WorkOrder) -> bool {
        self.pairs.agreed(&order.plan).has_everything(&self.journal)
    }

    /// The outcome from what the coordinator has stored, without a session.
    fn stored(&self, order: &WorkOrder) -> Result<TileStep, SessionError> {
        if self.journal.has_rejected() {
            let misbehaviour = Misbehaviour::ResultOutOfRange;
            return Err(ProtocolError::PeerMisbehaved(misbehaviour).into());
        }
        let (plan, pairs) = (&order.plan, &self.pairs.pairs);
        let (restarted_pairs, max_starts) = self.journal.repeated_starts(pairs.len());
        let outcome = Outcome {
            results: outcome::results(&plan.spec, plan.role(), pairs, &self.journal),
            cost: Cost {
                pairs_from_journal: pairs.len(),
                ..Cost::default()
            },
            ..plan.without_results(&self.pairs)
        };
        Ok(TileStep::Stored(Box::new(CompletedSession {
            outcome,
            agreement: plan.agreement.clone(),
            pairs: pairs.len(),
            restarted_pairs,
            max_starts,
            starts: self.journal.all_starts(pairs.len()),
            max_agreements: self.max_agreements,
            journal_failure: None,
        })))
    }

    /// Returns only the connection, for modified workers in tests.
    #[cfg(test)]
    pub(in super::super) fn into_link(mut self) -> Option<CoordinatorLink> {
        self.journal.take_coordinator()
    }

    pub(in super::super) fn into_parts(self) -> (Journal, u64, LimitSummary) {
        (self.journal, self.max_agreements, self.limit)
    }
}

impl StateDir {
    /// The pairs of a tile of an agreement, and its outcome before anything is computed.
    pub(crate) fn stored_tile(
        &self,
        agreement: &str,
        tile: Tile,
    ) -> Result<(Vec<(usize, usize)>, Outcome), SessionError> {
        let plan = self.agreed_plan(agreement)?;
        let pairs = plan.pairs_of(tile, None)?;
        let outcome = plan.without_results(&pairs);
        Ok((pairs.pairs, outcome))
    }
}

impl super::super::plan::AgreedPlan {
    /// The outcome of a tile, before anything is computed.
    pub(super) fn without_results(&self, pairs: &TilePairs) -> Outcome {
        let [host, join] = &self.rosters;
        let tile = PlanTile {
            tile: pairs.tile,
            agreement: self.agreement.clone(),
            pairs: pairs.blocks.pairs(),
        };
        outcome::without_results(
            self.role(),
            &self.spec,
            &self.cohort(),
            &self.parties(),
            [host, join],
            (pairs.pairs.len() as u64, Some(tile)),
        )
    }
}

impl CoordinatorLink {
    /// Queues entries to be stored soon.
    pub(crate) fn append(&mut self, entries: &[u8]) -> Result<(), SessionError> {
        self.unsent.extend_from_slice(entries);
        match self.unsent.len() >= BATCH_BYTES {
            true => self.sync(),
            false => Ok(()),
        }
    }

    /// Waits until all entries are stored.
    pub(crate) fn sync(&mut self) -> Result<(), SessionError> {
        let unsent = std::mem::take(&mut self.unsent);
        for batch in unsent.chunks(BATCH_BYTES) {
            self.send(Tag::JournalEntries, batch)?;
        }
        Ok(())
    }

    /// Reports that the other side was caught cheating, on a new connection, and tries again while the coordinator cannot be reached.
    pub(crate) fn report(&self, reason: BanReason) -> Result<(), SessionError> {
        let report = Report {
            tile: self.tile,
            reason,
        };
        self.endpoint
            .connect_until(REPORT_TIMEOUT, &|| false, &|mut channel| {
                control::send(&mut channel, Tag::Report, &report)?;
                answer(&mut channel, Tag::EntriesStored).map(|_| ())
            })
    }

    /// Sends entries, and waits until they are stored. After an error, closes the connection for good.
    fn send(&mut self, tag: Tag, bytes: &[u8]) -> Result<(), SessionError> {
        let lost = || problem_error(CoordinatorProblem::Lost);
        let mut channel = self.channel.take().ok_or_else(lost)?;
        control::send_bytes(&mut channel, tag, bytes).map_err(coordinator_error)?;
        answer(&mut channel, Tag::EntriesStored).map_err(coordinator_error)?;
        self.channel = Some(channel);
        Ok(())
    }

    /// Limits how long the coordinator may take, for tests.
    #[cfg(test)]
    pub(in super::super) fn set_stall(&self, time: Duration) {
        if let Some(channel) = &self.channel {
            channel.connection().set_stall(time);
        }
    }
}

/// Receives the coordinator's answer.
pub(crate) fn answer(channel: &mut dyn Channel, expected: Tag) -> Result<Vec<u8>, SessionError> {
    let (found, bytes) = control::receive_one_of(channel, &[expected, Tag::Refused])?;
    if found == expected {
        return Ok(bytes);
    }
    let refusal: Refusal = control::decode(Tag::Refused, &bytes)?;
    Err(refusal.into_error())
}

/// Attributes an error to the connection to the coordinator, not to the one to the other side.
fn coordinator_error(error: SessionError) -> SessionError {
    match error {
        SessionError::Protocol(ProtocolError::Channel(_)) => {
            problem_error(CoordinatorProblem::Lost)
        }
        SessionError::Misbehaved(_) | SessionError::NotVeilpath | SessionError::Declined(_) => {
            problem_error(CoordinatorProblem::Protocol)
        }
        other => other,
    }
}
