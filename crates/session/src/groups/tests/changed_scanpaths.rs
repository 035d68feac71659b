//! A side whose cohort changes a little between two answers about the same participants.

use super::*;
use crate::disclosure::DisclosureRefusal;
use crate::error::{Limit, SessionError};
use veilpath_protocol::GroupAnswer;

/// The sum of all similarities in the joining side's mean over all pairs, if the host allows it, for each of these
/// cohorts of the host in turn. All scanpaths of the joining side are the same, so all pairs of one host scanpath
/// are equally similar.
fn sums(hosts: [Cohort; 2]) -> Vec<Result<f64, SessionError>> {
    let timeouts = Timeouts::new(Duration::from_secs(20), Duration::from_secs(20));
    let identities = [0, 1].map(|_| Identity::ephemeral().unwrap());
    let folders = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let mut chosen = cohort(3);
    for entry in &mut chosen.entries {
        entry.scanpath = Scanpath::new((0..8).collect());
    }
    let side = |role: Role, channel, cohort: &Cohort| {
        let [own, peer] = match role {
            Role::Host => [0, 1],
            Role::Join => [1, 0],
        };
        let alphabet = AlphabetInfo {
            named: None,
            declared: None,
            read_as: cohort.alphabet,
            grid: None,
        };
        let (identity, peer) = (&identities[own], identities[peer].fingerprint());
        let opened = Session::open(channel, role, identity, peer, &alphabet, timeouts);
        let reveal = "mean:overall".parse().unwrap();
        let proposal = proposal(Engine::Shares, reveal, cohort.clone());
        let files = StateDir::at(folders[own].path());
        let agreed = opened?.0.agree(proposal, Some(&files), &mut |_| ())?;
        match &agreed.run(&())?.outcome.answers[..] {
            [GroupAnswer::StimulusMeans(answer)] => {
                let mean = &answer.means[0];
                Ok(mean.mean.unwrap() * mean.pairs as f64)
            }
            other => panic!("{other:?}"),
        }
    };
    let one = |host: &Cohort| {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address().to_string();
        let [a, b] = &identities;
        std::thread::scope(|scope| {
            let hosting = scope.spawn(|| {
                let channel = listener.accept(a, b.fingerprint(), &timeouts, &mut |_| ());
                side(Role::Host, channel.unwrap(), host)
            });
            let channel = join(&address, b, a.fingerprint(), &timeouts).unwrap();
            let learned = side(Role::Join, channel, &chosen);
            hosting.join().unwrap().and(learned)
        })
    };
    hosts.iter().map(one).collect()
}

fn is_refused(result: &Result<f64, SessionError>) -> bool {
    let refusal = DisclosureRefusal::Differencing {
        participants: 1,
        minimum: 3,
    };
    matches!(result, Err(SessionError::Limit(Limit::Disclosure(it))) if *it == refusal)
}

/// The difference of the two sums is about the added scanpath alone.
#[test]
fn a_second_mean_with_one_more_scanpath_is_refused() {
    let before = cohort(0);
    let mut after = cohort(0);
    let mut added = after.entries[0].clone();
    added.scanpath = Scanpath::new(vec![0, 1, 2, 3, 11, 11, 11, 11]);
    after.entries.push(added);
    let sums = sums([before, after]);
    if let [Ok(before), Ok(after)] = &sums[..] {
        // Similarity 4 of 8 letters, six times.
        eprintln!(
            "the added scanpath has similarity {}",
            (after - before) / 6.0
        );
    }
    assert!(sums[0].is_ok() && is_refused(&sums[1]), "{sums:?}");
}

/// The difference of the two sums is about the scanpath whose letters have changed.
#[test]
fn a_second_mean_with_one_changed_scanpath_is_refused() {
    let before = cohort(0);
    let mut after = cohort(0);
    after.entries[0].scanpath = Scanpath::new(vec![0, 1, 2, 3, 11, 11, 11, 11]);
    let sums = sums([before, after]);
    if let [Ok(before), Ok(after)] = &sums[..] {
        eprintln!("its similarity changed by {}", (after - before) / 6.0);
    }
    assert!(sums[0].is_ok() && is_refused(&sums[1]), "{sums:?}");
}

/// With other settings all scanpaths count as changed, which would hide the one that was corrected.
#[test]
fn a_second_mean_with_other_settings_is_refused_whether_scanpaths_changed_or_not() {
    for (changes, setting) in [(true, "81"), (false, "81"), (true, "80")] {
        let with = |mut cohort: Cohort, value: &str| {
            let settings = &mut cohort.encoding.0;
            settings.insert("min-fixation".into(), value.into());
            cohort
        };
        let before = with(cohort(0), "80");
        let mut after = with(cohort(0), setting);
        if changes {
            after.entries[0].scanpath = Scanpath::new(vec![0, 1, 2, 3, 11, 11, 11, 11]);
        }
        let sums = sums([before, after]);
        let refusal = match &sums[1] {
            Err(SessionError::Limit(Limit::Disclosure(refusal))) => refusal,
            other => panic!("{other:?}"),
        };
        match setting == "80" {
            true => assert!(is_refused(&sums[1]), "{refusal}"),
            false => assert_eq!(
                *refusal,
                DisclosureRefusal::ChangedEncoding { participants: 6 }
            ),
        }
    }
}
