//! Reads the results one by one, so that they are never in memory as text.

use super::{NamedCohort, refuse, set};
use crate::result_format::ResultFormatError;
use crate::{Results, ScanpathId, Value, outcome::joint_stimulus};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Checks each result while the reader is still at its position, so that an error can name it.
pub(super) struct ResultList<'a> {
    pub(super) cohorts: &'a [NamedCohort; 2],
    pub(super) results: Results,
    pub(super) limit: usize,
    pub(super) problem: &'a mut Option<ResultFormatError>,
}

impl<'de> DeserializeSeed<'de> for ResultList<'_> {
    type Value = Results;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Results, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ResultList<'_> {
    type Value = Results;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of results")
    }

    fn visit_seq<S: SeqAccess<'de>>(mut self, mut list: S) -> Result<Results, S::Error> {
        while list.next_element_seed(ResultSeed(&mut self))?.is_some() {}
        Ok(self.results)
    }
}

struct ResultSeed<'a, 'b>(&'a mut ResultList<'b>);

impl<'de> DeserializeSeed<'de> for ResultSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ResultSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result with ids, indices and a value for each measure")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let list = self.0;
        if list.results.len() == list.limit {
            return Err(refuse(list.problem)(ResultFormatError::TooMany {
                what: "pairs",
                limit: list.limit,
            }));
        }
        let mut ids: [Option<String>; 2] = [None, None];
        let mut indices: [Option<usize>; 2] = [None, None];
        let mut stimulus: Option<Option<String>> = None;
        let mut values: Vec<Option<Value>> = vec![None; list.results.measures().len()];
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "a" => set(&mut ids[0], "a", map.next_value()?)?,
                "b" => set(&mut ids[1], "b", map.next_value()?)?,
                "stimulus" => set(&mut stimulus, "stimulus", map.next_value()?)?,
                "a_index" => set(&mut indices[0], "a_index", map.next_value()?)?,
                "b_index" => set(&mut indices[1], "b_index", map.next_value()?)?,
                name => match list.results.measure(name) {
                    Some(measure) => {
                        let value = map.next_value::<Value>()?;
                        let kind = list.results.measures()[measure].kind;
                        value
                            .check(kind)
                            .map_err(|expected| ResultFormatError::Value { expected })
                            .map_err(refuse(list.problem))?;
                        set(&mut values[measure], "a value", value)?;
                    }
                    None => {
                        map.next_value::<IgnoredAny>()?;
                        return Err(de::Error::custom(
                            "a result has a field that is not a measure",
                        ));
                    }
                },
            }
        }
        let missing = |name| move || <M::Error as de::Error>::missing_field(name);
        let values: Option<Vec<Value>> = values.into_iter().collect();
        let no_value = || <M::Error as de::Error>::custom("a result has no value for a measure");
        let values = values.ok_or_else(no_value)?;
        let [Some(a), Some(b)] = indices else {
            return Err(missing("a_index or b_index")());
        };
        let [Some(first), Some(second)] = ids else {
            return Err(missing("a or b")());
        };
        let ids = (
            list.cohorts[0].scanpaths.0.get(a),
            list.cohorts[1].scanpaths.0.get(b),
        );
        let fits = |(x, y): (&ScanpathId, &ScanpathId)| {
            x.participant == first
                && y.participant == second
                && joint_stimulus(x, y).as_deref() == stimulus.flatten().as_deref()
        };
        if !ids.0.zip(ids.1).is_some_and(fits) {
            return Err(refuse(list.problem)(ResultFormatError::Ids));
        }
        list.results.push(a, b, &values);
        Ok(())
    }
}
