//! JSON that is erased when it is dropped.

use crate::SessionError;
use crate::error::InternalError;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// Counts what is written.
#[derive(Default)]
struct Length(usize);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value as JSON, in memory that is allocated once, because a growing text leaves copies.
pub(crate) fn write<T: Serialize>(value: &T) -> Result<Zeroizing<Vec<u8>>, SessionError> {
    let failed = |error: serde_json::Error| InternalError::Serialise(error.to_string());
    let mut length = Length::default();
    serde_json::to_writer(&mut length, value).map_err(failed)?;
    let mut text = Zeroizing::new(Vec::with_capacity(length.0));
    serde_json::to_writer(&mut *text, value).map_err(failed)?;
    Ok(text)
}

/// At most this many bytes of a file, in memory that is allocated once unless the file grows meanwhile.
pub(crate) fn read(file: File, most: u64) -> io::Result<Zeroizing<Vec<u8>>> {
    let length = file.metadata()?.len().min(most);
    // One byte more, so that the end is detected without growing.
    let capacity = usize::try_from(length)
        .unwrap_or(usize::MAX)
        .saturating_add(1);
    let mut text = Zeroizing::new(Vec::with_capacity(capacity));
    file.take(most).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_allocated_once() {
        let value: Vec<u32> = (0..10_000).collect();
        let text = write(&value).unwrap();
        assert_eq!(text.len(), text.capacity());
        assert_eq!(*text, serde_json::to_vec(&value).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, &*text).unwrap();
        let again = read(File::open(&path).unwrap(), u64::MAX).unwrap();
        assert_eq!(again, text);
        assert_eq!(again.capacity(), text.len() + 1);
        assert_eq!(read(File::open(&path).unwrap(), 7).unwrap().len(), 7);
    }
}
