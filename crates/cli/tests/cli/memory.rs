//! The memory of a real host: small plans stay below the default of `--memory`, and large ones are declined before they need
//! more. Linux only, because other systems do not report how much memory a process has used.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test's helpers may fail the test; it prints figures
#![cfg(target_os = "linux")]

use crate::common;
use crate::common::flood;
use crate::common::pair;

use common::RunOutput;
use flood::Watcher;
use pair::{Pair, Side};
use std::fmt::Write as _;
use std::time::Duration;

/// The default of `--memory`, in MiB.
const ALLOWED: f64 = 256.0;

/// How long a run may take. The longest takes 50 seconds of CPU time on both sides together, and the machine may be busy.
const LONG_RUN_TIMEOUT: Duration = Duration::from_secs(600);

const HEADER: &str = "# veilpath cohort 1\n# alphabet: letters 49\nparticipant,scanpath\n";

/// A cohort of this many scanpaths.
fn cohort(scanpaths: usize, id_bytes: usize, letters: usize) -> String {
    let mut text = String::from(HEADER);
    for number in 0..scanpaths {
        let path = (0..letters).map(|at| (b'A' + ((number * 7 + at * at) % 26) as u8) as char);
        let path: String = path.collect();
        writeln!(text, "{number:0id_bytes$},{path}").unwrap();
    }
    text
}

/// Runs both sides and returns them with the host's peak memory. The joining side has no limit of its own.
fn run(engine: &str, cohorts: [String; 2], host: &[&str]) -> ([RunOutput; 2], f64) {
    let both = ["--engine", engine, "--limit-per-scanpath", "1000000"];
    run_with(&both, cohorts, host)
}

fn run_with(both: &[&str], cohorts: [String; 2], host: &[&str]) -> ([RunOutput; 2], f64) {
    run_watched(Side::Host, both, cohorts, host)
}

/// Runs both sides, and returns them with the peak memory of one, which has options of its own. The other has no limit.
fn run_watched(
    watched: Side,
    both: &[&str],
    cohorts: [String; 2],
    options: &[&str],
) -> ([RunOutput; 2], f64) {
    let pair = Pair::new();
    for (name, text) in ["a.csv", "b.csv"].into_iter().zip(cohorts) {
        std::fs::write(pair.folder.path().join(name), text).unwrap();
    }
    let unlimited = [both, &["--memory", "100000"]].concat();
    let own = [both, options].concat();
    let (host, join) = match watched {
        Side::Host => (&own, &unlimited),
        Side::Join => (&unlimited, &own),
    };
    let host = pair.host(host);
    let address = host.address.clone().unwrap();
    let watch_host = (watched == Side::Host).then(|| Watcher::start(host.child.id()));
    let join = pair.join(&address, join);
    let watcher = watch_host.unwrap_or_else(|| Watcher::start(join.child.id()));
    let output = [host, join].map(|side| side.end_after_at_most(LONG_RUN_TIMEOUT));
    let peak = watcher.end().unwrap().peak_memory;
    eprintln!("{}: {peak:.0} MiB", both.join(" "));
    (output, peak)
}

#[test]
fn plans_that_need_too_much_memory_are_declined_early() {
    let own = || cohort(10, 3, 20);
    for (what, theirs) in [
        ("long ids", cohort(60_000, 1000, 2)),
        ("a long scanpath", cohort(1, 3, 4_000_000)),
        ("many pairs", cohort(100_000, 6, 2)),
    ] {
        let ([host, join], peak) = run("garbled", [own(), theirs], &[]);
        assert_eq!(host.code, 3, "{what}\n{}", host.stderr);
        assert!(host.stderr.contains("--memory"), "{what}\n{}", host.stderr);
        assert!(peak < ALLOWED / 2.0, "{what}: {peak} MiB");
        assert_eq!(join.code, 3, "{what}\n{}", join.stderr);
        assert!(join.stderr.contains("memory"), "{what}\n{}", join.stderr);
    }
}

#[test]
fn memory_stays_within_its_estimate() {
    check_estimates(&[("plain", 10, cohort(10_000, 6, 2))]);
}

#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn memory_of_large_comparisons_stays_within_its_estimate() {
    check_estimates(&[
        ("plain", 1, cohort(20_000, 1000, 2)),
        ("garbled", 1, cohort(1, 3, 300_000)),
        // The pairs need most of the memory.
        ("plain", 700, cohort(700, 6, 2)),
    ]);
}

/// Computing a group answer needs memory of its own.
#[test]
#[ignore = "takes a minute; .ci/full runs it"]
fn group_answers_stay_within_their_estimate() {
    // Every other participant is in the second group.
    let side = |scanpaths| {
        let text = cohort(scanpaths, 4, 3).replace("participant,", "participant,group,");
        let line = |(number, line): (usize, &str)| match line.split_once(',') {
            Some((id, path)) if number > 2 => format!("{id},{},{path}\n", number % 2),
            _ => format!("{line}\n"),
        };
        text.lines().enumerate().map(line).collect::<String>()
    };
    for engine in ["garbled", "shares"] {
        for answer in [
            "mean:overall",
            "test:groups",
            "histogram:20",
            "nearest:5,rate",
        ] {
            let both = ["--engine", engine, "--reveal", answer];
            within_its_estimate(&both, || [side(300), side(500)]);
        }
        // The pairs within the host's site need most of the memory.
        let both = ["--engine", engine, "--reveal", "test:sites"];
        within_its_estimate(&both, || [side(1000), side(10)]);
    }
}

/// Every mean is rounded by a comparison on shares.
#[test]
#[ignore = "takes a minute; .ci/full runs it"]
fn many_means_stay_within_their_estimate() {
    let side = || {
        let mut text = HEADER.replace("participant,", "participant,stimulus,");
        for (participant, stimulus) in (0..6).flat_map(|it| (0..17_000).map(move |at| (it, at))) {
            writeln!(text, "{participant},{stimulus},AB").unwrap();
        }
        text
    };
    for engine in ["garbled", "shares"] {
        let both = ["--engine", engine, "--reveal", "mean"];
        within_its_estimate(&both, || [side(), side()]);
    }
}

/// A user can allow more memory, and the estimate covers what is actually used.
fn check_estimates(plans: &[(&str, usize, String)]) {
    for &(engine, own, ref theirs) in plans {
        let both = ["--engine", engine, "--limit-per-scanpath", "1000000"];
        within_its_estimate(&both, || [cohort(own, 3, 1), theirs.clone()]);
    }
}

fn within_its_estimate(both: &[&str], cohorts: impl Fn() -> [String; 2]) {
    side_is_within_its_estimate(Side::Host, both, cohorts);
}

fn side_is_within_its_estimate(side: Side, both: &[&str], cohorts: impl Fn() -> [String; 2]) {
    let mut allowed = "64".to_string();
    // The first estimate does not include the pairs.
    let (ended, peak) = loop {
        let options = ["--memory", &allowed];
        let ([host, join], peak) = run_watched(side, both, cohorts(), &options);
        let ended = if side == Side::Host { host } else { join };
        match ended.stderr.split("--memory ").nth(1) {
            None => break (ended, peak),
            Some(needed) => allowed = needed.split(' ').next().unwrap().into(),
        }
    };
    assert_eq!(ended.code, 0, "{both:?}\n{}", ended.stderr);
    let allowed: f64 = allowed.parse().unwrap();
    assert!(
        allowed > 64.0 && peak < allowed,
        "{both:?}: {peak} of {allowed} MiB"
    );
}

/// One long scanpath of the partner, and one of two letters. With `garbled`, a side stores results of the partner's rows or
/// columns, and counts of diagonals.
fn long_partner_stays_within_its_estimate(watched: Side, options: &str, letters: usize) {
    let both = format!("{options} --limit-per-scanpath 100000000");
    let both: Vec<&str> = both.split(' ').collect();
    let (own, theirs) = (|| cohort(1, 3, 2), || cohort(1, 3, letters));
    side_is_within_its_estimate(watched, &both, || match watched {
        Side::Host => [own(), theirs()],
        Side::Join => [theirs(), own()],
    });
}

#[test]
fn counts_of_diagonals_stay_within_their_estimate() {
    let options = "--engine garbled --metric crqa --measures corm --grid 7x7";
    long_partner_stays_within_its_estimate(Side::Join, options, 200_000);
    long_partner_stays_within_its_estimate(Side::Host, options, 60_000);
}

#[test]
fn row_results_stay_within_their_estimate() {
    let options = "--engine garbled --metric hausdorff --grid 7x7";
    long_partner_stays_within_its_estimate(Side::Join, options, 250_000);
}

#[test]
#[ignore = "takes a minute; .ci/full runs it"]
fn very_long_scanpaths_of_the_partner_stay_within_their_estimate() {
    for (watched, metric, letters) in [
        (Side::Join, "crqa --measures corm", 1_000_000),
        (Side::Join, "crqa --measures det", 2_000_000),
        (Side::Join, "crqa --measures lam", 2_000_000),
        (Side::Join, "hausdorff", 1_000_000),
        (Side::Host, "crqa --measures rec,det,lam,corm", 200_000),
        (Side::Host, "dtw", 300_000),
        (Side::Host, "hausdorff", 300_000),
        (Side::Host, "frechet", 300_000),
    ] {
        let options = format!("--engine garbled --metric {metric} --grid 7x7");
        long_partner_stays_within_its_estimate(watched, &options, letters);
    }
}

/// The joining side stores the substitution costs of one long host scanpath, and not yet those of the next one.
#[test]
#[ignore = "takes a minute; .ci/full runs it"]
fn paillier_with_long_scanpaths_stays_within_its_estimate() {
    let both = "--engine paillier --key-bits 512 --allow-weak-key --limit-per-scanpath 1000000";
    let both: Vec<&str> = both.split(' ').collect();
    let cohorts = || [cohort(2, 3, 30_000), cohort(1, 3, 2)];
    side_is_within_its_estimate(Side::Join, &both, cohorts);
}

#[test]
fn common_comparisons_stay_below_the_default_memory() {
    for (engine, scanpaths, letters) in [
        ("garbled", 14, 60),
        ("garbled", 150, 5),
        ("shares", 25, 30),
        // The tables for a key of the default size need most of the memory.
        ("paillier", 3, 4),
        ("plain", 150, 15),
    ] {
        let side = || cohort(scanpaths, 4, letters);
        let ([host, join], peak) = run(engine, [side(), side()], &[]);
        assert_eq!(host.code, 0, "{}", host.stderr);
        assert_eq!(join.code, 0, "{}", join.stderr);
        assert!(peak < ALLOWED, "{engine}, {scanpaths}: {peak} MiB");
    }
}

#[test]
fn participants_without_a_pair_need_no_memory_in_a_histogram() {
    let cohort = |participants: usize| {
        let mut text = HEADER.replace("participant,", "participant,stimulus,");
        for number in 0..participants {
            let row = if number < 10 {
                "common,ABCDEFGHIJ"
            } else {
                "other,A"
            };
            writeln!(text, "{number},{row}").unwrap();
        }
        text
    };
    let both = ["--engine", "shares", "--reveal", "histogram:21"];
    let ([host, join], peak) = run_with(&both, [cohort(10), cohort(185_000)], &[]);
    assert_eq!(host.code, 0, "{}", host.stderr);
    assert_eq!(join.code, 0, "{}", join.stderr);
    assert!(peak <= ALLOWED, "{peak} MiB");
}

/// Runs both sides with the `shares` engine and the default of `--memory`, and returns the peak memory of both.
fn shares(scanpaths: usize, letters: usize) -> [f64; 2] {
    shares_by("levenshtein", scanpaths, letters)
}

fn shares_by(metric: &str, scanpaths: usize, letters: usize) -> [f64; 2] {
    let peaks = shares_of(&cohort(scanpaths, 4, letters), metric);
    eprintln!("shares, {scanpaths}² comparisons of {letters} letters by {metric}: {peaks:.0?} MiB");
    peaks
}

fn shares_of(cohort: &str, metric: &str) -> [f64; 2] {
    let pair = Pair::new();
    for name in ["a.csv", "b.csv"] {
        std::fs::write(pair.folder.path().join(name), cohort).unwrap();
    }
    let both = format!("--metric {metric} --engine shares --limit-per-scanpath 100000000 -o");
    let both: Vec<&str> = both.split(' ').collect();
    let mut host = pair.host(&[&both[..], &["host.csv"]].concat());
    let address = host.address.clone().unwrap();
    let mut join = pair.join(&address, &[&both[..], &["join.csv"]].concat());
    let watchers = [&host, &join].map(|side| Watcher::start(side.child.id()));
    for side in [&mut host, &mut join] {
        assert!(side.ends_within(Duration::from_secs(1800)));
    }
    for side in [host, join] {
        side.end().ok();
    }
    watchers.map(|watcher| watcher.end().unwrap().peak_memory)
}

/// Twice as many comparisons need at most 1 KiB more for each result, and no more for their computation.
#[test]
fn shares_memory_does_not_grow_with_the_comparisons() {
    // Both have more comparisons than one portion.
    let sizes: [u32; 2] = [140, 200];
    let [few, many] = sizes.map(|size| shares(size as usize, 8));
    let more_results = f64::from(sizes[1].pow(2) - sizes[0].pow(2)) / 1024.0;
    for (few, many) in few.iter().zip(many) {
        assert!(many < few + more_results, "{few} and {many} MiB");
    }
}

/// About as many comparisons and matrix cells as the Salient360 data set.
#[test]
#[ignore = "takes a minute; .ci/full runs it"]
fn shares_memory_is_bounded_for_many_comparisons() {
    for peak in shares(267, 24) {
        assert!(peak < ALLOWED, "{peak} MiB");
    }
}

#[test]
#[ignore = "takes minutes; .ci/full runs it"]
fn shares_memory_is_bounded_for_long_scanpaths() {
    for peak in shares(1, 10_000) {
        assert!(peak < ALLOWED, "{peak} MiB");
    }
}

/// Nine-bit costs need more memory per cell.
const SCANMATCH: &str = "scanmatch --grid 7x7";

#[test]
#[ignore = "takes minutes; .ci/full runs it"]
fn shares_memory_is_bounded_for_many_comparisons_with_scanmatch() {
    for peak in shares_by(SCANMATCH, 267, 24) {
        assert!(peak < ALLOWED, "{peak} MiB");
    }
}

#[test]
#[ignore = "takes minutes; .ci/full runs it"]
fn shares_memory_is_bounded_for_long_scanpaths_with_scanmatch() {
    for peak in shares_by(SCANMATCH, 1, 10_000) {
        assert!(peak < ALLOWED, "{peak} MiB");
    }
}

/// Sets of places on a fine grid need many numbers per comparison.
#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn shares_memory_is_bounded_for_a_fine_grid() {
    let mut text = String::from(
        "# veilpath cohort 1\n# alphabet: letters 49\n# data: fixations\n# grid: 7x7\n# screen: 1920 x 1080 pixels\nparticipant,scanpath,fixations\n",
    );
    for number in 0..60 {
        let place = |at: usize| {
            format!(
                "{} {} 200",
                (number * 131 + at * 397) % 1920,
                (number * 71 + at * 211) % 1080
            )
        };
        let places: Vec<String> = (0..12).map(place).collect();
        writeln!(text, "{number},{},{}", "A".repeat(12), places.join(";")).unwrap();
    }
    let metric = "hausdorff --positions fixations --fixation-grid 32x18";
    let peaks = shares_of(&text, metric);
    eprintln!("shares, 60² comparisons by {metric}: {peaks:.0?} MiB");
    for peak in peaks {
        assert!(peak < ALLOWED, "{peak} MiB");
    }
}
