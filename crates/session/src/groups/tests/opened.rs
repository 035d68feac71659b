//! A session about groups opens the answer and the names and sizes of groups, labels if both sides publish them, and nothing else.
//!
//! All bytes that a side sends are recorded before encryption, and compared with its journal.

use super::*;
use crate::control::Tag;
use crate::digests::journal_id;
use crate::journal::Journal;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use veilpath_protocol::{GroupQuestion, KeySize, PaillierOptions};

const QUESTIONS: [&str; 10] = [
    "mean",
    "mean:overall",
    "groups",
    "groups,published",
    "test:sites,30",
    "test:groups,30",
    "test:groups,30,published",
    "nearest:5",
    "nearest:5,rate",
    "histogram:3",
];

/// The labels of the six participants, as they are published.
const LABELS: [u8; 6] = [0, 1, 0, 1, 0, 1];

/// What one side has opened, and what it has at the end.
#[derive(Debug)]
struct Opened {
    /// The messages before the computation, by tag.
    messages: Vec<Message>,
    /// Bytes that were sent by the computation.
    computation: Vec<u8>,
    /// Pairs whose halves are among these bytes.
    halves: Vec<usize>,
    /// Pairs that are marked as sent, and pairs that have an answer.
    marked: Vec<usize>,
    answered: Vec<usize>,
    /// This side's shares of the answer's numbers, and whether they were marked as sent.
    shares: Vec<u64>,
    shares_marked: bool,
    /// How many bits each may have, and how many of these are opened.
    bits: Vec<[u32; 2]>,
    /// The numbers.
    numbers: Vec<u64>,
}

/// A tag and the content.
type Message = (u8, Vec<u8>);

/// The first message, and the bytes after it.
fn first_message(bytes: &[u8]) -> Option<(Message, &[u8])> {
    let [tag, a, b, c, d, rest @ ..] = bytes else {
        return None;
    };
    let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
    let (content, rest) = rest.split_at(length);
    Some(((*tag, content.to_vec()), rest))
}

/// The messages up to the statements; probes and the computation follow.
fn messages(mut bytes: &[u8]) -> Vec<Message> {
    let mut messages = Vec::new();
    while let Some((message, rest)) = first_message(bytes) {
        let is_last = message.0 == Tag::Statements as u8;
        messages.push(message);
        if is_last {
            break;
        }
        bytes = rest;
    }
    messages
}

/// What a side opens before anything is computed: the signed intent, its labels if they are published, and its coins. Each is listed with
/// what it says.
fn assert_opened_first(opened: &Opened, asked: GroupQuestion, case: &str) {
    let published = asked.publishes_groups();
    let commits = asked.permutations().is_some() || published;
    let expected = [
        (true, Tag::Intent),
        (published, Tag::Labels),
        (commits, Tag::Coins),
    ];
    let mut rest = &opened.computation[..];
    for (_, expected) in expected.iter().filter(|(is_sent, _)| *is_sent) {
        let ((tag, content), after) = first_message(rest).unwrap();
        assert_eq!(tag, *expected as u8, "{case}");
        rest = after;
        let text = String::from_utf8_lossy(&content);
        match expected {
            Tag::Labels => assert_eq!(content, LABELS, "{case}"),
            Tag::Coins => {
                let digits = text.strip_prefix(r#"{"coins":""#).unwrap();
                let digits = digits.strip_suffix(r#""}"#).unwrap();
                assert!(
                    crate::identity::from_hex(digits).is_some(),
                    "{case}: {text}"
                );
            }
            _ => {
                let intent: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
                let keys: Vec<&String> = intent.keys().collect();
                assert_eq!(keys, ["signature", "time"], "{case}");
            }
        }
    }
    // Nothing of this kind follows. Tag and length alone would match random bytes now and then.
    let length = u32::try_from(LABELS.len()).unwrap().to_le_bytes();
    let labels = [&[Tag::Labels as u8][..], &length, &LABELS[..]].concat();
    assert_eq!(occurrences(rest, &labels), 0, "{case}");
    assert_eq!(occurrences(rest, br#"{"coins":"#), 0, "{case}");
}

fn encoded(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|it| it.to_le_bytes()).collect()
}

fn occurrences(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).filter(|it| *it == part).count()
}

/// The pairs whose halves were sent, one after the other as halves are. Halves and shares of an answer are small numbers, but
/// eight together are no coincidence.
fn sent_halves(bytes: &[u8], halves: &[u64]) -> Vec<usize> {
    let together = 8;
    // One pass over the bytes: a search for each pair would take most of the test's time.
    let mut firsts: HashMap<&[u8], Vec<usize>> = HashMap::new();
    let encoded = encoded(halves);
    for first in 0..=halves.len() - together {
        if halves[first..first + together]
            .iter()
            .all(|half| *half == 0)
        {
            // As many zeros occur elsewhere, too.
            continue;
        }
        let start = &encoded[8 * first..8 * first + 8];
        firsts.entry(start).or_default().push(first);
    }
    let mut sent = vec![false; halves.len()];
    for (position, start) in bytes.windows(8).enumerate() {
        for first in firsts.get(start).into_iter().flatten() {
            if bytes[position..].starts_with(&encoded[8 * first..8 * (first + together)]) {
                sent[*first..first + together].fill(true);
            }
        }
    }
    (0..halves.len()).filter(|pair| sent[*pair]).collect()
}

fn run(engine: Engine, reveal: Reveal) -> [Opened; 2] {
    let results = with_sessions(|role, mut session, files, number| {
        let before = Arc::new(Mutex::new(Vec::new()));
        session.channel.uncounted().record = Some(before.clone());
        let proposal = proposal(engine, reveal, cohort(number));
        let mut agreed = session.agree(proposal, Some(files), &mut |_| ()).unwrap();
        let during = Arc::new(Mutex::new(Vec::new()));
        agreed.session.channel.uncounted().record = Some(during.clone());
        let agreement = &agreed.agreement;
        let (id, pairs) = (journal_id(&agreement.id, role, None), agreement.pairs.len());
        let numbers = agreement.group.as_ref().map_or(0, |it| it.schema.count());
        let bits = agreement.group.iter().flat_map(|it| {
            let bits = it.schema.bits.iter().zip(&it.schema.shifts);
            bits.map(|(bits, shift)| [*bits, bits - shift])
        });
        let bits: Vec<[u32; 2]> = bits.collect();
        agreed.run(&()).unwrap();
        let journal = Journal::read_only(&files.journals(), id, pairs + numbers, reveal).unwrap();
        let of_pairs = |flag: &dyn Fn(usize) -> bool| (0..pairs).filter(|it| flag(*it)).collect();
        let half = |at: usize| journal.half(at).unwrap().half;
        let computation = during.lock().unwrap().clone();
        let indices = pairs..pairs + numbers;
        let halves: Vec<u64> = (0..pairs).map(half).collect();
        Opened {
            messages: messages(&before.lock().unwrap()),
            halves: sent_halves(&computation, &halves),
            marked: of_pairs(&|pair| journal.is_sent(pair)),
            answered: of_pairs(&|pair| journal.is_answered(pair)),
            shares: indices.clone().map(half).collect(),
            shares_marked: indices.clone().all(|at| journal.is_sent(at)),
            bits,
            numbers: indices.map(|at| journal.number(at).unwrap()).collect(),
            computation,
        }
    });
    results.map(|(opened, _)| opened)
}

/// The tags of the messages before the computation.
fn tags(opened: &Opened) -> Vec<u8> {
    opened.messages.iter().map(|(tag, _)| *tag).collect()
}

/// The engines share the questions.
#[test]
fn only_the_answer_is_opened() {
    let (of_garbled, of_shares): (Vec<_>, Vec<_>) =
        QUESTIONS.iter().enumerate().partition(|(at, _)| at % 4 < 2);
    for (engine, questions) in [(Engine::Garbled, of_garbled), (Engine::Shares, of_shares)] {
        let questions: Vec<&str> = questions.into_iter().map(|(_, it)| *it).collect();
        assert_only_the_answer(engine, &questions);
    }
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn only_the_answer_to_every_question_is_opened_by_every_engine() {
    for engine in [Engine::Garbled, Engine::Shares] {
        assert_only_the_answer(engine, &QUESTIONS);
    }
}

/// Also if the host has masked numbers of pairs.
#[test]
fn paillier_opens_only_the_answer() {
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let questions = ["mean", "groups,published", "test:sites,30"];
    assert_only_the_answer(Engine::Paillier(options), &questions);
}

fn assert_only_the_answer(engine: Engine, questions: &[&str]) {
    for question in questions {
        let reveal: Reveal = question.parse().unwrap();
        let asked = reveal.group_question().unwrap();
        let sides = run(engine, reveal);
        let case = format!("{question} by {engine:?}");
        for (opened, needed) in sides.iter().zip(asked.sides_with_groups()) {
            assert!(opened.halves.is_empty(), "{case}");
            assert!(opened.marked.is_empty(), "{case}");
            assert!(opened.answered.is_empty(), "{case}");
            // The answer takes one message, with one share of each number.
            assert!(opened.shares_marked && !opened.shares.is_empty(), "{case}");
            let shares = encoded(&opened.shares);
            let length = u32::try_from(shares.len()).unwrap().to_le_bytes();
            let answer = [&[Tag::Answer as u8][..], &length, &shares].concat();
            assert_eq!(occurrences(&opened.computation, &answer), 1, "{case}");
            // A modified peer may have other functions computed, but gets no more bits of them than the answer has.
            for (share, [bits, opened]) in opened.shares.iter().zip(&opened.bits) {
                assert!(share >> bits == 0, "{case}: {share:x}");
                assert!(*opened <= 18, "{case}: {opened} bits");
            }
            let bits: u32 = opened.bits.iter().map(|it| it[1]).sum();
            // With few bits, other values match by chance.
            if bits >= 64 {
                assert_eq!(occurrences(&opened.computation, &shares), 1, "{case}");
            }
            // Names and sizes of groups, where the question needs them, and nowhere else.
            let expected = [
                Tag::Terms,
                Tag::Roster,
                Tag::Ready,
                Tag::Groups,
                Tag::Statements,
            ];
            let expected = expected.map(|it| it as u8).to_vec();
            assert_eq!(tags(opened), expected, "{case}");
            for (tag, content) in &opened.messages {
                if *tag == Tag::Groups as u8 {
                    let terms: crate::groups::GroupTerms = serde_json::from_slice(content).unwrap();
                    let sizes = [("control", 3), ("patient", 3)];
                    let sizes = sizes.map(|(name, size)| (name.to_string(), size));
                    let sizes = needed.then(|| BTreeMap::from(sizes));
                    assert_eq!(terms.sizes.map(|it| it.0), sizes, "{case}");
                    assert_eq!(terms.minimum, 3);
                    let commits = asked.permutations().is_some() || asked.publishes_groups();
                    assert_eq!(terms.commitment.is_some(), commits);
                } else {
                    assert_eq!(occurrences(content, b"patient"), 0, "{case}");
                }
            }
            assert_eq!(occurrences(&opened.computation, b"patient"), 0, "{case}");
            // Who is in which group, once, if both sides have agreed to publish it.
            assert_opened_first(opened, asked, &case);
        }
        // Together the shares are the answer's numbers, on both sides.
        let [host, join] = &sides;
        let both = host.shares.iter().zip(&join.shares);
        let sums: Vec<u64> = both.map(|(a, b)| a.wrapping_add(*b)).collect();
        assert_eq!([&host.numbers, &join.numbers], [&sums; 2], "{case}");
        // No share is a number of the answer by itself.
        if host.bits.iter().map(|it| it[1]).sum::<u32>() >= 30 {
            assert!(host.shares != sums && join.shares != sums, "{case}");
        }
    }
}

/// Checks the collector itself, with a plan that opens the halves of pairs.
#[test]
fn the_collector_finds_halves_that_are_opened() {
    for engine in [Engine::Garbled, Engine::Shares] {
        for opened in run(engine, Reveal::Score) {
            let all: Vec<usize> = (0..36).collect();
            assert_eq!(opened.halves, all, "{engine:?}");
            assert_eq!(opened.marked, all, "{engine:?}");
            assert_eq!(opened.answered, all, "{engine:?}");
            assert!(!tags(&opened).contains(&(Tag::Groups as u8)));
            // The cohorts have groups, which this plan does not need.
            let before = opened.messages.iter().map(|(_, content)| content);
            for content in before.chain([&opened.computation]) {
                assert_eq!(occurrences(content, b"patient"), 0, "{engine:?}");
            }
        }
    }
}
