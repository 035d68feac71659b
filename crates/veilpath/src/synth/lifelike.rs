//! Simulates participants of several groups who look at shared stimuli.
//!
//! Every stimulus has a few places that attract the eye. Groups weight the places differently (one prefers the first,
//! another the last). So people in one group are more similar than people in different groups, which gives comparisons
//! something to find. How much groups differ is configurable. A viewer starts near the centre and moves to a place
//! drawn by the weights of the group and of the viewer. A place just seen is less likely to be seen again. The gaze
//! lands around that place, sometimes anywhere, and stays for a time with a long-tailed distribution.
//!
//! Only additions and multiplications are used, so a seed gives the same cohort on every machine.

use super::{SynthError, SyntheticCohort, generator, padded_id};
use crate::Error;
use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use veilpath_encode::{
    Collector, Fixation, Kind, LetterMap, LetterOptions, Recording, Sink, Space, cohort_file,
    is_group_name,
};
use veilpath_metrics::Grid;

/// The size of a stimulus in pixels.
const SCREEN: (f64, f64) = (1280.0, 720.0);

/// The number of places per stimulus that attract the eye.
const PLACES: usize = 6;

/// The probability of looking at a random position.
const WANDERING: f64 = 0.06;

/// The longest viewing time.
const MAX_SECONDS: f64 = 86_400.0;

/// The longest viewing time of all participants together: about ten million fixations. A viewing time below a second
/// counts as one second, because every scanpath takes up space.
const MAX_HOURS: f64 = 1_000.0;

/// The prefixes of participant ids by group, for groups without names.
const PREFIXES: [&str; 2] = ["novice-", "expert-"];

/// The most groups. Each has its own order of places.
pub const MAX_GROUPS: usize = PLACES;

/// What to generate.
#[derive(Clone, Debug, PartialEq)]
pub struct LifelikeOptions {
    /// The people who look at the stimuli.
    pub viewers: Viewers,
    /// How much the groups differ, from 0 (not at all) to 1 (entirely different favourite places).
    pub difference: f64,
    /// The number of stimuli that everybody looks at.
    pub stimuli: u32,
    /// How long everybody looks at a stimulus, in seconds.
    pub seconds: f64,
    /// Whether the cohort keeps the fixations as well as the letters.
    pub keep_fixations: bool,
    /// The seed; `None` picks a new one.
    pub seed: Option<u64>,
}

/// The viewers and their groups.
#[derive(Clone, Debug, PartialEq)]
pub enum Viewers {
    /// This many people, half of them novices and half of them experts. The ids tell which; the cohort has no groups.
    NovicesAndExperts(u32),
    /// Groups with names and sizes. The cohort contains them; the ids do not tell them apart.
    Groups(Vec<(String, u32)>),
}

impl Viewers {
    fn count(&self) -> u64 {
        match self {
            Viewers::NovicesAndExperts(count) => u64::from(*count),
            Viewers::Groups(groups) => groups.iter().map(|(_, size)| u64::from(*size)).sum(),
        }
    }

    /// All participants, as id and group index. Groups alternate.
    fn people(&self) -> Vec<(String, usize)> {
        let sizes: Vec<u32> = match self {
            Viewers::NovicesAndExperts(count) => vec![count.div_ceil(2), count / 2],
            Viewers::Groups(groups) => groups.iter().map(|(_, size)| *size).collect(),
        };
        let total = usize::try_from(self.count()).unwrap_or(usize::MAX);
        let mut people = Vec::new();
        for round in 0..sizes.iter().copied().max().unwrap_or(0) {
            let present = sizes.iter().enumerate().filter(|(_, size)| round < **size);
            for (group, _) in present {
                let id = match self {
                    Viewers::NovicesAndExperts(count) => {
                        let group_size = (*count as usize).div_ceil(2);
                        padded_id(PREFIXES[group], round as usize + 1, group_size)
                    }
                    Viewers::Groups(_) => padded_id("p", people.len() + 1, total),
                };
                people.push((id, group));
            }
        }
        people
    }

    /// The name of a group in the cohort.
    fn group(&self, group: usize) -> Option<&str> {
        match self {
            Viewers::NovicesAndExperts(_) => None,
            Viewers::Groups(groups) => groups.get(group).map(|(name, _)| name.as_str()),
        }
    }
}

/// Twelve people who look at four stimuli for six seconds each.
impl Default for LifelikeOptions {
    fn default() -> Self {
        Self {
            viewers: Viewers::NovicesAndExperts(12),
            difference: 1.0,
            stimuli: 4,
            seconds: 6.0,
            keep_fixations: false,
            seed: None,
        }
    }
}

/// A table of synthetic fixations in pixels, as an eye tracker's software might export it.
#[derive(Clone, Debug)]
pub struct FixationTable {
    options: LifelikeOptions,
    /// The seed that reproduces the same table.
    pub seed: u64,
}

/// One fixation of a participant.
struct ViewedFixation<'a> {
    participant: &'a str,
    group: Option<&'a str>,
    stimulus: &'a str,
    x: f64,
    y: f64,
    duration_ms: f64,
}

/// Generates scanpaths on a grid. The same code as for real fixations encodes them.
pub fn lifelike(options: &LifelikeOptions, grid: Grid) -> Result<SyntheticCohort, Error> {
    options.check()?;
    let encoding = LetterOptions {
        letter_map: LetterMap::Grid(grid),
        keep_fixations: options.keep_fixations,
        ..LetterOptions::default()
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
    let (mut cohort, _) = collector.finish()?;
    let people = options.viewers.people();
    let people = people.iter().map(|(id, group)| (id.as_str(), *group));
    let groups: HashMap<&str, usize> = people.collect();
    for entry in &mut cohort.entries {
        let group = groups.get(entry.participant.as_str());
        let name = group.and_then(|&group| options.viewers.group(group));
        entry.group = name.map(str::to_string);
    }
    let note = match &options.viewers {
        Viewers::NovicesAndExperts(_) if options.difference == 1.0 => {
            format!("lifelike viewers of two groups, seed {seed}")
        }
        _ => format!(
            "lifelike viewers, groups differ by {}, seed {seed}",
            options.difference
        ),
    };
    Ok(SyntheticCohort { cohort, seed, note })
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
        let group_column = match &self.options.viewers {
            Viewers::NovicesAndExperts(_) => "",
            Viewers::Groups(_) => "group,",
        };
        writeln!(out, "participant,{group_column}stimulus,x,y,duration")?;
        let mut written = Ok(());
        let (rng, _) = generator(Some(self.seed));
        self.options.simulate(rng, |viewed| {
            if written.is_ok() {
                let group = viewed
                    .group
                    .map(|name| format!("{},", cohort_file::field(name)));
                written = writeln!(
                    out,
                    "{},{}{},{:.1},{:.1},{:.0}",
                    viewed.participant,
                    group.unwrap_or_default(),
                    viewed.stimulus,
                    viewed.x,
                    viewed.y,
                    viewed.duration_ms
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
        if !(0.0..=1.0).contains(&self.difference) {
            return Err(SynthError::Difference {
                difference: self.difference,
            });
        }
        if let Viewers::Groups(groups) = &self.viewers {
            let names: BTreeSet<&str> = groups.iter().map(|(name, _)| name.as_str()).collect();
            let is_named = names.iter().all(|name| is_group_name(name));
            let number = groups.len();
            if !is_named || names.len() != number || !(1..=MAX_GROUPS).contains(&number) {
                return Err(SynthError::Groups { max: MAX_GROUPS });
            }
        }
        #[allow(clippy::cast_precision_loss)] // far below 2⁵³
        let views = self.viewers.count() as f64 * f64::from(self.stimuli);
        let hours = views * seconds.max(1.0) / 3600.0;
        if hours > MAX_HOURS {
            return Err(SynthError::TooLong {
                hours,
                max_hours: MAX_HOURS,
            });
        }
        Ok(())
    }

    /// Calls `each` with every fixation of every participant.
    fn simulate(&self, mut rng: ChaCha20Rng, mut each: impl FnMut(&ViewedFixation<'_>)) {
        let stimuli: Vec<Vec<(f64, f64)>> = (0..self.stimuli).map(|_| places(&mut rng)).collect();
        for (participant, group) in self.viewers.people() {
            let weights = weights(&mut rng, group, self.difference);
            for (number, places) in stimuli.iter().enumerate() {
                let stimulus = padded_id("scene-", number + 1, stimuli.len());
                let each = |x, y, duration_ms| {
                    each(&ViewedFixation {
                        participant: &participant,
                        group: self.viewers.group(group),
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

/// Simulates one participant looking at one stimulus. Calls `each` with x, y and duration of each fixation.
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
        let x = SCREEN.0 * inside(centre.0 + spread * nearly_normal(rng));
        let y = SCREEN.1 * inside(centre.1 + spread * nearly_normal(rng));
        each(x, y, duration_ms);
        // A saccade also takes time.
        left_ms -= duration_ms + 40.0;
    }
}

fn places(rng: &mut ChaCha20Rng) -> Vec<(f64, f64)> {
    let mut coordinate = || 0.08 + 0.84 * rng.random::<f64>();
    (0..PLACES).map(|_| (coordinate(), coordinate())).collect()
}

/// A person's weight for each place: the group's order, to the extent that groups differ, and a personal preference.
fn weights(rng: &mut ChaCha20Rng, group: usize, difference: f64) -> Vec<f64> {
    let common = [8.0, 5.0, 3.0, 2.0, 1.0, 1.0];
    let mut own = common.map(|weight| (weight, 0.5 + rng.random::<f64>()));
    // No two groups have the same order.
    match group {
        0 => {}
        1 => own.reverse(),
        more => own.rotate_right(more),
    }
    let both = common.into_iter().zip(own);
    both.map(|(common, (own, personal))| (common + difference * (own - common)) * personal)
        .collect()
}

/// Draws the next place. The one just seen has a quarter of its weight.
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
fn nearly_normal(rng: &mut ChaCha20Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// A fixation's duration in milliseconds: at least 100, 260 on average, with a long tail.
fn dwell(rng: &mut ChaCha20Rng) -> f64 {
    let (x, y) = (nearly_normal(rng), nearly_normal(rng));
    100.0 + 80.0 * (x * x + y * y)
}
