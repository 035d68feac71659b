//! The result of a comparison, as a report and as files.

use crate::comparison::Inputs;
use crate::problem::Problem;
use serde_json::{Value, json};
use std::sync::Arc;
use veilpath::report::{
    DrawingOptions, DrawnCohort, ReportOptions, ResultFile, read_result_from, report,
};
use veilpath::{Input, Outcome, OutcomeFormat, table, write_outcome};

/// The name of the result in reports.
const SOURCE: &str = "scores.json";

/// A result.
#[derive(Debug)]
pub(crate) struct ResultState {
    /// Distinguishes results, so that the page loads a new report.
    pub(crate) id: u64,
    /// Whether it was computed with a partner.
    pub(crate) with_partner: bool,
    pub(crate) outcome: Outcome,
    /// The statistics, if any.
    pub(crate) statistics: Option<Outcome>,
    /// This side's cohort file, for a report that shows it.
    pub(crate) own: Option<Arc<[u8]>>,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
    /// What was compared on this machine.
    pub(crate) inputs: Option<Inputs>,
}

/// A file for the user.
pub(crate) struct Export {
    pub(crate) media_type: &'static str,
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl ResultState {
    /// The result as the page shows it, next to these inputs.
    pub(crate) fn to_json(&self, inputs: &Inputs) -> Value {
        let is_outdated = match self.with_partner {
            true => self.own.as_ref() != inputs.own(),
            false => self.inputs.as_ref().is_some_and(|it| it != inputs),
        };
        json!({
            "id": self.id,
            "with_partner": self.with_partner,
            "summary": table::headline(&self.outcome) + &table::learned(&self.outcome),
            "details": table::details(&self.outcome),
            "outdated": is_outdated,
            "answers": (!self.outcome.answers.is_empty()).then(|| table::answers(&self.outcome)),
            "has_pairs": !self.outcome.results.is_empty(),
            "statistics": self.statistics.as_ref().map(table::answers),
            "notes": self.notes,
            "can_show_own": self.own.is_some(),
        })
    }

    /// The report; with `own`, it draws this side's scanpaths and must not leave this institution.
    pub(crate) fn page(&self, own: bool) -> Result<Vec<u8>, Problem> {
        self.write(own, |report, bytes| report.write_html(bytes))
    }

    /// One of the files that can be saved.
    pub(crate) fn export(&self, kind: &str) -> Result<Export, Problem> {
        let (media_type, name) = match kind {
            "csv" => ("text/csv; charset=utf-8", "scores.csv"),
            "json" => ("application/json", "scores.json"),
            "html" => ("text/html; charset=utf-8", "report.html"),
            "svg" => ("image/svg+xml", "heatmap.svg"),
            "png" => ("image/png", "heatmap.png"),
            "statistics" => ("text/csv; charset=utf-8", "statistics.csv"),
            _ => return Err(Problem::new("there is no such file", "")),
        };
        let bytes = match kind {
            "csv" => written(&self.outcome, OutcomeFormat::Csv)?,
            "json" => written(&self.outcome, OutcomeFormat::Json)?,
            "html" => self.page(false)?,
            "svg" => self.write(false, |report, bytes| report.write_svg(bytes))?,
            "png" => self.write(false, |report, bytes| report.write_png(bytes))?,
            _ => match &self.statistics {
                Some(statistics) => written(statistics, OutcomeFormat::Csv)?,
                None => return Err(Problem::new("there are no statistics", "")),
            },
        };
        Ok(Export {
            media_type,
            name,
            bytes,
        })
    }

    fn write(
        &self,
        own: bool,
        write: impl FnOnce(&veilpath::report::Report<'_>, &mut Vec<u8>) -> std::io::Result<()>,
    ) -> Result<Vec<u8>, Problem> {
        let result = result_file(&self.outcome)?;
        let drawn = match self.own.as_ref().filter(|_| own) {
            None => None,
            Some(bytes) => {
                let input = Input::from_shared("cohort.csv", Arc::clone(bytes))?;
                let drawn = DrawnCohort::read(input, &DrawingOptions::default(), &())?;
                Some(drawn)
            }
        };
        let options = ReportOptions {
            source: SOURCE.into(),
            ..ReportOptions::default()
        };
        let report = report(&result, drawn.as_ref(), &options, &())?;
        let mut bytes = Vec::new();
        write(&report, &mut bytes).map_err(|error| Problem::new(error.to_string(), ""))?;
        Ok(bytes)
    }
}

/// An outcome as a result file.
pub(crate) fn result_file(outcome: &Outcome) -> Result<ResultFile, Problem> {
    let json = written(outcome, OutcomeFormat::Json)?;
    Ok(read_result_from(SOURCE, &json[..])?)
}

fn written(outcome: &Outcome, format: OutcomeFormat) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    write_outcome(outcome, format, &mut bytes)
        .map_err(|error| Problem::new(error.to_string(), ""))?;
    Ok(bytes)
}
