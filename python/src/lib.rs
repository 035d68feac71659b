//! The compiled part of the Python package. It turns arguments into the façade's options, and its results into Python objects.
//!
//! `veilpath/` next to this folder has the names, defaults and documentation that users see.

mod arguments;
mod cohort;
mod encode;
mod errors;
mod frames;
mod hints;
mod jobs;
mod plan;
mod policy;
mod result;
mod session;
mod tables;
mod tiles;

/// The compiled part of the package.
#[pyo3::pymodule]
mod _veilpath {
    #[pymodule_export]
    use super::cohort::{
        Cohort, cohort_from_bytes, read_cohort, split, synth_lifelike, synth_random,
    };
    #[pymodule_export]
    use super::encode::{encode, formats};
    #[pymodule_export]
    use super::errors::printable;
    #[pymodule_export]
    use super::plan::compare;
    #[pymodule_export]
    use super::policy::{check_policy, identity, write_policy_example};
    #[pymodule_export]
    use super::result::{
        Result, merge, merge_files, read_result, report, result_from_bytes, stats,
    };
    #[pymodule_export]
    use super::session::{Session, host, join};
    #[pymodule_export]
    use super::tiles::{Coordination, WorkPlan, coordinate, work};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("MAX_MERGED_PAIRS", veilpath::MAX_PAIRS)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
