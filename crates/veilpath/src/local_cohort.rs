//! One side's cohort and options before it connects.

use crate::cohort::{
    alphabet_info, check_result_file_limits, declarations_conflict, decode, decode_with_notes,
    resolve, rounded, suspect_letter_count,
};
use crate::plan::{check_metric_defined, without_group};
use crate::{Error, EventSink, PlanOptions};
use veilpath_encode::RawCohort;
use veilpath_metrics::{Alphabet, Cohort, Metric};
use veilpath_protocol::{DefaultLimit, EngineChoice, Reveal, Role, Spec, Tile};
use veilpath_session::AlphabetInfo;

/// One institution's cohort and options, before the other side's notation is known.
#[derive(Clone, Debug)]
pub struct LocalCohort {
    file: RawCohort,
    options: PlanOptions,
    alphabet_info: AlphabetInfo,
    /// The alphabet from this side's file and options, before the other side's are known.
    own_alphabet: Alphabet,
    /// The alphabet of what is compared: that of rounded fixations if the metric rounds them, otherwise `own_alphabet`.
    compared_alphabet: Alphabet,
    /// The number of letters that this side's file or options declare.
    declared_letters: Option<u32>,
    metric: Metric,
    lengths: Vec<usize>,
    /// The number of the first scanpath without a group.
    without_group: Option<usize>,
}

impl LocalCohort {
    /// Finds all errors in this side's file and options that do not depend on the other side.
    pub fn new(file: RawCohort, options: PlanOptions) -> Result<Self, Error> {
        options.check_tile()?;
        let mut info = alphabet_info(&file, &options)?;
        let file_declares = file.declares_letters(options.notation);
        let grid = options.metric.grid;
        let (own_alphabet, metric) =
            resolve(&info, &info, (info.grid, file.screen()), &options.metric)?;
        let cohort =
            decode(&file, own_alphabet).map_err(|error| suspect_letter_count(error, &options))?;
        let cohort = rounded(cohort, &metric, file.name(), &())?;
        check_result_file_limits(&cohort, file.name())?;
        options.check_padding(&cohort, file.name())?;
        // First, so that nobody encodes files again for a metric that the engine cannot compute.
        options.spec(metric.clone(), &cohort, &cohort)?;
        check_metric_defined(&metric, &cohort, file.name())?;
        // Options that affect the letters count as declarations.
        if own_alphabet != info.read_as {
            info.declared = Some(own_alphabet);
        }
        let is_declared = file_declares || options.letters.is_some() || grid.is_some();
        let entries = cohort.entries.iter();
        let lengths = entries.map(|entry| entry.scanpath.len()).collect();
        let without_group = without_group(&cohort);
        Ok(Self {
            file,
            options,
            alphabet_info: info,
            own_alphabet,
            compared_alphabet: cohort.alphabet,
            declared_letters: is_declared.then(|| own_alphabet.size()),
            metric,
            lengths,
            without_group,
        })
    }

    /// The engine to use.
    pub(crate) fn engine(&self) -> EngineChoice {
        self.options.engine
    }

    /// What to reveal.
    pub(crate) fn reveal(&self) -> Reveal {
        self.options.reveal
    }

    /// The tile to compute, if only one.
    pub(crate) fn tile(&self) -> Option<Tile> {
        self.options.tile
    }

    /// The metric and the alphabet, as far as this side knows them before it connects.
    pub(crate) fn metric_and_compared_alphabet(&self) -> (&Metric, Alphabet) {
        (&self.metric, self.compared_alphabet)
    }

    /// The number of letters that this side's file or options declare.
    pub(crate) fn declared_letters(&self) -> Option<u32> {
        self.declared_letters
    }

    /// Rejects a plan that cannot be split into tiles.
    pub(crate) fn check_splittable(&self) -> Result<(), Error> {
        self.options.check_splittable()
    }

    /// Rejects answers that need a group for every participant, if some participant has none.
    pub(crate) fn check_has_groups(&self) -> Result<(), Error> {
        match self.without_group {
            None => Ok(()),
            Some(number) => Err(Error::NoGroups {
                file: self.file.name().to_string(),
                number,
            }),
        }
    }

    /// Rejects scanpaths that are too short for the default limit. With hidden lengths, the limit is the same for all
    /// scanpaths and does not protect short ones.
    pub(crate) fn check_protected_lengths(&self) -> Result<(), Error> {
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

    /// What the other side must know about the letters.
    pub(crate) fn alphabet_info(&self) -> &AlphabetInfo {
        &self.alphabet_info
    }

    /// The cohort in the common alphabet of both sides, and the plan. The result equals that of [`crate::plan()`] on
    /// the two files.
    pub(crate) fn resolve(
        &self,
        theirs: &AlphabetInfo,
        role: Role,
        events: &dyn EventSink,
    ) -> Result<(Cohort, Spec), Error> {
        let ours = &self.alphabet_info;
        // If the two files contradict each other, they have no common alphabet. Each side then plans without the other.
        // The two plans differ in exactly these settings, and comparing the plans reports them with both values.
        let theirs = match declarations_conflict(ours, theirs) {
            true => ours,
            false => theirs,
        };
        let grid = match role {
            Role::Host => ours.grid.or(theirs.grid),
            Role::Join => theirs.grid.or(ours.grid),
        };
        let (alphabet, metric) = resolve(
            ours,
            theirs,
            (grid, self.file.screen()),
            &self.options.metric,
        )?;
        self.check_agreed_alphabet(alphabet)?;
        let named = ours.named.or(theirs.named);
        let notation = named.map(|alphabet| alphabet.notation());
        let grid = grid.or(self.options.metric.grid);
        let cohort = decode_with_notes(&self.file, (alphabet, grid), notation, events)?;
        let cohort = rounded(cohort, &metric, self.file.name(), events)?;
        self.options.check(&metric, &cohort, self.file.name())?;
        let spec = self.options.spec(metric, &cohort, &cohort)?;
        let own = [(&cohort, self.file.name())];
        self.options
            .note_unexpected_effects(&spec.metric, &own, events);
        Ok((cohort, spec))
    }

    /// Rejects an alphabet that lacks a letter of this side's own alphabet, even if no scanpath contains that letter.
    /// The other side influences the alphabet, so a rejection that depended on the scanpaths would reveal which letters
    /// occur. For the same reason, another notation is rejected: read as single letters, double letters are twice as many,
    /// which would raise this side's default limit.
    fn check_agreed_alphabet(&self, agreed: Alphabet) -> Result<(), Error> {
        let own = self.own_alphabet;
        let same_cells = agreed.notation() == own.notation() && agreed.modulus() == own.modulus();
        if same_cells && agreed.size() >= own.size() {
            return Ok(());
        }
        Err(Error::OtherAlphabet {
            file: self.file.name().to_string(),
            own,
            agreed,
        })
    }

    /// Whether a failed plan is this side's fault, because it would also fail with a peer whose file is like this
    /// side's.
    pub(crate) fn fails_without_peer(&self, role: Role) -> bool {
        self.resolve(&self.alphabet_info, role, &()).is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MetricOptions;
    use veilpath_encode::Input;
    use veilpath_metrics::{Grid, Notation};
    use veilpath_protocol::Engine;

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

    /// Every alphabet that a peer can announce.
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

    /// Whether a side declines depends on what it declares, not on the letters that occur.
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
        // Without a declaration, the notation is a guess from the letters. It is announced to the peer, and is the only
        // thing that a rejection can depend on.
        for cohorts in [["aB", "aAbB", "zZyX"], ["01", "07", "9951"]] {
            let sides = cohorts.map(|letters| local(letters, None).unwrap());
            let announced = sides.each_ref().map(|side| side.alphabet_info.read_as);
            assert_eq!(announced, [announced[0]; 3]);
            for theirs in announcements() {
                let declines = sides
                    .each_ref()
                    .map(|side| side.resolve(&theirs, Role::Host, &()).is_err());
                assert_eq!(declines, [declines[0]; 3], "{theirs:?}");
            }
        }
        // Nor can it have double letters read as twice as many single letters, which would raise the limit.
        let double = local("aBcD", None).unwrap();
        for theirs in announcements() {
            if let Ok((cohort, _)) = double.resolve(&theirs, Role::Host, &()) {
                assert_eq!(cohort.entries[0].scanpath.len(), 2, "{theirs:?}");
            }
        }
        // A declared number of letters is checked before either side connects.
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

    fn declared(text: &str, count: Option<u32>, grid: Option<Grid>) -> Result<Option<u32>, Error> {
        let input = Input::from_bytes("c.csv", text.as_bytes().to_vec()).unwrap();
        let metric = MetricOptions {
            grid,
            ..MetricOptions::default()
        };
        let options = PlanOptions {
            letters: count,
            ..PlanOptions::new(Engine::Garbled, metric)
        };
        let local = LocalCohort::new(crate::read_cohort_from(input)?, options)?;
        Ok(local.declared_letters())
    }

    /// All letters of a notation can be declared.
    #[test]
    fn an_explicit_number_of_letters_counts_as_declared() {
        let with =
            |setting: &str| format!("# veilpath cohort 1\n{setting}participant,scanpath\nP1,ABC\n");
        let grid = Grid::new(13, 4);
        for (setting, count, grid, expected) in [
            ("", None, None, None),
            ("", Some(52), None, Some(52)),
            ("", Some(26), None, Some(26)),
            ("", None, grid, Some(52)),
            ("# alphabet: letters 52\n", None, None, Some(52)),
            ("# alphabet: letters 52\n", Some(52), None, Some(52)),
            ("# alphabet: letters\n", None, None, None),
            ("# alphabet: letters\n", Some(9), None, Some(9)),
            ("# grid: 13x4\n", None, None, Some(52)),
        ] {
            let found = declared(&with(setting), count, grid).unwrap();
            assert_eq!(found, expected, "{setting}, {count:?}, {grid:?}");
        }
        let contradicting = [
            ("# alphabet: letters 52\n", 49, None),
            ("# grid: 7x7\n", 52, None),
            ("", 49, grid),
        ];
        for (setting, count, grid) in contradicting {
            let error = declared(&with(setting), Some(count), grid).unwrap_err();
            let expected = match grid {
                Some(_) => "the options give 49 letters, but their grid has 52".to_string(),
                None => format!(
                    "the options give {count} letters, but the alphabet or grid of c.csv has {}",
                    49 + 52 - count
                ),
            };
            assert_eq!(error.to_string(), expected);
        }
        let error = declared(&with(""), Some(2), None).unwrap_err();
        assert!(
            matches!(error, Error::MaybeTooFewLetters { letters: 2, .. }),
            "{error}"
        );
    }
}
