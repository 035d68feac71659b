//! Opens files. Only this module deals with gzip, byte order marks, UTF-16, legacy code pages and line endings.

mod consumed;

pub(crate) use consumed::{Consumed, STOPPED};

use crate::ReadError;
use crate::frame::NamedFrame;
use consumed::Counting;
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use flate2::bufread::MultiGzDecoder;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many bytes of a file format detection looks at.
const HEAD_BYTES: usize = 64 << 10;

/// How many raw bytes [`Head`] keeps: enough for any format's magic number.
const START_BYTES: usize = 256;

/// How many rows of a frame are looked at to judge it: about as much data as [`HEAD_BYTES`] of a file.
const START_ROWS: u64 = 2000;

/// The longest line. A longer one means that this is not a text table; the limit also bounds memory.
const MAX_LINE_BYTES: usize = 16 << 20;

/// The largest content that is read into memory as a whole.
const MAX_TEXT_BYTES: u64 = 1 << 30;

type Decoded = BufReader<DecodeReaderBytes<Box<dyn Read + Send>, Vec<u8>>>;

/// An open file: UTF-8 text without byte order mark (single lines may still contain bytes of a legacy code page). A
/// frame in memory is an input, too; it has rows but no lines.
pub struct Input {
    name: String,
    path: Option<PathBuf>,
    memory: Option<Arc<[u8]>>,
    frame: Option<(NamedFrame, u64, Arc<Consumed>)>,
    companions: Arc<[(String, Arc<[u8]>)]>,
    head: Vec<u8>,
    rest: Decoded,
}

impl Input {
    /// Opens a file. Gzip is recognised by its first bytes, not by the name.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::open_counting(path, Arc::default())
    }

    /// Opens a file. The bytes consumed while it is read (as stored on disk) are added to a counter.
    pub(crate) fn open_counting(path: &Path, consumed: Arc<Consumed>) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        let metadata = std::fs::metadata(path).map_err(|error| cannot_open(&name, &error))?;
        if metadata.is_dir() {
            return Err(
                ReadError::new(&name, "this is a folder, not a file").with_remedy(
                    "name the files in it, for example with a pattern such as FOLDER/*.csv",
                ),
            );
        }
        let file = File::open(path).map_err(|error| cannot_open(&name, &error))?;
        Self::from_reader(
            &name,
            Some(path.to_path_buf()),
            Box::new(Counting { file, consumed }),
        )
    }

    /// Opens bytes in memory under any name.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, ReadError> {
        Self::from_shared(name, bytes.into())
    }

    /// Like [`Input::from_bytes`], but without a copy, for bytes that are read several times.
    pub fn from_shared(name: &str, bytes: Arc<[u8]>) -> Result<Self, ReadError> {
        let input = Self::from_reader(name, None, Box::new(Cursor::new(Arc::clone(&bytes))))?;
        Ok(Self {
            memory: Some(bytes),
            ..input
        })
    }

    /// Opens a frame, whose rows [`crate::Rows::open`] reads. It has no lines.
    pub fn from_frame(frame: NamedFrame) -> Result<Self, ReadError> {
        Self::from_frame_counting(frame, Arc::default())
    }

    pub(crate) fn from_frame_counting(
        frame: NamedFrame,
        consumed: Arc<Consumed>,
    ) -> Result<Self, ReadError> {
        let name = frame.name.clone();
        Ok(Self {
            frame: Some((frame, u64::MAX, consumed)),
            ..Self::from_shared(&name, Arc::default())?
        })
    }

    /// The frame, the maximum number of rows to read from it, and the counter for them.
    pub(crate) fn frame(&self) -> Option<(&NamedFrame, u64, Arc<Consumed>)> {
        let (frame, max_rows, consumed) = self.frame.as_ref()?;
        Some((frame, *max_rows, Arc::clone(consumed)))
    }

    /// The start of a table, from which readers infer its layout and units.
    pub(crate) fn start(&self) -> Result<Self, ReadError> {
        let Some((frame, _, _)) = &self.frame else {
            let head = self.head().lines.join("\n").into_bytes();
            return Self::from_bytes(&self.name, head);
        };
        let mut start = Self::from_frame(frame.clone())?;
        if let Some((_, max_rows, _)) = &mut start.frame {
            *max_rows = START_ROWS;
        }
        Ok(start)
    }

    /// Opens the same input again from its start, for formats that need later lines first; `None` for a pipe, which can
    /// be read only once. What is read from it is not counted a second time.
    pub fn reopen(&self) -> Result<Option<Self>, ReadError> {
        let again = match (&self.frame, &self.memory, &self.path) {
            (Some((frame, ..)), ..) => Self::from_frame(frame.clone())?,
            (None, Some(bytes), _) => Self::from_shared(&self.name, Arc::clone(bytes))?,
            (None, None, Some(path)) if path.is_file() => Self::open(path)?,
            _ => return Ok(None),
        };
        Ok(Some(again.with_companions(Arc::clone(&self.companions))))
    }

    fn from_reader(
        name: &str,
        path: Option<PathBuf>,
        raw: Box<dyn Read + Send>,
    ) -> Result<Self, ReadError> {
        let failed = |error: io::Error| cannot_read(name, &error);
        let mut raw = BufReader::new(raw);
        let start = raw.fill_buf().map_err(failed)?;
        let utf16 = utf16_without_mark(start);
        let bytes: Box<dyn Read + Send> = if start.starts_with(&[0x1f, 0x8b]) {
            Box::new(MultiGzDecoder::new(raw))
        } else {
            Box::new(raw)
        };
        let decoder = DecodeReaderBytesBuilder::new()
            .encoding(utf16)
            .bom_sniffing(true)
            .strip_bom(true)
            .utf8_passthru(true)
            .build(bytes);
        let mut rest = BufReader::with_capacity(1 << 18, decoder);
        let mut head = Vec::new();
        (&mut rest)
            .take(HEAD_BYTES as u64)
            .read_to_end(&mut head)
            .map_err(failed)?;
        Ok(Self {
            name: name.to_string(),
            path,
            memory: None,
            frame: None,
            companions: Arc::default(),
            head,
            rest,
        })
    }

    /// Adds the files that were given together with bytes in memory, such as metadata and recordings of the other eye;
    /// for a file, they are found in its folder. Many inputs can share one list.
    pub fn with_companions(self, companions: Arc<[(String, Arc<[u8]>)]>) -> Self {
        Self { companions, ..self }
    }

    /// The names and contents given to [`with_companions`](Self::with_companions).
    pub(crate) fn companions(&self) -> &[(String, Arc<[u8]>)] {
        &self.companions
    }

    /// The name as the user gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the file is; `None` for bytes in memory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The file name without folders and without its extensions `.gz`, `.csv` and the like.
    pub fn stem(&self) -> &str {
        let file = self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name);
        let file = file.strip_suffix(".gz").unwrap_or(file);
        file.rsplit_once('.')
            .map_or(file, |(stem, _)| if stem.is_empty() { file } else { stem })
    }

    /// The first lines, for format detection.
    pub fn head(&self) -> Head {
        let text = decode(&self.head);
        let complete = self.head.len() < HEAD_BYTES;
        let mut lines: Vec<String> = split_lines(&text).map(str::to_string).collect();
        if !complete && lines.len() > 1 {
            lines.pop();
        }
        Head {
            name: self.name.clone(),
            binary: self.is_binary(),
            is_whole: complete,
            start: self.head.iter().take(START_BYTES).copied().collect(),
            lines,
        }
    }

    /// Whether the start contains zero bytes, so that it cannot be text.
    pub(crate) fn is_binary(&self) -> bool {
        self.head.contains(&0)
    }

    /// The whole content as text, for small files such as cost tables.
    pub fn read_text(self) -> Result<String, ReadError> {
        let name = self.name.clone();
        let mut bytes = Vec::new();
        self.into_reader()
            .take(MAX_TEXT_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| ReadError::new(&name, format!("cannot be read: {error}")))?;
        if bytes.len() as u64 > MAX_TEXT_BYTES {
            return Err(ReadError::new(
                &name,
                "this file is too large: more than 1 GB",
            ));
        }
        Ok(decode(&bytes).into_owned())
    }

    /// The whole content as a stream of bytes.
    ///
    /// Only content that starts with a byte order mark or has UTF-16's pattern of zeros is transcoded; a binary file whose
    /// first 64 bytes are ASCII text comes through byte for byte.
    pub fn into_reader(self) -> impl Read {
        Cursor::new(self.head).chain(self.rest)
    }

    /// The content line by line.
    pub fn into_lines(self) -> Lines {
        // Files from classic Mac OS end their lines with a lone carriage return.
        let line_end = if self.head.contains(&b'\r') && !self.head.contains(&b'\n') {
            b'\r'
        } else {
            b'\n'
        };
        Lines {
            name: self.name,
            reader: Box::new(Cursor::new(self.head).chain(self.rest)),
            line_end,
            number: 0,
            buffer: Vec::new(),
        }
    }
}

/// The start of a file, as format detection sees it.
#[derive(Clone, Debug)]
pub struct Head {
    /// The file's name as the user gave it.
    pub name: String,
    /// Whether it contains zero bytes, so that it cannot be text.
    pub binary: bool,
    /// Whether this is the whole file.
    pub is_whole: bool,
    /// The very first bytes (after decompression), for formats that are recognised by a magic number.
    pub start: Vec<u8>,
    /// The first lines, without line endings; an incomplete last line is left out.
    pub lines: Vec<String>,
}

impl Head {
    /// The first line that is not blank.
    pub fn first_line(&self) -> &str {
        self.lines
            .iter()
            .map(|line| line.trim())
            .find(|line| !line.is_empty())
            .unwrap_or("")
    }

    /// The first line that is neither blank nor a comment (`#`).
    pub fn first_row(&self) -> &str {
        self.lines
            .iter()
            .map(|line| line.trim())
            .find(|line| !line.is_empty() && !line.starts_with('#'))
            .unwrap_or("")
    }

    /// Whether the file is empty or all blank.
    pub fn is_blank(&self) -> bool {
        self.first_line().is_empty()
    }

    /// The extension in lower case, ignoring `.gz`.
    pub fn extension(&self) -> String {
        let name = self.name.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        name.rsplit(['/', '\\'])
            .next()
            .and_then(|file| file.rsplit_once('.'))
            .map_or(String::new(), |(_, extension)| extension.to_string())
    }
}

/// A file line by line, with line numbers.
pub struct Lines {
    name: String,
    reader: Box<dyn BufRead>,
    line_end: u8,
    number: u64,
    buffer: Vec<u8>,
}

impl Lines {
    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of the last line read, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its line ending, or `None` at the end of the file.
    ///
    /// Not an `Iterator`: the line lives in a buffer that the next call overwrites.
    pub fn next_line(&mut self) -> Result<Option<Cow<'_, str>>, ReadError> {
        self.buffer.clear();
        let read = (&mut self.reader)
            .take(MAX_LINE_BYTES as u64 + 1)
            .read_until(self.line_end, &mut self.buffer)
            .map_err(|error| cannot_read(&self.name, &error).at_line(self.number + 1))?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if read > MAX_LINE_BYTES {
            return Err(ReadError::new(
                &self.name,
                "this line is longer than 16 MiB, so this is not a text table",
            )
            .at_line(self.number));
        }
        let mut end = self.buffer.len();
        while end > 0 && matches!(self.buffer[end - 1], b'\n' | b'\r') {
            end -= 1;
        }
        Ok(Some(decode(&self.buffer[..end])))
    }

    /// The rest of the file as bytes, for a table reader that takes over after a preamble.
    pub fn into_reader(self) -> Box<dyn BufRead> {
        self.reader
    }

    /// An error at the last line read.
    pub fn error(&self, problem: impl Into<String>) -> ReadError {
        ReadError::new(&self.name, problem).at_line(self.number)
    }
}

/// Decodes UTF-8, or else Windows-1252, the code page of old Windows exports, in which every byte is valid.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            encoding_rs::WINDOWS_1252
                .decode_without_bom_handling(bytes)
                .0
        }
    }
}

/// Splits text into lines, which end with `\n` or `\r\n`, or with a lone `\r` if the text has no `\n`.
fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let old_mac = text.contains('\r') && !text.contains('\n');
    text.split(if old_mac { '\r' } else { '\n' })
        .map(|line| line.trim_end_matches('\r'))
}

/// Recognises UTF-16 without a byte order mark: every other byte of Western text is zero.
fn utf16_without_mark(start: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let sample = &start[..start.len().min(64) & !1];
    let zeros = |parity: usize| {
        sample
            .iter()
            .skip(parity)
            .step_by(2)
            .filter(|&&b| b == 0)
            .count()
    };
    let half = sample.len() / 2;
    match (zeros(0), zeros(1)) {
        (0, odd) if half >= 4 && odd * 10 >= half * 9 => Some(encoding_rs::UTF_16LE),
        (even, 0) if half >= 4 && even * 10 >= half * 9 => Some(encoding_rs::UTF_16BE),
        _ => None,
    }
}

/// The error for a file that is truncated or damaged.
pub(crate) fn cannot_read(name: &str, error: &io::Error) -> ReadError {
    let (problem, remedy) = match error.kind() {
        // The errors of a damaged or truncated gzip file.
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            (
                "the compressed content is damaged or truncated".to_string(),
                "copy or download the file again; `gzip -t FILE` checks whether a copy is intact",
            )
        }
        _ => (
            format!("cannot be read: {error}"),
            "copy the file to a local disk and try again",
        ),
    };
    ReadError::new(name, problem).with_remedy(remedy)
}

fn cannot_open(name: &str, error: &io::Error) -> ReadError {
    let problem = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => format!("cannot be opened: {error}"),
    };
    ReadError::new(name, problem)
}

#[cfg(test)]
mod tests;
