//! Recognises what kind of file the user provided.

use crate::cohort::other_file;
use crate::report::Image;
use crate::{Error, Invitation, OtherFile, decode_cohort, read_cohort_from};
use std::sync::Arc;
use veilpath_encode::{Columns, Input, parse_number, recognise_format};

/// The kind of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Gaze data or fixations, with the title of their format.
    Gaze(String),
    /// A cohort of scanpaths.
    Cohort,
    /// Results of a comparison.
    Results,
    /// A picture.
    Image,
    /// An invitation.
    Invitation,
    /// Metadata of BIDS recordings, for [`Input::with_companions`].
    Metadata,
    /// A table that may contain gaze data; the user must say what its columns are.
    Unknown,
}

/// Recognises a file by its content. Files that cannot contain gaze data, such as documents, are rejected. So are keys
/// and fingerprints: a private key does not belong among recordings.
pub fn file_kind(name: &str, bytes: &Arc<[u8]>) -> Result<FileKind, Error> {
    if Invitation::is_start_of(bytes) {
        return Ok(FileKind::Invitation);
    }
    let input = Input::from_shared(name, Arc::clone(bytes))?;
    let head = input.head();
    let found = match other_file(&head) {
        Some(found @ (OtherFile::Key | OtherFile::Fingerprint)) => {
            let file = name.to_string();
            return Err(Error::NotACohort { file, found });
        }
        Some(OtherFile::Results) => return Ok(FileKind::Results),
        found => found,
    };
    if bytes.starts_with(b"\x89PNG") || bytes.starts_with(b"\xff\xd8\xff") {
        let image = Image::new(bytes.to_vec());
        let error = |error| crate::report::DrawingError::Image {
            file: name.to_string(),
            error,
        };
        return image
            .map(|_| FileKind::Image)
            .map_err(|it| error(it).into());
    }
    if head.binary {
        return match found {
            Some(OtherFile::Gaze(title)) => Ok(FileKind::Gaze(title)),
            _ => Err(veilpath_encode::explain_unknown(&head).into()),
        };
    }
    let names_scanpaths = head.first_row().to_lowercase().contains("scanpath");
    let is_metadata = veilpath_encode::is_bids_metadata(name);
    // A cohort has a scanpath column; a gaze table has coordinates in every row.
    Ok(match (read_cohort_from(input), found) {
        (Ok(cohort), _) if !cohort.encoding().0.is_empty() => FileKind::Cohort,
        // A list of events without positions (`_physioevents.tsv`) is metadata, although its name also matches a gaze
        // format.
        (_, Some(OtherFile::Gaze(title))) if !(is_metadata && name.contains(".tsv")) => {
            FileKind::Gaze(title)
        }
        _ if is_metadata => FileKind::Metadata,
        // A malformed cohort is still a cohort; its reader reports the position of the error.
        _ if names_scanpaths => FileKind::Cohort,
        (cohort, _) => {
            let explained = veilpath_encode::explain_unknown(&head);
            if explained.fields.is_empty() {
                return Err(explained.into());
            }
            // Any text can be read as unnamed scanpaths, one per line, but few texts consist of letters only.
            match cohort.is_ok_and(|cohort| decode_cohort(&cohort, &()).is_ok()) {
                true => FileKind::Cohort,
                false => FileKind::Unknown,
            }
        }
    })
}

/// The most column names that are returned.
const MAX_COLUMNS: usize = 200;

/// The longest column name that is returned, in bytes.
const MAX_COLUMN_NAME: usize = 200;

/// A table's column names, for users to choose from. Empty if it is not a table, or if its first row is data.
pub fn table_columns(name: &str, bytes: &Arc<[u8]>) -> Vec<String> {
    let Ok(input) = Input::from_shared(name, Arc::clone(bytes)) else {
        return Vec::new();
    };
    let head = input.head();
    let is_table = recognise_format(&head).is_none_or(|format| format.accepts().columns);
    let columns = Columns::of_head(&head);
    let names = columns.names();
    let is_data = |name: &String| parse_number(name, true).is_some();
    if head.binary || !is_table || names.len() < 2 || names.iter().any(is_data) {
        return Vec::new();
    }
    let is_name = |name: &&String| (1..=MAX_COLUMN_NAME).contains(&name.len());
    let names = names.iter().filter(is_name);
    names.take(MAX_COLUMNS).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Result<FileKind, Error> {
        file_kind("f", &text.as_bytes().into())
    }

    #[test]
    fn only_tables_have_columns() {
        let columns = |text: &str| table_columns("f", &text.as_bytes().into());
        assert_eq!(columns("alpha;beta\n1;2\n"), ["alpha", "beta"]);
        assert_eq!(columns("participant,x,y\np,1,2\n").len(), 3);
        // Data is not a header.
        assert!(columns("p1,12.5,7\np1,3,4\n").is_empty());
        assert!(columns("one line of text\0\n").is_empty());
        assert!(columns("** CONVERTED FROM a.edf using edfapi\n** TYPE: EDF_FILE\n").is_empty());
    }

    #[test]
    fn file_kinds_are_recognised() {
        let gaze = kind("participant,x,y,duration\np1,1,2,3\n").unwrap();
        assert!(matches!(gaze, FileKind::Gaze(_)), "{gaze:?}");
        let cohort = kind("participant,scanpath\np1,ABC\n").unwrap();
        assert_eq!(cohort, FileKind::Cohort);
        let other = kind("alpha,beta,gamma\n1.5,2.5,x\n").unwrap();
        assert_eq!(other, FileKind::Unknown);
        assert_eq!(kind("ABC\nABD\n").unwrap(), FileKind::Cohort);
        assert_eq!(kind("p1\taFaF\np2\tbF\n").unwrap(), FileKind::Cohort);
        let open_quote = kind("participant,scanpath\n\"p1,ABC\n").unwrap();
        assert_eq!(open_quote, FileKind::Cohort, "its reader names the line");
        assert!(kind("%PDF-1.7\n1 0 obj\n").is_err());
        assert!(kind("{\"Columns\": [\"x\"]}\n").is_err());
        let channels = "name\ttype\nA\tB\n".as_bytes().into();
        assert!(file_kind("sub-1_channels.tsv", &channels).is_err());
        let metadata = "{\"Columns\": [\"x\"]}".as_bytes().into();
        let sidecar = file_kind("sub-1_physio.json", &metadata);
        assert_eq!(sidecar.unwrap(), FileKind::Metadata);
        let events = "1.5\t0.2\tfixation\n".as_bytes().into();
        let events = file_kind("sub-1_recording-eye1_physioevents.tsv", &events);
        assert_eq!(events.unwrap(), FileKind::Metadata);
        assert!(kind("-----BEGIN PRIVATE KEY-----\n").is_err());
        assert!(kind("%PDF-1.7\n\0\0\0").is_err());
    }
}
