//! From cohort files and options to a plan that can be run.

use crate::cohort::{
    alphabet_info, declarations_conflict, decode, decode_in, refuse_unwritable, resolve,
};
use crate::{Error, Event, EventSink, MetricOptions, MetricOptionsError, Note};
use std::path::Path;
use veilpath_encode::RawCohort;
use veilpath_metrics::{Alphabet, Cohort, DEFAULT_PRECISION, Metric, Notation};
use veilpath_paillier::{KeySize, SecretKey};
use veilpath_protocol::{
    DefaultLimit, Engine, MAX_PAIRS, PairRule, Reveal, RevealTo, Role, Spec, count_pairs,
};
use veilpath_session::{AlphabetInfo, HostKey};

/// What to compute and what to reveal.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// How to compute it.
    pub engine: Engine,
    /// What to compute.
    pub metric: MetricOptions,
    /// The notation of the letters, if the files do not declare it.
    pub notation: Option<Notation>,
    /// How many different letters there are, for a file that does not declare it.
    pub letters: Option<u32>,
    /// Which scanpaths are compared with each other.
    pub pairs: PairRule,
    /// What is revealed about each pair.
    pub reveal: Reveal,
    /// Who gets the results.
    pub reveal_to: RevealTo,
    /// The length that every scanpath appears to have to the other side; `None` if it sees the real lengths.
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
            letters: None,
            pairs: PairRule::SameStimulus,
            reveal: Reveal::Score,
            reveal_to: RevealTo::Both,
            pad_to: None,
        }
    }

    /// The plan, if its engine and metric support these options. It says which integers a private engine computes with.
    fn spec(&self, metric: Metric, a: &Cohort, b: &Cohort) -> Result<Spec, Error> {
        let metric = match self.engine {
            Engine::Plain => metric,
            _ => metric.with_automatic_scale(DEFAULT_PRECISION)?,
        };
        let mut spec = Spec::new(self.engine, metric, self.pairs, a, b)?;
        spec.reveal = self.reveal;
        spec.reveal_to = self.reveal_to;
        spec.pad_to = self.pad_to;
        spec.check()?;
        Ok(spec)
    }

    /// Checks that a cohort can be compared with these options.
    fn check(&self, metric: &Metric, cohort: &Cohort, file: &str) -> Result<(), Error> {
        refuse_unwritable(cohort, file)?;
        refuse_empty_for_scanmatch(metric, cohort, file)?;
        self.refuse_longer_than_padding(cohort, file)
    }

    /// Notes that the metric and the threshold are asked for something that the user may not expect.
    fn note_surprises(&self, metric: &Metric, cohorts: &[(&Cohort, &str)], events: &dyn EventSink) {
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

/// Decodes two cohort files, and plans their comparison.
///
/// Notes about the files and the pairs go to `events`.
pub fn plan(
    files: [&RawCohort; 2],
    options: &PlanOptions,
    events: &dyn EventSink,
) -> Result<PlannedComparison, Error> {
    let notation = options.notation;
    let [own, other] = files.map(|file| alphabet_info(file, notation));
    let grid = own.grid.or(other.grid);
    let (alphabet, metric) = resolve(&own, &other, grid, &options.metric)?;
    let [a, b] = files.map(|file| decode_in(file, alphabet, notation, events));
    let (a, b) = (a?, b?);
    let cohorts = [(&a, files[0].name()), (&b, files[1].name())];
    for (cohort, file) in cohorts {
        options.check(&metric, cohort, file)?;
    }
    let spec = options.spec(metric, &a, &b)?;
    let count = count_pairs(options.pairs, &a, &b);
    if count.pairs == 0 {
        let files = files.map(|file| file.name().to_string());
        return Err(Error::NothingToCompare {
            files,
            stimuli: [&a, &b].map(some_stimuli),
        });
    }
    if count.pairs > MAX_PAIRS {
        return Err(Error::TooManyPairs { pairs: count.pairs });
    }
    options.note_surprises(&spec.metric, &cohorts, events);
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

/// A few of a cohort's stimuli, to recognise how it spells them.
fn some_stimuli(cohort: &Cohort) -> Vec<String> {
    const SHOWN: usize = 3;
    let mut shown: Vec<String> = Vec::new();
    for stimulus in cohort
        .entries
        .iter()
        .filter_map(|entry| entry.stimulus.as_ref())
    {
        if shown.len() < SHOWN && !shown.contains(stimulus) {
            shown.push(stimulus.clone());
        }
    }
    shown
}

/// One institution's cohort and options, before the notation of the other side's letters is known.
#[derive(Clone, Debug)]
pub struct LocalCohort {
    file: RawCohort,
    options: PlanOptions,
    alphabet_info: AlphabetInfo,
    /// The alphabet of this side's file and options, before those of the other side are known.
    own_alphabet: Alphabet,
    /// Whether the metric needs a grid that only the other side may declare.
    needs_peer_grid: bool,
    /// The metric, if it does not depend on the other side's grid.
    own_metric: Option<Metric>,
    lengths: Vec<usize>,
}

impl LocalCohort {
    /// Finds all errors in this side's file and options that do not depend on the other side.
    pub fn new(file: RawCohort, options: PlanOptions) -> Result<Self, Error> {
        let mut info = alphabet_info(&file, options.notation);
        if let (Some(letters), None) = (options.letters, info.declared) {
            let declared = Alphabet::new(info.read_as.notation(), letters);
            info.declared = Some(declared.map_err(MetricOptionsError::Letters)?);
        }
        let has_grid = info.grid.is_some() || options.metric.grid.is_some();
        let needs_peer_grid = options.metric.needs_grid() && !has_grid;
        let (own_alphabet, metric) = if needs_peer_grid {
            (info.declared.unwrap_or(info.read_as), None)
        } else {
            let (alphabet, metric) = resolve(&info, &info, info.grid, &options.metric)?;
            (alphabet, Some(metric))
        };
        let cohort = decode(&file, own_alphabet)?;
        refuse_unwritable(&cohort, file.name())?;
        options.refuse_longer_than_padding(&cohort, file.name())?;
        if let Some(metric) = &metric {
            refuse_empty_for_scanmatch(metric, &cohort, file.name())?;
            options.spec(metric.clone(), &cohort, &cohort)?;
        }
        // What this side's options say about the letters counts as declared.
        if own_alphabet != info.read_as {
            info.declared = Some(own_alphabet);
        }
        let entries = cohort.entries.iter();
        let lengths = entries.map(|entry| entry.scanpath.len()).collect();
        Ok(Self {
            file,
            options,
            alphabet_info: info,
            own_alphabet,
            needs_peer_grid,
            own_metric: metric,
            lengths,
        })
    }

    /// How it is computed.
    pub(crate) fn engine(&self) -> Engine {
        self.options.engine
    }

    /// The metric and the alphabet, as far as this side knows them before it connects.
    pub(crate) fn own_metric(&self) -> Option<(&Metric, Alphabet)> {
        let metric = self.own_metric.as_ref()?;
        Some((metric, self.own_alphabet))
    }

    /// With hidden lengths the default limit is the same for all scanpaths, and does not protect short ones.
    pub(crate) fn refuse_short_for_padding(&self) -> Result<(), Error> {
        let Some(pad_to) = self.options.pad_to else {
            return Ok(());
        };
        let protected = DefaultLimit::shortest_protected(pad_to);
        let is_short = |&&length: &&usize| length > 0 && (length as u64) < protected;
        match self.lengths.iter().filter(is_short).count() {
            0 => Ok(()),
            shorter => Err(Error::ShortForPadding {
                file: self.file.name().to_string(),
                shorter,
                scanpaths: self.lengths.len(),
                protected,
                pad_to,
            }),
        }
    }

    /// What the other side has to know about the letters.
    pub(crate) fn alphabet_info(&self) -> &AlphabetInfo {
        &self.alphabet_info
    }

    /// The cohort in the common alphabet of both sides, and the plan: the same as [`plan()`] makes from the two files.
    pub(crate) fn resolve(
        &self,
        theirs: &AlphabetInfo,
        role: Role,
        events: &dyn EventSink,
    ) -> Result<(Cohort, Spec), Error> {
        let ours = &self.alphabet_info;
        // If the two files contradict each other, they have no common alphabet. Each side then plans without the other: the
        // two plans differ in exactly these settings, and comparing the plans names them with both values.
        let theirs = if !self.needs_peer_grid && declarations_conflict(ours, theirs) {
            ours
        } else {
            theirs
        };
        let grid = match role {
            Role::Host => ours.grid.or(theirs.grid),
            Role::Join => theirs.grid.or(ours.grid),
        };
        let (alphabet, metric) = resolve(ours, theirs, grid, &self.options.metric)?;
        self.refuse_fewer_letters(alphabet)?;
        let named = ours.named.or(theirs.named);
        let notation = named.map(|alphabet| alphabet.notation());
        let cohort = decode_in(&self.file, alphabet, notation, events)?;
        self.options.check(&metric, &cohort, self.file.name())?;
        let spec = self.options.spec(metric, &cohort, &cohort)?;
        let own = [(&cohort, self.file.name())];
        self.options.note_surprises(&spec.metric, &own, events);
        Ok((cohort, spec))
    }

    /// Refuses an alphabet in which some scanpath might not be readable, whatever this side's scanpaths are: the other side
    /// chooses its own alphabet, and whether a cohort can be read in it would tell which letters occur.
    fn refuse_fewer_letters(&self, agreed: Alphabet) -> Result<(), Error> {
        let own = self.own_alphabet;
        let same_cells = agreed.notation() == own.notation() && agreed.modulus() == own.modulus();
        // Double letters that turn out to be letters: every one of them is a letter.
        let letters = own == Alphabet::full(Notation::DoubleLetters)
            && agreed == Alphabet::full(Notation::Letters);
        if letters || same_cells && agreed.size() >= own.size() {
            return Ok(());
        }
        Err(Error::OtherAlphabet {
            file: self.file.name().to_string(),
            own,
            agreed,
        })
    }

    /// Whether a failed plan is this side's fault: it would also fail with a peer whose file is like this side's.
    /// If this side needs the peer's grid, everything depends on the peer.
    pub(crate) fn fails_without_peer(&self, role: Role) -> bool {
        !self.needs_peer_grid && self.resolve(&self.alphabet_info, role, &()).is_err()
    }
}

/// Reads the host's Paillier key from a file. Its size is the one to use in the engine's options.
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

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_encode::Input;
    use veilpath_metrics::Grid;

    fn cohort(letters: &str) -> RawCohort {
        let text = format!("participant,scanpath\nP1,{letters}\n");
        let input = Input::from_bytes("c.csv", text.into_bytes()).unwrap();
        crate::read_cohort_from(input).unwrap()
    }

    fn local(letters: &str, count: Option<u32>) -> Result<LocalCohort, Error> {
        let metric = MetricOptions::default();
        let options = PlanOptions {
            letters: count,
            ..PlanOptions::new(Engine::Garbled, metric)
        };
        LocalCohort::new(cohort(letters), options)
    }

    /// Everything that a peer can say about its letters.
    fn announcements() -> Vec<AlphabetInfo> {
        let sizes = (1..=52).filter_map(|size| Alphabet::letters(size).ok());
        let others =
            [Notation::Dna, Notation::Numbers, Notation::DoubleLetters].map(Alphabet::full);
        let alphabets: Vec<Alphabet> = sizes.chain(others).collect();
        let grids = [None, Grid::new(2, 2), Grid::new(7, 7)];
        let mut all = Vec::new();
        for &read_as in &alphabets {
            for declared in [None, Some(read_as)] {
                for named in [None, Some(Alphabet::full(read_as.notation()))] {
                    all.extend(grids.map(|grid| AlphabetInfo {
                        named,
                        declared,
                        read_as,
                        grid,
                    }));
                }
            }
        }
        all
    }

    /// Whether a side declines depends on what it declares and not on the letters that occur.
    #[test]
    fn a_peer_cannot_probe_for_letters() {
        let cohorts = ["A", "ACGT", "Z", "z", "AbCdE"];
        for count in [None, Some(52)] {
            let sides = cohorts.map(|letters| local(letters, count).unwrap());
            for theirs in announcements() {
                for role in [Role::Host, Role::Join] {
                    let declines = sides
                        .each_ref()
                        .map(|side| side.resolve(&theirs, role, &()).is_err());
                    assert_eq!(declines, [declines[0]; 5], "{theirs:?}");
                }
            }
        }
        // A declared number of letters is checked before anybody connects.
        assert!(local("z", Some(26)).is_err());
        let declared = Alphabet::letters(26).unwrap();
        let theirs = AlphabetInfo {
            named: None,
            declared: Some(declared),
            read_as: declared,
            grid: None,
        };
        let resolved = |count| {
            local("ABC", count)
                .unwrap()
                .resolve(&theirs, Role::Host, &())
        };
        assert!(matches!(resolved(None), Err(Error::OtherAlphabet { .. })));
        assert_eq!(resolved(Some(26)).unwrap().0.alphabet, declared);
    }
}
