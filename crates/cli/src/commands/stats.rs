//! `veilpath stats`: group means, tests and classification rates from result files.

use crate::failure::Failure;
use crate::numbers::decimal;
use crate::output::OutputArgs;
use crate::{inputs, messages, notes};
use clap::Args;
use std::path::{Path, PathBuf};
use veilpath::report::{self, ResultFile};
use veilpath::stats::{self, Groups, NamedResult, Question, StatsError, StatsOptions};
use veilpath::{Event, table};

const EXAMPLES: &str = "\
Examples:
  veilpath synth lifelike --groups patients=8,controls=8 --seed 7 -o study.csv
  veilpath compare study.csv study.csv --metric scanmatch -o study.json
  veilpath stats study.json --groups study.csv
  veilpath stats study.json --groups study.csv --answer test:groups --permutations 999 -o test.json
  veilpath stats study.json --groups study.csv --answer nearest:3 --format csv
  veilpath split study.csv --seed 1 --first clinic.csv --second university.csv
  veilpath compare clinic.csv university.csv -o between.json
  veilpath stats between.json --groups study.csv --answer groups,nearest:3,rate
  veilpath compare clinic.csv clinic.csv -o clinic.json
  veilpath compare university.csv university.csv -o university.json
  veilpath stats clinic.json university.json between.json --answer test:sites

RESULT is a JSON file from compare, host or join: a cohort compared with itself, or with another. --answer takes answers \
separated by commas, and the comma of nearest:K,rate is part of one answer: groups,nearest:3,rate are two. Answers:
  mean            the mean over all pairs, and of each stimulus
  groups          the mean of each group with each group
  test:groups     are participants of the same group more alike than those of different groups?
  test:sites      are participants of the same institution more alike? (needs three results)
  nearest:K       for each scanpath, the most common group among the K nearest of other participants
  nearest:K,rate  how often that is its own group, with chance level and confusion matrix
  histogram:BINS  how many pairs are in each of BINS ranges

Permutations and bootstrap draws keep all scanpaths of a participant together. The same seed gives the same numbers on every machine.";

/// The arguments of `stats`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatsArgs {
    /// A JSON result file (- for standard input); for test:sites three: the first cohort with itself, the second with itself, and
    /// the two with each other
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<PathBuf>,

    /// The groups of participants: a table with the columns participant and group, or a cohort file with groups
    #[arg(long, value_name = "FILE")]
    groups: Option<PathBuf>,

    /// The groups of the second cohort, if they are in another file
    #[arg(long, value_name = "FILE", requires = "groups")]
    second_groups: Option<PathBuf>,

    /// What to compute: answers from the list below, separated by commas (nearest:3,rate is one answer) [default: all that results and groups allow, with nearest:5,rate]
    #[arg(long, value_name = "ANSWER", value_parser = questions)]
    answer: Vec<Questions>,

    /// The measure to analyse, if the metric has several, such as det [default: the similarity if there is one, else the first]
    #[arg(long, value_name = "NAME")]
    measure: Option<String>,

    /// Analyse only this stimulus; may be repeated
    #[arg(long, value_name = "NAME")]
    stimulus: Vec<String>,

    /// The number of permutations of a test
    #[arg(long, value_name = "NUMBER", default_value_t = StatsOptions::default().permutations,
        value_parser = clap::value_parser!(u64).range(1..=MAX_DRAWS))]
    permutations: u64,

    /// The number of bootstrap draws of a confidence interval; 0 for no intervals
    #[arg(long, value_name = "NUMBER", default_value_t = StatsOptions::default().resamples,
        value_parser = clap::value_parser!(u64).range(..=MAX_DRAWS))]
    resamples: u64,

    /// The level of confidence intervals
    #[arg(long, value_name = "FRACTION", default_value_t = StatsOptions::default().level, value_parser = decimal)]
    confidence: f64,

    /// The seed of permutations and draws
    #[arg(long, value_name = "NUMBER", default_value_t = StatsOptions::default().seed)]
    seed: u64,

    #[command(flatten)]
    output: OutputArgs,
}

/// More than anybody needs: this many permutations or draws take hours.
const MAX_DRAWS: u64 = 10_000_000;

/// The questions in one argument.
type Questions = Vec<Question>;

/// Reads the results, and writes the answers.
pub(crate) fn run(args: &StatsArgs) -> Result<(), Failure> {
    let groups = [&args.groups, &args.second_groups].into_iter().flatten();
    let read_from: Vec<&Path> = args
        .results
        .iter()
        .chain(groups)
        .map(PathBuf::as_path)
        .collect();
    inputs::check_single_stdin(&read_from)?;
    let files = args
        .results
        .iter()
        .map(|path| read_result(path))
        .collect::<Result<Vec<_>, _>>()?;
    let results: Vec<NamedResult<'_>> = files
        .iter()
        .map(|(name, file)| NamedResult { name, file })
        .collect();
    let output = args.output.check(&read_from)?;
    let notes = |event: Event| notes::print(&event);
    let outcome = stats::statistics(&results, &args.options()?, &notes)?;
    output.write(&args.output, &read_from, &outcome)?.print();
    if args.output.is_file() {
        messages::info(&table::answers(&outcome));
    }
    Ok(())
}

impl StatsArgs {
    fn options(&self) -> Result<StatsOptions, Failure> {
        let read = |path: &PathBuf| -> Result<Groups, Failure> {
            Ok(Groups::read(inputs::open(path)?).map_err(veilpath::Error::from)?)
        };
        let first = self.groups.as_ref().map(read).transpose()?;
        let second = self.second_groups.as_ref().map(read).transpose()?;
        let second = second.or_else(|| first.clone());
        Ok(StatsOptions {
            questions: self.answer.concat(),
            groups: [first, second],
            measure: self.measure.clone(),
            stimuli: self.stimulus.clone(),
            permutations: self.permutations,
            resamples: self.resamples,
            level: self.confidence,
            seed: self.seed,
        })
    }
}

fn read_result(path: &Path) -> Result<(String, ResultFile), Failure> {
    let (name, file) = match inputs::is_dash(path) {
        true => {
            let name = "standard input";
            let file = report::read_result_from(name, std::io::stdin().lock())?;
            (name.to_string(), file)
        }
        false => (path.display().to_string(), report::read_result(path)?),
    };
    // Before the groups are read: for a file of this kind, they do not matter.
    match file.outcome() {
        Some(_) => Ok((name, file)),
        None => Err(veilpath::Error::from(StatsError::NumbersOnly { file: name }).into()),
    }
}

/// Parses questions separated by commas. A comma may also be within one, as in `nearest:5,rate`.
fn questions(text: &str) -> Result<Questions, String> {
    let mut parts: Vec<String> = Vec::new();
    for part in text.split(',').map(str::trim) {
        match parts.last_mut() {
            Some(last) if part == "rate" => last.push_str(",rate"),
            _ => parts.push(part.to_string()),
        }
    }
    let questions = parts.iter().map(|part| part.parse());
    questions
        .collect::<Result<_, _>>()
        .map_err(|error: stats::UnknownQuestion| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_separated_by_commas() {
        let found = questions("groups,nearest:3,rate,test:sites").unwrap();
        let found: Vec<String> = found.iter().map(Question::to_string).collect();
        assert_eq!(found, ["groups", "nearest:3,rate", "test:sites"]);
        assert!(questions("groups,").is_err());
        assert!(questions("rate").is_err());
    }
}
