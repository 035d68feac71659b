//! A peer that sends what a fuzzer generates: raw bytes, and well-formed parts of messages that random bytes would never produce.
//!
//! The library's own tests include this file and run the same scripts, so modules have explicit paths.

#[path = "scripts/bytes.rs"]
mod bytes;
#[path = "scripts/channels.rs"]
mod channels;
#[path = "scripts/metrics.rs"]
mod metrics;

use bytes::{garbled_bytes, key, paillier_bytes};
use channels::{Changes, ScriptedChannel, TamperingChannel};
use metrics::{LETTERS, measure, metric, scanmatch};
use veilpath_channel::{Channel, memory_pair};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Metric, Scanpath};
use veilpath_paillier::KeySize;
use veilpath_protocol::{
    Engine, GroupInputs, GroupSizes, Job, PaillierOptions, PairRule, PreparedGroupAnswer,
    ProtocolError, Reveal, Role, ScanpathId, Spec, TreeLevels,
};

/// The result of a run against a script; `None` if the bytes do not describe one.
pub type ScriptOutcome = Option<Result<usize, ProtocolError>>;

/// Messages to either role of the `plain` engine, as raw bytes. The first byte chooses the role, whether lengths were announced, and
/// whether scores or bits are revealed; the second chooses the number of scanpaths.
pub fn plain(data: &[u8]) -> ScriptOutcome {
    let [choice, count, bytes @ ..] = data else {
        return None;
    };
    let announced = choice & 2 > 0;
    let script = ScriptedChannel::new(bytes.to_vec());
    let reveal = if choice & 4 > 0 {
        "threshold:2".parse().ok()?
    } else {
        Reveal::Score
    };
    let settings = (Engine::Plain, Metric::Levenshtein, reveal);
    let announced = announced.then_some(2);
    run(settings, role(*choice), 3, *count, announced, script)
}

/// Messages to either role of the `paillier` engine. The first byte chooses role, packing, batch, metric, this side's length, whether
/// lengths were announced, and whether masks are hardened; the second chooses the number of scanpaths. Then come the parts of
/// [`paillier_bytes`].
pub fn paillier(data: &[u8]) -> ScriptOutcome {
    let [choice, count, parts @ ..] = data else {
        return None;
    };
    let options = PaillierOptions::new(KeySize::Bits512, true).ok()?;
    let options = options.with_packing(choice & 2 == 0);
    let options = options.with_hardening(choice & 128 > 0);
    let options = if choice & 4 > 0 {
        options.with_batch(1).ok()?
    } else {
        options
    };
    let metric = metric(choice & 8 > 0);
    let own = usize::from(choice >> 4 & 3);
    let announced = (choice & 64 > 0).then_some(1);
    let script = ScriptedChannel::new(paillier_bytes(parts)?);
    let settings = (Engine::Paillier(options), metric, Reveal::Score);
    run(settings, role(*choice), own, *count, announced, script)
}

/// Messages to either role of the `garbled` engine. The first byte chooses role, metric, what is revealed, this side's length and
/// whether lengths are hidden; the second chooses the number of scanpaths. Then come the parts of [`garbled_bytes`]. Lengths are always
/// announced, as in every session, because they limit the work that a side accepts.
///
/// No script passes the garbler's checks of transfers. So a first byte of 0xf0 or more chooses an honest peer whose bytes are changed in
/// transit: three bytes say where and how. The second byte then also chooses among the metrics other than alignments; its higher bits choose whether `shares`
/// has seed trees of eight levels ([`EIGHT_LEVELS`]), whether the peer has many letters ([`LONG`]), and whether the metric is ScanMatch
/// if it is an alignment ([`SCANMATCH`]).
pub fn garbled(data: &[u8]) -> ScriptOutcome {
    circuits(Engine::Garbled, data, &|changes| {
        let changes = changes.as_chunks().0.iter();
        let change =
            |&[low, high, change]: &[u8; 3]| (usize::from(u16::from_le_bytes([low, high])), change);
        changes.map(change).collect()
    })
}

/// Messages to either role of the `shares` engine, described as for [`garbled`]. Its messages before the first result are longer, so
/// four bytes say where and how a byte of an honest peer is changed.
pub fn shares(data: &[u8]) -> ScriptOutcome {
    circuits(Engine::Shares, data, &changes)
}

/// Messages to either role of a group answer, from an honest peer with changed bytes. The first byte chooses the role, the
/// question, and whether seed trees have eight levels ([`EIGHT_LEVELS`]).
pub fn statistics(data: &[u8]) -> ScriptOutcome {
    let [choice, parts @ ..] = data else {
        return None;
    };
    let questions = [
        "mean",
        "mean:overall",
        "groups",
        "test:sites,3",
        "test:groups,3",
        "nearest:2",
        "nearest:2,rate",
        "histogram:3",
        "groups,published",
        "test:groups,3,published",
    ];
    // The bit between these is that of the levels.
    let number = choice >> 1 & 7 | choice >> 2 & 8;
    let question = questions[usize::from(number) % questions.len()];
    let settings = (Engine::Shares, Metric::Levenshtein, question.parse().ok()?);
    let spec = &spec(settings, None)?;
    let (mut channel, peer_channel) = memory_pair();
    let mut peer_channel = TamperingChannel::new(peer_channel, changes(parts));
    let (role, levels) = (role(*choice), levels(*choice));
    std::thread::scope(|scope| {
        scope.spawn(move || group_shares(spec, role.other(), levels, &mut peer_channel));
        let ended = group_shares(spec, role, levels, &mut channel);
        drop(channel);
        ended
    })
}

/// One side's shares of an answer about three participants of two groups on each side.
fn group_shares(
    spec: &Spec,
    role: Role,
    levels: TreeLevels,
    channel: &mut dyn Channel,
) -> ScriptOutcome {
    let lengths = [2, 3, 2];
    let own = lengths.map(scanpath);
    let own: Vec<&Scanpath> = own.iter().collect();
    let pairs: Vec<(usize, usize)> = (0..9).map(|pair| (pair / 3, pair % 3)).collect();
    let ids: Vec<ScanpathId> = (0..3)
        .map(|number| ScanpathId {
            participant: number.to_string(),
            stimulus: None,
        })
        .collect();
    let groups = ["x", "y", "x"].map(String::from);
    let sizes = GroupSizes::of(&ids, &groups);
    let job = Job::new(spec, role, &own, 3, &pairs).ok()?;
    let job = job.with_peer_lengths(&lengths).ok()?;
    let inputs = GroupInputs {
        question: spec.reveal.group_question()?,
        engine: spec.engine,
        rule: spec.pair_rule,
        ids: [&ids, &ids],
        own_groups: Some(&groups),
        peer_groups: Some(&groups),
        sizes: [sizes.clone(), sizes],
        minimum: 2,
        coins: [7; 32],
    };
    let prepared = PreparedGroupAnswer::new(&job, inputs).ok()?;
    let shares = prepared.run(&[1; 9], levels, channel);
    Some(shares.map(|shares| shares.len()))
}

/// Changes of four bytes each: a position of three bytes, and a byte to XOR there.
fn changes(parts: &[u8]) -> Changes {
    let change = |&[low, middle, high, change]: &[u8; 4]| {
        let index = u32::from_le_bytes([low, middle, high, 0]);
        (index as usize, change)
    };
    parts.as_chunks().0.iter().map(change).collect()
}

fn circuits(engine: Engine, data: &[u8], changes: &dyn Fn(&[u8]) -> Changes) -> ScriptOutcome {
    let [choice, count, parts @ ..] = data else {
        return None;
    };
    let metric = metric(choice & 2 > 0);
    let reveal = if choice & 4 > 0 {
        "threshold:2".parse().ok()?
    } else {
        Reveal::Score
    };
    let own = usize::from(choice >> 4 & 3);
    let pad_to = (choice & 8 > 0).then_some(PADDED);
    if choice >> 4 == 15 {
        let measure = measure(*count).filter(|measure| engine.can_compute(measure));
        let metric = match count & SCANMATCH {
            0 => metric,
            _ => scanmatch()?,
        };
        let settings = (engine, measure.unwrap_or(metric), reveal);
        let peer = HonestPeer {
            letters: match (count & LONG, pad_to) {
                (1.., None) => MANY_LETTERS,
                _ => 2,
            },
            levels: levels(*count),
            changes: changes(parts),
        };
        return run_changed(settings, role(*choice), own, pad_to, peer);
    }
    let settings = (engine, metric, reveal);
    let script = ScriptedChannel::new(garbled_bytes(parts));
    let announced = pad_to.map_or(1, |length| length as usize);
    run_padded(
        settings,
        role(*choice),
        own,
        *count,
        Some(announced),
        pad_to,
        script,
    )
}

/// The padded length of scanpaths whose lengths are hidden.
const PADDED: u32 = 3;

/// Bits of the byte that describes an honest peer.
const EIGHT_LEVELS: u8 = 16;
const LONG: u8 = 32;
const SCANMATCH: u8 = 64;

/// Enough letters for lines to share trees if costs have one bit, and otherwise for look-ups in several tiles.
const MANY_LETTERS: usize = 260;

/// An honest peer whose bytes are changed in transit.
struct HonestPeer {
    letters: usize,
    levels: TreeLevels,
    changes: Changes,
}

fn levels(choice: u8) -> TreeLevels {
    match choice & EIGHT_LEVELS {
        0 => TreeLevels::Four,
        _ => TreeLevels::Eight,
    }
}

fn role(choice: u8) -> Role {
    if choice & 1 == 0 {
        Role::Host
    } else {
        Role::Join
    }
}

fn run(
    settings: (Engine, Metric, Reveal),
    role: Role,
    own: usize,
    count: u8,
    announced: Option<usize>,
    script: ScriptedChannel,
) -> ScriptOutcome {
    run_padded(settings, role, own, count, announced, None, script)
}

fn spec((engine, metric, reveal): (Engine, Metric, Reveal), pad_to: Option<u32>) -> Option<Spec> {
    let cohort = Cohort {
        alphabet: Alphabet::letters(LETTERS).ok()?,
        encoding: Encoding::default(),
        screen: None,
        entries: Vec::new(),
    };
    let mut spec = Spec::new(engine, metric, PairRule::All, &cohort, &cohort).ok()?;
    spec.reveal = reveal;
    spec.pad_to = pad_to;
    Some(spec)
}

fn scanpath(letters: usize) -> Scanpath {
    Scanpath::new((0..2).cycle().take(letters).collect())
}

/// Compares one scanpath of this side with one of an honest peer whose bytes are changed in transit.
fn run_changed(
    settings: (Engine, Metric, Reveal),
    role: Role,
    own: usize,
    pad_to: Option<u32>,
    peer: HonestPeer,
) -> ScriptOutcome {
    let HonestPeer {
        letters,
        levels,
        changes,
    } = peer;
    let engine = settings.0;
    let spec = spec(settings, pad_to)?;
    let (ours, theirs) = (scanpath(own), scanpath(letters));
    let announced = |letters: usize| [pad_to.map_or(letters, |length| length as usize)];
    let (our_lengths, their_lengths) = (announced(own), announced(letters));
    let (ours, theirs) = ([&ours], [&theirs]);
    let pairs = [(0, 0)];
    let job = Job::new(&spec, role, &ours, 1, &pairs).ok()?;
    let job = job.with_peer_lengths(&their_lengths).ok()?;
    let job = job.with_tree_levels(levels);
    let peer = Job::new(&spec, role.other(), &theirs, 1, &pairs).ok()?;
    let peer = peer.with_peer_lengths(&our_lengths).ok()?;
    let peer = peer.with_tree_levels(levels);
    let (mut channel, peer_channel) = memory_pair();
    let mut peer_channel = TamperingChannel::new(peer_channel, changes);
    std::thread::scope(|scope| {
        let engine = &engine;
        scope.spawn(move || engine.run(&peer, &mut peer_channel, &()));
        let ended = engine.run(&job, &mut channel, &());
        drop(channel);
        Some(ended.map(|pair_scores| pair_scores.len()))
    })
}

/// Compares one scanpath of this side with up to three of the other's.
fn run_padded(
    (engine, metric, reveal): (Engine, Metric, Reveal),
    role: Role,
    own: usize,
    count: u8,
    announced: Option<usize>,
    pad_to: Option<u32>,
    mut script: ScriptedChannel,
) -> ScriptOutcome {
    let spec = spec((engine, metric, reveal), pad_to)?;
    let count = usize::from(count % 4);
    let own = scanpath(own);
    let own = [&own];
    let pairs: Vec<(usize, usize)> = (0..count)
        .map(|other| match role {
            Role::Host => (0, other),
            Role::Join => (other, 0),
        })
        .collect();
    let lengths = vec![announced.unwrap_or(0); count];
    let mut job = Job::new(&spec, role, &own, count, &pairs)
        .ok()?
        .with_key(key()?);
    if announced.is_some() {
        job = job.with_peer_lengths(&lengths).ok()?;
    }
    let ended = engine.run(&job, &mut script, &());
    Some(ended.map(|pair_scores| pair_scores.len()))
}
