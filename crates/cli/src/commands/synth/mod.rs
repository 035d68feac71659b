//! `veilpath synth`: cohorts out of nothing, for experiments, dry runs and demos.

mod lifelike;
mod random;

use crate::failure::Failure;
use crate::messages;
use clap::{Args, Subcommand};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use lifelike::LifelikeArgs;

const EXAMPLES: &str = "\
Examples:
  veilpath synth random --count 10 --length 8,20,50 --seed 1 -o alice.csv
  veilpath synth lifelike --participants 12 --stimuli 4 --seed 7 -o everyone.csv";

/// The arguments of `synth`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SynthArgs {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    /// Random strings of given lengths over a given alphabet, as in the paper's synthetic experiment
    Random(random::RandomArgs),
    /// Participants of two groups who look at shared stimuli
    Lifelike(LifelikeArgs),
}

/// Makes and writes a cohort.
pub(crate) fn run(args: &SynthArgs) -> Result<(), Failure> {
    match &args.kind {
        Kind::Random(args) => random::run(args),
        Kind::Lifelike(args) => lifelike::run(args),
    }
}

/// A generator that gives the same numbers on every machine, from the user's seed or from a new one, which is said.
fn generator(seed: Option<u64>) -> (ChaCha20Rng, u64) {
    let seed = seed.unwrap_or_else(|| {
        let seed = rand::rng().random();
        messages::note(&format!(
            "the seed is {seed}: give --seed {seed} to get the same again"
        ));
        seed
    });
    (ChaCha20Rng::seed_from_u64(seed), seed)
}

/// Ids that sort in the order of their numbers: `p01`, … `p12`.
fn numbered(prefix: &str, number: usize, of: usize) -> String {
    let width = of.to_string().len();
    format!("{prefix}{number:0width$}")
}
