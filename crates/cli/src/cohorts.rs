//! Loading cohort files.

use crate::failure::Failure;
use crate::metric_args::MetricArgs;
use crate::{inputs, notes};
use std::path::PathBuf;
use veilpath::PlanOptions;
use veilpath_metrics::{Cohort, Metric};
use veilpath_protocol::Engine;

/// Two cohorts over one alphabet, and the metric to compare them by.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) a: Cohort,
    pub(crate) b: Cohort,
    pub(crate) metric: Metric,
}

/// Loads two cohort files and makes the metric for them.
pub(crate) fn plan(paths: [&PathBuf; 2], metric: &MetricArgs) -> Result<Plan, Failure> {
    let files = [inputs::cohort(paths[0])?, inputs::cohort(paths[1])?];
    let options = PlanOptions::new(Engine::Plain, metric.into());
    let print = |event| notes::print(&event);
    let planned = veilpath::plan([&files[0], &files[1]], &options, &print)?;
    Ok(Plan {
        a: planned.a,
        b: planned.b,
        metric: planned.spec.metric,
    })
}
