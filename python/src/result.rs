//! Results: their attributes, files, reports and statistics.

use crate::arguments::Arguments;
use crate::cohort::Cohort;
use crate::encode::groups;
use crate::errors::{bad_argument, to_exception};
use crate::jobs;
use crate::tables::{capsule, pairs};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyCapsule, PyDict};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use veilpath::report::{
    Aspect, DrawingOptions, DrawnCohort, PairOptions, ReportOptions, ResultFile,
};
use veilpath::stats::{NamedResult, Question, StatsOptions};
use veilpath::{Contents, Note, Outcome, OutcomeFormat, OutputFile, score_matrix, write_outcome};

/// The result of a comparison.
#[pyclass(frozen, module = "veilpath._veilpath")]
pub(crate) struct Result {
    file: Arc<ResultFile>,
    name: String,
}

impl From<Outcome> for Result {
    fn from(outcome: Outcome) -> Self {
        Self {
            file: Arc::new(outcome.into()),
            name: "result".into(),
        }
    }
}

impl Result {
    fn outcome(&self, py: Python<'_>) -> PyResult<&Outcome> {
        self.file.outcome().ok_or_else(|| {
            let problem = "this result was read from a CSV file, which has only the numbers; JSON has everything";
            crate::errors::bad_input(py, &self.name, problem)
        })
    }

    /// The result of a whole plan. Refuses a tile, because its figures and statistics could be mistaken for the plan's.
    fn whole_plan(&self, py: Python<'_>) -> PyResult<&Arc<ResultFile>> {
        let outcome = self.file.outcome();
        match outcome.and_then(|outcome| outcome.tile.as_ref()) {
            None => Ok(&self.file),
            Some(tile) => {
                let error = veilpath::Error::UnmergedTile {
                    file: self.name.clone(),
                    tile: tile.tile,
                };
                Err(to_exception(py, &error))
            }
        }
    }
}

#[pymethods]
impl Result {
    fn __len__(&self) -> usize {
        self.file.len()
    }

    /// The names of the measures.
    #[getter]
    fn measures(&self) -> Vec<String> {
        let measures = self.file.measures().iter();
        measures.map(|measure| measure.name.clone()).collect()
    }

    /// The stimuli.
    #[getter]
    fn stimuli(&self) -> Vec<String> {
        self.file.stimuli().to_vec()
    }

    /// Everything but the pairs, as JSON.
    #[getter]
    fn info_json(&self, py: Python<'_>) -> PyResult<String> {
        let mut outcome = self.outcome(py)?.clone();
        outcome.results.clear();
        let mut json = Vec::new();
        write_outcome(&outcome, OutcomeFormat::Json, &mut json)?;
        Ok(String::from_utf8_lossy(&json).into_owned())
    }

    /// Rows, columns, and the numbers row by row.
    fn matrix<'py>(
        &self,
        py: Python<'py>,
        measure: Option<&str>,
        stimuli: Vec<String>,
    ) -> PyResult<(Vec<String>, Vec<String>, Bound<'py, PyByteArray>)> {
        let matrix = py
            .detach(|| score_matrix(&self.file, &self.name, measure, &stimuli))
            .map_err(|error| to_exception(py, &error))?;
        let bytes: Vec<u8> = matrix
            .values
            .iter()
            .flat_map(|value| value.to_ne_bytes())
            .collect();
        Ok((matrix.rows, matrix.columns, PyByteArray::new(py, &bytes)))
    }

    /// The pairs as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer may ask for other types, and casts where it does not get them.
        drop(requested_schema);
        capsule(py, pairs(self.outcome(py)?))
    }

    /// Writes a result file.
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        let extension = path.extension().map(OsStr::to_os_string);
        let format = extension.and_then(|extension| OutcomeFormat::from_extension(&extension));
        let Some(format) = format else {
            let problem = "the name of a result file ends in .json, .csv or .txt";
            return Err(bad_argument(py, "path", problem));
        };
        let outcome = self.outcome(py)?;
        let save = || {
            let file = OutputFile::create_for(Contents::Results, &path, &[], force)?;
            file.write(|out| write_outcome(outcome, format, out))
        };
        py.detach(save).map_err(|error| to_exception(py, &error))
    }

    /// Everything, as JSON.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut json = Vec::new();
        write_outcome(self.outcome(py)?, OutcomeFormat::Json, &mut json)?;
        Ok(PyBytes::new(py, &json))
    }

    /// The table that the command prints.
    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        const SHOWN: usize = 20;
        let mut text = Vec::new();
        let outcome = self.outcome(py)?;
        let more = veilpath::table::write_first(outcome, SHOWN, &mut text)?;
        let mut text = String::from_utf8_lossy(&text).into_owned();
        if more.pairs > 0 {
            text.push_str(&format!("… and {} more\n", more.pairs));
        }
        // Statistics have no matrix.
        if outcome.cost.cells > 0 {
            text.push_str(&veilpath::table::summary(outcome));
        }
        Ok(text)
    }

    /// The summary of the report.
    fn summary_html(&self, py: Python<'_>) -> PyResult<String> {
        let options = ReportOptions {
            source: self.name.clone(),
            ..ReportOptions::default()
        };
        let mut html = Vec::new();
        let page = veilpath::report::report(&self.file, None, &options, &());
        page.map_err(|error| to_exception(py, &error))?
            .write_summary(&mut html)?;
        Ok(String::from_utf8_lossy(&html).into_owned())
    }
}

/// Reads a result file.
#[pyfunction]
pub(crate) fn read_result(py: Python<'_>, path: PathBuf) -> PyResult<Result> {
    let file = py.detach(|| veilpath::report::read_result(&path));
    Ok(Result {
        file: Arc::new(file.map_err(|error| to_exception(py, &error))?),
        name: path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into(),
    })
}

/// A result from its JSON, for unpickling.
#[pyfunction]
pub(crate) fn result_from_bytes(py: Python<'_>, content: Vec<u8>) -> PyResult<Result> {
    let read = py.detach(|| veilpath::read_outcome("result", content.as_slice()));
    Ok(Result::from(
        read.map_err(|error| to_exception(py, &error))?,
    ))
}

/// Merges the results of all tiles of a plan.
#[pyfunction]
pub(crate) fn merge(py: Python<'_>, tiles: Vec<PyRef<'_, Result>>) -> PyResult<Result> {
    let outcomes = tiles.iter().map(|tile| tile.outcome(py).cloned());
    let outcomes = outcomes.collect::<PyResult<Vec<_>>>()?;
    let merged = py.detach(|| veilpath::merge(outcomes));
    let merged = merged.map_err(|error| veilpath::Error::Merge { file: None, error });
    Ok(Result::from(
        merged.map_err(|error| to_exception(py, &error))?,
    ))
}

/// Merges the result files of all tiles of a plan.
#[pyfunction]
pub(crate) fn merge_files(py: Python<'_>, files: Vec<PathBuf>) -> PyResult<Result> {
    let merged = py.detach(|| veilpath::merge_files(&files));
    Ok(Result::from(
        merged.map_err(|error| to_exception(py, &error))?,
    ))
}

/// Writes the report.
#[pyfunction]
pub(crate) fn report(
    py: Python<'_>,
    result: &Result,
    path: PathBuf,
    cohort: Option<&Cohort>,
    second_cohort: Option<&Cohort>,
    options: Bound<'_, PyDict>,
) -> PyResult<()> {
    let arguments = Arguments(options);
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    if extension != "html" && extension != "htm" {
        let problem = "a report is a web page: choose a name that ends in .html";
        return Err(bad_argument(py, "path", problem));
    }
    let inputs = [cohort, second_cohort].map(|cohort| cohort.map(Cohort::input).transpose());
    let [first, second] = inputs.map(|input| input.map_err(|error| to_exception(py, &error)));
    let (first, second) = (first?, second?);
    let stimuli = arguments.texts("stimuli")?;
    let aspect = match arguments.value::<(f64, f64)>("aspect")? {
        None => None,
        Some((width, height)) => {
            let aspect = Aspect::new(width, height);
            Some(aspect.map_err(|error| bad_argument(py, "aspect", error))?)
        }
    };
    let drawing = DrawingOptions {
        grid: arguments.grid("grid")?,
        aspect,
        images: arguments.or_default("images")?,
    };
    let shown = PairOptions {
        pairs: arguments.or_default("pairs")?,
        stimuli: stimuli.clone(),
        radius: arguments.value("radius")?,
    };
    let options = ReportOptions {
        source: result.name.clone(),
        stimuli,
        measures: arguments.texts("measures")?,
        title: arguments.value("title")?,
        names: arguments.value("names")?,
    };
    let force = arguments.or_default("force")?;
    let file = Arc::clone(result.whole_plan(py)?);
    jobs::run(py, None, move |events| {
        // The page itself says that it must stay private.
        let events = |event: veilpath::Event| match event {
            veilpath::Event::Note(Note::PrivatePage) => {}
            event => events.event(event),
        };
        let drawn = match first {
            None => None,
            Some(input) => Some(
                DrawnCohort::read(input, &drawing, &events)?.with_pairs(second, &file, &shown)?,
            ),
        };
        let page = veilpath::report::report(&file, drawn.as_ref(), &options, &events)?;
        let output = OutputFile::create_for(Contents::Page, &path, &[], force)?;
        output.write(|out| page.write_html(out))
    })
}

/// Computes statistics from one result, or from three.
#[pyfunction]
pub(crate) fn stats(
    py: Python<'_>,
    results: Vec<PyRef<'_, Result>>,
    options: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Result> {
    let arguments = Arguments(options);
    let defaults = StatsOptions::default();
    let questions = arguments.texts("answers")?;
    let questions = questions.iter().map(|text| {
        text.parse::<Question>()
            .map_err(|error| bad_argument(py, "answers", error))
    });
    let first = groups(&arguments, "groups")?;
    let second = groups(&arguments, "second_groups")?.or_else(|| first.clone());
    let options = StatsOptions {
        questions: questions.collect::<PyResult<_>>()?,
        groups: [first, second],
        measure: arguments.value("measure")?,
        stimuli: arguments.texts("stimuli")?,
        permutations: arguments
            .value("permutations")?
            .unwrap_or(defaults.permutations),
        resamples: arguments.value("resamples")?.unwrap_or(defaults.resamples),
        level: arguments.value("confidence")?.unwrap_or(defaults.level),
        seed: arguments.value("seed")?.unwrap_or(defaults.seed),
    };
    let files: Vec<(String, Arc<ResultFile>)> = results
        .iter()
        .map(|result| Ok((result.name.clone(), Arc::clone(result.whole_plan(py)?))))
        .collect::<PyResult<_>>()?;
    let outcome = jobs::run(py, progress.as_ref(), move |events| {
        let results: Vec<NamedResult<'_>> = files
            .iter()
            .map(|(name, file)| NamedResult { name, file })
            .collect();
        veilpath::stats::statistics(&results, &options, events)
    })?;
    Ok(Result::from(outcome))
}
