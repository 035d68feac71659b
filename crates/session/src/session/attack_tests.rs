//! A modified peer runs whole sessions against an unmodified one, and tries to get around the limits.
//!
//! The attacker is this program, but it compares other letters than it announced, swaps its files, and breaks the connection
//! at any point. What it has learned is what its files contain at the end: every answer, however it got there.
//!
//! `VEILPATH_FAULTS=long` tries every place and record; otherwise only some are tried.

mod agreements;
mod broken_connections;
mod cohorts;
mod engines;
mod failed_checks;
mod groups;
mod hang_ups;
mod impossible;
mod journals;
mod labels;
mod lost_answers;
mod lost_parts;
mod memory;
mod non_alignment;
mod paillier_groups;
mod plain_limit;
mod relay;
mod reused_key;
mod running_host;
mod saving;
mod signatures;
mod starts;
mod withdrawals;

use super::*;
use crate::checksummed::BitFlips;
use crate::counted_store::StartWatch;
use crate::digests::{FORGED_TAG, cohort_tag};
use crate::{Listener, ScanpathLimit, join};
use cohorts::{attackers, cohort, letters};
use hang_ups::is_long;
use relay::{Cut, Relay};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use tempfile::TempDir;
use veilpath_metrics::{Alphabet, Cohort, Metric, Substitution};
use veilpath_protocol::{Engine, KeySize, PaillierOptions, PairRule, Reveal, RevealTo, Spec};

const SECRETS: [[u16; 4]; 2] = [[3, 1, 4, 1], [2, 7, 1, 8]];

const TIMEOUTS: Timeouts = Timeouts {
    idle: Duration::from_secs(20),
    stall: Duration::from_secs(20 * 60),
    connect: Duration::from_secs(10),
};

/// What is computed, for whom, and which side cheats.
#[derive(Clone, Copy, Debug)]
struct Case {
    engine: Engine,
    reveal: Reveal,
    to: RevealTo,
    attacker: Role,
}

/// The cases in which the attacker gets results.
fn cases() -> Vec<Case> {
    let case = |engine, to, attacker| Case {
        engine,
        reveal: Reveal::Score,
        to,
        attacker,
    };
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let (garbled, paillier) = (Engine::Garbled, Engine::Paillier(options));
    vec![
        case(garbled, RevealTo::Both, Role::Join),
        case(garbled, RevealTo::Join, Role::Join),
        case(garbled, RevealTo::Both, Role::Host),
        case(garbled, RevealTo::Host, Role::Host),
        case(Engine::Shares, RevealTo::Both, Role::Join),
        case(Engine::Shares, RevealTo::Both, Role::Host),
        case(paillier, RevealTo::Both, Role::Join),
        case(paillier, RevealTo::Both, Role::Host),
    ]
}

/// A victim with its files, and an attacker with its key.
struct Setup {
    case: Case,
    limit: ScanpathLimit,
    /// Whether the victim's user asks for a new agreement.
    fresh: bool,
    /// Whether the victim's user leaves the choice of the engine open.
    auto: bool,
    /// The victim's budget of group answers.
    answers: u32,
    /// The memory that the victim may use.
    memory: Option<u64>,
    metric: Metric,
    alphabet: Alphabet,
    /// How many scanpaths the attacker has.
    partners: u16,
    victim: Identity,
    attacker: Identity,
    victim_files: TempDir,
}

/// What the attacker does in one session.
#[derive(Clone)]
struct Attempt<'a> {
    /// Its state folder.
    files: &'a Path,
    /// The cohort that it announces. Its letters affect only a tag under its own key.
    announced: Vec<u16>,
    /// The cohort that it compares.
    letters: Vec<u16>,
    /// What it changes in its plan after the agreement.
    change: Option<fn(&mut Spec)>,
    /// The groups that it announces under the tag of the usual ones.
    groups: Option<[&'static str; 2]>,
    /// The engine that it names, where the victim leaves the choice open.
    engine: Option<Engine>,
    /// Whether it asks only for the estimate.
    estimates: bool,
    /// Whether it swaps the groups of its participants after the agreement.
    swap_groups: bool,
    /// The labels that it publishes in place of those that it has committed to.
    labels: Option<&'static [u8]>,
    cut: Option<Cut>,
    /// The bytes that it changes, and those after which it hangs up, counted from the agreement.
    flips: Option<BitFlips>,
    bytes: Option<usize>,
    fresh: bool,
    /// What it does between the agreement and the computation.
    before_computation: Option<&'a (dyn Fn() + Sync)>,
    /// Counts the pairs that the victim's engine starts.
    watch: Option<Arc<StartWatch>>,
    /// What happens at the victim meanwhile.
    observer: Option<&'a dyn veilpath_protocol::Observer>,
}

impl<'a> Attempt<'a> {
    /// An attempt with its own letters, under the same agreement as every other attempt.
    fn new(files: &'a Path, number: usize) -> Self {
        Self {
            files,
            announced: vec![0; 4],
            groups: None,
            engine: None,
            estimates: false,
            letters: letters(number).to_vec(),
            change: None,
            swap_groups: false,
            labels: None,
            cut: None,
            flips: None,
            bytes: None,
            fresh: false,
            before_computation: None,
            watch: None,
            observer: None,
        }
    }
}

/// How a session ended.
struct SessionEnd {
    victim: Option<SessionError>,
    attacker: Option<SessionError>,
    /// The agreement and the tag of the computation, if the two sides have agreed.
    agreed: Option<([u8; 32], u64)>,
    /// Records that passed after the agreement: to the victim, and to the attacker.
    records: [usize; 2],
    /// The bytes that the victim and the attacker have sent after the agreement, before TLS.
    sent: [Vec<u8>; 2],
}

/// What a session shows while it runs.
struct Observed {
    relay: Relay,
    agreed: Mutex<Option<([u8; 32], u64)>>,
    sent: [Arc<Mutex<Vec<u8>>>; 2],
}

impl Observed {
    fn new(relay: Relay) -> Self {
        Self {
            relay,
            agreed: Mutex::default(),
            sent: Default::default(),
        }
    }

    fn end(self, victim: Option<SessionError>, attacker: Option<SessionError>) -> SessionEnd {
        SessionEnd {
            victim,
            attacker,
            agreed: self.agreed.into_inner().unwrap(),
            records: self.relay.records(),
            sent: self.sent.map(|it| std::mem::take(&mut *it.lock().unwrap())),
        }
    }
}

impl Setup {
    fn new(case: Case, limit: u64) -> Self {
        Self {
            case,
            limit: ScanpathLimit::Count(limit),
            fresh: false,
            auto: false,
            answers: crate::DisclosureLimits::default().answers_per_partner,
            memory: None,
            // Scores with many values, so that different questions have different answers.
            metric: Metric::NeedlemanWunsch {
                substitution: Substitution::Index,
                insert: 20.0,
                delete: 20.0,
                scale: None,
            },
            alphabet: Alphabet::letters(26).unwrap(),
            partners: 1,
            victim: Identity::ephemeral().unwrap(),
            attacker: Identity::ephemeral().unwrap(),
            victim_files: tempfile::tempdir().unwrap(),
        }
    }

    fn attacks(&self, role: Role) -> bool {
        role == self.case.attacker
    }

    fn identity(&self, role: Role) -> &Identity {
        match self.attacks(role) {
            true => &self.attacker,
            false => &self.victim,
        }
    }

    fn proposal(&self, role: Role, attempt: &Attempt<'_>) -> Proposal {
        let attacks = self.attacks(role);
        let secrets = SECRETS.each_ref().map(|it| &it[..]);
        let mut cohort = match attacks {
            true => attackers(&attempt.announced, self),
            false => cohort(&secrets),
        };
        cohort.alphabet = self.alphabet;
        if let Some(groups) = attempt.groups.filter(|_| attacks) {
            for (entry, group) in cohort.entries.iter_mut().zip(groups) {
                entry.group = Some(group.into());
            }
        }
        let named = attempt.engine.filter(|_| attacks);
        let engine = named.unwrap_or(self.case.engine);
        let metric = self.metric.clone();
        let mut spec = Spec::new(engine, metric, PairRule::All, &cohort, &cohort).unwrap();
        (spec.reveal, spec.reveal_to) = (self.case.reveal, self.case.to);
        Proposal {
            auto_engine: self.auto && named.is_none(),
            spec,
            cohort,
            pseudonyms: false,
            estimate_only: attacks && attempt.estimates,
            fresh: if attacks { attempt.fresh } else { self.fresh },
            declared_letters: None,
            disclosure: crate::DisclosureLimits {
                minimum_group: 1,
                answers_per_partner: self.answers,
                allow_changed_encoding: false,
            },
            limit_per_scanpath: match attacks {
                true => ScanpathLimit::Unlimited,
                false => self.limit,
            },
            memory: self.memory.filter(|_| !attacks),
            tile: None,
            tile_count: None,
            key: None,
        }
    }

    /// One session.
    fn attack(&self, attempt: &Attempt<'_>) -> SessionEnd {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        // With different plans each side may wait for the other.
        let silence = attempt.change.map(|_| Duration::from_secs(1));
        let relay = Relay::start(listener.address(), self.case.attacker, attempt.cut, silence);
        let observed = Observed::new(relay);
        let side = |channel, role| self.side(channel, role, attempt, &observed, |_| Ok(|| ()));
        let [host, join] = std::thread::scope(|scope| {
            let host = scope.spawn(|| {
                let (own, peer) = (self.identity(Role::Host), self.identity(Role::Join));
                let peer = peer.fingerprint();
                let channel = listener.accept(own, peer, &TIMEOUTS, &mut |_| ())?;
                side(channel, Role::Host)
            });
            let (own, peer) = (self.identity(Role::Join), self.identity(Role::Host));
            let joined = join(
                &observed.relay.address(),
                own,
                peer.fingerprint(),
                &TIMEOUTS,
            );
            let joined = joined.and_then(|channel| side(channel, Role::Join));
            [host.join().unwrap(), joined]
        });
        let (victim, attacker) = match self.case.attacker {
            Role::Join => (host.err(), join.err()),
            Role::Host => (join.err(), host.err()),
        };
        observed.end(victim, attacker)
    }

    /// One side's part of a session. `opened` is called before the side agrees, and what it returns before it looks at results.
    fn side<Ended: FnOnce()>(
        &self,
        channel: SecureChannel,
        role: Role,
        attempt: &Attempt<'_>,
        observed: &Observed,
        opened: impl FnOnce(&mut Session) -> Result<Ended, SessionError>,
    ) -> Result<(), SessionError> {
        let (own, peer) = (
            self.identity(role),
            self.identity(role.other()).fingerprint(),
        );
        let proposal = self.proposal(role, attempt);
        let letters = AlphabetInfo {
            named: None,
            declared: None,
            read_as: proposal.cohort.alphabet,
            grid: None,
        };
        let mut session = Session::open(channel, role, own, peer, &letters, TIMEOUTS)?.0;
        let ended = opened(&mut session)?;
        let files = match self.attacks(role) {
            true => attempt.files,
            false => self.victim_files.path(),
        };
        let forged = attempt.groups.filter(|_| self.attacks(role)).map(|_| {
            let usual = attackers(&attempt.announced, self);
            cohort_tag(&usual, own, true)
        });
        FORGED_TAG.set(forged);
        let agreed_session = session.agree(proposal, Some(&StateDir::at(files)), &mut |_| ());
        FORGED_TAG.set(None);
        let mut ready = agreed_session?;
        let channel = ready.session.channel.uncounted();
        channel.record = Some(Arc::clone(&observed.sent[usize::from(self.attacks(role))]));
        if self.attacks(role) {
            (channel.flips, channel.left) = (attempt.flips.clone(), attempt.bytes);
            *observed.agreed.lock().unwrap() = Some((ready.agreement.id, ready.agreement.run));
            let proposal = &mut ready.agreement.proposal;
            if let Some(change) = attempt.change {
                change(&mut proposal.spec);
            }
            proposal.cohort = attackers(&attempt.letters, self);
            proposal.cohort.alphabet = proposal.spec.alphabet;
            if let Some(group) = ready.agreement.group.as_mut() {
                if attempt.swap_groups {
                    group.swap_groups();
                }
                if let Some(labels) = attempt.labels {
                    group.publish_instead(labels);
                }
            }
            ready.agreement.proposal.estimate_only = false;
            if let Some(action) = attempt.before_computation {
                action();
            }
            observed.relay.count();
        } else {
            ready.agreement.watch.clone_from(&attempt.watch);
        }
        let observer = attempt.observer.filter(|_| !self.attacks(role));
        let computed = ready.compute(observer.unwrap_or(&()))?;
        ended();
        let computed = computed.into_files_if(role == Role::Host);
        computed.complete().map(|_| ())
    }

    /// The most comparisons of any scanpath of the victim that its ledger has counted.
    fn counted(&self) -> u64 {
        let directory = StateDir::at(self.victim_files.path()).ledgers();
        let ledger = LedgerFile::of(Some(&directory), self.attacker.fingerprint());
        ledger.read().unwrap().max_comparisons()
    }

    /// The most different answers about any scanpath of the victim in these files of the attacker.
    fn learned<'a>(&self, files: impl IntoIterator<Item = &'a Path>) -> u64 {
        let mut answers = [BTreeSet::new(), BTreeSet::new()];
        for files in files {
            let files = StateDir::at(files);
            for comparison in files.comparisons().unwrap().entries {
                let Ok(outcome) = files.stored_outcome(&comparison.id) else {
                    continue;
                };
                for result in outcome.results.iter() {
                    let secret = match self.case.attacker {
                        Role::Join => result.a,
                        Role::Host => result.b,
                    };
                    answers[secret].insert(format!("{:?}", result.values));
                }
            }
        }
        let max_answers = answers.iter().map(BTreeSet::len).max();
        max_answers.unwrap_or(0) as u64
    }

    /// Checks the counts of all attempts together, and returns what was learned and what was counted.
    fn audit<'a>(&self, files: impl IntoIterator<Item = &'a Path>) -> (u64, u64) {
        let (learned, counted) = (self.learned(files), self.counted());
        let ScanpathLimit::Count(limit) = self.limit else {
            panic!("every attack is on a limit");
        };
        let case = self.case;
        assert!(
            learned <= counted,
            "{case:?}: {learned} learned, {counted} counted"
        );
        assert!(
            counted <= limit,
            "{case:?}: {counted} counted, and the limit is {limit}"
        );
        (learned, counted)
    }
}

/// Runs an attack on every case, all at the same time: they mostly wait for connections to end.
fn for_all_cases(attack: impl Fn(Case) + Sync) {
    std::thread::scope(|scope| {
        for case in cases() {
            let attack = &attack;
            scope.spawn(move || attack(case));
        }
    });
}

/// Empty state folders.
fn folders(count: usize) -> Vec<TempDir> {
    (0..count).map(|_| tempfile::tempdir().unwrap()).collect()
}

fn paths(folders: &[TempDir]) -> impl Iterator<Item = &Path> {
    folders.iter().map(TempDir::path)
}
