//! Turns cohort files and options into a plan that can be run.

use crate::cohort::{
    alphabet_info, check_result_file_limits, decode_with_notes, resolve, rounded,
    suspect_letter_count,
};
use crate::unpaired::unpaired;
use crate::{Error, Event, EventSink, MetricOptions, Note, ScanpathName};
use std::collections::HashSet;
use std::path::Path;
use veilpath_encode::RawCohort;
use veilpath_metrics::{Cohort, DEFAULT_PRECISION, Entry, Metric, Notation};
use veilpath_paillier::{KeySize, SecretKey};
use veilpath_protocol::{
    Engine, EngineChoice, GroupQuestion, GroupWorkload, JobError, JobSize, Link, MAX_PAIRS,
    PairCount, PairRule, ProtocolError, Reveal, RevealTo, SideSize, Spec, Tile, Workload,
    count_pairs,
};
use veilpath_session::{EngineReason, EngineSummary, HostKey, SessionError, UsageError};

/// What to compute and what to reveal.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// The engine.
    pub engine: EngineChoice,
    /// The metric.
    pub metric: MetricOptions,
    /// The notation of the letters, if the files do not declare it.
    pub notation: Option<Notation>,
    /// The number of different letters, for a file that does not declare it.
    pub letters: Option<u32>,
    /// Which scanpaths to compare with each other.
    pub pairs: PairRule,
    /// What to reveal about each pair, or about groups.
    pub reveal: Reveal,
    /// Who gets the results.
    pub reveal_to: RevealTo,
    /// The length that every scanpath appears to have to the other side; `None` shows the real lengths.
    pub pad_to: Option<u32>,
    /// The tile to compute; `None` for the whole plan.
    pub tile: Option<Tile>,
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
    /// How the engine was chosen, if the options left it open.
    pub chosen: Option<EngineSummary>,
    /// The tile to compute; `None` for the whole plan.
    pub tile: Option<Tile>,
}

impl PlanOptions {
    /// The defaults for this engine and metric.
    pub fn new(engine: impl Into<EngineChoice>, metric: MetricOptions) -> Self {
        Self {
            engine: engine.into(),
            metric,
            notation: None,
            letters: None,
            pairs: PairRule::SameStimulus,
            reveal: Reveal::Score,
            reveal_to: RevealTo::Both,
            pad_to: None,
            tile: None,
        }
    }

    /// Rejects a tile of a plan that cannot be split.
    pub(crate) fn check_tile(&self) -> Result<(), Error> {
        match self.tile {
            None => Ok(()),
            Some(_) => self.check_splittable(),
        }
    }

    /// Rejects a plan that cannot be split into tiles.
    pub(crate) fn check_splittable(&self) -> Result<(), Error> {
        if self.reveal.group_question().is_some() {
            return Err(ProtocolError::from(JobError::TileOfGroupAnswer).into());
        }
        match self.engine {
            EngineChoice::Auto => Err(SessionError::from(UsageError::TileWithoutEngine).into()),
            EngineChoice::Fixed(_) => Ok(()),
        }
    }

    /// The plan, if its engine and metric support these options. It fixes the integers that a private engine computes
    /// with.
    pub(crate) fn spec(&self, metric: Metric, a: &Cohort, b: &Cohort) -> Result<Spec, Error> {
        let engine = self.engine.representative();
        let metric = match (engine, self.reveal) {
            (Engine::Plain, Reveal::Score | Reveal::Threshold(_))
                if metric.quantisation().is_none() =>
            {
                metric
            }
            // Group answers and rounded fixations use the same integers in the clear as in private, so that the results
            // are equal.
            _ => metric.with_automatic_scale(DEFAULT_PRECISION)?,
        };
        let mut spec = Spec::new(engine, metric, self.pairs, a, b)?;
        spec.reveal = self.reveal;
        spec.reveal_to = self.reveal_to;
        spec.pad_to = self.pad_to;
        spec.check()?;
        Ok(spec)
    }

    /// Checks that a cohort can be compared with these options.
    pub(crate) fn check(&self, metric: &Metric, cohort: &Cohort, file: &str) -> Result<(), Error> {
        check_result_file_limits(cohort, file)?;
        check_metric_defined(metric, cohort, file)?;
        self.check_padding(cohort, file)
    }

    /// Reports effects of the metric and threshold that the user may not expect.
    pub(crate) fn note_unexpected_effects(
        &self,
        metric: &Metric,
        cohorts: &[(&Cohort, &str)],
        events: &dyn EventSink,
    ) {
        let note = |note| events.event(Event::Note(note));
        for (cohort, file) in cohorts {
            let entries = cohort.entries.iter();
            let empty = entries.filter(|entry| entry.scanpath.is_empty()).count();
            if empty > 0 {
                note(Note::EmptyScanpaths {
                    file: (*file).to_string(),
                    empty,
                    scanpaths: cohort.entries.len(),
                });
            }
        }
        if let (Metric::Levenshtein, Reveal::Threshold(threshold)) = (metric, self.reveal)
            && threshold.value() > 0.0
            && threshold.value() < 1.0
        {
            note(Note::EqualityThreshold { threshold });
        }
        if let Some(GroupQuestion::TestSites { .. }) = self.reveal.group_question() {
            note(Note::SitesExchangeable);
        }
    }

    /// Rejects cohorts for which a question about groups has no answer.
    fn check_answerable(&self, cohorts: [(&Cohort, &str); 2]) -> Result<(), Error> {
        let Some(question) = self.reveal.group_question() else {
            return Ok(());
        };
        let needed = question.sides_with_groups();
        for ((cohort, file), is_needed) in cohorts.into_iter().zip(needed) {
            if let Some(number) = without_group(cohort).filter(|_| is_needed) {
                let file = file.to_string();
                return Err(Error::NoGroups { file, number });
            }
        }
        let [(first, _), (second, file)] = cohorts;
        match first.entries == second.entries {
            true => Err(Error::SameCohort {
                file: file.to_string(),
            }),
            false => Ok(()),
        }
    }

    pub(crate) fn check_padding(&self, cohort: &Cohort, file: &str) -> Result<(), Error> {
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

/// Decodes two cohort files and plans their comparison. If the engine is left open, one is chosen for two sides on this
/// machine.
///
/// Notes about the files and the pairs go to `events`.
pub fn plan(
    files: [&RawCohort; 2],
    options: &PlanOptions,
    events: &dyn EventSink,
) -> Result<PlannedComparison, Error> {
    options.check_tile()?;
    let notation = options.notation;
    let [first, second] = files.map(|file| alphabet_info(file, options));
    let (first, second) = (first?, second?);
    let grid = first.grid.or(second.grid);
    let screen = files[0].screen().or(files[1].screen());
    let (alphabet, metric) = resolve(&first, &second, (grid, screen), &options.metric)?;
    let grid = grid.or(options.metric.grid);
    let notes_of = |file: &RawCohort| {
        (
            file.name().to_string(),
            file.notes(alphabet, notation, grid),
        )
    };
    // A file that is compared with itself has its notes once.
    let is_repeated = [false, notes_of(files[0]) == notes_of(files[1])];
    let [a, b] = [0, 1].map(|side| {
        let file = files[side];
        let noted = if is_repeated[side] { &() } else { events };
        let decoded = decode_with_notes(file, (alphabet, grid), notation, noted);
        let decoded = decoded.map_err(|error| suspect_letter_count(error, options))?;
        rounded(decoded, &metric, file.name(), events)
    });
    let (a, b) = (a?, b?);
    let cohorts = [(&a, files[0].name()), (&b, files[1].name())];
    for (cohort, file) in cohorts {
        options.check(&metric, cohort, file)?;
    }
    options.check_answerable(cohorts)?;
    let mut spec = options.spec(metric, &a, &b)?;
    let count = count_pairs(options.pairs, &a, &b);
    if count.pairs == 0 {
        let files = files.map(|file| file.name().to_string());
        return Err(Error::NothingToCompare {
            files,
            stimuli: [&a, &b].map(stimuli_of),
        });
    }
    // Each scanpath has the same stimulus as itself.
    let is_alone = a.entries.len() > 1 && count.pairs == a.entries.len() as u64;
    if options.pairs == PairRule::SameStimulus && is_alone && a.entries == b.entries {
        return Err(Error::NothingToCompareWithin {
            file: files[0].name().to_string(),
        });
    }
    if count.pairs > MAX_PAIRS && options.tile.is_none() {
        return Err(Error::TooManyPairs { pairs: count.pairs });
    }
    options.note_unexpected_effects(&spec.metric, &cohorts, events);
    let note = |note| events.event(Event::Note(note));
    if options.pairs == PairRule::SameStimulus && a.has_stimuli() != b.has_stimuli() {
        let without = files[usize::from(a.has_stimuli())];
        note(Note::NoStimuli {
            file: without.name().to_string(),
        });
    }
    let scanpaths = in_both(&a, &b);
    if scanpaths > 0 && a.entries != b.entries {
        note(Note::InBothCohorts { scanpaths });
    }
    if count.left_out_of_a > 0 {
        unpaired(&a, &b, files[0].name()).into_iter().for_each(note);
    }
    if count.left_out_of_b > 0 {
        unpaired(&b, &a, files[1].name()).into_iter().for_each(note);
    }
    let open = options.engine == EngineChoice::Auto;
    let chosen = open.then(|| choose_engine(&spec, &a, &b));
    if let Some(chosen) = &chosen {
        spec.engine = chosen.engine;
    }
    Ok(PlannedComparison {
        a,
        b,
        spec,
        chosen,
        tile: options.tile,
    })
}

/// Chooses one of the proven engines for two sides on this machine.
fn choose_engine(spec: &Spec, a: &Cohort, b: &Cohort) -> EngineSummary {
    let work = work(spec, a, b);
    let estimates = spec.proven_estimates(&work, &Link::local());
    let [host, join] = [a, b].map(|cohort| {
        let lengths = cohort.entries.iter().map(|entry| entry.scanpath.len());
        SideSize::of(lengths.map(|length| spec.pad_to.map_or(length as u64, u64::from)))
    });
    let size = JobSize {
        pairs: work.pairs,
        host,
        join,
    };
    let (engine, reason) = match spec.check_shares(&size) {
        Ok(()) => (estimates.preferred(), EngineReason::Estimated),
        Err(error) => {
            let reason = EngineReason::SharesImpossible(error.into());
            (Engine::Garbled, reason)
        }
    };
    EngineSummary {
        engine,
        reason,
        tree_levels: (engine == Engine::Shares).then_some(estimates.tree_levels),
        estimates: Some(estimates),
    }
}

/// The size of a comparison on this machine.
pub(crate) fn work(spec: &Spec, a: &Cohort, b: &Cohort) -> Workload {
    let count = count_pairs(spec.pair_rule, a, b);
    fn lengths(cohort: &Cohort) -> impl Iterator<Item = u64> {
        let entries = cohort.entries.iter();
        entries.map(|entry| entry.scanpath.len() as u64)
    }
    Workload {
        pairs: count.pairs,
        cells: spec.cells(&count),
        newly_paired: count.newly_paired,
        host_scanpaths: a.entries.len() as u64,
        join_scanpaths: b.entries.len() as u64,
        host_letters: lengths(a).sum(),
        join_letters: lengths(b).sum(),
        host_longest: lengths(a).max().unwrap_or(0),
        join_longest: lengths(b).max().unwrap_or(0),
        alphabet: a.alphabet.size().into(),
        padded: spec.pad_to.is_some(),
        reveal: spec.reveal,
        group: spec
            .reveal
            .group_question()
            .map(|_| group_work(&count, a, b)),
    }
}

/// The size of a group question on this machine.
fn group_work(count: &PairCount, a: &Cohort, b: &Cohort) -> GroupWorkload {
    let distinct = |cohort: &Cohort, name: fn(&Entry) -> Option<&String>| {
        let names: HashSet<&String> = cohort.entries.iter().filter_map(name).collect();
        names.len() as u64
    };
    let groups = |cohort| distinct(cohort, |entry| entry.group.as_ref());
    let participants = |cohort| distinct(cohort, |entry| Some(&entry.participant));
    GroupWorkload {
        participants: [participants(a), participants(b)],
        groups: groups(a) + groups(b),
        pairs: count.pairs,
        queries: (a.entries.len() - count.left_out_of_a) as u64,
    }
}

/// The number of the first scanpath without a group, from 1, if there is one.
pub(crate) fn without_group(cohort: &Cohort) -> Option<usize> {
    let mut entries = cohort.entries.iter();
    let first = entries.position(|entry| entry.group.is_none());
    first.map(|index| index + 1)
}

/// The number of scanpaths of the first cohort that the second has too.
fn in_both(a: &Cohort, b: &Cohort) -> usize {
    fn key(entry: &Entry) -> (&str, Option<&str>, &[u16]) {
        let stimulus = entry.stimulus.as_deref();
        (&entry.participant, stimulus, entry.scanpath.letters())
    }
    let known: HashSet<_> = b.entries.iter().map(key).collect();
    let entries = a.entries.iter();
    entries.filter(|entry| known.contains(&key(entry))).count()
}

/// A cohort's stimuli, in the order of the file.
fn stimuli_of(cohort: &Cohort) -> Vec<String> {
    let mut known = HashSet::new();
    let entries = cohort.entries.iter();
    let stimuli = entries.filter_map(|entry| entry.stimulus.as_ref());
    stimuli.filter(|it| known.insert(*it)).cloned().collect()
}

/// Reads the host's Paillier key from a file. Returns the key and its size, which goes into the engine's options.
pub fn load_host_key(path: &Path) -> Result<(HostKey, KeySize), Error> {
    let key = SecretKey::load(path).map_err(|error| Error::KeyFile {
        path: path.to_path_buf(),
        error,
    })?;
    let size = key.public_key().size();
    Ok((key.into(), size))
}

/// Rejects cohorts for which the metric is not defined: empty scanpaths, because most metrics divide by a length or
/// compare points, and letters without the fixations that the metric compares.
pub(crate) fn check_metric_defined(
    metric: &Metric,
    cohort: &Cohort,
    file: &str,
) -> Result<(), Error> {
    let lacks_fixations = |entry: &Entry| entry.fixations.is_none();
    if metric.needs_fixations()
        && (cohort.screen.is_none() || cohort.entries.iter().any(lacks_fixations))
    {
        return Err(Error::NoFixations {
            file: file.to_string(),
            metric: metric.name(),
        });
    }
    let allows_empty = match metric {
        Metric::ScanMatch { .. } => false,
        Metric::ScaSim(_) | Metric::MultiMatch(_) | Metric::SubsMatch(_) => true,
        metric => metric.is_alignment(),
    };
    if allows_empty {
        return Ok(());
    }
    let is_empty = |entry: &Entry| match metric.needs_fixations() {
        true => entry
            .fixations
            .as_ref()
            .is_none_or(|fixations| fixations.is_empty()),
        false => entry.scanpath.is_empty(),
    };
    let empty = cohort.entries.iter().filter(|entry| is_empty(entry));
    let empty: Vec<ScanpathName> = empty.map(ScanpathName::of).collect();
    if empty.is_empty() {
        return Ok(());
    }
    Err(Error::EmptyScanpaths {
        file: file.to_string(),
        metric: metric.name(),
        empty,
        scanpaths: cohort.entries.len(),
    })
}
