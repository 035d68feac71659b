//! Cohorts: reading, synthesis, splitting, and their attributes.

use crate::arguments::Arguments;
use crate::errors::{bad_argument, to_exception};
use crate::tables::{capsule, text_column};
use crate::{frames, jobs};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};
use std::path::{Path, PathBuf};
use veilpath::split::SplitOptions;
use veilpath::synth::{self, LifelikeOptions, RandomOptions, SyntheticCohort, Viewers};
use veilpath::{
    Contents, Error, Grid, Input, OutputFile, RawCohort, cohort_in_memory, decode_cohort,
    part_of_cohort, write_cohort_part,
};

/// The scanpaths of one institution.
#[pyclass(frozen, module = "veilpath._veilpath")]
pub(crate) struct Cohort {
    pub(crate) raw: RawCohort,
    decoded: veilpath::Cohort,
    /// The summary of the encoding, as JSON.
    summary: Option<String>,
}

impl Cohort {
    /// A cohort that was read.
    pub(crate) fn new(raw: RawCohort, summary: Option<String>) -> Result<Self, Error> {
        let decoded = decode_cohort(&raw, &())?;
        Ok(Self {
            raw,
            decoded,
            summary,
        })
    }

    /// A cohort in memory.
    pub(crate) fn in_memory(
        name: &str,
        cohort: &veilpath::Cohort,
        aspect: Option<f64>,
        summary: Option<String>,
    ) -> Result<Self, Error> {
        Self::new(cohort_in_memory(name, cohort, aspect)?, summary)
    }

    /// The cohort as a file that can be read.
    pub(crate) fn input(&self) -> Result<Input, Error> {
        let mut text = Vec::new();
        self.write(&mut text).map_err(|source| Error::Write {
            path: self.raw.name().into(),
            source,
        })?;
        Ok(Input::from_bytes(self.raw.name(), text)?)
    }

    fn write(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        write_cohort_part(&self.raw, &self.decoded, out)
    }

    fn distinct<'a>(&'a self, id: impl Fn(&'a veilpath::Entry) -> Option<&'a str>) -> Vec<&'a str> {
        let mut seen = std::collections::HashSet::new();
        let ids = self.decoded.entries.iter().filter_map(id);
        ids.filter(|id| seen.insert(*id)).collect()
    }
}

#[pymethods]
impl Cohort {
    /// The name of the cohort.
    #[getter]
    fn name(&self) -> &str {
        self.raw.name()
    }

    fn __len__(&self) -> usize {
        self.decoded.entries.len()
    }

    /// The participants, in order of appearance.
    #[getter]
    fn participants(&self) -> Vec<&str> {
        self.distinct(|entry| Some(&entry.participant))
    }

    /// The stimuli, in order of appearance.
    #[getter]
    fn stimuli(&self) -> Vec<&str> {
        self.distinct(|entry| entry.stimulus.as_deref())
    }

    /// The participants of each group.
    #[getter]
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let groups = PyDict::new(py);
        for (participant, group) in self
            .decoded
            .entries
            .iter()
            .filter_map(|entry| Some((&entry.participant, entry.group.as_ref()?)))
        {
            groups.set_item(participant, group)?;
        }
        Ok(groups)
    }

    /// Columns and rows of the grid, if it is known.
    #[getter]
    fn grid(&self) -> Option<(u32, u32)> {
        let grid = self.raw.declared_grid()?;
        Some((grid.columns(), grid.rows()))
    }

    /// The alphabet in words.
    #[getter]
    fn alphabet(&self) -> String {
        self.decoded.alphabet.to_string()
    }

    /// Whether fixations were kept.
    #[getter]
    fn has_fixations(&self) -> bool {
        self.raw.screen().is_some()
    }

    /// The settings of the encoding.
    #[getter]
    fn encoding<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let settings = PyDict::new(py);
        for (name, value) in &self.raw.encoding().0 {
            settings.set_item(name, value)?;
        }
        Ok(settings)
    }

    /// What encoding read, used and dropped, as JSON.
    #[getter]
    fn summary_json(&self) -> Option<&str> {
        self.summary.as_deref()
    }

    /// Writes a cohort file.
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        let save = || {
            let file = OutputFile::create_for(Contents::Cohort, &path, &[], force)?;
            file.check_table_name()?;
            file.write(|out| self.write(out))
        };
        py.detach(save).map_err(|error| to_exception(py, &error))
    }

    /// The content of a cohort file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut text = Vec::new();
        self.write(&mut text)?;
        Ok(PyBytes::new(py, &text))
    }

    /// The cohort as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer may ask for other types, and casts where it does not get them.
        drop(requested_schema);
        let entries = || self.decoded.entries.iter();
        let scanpaths: Vec<String> = entries()
            .map(|entry| self.decoded.alphabet.format(&entry.scanpath))
            .collect();
        let mut columns = vec![text_column(
            "participant",
            entries().map(|entry| Some(entry.participant.as_str())),
        )];
        if self.decoded.has_groups() {
            let groups = entries().map(|entry| entry.group.as_deref());
            columns.push(text_column("group", groups));
        }
        columns.push(text_column(
            "stimulus",
            entries().map(|entry| entry.stimulus.as_deref()),
        ));
        let scanpaths = scanpaths.iter().map(|text| Some(text.as_str()));
        columns.push(text_column("scanpath", scanpaths));
        capsule(py, columns)
    }
}

/// Reads a cohort file, or a frame with the columns of one.
#[pyfunction]
pub(crate) fn read_cohort(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    name: Option<String>,
    repeated: bool,
) -> PyResult<Cohort> {
    let read = match frames::is_frame(source)? {
        true => {
            let name = name.as_deref().unwrap_or("frame");
            let frame = frames::frame(name, source)?;
            py.detach(|| veilpath::read_cohort_from(Input::from_frame(frame)?))
        }
        false => {
            let path: PathBuf = source.extract()?;
            py.detach(|| veilpath::read_cohort(&path))
        }
    };
    let cohort = read.and_then(|raw| {
        if !repeated {
            veilpath::check_unique_ids(&raw)?;
        }
        Cohort::new(raw, None)
    });
    cohort.map_err(|error| to_exception(py, &error))
}

/// A cohort from the content of a cohort file, for unpickling.
#[pyfunction]
pub(crate) fn cohort_from_bytes(
    py: Python<'_>,
    name: &str,
    content: Vec<u8>,
    summary: Option<String>,
) -> PyResult<Cohort> {
    let read = || {
        let raw = veilpath::read_cohort_from(Input::from_bytes(name, content)?)?;
        Cohort::new(raw, summary)
    };
    py.detach(read)
        .map_err(|error: Error| to_exception(py, &error))
}

/// Splits a cohort at random.
#[pyfunction]
pub(crate) fn split(
    py: Python<'_>,
    cohort: &Cohort,
    fraction: f64,
    seed: Option<u64>,
    names: [String; 2],
) -> PyResult<(Cohort, Cohort)> {
    let split = || {
        let options = SplitOptions { fraction, seed };
        let parts = veilpath::split::split(cohort.decoded.clone(), options)?;
        let [first, second] = parts.cohorts;
        let part = |name: &str, half: &_| part_of_cohort(name, &cohort.raw, half);
        Ok((
            Cohort::new(part(&names[0], &first)?, None)?,
            Cohort::new(part(&names[1], &second)?, None)?,
        ))
    };
    split().map_err(|error: Error| to_exception(py, &error))
}

/// Synthesises participants who look at the same stimuli or, with a path, writes a table of their fixations.
#[pyfunction]
pub(crate) fn synth_lifelike(
    py: Python<'_>,
    options: Bound<'_, PyDict>,
    fixations: Option<PathBuf>,
) -> PyResult<Option<Cohort>> {
    let arguments = Arguments(options);
    let defaults = LifelikeOptions::default();
    let groups: Vec<(String, u32)> = match arguments.object("groups")? {
        None => Vec::new(),
        Some(groups) => groups
            .cast::<PyDict>()?
            .iter()
            .map(|(name, size)| Ok((name.extract()?, size.extract()?)))
            .collect::<PyResult<_>>()?,
    };
    let participants = arguments.value::<u32>("participants")?;
    let options = LifelikeOptions {
        viewers: match (groups.is_empty(), participants) {
            (true, count) => Viewers::NovicesAndExperts(count.unwrap_or(12)),
            (false, None) => Viewers::Groups(groups),
            (false, Some(_)) => {
                let problem = "groups have their own numbers of participants; leave it out";
                return Err(bad_argument(py, "participants", problem));
            }
        },
        difference: arguments
            .value("difference")?
            .unwrap_or(defaults.difference),
        stimuli: arguments.value("stimuli")?.unwrap_or(defaults.stimuli),
        seconds: arguments.value("seconds")?.unwrap_or(defaults.seconds),
        keep_fixations: arguments.or_default("keep_fixations")?,
        seed: arguments.value("seed")?,
    };
    let grid = arguments.grid("grid")?.unwrap_or_else(Grid::default);
    let name = arguments
        .value::<String>("name")?
        .unwrap_or_else(|| "synthetic".into());
    jobs::run(py, None, move |_| match fixations {
        None => in_memory(&name, &synth::lifelike(&options, grid)?).map(Some),
        Some(path) => {
            let table = synth::fixations(&options)?;
            write_fixations(&path, |out| table.write(out))?;
            Ok(None)
        }
    })
}

fn write_fixations(
    path: &Path,
    write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> Result<(), Error> {
    let file = OutputFile::create_for(Contents::Fixations, path, &[], false)?;
    file.check_table_name()?;
    file.write(write)
}

/// Synthesises random letters.
#[pyfunction]
pub(crate) fn synth_random(py: Python<'_>, options: Bound<'_, PyDict>) -> PyResult<Cohort> {
    let arguments = Arguments(options);
    let defaults = RandomOptions::default();
    let lengths = match arguments.value::<(usize, usize)>("length_range")? {
        Some((min, max)) if min > max => {
            let problem = "the range ends before it starts";
            return Err(bad_argument(py, "length", problem));
        }
        Some((min, max)) => vec![min..=max],
        None => match arguments.value::<Vec<usize>>("lengths")? {
            Some(lengths) => lengths.into_iter().map(|length| length..=length).collect(),
            None => defaults.lengths,
        },
    };
    let options = RandomOptions {
        count: arguments.value("count")?.unwrap_or(defaults.count),
        lengths,
        notation: arguments.parsed("notation")?.unwrap_or(defaults.notation),
        letters: arguments.value("letters")?,
        seed: arguments.value("seed")?,
    };
    let name = arguments
        .value::<String>("name")?
        .unwrap_or_else(|| "synthetic".into());
    jobs::run(py, None, move |_| {
        in_memory(&name, &synth::random(&options)?)
    })
}

fn in_memory(name: &str, made: &SyntheticCohort) -> Result<Cohort, Error> {
    Cohort::in_memory(name, &made.cohort, None, None)
}
