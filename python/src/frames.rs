//! Turns Python data frames into the façade's frames through the Arrow C data interface, without a copy.

use crate::errors::printable;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, LargeStringArray, PrimitiveArray, RecordBatch,
    RecordBatchReader, StringArray, StringViewArray,
};
use arrow_schema::{DataType, Schema};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::sync::Arc;
use veilpath::encode::{ColumnKind, Frame, FrameColumn, NamedFrame, Value};

/// The method of a frame that exports it.
const EXPORT: &str = "__arrow_c_stream__";

/// Whether an object is a frame.
pub(crate) fn is_frame(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.hasattr(EXPORT)
}

/// A named frame from a Python data frame.
pub(crate) fn frame(name: &str, object: &Bound<'_, PyAny>) -> PyResult<NamedFrame> {
    let exported = object.call_method0(EXPORT)?;
    let capsule = exported.cast::<PyCapsule>()?;
    let broken = |error: arrow_schema::ArrowError| {
        PyTypeError::new_err(printable(&error.to_string()).into_owned())
    };
    let pointer = capsule
        .pointer_checked(Some(c_str!("arrow_array_stream")))?
        .cast::<FFI_ArrowArrayStream>();
    // SAFETY: by the Arrow PyCapsule interface, a capsule with this name has a pointer to a stream. `from_raw` moves the
    // stream out, and marks what stays behind as released.
    #[allow(unsafe_code)]
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let reader = RecordBatchStreamReader::try_new(stream).map_err(broken)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(broken)?;
    Ok(NamedFrame {
        name: name.to_string(),
        frame: Arc::new(ArrowFrame::new(&schema, &batches)),
    })
}

/// A dictionary of participants and their groups, as a frame.
pub(crate) fn of_groups(name: &str, groups: &Bound<'_, PyDict>) -> PyResult<NamedFrame> {
    let mut ids = [Vec::new(), Vec::new()];
    for (participant, group) in groups.iter() {
        ids[0].push(participant.str()?.to_string());
        ids[1].push(group.str()?.to_string());
    }
    let rows = ids[0].len();
    let names = ["participant", "group"];
    let columns = names.map(|name| FrameColumn {
        name: name.to_string(),
        kind: ColumnKind::Texts,
    });
    let cells = ids.map(|ids| Cells::Texts(StringArray::from(ids)));
    Ok(NamedFrame {
        name: name.to_string(),
        frame: Arc::new(ArrowFrame {
            columns: columns.into(),
            batches: vec![Batch {
                rows,
                columns: cells.into(),
            }],
        }),
    })
}

/// A frame in Arrow's memory. A column of lists, such as `pixel` in pymovements, becomes one column for each list position.
struct ArrowFrame {
    columns: Vec<FrameColumn>,
    batches: Vec<Batch>,
}

struct Batch {
    rows: usize,
    columns: Vec<Cells>,
}

impl ArrowFrame {
    fn new(schema: &Schema, batches: &[RecordBatch]) -> Self {
        let mut columns = Vec::new();
        // For each column, its source array and its position in lists.
        let mut origins = Vec::new();
        for (index, field) in schema.fields().iter().enumerate() {
            let arrays = batches.iter().map(|batch| batch.column(index));
            match list_length(field.data_type(), arrays) {
                None => {
                    origins.push((index, None));
                    columns.push(FrameColumn {
                        name: field.name().clone(),
                        kind: kind(field.data_type()),
                    });
                }
                Some(length) => {
                    for position in 0..length {
                        origins.push((index, Some(position)));
                        columns.push(FrameColumn {
                            name: format!("{}_{}", field.name(), position_name(position, length)),
                            kind: ColumnKind::Numbers,
                        });
                    }
                }
            }
        }
        let batches = batches.iter().map(|batch| Batch {
            rows: batch.num_rows(),
            columns: origins
                .iter()
                .map(|&(index, position)| Cells::new(batch.column(index), position))
                .collect(),
        });
        Self {
            batches: batches.collect(),
            columns,
        }
    }
}

impl Frame for ArrowFrame {
    fn columns(&self) -> &[FrameColumn] {
        &self.columns
    }

    fn batches(&self) -> usize {
        self.batches.len()
    }

    fn rows(&self, batch: usize) -> usize {
        self.batches[batch].rows
    }

    fn value(&self, batch: usize, row: usize, column: usize) -> Value<'_> {
        self.batches[batch].columns[column].value(row)
    }
}

/// The length of the lists in a column of number lists, taken from the first list that is not missing.
fn list_length<'a>(
    kind: &DataType,
    mut arrays: impl Iterator<Item = &'a ArrayRef>,
) -> Option<usize> {
    let (DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)) =
        kind
    else {
        return None;
    };
    if !item.data_type().is_numeric() {
        return None;
    }
    let length = |array: &ArrayRef| {
        let row = (0..array.len()).find(|&row| array.is_valid(row))?;
        let (start, end) = list_range(array, row)?;
        Some(end - start)
    };
    arrays.find_map(length).or(Some(0))
}

/// pymovements' name for a list position: one eye, two eyes, or two eyes and their mean.
fn position_name(position: usize, length: usize) -> String {
    let names: &[&str] = match length {
        2 => &["x", "y"],
        4 => &["xl", "yl", "xr", "yr"],
        6 => &["xl", "yl", "xr", "yr", "xa", "ya"],
        _ => &[],
    };
    match names.get(position) {
        Some(name) => (*name).to_string(),
        None => position.to_string(),
    }
}

fn list_range(array: &ArrayRef, row: usize) -> Option<(usize, usize)> {
    if let Some(list) = array.as_list_opt::<i32>() {
        let offsets = list.value_offsets();
        return Some((
            usize::try_from(offsets[row]).ok()?,
            usize::try_from(offsets[row + 1]).ok()?,
        ));
    }
    if let Some(list) = array.as_list_opt::<i64>() {
        let offsets = list.value_offsets();
        return Some((
            usize::try_from(offsets[row]).ok()?,
            usize::try_from(offsets[row + 1]).ok()?,
        ));
    }
    let list = array.as_fixed_size_list_opt()?;
    let length = usize::try_from(list.value_length()).ok()?;
    Some((row * length, (row + 1) * length))
}

fn kind(of: &DataType) -> ColumnKind {
    match of {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnKind::Texts,
        DataType::Null | DataType::Boolean => ColumnKind::Numbers,
        DataType::Float32 | DataType::Float64 => ColumnKind::Numbers,
        of if of.is_integer() => ColumnKind::Numbers,
        DataType::Dictionary(_, values) => kind(values),
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => {
            ColumnKind::Other("points in time".into())
        }
        DataType::Duration(_) | DataType::Time32(_) | DataType::Time64(_) => {
            ColumnKind::Other("values of a type of time".into())
        }
        of => ColumnKind::Other(format!("values of the type {of}")),
    }
}

/// The values of a column in a batch.
enum Cells {
    Float64(PrimitiveArray<Float64Type>),
    Float32(PrimitiveArray<Float32Type>),
    Int64(PrimitiveArray<Int64Type>),
    Int32(PrimitiveArray<Int32Type>),
    Int16(PrimitiveArray<Int16Type>),
    Int8(PrimitiveArray<Int8Type>),
    UInt64(PrimitiveArray<UInt64Type>),
    UInt32(PrimitiveArray<UInt32Type>),
    UInt16(PrimitiveArray<UInt16Type>),
    UInt8(PrimitiveArray<UInt8Type>),
    Flags(BooleanArray),
    Texts(StringArray),
    LargeTexts(LargeStringArray),
    TextViews(StringViewArray),
    /// Categories: indexes into a list of values.
    Categories {
        keys: Box<Cells>,
        values: Box<Cells>,
    },
    /// One position of each list.
    Item {
        lists: ArrayRef,
        items: Box<Cells>,
        position: usize,
    },
    /// Nothing, or a type that gaze data does not have.
    Nothing,
}

impl Cells {
    fn new(array: &ArrayRef, position: Option<usize>) -> Self {
        if let Some(position) = position {
            let items = match array.data_type() {
                DataType::List(_) => array.as_list::<i32>().values(),
                DataType::LargeList(_) => array.as_list::<i64>().values(),
                _ => array.as_fixed_size_list().values(),
            };
            return Cells::Item {
                items: Box::new(Self::new(items, None)),
                lists: Arc::clone(array),
                position,
            };
        }
        match array.data_type() {
            DataType::Float64 => Cells::Float64(array.as_primitive().clone()),
            DataType::Float32 => Cells::Float32(array.as_primitive().clone()),
            DataType::Int64 => Cells::Int64(array.as_primitive().clone()),
            DataType::Int32 => Cells::Int32(array.as_primitive().clone()),
            DataType::Int16 => Cells::Int16(array.as_primitive().clone()),
            DataType::Int8 => Cells::Int8(array.as_primitive().clone()),
            DataType::UInt64 => Cells::UInt64(array.as_primitive().clone()),
            DataType::UInt32 => Cells::UInt32(array.as_primitive().clone()),
            DataType::UInt16 => Cells::UInt16(array.as_primitive().clone()),
            DataType::UInt8 => Cells::UInt8(array.as_primitive().clone()),
            DataType::Boolean => Cells::Flags(array.as_boolean().clone()),
            DataType::Utf8 => Cells::Texts(array.as_string().clone()),
            DataType::LargeUtf8 => Cells::LargeTexts(array.as_string().clone()),
            DataType::Utf8View => Cells::TextViews(array.as_string_view().clone()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let keys = dictionary.keys().slice(0, array.len());
                Cells::Categories {
                    keys: Box::new(Self::new(&keys, None)),
                    values: Box::new(Self::new(dictionary.values(), None)),
                }
            }
            _ => Cells::Nothing,
        }
    }

    fn value(&self, row: usize) -> Value<'_> {
        macro_rules! value {
            ($array:expr, $number:expr) => {
                match $array.is_valid(row) {
                    true => $number($array.value(row)),
                    false => Value::Missing,
                }
            };
        }
        match self {
            Cells::Float64(array) => value!(array, Value::Number),
            Cells::Float32(array) => value!(array, |number| Value::Number(f64::from(number))),
            Cells::Int64(array) => value!(array, Value::Integer),
            Cells::Int32(array) => value!(array, |number| Value::Integer(i64::from(number))),
            Cells::Int16(array) => value!(array, |number| Value::Integer(i64::from(number))),
            Cells::Int8(array) => value!(array, |number| Value::Integer(i64::from(number))),
            Cells::UInt64(array) => value!(array, whole_number),
            Cells::UInt32(array) => value!(array, |number| Value::Integer(i64::from(number))),
            Cells::UInt16(array) => value!(array, |number| Value::Integer(i64::from(number))),
            Cells::UInt8(array) => value!(array, |number| Value::Integer(i64::from(number))),
            Cells::Flags(array) => value!(array, Value::Flag),
            Cells::Texts(array) => value!(array, Value::Text),
            Cells::LargeTexts(array) => value!(array, Value::Text),
            Cells::TextViews(array) => value!(array, Value::Text),
            Cells::Categories { keys, values } => match keys.value(row) {
                Value::Integer(key) => match usize::try_from(key) {
                    Ok(key) => values.value(key),
                    Err(_) => Value::Missing,
                },
                _ => Value::Missing,
            },
            Cells::Item {
                lists,
                items,
                position,
            } => match list_range(lists, row) {
                Some((start, end)) if lists.is_valid(row) && start + position < end => {
                    items.value(start + position)
                }
                _ => Value::Missing,
            },
            Cells::Nothing => Value::Missing,
        }
    }
}

/// A number that may be too large for a signed integer.
#[allow(clippy::cast_precision_loss)] // files are read as floating-point numbers, too
fn whole_number(number: u64) -> Value<'static> {
    match i64::try_from(number) {
        Ok(number) => Value::Integer(number),
        Err(_) => Value::Number(number as f64),
    }
}
