//! Whole sessions between two sides in this process, and lies during the negotiation.

mod changed_scanpaths;
mod fillers;
#[cfg(target_os = "linux")]
mod memory;
pub(super) mod negotiation;
mod opened;
mod stimuli;

use crate::limits::Timeouts;
use crate::{
    AlphabetInfo, DisclosureLimits, Identity, Listener, Proposal, ScanpathLimit, Session, StateDir,
    join,
};
use std::time::Duration;
use tempfile::TempDir;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, Scanpath};
use veilpath_protocol::{Engine, PairRule, Reveal, Role, Spec};

impl super::GroupAgreement {
    /// Swaps the groups of this side's participants, as a modified side may do after the agreement.
    pub(crate) fn swap_groups(&mut self) {
        if let Some(groups) = &mut self.groups.own_groups {
            groups.reverse();
        }
    }

    /// Publishes labels other than those it has committed to.
    pub(crate) fn publish_instead(&mut self, labels: &[u8]) {
        if let Some(committed) = &mut self.committed {
            committed.own_labels = Some(labels.to_vec());
        }
    }
}

/// Six participants in two groups, with scanpaths of eight letters.
pub(super) fn cohort(seed: usize) -> Cohort {
    let entries = (0..6).map(|index| Entry {
        participant: format!("P{index}"),
        group: Some(["control", "patient"][index % 2].into()),
        stimulus: None,
        scanpath: Scanpath::new(
            (0..8)
                .map(|position| {
                    ((seed + index * 7 + position * position * (index + 3)) % 12) as u16
                })
                .collect(),
        ),
        fixations: None,
    });
    Cohort {
        alphabet: Alphabet::letters(12).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: entries.collect(),
    }
}

pub(super) fn proposal(engine: Engine, reveal: Reveal, cohort: Cohort) -> Proposal {
    let metric = Metric::Levenshtein;
    let mut spec = Spec::new(engine, metric, PairRule::All, &cohort, &cohort).unwrap();
    spec.reveal = reveal;
    Proposal {
        auto_engine: false,
        spec,
        cohort,
        pseudonyms: false,
        estimate_only: false,
        fresh: false,
        limit_per_scanpath: ScanpathLimit::Unlimited,
        declared_letters: None,
        disclosure: DisclosureLimits {
            minimum_group: 3,
            answers_per_partner: 20,
            allow_changed_encoding: false,
        },
        memory: None,
        tile: None,
        tile_count: None,
        key: None,
    }
}

/// Two sides with an open session, and their files.
fn with_sessions<T: Send>(
    side: impl Fn(Role, Session, &StateDir, usize) -> T + Sync,
) -> [(T, TempDir); 2] {
    let timeouts = Timeouts::new(Duration::from_secs(20), Duration::from_secs(20));
    let identities = [0, 1].map(|_| Identity::ephemeral().unwrap());
    let [a, b] = &identities;
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.address().to_string();
    let alphabet = AlphabetInfo {
        named: None,
        declared: None,
        read_as: cohort(0).alphabet,
        grid: None,
    };
    let run = |channel, role, identity: &Identity, peer, number| {
        let opened = Session::open(channel, role, identity, peer, &alphabet, timeouts);
        let folder = tempfile::tempdir().unwrap();
        let result = side(
            role,
            opened.unwrap().0,
            &StateDir::at(folder.path()),
            number,
        );
        (result, folder)
    };
    std::thread::scope(|scope| {
        let host = scope.spawn(|| {
            let channel = listener.accept(a, b.fingerprint(), &timeouts, &mut |_| ());
            run(channel.unwrap(), Role::Host, a, b.fingerprint(), 0)
        });
        let channel = join(&address, b, a.fingerprint(), &timeouts).unwrap();
        let join = run(channel, Role::Join, b, a.fingerprint(), 1);
        [host.join().unwrap(), join]
    })
}
