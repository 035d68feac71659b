//! Reads an outcome, with limits.

mod answers;
mod results;

use super::{
    ID_FIELDS, MAX_ANSWERS_BYTES, MAX_MEASURES, MAX_REVEALED, MAX_SCANPATHS, MAX_SPEC_BYTES,
    MAX_SPEC_VALUES, MAX_TEXT_BYTES, RESULT_MARK, RESULT_VERSION, ResultFormatError,
    check_encoding, check_text,
};
use crate::{
    Cost, FixationRounding, GroupAnswer, MeasureColumn, Outcome, PlanTile, Results, Revealed,
    ScanpathId, Spec,
};
use answers::AnswerList;
use results::ResultList;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

/// Reads an [`Outcome`] from JSON.
///
/// An error other than a syntax error is stored in `problem`, where it keeps its type.
pub struct OutcomeSeed<'a> {
    /// The largest number of results to read.
    pub max_results: usize,
    /// Called before a part that must not exceed a size, with its limit in bytes, and with `None` after it.
    pub limit_part: &'a dyn Fn(Option<usize>),
    /// Why the file was rejected, unless its syntax is wrong.
    pub problem: &'a mut Option<ResultFormatError>,
}

/// From JSON only: other serde formats do not provide the text of a plan, whose length has a limit.
impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seed = OutcomeSeed {
            max_results: usize::try_from(crate::MAX_PAIRS).unwrap_or(usize::MAX),
            limit_part: &|_| (),
            problem: &mut None,
        };
        seed.deserialize(deserializer)
    }
}

impl<'de> DeserializeSeed<'de> for OutcomeSeed<'_> {
    type Value = Outcome;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Outcome, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OutcomeSeed<'_> {
    type Value = Outcome;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result file")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Outcome, M::Error> {
        let mut problem = None;
        let limits = (self.max_results, self.limit_part);
        let read = Fields::default().read(map, limits, &mut problem);
        *self.problem = problem;
        read
    }
}

/// Stores a problem with its type, and returns its message to serde.
fn refuse<E: de::Error>(
    slot: &mut Option<ResultFormatError>,
) -> impl FnOnce(ResultFormatError) -> E {
    |error| {
        let words = E::custom(&error);
        *slot = Some(error);
        words
    }
}

#[derive(Default)]
struct Fields {
    spec: Option<Spec>,
    cohorts: Option<[NamedCohort; 2]>,
    one_cohort: Option<bool>,
    pairs: Option<u64>,
    tile: Option<PlanTile>,
    error_bound: Option<f64>,
    fixation_rounding: Option<FixationRounding>,
    complete: Option<bool>,
    measures: Option<Vec<MeasureColumn>>,
    results: Option<Results>,
    answers: Option<Vec<GroupAnswer>>,
    cost: Option<Cost>,
    revealed: Option<Vec<Revealed>>,
}

impl Fields {
    fn read<'de, M: MapAccess<'de>>(
        mut self,
        mut map: M,
        (max_results, limit_part): (usize, &dyn Fn(Option<usize>)),
        problem: &mut Option<ResultFormatError>,
    ) -> Result<Outcome, M::Error> {
        read_version(&mut map, problem)?;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "spec" => {
                    limit_part(Some(MAX_SPEC_BYTES));
                    let text = map.next_value::<Box<RawValue>>()?;
                    limit_part(None);
                    let spec = read_spec(&text, problem)?;
                    set(&mut self.spec, "spec", spec)?;
                }
                "cohorts" => {
                    let cohorts = map.next_value::<[NamedCohort; 2]>()?;
                    check_cohorts(&cohorts).map_err(refuse(problem))?;
                    set(&mut self.cohorts, "cohorts", cohorts)?;
                }
                "one_cohort" => set(&mut self.one_cohort, "one_cohort", map.next_value()?)?,
                "pairs" => set(&mut self.pairs, "pairs", map.next_value()?)?,
                "tile" => {
                    limit_part(Some(MAX_TEXT_BYTES));
                    let tile = map.next_value::<PlanTile>()?;
                    limit_part(None);
                    set(&mut self.tile, "tile", tile)?;
                }
                "error_bound" => {
                    let bound: f64 = map.next_value()?;
                    if !(bound.is_finite() && bound >= 0.0) {
                        return Err(refuse(problem)(ResultFormatError::ErrorBound));
                    }
                    set(&mut self.error_bound, "error_bound", bound)?;
                }
                // Ignored, because it follows from the plan.
                "fixation_rounding" => {
                    limit_part(Some(MAX_SPEC_BYTES));
                    let rounding = map.next_value::<FixationRounding>()?;
                    limit_part(None);
                    set(&mut self.fixation_rounding, "fixation_rounding", rounding)?;
                }
                "complete" => set(&mut self.complete, "complete", map.next_value()?)?,
                "measures" => {
                    let Limited(measures) =
                        map.next_value::<Limited<MeasureColumn, MAX_MEASURES>>()?;
                    check_measures(&measures).map_err(refuse(problem))?;
                    set(&mut self.measures, "measures", measures)?;
                }
                "results" => {
                    let (Some(cohorts), Some(measures)) = (&self.cohorts, &self.measures) else {
                        return Err(refuse(problem)(ResultFormatError::Order));
                    };
                    let results = map.next_value_seed(ResultList {
                        cohorts,
                        results: Results::new(measures.clone()),
                        limit: max_results,
                        problem,
                    })?;
                    set(&mut self.results, "results", results)?;
                }
                "answers" => {
                    limit_part(Some(MAX_ANSWERS_BYTES));
                    let answers = map.next_value_seed(AnswerList { problem })?;
                    limit_part(None);
                    set(&mut self.answers, "answers", answers)?;
                }
                "cost" => {
                    let cost = map.next_value::<Cost>()?;
                    if !(cost.seconds.is_finite() && cost.seconds >= 0.0) {
                        return Err(refuse(problem)(ResultFormatError::Seconds));
                    }
                    set(&mut self.cost, "cost", cost)?;
                }
                "revealed" => {
                    let Limited(lines) = map.next_value::<Limited<Revealed, MAX_REVEALED>>()?;
                    for line in &lines {
                        check_text("a line of \"revealed\"", &line.what)
                            .map_err(refuse(problem))?;
                    }
                    set(&mut self.revealed, "revealed", lines)?;
                }
                other => return Err(de::Error::custom(format_args!("unknown field `{other}`"))),
            }
        }
        self.finish(problem)
    }

    fn finish<E: de::Error>(self, problem: &mut Option<ResultFormatError>) -> Result<Outcome, E> {
        let missing = |name| move || E::missing_field(name);
        let [a, b] = self.cohorts.ok_or_else(missing("cohorts"))?;
        let results = self.results.ok_or_else(missing("results"))?;
        let pairs = self.pairs.ok_or_else(missing("pairs"))?;
        let found = results.len() as u64;
        let incomplete = found > 0 && found < pairs;
        match self.complete {
            None if found > 0 && found != pairs => {
                return Err(refuse(problem)(ResultFormatError::PairCount {
                    pairs,
                    results: results.len(),
                }));
            }
            Some(complete) if complete || !incomplete => {
                return Err(refuse(problem)(ResultFormatError::Completeness));
            }
            _ => {}
        }
        let fits = |tile: &PlanTile| {
            let mut digits = tile.agreement.bytes();
            digits.len() == 64 && digits.all(|byte| byte.is_ascii_hexdigit()) && tile.pairs >= pairs
        };
        if !self.tile.as_ref().is_none_or(fits) {
            return Err(refuse(problem)(ResultFormatError::Tile));
        }
        Ok(Outcome {
            spec: self.spec.ok_or_else(missing("spec"))?,
            names: [a.name, b.name],
            one_cohort: self.one_cohort.ok_or_else(missing("one_cohort"))?,
            a: a.scanpaths.0,
            b: b.scanpaths.0,
            pairs,
            tile: self.tile,
            results,
            answers: self.answers.ok_or_else(missing("answers"))?,
            error_bound: self.error_bound,
            cost: self.cost.ok_or_else(missing("cost"))?,
            revealed: self.revealed.ok_or_else(missing("revealed"))?,
        })
    }
}

fn set<T, E: de::Error>(field: &mut Option<T>, name: &'static str, value: T) -> Result<(), E> {
    if field.replace(value).is_some() {
        return Err(E::duplicate_field(name));
    }
    Ok(())
}

/// Reads the version, which comes first because everything else may differ in another version.
fn read_version<'de, M: MapAccess<'de>>(
    map: &mut M,
    problem: &mut Option<ResultFormatError>,
) -> Result<(), M::Error> {
    let first = map.next_key::<String>()?;
    if first.as_deref() != Some(RESULT_MARK) {
        return Err(refuse(problem)(ResultFormatError::NotAResult));
    }
    let found: u64 = map.next_value()?;
    if found != RESULT_VERSION {
        return Err(refuse(problem)(ResultFormatError::Version {
            found,
            supported: RESULT_VERSION,
        }));
    }
    Ok(())
}

/// Reads a part whose text has a limit, because serde buffers values of tagged types in memory before it knows their
/// type.
fn read_part<T: DeserializeOwned, E: de::Error>(
    what: &'static str,
    limit: usize,
    text: &RawValue,
    problem: &mut Option<ResultFormatError>,
) -> Result<T, E> {
    if text.get().len() > limit {
        return Err(refuse(problem)(ResultFormatError::TooLong { what, limit }));
    }
    serde_json::from_str(text.get()).map_err(|error| {
        // The position would be relative to the start of this part.
        let words = error.to_string();
        let words = words.split(" at line ").next().unwrap_or(&words);
        E::custom(format_args!("{what}: {words}"))
    })
}

fn read_spec<E: de::Error>(
    text: &RawValue,
    problem: &mut Option<ResultFormatError>,
) -> Result<Spec, E> {
    // A value whose type is not yet known takes more memory than its text.
    if text.get().bytes().filter(|&byte| byte == b',').count() > MAX_SPEC_VALUES {
        return Err(refuse(problem)(ResultFormatError::TooMany {
            what: "values in \"spec\"",
            limit: MAX_SPEC_VALUES,
        }));
    }
    let spec: Spec = read_part("\"spec\"", MAX_SPEC_BYTES, text, problem)?;
    check_encoding(&spec.encoding).map_err(refuse(problem))?;
    Ok(spec)
}

fn check_cohorts(cohorts: &[NamedCohort; 2]) -> Result<(), ResultFormatError> {
    for cohort in cohorts {
        check_text("the name of a cohort", &cohort.name)?;
        for label in &cohort.scanpaths.0 {
            check_text("an id", &label.participant)?;
            check_text("an id", label.stimulus.as_deref().unwrap_or_default())?;
        }
    }
    Ok(())
}

fn check_measures(measures: &[MeasureColumn]) -> Result<(), ResultFormatError> {
    let mut seen = HashSet::new();
    for measure in measures {
        check_text("the name of a measure", &measure.name)?;
        let usable = !measure.name.is_empty() && !ID_FIELDS.contains(&measure.name.as_str());
        if !usable || !seen.insert(&measure.name) {
            return Err(ResultFormatError::MeasureName);
        }
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedCohort {
    name: String,
    scanpaths: Limited<ScanpathId, MAX_SCANPATHS>,
}

/// A list with a limit that is enforced during reading, before the list fills the memory.
struct Limited<T, const LIMIT: usize>(Vec<T>);

impl<'de, T: DeserializeOwned, const LIMIT: usize> Deserialize<'de> for Limited<T, LIMIT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List<T, const LIMIT: usize>(PhantomData<T>);

        impl<'de, T: DeserializeOwned, const LIMIT: usize> Visitor<'de> for List<T, LIMIT> {
            type Value = Limited<T, LIMIT>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {LIMIT} entries")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Self::Value, S::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = list.next_element()? {
                    if entries.len() == LIMIT {
                        return Err(de::Error::invalid_length(LIMIT + 1, &self));
                    }
                    entries.push(entry);
                }
                Ok(Limited(entries))
            }
        }
        deserializer.deserialize_seq(List(PhantomData))
    }
}
