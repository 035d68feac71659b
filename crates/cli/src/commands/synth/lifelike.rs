//! Participants of two groups who look at shared stimuli.
//!
//! Every stimulus has a few places that attract the eye. The two groups weigh the places differently (one likes the
//! first ones best, the other the last ones), so that people of one group are more alike than people of different
//! groups: something for a comparison to find. A viewer starts near the centre, moves to a place drawn by the group's
//! and his or her own weights (a place just seen is less likely to be seen again), lands around it, sometimes looks
//! anywhere, and stays for a time with a long tail.
//!
//! Only additions and multiplications are used, so that a seed gives the same cohort on every machine.

use super::{generator, numbered};
use crate::failure::Failure;
use crate::output::to_file_or_stdout;
use clap::{Args, ValueEnum};
use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use std::io::{self, Write};
use std::path::PathBuf;
use veilpath_encode::{
    Collector, EncodeOptions, Fixation, Kind, Placing, Recording, Sink, Space, cohort_file,
};
use veilpath_metrics::{Cohort, Grid};

const EXAMPLES: &str = "\
Examples:
  veilpath synth lifelike --participants 12 --stimuli 4 --seed 7 -o everyone.csv
  veilpath synth lifelike --seed 7 --as fixations -o fixations.csv
  veilpath encode fixations.csv --screen 1280x720 -o cohort.csv";

/// The stimulus' size in pixels.
const SCREEN: (f64, f64) = (1280.0, 720.0);

/// Places per stimulus that attract the eye.
const PLACES: usize = 6;

/// How often a viewer looks anywhere.
const WANDERING: f64 = 0.06;

/// The longest time that all together look: some ten million fixations. A glance counts as a second, because every
/// scanpath takes room.
const MAX_HOURS: f64 = 1_000.0;

/// The arguments of `synth lifelike`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LifelikeArgs {
    /// How many people, half of them in each group
    #[arg(long, value_name = "NUMBER", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    participants: u32,

    /// How many stimuli everybody looks at
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    stimuli: u32,

    /// How long everybody looks at a stimulus
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 6.0,
        allow_negative_numbers = true
    )]
    seconds: f64,

    /// The grid of the letters
    #[arg(long, value_name = "GRID", default_value = "7x7")]
    grid: Grid,

    /// What to write
    #[arg(long = "as", value_enum, value_name = "WHAT", default_value = "cohort")]
    what: What,

    /// The seed [default: a new one, which is printed]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// Where it goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Scanpaths, ready to be compared
    Cohort,
    /// A table of fixations in pixels of 1280x720, to try `veilpath encode` on
    Fixations,
}

/// A study to be simulated.
#[derive(Clone, Debug)]
pub(crate) struct Study {
    pub(crate) participants: u32,
    pub(crate) stimuli: u32,
    pub(crate) seconds: f64,
    pub(crate) seed: Option<u64>,
}

/// One simulated fixation.
#[derive(Clone, Debug)]
struct Looked {
    participant: String,
    stimulus: String,
    x: f64,
    y: f64,
    duration_ms: f64,
}

/// Makes and writes a cohort or a table of fixations.
pub(crate) fn run(args: &LifelikeArgs) -> Result<(), Failure> {
    if !(args.seconds > 0.0 && args.seconds <= 86_400.0) {
        return Err(Failure::input(
            "--seconds is a time above 0 and at most 86400 (a day)",
        ));
    }
    let hours =
        f64::from(args.participants) * f64::from(args.stimuli) * args.seconds.max(1.0) / 3600.0;
    if hours > MAX_HOURS {
        return Err(Failure::input(format!(
            "this would be {hours:.0} hours of looking; at most {MAX_HOURS:.0} are made up\n  \
             choose fewer --participants or --stimuli, or less --seconds"
        )));
    }
    let study = Study {
        participants: args.participants,
        stimuli: args.stimuli,
        seconds: args.seconds,
        seed: args.seed,
    };
    match args.what {
        What::Cohort => {
            let (cohort, note) = study.cohort(args.grid)?;
            to_file_or_stdout(args.output.as_deref(), |out| {
                cohort_file::write(&cohort, &[note], out)
            })
        }
        What::Fixations => to_file_or_stdout(args.output.as_deref(), |out| study.table(out)),
    }
}

impl Study {
    /// The scanpaths, made by the same code that encodes real fixations, and a note that says where they come from.
    pub(crate) fn cohort(&self, grid: Grid) -> Result<(Cohort, String), Failure> {
        let options = EncodeOptions {
            placing: Placing::Grid(grid),
            ..EncodeOptions::default()
        };
        let mut collector = Collector::new(&options)?;
        let mut failure = None;
        let seed = self.simulate(|looked| {
            let recording = collector.recording(&Recording {
                participant: &looked.participant,
                stimulus: Some(&looked.stimulus),
                kind: Kind::Fixations,
                space: Some(Space::pixels(SCREEN.0, SCREEN.1)),
            });
            match recording {
                Ok(recording) => collector.fixation(
                    recording,
                    Fixation {
                        x: looked.x,
                        y: looked.y,
                        start_ms: None,
                        duration_ms: Some(looked.duration_ms),
                        aoi: None,
                    },
                ),
                Err(error) => failure = Some(error),
            }
        });
        if let Some(error) = failure {
            return Err(error.into());
        }
        let (cohort, _) = collector.finish()?;
        Ok((
            cohort,
            format!("lifelike viewers of two groups, seed {seed}"),
        ))
    }

    fn table(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "participant,stimulus,x,y,duration")?;
        let mut written = Ok(());
        self.simulate(|looked| {
            if written.is_ok() {
                written = writeln!(
                    out,
                    "{},{},{:.1},{:.1},{:.0}",
                    looked.participant, looked.stimulus, looked.x, looked.y, looked.duration_ms
                );
            }
        });
        written
    }

    /// Tells every fixation of everybody; returns the seed.
    fn simulate(&self, mut tell: impl FnMut(&Looked)) -> u64 {
        let (mut random, seed) = generator(self.seed);
        let stimuli: Vec<Vec<(f64, f64)>> =
            (0..self.stimuli).map(|_| places(&mut random)).collect();
        for person in 0..self.participants {
            // Groups alternate, so that any number of people is dealt fairly.
            let second_group = person % 2 == 1;
            let in_group = (person / 2 + 1) as usize;
            let group_size = (self.participants as usize).div_ceil(2);
            let prefix = if second_group { "expert-" } else { "novice-" };
            let participant = numbered(prefix, in_group, group_size);
            let weights = weights(&mut random, second_group);
            for (number, places) in stimuli.iter().enumerate() {
                let stimulus = numbered("scene-", number + 1, stimuli.len());
                self.view(
                    &mut random,
                    &participant,
                    &stimulus,
                    places,
                    &weights,
                    &mut tell,
                );
            }
        }
        seed
    }

    fn view(
        &self,
        random: &mut ChaCha20Rng,
        participant: &str,
        stimulus: &str,
        places: &[(f64, f64)],
        weights: &[f64],
        tell: &mut impl FnMut(&Looked),
    ) {
        let mut left_ms = self.seconds * 1000.0;
        let mut last = None;
        while left_ms > 0.0 {
            let (centre, spread) = match last {
                None => ((0.5, 0.5), 0.08),
                Some(_) if random.random::<f64>() < WANDERING => ((0.5, 0.5), 0.3),
                Some(last) => {
                    let next = draw(random, weights, last);
                    (places[next], 0.035)
                }
            };
            last = Some(nearest(places, centre));
            let inside = |fraction: f64| fraction.clamp(0.001, 0.999);
            let duration_ms = dwell(random).min(left_ms);
            tell(&Looked {
                participant: participant.to_string(),
                stimulus: stimulus.to_string(),
                x: SCREEN.0 * inside(centre.0 + spread * bell(random)),
                y: SCREEN.1 * inside(centre.1 + spread * bell(random)),
                duration_ms,
            });
            // A saccade takes its time, too.
            left_ms -= duration_ms + 40.0;
        }
    }
}

fn places(random: &mut ChaCha20Rng) -> Vec<(f64, f64)> {
    let mut coordinate = || 0.08 + 0.84 * random.random::<f64>();
    (0..PLACES).map(|_| (coordinate(), coordinate())).collect()
}

/// How much a person likes each place: the group's order, and a taste of his or her own.
fn weights(random: &mut ChaCha20Rng, second_group: bool) -> Vec<f64> {
    let group = [8.0, 5.0, 3.0, 2.0, 1.0, 1.0];
    let mut weights: Vec<f64> = group
        .into_iter()
        .map(|weight| weight * (0.5 + random.random::<f64>()))
        .collect();
    if second_group {
        weights.reverse();
    }
    weights
}

/// The next place; the one just seen counts a quarter.
fn draw(random: &mut ChaCha20Rng, weights: &[f64], last: usize) -> usize {
    let weight = |index: usize| weights[index] * if index == last { 0.25 } else { 1.0 };
    let total: f64 = (0..weights.len()).map(weight).sum();
    let mut point = random.random::<f64>() * total;
    for index in 0..weights.len() {
        point -= weight(index);
        if point < 0.0 {
            return index;
        }
    }
    weights.len() - 1
}

fn nearest(places: &[(f64, f64)], to: (f64, f64)) -> usize {
    let far = |place: &(f64, f64)| {
        let (dx, dy) = (place.0 - to.0, place.1 - to.1);
        dx * dx + dy * dy
    };
    (0..places.len())
        .min_by(|&i, &j| far(&places[i]).total_cmp(&far(&places[j])))
        .unwrap_or_default()
}

/// Nearly normal, with variance 1: the sum of twelve uniform numbers.
fn bell(random: &mut ChaCha20Rng) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// A fixation's duration in milliseconds: at least 100, 260 on average, with a long tail.
fn dwell(random: &mut ChaCha20Rng) -> f64 {
    let (x, y) = (bell(random), bell(random));
    100.0 + 80.0 * (x * x + y * y)
}
