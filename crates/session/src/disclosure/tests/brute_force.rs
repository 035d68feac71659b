//! Searches all combinations of answers for one that is about too few participants.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const PRIME: u64 = 1_000_000_007;

fn power(base: u64, mut exponent: u64) -> u64 {
    let (mut base, mut result) = (base, 1);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = result * base % PRIME;
        }
        base = base * base % PRIME;
        exponent /= 2;
    }
    result
}

/// The rank modulo a prime, which equals the rank over the rationals for such small numbers.
fn rank(mut rows: Vec<Vec<u64>>) -> usize {
    let columns = rows.first().map_or(0, Vec::len);
    let mut rank = 0;
    for column in 0..columns {
        let Some(pivot) = (rank..rows.len()).find(|&row| rows[row][column] != 0) else {
            continue;
        };
        rows.swap(rank, pivot);
        let inverse = power(rows[rank][column], PRIME - 2);
        let pivot = rows[rank].clone();
        for row in rows.iter_mut().skip(rank + 1) {
            let factor = row[column] * inverse % PRIME;
            for (value, other) in row.iter_mut().zip(&pivot) {
                *value = (*value + PRIME - factor * other % PRIME) % PRIME;
            }
        }
        rank += 1;
    }
    rank
}

/// One request.
#[derive(Clone, Copy, Debug)]
struct Request {
    /// The kind, by its index.
    kind: usize,
    /// The participants, as bits.
    present: u16,
    /// Those who have seen both stimuli.
    both: u16,
    /// Those whose scanpaths were corrected.
    corrected: u16,
    /// Whether only scanpaths of the same stimulus are compared.
    by_stimulus: bool,
    /// Which of two metrics.
    metric: usize,
}

const KINDS: [(AnswerKind, bool); 5] = [
    (AnswerKind::Mean, true),
    (AnswerKind::Mean, false),
    (AnswerKind::Groups, false),
    (AnswerKind::TestSites, false),
    (AnswerKind::Score, false),
];

const SCORE: usize = 4;

const PARTICIPANTS: usize = 9;

/// Unknowns of each participant: two stimuli, two versions, two metrics.
const UNKNOWNS: usize = 8;

fn request_members(request: &Request) -> Vec<GroupMember> {
    let numbers = (0..PARTICIPANTS).filter(|number| request.present >> number & 1 == 1);
    numbers
        .map(|number| {
            let both = request.both >> number & 1 == 1;
            GroupMember {
                participant: number.to_string(),
                group: Some((number % 2).to_string()),
                stimuli: (0..=u32::from(both)).map(|it| it.to_string()).collect(),
                contents: vec![[(request.corrected >> number & 1) as u8; 32]; 2],
                ..GroupMember::default()
            }
        })
        .collect()
}

/// The coefficients of every number that the partner can get from an answer, for each unknown of each participant.
fn parts(request: &Request) -> Vec<Vec<u64>> {
    let (kind, overall) = KINDS[request.kind];
    // If only scanpaths of the same stimulus are compared, the partner chooses its stimuli, and those whose scores it
    // does not know yet.
    let chosen: &[(&str, &str)] = match request.by_stimulus {
        true => &[("0", "0"), ("1", "1"), ("01", "0"), ("01", "1")],
        false => &[("01", "01")],
    };
    let mut rows: BTreeMap<(usize, String), Vec<u64>> = BTreeMap::new();
    for (choice, (stimuli, unknown)) in chosen.iter().enumerate() {
        for member in request_members(request) {
            let number: usize = member.participant.parse().unwrap();
            let common = member.stimuli.iter().filter(|it| stimuli.contains(*it));
            let weight = match kind {
                AnswerKind::Mean | AnswerKind::Score => 1,
                _ => power(common.clone().count() as u64, PRIME - 2),
            };
            for stimulus in common.filter(|it| unknown.contains(*it)) {
                let part = match (kind, overall) {
                    (AnswerKind::Mean, false) => stimulus.clone(),
                    (AnswerKind::Groups, _) => member.group.clone().unwrap(),
                    (AnswerKind::Score, _) => format!("{number} {stimulus}"),
                    _ => String::new(),
                };
                let row = rows
                    .entry((choice, part))
                    .or_insert_with(|| vec![0; UNKNOWNS * PARTICIPANTS]);
                let version = usize::from(request.corrected >> number & 1 == 1);
                let unknown = stimulus.parse::<usize>().unwrap() + 2 * version + 4 * request.metric;
                row[UNKNOWNS * number + unknown] = weight;
            }
        }
    }
    rows.into_values().collect()
}

/// The size of the smallest set of fewer than `below` participants that a combination of these rows is about. Scores of
/// single pairs may be about anybody, but together with others they must not give more than themselves.
fn min_isolated(rows: &[Vec<u64>], scores: &[Vec<u64>], below: u32) -> Option<u32> {
    let together: Vec<Vec<u64>> = rows.iter().chain(scores).cloned().collect();
    let all = rank(together.clone());
    let subsets = 1u32..1 << PARTICIPANTS;
    let small = subsets.filter(|subset| subset.count_ones() < below);
    let isolated = small.filter(|subset| {
        let columns = |row: &Vec<u64>, inside: bool| -> Vec<u64> {
            let columns = row.iter().enumerate();
            let is_inside = |column: usize| subset >> (column / UNKNOWNS) & 1 == 1;
            let chosen = columns.filter(|(column, _)| is_inside(*column) == inside);
            chosen.map(|(_, value)| *value).collect()
        };
        // A combination is about these alone if it vanishes everywhere else.
        let outside = together.iter().map(|row| columns(row, false)).collect();
        let known = scores.iter().map(|row| columns(row, true)).collect();
        all - rank(outside) > rank(known)
    });
    isolated.map(u32::count_ones).min()
}

#[test]
fn the_search_finds_isolating_differences() {
    let all = 0b1_1111_1111;
    let mean = Request {
        kind: 0,
        present: all,
        both: all,
        corrected: 0,
        by_stimulus: false,
        metric: 0,
    };
    let isolated = |requests: &[Request]| {
        let (scores, rows): (Vec<_>, Vec<_>) = requests.iter().partition(|it| it.kind == SCORE);
        let parts = |requests: Vec<&Request>| requests.into_iter().flat_map(parts).collect();
        let [rows, scores]: [Vec<_>; 2] = [parts(rows), parts(scores)];
        min_isolated(&rows, &scores, 4)
    };
    let test = Request { kind: 3, ..mean };
    assert_eq!(isolated(&[mean]), None);
    let fewer = Request {
        present: all >> 1,
        ..mean
    };
    assert_eq!(isolated(&[mean, fewer]), Some(1));
    let fewer = Request {
        both: all >> 2,
        ..mean
    };
    assert_eq!(isolated(&[mean, fewer]), Some(2));
    let one_stimulus = |request| Request {
        both: !1,
        ..request
    };
    assert_eq!(isolated(&[one_stimulus(mean), one_stimulus(test)]), Some(1));
    // A stimulus that two have seen, in a mean over all.
    let two = Request { both: 3, ..mean };
    assert_eq!(isolated(&[two]), None);
    assert_eq!(
        isolated(&[Request {
            by_stimulus: true,
            ..two
        }]),
        Some(2)
    );
    // Partner groups with different stimuli give other weights to those who have seen both.
    let by_stimulus = Request {
        by_stimulus: true,
        ..one_stimulus(test)
    };
    assert_eq!(isolated(&[by_stimulus]), Some(1));
    // Scores of all but one, by the metric of the mean or by another one.
    let scores = |metric| Request {
        kind: SCORE,
        present: all >> 1,
        metric,
        ..mean
    };
    assert_eq!(isolated(&[mean, scores(0)]), Some(1));
    assert_eq!(isolated(&[mean, scores(1)]), None);
    let corrected = Request {
        corrected: 1,
        ..mean
    };
    assert_eq!(isolated(&[mean, corrected]), Some(1));
}

/// Participants as bits: all, none, all but one, or any.
fn participants() -> impl Strategy<Value = u16> {
    let all_but_one = (0..PARTICIPANTS).prop_map(|number| 511 ^ 1 << number);
    prop_oneof![Just(0u16), Just(511), all_but_one, 0u16..512]
}

fn request() -> impl Strategy<Value = Request> {
    let bits = (
        participants(),
        participants(),
        prop_oneof![3 => Just(0), 1 => participants()],
    );
    (0..KINDS.len(), bits, any::<bool>(), 0usize..2).prop_map(
        |(kind, (present, both, corrected), by_stimulus, metric)| Request {
            kind,
            present,
            both,
            corrected,
            by_stimulus,
            metric,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Checks by brute force that no combination of allowed answers is about fewer than the minimum.
    #[test]
    fn allowed_answers_isolate_nobody(
        minimum in 2u32..4,
        requests in proptest::collection::vec(request(), 1..12),
    ) {
        let fixture = Fixture::new();
        let limits = DisclosureLimits::new(minimum, 0, 100);
        let (mut rows, mut scores) = (Vec::new(), Vec::new());
        for (number, request) in requests.iter().enumerate() {
            let (kind, overall) = KINDS[request.kind];
            let answer = AnswerRequest {
                overall,
                by_stimulus: request.by_stimulus,
                ..answer_request(number as u8, kind)
            };
            if fixture.ask_for(&answer, &request_members(request), limits).is_ok() {
                match request.kind {
                    SCORE => scores.extend(parts(request)),
                    _ => rows.extend(parts(request)),
                }
                prop_assert_eq!(min_isolated(&rows, &scores, minimum), None, "{:?}", requests);
            }
        }
    }
}
