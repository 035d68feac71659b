//! The MAT level 5 container: a header of 128 bytes, then tagged elements, one per variable, compressed or not.
//!
//! Sizes in the file are not trusted: memory grows with the bytes that are actually read, up to a limit.

use crate::ReadError;
use crate::input::cannot_read;
use flate2::read::ZlibDecoder;
use std::io::{self, Read};

/// How all level 5 files start.
pub(super) const MAGIC: &[u8] = b"MATLAB 5.0 MAT-file";

/// The maximum number of values in a variable: 2²⁴, or five million fixations, more than any scanpath has.
const MAX_VALUES: usize = 1 << 24;

const HEADER_BYTES: usize = 128;
const MI_MATRIX: u32 = 14;
const MI_COMPRESSED: u32 = 15;
const FLAG_COMPLEX: u32 = 0x0800;

/// The class of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A matrix of real numbers.
    Numbers,
    /// Anything else, with a description.
    Other(&'static str),
}

/// One variable.
#[derive(Debug)]
pub(super) struct Matrix {
    pub(super) name: String,
    pub(super) class: Class,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Column by column; empty unless the shape can be that of a scanpath.
    values: Vec<f64>,
}

impl Matrix {
    /// A number; `None` outside the matrix.
    pub(super) fn value(&self, row: usize, column: usize) -> Option<f64> {
        if row >= self.rows || column >= self.columns {
            return None;
        }
        self.values.get(column * self.rows + row).copied()
    }
}

/// The variables of a file, one after another.
pub(super) struct Variables<'a, R> {
    file: &'a str,
    reader: R,
    number: usize,
}

impl<'a, R: Read> Variables<'a, R> {
    /// Reads the header.
    pub(super) fn open(file: &'a str, mut reader: R) -> Result<Self, ReadError> {
        let mut header = Vec::with_capacity(HEADER_BYTES);
        let read = (&mut reader)
            .take(HEADER_BYTES as u64)
            .read_to_end(&mut header);
        read.map_err(|error| cannot_read(file, &error))?;
        let error =
            |problem: &str, remedy: &str| Err(ReadError::new(file, problem).with_remedy(remedy));
        if header.starts_with(b"MATLAB 7.3 MAT-file") {
            return error(
                "this is a MATLAB 7.3 file (HDF5 inside)",
                "in MATLAB, load it and save it again with save('file.mat', ..., '-v7')",
            );
        }
        if !header.starts_with(MAGIC) || header.len() < HEADER_BYTES {
            return error(
                "this is not a level 5 MATLAB file, or it is truncated",
                "in MATLAB, load it and save it again with save('file.mat', ..., '-v7')",
            );
        }
        if header.ends_with(b"MI") {
            return error(
                "this MATLAB file was written on a big-endian machine",
                "load it in a current MATLAB or Octave and save it again with -v7",
            );
        }
        Ok(Self {
            file,
            reader,
            number: 0,
        })
    }

    /// The next variable, or `None` at the end of the file.
    pub(super) fn next_matrix(&mut self) -> Result<Option<Matrix>, ReadError> {
        loop {
            self.number += 1;
            match self.next_element() {
                Ok(Some(Element::Matrix(matrix))) => return Ok(Some(matrix)),
                Ok(Some(Element::Unknown)) => {}
                Ok(None) => return Ok(None),
                Err(Fault::Io(error)) => {
                    return Err(self.error(&match error.kind() {
                        io::ErrorKind::UnexpectedEof => "it is truncated".to_string(),
                        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                            "its compressed data are damaged".to_string()
                        }
                        _ => error.to_string(),
                    }));
                }
                Err(Fault::Content(problem)) => return Err(self.error(problem)),
            }
        }
    }

    fn next_element(&mut self) -> Result<Option<Element>, Fault> {
        let mut tag = Vec::with_capacity(8);
        (&mut self.reader).take(8).read_to_end(&mut tag)?;
        if tag.is_empty() {
            return Ok(None);
        }
        let (kind, size) = (word(&tag, 0)?, word(&tag, 4)?);
        let mut content = (&mut self.reader).take(u64::from(size));
        let element = match kind {
            MI_MATRIX => Element::Matrix(read_matrix(&mut content)?),
            MI_COMPRESSED => {
                let mut plain = ZlibDecoder::new(&mut content);
                let mut tag = [0; 8];
                plain.read_exact(&mut tag)?;
                if word(&tag, 0)? == MI_MATRIX {
                    let size = u64::from(word(&tag, 4)?);
                    let matrix = read_matrix(&mut (&mut plain).take(size))?;
                    if !matrix.values.is_empty() {
                        // Read to the end of the stream, so that its checksum detects damaged numbers.
                        io::copy(&mut plain.take(8), &mut io::sink())?;
                    }
                    Element::Matrix(matrix)
                } else {
                    Element::Unknown
                }
            }
            _ => Element::Unknown,
        };
        // Skip what is not needed: the imaginary part, the fields of a struct, padding.
        io::copy(&mut content, &mut io::sink())?;
        // Otherwise a truncated file would pass for a complete one.
        if content.limit() > 0 {
            return Err(Fault::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(Some(element))
    }

    fn error(&self, problem: &str) -> ReadError {
        ReadError::new(self.file, format!("in variable number {}: {problem}", self.number))
            .with_remedy("copy the file again, or in MATLAB load it and save it again with save('file.mat', ..., '-v7')")
    }
}

enum Element {
    Matrix(Matrix),
    Unknown,
}

enum Fault {
    Io(io::Error),
    Content(&'static str),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Io(error)
    }
}

fn read_matrix(reader: &mut impl Read) -> Result<Matrix, Fault> {
    let (_, flags) = sub_element(reader, 8)?;
    let flags = word(&flags, 0)?;
    let (_, sizes) = sub_element(reader, 1 << 10)?;
    let mut sizes = sizes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|size| u32::from_le_bytes(*size) as usize);
    let (rows, columns) = (sizes.next().unwrap_or(0), sizes.next().unwrap_or(0));
    // Further dimensions of size 1 change nothing.
    let flat = sizes.all(|size| size == 1);
    let (_, name) = sub_element(reader, 1 << 10)?;
    let mut matrix = Matrix {
        name: crate::input::decode(&name).into_owned(),
        class: match flags & 0xff {
            // Numbers and flags (logical arrays) are both stored as numbers.
            6..=15 if !flat => Class::Other("an array of more than two dimensions"),
            6..=15 if flags & FLAG_COMPLEX != 0 => Class::Other("a complex matrix"),
            6..=15 => Class::Numbers,
            1 => Class::Other("a cell array"),
            2 => Class::Other("a struct"),
            3 | 16 | 17 => Class::Other("an object"),
            4 => Class::Other("a text"),
            5 => Class::Other("a sparse matrix"),
            _ => Class::Other("something unknown"),
        },
        rows,
        columns,
        values: Vec::new(),
    };
    if matrix.class == Class::Numbers && (columns == 2 || columns == 3) {
        let count = rows
            .checked_mul(columns)
            .filter(|&count| count <= MAX_VALUES);
        let count = count.ok_or(Fault::Content("the matrix is too large for a scanpath"))?;
        let (kind, data) = sub_element(reader, count * 8)?;
        matrix.values = numbers(kind, &data)?;
        if matrix.values.len() != count {
            return Err(Fault::Content(
                "there are more or fewer numbers than its size says",
            ));
        }
    }
    Ok(matrix)
}

/// Type and content of the next element inside a matrix, at most `limit` bytes.
fn sub_element(reader: &mut impl Read, limit: usize) -> Result<(u32, Vec<u8>), Fault> {
    let mut tag = [0; 8];
    reader.read_exact(&mut tag)?;
    let first = word(&tag, 0)?;
    // Up to four bytes are packed into the tag itself.
    if first >> 16 != 0 {
        let size = (first >> 16) as usize;
        let content = tag
            .get(4..4 + size)
            .ok_or(Fault::Content("a small element is larger than four bytes"))?;
        return Ok((first & 0xffff, content.to_vec()));
    }
    let size = word(&tag, 4)? as usize;
    if size > limit {
        return Err(Fault::Content("an element is larger than the file allows"));
    }
    let mut content = Vec::new();
    reader.take(size as u64).read_to_end(&mut content)?;
    if content.len() < size {
        return Err(Fault::Io(io::ErrorKind::UnexpectedEof.into()));
    }
    // Elements start at multiples of eight bytes.
    let padding = (8 - size % 8) % 8;
    io::copy(&mut reader.take(padding as u64), &mut io::sink())?;
    Ok((first, content))
}

/// Decodes numbers. MATLAB stores whole numbers in the smallest type that holds them, whatever the class of the matrix.
#[allow(clippy::cast_precision_loss)]
fn numbers(kind: u32, data: &[u8]) -> Result<Vec<f64>, Fault> {
    macro_rules! all {
        ($number:ty, $bytes:literal) => {
            data.as_chunks::<$bytes>()
                .0
                .iter()
                .map(|bytes| <$number>::from_le_bytes(*bytes) as f64)
                .collect()
        };
    }
    Ok(match kind {
        1 => all!(i8, 1),
        2 => all!(u8, 1),
        3 => all!(i16, 2),
        4 => all!(u16, 2),
        5 => all!(i32, 4),
        6 => all!(u32, 4),
        7 => all!(f32, 4),
        9 => all!(f64, 8),
        12 => all!(i64, 8),
        13 => all!(u64, 8),
        _ => return Err(Fault::Content("its numbers are of an unknown type")),
    })
}

/// A little-endian word of a tag.
fn word(bytes: &[u8], at: usize) -> Result<u32, Fault> {
    let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    bytes
        .map(|bytes| u32::from_le_bytes(*bytes))
        .ok_or_else(|| Fault::Io(io::ErrorKind::UnexpectedEof.into()))
}
