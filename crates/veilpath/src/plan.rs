//! From cohort files and options to a plan that can be run.

use crate::cohort::{contradict, in_alphabet, letters, settle, understood};
use crate::{Error, Event, EventSink, MetricOptions, Note};
use std::path::Path;
use veilpath_encode::RawCohort;
use veilpath_metrics::{Cohort, Metric, Notation};
use veilpath_paillier::{KeySize, SecretKey};
use veilpath_protocol::{Engine, MAX_PAIRS, PairRule, Reveal, RevealTo, Role, Spec, count_pairs};
use veilpath_session::{AlphabetInfo, HostKey};

/// What to compute and what to reveal.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// How it is computed.
    pub engine: Engine,
    /// What is computed.
    pub metric: MetricOptions,
    /// How the letters are written, where the files do not say.
    pub notation: Option<Notation>,
    /// Which scanpath is compared with which.
    pub pairs: PairRule,
    /// What comes out for each pair.
    pub reveal: Reveal,
    /// Who gets it.
    pub reveal_to: RevealTo,
    /// How long every scanpath looks to the other side; `None` where it sees the lengths.
    pub pad_to: Option<u32>,
}

/// Two cohorts in one alphabet, and the plan for comparing them.
#[derive(Clone, Debug)]
pub struct PlannedComparison {
    /// The first cohort.
    pub a: Cohort,
    /// The second cohort.
    pub b: Cohort,
    /// What both sides of a session would agree on.
    pub spec: Spec,
}

impl PlanOptions {
    /// The defaults of this metric with this engine.
    pub fn new(engine: Engine, metric: MetricOptions) -> Self {
        Self {
            engine,
            metric,
            notation: None,
            pairs: PairRule::SameStimulus,
            reveal: Reveal::Score,
            reveal_to: RevealTo::Both,
            pad_to: None,
        }
    }

    /// Puts the options into a plan, where its engine and metric support them.
    fn spec(&self, metric: Metric, a: &Cohort, b: &Cohort) -> Result<Spec, Error> {
        let mut spec = Spec::new(self.engine, metric, self.pairs, a, b)?;
        spec.reveal = self.reveal;
        spec.reveal_to = self.reveal_to;
        spec.pad_to = self.pad_to;
        spec.check()?;
        Ok(spec)
    }

    /// Whether a cohort can be compared at all.
    fn check(&self, metric: &Metric, cohort: &Cohort, file: &str) -> Result<(), Error> {
        refuse_empty_for_scanmatch(metric, cohort, file)?;
        self.refuse_longer_than_padding(cohort, file)
    }

    fn refuse_longer_than_padding(&self, cohort: &Cohort, file: &str) -> Result<(), Error> {
        let Some(pad_to) = self.pad_to else {
            return Ok(());
        };
        let lengths = cohort.entries.iter().map(|entry| entry.scanpath.len());
        let longer = lengths
            .clone()
            .filter(|&length| length as u64 > u64::from(pad_to))
            .count();
        match (longer, lengths.max()) {
            (1.., Some(longest)) => Err(Error::LongerThanPadding {
                file: file.to_string(),
                longer,
                scanpaths: cohort.entries.len(),
                longest,
                pad_to,
            }),
            _ => Ok(()),
        }
    }
}

/// Understands two cohort files, and plans their comparison.
///
/// What the user should know about the files and the pairs goes to `events`.
pub fn plan(
    files: [&RawCohort; 2],
    options: &PlanOptions,
    events: &dyn EventSink,
) -> Result<PlannedComparison, Error> {
    let notation = options.notation;
    let [own, other] = files.map(|file| letters(file, notation));
    let grid = own.grid.or(other.grid);
    let (alphabet, metric) = settle(&own, &other, grid, &options.metric)?;
    let [a, b] = files.map(|file| in_alphabet(file, alphabet, notation, events));
    let (a, b) = (a?, b?);
    for (cohort, file) in [(&a, files[0]), (&b, files[1])] {
        options.check(&metric, cohort, file.name())?;
    }
    let spec = options.spec(metric, &a, &b)?;
    let count = count_pairs(options.pairs, &a, &b);
    if count.pairs == 0 {
        return Err(Error::NothingToCompare);
    }
    if count.pairs > MAX_PAIRS {
        return Err(Error::TooManyPairs { pairs: count.pairs });
    }
    let note = |note| events.event(Event::Note(note));
    if options.pairs == PairRule::SameStimulus && a.has_stimuli() != b.has_stimuli() {
        let without = files[usize::from(a.has_stimuli())];
        note(Note::NoStimuli {
            file: without.name().to_string(),
        });
    }
    let unpaired = [count.left_out_of_a, count.left_out_of_b];
    for ((cohort, file), unpaired) in [&a, &b].into_iter().zip(files).zip(unpaired) {
        if unpaired > 0 {
            note(Note::Unpaired {
                file: file.name().to_string(),
                unpaired,
                scanpaths: cohort.entries.len(),
            });
        }
    }
    Ok(PlannedComparison { a, b, spec })
}

/// One institution's cohort and options, before it is known how the other's letters are written.
#[derive(Debug)]
pub struct OwnCohort {
    file: RawCohort,
    /// The scanpaths as they are read without the other side.
    cohort: Cohort,
    options: PlanOptions,
    letters: AlphabetInfo,
    /// Whether file and options settle the metric without the other side.
    is_settled: bool,
}

impl OwnCohort {
    /// Finds everything that is wrong with this side's file and options, whatever the other side has.
    pub fn new(file: RawCohort, options: PlanOptions) -> Result<Self, Error> {
        let letters = letters(&file, options.notation);
        let cohort = understood(&file, letters.read_as)?;
        let alone = settle(&letters, &letters, letters.grid, &options.metric);
        // The other side's file may yet name the grid.
        let is_settled =
            letters.grid.is_some() || options.metric.grid.is_some() || !options.metric.needs_grid();
        options.refuse_longer_than_padding(&cohort, file.name())?;
        if is_settled {
            let (_, metric) = alone?;
            refuse_empty_for_scanmatch(&metric, &cohort, file.name())?;
            options.spec(metric, &cohort, &cohort)?;
        }
        Ok(Self {
            file,
            cohort,
            options,
            letters,
            is_settled,
        })
    }

    /// What the other side has to know about the letters.
    pub fn letters(&self) -> &AlphabetInfo {
        &self.letters
    }

    /// The scanpaths as they are read without the other side.
    pub fn cohort(&self) -> &Cohort {
        &self.cohort
    }

    /// The cohort in the letters of both sides, and the plan: what [`plan()`] would make of the two files.
    pub fn settle(
        &self,
        theirs: &AlphabetInfo,
        role: Role,
        events: &dyn EventSink,
    ) -> Result<(Cohort, Spec), Error> {
        // Where the two files contradict each other there is nothing in common to settle on. Each side then plans as if
        // alone: the two plans differ in these very settings, and comparing the plans names them with both values.
        let theirs = if self.is_settled && contradict(&self.letters, theirs) {
            &self.letters
        } else {
            theirs
        };
        let grid = match role {
            Role::Host => self.letters.grid.or(theirs.grid),
            Role::Join => theirs.grid.or(self.letters.grid),
        };
        let (alphabet, metric) = settle(&self.letters, theirs, grid, &self.options.metric)?;
        let named = self.letters.named.or(theirs.named);
        let notation = named.map(|alphabet| alphabet.notation());
        let cohort = in_alphabet(&self.file, alphabet, notation, events)?;
        self.options.check(&metric, &cohort, self.file.name())?;
        let spec = self.options.spec(metric, &cohort, &cohort)?;
        Ok((cohort, spec))
    }

    /// Whether a plan that failed is this side's own fault: it would fail with a peer that writes as this side does, too.
    /// Where this side has no grid it needs the peer's, and everything depends on that.
    pub fn fails_alone(&self, role: Role) -> bool {
        self.is_settled && self.settle(&self.letters, role, &()).is_err()
    }
}

/// The host's Paillier key from a file, and its size, which is then the engine's.
pub fn load_host_key(path: &Path) -> Result<(HostKey, KeySize), Error> {
    let key = SecretKey::load(path).map_err(|error| Error::KeyFile {
        path: path.to_path_buf(),
        error,
    })?;
    let size = key.public_key().size();
    Ok((key.into(), size))
}

/// ScanMatch divides by the length of the longer scanpath.
fn refuse_empty_for_scanmatch(metric: &Metric, cohort: &Cohort, file: &str) -> Result<(), Error> {
    if !matches!(metric, Metric::ScanMatch { .. }) {
        return Ok(());
    }
    let numbered = cohort.entries.iter().zip(1..);
    let empty: Vec<usize> = numbered
        .filter(|(entry, _)| entry.scanpath.is_empty())
        .map(|(_, number)| number)
        .collect();
    if empty.is_empty() {
        return Ok(());
    }
    Err(Error::EmptyScanpaths {
        file: file.to_string(),
        empty,
        scanpaths: cohort.entries.len(),
    })
}
