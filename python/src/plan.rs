//! Plans of comparisons, and `compare`.

use crate::arguments::Arguments;
use crate::cohort::Cohort;
use crate::errors::{bad_argument, to_exception};
use crate::jobs;
use crate::result::Result;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::str::FromStr;
use veilpath::{
    CompareOptions, DivideBy, Engine, EngineChoice, HostKey, KeySize, MetricOptions,
    NonAlignmentOptions, Outcome, PaillierOptions, PlanOptions, PositionsChoice, RevealTo,
    Simplification, SubstitutionChoice, TestCoins, Undefined, load_host_key,
};

/// Compares two local cohorts.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    first: &Cohort,
    second: &Cohort,
    options: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Result> {
    let arguments = Arguments(options);
    let (plan, key) = plan_options(&arguments, "plain")?;
    let coins = arguments.parsed::<TestCoins>("coins")?;
    let names = arguments.value::<[String; 2]>("names")?;
    let files = [first.raw.clone(), second.raw.clone()];
    let outcome = jobs::run(py, progress.as_ref(), move |events| {
        let planned = veilpath::plan([&files[0], &files[1]], &plan, events)?;
        let outcome = veilpath::compare(&planned, CompareOptions { key, coins }, events)?;
        let names = names.unwrap_or_else(|| files.map(|file| file.name().to_string()));
        Ok::<Outcome, _>(outcome.with_names(names))
    })?;
    Ok(Result::from(outcome))
}

/// What to compute and what to reveal, and the host's key.
pub(crate) fn plan_options(
    arguments: &Arguments<'_>,
    engine: &str,
) -> PyResult<(PlanOptions, Option<HostKey>)> {
    let py = arguments.py();
    let (engine, key) = self::engine(arguments, engine)?;
    let letters = arguments.value("letters")?;
    let pad_to = match arguments.value::<u32>("pad_to")? {
        Some(length) if length == 0 || length > veilpath::MAX_PADDING => {
            let problem = format!("expected a length from 1 to {}", veilpath::MAX_PADDING);
            return Err(bad_argument(py, "pad_to", problem));
        }
        length => length,
    };
    let mut plan = PlanOptions::new(engine, metric_options(arguments)?);
    plan.notation = arguments.parsed("notation")?;
    plan.letters = letters;
    plan.pairs = arguments.parsed("pairs")?.unwrap_or(plan.pairs);
    plan.reveal = arguments.parsed("reveal")?.unwrap_or(plan.reveal);
    plan.reveal_to = arguments.choice("reveal_to")?.unwrap_or(RevealTo::Both);
    plan.pad_to = pad_to;
    plan.tile = arguments.parsed("tile")?;
    Ok((plan, key))
}

/// The engine by name, with the options of `paillier`.
pub(crate) fn engine(
    arguments: &Arguments<'_>,
    default: &str,
) -> PyResult<(EngineChoice, Option<HostKey>)> {
    let py = arguments.py();
    let name = arguments.value::<String>("engine")?;
    let name = name.as_deref().unwrap_or(default);
    if name != "paillier" {
        for option in ["key", "key_bits", "hardened"] {
            if arguments.object(option)?.is_some() {
                let problem = "it is only for the paillier engine";
                return Err(bad_argument(py, option, problem));
            }
        }
    }
    let engine = match name {
        "auto" => return Ok((EngineChoice::Auto, None)),
        "garbled" => Engine::Garbled,
        "shares" => Engine::Shares,
        "plain" => Engine::Plain,
        "paillier" => {
            let key = arguments.path("key")?;
            let key = key.map(|path| load_host_key(&path)).transpose();
            let key = key.map_err(|error| to_exception(py, &error))?;
            let bits = arguments.value::<u32>("key_bits")?;
            let bits = bits.map(|bits| KeySize::from_str(&bits.to_string()));
            let bits = bits
                .transpose()
                .map_err(|_| bad_argument(py, "key_bits", "expected 2048, 3072 or 4096"))?;
            let (key, of_key) = key.map_or((None, None), |(key, size)| (Some(key), Some(size)));
            if let (Some(asked), Some(size)) = (bits, of_key)
                && asked != size
            {
                let problem = format!("the key has {} bits", size.bits());
                return Err(bad_argument(py, "key_bits", problem));
            }
            let size = of_key.or(bits).unwrap_or_default();
            let options = PaillierOptions::new(size, false)
                .map_err(|error| to_exception(py, &veilpath::Error::from(error)))?
                .with_hardening(arguments.or_default("hardened")?);
            return Ok((Engine::Paillier(options).into(), key));
        }
        other => {
            let problem = format!("{other:?} is not one of auto, garbled, shares, paillier, plain");
            return Err(bad_argument(py, "engine", problem));
        }
    };
    Ok((engine.into(), None))
}

/// What to compute.
pub(crate) fn metric_options(arguments: &Arguments<'_>) -> PyResult<MetricOptions> {
    let simplify = arguments.value::<(f64, f64, f64)>("simplify")?;
    Ok(MetricOptions {
        name: arguments.parsed("metric")?.unwrap_or_default(),
        substitution: substitution(arguments)?,
        insert: arguments.value("insert")?,
        delete: arguments.value("delete")?,
        gap: arguments.value("gap")?,
        reward: arguments.value("match")?,
        mismatch: arguments.value("mismatch")?,
        threshold: arguments.value("threshold")?,
        grid: arguments.grid("grid")?,
        wrap: arguments.or_default("wrap")?,
        scale: arguments.value("scale")?,
        precision: arguments.value("precision")?,
        non_alignment: NonAlignmentOptions {
            positions: arguments
                .parsed::<PositionsChoice>("positions")?
                .unwrap_or_default(),
            fixation_grid: arguments.grid("fixation_grid")?,
            duration_classes: arguments.or_default("duration_classes")?,
            measures: arguments.texts("measures")?,
            radius: arguments.value("radius")?,
            line: arguments.value("line")?,
            undefined: match arguments.or_default::<bool>("undefined_as_zero")? {
                true => Undefined::Zero,
                false => Undefined::Missing,
            },
            round_results: arguments.or_default("rounded")?,
            divide_by: arguments.parsed::<DivideBy>("divide_by")?,
            window: arguments.value("window")?,
            modulator: arguments.value("modulator")?,
            simplification: simplify.map(|(direction, length, duration)| Simplification {
                direction,
                length,
                duration,
            }),
        },
    })
}

fn substitution(arguments: &Arguments<'_>) -> PyResult<Option<SubstitutionChoice>> {
    let Some(path) = arguments.path("substitution")? else {
        return Ok(None);
    };
    let choice = path.to_string_lossy().parse::<SubstitutionChoice>();
    choice.map(Some).map_err(|error| {
        let problem = format!("{error}, and not an existing file");
        bad_argument(arguments.py(), "substitution", problem)
    })
}
