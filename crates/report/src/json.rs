//! The whole outcome as one object, in the format that `veilpath-protocol` defines.
//!
//! Every field and every result has its own line, so that people can read and compare files. Characters that could
//! control a terminal are escaped; see [`veilpath_metrics::text`].

use serde::Serialize;
use serde_json::ser::Formatter;
use std::io::{self, Write};
use veilpath_metrics::text::json_escaped;
use veilpath_protocol::Outcome;

/// Writes the whole outcome, result by result.
pub fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Lines::default());
    outcome.serialize(&mut serializer)?;
    writeln!(out)?;
    out.flush()
}

/// Breaks lines between the fields of the object and between the entries of its lists. Everything deeper is compact.
#[derive(Default)]
struct Lines {
    depth: usize,
}

/// The nesting depths of the object's fields and of its list entries.
const FIELDS: usize = 1;
const ENTRIES: usize = 2;

impl Formatter for Lines {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        out.write_all(json_escaped(fragment).as_bytes())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if self.depth == FIELDS {
            out.write_all(b"\n")?;
        }
        self.depth -= 1;
        out.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        if self.depth == FIELDS {
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(if self.depth == FIELDS { b": " } else { b":" })
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        if self.depth == ENTRIES {
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if self.depth == ENTRIES {
            out.write_all(b"\n")?;
        }
        self.depth -= 1;
        out.write_all(b"]")
    }
}
