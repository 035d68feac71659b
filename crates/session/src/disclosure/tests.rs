use super::*;
use crate::{RecordEntry, SignedRecord};
use proptest::prelude::*;

struct Fixture {
    folder: tempfile::TempDir,
    identity: Identity,
    partner: Fingerprint,
}

impl Fixture {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            identity: Identity::ephemeral().unwrap(),
            partner: Identity::ephemeral().unwrap().fingerprint(),
        }
    }

    fn state_dir(&self) -> StateDir {
        StateDir::at(self.folder.path())
    }

    fn ledger(&self) -> DisclosureLedger {
        DisclosureLedger::open(Some(&self.state_dir()), &self.identity, self.partner)
    }

    /// Asks for an answer and, if it is allowed, charges it.
    fn ask(
        &self,
        number: u8,
        kind: AnswerKind,
        members: &[GroupMember],
    ) -> Result<u32, DisclosureRefusal> {
        let answer = GroupAnswer {
            agreement: &[number; 32],
            kind,
            overall: true,
            nearest: None,
        };
        self.ask_for(&answer, members, LIMITS)
    }

    fn ask_for(
        &self,
        answer: &GroupAnswer<'_>,
        members: &[GroupMember],
        limits: DisclosureLimits,
    ) -> Result<u32, DisclosureRefusal> {
        let asked = self.ledger().check(answer, members, limits);
        let charged = asked.and_then(|charge| {
            let answers = charge.answers;
            self.ledger().charge(charge).map(|()| answers)
        });
        charged.map_err(|error| match error {
            DisclosureError::Refused(refusal) => refusal,
            DisclosureError::Session(error) => unreachable!("{error}"),
        })
    }
}

const LIMITS: DisclosureLimits = DisclosureLimits {
    minimum_group: 5,
    answers_per_partner: 20,
};

fn members(numbers: std::ops::Range<u32>) -> Vec<GroupMember> {
    let member = |number| GroupMember {
        participant: format!("P{number}"),
        group: Some(if number % 2 == 0 { "even" } else { "odd" }.into()),
        stimuli: vec!["harbour".into(), "market".into()],
    };
    numbers.map(member).collect()
}

fn differencing(participants: u64) -> DisclosureRefusal {
    DisclosureRefusal::Differencing {
        participants,
        minimum: 5,
    }
}

#[test]
fn two_means_that_differ_by_a_few_are_refused() {
    let fixture = Fixture::new();
    let mean = AnswerKind::Mean;
    assert_eq!(fixture.ask(1, mean, &members(0..20)), Ok(1));
    for fewer in [1, 4] {
        let refused = Err(differencing(fewer.into()));
        assert_eq!(fixture.ask(2, mean, &members(0..20 - fewer)), refused);
        assert_eq!(fixture.ask(2, mean, &members(0..20 + fewer)), refused);
    }
    // Late recruits in blocks of the minimum size, and the same participants again.
    assert_eq!(fixture.ask(2, mean, &members(0..25)), Ok(2));
    assert_eq!(
        fixture.ask(3, AnswerKind::TestSites, &members(0..25)),
        Ok(3)
    );
    // Each pair of answers is fine, and three together are not: 15..20 and 20..25 would be cut.
    assert_eq!(fixture.ask(4, mean, &members(5..22)), Err(differencing(2)));
    assert_eq!(fixture.ledger().answers().unwrap(), 3);
}

#[test]
fn small_cells_are_refused() {
    let fixture = Fixture::new();
    let small = |participants| DisclosureRefusal::SmallCell {
        participants,
        minimum: 5,
    };
    let mean = AnswerKind::Mean;
    assert_eq!(fixture.ask(1, mean, &members(0..4)), Err(small(4)));
    assert_eq!(fixture.ask(1, mean, &[]), Err(small(0)));
    let groups = AnswerKind::Groups;
    assert_eq!(fixture.ask(1, groups, &members(0..9)), Err(small(4)));
    assert_eq!(fixture.ask(1, groups, &members(0..10)), Ok(1));
    let mut without = members(0..10);
    without[3].group = None;
    assert_eq!(
        fixture.ask(2, groups, &without),
        Err(DisclosureRefusal::NoGroups)
    );
    // One stimulus that few have seen is a small cell of its own, but not of the overall mean.
    let mut few = members(20..30);
    few[0].stimuli.push("bridge".into());
    let per_stimulus = GroupAnswer {
        agreement: &[7; 32],
        kind: mean,
        overall: false,
        nearest: None,
    };
    assert_eq!(fixture.ask_for(&per_stimulus, &few, LIMITS), Err(small(1)));
    assert_eq!(fixture.ask(8, mean, &few), Ok(2));
}

/// A scanpath that is added later is about one participant, although the participants are the same.
#[test]
fn a_new_scanpath_of_a_known_participant_is_a_difference() {
    let fixture = Fixture::new();
    assert_eq!(fixture.ask(1, AnswerKind::Mean, &members(0..10)), Ok(1));
    let mut more = members(0..10);
    more[0].stimuli.push("bridge".into());
    let refused = Err(differencing(1));
    assert_eq!(fixture.ask(2, AnswerKind::Mean, &more), refused);
}

/// A mean over scanpaths and one over participants weigh somebody with fewer scanpaths differently.
#[test]
fn different_weights_tell_participants_apart() {
    let fixture = Fixture::new();
    let mut all = members(0..12);
    all[0].stimuli.pop();
    assert_eq!(fixture.ask(1, AnswerKind::Mean, &all), Ok(1));
    assert_eq!(fixture.ask(2, AnswerKind::Histogram, &all), Ok(2));
    let refused = Err(differencing(1));
    assert_eq!(fixture.ask(3, AnswerKind::TestSites, &all), refused);
    let other = Fixture::new();
    assert_eq!(other.ask(1, AnswerKind::TestSites, &all), Ok(1));
    assert_eq!(other.ask(2, AnswerKind::TestSites, &all), Ok(2));
}

#[test]
fn the_larger_minimum_holds_and_the_nearest_are_as_many() {
    let fixture = Fixture::new();
    let limits = DisclosureLimits::new(5, 8, 20);
    let answer = |nearest| GroupAnswer {
        agreement: &[1; 32],
        kind: AnswerKind::Nearest,
        overall: false,
        nearest,
    };
    let few = fixture.ask_for(&answer(Some(7)), &members(0..40), limits);
    let expected = DisclosureRefusal::FewNearest {
        nearest: 7,
        minimum: 8,
    };
    assert_eq!(few, Err(expected));
    assert!(matches!(
        fixture.ask_for(&answer(Some(8)), &members(0..14), limits),
        Err(DisclosureRefusal::SmallCell {
            participants: 7,
            ..
        })
    ));
    assert_eq!(
        fixture.ask_for(&answer(Some(8)), &members(0..16), limits),
        Ok(1)
    );
    // A smaller group of an earlier answer does not keep others from being asked about later.
    let fixture = Fixture::new();
    assert_eq!(fixture.ask(1, AnswerKind::Mean, &members(0..5)), Ok(1));
    let later = GroupAnswer {
        agreement: &[2; 32],
        nearest: None,
        ..answer(None)
    };
    assert_eq!(fixture.ask_for(&later, &members(20..40), limits), Ok(2));
}

/// Every answer costs one, the same participants with another metric included; an agreement costs once.
#[test]
fn the_budget_is_used_up() {
    let fixture = Fixture::new();
    for number in 1..=20 {
        let asked = fixture.ask(number, AnswerKind::Mean, &members(0..9));
        assert_eq!(asked, Ok(number.into()));
    }
    let refused = DisclosureRefusal::Budget {
        answers: 20,
        budget: 20,
    };
    let asked = fixture.ask(21, AnswerKind::Mean, &members(0..9));
    assert_eq!(asked, Err(refused));
    assert_eq!(fixture.ask(7, AnswerKind::Mean, &members(0..9)), Ok(20));
    assert_eq!(fixture.ledger().answers().unwrap(), 20);
    // Another partner has another budget.
    let other = Identity::ephemeral().unwrap().fingerprint();
    let ledger = DisclosureLedger::open(Some(&fixture.state_dir()), &fixture.identity, other);
    assert_eq!(ledger.answers().unwrap(), 0);
}

/// Two sessions that were both allowed are charged one after the other.
#[test]
fn a_charge_checks_again() {
    let fixture = Fixture::new();
    let ask = |number: u8, members: &[GroupMember]| {
        let answer = GroupAnswer {
            agreement: &[number; 32],
            kind: AnswerKind::Mean,
            overall: true,
            nearest: None,
        };
        fixture.ledger().check(&answer, members, LIMITS).unwrap()
    };
    let (first, second) = (ask(1, &members(0..9)), ask(2, &members(0..10)));
    assert_eq!(fixture.ledger().answers().unwrap(), 0);
    fixture.ledger().charge(first).unwrap();
    let refused = fixture.ledger().charge(second).unwrap_err();
    assert!(
        matches!(&refused, DisclosureError::Refused(it) if *it == differencing(1)),
        "{refused}"
    );
    assert_eq!(fixture.ledger().answers().unwrap(), 1);
}

#[test]
fn a_withdrawal_is_allowed_and_recorded() {
    let fixture = Fixture::new();
    let mean = AnswerKind::Mean;
    assert_eq!(fixture.ask(1, mean, &members(0..9)), Ok(1));
    assert_eq!(fixture.ask(2, mean, &members(1..9)), Err(differencing(1)));
    let withdrawn = ["P0", "P99"].map(String::from);
    for new in [1, 0] {
        let found = fixture.ledger().withdraw(&withdrawn).unwrap();
        let unknown = vec!["P99".to_string()];
        assert_eq!(found, Withdrawn { new, unknown });
    }
    assert_eq!(
        fixture.ask(2, mean, &members(0..9)),
        Err(DisclosureRefusal::Withdrawn { participants: 1 })
    );
    // Only for this participant.
    assert_eq!(fixture.ask(2, mean, &members(2..9)), Err(differencing(1)));
    assert_eq!(fixture.ask(2, mean, &members(1..9)), Ok(2));
    let owner = Some(fixture.identity.fingerprint());
    let record = SignedRecord::read(&fixture.state_dir().record(), owner).unwrap();
    let record = record.unbroken().unwrap();
    assert_eq!(record.lines.len(), 1);
    assert!(matches!(
        &record.lines[0].entry,
        RecordEntry::Withdrawal(entry) if entry.participants == 1 && entry.partner == fixture.partner
    ));
}

#[test]
fn the_file_has_no_names_and_a_damaged_one_is_an_error() {
    let fixture = Fixture::new();
    assert_eq!(fixture.ask(1, AnswerKind::Groups, &members(0..10)), Ok(1));
    let folder = fixture.state_dir().disclosures();
    let files = crate::state_dir::entries(&folder, crate::locked_file::EXTENSION).unwrap();
    let text = std::fs::read_to_string(&files[0]).unwrap();
    for name in ["P0", "odd", "harbour"] {
        assert!(!text.contains(name), "{text}");
    }
    for damaged in [
        &text[1..],
        "{}",
        &text.replace("\"cohorts\":{\"", "\"cohorts\":{\"x"),
    ] {
        std::fs::write(&files[0], damaged).unwrap();
        assert!(fixture.ledger().answers().is_err(), "{damaged}");
    }
}

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

/// The rank modulo a prime, which is that over the rationals for such small numbers.
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

/// One request: the kind, the participants as bits, and which of them have seen both stimuli.
type Request = (usize, u16, u16);

const KINDS: [(AnswerKind, bool); 4] = [
    (AnswerKind::Mean, true),
    (AnswerKind::Mean, false),
    (AnswerKind::Groups, false),
    (AnswerKind::TestSites, false),
];

const PARTICIPANTS: usize = 9;

fn request_members(&(_, present, both): &Request) -> Vec<GroupMember> {
    let numbers = (0..PARTICIPANTS).filter(|number| present >> number & 1 == 1);
    numbers
        .map(|number| GroupMember {
            participant: number.to_string(),
            group: Some((number % 2).to_string()),
            stimuli: (0..=u32::from(both >> number & 1 == 1))
                .map(|it| it.to_string())
                .collect(),
        })
        .collect()
}

/// The coefficients of every cell of an answer, for each participant and stimulus.
fn cells(request: &Request) -> Vec<Vec<u64>> {
    let (kind, overall) = KINDS[request.0];
    let mut rows: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for member in request_members(request) {
        let number: usize = member.participant.parse().unwrap();
        let weight = match kind {
            AnswerKind::Mean => 1,
            _ => power(member.stimuli.len() as u64, PRIME - 2),
        };
        for stimulus in &member.stimuli {
            let cell = match (kind, overall) {
                (AnswerKind::Mean, false) => stimulus.clone(),
                (AnswerKind::Groups, _) => member.group.clone().unwrap(),
                _ => String::new(),
            };
            let row = rows
                .entry(cell)
                .or_insert_with(|| vec![0; 2 * PARTICIPANTS]);
            row[2 * number + stimulus.parse::<usize>().unwrap()] = weight;
        }
    }
    rows.into_values().collect()
}

/// The fewest participants that some combination of these rows is about.
fn fewest(rows: &[Vec<u64>], below: u32) -> Option<u32> {
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
fn the_search_finds_what_differences_isolate() {
    let rows = |requests: &[Request]| requests.iter().flat_map(cells).collect::<Vec<_>>();
    let all = 0b1_1111_1111;
    assert_eq!(fewest(&rows(&[(0, all, all)]), 4), None);
    assert_eq!(
        fewest(&rows(&[(0, all, all), (0, all >> 1, all)]), 4),
        Some(1)
    );
    assert_eq!(
        fewest(&rows(&[(0, all, all), (0, all, all >> 2)]), 4),
        Some(2)
    );
    assert_eq!(fewest(&rows(&[(0, all, !1), (3, all, !1)]), 4), Some(1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No combination of allowed answers is about fewer than the minimum, found by brute force.
    #[test]
    fn allowed_answers_isolate_nobody(
        minimum in 2u32..4,
        requests in proptest::collection::vec(
            (0..KINDS.len(), 0u16..512, prop_oneof![Just(0u16), Just(511), 0u16..512]), 1..12,
        ),
    ) {
        let fixture = Fixture::new();
        let limits = DisclosureLimits::new(minimum, 0, 100);
        let mut rows = Vec::new();
        for (number, request) in requests.iter().enumerate() {
            let (kind, overall) = KINDS[request.0];
            let answer = GroupAnswer {
                agreement: &[number as u8; 32],
                kind,
                overall,
                nearest: None,
            };
            if fixture.ask_for(&answer, &request_members(request), limits).is_ok() {
                rows.extend(cells(request));
                prop_assert_eq!(fewest(&rows, minimum), None, "{:?}", requests);
            }
        }
    }
}
