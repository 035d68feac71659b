//! Converts Python keyword arguments to the façade's options. They have the command line's names, with `_` for `-`.

use crate::errors::bad_argument;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use veilpath::{Choice, Grid};

/// The keyword arguments that were given. `None` counts as not given.
pub(crate) struct Arguments<'py>(pub(crate) Bound<'py, PyDict>);

impl<'py> Arguments<'py> {
    pub(crate) fn py(&self) -> Python<'py> {
        self.0.py()
    }

    /// The value of an argument.
    pub(crate) fn object(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.0.get_item(name)?;
        Ok(value.filter(|value| !value.is_none()))
    }

    /// The value of an argument, converted from Python.
    pub(crate) fn value<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let Some(object) = self.object(name)? else {
            return Ok(None);
        };
        object.extract::<T>().map(Some).map_err(|error| {
            let error: PyErr = error.into();
            bad_argument(self.py(), name, error.value(self.py()))
        })
    }

    /// A value, or its default.
    pub(crate) fn or_default<T>(&self, name: &str) -> PyResult<T>
    where
        T: Default + for<'a> FromPyObject<'a, 'py>,
    {
        Ok(self.value(name)?.unwrap_or_default())
    }

    /// A value that the library parses from text.
    pub(crate) fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(text) = self.value::<String>(name)? else {
            return Ok(None);
        };
        text.parse()
            .map(Some)
            .map_err(|error| bad_argument(self.py(), name, error))
    }

    /// A choice by its name.
    pub(crate) fn choice<T: Choice>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(text) = self.value::<String>(name)? else {
            return Ok(None);
        };
        T::named(&text)
            .map(Some)
            .map_err(|error| bad_argument(self.py(), name, error))
    }

    /// A number above 0.
    pub(crate) fn positive(&self, name: &str) -> PyResult<Option<f64>> {
        match self.value::<f64>(name)? {
            Some(number) if !(number > 0.0 && number.is_finite()) => {
                Err(bad_argument(self.py(), name, "expected a number above 0"))
            }
            number => Ok(number),
        }
    }

    /// Columns and rows, as two numbers or as a text such as 7x7.
    pub(crate) fn grid(&self, name: &str) -> PyResult<Option<Grid>> {
        let Some(object) = self.object(name)? else {
            return Ok(None);
        };
        let text = match object.extract::<(u32, u32)>() {
            Ok((columns, rows)) => format!("{columns}x{rows}"),
            Err(_) => object.extract::<String>().map_err(|_| {
                bad_argument(self.py(), name, "expected columns and rows, as in (7, 7)")
            })?,
        };
        text.parse()
            .map(Some)
            .map_err(|error: <Grid as FromStr>::Err| bad_argument(self.py(), name, error))
    }

    /// A path.
    pub(crate) fn path(&self, name: &str) -> PyResult<Option<PathBuf>> {
        self.value(name)
    }

    /// One string, or several.
    pub(crate) fn texts(&self, name: &str) -> PyResult<Vec<String>> {
        let Some(object) = self.object(name)? else {
            return Ok(Vec::new());
        };
        match object.extract::<String>() {
            Ok(text) => Ok(vec![text]),
            Err(_) => self.or_default(name),
        }
    }
}
