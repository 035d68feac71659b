//! Results and cohorts as Arrow streams, which all Python data frame libraries can import.

use crate::errors::printable;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::ArrowError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;
use veilpath::Outcome;

/// A column with its name.
pub(crate) type Column = (String, ArrayRef);

/// A capsule with a stream of one batch.
pub(crate) fn capsule(py: Python<'_>, columns: Vec<Column>) -> PyResult<Bound<'_, PyCapsule>> {
    let failed =
        |error: ArrowError| PyRuntimeError::new_err(printable(&error.to_string()).into_owned());
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .map_err(failed)?;
    let schema = batch.schema();
    let reader = RecordBatchIterator::new([Ok(batch)], schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, c_str!("arrow_array_stream"))
}

/// The pairs: participants, stimulus and numbers.
pub(crate) fn pairs(outcome: &Outcome) -> Vec<Column> {
    let rows = || outcome.rows();
    let texts = |array: StringArray| -> ArrayRef { Arc::new(array) };
    let mut columns = vec![
        (
            "a".to_string(),
            texts(rows().map(|row| Some(row.a)).collect()),
        ),
        (
            "b".to_string(),
            texts(rows().map(|row| Some(row.b)).collect()),
        ),
        (
            "stimulus".to_string(),
            texts(rows().map(|row| row.stimulus).collect()),
        ),
    ];
    for (index, measure) in outcome.results.measures().iter().enumerate() {
        let values = rows().map(|row| row.values[index]);
        let is_bit = outcome
            .results
            .iter()
            .any(|pair| pair.values[index].bit().is_some());
        let array: ArrayRef = match is_bit {
            true => Arc::new(values.map(|value| value.bit()).collect::<BooleanArray>()),
            false => Arc::new(values.map(|value| value.number()).collect::<Float64Array>()),
        };
        columns.push((measure.name.clone(), array));
    }
    columns
}

/// Strings that may be missing.
pub(crate) fn text_column<'a>(name: &str, texts: impl Iterator<Item = Option<&'a str>>) -> Column {
    let array: ArrayRef = Arc::new(texts.collect::<StringArray>());
    (name.to_string(), array)
}
