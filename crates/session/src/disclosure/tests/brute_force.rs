//! Searches all combinations of answers for one that is about too few participants.

use super::*;
use proptest::prelude::*;

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

/// One request: the kind, the participants as bits, which of them have seen both stimuli, and whether only scanpaths of the same
/// stimulus are compared.
type Request = (usize, u16, u16, bool);

const KINDS: [(AnswerKind, bool); 4] = [
    (AnswerKind::Mean, true),
    (AnswerKind::Mean, false),
    (AnswerKind::Groups, false),
    (AnswerKind::TestSites, false),
];

const PARTICIPANTS: usize = 9;

fn request_members(&(_, present, both, _): &Request) -> Vec<GroupMember> {
    let numbers = (0..PARTICIPANTS).filter(|number| present >> number & 1 == 1);
    numbers
        .map(|number| GroupMember {
            participant: number.to_string(),
            group: Some((number % 2).to_string()),
            stimuli: (0..=u32::from(both >> number & 1 == 1))
                .map(|it| it.to_string())
                .collect(),
            ..GroupMember::default()
        })
        .collect()
}

/// The coefficients of every number that the partner can get from an answer, for each participant and stimulus.
fn cells(request: &Request) -> Vec<Vec<u64>> {
    let (kind, overall) = KINDS[request.0];
    // If only scanpaths of the same stimulus are compared, the partner chooses its stimuli, and those whose scores it
    // does not know yet.
    let chosen: &[(&str, &str)] = match request.3 {
        true => &[("0", "0"), ("1", "1"), ("01", "0"), ("01", "1")],
        false => &[("01", "01")],
    };
    let mut rows: BTreeMap<(usize, String), Vec<u64>> = BTreeMap::new();
    for (choice, (stimuli, unknown)) in chosen.iter().enumerate() {
        for member in request_members(request) {
            let number: usize = member.participant.parse().unwrap();
            let common = member.stimuli.iter().filter(|it| stimuli.contains(*it));
            let weight = match kind {
                AnswerKind::Mean => 1,
                _ => power(common.clone().count() as u64, PRIME - 2),
            };
            for stimulus in common.filter(|it| unknown.contains(*it)) {
                let cell = match (kind, overall) {
                    (AnswerKind::Mean, false) => stimulus.clone(),
                    (AnswerKind::Groups, _) => member.group.clone().unwrap(),
                    _ => String::new(),
                };
                let row = rows
                    .entry((choice, cell))
                    .or_insert_with(|| vec![0; 2 * PARTICIPANTS]);
                row[2 * number + stimulus.parse::<usize>().unwrap()] = weight;
            }
        }
    }
    rows.into_values().collect()
}

/// The size of the smallest set of fewer than `below` participants that a combination of these rows is about.
fn min_isolated(rows: &[Vec<u64>], below: u32) -> Option<u32> {
    let all = rank(rows.to_vec());
    let subsets = 1u32..1 << PARTICIPANTS;
    let small = subsets.filter(|subset| subset.count_ones() < below);
    let isolated = small.filter(|subset| {
        // A combination is about these alone if it vanishes everywhere else.
        let outside = |row: &Vec<u64>| {
            let columns = row.iter().enumerate();
            let kept = columns.filter(|(column, _)| subset >> (column / 2) & 1 == 0);
            kept.map(|(_, value)| *value).collect()
        };
        rank(rows.iter().map(outside).collect()) < all
    });
    isolated.map(u32::count_ones).min()
}

#[test]
fn the_search_finds_isolating_differences() {
    let rows = |requests: &[Request]| requests.iter().flat_map(cells).collect::<Vec<_>>();
    let all = 0b1_1111_1111;
    assert_eq!(min_isolated(&rows(&[(0, all, all, false)]), 4), None);
    assert_eq!(
        min_isolated(&rows(&[(0, all, all, false), (0, all >> 1, all, false)]), 4),
        Some(1)
    );
    assert_eq!(
        min_isolated(&rows(&[(0, all, all, false), (0, all, all >> 2, false)]), 4),
        Some(2)
    );
    let requests = [(0, all, !1, false), (3, all, !1, false)];
    assert_eq!(min_isolated(&rows(&requests), 4), Some(1));
    // A stimulus that two have seen, in a mean over all.
    assert_eq!(min_isolated(&rows(&[(0, all, 3, false)]), 4), None);
    assert_eq!(min_isolated(&rows(&[(0, all, 3, true)]), 4), Some(2));
    // Partner groups with different stimuli give other weights to those who have seen both.
    assert_eq!(min_isolated(&rows(&[(3, all, !1, true)]), 4), Some(1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Checks by brute force that no combination of allowed answers is about fewer than the minimum.
    #[test]
    fn allowed_answers_isolate_nobody(
        minimum in 2u32..4,
        requests in proptest::collection::vec(
            (0..KINDS.len(), 0u16..512, prop_oneof![Just(0u16), Just(511), 0u16..512], any::<bool>()),
            1..12,
        ),
    ) {
        let fixture = Fixture::new();
        let limits = DisclosureLimits::new(minimum, 0, 100);
        let mut rows = Vec::new();
        for (number, request) in requests.iter().enumerate() {
            let (kind, overall) = KINDS[request.0];
            let answer = AnswerRequest {
                overall,
                by_stimulus: request.3,
                ..answer_request(number as u8, kind)
            };
            if fixture.ask_for(&answer, &request_members(request), limits).is_ok() {
                rows.extend(cells(request));
                prop_assert_eq!(min_isolated(&rows, minimum), None, "{:?}", requests);
            }
        }
    }
}
