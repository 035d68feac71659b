//! `veilpath audit leakage`: a recording, honest-but-curious host tries the known attacks.

use crate::engine_args::{KeyBits, key_size};
use crate::failure::Failure;
use crate::metric_args::MetricArgs;
use crate::output::Format;
use crate::progress::{Unit, bar};
use clap::Args;
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, Write};
use veilpath_audit::{AuditError, PARTS, Report, Settings, leakage};
use veilpath_metrics::Alphabet;

const EXAMPLES: &str = "\
Examples:
  veilpath audit leakage --length 4 --rounds 2 --many 2 --hypotheses 100
  veilpath audit leakage --substitution index --metric needleman-wunsch --length 3 --rounds 1

Both sides run in this process on made-up scanpaths, with the code of `veilpath host` and `veilpath join`. The host follows \
the protocol, keeps what she decrypts, and then guesses the letters of the other side. Letters are those that the first guess \
hits; what an attack does not find may still be there. Scanpaths follow from --seed, masks and orders never do.";

/// The arguments of `audit leakage`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LeakageArgs {
    /// Letters of every scanpath
    #[arg(long, value_name = "LETTERS", default_value_t = 8)]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=16))]
    length: u8,

    /// Different letters
    #[arg(long, value_name = "NUMBER", default_value_t = 52)]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=52))]
    letters: u8,

    /// Comparisons to attack, for each line
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=10_000))]
    rounds: u16,

    /// Comparisons in flight where they are mixed, and scanpaths of the host that one of the other side's meets
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=50))]
    many: u8,

    /// Hypotheses that an attack keeps; more find more and take longer
    #[arg(long, value_name = "N", default_value_t = 1000)]
    #[arg(value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    hypotheses: u32,

    /// Bits of the Paillier key; masks are as long for every key, so a short one shows the same
    #[arg(long, value_name = "BITS", default_value = "512", value_parser = key_size)]
    key_bits: KeyBits,

    /// Make the same scanpaths again
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    metric: MetricArgs,

    /// How to write the numbers
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

/// Attacks and prints.
pub(crate) fn run(args: &LeakageArgs) -> Result<(), Failure> {
    let alphabet = Alphabet::letters(args.letters.into())
        .map_err(|error| Failure::input(format!("--letters: {}", error.problem)))?;
    let settings = Settings {
        metric: args.metric.metric(&alphabet, None)?,
        alphabet,
        length: args.length.into(),
        rounds: args.rounds.into(),
        many: args.many.into(),
        hypotheses: args.hypotheses as usize,
        key_size: args.key_bits,
        seed: args.seed,
    };
    let bar = bar(PARTS, Unit::Steps, crate::messages::is_quiet());
    let report = leakage(&settings, &|| bar.inc(1)).map_err(failure)?;
    bar.finish_and_clear();
    let text = match args.format {
        Format::Table => table(&report, &settings),
        Format::Csv => csv(&report),
        Format::Json => json(&report, &settings),
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::printing(&error))
}

fn failure(error: AuditError) -> Failure {
    match error {
        AuditError::Protocol(error) => error.into(),
        AuditError::Metric(error) => error.into(),
        AuditError::Paillier(error) => error.into(),
        other => Failure::input(other.to_string()),
    }
}

fn table(report: &Report, settings: &Settings) -> String {
    let mut text = format!(
        "{0}x{0} letters of {1}, {2}, {3} rounds: letters of the other side that a curious host guesses\n\n",
        settings.length,
        settings.alphabet.size(),
        settings.metric.name(),
        settings.rounds
    );
    let _ = writeln!(
        text,
        "{:36}  {:22}  {:>8}",
        "what she sees", "attack", "letters"
    );
    for row in &report.rows {
        let share = 100.0 * row.letters;
        let _ = writeln!(text, "{:36}  {:22}  {share:6.1} %", row.view, row.attack);
    }
    text.push_str(
        "\nengine garbled, two inputs of the other side with the same length and score\n\n",
    );
    let _ = writeln!(
        text,
        "{:8}  {:>6}  {:>9}  {:>12}  {:>18}  {:>16}",
        "seen by", "runs", "bytes", "same lengths", "chi2 (255 +- 23)", "told apart"
    );
    for side in &report.garbled {
        let _ = writeln!(
            text,
            "{:8}  {:6}  {:9}  {:>12}  {:18.1}  {:14.1} %",
            side.seen_by,
            side.runs,
            side.bytes,
            if side.same_lengths { "yes" } else { "no" },
            side.chi_square,
            100.0 * side.distinguished
        );
    }
    text
}

fn csv(report: &Report) -> String {
    let mut text = String::from("view,attack,letters,guessed\n");
    for row in &report.rows {
        let _ = writeln!(
            text,
            "\"{}\",{},{},{}",
            row.view, row.attack, row.letters, row.guessed
        );
    }
    for side in &report.garbled {
        let view = format!("garbled, seen by {}", side.seen_by);
        let _ = writeln!(
            text,
            "\"{view}\",distinguisher,{},{}",
            side.distinguished, side.runs
        );
    }
    text
}

fn json(report: &Report, settings: &Settings) -> String {
    let object = json!({
        "length": settings.length,
        "letters": settings.alphabet.size(),
        "metric": settings.metric,
        "rounds": settings.rounds,
        "many": settings.many,
        "hypotheses": settings.hypotheses,
        "key_bits": settings.key_size.bits(),
        "seed": settings.seed,
        "paillier": report.rows,
        "garbled": report.garbled,
    });
    format!("{object}\n")
}
