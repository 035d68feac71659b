//! Participants of two groups who look at shared stimuli.
//!
//! Every stimulus has a few places that attract the eye. The two groups weigh the places differently (one prefers the first,
//! the other the last), so that people of one group are more alike than people of different groups: something for a comparison
//! to find. A viewer starts near the centre and moves to a place drawn by the weights of the group and of the viewer (a place just
//! seen is less likely to be seen again). The gaze lands around that place, sometimes anywhere, and stays for a time with a long
//! tail.
//!
//! Only additions and multiplications are used, so that a seed gives the same cohort on every machine.

use super::{SynthError, SyntheticCohort, generator, numbered};
use crate::Error;
use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use std::io::{self, Write};
use veilpath_encode::{Collector, EncodeOptions, Fixation, Kind, Placing, Recording, Sink, Space};
use veilpath_metrics::Grid;

/// The size of a stimulus in pixels.
const SCREEN: (f64, f64) = (1280.0, 720.0);

/// Places per stimulus that attract the eye.
const PLACES: usize = 6;

/// The probability of looking anywhere.
const WANDERING: f64 = 0.06;

/// The longest viewing time.
const MAX_SECONDS: f64 = 86_400.0;

/// The longest viewing time of all participants together: some ten million fixations. A viewing time below a second counts as
/// one, because every scanpath takes up space.
const MAX_HOURS: f64 = 1_000.0;

/// The prefixes of the participants' ids, by group.
const GROUPS: [&str; 2] = ["novice-", "expert-"];

/// What to generate.
#[derive(Clone, Debug, PartialEq)]
pub struct LifelikeOptions {
    /// How many people, half of them in each group.
    pub participants: u32,
    /// How many stimuli everybody looks at.
    pub stimuli: u32,
    /// How long everybody looks at a stimulus.
    pub seconds: f64,
    /// The seed; `None` for a new one.
    pub seed: Option<u64>,
}

/// Twelve people, who look at four stimuli for six seconds each.
impl Default for LifelikeOptions {
    fn default() -> Self {
        Self {
            participants: 12,
            stimuli: 4,
            seconds: 6.0,
            seed: None,
        }
    }
}

/// A table of synthetic fixations in pixels, as an eye tracker's software might export it.
#[derive(Clone, Debug)]
pub struct FixationTable {
    options: LifelikeOptions,
    /// The seed that produces the same table again.
    pub seed: u64,
}

/// One fixation of a participant.
struct Viewed<'a> {
    participant: &'a str,
    stimulus: &'a str,
    x: f64,
    y: f64,
    duration_ms: f64,
}

/// Generates scanpaths on a grid. They are encoded by the same code as real fixations.
pub fn lifelike(options: &LifelikeOptions, grid: Grid) -> Result<SyntheticCohort, Error> {
    options.check()?;
    let encoding = EncodeOptions {
        placing: Placing::Grid(grid),
        ..EncodeOptions::default()
    };
    let mut collector = Collector::new(&encoding)?;
    let mut failure = None;
    let (rng, seed) = generator(options.seed);
    options.simulate(rng, |viewed| {
        let recording = collector.recording(&Recording {
            participant: viewed.participant,
            stimulus: Some(viewed.stimulus),
            kind: Kind::Fixations,
            space: Some(Space::pixels(SCREEN.0, SCREEN.1)),
        });
        match recording {
            Ok(recording) => collector.fixation(
                recording,
                Fixation {
                    x: viewed.x,
                    y: viewed.y,
                    start_ms: None,
                    duration_ms: Some(viewed.duration_ms),
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
    Ok(SyntheticCohort {
        cohort,
        seed,
        note: format!("lifelike viewers of two groups, seed {seed}"),
    })
}

/// Generates the fixations that [`lifelike`] encodes as scanpaths.
pub fn fixations(options: &LifelikeOptions) -> Result<FixationTable, Error> {
    options.check()?;
    let (_, seed) = generator(options.seed);
    Ok(FixationTable {
        options: options.clone(),
        seed,
    })
}

impl FixationTable {
    /// Writes the table as CSV.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "participant,stimulus,x,y,duration")?;
        let mut written = Ok(());
        let (rng, _) = generator(Some(self.seed));
        self.options.simulate(rng, |viewed| {
            if written.is_ok() {
                written = writeln!(
                    out,
                    "{},{},{:.1},{:.1},{:.0}",
                    viewed.participant, viewed.stimulus, viewed.x, viewed.y, viewed.duration_ms
                );
            }
        });
        written
    }
}

impl LifelikeOptions {
    fn check(&self) -> Result<(), SynthError> {
        let seconds = self.seconds;
        if !(seconds > 0.0 && seconds <= MAX_SECONDS) {
            return Err(SynthError::ViewingTime { seconds });
        }
        let views = f64::from(self.participants) * f64::from(self.stimuli);
        let hours = views * seconds.max(1.0) / 3600.0;
        if hours > MAX_HOURS {
            return Err(SynthError::TooLong {
                hours,
                max_hours: MAX_HOURS,
            });
        }
        Ok(())
    }

    /// Passes on every fixation of everybody.
    fn simulate(&self, mut rng: ChaCha20Rng, mut each: impl FnMut(&Viewed<'_>)) {
        let stimuli: Vec<Vec<(f64, f64)>> = (0..self.stimuli).map(|_| places(&mut rng)).collect();
        for person in 0..self.participants {
            // Groups alternate, so that both have the same size, or nearly.
            let group = (person % 2) as usize;
            let number = (person / 2 + 1) as usize;
            let group_size = (self.participants as usize).div_ceil(2);
            let participant = numbered(GROUPS[group], number, group_size);
            let weights = weights(&mut rng, group);
            for (number, places) in stimuli.iter().enumerate() {
                let stimulus = numbered("scene-", number + 1, stimuli.len());
                let each = |x, y, duration_ms| {
                    each(&Viewed {
                        participant: &participant,
                        stimulus: &stimulus,
                        x,
                        y,
                        duration_ms,
                    });
                };
                view(self.seconds, &mut rng, places, &weights, each);
            }
        }
    }
}

/// One participant looks at one stimulus: x, y and duration of each fixation.
fn view(
    seconds: f64,
    rng: &mut ChaCha20Rng,
    places: &[(f64, f64)],
    weights: &[f64],
    mut each: impl FnMut(f64, f64, f64),
) {
    let mut left_ms = seconds * 1000.0;
    let mut last = None;
    while left_ms > 0.0 {
        let (centre, spread) = match last {
            None => ((0.5, 0.5), 0.08),
            Some(_) if rng.random::<f64>() < WANDERING => ((0.5, 0.5), 0.3),
            Some(last) => {
                let next = draw(rng, weights, last);
                (places[next], 0.035)
            }
        };
        last = Some(nearest(places, centre));
        let inside = |fraction: f64| fraction.clamp(0.001, 0.999);
        let duration_ms = dwell(rng).min(left_ms);
        let x = SCREEN.0 * inside(centre.0 + spread * bell(rng));
        let y = SCREEN.1 * inside(centre.1 + spread * bell(rng));
        each(x, y, duration_ms);
        // A saccade also takes time.
        left_ms -= duration_ms + 40.0;
    }
}

fn places(rng: &mut ChaCha20Rng) -> Vec<(f64, f64)> {
    let mut coordinate = || 0.08 + 0.84 * rng.random::<f64>();
    (0..PLACES).map(|_| (coordinate(), coordinate())).collect()
}

/// How much a person likes each place: the group's order, and a personal preference.
fn weights(rng: &mut ChaCha20Rng, group: usize) -> Vec<f64> {
    let preferences = [8.0, 5.0, 3.0, 2.0, 1.0, 1.0];
    let mut weights: Vec<f64> = preferences
        .into_iter()
        .map(|weight| weight * (0.5 + rng.random::<f64>()))
        .collect();
    if group == 1 {
        weights.reverse();
    }
    weights
}

/// The next place; the one just seen has a quarter of its weight.
fn draw(rng: &mut ChaCha20Rng, weights: &[f64], last: usize) -> usize {
    let weight = |index: usize| weights[index] * if index == last { 0.25 } else { 1.0 };
    let total: f64 = (0..weights.len()).map(weight).sum();
    let mut point = rng.random::<f64>() * total;
    for index in 0..weights.len() {
        point -= weight(index);
        if point < 0.0 {
            return index;
        }
    }
    weights.len() - 1
}

fn nearest(places: &[(f64, f64)], to: (f64, f64)) -> usize {
    let squared_distance = |place: &(f64, f64)| {
        let (dx, dy) = (place.0 - to.0, place.1 - to.1);
        dx * dx + dy * dy
    };
    (0..places.len())
        .min_by(|&i, &j| squared_distance(&places[i]).total_cmp(&squared_distance(&places[j])))
        .unwrap_or_default()
}

/// Nearly normal, with variance 1: the sum of twelve uniform numbers.
fn bell(rng: &mut ChaCha20Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// A fixation's duration in milliseconds: at least 100, 260 on average, with a long tail.
fn dwell(rng: &mut ChaCha20Rng) -> f64 {
    let (x, y) = (bell(rng), bell(rng));
    100.0 + 80.0 * (x * x + y * y)
}
