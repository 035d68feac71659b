//! The results of earlier sessions, from the state folder alone.
//!
//! A journal has answers by the number of a pair, and no ids. When the computation of an agreement starts, a side that
//! learns answers stores beside the journal what else a result file needs: plan, ids, and which pair has which number.
//! So results can be written without the peer, even those of a session that never finished.

use crate::error::{FileProblem, InternalError, SessionError};
use crate::identity::{from_hex, hex};
use crate::journal::{Journal, ReleasedJournal};
use crate::limits::{MAX_SCANPATHS, MAX_SESSION_PAIRS};
use crate::state_dir::{self, Listing, entries};
use crate::{Fingerprint, StateDir};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use veilpath_protocol::{AnswerSchema, GroupAnswer, Outcome, Results, Reveal, Role};

/// The extension of a description, beside the journal with the same name.
pub(crate) const EXTENSION: &str = "comparison";

const VERSION: u32 = 4;

/// The most numbers of a group answer.
const MAX_NUMBERS: usize = MAX_SCANPATHS;

/// A comparison whose answers, or some of them, are in the state folder.
#[derive(Clone, Debug)]
pub struct StoredComparison {
    /// Its name in the state folder.
    pub id: String,
    /// The peer.
    pub peer: Fingerprint,
    /// This side's role.
    pub role: Role,
    /// When its computation started, by the clock of this machine.
    pub started: Option<SystemTime>,
    /// The name of the engine.
    pub engine: &'static str,
    /// The name of the metric.
    pub metric: &'static str,
    /// What each pair reveals.
    pub reveal: Reveal,
    /// All pairs.
    pub pairs: u64,
    /// Pairs with an answer; `None` while a session uses the journal.
    pub answered: Option<u64>,
}

/// What a result file needs besides the answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    version: u32,
    /// The whole id of the journal.
    journal: String,
    peer: String,
    host: bool,
    /// Runs of pairs in the order of their numbers: a scanpath of the host, the first scanpath of the
    /// joining side that it is compared with, and how many consecutive ones it is compared with.
    pairs: Vec<(u32, u32, u32)>,
    /// The result file without results.
    outcome: Outcome,
    /// What the numbers after the pairs mean, for a group answer.
    schema: Option<AnswerSchema>,
    /// Whether pairs and ids are left out. The plan of the agreement, in the same state folder, has them, and all
    /// tiles of a plan share the ids.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    in_plan: bool,
}

impl Description {
    /// The description of these pairs. The outcome has no results yet.
    pub(crate) fn new(
        journal: &[u8; 32],
        peer: Fingerprint,
        role: Role,
        pairs: &[(usize, usize)],
        outcome: Outcome,
        schema: Option<AnswerSchema>,
    ) -> Self {
        #[allow(clippy::cast_possible_truncation)] // a cohort has far fewer than 2³² scanpaths
        let run = |run: &[(usize, usize)]| {
            let &(host, join) = run.first()?;
            Some((host as u32, join as u32, run.len() as u32))
        };
        let runs = pairs.chunk_by(|a, b| a.0 == b.0 && a.1 + 1 == b.1);
        Self {
            version: VERSION,
            journal: hex(journal),
            peer: peer.plain(),
            host: role == Role::Host,
            pairs: runs.filter_map(run).collect(),
            outcome,
            schema,
            in_plan: false,
        }
    }

    /// The description of a tile whose plan is in the state folder.
    pub(crate) fn of_tile(
        journal: &[u8; 32],
        peer: Fingerprint,
        role: Role,
        outcome: Outcome,
    ) -> Self {
        let outcome = Outcome {
            a: Vec::new(),
            b: Vec::new(),
            ..outcome
        };
        Self {
            in_plan: true,
            ..Self::new(journal, peer, role, &[], outcome, None)
        }
    }

    /// Adds pairs and ids from the plan if they were left out.
    fn completed(self, state_dir: &StateDir) -> Result<Self, SessionError> {
        let Some(tile) = self.outcome.tile.as_ref().filter(|_| self.in_plan) else {
            return Ok(self);
        };
        let (pairs, outcome) = state_dir.stored_tile(&tile.agreement, tile.tile)?;
        if outcome.pairs != self.outcome.pairs {
            return Err(state_dir.not_found(FileProblem::CorruptedComparison));
        }
        let (peer, id) = (self.peer(), from_hex(&self.journal));
        match (peer, id) {
            (Some(peer), Some(id)) => Ok(Self::new(&id, peer, self.role(), &pairs, outcome, None)),
            _ => Err(state_dir.not_found(FileProblem::CorruptedComparison)),
        }
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, SessionError> {
        Ok(
            serde_json::to_vec(self)
                .map_err(|error| InternalError::Serialise(error.to_string()))?,
        )
    }

    /// The description in the content of a file, if its parts fit together.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let description: Self = serde_json::from_slice(bytes).ok()?;
        let Outcome { a, b, pairs, .. } = &description.outcome;
        let fits = |&(host, join, count): &(u32, u32, u32)| {
            (host as usize) < a.len() && u64::from(join) + u64::from(count) <= b.len() as u64
        };
        let counts = description.pairs.iter().map(|run| u64::from(run.2));
        let fitting = description.version == VERSION
            && description.pairs.iter().all(fits)
            && *pairs <= MAX_SESSION_PAIRS
            && match description.in_plan {
                true => {
                    description.pairs.is_empty()
                        && description.outcome.tile.is_some()
                        && description.schema.is_none()
                }
                false => counts.sum::<u64>() == *pairs,
            }
            && description.outcome.results.is_empty()
            && description.outcome.answers.is_empty()
            && description.schema.is_some()
                == description.outcome.spec.reveal.group_question().is_some()
            && description
                .schema
                .as_ref()
                .is_none_or(|schema| schema.count() <= MAX_NUMBERS)
            && description.peer().is_some()
            && from_hex(&description.journal).is_some();
        fitting.then_some(description)
    }

    fn peer(&self) -> Option<Fingerprint> {
        self.peer.parse().ok()
    }

    fn role(&self) -> Role {
        match self.host {
            true => Role::Host,
            false => Role::Join,
        }
    }

    /// The pairs in the order of their numbers.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.pairs.iter().flat_map(|&(host, join, count)| {
            (0..count as usize).map(move |at| (host as usize, join as usize + at))
        })
    }

    /// The numbers after the pairs.
    fn numbers(&self) -> usize {
        self.schema.as_ref().map_or(0, AnswerSchema::count)
    }

    /// The group answer, if all of its numbers are known and possible.
    fn group_answer(&self, journal: &Journal) -> Option<GroupAnswer> {
        self.checked_group_answer(journal).ok().flatten()
    }

    /// The group answer, if this side learns one. Its numbers must be known.
    fn checked_group_answer(&self, journal: &Journal) -> Result<Option<GroupAnswer>, SessionError> {
        let Some(schema) = &self.schema else {
            return Ok(None);
        };
        let first = usize::try_from(self.outcome.pairs).map_err(|_| InternalError::LostResults)?;
        let numbers = (first..first + schema.count()).map(|at| journal.number(at));
        let numbers = numbers.map(|number| number.map(u64::cast_signed));
        let numbers = numbers.collect::<Option<Vec<i64>>>();
        let answer = schema.answer(&numbers.ok_or(InternalError::LostResults)?)?;
        Ok(Some(answer))
    }

    /// Answers that are known: of pairs, or the one about groups.
    fn answered(&self, journal: &Journal) -> usize {
        journal.answers() + usize::from(self.group_answer(journal).is_some())
    }

    /// The result file with the answers of a journal.
    fn with_answers(self, journal: &Journal) -> Outcome {
        let group = self.group_answer(journal);
        let numbered = self.pairs().enumerate();
        let answers = numbered.filter_map(|(number, (a, b))| Some((a, b, journal.answer(number)?)));
        let measures = self.outcome.results.measures().to_vec();
        let results = Results::of_answers(measures, answers);
        let mut outcome = self.outcome;
        outcome.cost.pairs_from_journal = results.len();
        outcome.results = results;
        outcome.answers = group.into_iter().collect();
        outcome
    }
}

impl StateDir {
    /// The comparisons with answers for this side, the newest first.
    pub fn comparisons(&self) -> Result<Listing<StoredComparison>, SessionError> {
        self.check()?;
        let mut comparisons = Listing::default();
        for path in self.descriptions()? {
            comparisons.add(stored_comparison(&path));
        }
        let newest_first = |a: &StoredComparison, b: &StoredComparison| {
            b.started.cmp(&a.started).then(a.id.cmp(&b.id))
        };
        comparisons.entries.sort_by(newest_first);
        Ok(comparisons)
    }

    /// The results of one of these comparisons, as far as they are known, by the start of its id. Nothing is written.
    pub fn stored_outcome(&self, id: &str) -> Result<Outcome, SessionError> {
        self.check()?;
        let mut found = self.descriptions()?;
        found.retain(|path| !id.is_empty() && name(path).starts_with(&id.to_ascii_lowercase()));
        let path = match &found[..] {
            [path] => path,
            [] => return Err(self.not_found(FileProblem::NoSuchComparison)),
            _ => return Err(self.not_found(FileProblem::SeveralComparisons)),
        };
        let description = read(path)?;
        let journal = journal(path, &description)?;
        if description.answered(&journal) == 0 {
            return Err(SessionError::file(path, FileProblem::NoResults));
        }
        Ok(description.completed(self)?.with_answers(&journal))
    }

    fn descriptions(&self) -> Result<Vec<PathBuf>, SessionError> {
        entries(&self.journals(), EXTENSION)
    }

    fn not_found(&self, problem: FileProblem) -> SessionError {
        SessionError::file(&self.journals(), problem)
    }
}

/// The results of a session that has released this journal, and the journal. An impossible group answer is an error.
pub(crate) fn released_outcome(
    released: ReleasedJournal,
) -> Result<(Outcome, Journal), SessionError> {
    let path = released.path().with_extension(EXTENSION);
    let description = read(&path)?;
    let journal = released.read()?;
    description.checked_group_answer(&journal)?;
    Ok((description.with_answers(&journal), journal))
}

fn stored_comparison(path: &Path) -> Result<StoredComparison, SessionError> {
    let description = read(path)?;
    let answered = match journal(path, &description) {
        Ok(journal) => Some(description.answered(&journal) as u64),
        Err(SessionError::File {
            problem: FileProblem::Locked,
            ..
        }) => None,
        Err(error) => return Err(error),
    };
    let corrupted = || SessionError::file(path, FileProblem::CorruptedComparison);
    let spec = &description.outcome.spec;
    Ok(StoredComparison {
        id: name(path),
        peer: description.peer().ok_or_else(corrupted)?,
        role: description.role(),
        started: std::fs::metadata(path).and_then(|it| it.modified()).ok(),
        engine: spec.engine.name(),
        metric: spec.metric.name(),
        reveal: spec.reveal,
        pairs: description.outcome.pairs,
        answered,
    })
}

/// The name of a description without its extension.
fn name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn read(path: &Path) -> Result<Description, SessionError> {
    let mut bytes = Vec::new();
    let mut file = state_dir::open_private(std::fs::OpenOptions::new().read(true), path)?;
    file.read_to_end(&mut bytes)
        .map_err(|error| SessionError::io(path, error))?;
    Description::from_bytes(&bytes)
        .ok_or_else(|| SessionError::file(path, FileProblem::CorruptedComparison))
}

/// The journal beside a description.
fn journal(path: &Path, description: &Description) -> Result<Journal, SessionError> {
    let corrupted = || SessionError::file(path, FileProblem::CorruptedComparison);
    let id = from_hex(&description.journal).ok_or_else(corrupted)?;
    let pairs = usize::try_from(description.outcome.pairs).map_err(|_| corrupted())?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let entries = pairs + description.numbers();
    Journal::read_only(folder, id, entries, description.outcome.spec.reveal)
}

#[cfg(test)]
mod tests;
