//! Decoders get corrupted and random messages: they accept or reject them, and never panic. Every run is the same.

use super::{DECODERS, decode};

const VALID: &[(u8, &str)] = &[
    (
        1,
        r#"{"idle_timeout_ms":60000,"named":null,"declared":"letters 49","read_as":"letters 49","grid":"7x7"}"#,
    ),
    (
        2,
        r#"{"fields":{"engine":"plain","metric.name":"levenshtein"},"encoding":{"grid":"7x7"},"scanpaths":3,"letters":12,"id_bytes":30,"cohort_tag":"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff","estimate_only":false}"#,
    ),
    (
        3,
        r#"[{"id":"P1","stimulus":"cows","letters":3},{"id":"p-0011","hash":"s-22","letters":0}]"#,
    ),
    (
        4,
        r#"{"plan":"0011","number":1,"fresh":false,"nonce":"22"}"#,
    ),
    (
        5,
        r#"{"answers_digest":"aabb","completion":{"time":"2026-11-16T14:05:09Z","signature":"00"}}"#,
    ),
    (6, r#"{"reason":"already_connected"}"#),
    (
        6,
        r#"{"reason":{"limit":{"too_many_pairs":{"pairs":9,"max":8}}}}"#,
    ),
    (
        7,
        "VEILPATH\u{10}\0\u{1}\u{42}\0\0\0{\"idle_timeout_ms\":1,\"named\":null,\"declared\":null,\"read_as\":\"dna\"}",
    ),
    (8, "\u{3}\u{4}\u{2}\0\0\0{}"),
    (
        9,
        "\u{1}\u{3}\u{2}\u{3}\u{19}\0\0\0[{\"id\":\"P1\",\"letters\":3}]",
    ),
    // Three pairs: the answers to two are sent again, one half is.
    (
        10,
        "\u{1}\u{5}\u{1}\0\0\0\u{7}\0\0\0\0\0\0\0\0\u{5}\0\0\0\0\0\0\0",
    ),
    // Entries of a journal: a score, pairs that were started, a bit.
    (
        11,
        "\u{1}\0\0\0\u{2}\0\0\0\0\0\0\0\0\0\0\0\0\0\u{8}\u{40}\0\0\0\0\0\0\0\0",
    ),
    (
        11,
        "\u{3}\0\0\0\u{2}\0\0\0\0\0\0\0\u{9}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ),
    (
        11,
        "\u{5}\0\0\0\u{2}\0\0\0\0\0\0\0\u{1}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ),
    // The engine shares, with trees of eight levels.
    (
        11,
        "\u{9}\0\0\0\u{2}\0\0\0\0\0\0\0\u{8}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ),
    (30, r#"{"tile":3}"#),
    (
        31,
        r#"{"entries":64,"max_agreements":1,"limit":{"limits":[3,3],"origin":"chosen","defaults":null,"default_counts_together":false,"assumed_letters":null,"before":0,"after":3,"added":3,"exceeded":null}}"#,
    ),
    (32, r#"{"key":"expired"}"#),
    (32, r#""compared_again""#),
    (32, r#""entry""#),
    (32, r#"{"limit":{"too_many_entries":{"entries":9}}}"#),
    // A pair starts, and its half is stored.
    (
        33,
        "\u{3}\0\0\0\u{2}\0\0\0\0\0\0\0\u{1}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\u{6}\0\0\0\u{2}\0\0\0\0\0\0\0\u{7}\0\0\0\0\0\0\0\u{8}\0\0\0\0\0\0\0",
    ),
    // One participant has two scanpaths.
    (34, "\u{1}\0\u{1}\0\u{1}"),
    (35, "\u{15}\0\0\0\0"),
    (36, r#"{"tile":3,"reason":"failed_check"}"#),
    (13, "\u{3}abc\u{1}x"),
    (
        14,
        "\u{1}\0\0\0\u{2}\0\0\0\0\0\0\0\0\0\0\0\0\0\u{8}\u{40}\0\0\0\0\0\0\0\0torn",
    ),
    (
        20,
        "\u{7}\0\0\0\0\u{8}\u{40}\0\0\0{\"round_trip_us\":90,\"bytes_per_second\":null,\"cores\":2,\"speed\":9}",
    ),
    (
        21,
        r#"{"engine":"shares","tree_levels":8,"stored":false,"can_run_shares":true}"#,
    ),
    (22, r#"{"time":"2026-11-16T14:05:09Z","signature":"00"}"#),
    (
        24,
        "expires = 2027-06-30\nmetrics = [\"scanmatch\"]\nanswers = [\"mean\"]\n[[partners]]\nname = \"A\"\nfingerprint = \"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"\n",
    ),
    (
        25,
        r#"{"version":7,"answers":[{"agreement":"a","parts":"stimuli","weights":"scanpaths","by_stimulus":true,"counts_as":1,"cohort":"c"}],"cohorts":{"c":[{"participant":"0123456789abcdef01234567","scanpaths":[["aaaaaaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbbbbbb",1]],"scanpaths_per_stimulus":[["aaaaaaaaaaaaaaaaaaaaaaaa",1]]}]},"withdrawn":[]}"#,
    ),
    // A number of a group answer, alone and in a journal.
    (
        11,
        "\u{a}\0\0\0\u{2}\0\0\0\0\0\0\0\u{7}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ),
    (
        14,
        "\u{a}\0\0\0\u{2}\0\0\0\0\0\0\0\u{7}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0torn",
    ),
    (
        26,
        r#"{"sizes":{"control":2,"patient":4},"minimum":5,"commitment":"00"}"#,
    ),
    (26, r#"{"sizes":null,"minimum":5,"commitment":null}"#),
    (27, r#"{"coins":"0011"}"#),
    // A pair and three numbers: the joining side has everything and has sent nothing.
    (
        28,
        "\u{1}\u{5}\u{2}\0\0\0\u{22}\u{22}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ),
    (
        29,
        "\u{1}\0\0\0\0\0\0\0{\"measure\":\"score\",\"unit\":0.5,\"shifts\":[0,0],\"bits\":[20,20],\"numbers\":{\"kind\":\"test\",\"question\":\"test:sites,30\",\"groups\":[\"host\",\"join\"],\"pairs\":[6,9],\"coins\":\"00\",\"is_distance\":true}}",
    ),
    (
        29,
        "\u{1}\0\0\0\0\0\0\0{\"measure\":\"score\",\"unit\":0.5,\"shifts\":[0],\"bits\":[20],\"numbers\":{\"kind\":\"nearest-rate\",\"k\":5,\"groups\":[[\"a\",3],[\"b\",3]],\"scanpaths\":6}}",
    ),
    (
        29,
        "\u{1}\0\0\0\0\0\0\0{\"measure\":\"score\",\"unit\":0.5,\"shifts\":[0,0],\"bits\":[20,20],\"numbers\":{\"kind\":\"group-means\",\"rows\":[[\"a\",3],[\"b\",3]],\"columns\":[[\"a\",6]]}}",
    ),
    (
        15,
        r#"{"version":5,"stamp":"00","scanpaths":{"ab":{"cd":3}}}"#,
    ),
    // A key for tests only.
    (
        16,
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n-----END PRIVATE KEY-----\n",
    ),
    (
        17,
        "0011-2233-4455-6677-8899-aabb-ccdd-eeff-0011-2233-4455-6677-8899-aabb-ccdd-eeff",
    ),
];

/// Signed messages and files of a worker, a ledger's log, and how both roles open an answer. The first byte is the decoder.
const SEEDS: &[&[u8]] = &[
    include_bytes!("seeds/worker-certificate"),
    include_bytes!("seeds/worker-greeting"),
    include_bytes!("seeds/ledger-log"),
    include_bytes!("seeds/work-order"),
    include_bytes!("seeds/agreed-plan"),
    include_bytes!("seeds/answer-host"),
    include_bytes!("seeds/answer-join"),
];

/// All valid messages.
fn valid() -> Vec<(u8, &'static [u8])> {
    let texts = VALID
        .iter()
        .map(|(decoder, text)| (*decoder, text.as_bytes()));
    let files = SEEDS.iter().map(|file| (file[0], &file[1..]));
    texts.chain(files).collect()
}

/// A small random generator: the same bytes on every machine.
struct TestRng(u64);

impl TestRng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

#[test]
fn valid_messages_are_accepted() {
    for (decoder, bytes) in valid() {
        assert!(decode(decoder, bytes), "{decoder}");
    }
}

#[test]
fn corrupted_messages_never_panic() {
    let mut rng = TestRng(0x5eed);
    let mut accepted = 0;
    let valid = valid();
    for round in 0..30_000 {
        let (decoder, bytes) = valid[round % valid.len()];
        let mut bytes = bytes.to_vec();
        for _ in 0..=rng.below(3) {
            let at = rng.below(bytes.len().max(1));
            match rng.below(4) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at.min(bytes.len()), rng.next() as u8),
                2 if at < bytes.len() => bytes[at] = rng.next() as u8,
                _ if at < bytes.len() => {
                    bytes.remove(at);
                }
                _ => {}
            }
        }
        accepted += usize::from(decode(decoder, &bytes));
    }
    assert!(accepted < 30_000);
}

#[test]
fn random_bytes_never_panic() {
    let mut rng = TestRng(0xbad);
    for round in 0..20_000u32 {
        let length = rng.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| rng.next() as u8).collect();
        decode((round % u32::from(DECODERS)) as u8, &bytes);
    }
}

#[test]
fn deeply_nested_and_oversized_messages_are_rejected() {
    // All but packets, whose contents may be anything.
    for decoder in (1..DECODERS).filter(|decoder| *decoder != 13) {
        assert!(!decode(decoder, "[".repeat(100_000).as_bytes()));
        assert!(!decode(decoder, r#"{"a":"#.repeat(50_000).as_bytes()));
    }
    let terms = VALID[1]
        .1
        .replace(r#""scanpaths":3"#, r#""scanpaths":18446744073709551615"#);
    assert!(!decode(2, terms.as_bytes()));
    let hello = VALID[0].1.replace("letters 49", "letters 4294967295");
    assert!(!decode(1, hello.as_bytes()));
}
