//! Writes an outcome. Results are written one by one, so that millions need no second copy in memory.

use super::{RESULT_MARK, RESULT_VERSION};
use crate::{Outcome, ScanpathId};
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [first, second] = &self.names;
        let cohorts = [
            Cohort {
                name: first,
                scanpaths: &self.a,
            },
            Cohort {
                name: second,
                scanpaths: &self.b,
            },
        ];
        let rounding = self.spec.fixation_rounding();
        let optional = usize::from(self.is_incomplete())
            + usize::from(self.tile.is_some())
            + usize::from(self.error_bound.is_some())
            + usize::from(rounding.is_some());
        let mut fields = serializer.serialize_struct("Outcome", 10 + optional)?;
        fields.serialize_field(RESULT_MARK, &RESULT_VERSION)?;
        fields.serialize_field("spec", &self.spec)?;
        fields.serialize_field("cohorts", &cohorts)?;
        fields.serialize_field("one_cohort", &self.one_cohort)?;
        fields.serialize_field("pairs", &self.pairs)?;
        if let Some(tile) = &self.tile {
            fields.serialize_field("tile", tile)?;
        }
        if let Some(bound) = self.error_bound {
            fields.serialize_field("error_bound", &bound)?;
        }
        if let Some(rounding) = rounding {
            fields.serialize_field("fixation_rounding", &rounding)?;
        }
        if self.is_incomplete() {
            fields.serialize_field("complete", &false)?;
        }
        fields.serialize_field("measures", self.results.measures())?;
        fields.serialize_field("results", &Rows(self))?;
        fields.serialize_field("answers", &self.answers)?;
        fields.serialize_field("cost", &self.cost)?;
        fields.serialize_field("revealed", &self.revealed)?;
        fields.end()
    }
}

#[derive(Serialize)]
struct Cohort<'a> {
    name: &'a str,
    scanpaths: &'a [ScanpathId],
}

struct Rows<'a>(&'a Outcome);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.results.len()))?;
        for index in 0..self.0.results.len() {
            list.serialize_element(&Row(self.0, index))?;
        }
        list.end()
    }
}

struct Row<'a>(&'a Outcome, usize);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row(outcome, index) = self;
        let measures = outcome.results.measures();
        let pair = outcome.results.pair(*index);
        let row = outcome.row(pair);
        let mut fields = serializer.serialize_map(Some(5 + measures.len()))?;
        fields.serialize_entry("a", row.a)?;
        fields.serialize_entry("b", row.b)?;
        fields.serialize_entry("stimulus", &row.stimulus)?;
        fields.serialize_entry("a_index", &pair.a)?;
        fields.serialize_entry("b_index", &pair.b)?;
        for (measure, value) in measures.iter().zip(row.values) {
            fields.serialize_entry(&measure.name, value)?;
        }
        fields.end()
    }
}
