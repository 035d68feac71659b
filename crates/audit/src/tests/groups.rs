//! The distinguisher for group answers finds flaws, and finds nothing if there are none.

use crate::groups::{Flaw, View, observe, observe_with};
use veilpath_protocol::{Engine, GroupQuestion};

/// 255 ± 23 for bytes with the same distribution.
const TOO_LARGE: f64 = 255.0 + 7.0 * 22.6;

fn questions() -> [GroupQuestion; 5] {
    [
        "groups",
        "test:groups,8",
        "test:groups,8,published",
        "nearest:3,rate",
        "histogram:3",
    ]
    .map(|it| it.parse().unwrap())
}

#[test]
fn inputs_with_the_same_answer_are_not_distinguished() {
    not_distinguished(4);
}

#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn many_inputs_with_the_same_answer_are_not_distinguished() {
    not_distinguished(16);
}

fn not_distinguished(runs: usize) {
    let mut right = 0.0;
    let mut all = 0.0;
    for (engine, question) in questions()
        .map(|it| (Engine::Shares, it))
        .into_iter()
        .chain([(Engine::Garbled, GroupQuestion::Groups { published: false })])
    {
        for side in observe(engine, question, runs, 3).unwrap() {
            let case = format!("{question} by {engine:?}, seen by {}", side.seen.seen_by);
            assert!(side.seen.same_lengths, "{case}");
            assert!(side.seen.bytes > 0, "{case}");
            assert!(
                side.seen.chi_square < TOO_LARGE,
                "{case}: {}",
                side.seen.chi_square
            );
            assert!(
                side.kept_chi_square < TOO_LARGE,
                "{case}: {}",
                side.kept_chi_square
            );
            let runs = side.seen.runs as f64 / 2.0;
            right += side.seen.distinguished * runs;
            all += runs;
        }
    }
    // Five standard deviations from guessing.
    let rate: f64 = right / all;
    assert!((rate - 0.5).abs() < 2.5 / all.sqrt(), "{rate} of {all}");
}

/// A flaw: without masks, a side keeps the pairs' numbers themselves.
fn halves_without_mask(own: &mut View, other: &View) {
    for (own, other) in own.halves.iter_mut().zip(other.halves.iter()) {
        *own ^= other;
    }
}

/// A flaw: without masks, a side has the answer before it is opened.
fn shares_without_mask(own: &mut View, other: &View) {
    for (own, other) in own.shares.iter_mut().zip(other.shares.iter()) {
        *own = own.wrapping_add(*other);
    }
}

#[test]
fn halves_without_masks_are_found() {
    found(&halves_without_mask, 12);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn halves_without_masks_distinguish_inputs() {
    assert_eq!(found(&halves_without_mask, 40), [1.0, 1.0]);
}

#[test]
fn shares_without_masks_are_found() {
    found(&shares_without_mask, 12);
}

/// The answer is the same for both inputs, so it does not distinguish them. With fewer runs, all guesses could be right
/// by chance.
#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn shares_without_masks_do_not_distinguish_inputs() {
    let by_shares = found(&shares_without_mask, 40);
    assert!(by_shares.iter().all(|rate| *rate < 1.0), "{by_shares:?}");
}

/// The fraction of runs in which each side tells the inputs apart, if what it keeps is not masked.
fn found(flaw: Flaw<'_>, runs: usize) -> Vec<f64> {
    let question = GroupQuestion::Groups { published: false };
    let sides = observe_with(Engine::Shares, question, runs, 3, flaw).unwrap();
    for side in &sides {
        assert!(side.kept_chi_square > TOO_LARGE, "{}", side.kept_chi_square);
    }
    sides.iter().map(|side| side.seen.distinguished).collect()
}
