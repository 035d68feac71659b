//! Decoders that follow the documented bytes of each engine (`messages.rs` and `messages.md` in
//! `crates/protocol/src/engines`). Every byte that an engine sends belongs to one of these messages. The decoders check
//! lengths, not contents, in runs with one worker thread and without padding.
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

use veilpath_channel::{Channel, ChannelError, MemoryChannel, memory_pair};
use veilpath_metrics::{
    Alphabet, Cohort, Comparison, Encoding, Entry, LocalScoring, Metric, Scanpath, Substitution,
    Threshold,
};
use veilpath_protocol::{
    Engine, Job, KeySize, PaillierOptions, PairRule, Reveal, RevealTo, Role, Spec,
    and_gates_per_cell, pairs_of,
};

/// The number of letters in the alphabet.
const N: usize = 9;

/// A channel that keeps what is sent over it.
struct RecordingChannel {
    channel: MemoryChannel,
    sent: Vec<u8>,
}

impl Channel for RecordingChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.sent.extend_from_slice(bytes);
        self.channel.send(bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.channel.receive(buffer)
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.channel.flush()
    }
}

fn cohort(lengths: &[usize]) -> Cohort {
    let entry = |(index, &length): (usize, &usize)| Entry {
        participant: format!("P{index}"),
        group: None,
        stimulus: None,
        scanpath: Scanpath::new(
            (0..length)
                .map(|at| ((at * at + 3 * index + at / 2) % N) as u16)
                .collect(),
        ),
        fixations: None,
    };
    Cohort {
        alphabet: Alphabet::letters(N as u32).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: lengths.iter().enumerate().map(entry).collect(),
    }
}

/// A run: what each side sent.
struct Run {
    spec: Spec,
    host_lengths: Vec<usize>,
    join_lengths: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    from_host: Vec<u8>,
    from_join: Vec<u8>,
}

fn run(engine: Engine, metric: Metric, lengths: [&[usize]; 2], change: impl Fn(&mut Spec)) -> Run {
    let [a, b] = lengths.map(cohort);
    let mut spec = Spec::new(engine, metric, PairRule::All, &a, &b).unwrap();
    change(&mut spec);
    let pairs = pairs_of(PairRule::All, &a, &b);
    let ends = memory_pair();
    let side = |role: Role, own: &Cohort, others: usize, channel: MemoryChannel| {
        let own: Vec<&Scanpath> = own.entries.iter().map(|entry| &entry.scanpath).collect();
        let job = Job::new(&spec, role, &own, others, &pairs).unwrap();
        let mut channel = RecordingChannel {
            channel,
            sent: Vec::new(),
        };
        engine.run(&job, &mut channel, &()).unwrap();
        channel.sent
    };
    let (from_host, from_join) = std::thread::scope(|scope| {
        let joining = scope.spawn(|| side(Role::Join, &b, a.entries.len(), ends.1));
        let from_host = side(Role::Host, &a, b.entries.len(), ends.0);
        (from_host, joining.join().unwrap())
    });
    Run {
        host_lengths: lengths[0].to_vec(),
        join_lengths: lengths[1].to_vec(),
        spec,
        pairs,
        from_host,
        from_join,
    }
}

/// Takes messages off a stream.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> &'a [u8] {
        let (now, later) = self.0.split_at(bytes);
        self.0 = later;
        now
    }

    fn u32(&mut self) -> usize {
        u32::from_le_bytes(self.take(4).try_into().unwrap()) as usize
    }

    fn u64(&mut self) -> usize {
        u64::from_le_bytes(self.take(8).try_into().unwrap()) as usize
    }

    fn lengths(&mut self, expected: &[usize]) {
        for &length in expected {
            assert_eq!(self.u64(), length);
        }
    }
}

#[test]
fn plain_matches_the_wire_format() {
    for (reveal_to, answer) in [(RevealTo::Both, 18), (RevealTo::Host, 0)] {
        let run = run(
            Engine::Plain,
            Metric::Levenshtein,
            [&[3, 0, 5], &[4, 2]],
            |spec| {
                spec.reveal_to = reveal_to;
            },
        );
        let mut join = Reader(&run.from_join);
        for &length in &run.join_lengths {
            assert_eq!(join.u64(), length);
            join.take(2 * length);
        }
        assert!(join.0.is_empty());
        assert_eq!(run.from_host.len(), answer * run.pairs.len());
    }
}

#[test]
fn paillier_matches_the_wire_format() {
    for (size, batch, packing) in [
        (KeySize::Bits512, 1, false),
        (KeySize::Bits512, 16, true),
        (KeySize::Bits1024, 16, true),
    ] {
        let options = PaillierOptions::new(size, true).unwrap();
        let options = options.with_batch(batch).unwrap().with_packing(packing);
        let engine = Engine::Paillier(options);
        let run = run(engine, Metric::Levenshtein, [&[3, 5], &[4, 0, 6]], |_| {});
        let bits = size.bits() as usize;
        let ciphertext = bits / 4;
        // With unit costs, no candidate exceeds the longest length plus one: 7, which has three bits.
        let all_steps = 8 * 10;
        let value_bits = 3 + 107 + (usize::BITS - (all_steps - 1_usize).leading_zeros()) as usize;
        let candidates = 3;
        let room = if packing { (bits - 2) / value_bits } else { 1 };
        let steps_in_group = (room / candidates).max(1);
        let used = room.min(steps_in_group * candidates);
        let group = (steps_in_group * candidates).div_ceil(used);

        let (mut key_holder, mut matrix_owner) = (Reader(&run.from_host), Reader(&run.from_join));
        matrix_owner.lengths(&run.join_lengths);
        key_holder.lengths(&run.host_lengths);
        assert_eq!(key_holder.take(bits / 8)[0] >> 7, 1, "the highest bit of n");
        let (mut rows, mut steps, mut results) = (0, 0, 0);
        while !matrix_owner.0.is_empty() {
            let [r, s, t] = [matrix_owner.u32(), matrix_owner.u32(), matrix_owner.u32()];
            assert!(r + s + t > 0 && s.max(t) <= batch as usize);
            matrix_owner.take(s.div_ceil(steps_in_group) * group * ciphertext);
            for _ in 0..t {
                assert!(matrix_owner.u64() < run.pairs.len());
                matrix_owner.take(ciphertext);
            }
            key_holder.take(s * ciphertext);
            for _ in 0..t {
                assert!(key_holder.u64() <= 6, "a distance");
            }
            key_holder.take(r * N * ciphertext);
            (rows, steps, results) = (rows + r, steps + s, results + t);
        }
        assert!(key_holder.0.is_empty());
        assert_eq!((rows, steps, results), (3 + 5, all_steps, 4));
    }
}

/// How the results of columns are combined into one number.
enum Fold {
    Sum,
    Unwrap,
    Max,
}

/// The cost of a metric's circuit, as documented in the module of the `garbled` engine and in the sources of cells.
struct Circuit {
    gates: usize,
    /// Input wires of a cell.
    width: usize,
    /// Bits that a column passes to the next.
    result: usize,
    /// How the columns are combined into one number.
    fold: Fold,
}

/// Bytes from the garbler and from the evaluator, counted as the chapter says.
fn garbled_bytes(run: &Run, circuit: &Circuit) -> [usize; 2] {
    // Transfers for several messages of bits that are announced together. Leftover transfers serve the next messages.
    let mut left = 0;
    let mut transfers = |messages: &[usize]| {
        let bits = messages.iter().sum::<usize>();
        let missing = bits.saturating_sub(left);
        let batches = missing.div_ceil(32_640);
        let blocks = missing.div_ceil(128);
        left = left + 128 * blocks - bits;
        let own_bits: usize = messages.iter().map(|bits| bits.div_ceil(8)).sum();
        own_bits + 31 * 16 * (blocks + batches) + 48 * batches
    };
    let mut garbler = 8 * run.host_lengths.len() + 1;
    let mut evaluator = 8 * run.join_lengths.len() + 1;
    let open: Vec<(usize, usize)> = run
        .pairs
        .iter()
        .map(|&(i, j)| (run.host_lengths[i], run.join_lengths[j]))
        .filter(|(rows, columns)| rows * columns > 0)
        .collect();
    evaluator += 32 + 32 * (6 + 2) * 16 + 32;
    garbler += 128 * 64 + 16;
    evaluator += transfers(&[run.join_lengths.iter().sum::<usize>() * 4]); // nine letters have four bits
    let mut spans = Vec::new();
    let mut numbers = Vec::new();
    for group in groups(&open, circuit.width) {
        let highest = group.iter().map(|(rows, _)| *rows).max().unwrap();
        for strip in 0..highest.div_ceil(128) {
            let shapes: Vec<(usize, usize)> = group
                .iter()
                .map(|(rows, columns)| (rows.saturating_sub(128 * strip).min(128), *columns))
                .collect();
            let steps = shapes.iter().filter(|(rows, _)| *rows > 0);
            let steps = steps.map(|(rows, columns)| rows + columns - 1).max();
            let mut span = 0;
            for step in 0..steps.unwrap_or(0) {
                let mut cells = 0;
                for &(rows, columns) in shapes.iter().filter(|(rows, _)| *rows > 0) {
                    if step < columns {
                        garbler += N * (rows * circuit.width).div_ceil(8);
                    }
                    cells += (0..rows)
                        .filter(|row| step >= *row && step - row < columns)
                        .count();
                }
                garbler += 32 * circuit.gates * cells;
                if span > 0 && (span + cells) * circuit.width > 8192 {
                    spans.push(span * circuit.width);
                    span = 0;
                }
                span += cells;
            }
            spans.push(span * circuit.width);
        }
        for &(_, columns) in group {
            let (gates, bits) = match circuit.fold {
                Fold::Sum => sum(columns, circuit.result),
                Fold::Unwrap => {
                    // Changes of the top bit are counted.
                    let (gates, bits) = sum(columns, 1);
                    (gates, circuit.result - 1 + bits)
                }
                Fold::Max => ((columns - 1) * 2 * circuit.result, circuit.result),
            };
            garbler += 32 * gates;
            numbers.push(bits);
        }
    }
    evaluator += transfers(&spans);
    if matches!(run.spec.reveal, Reveal::Threshold(_)) {
        // The bound is short here, so the width of the numbers counts: that of the longest one, for all.
        garbler += 32 * numbers.len() * numbers.iter().max().unwrap();
    }
    // The confirmations that the halves are stored, and the halves for the other side.
    garbler += 1;
    evaluator += 1;
    if run.spec.reveal_to.includes(Role::Join) {
        garbler += 8 * numbers.len();
    }
    if run.spec.reveal_to.includes(Role::Host) {
        evaluator += 8 * numbers.len();
    }
    [garbler, evaluator]
}

/// Groups of comparisons that are swept together.
fn groups(open: &[(usize, usize)], width: usize) -> Vec<&[(usize, usize)]> {
    let most = 2048.min(8192 / width);
    let (mut groups, mut first, mut rows) = (Vec::new(), 0, 0);
    for (at, shape) in open.iter().enumerate() {
        let more = shape.0.min(128);
        if at > first && rows + more > most {
            groups.push(&open[first..at]);
            (first, rows) = (at, 0);
        }
        rows += more;
    }
    groups.push(&open[first..]);
    groups
}

/// The number of full adders that sum numbers of this many bits, and the bits of the sum.
fn sum(numbers: usize, bits: usize) -> (usize, usize) {
    let mut weights = vec![numbers; bits];
    let (mut gates, mut weight) = (0, 0);
    while weight < weights.len() {
        while weights[weight] > 1 {
            let count = weights[weight];
            let adders = if count == 2 { 1 } else { count / 3 };
            gates += adders;
            weights[weight] = adders + count.saturating_sub(3 * adders);
            if weights.len() == weight + 1 {
                weights.push(0);
            }
            weights[weight + 1] += adders;
        }
        weight += 1;
    }
    (gates, weights.len())
}

#[test]
fn garbled_matches_the_wire_format() {
    let costs = Metric::NeedlemanWunsch {
        insert: 3.0,
        delete: 4.0,
        substitution: Substitution::Index,
        scale: None,
    };
    let local = Metric::SmithWaterman {
        scoring: LocalScoring::Unit {
            reward: 2.0,
            mismatch: 1.0,
        },
        gap: 1.0,
        scale: None,
    };
    let gates = |metric: &Metric, shorter: usize| {
        let alphabet = Alphabet::letters(N as u32).unwrap();
        let comparison = Comparison::new(metric.clone(), alphabet).unwrap();
        and_gates_per_cell(&comparison, shorter) as usize
    };
    let unit = |_: usize| Circuit {
        gates: 3,
        width: 1,
        result: 2,
        fold: Fold::Sum,
    };
    // 3 + 4 has three bits.
    let wide = |_: usize| Circuit {
        gates: 6 * 3 - 2,
        width: 3,
        result: 3,
        fold: Fold::Sum,
    };
    // 30 + 40 has seven bits.
    let large_costs = Metric::NeedlemanWunsch {
        insert: 30.0,
        delete: 40.0,
        substitution: Substitution::Index,
        scale: None,
    };
    let wider = |_: usize| Circuit {
        gates: 5 * 7 + 2,
        width: 7,
        result: 8,
        fold: Fold::Unwrap,
    };
    // Scores up to twice the shorter length, and two gaps more; a match and two gaps have three bits.
    let best = |shorter: usize| Circuit {
        gates: gates(&local, shorter),
        width: 3,
        result: (usize::BITS - (2 * shorter + 2).leading_zeros()) as usize,
        fold: Fold::Max,
    };
    type Case<'a> = (&'a Metric, &'a dyn Fn(usize) -> Circuit);
    let cases: [Case<'_>; 4] = [
        (&Metric::Levenshtein, &unit),
        (&costs, &wide),
        (&large_costs, &wider),
        (&local, &best),
    ];
    let few: [&[usize]; 2] = [&[5, 0, 12], &[7, 9]];
    let many: [&[usize]; 2] = [&[20; 15], &[21; 9]];
    let long: [&[usize]; 2] = [&[300], &[150]];
    for (metric, circuit) in cases {
        for lengths in [few, many, long] {
            // Beyond 262,144 gates, machines with many cores use several portions.
            let cells: usize = lengths[0].iter().sum::<usize>() * lengths[1].iter().sum::<usize>();
            let shorter = lengths.map(|side| *side.iter().max().unwrap());
            let circuit = circuit(shorter[0].min(shorter[1]));
            if cells * circuit.gates > 262_144 {
                continue;
            }
            for reveal_to in [RevealTo::Both, RevealTo::Host, RevealTo::Join] {
                let run = run(Engine::Garbled, metric.clone(), lengths, |spec| {
                    spec.reveal_to = reveal_to;
                });
                assert_eq!(
                    [run.from_host.len(), run.from_join.len()],
                    garbled_bytes(&run, &circuit),
                    "{metric:?} {lengths:?} {reveal_to:?}"
                );
            }
        }
    }
    let run = run(Engine::Garbled, Metric::Levenshtein, few, |spec| {
        spec.reveal = Reveal::Threshold(Threshold::new(2.0).unwrap());
    });
    assert_eq!(
        [run.from_host.len(), run.from_join.len()],
        garbled_bytes(&run, &unit(0))
    );
}
