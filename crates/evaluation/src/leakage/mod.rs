//! What a curious party learns from the engines: runs all attacks of `veilpath-audit` on synthetic scanpaths.
//!
//! Both sides run in this process, with the code of a real session. The host follows the protocol, keeps what it decrypts, and
//! then guesses the letters of the joining side. A failed attack proves nothing: all numbers are lower bounds on what leaks.

mod first_cell;
mod repeated;
mod study;
#[cfg(test)]
mod tests;

use crate::Error;
use serde::Serialize;
use serde_json::json;
use std::fmt::Write as _;
use study::Study;
use veilpath_audit::Feature;
use veilpath_audit::groups::GroupTranscripts;
use veilpath_audit::transcript::Transcripts;
use veilpath_metrics::{Alphabet, Metric};
use veilpath_paillier::KeySize;
use veilpath_protocol::Engine;

/// The settings of a study.
#[derive(Clone, Debug)]
pub struct Options {
    /// The metric.
    pub metric: Metric,
    /// The letters.
    pub alphabet: Alphabet,
    /// Letters per scanpath.
    pub length: usize,
    /// The number of comparisons to attack per row.
    pub repetitions: usize,
    /// The number of comparisons in flight in one run; each attacked scanpath is compared with as many of the host's.
    pub group_size: usize,
    /// The number of hypotheses that an attack keeps.
    pub hypotheses: usize,
    /// The size of the key. What the masks hide does not depend on it.
    pub key_size: KeySize,
    /// The seed of the scanpaths. Masks and orders are always random.
    pub seed: u64,
}

/// The result.
#[derive(Clone, Debug)]
pub struct Report {
    options: Options,
    /// One row for each attack on the `paillier` engine.
    pub paillier: Vec<Row>,
    /// What each side could find with the `garbled` engine.
    pub garbled: [Transcripts; 2],
    /// The same for the `shares` engine.
    pub shares: [Transcripts; 2],
    /// What the distinguisher found in group answers.
    pub groups: Vec<GroupTranscripts>,
}

/// One attack on one variant of the protocol.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What the host sees.
    pub view: String,
    /// What the attack uses.
    pub attack: String,
    /// The fraction of the other side's letters that the best guess gets right.
    pub correct: f64,
    /// The number of letters guessed.
    pub guessed: usize,
}

/// The name of an attack that uses every feature.
const ALL: &str = "all features";

/// The name of the attack that uses only the score.
const SCORE: &str = "score";

/// How many times [`run`] calls `step`.
pub const STEPS: u64 = 18;

/// Runs all attacks. `step` is called after each part.
pub fn run(options: &Options, step: &(dyn Fn() + Sync)) -> Result<Report, Error> {
    let study = Study::new(options, step)?;
    let mut rows = vec![study.guessing()];
    rows.push(study.score()?);
    let (paper, hardened) = (study.engine()?, study.engine()?.with_hardening(true));
    let features = [
        (Feature::Ties, "ties"),
        (Feature::Ratios, "ratios of differences"),
        (Feature::Magnitudes, "magnitudes"),
        (Feature::All, ALL),
    ];
    rows.extend(study.paper_order(paper, &features, "")?);
    rows.extend(study.repeated(paper, "")?);
    rows.push(study.batches_of_one()?);
    rows.push(study.mixed_batches()?);
    rows.extend(study.paper_order(hardened, &[(Feature::All, ALL)], ", hardened")?);
    rows.extend(study.repeated(hardened, ", hardened")?);
    rows.extend(study.first_cell()?);
    Ok(Report {
        options: options.clone(),
        paillier: rows,
        garbled: study.transcripts(Engine::Garbled)?,
        shares: study.transcripts(Engine::Shares)?,
        groups: study.group_transcripts()?,
    })
}

impl Report {
    /// The report as human-readable text.
    pub fn table(&self) -> String {
        let options = &self.options;
        let mut text = format!(
            "engine paillier, {0}x{0} letters of {1}, {2}, {3} repetitions: letters of the other side that a curious host guesses\n\n",
            options.length,
            options.alphabet.size(),
            options.metric.name(),
            options.repetitions
        );
        let _ = writeln!(
            text,
            "{:42}  {:22}  {:>8}",
            "the host sees", "attack", "correct"
        );
        for row in &self.paillier {
            let share = 100.0 * row.correct;
            let _ = writeln!(text, "{:42}  {:22}  {share:6.1} %", row.view, row.attack);
        }
        text.push_str("\ntwo inputs of the other side with the same length and score\n\n");
        let _ = writeln!(
            text,
            "{:8}  {:8}  {:>6}  {:>9}  {:>12}  {:>18}  {:>16}",
            "engine",
            "seen by",
            "runs",
            "bytes",
            "same lengths",
            "chi2 (255 +- 23)",
            "distinguished"
        );
        for (engine, side) in self.transcripts() {
            let _ = writeln!(
                text,
                "{engine:8}  {:8}  {:6}  {:9}  {:>12}  {:18.1}  {:14.1} %",
                side.seen_by,
                side.runs,
                side.bytes,
                if side.same_lengths { "yes" } else { "no" },
                side.chi_square,
                100.0 * side.distinguished
            );
        }
        self.group_table(&mut text);
        text
    }

    fn group_table(&self, text: &mut String) {
        text.push_str(
            "\ngroup answers: two inputs of the other side with the same ids, lengths, sizes of groups and answer\n\n",
        );
        let _ = writeln!(
            text,
            "{:8}  {:16}  {:8}  {:>6}  {:>9}  {:>12}  {:>18}  {:>18}  {:>16}",
            "engine",
            "answer",
            "seen by",
            "runs",
            "bytes",
            "same lengths",
            "chi2 (255 +- 23)",
            "chi2 of shares",
            "distinguished"
        );
        for row in &self.groups {
            let _ = writeln!(
                text,
                "{:8}  {:16}  {:8}  {:6}  {:9}  {:>12}  {:18.1}  {:18.1}  {:14.1} %",
                row.engine,
                row.question,
                row.seen.seen_by,
                row.seen.runs,
                row.seen.bytes,
                if row.seen.same_lengths { "yes" } else { "no" },
                row.seen.chi_square,
                row.kept_chi_square,
                100.0 * row.seen.distinguished
            );
        }
    }

    /// The transcripts of both engines.
    fn transcripts(&self) -> impl Iterator<Item = (&'static str, &Transcripts)> {
        let garbled = self.garbled.iter().map(|side| ("garbled", side));
        garbled.chain(self.shares.iter().map(|side| ("shares", side)))
    }

    /// The report as CSV, with one row for each attack.
    pub fn csv(&self) -> String {
        let mut text = String::from("view,attack,correct,guessed\n");
        for row in &self.paillier {
            let _ = writeln!(
                text,
                "\"{}\",{},{},{}",
                row.view, row.attack, row.correct, row.guessed
            );
        }
        for (engine, side) in self.transcripts() {
            let _ = writeln!(
                text,
                "\"{engine}, seen by {}\",distinguisher,{},{}",
                side.seen_by, side.distinguished, side.runs
            );
        }
        for GroupTranscripts {
            engine,
            question,
            seen,
            ..
        } in &self.groups
        {
            let _ = writeln!(
                text,
                "\"{engine}, {question}, seen by {}\",distinguisher,{},{}",
                seen.seen_by, seen.distinguished, seen.runs
            );
        }
        text
    }

    /// The report as one JSON object.
    pub fn json(&self) -> serde_json::Result<String> {
        let options = &self.options;
        serde_json::to_string(&json!({
            "length": options.length,
            "letters": options.alphabet.size(),
            "metric": options.metric,
            "repetitions": options.repetitions,
            "group_size": options.group_size,
            "hypotheses": options.hypotheses,
            "key_bits": options.key_size.bits(),
            "seed": options.seed,
            "paillier": self.paillier,
            "garbled": self.garbled,
            "shares": self.shares,
            "groups": self.groups,
        }))
    }
}
