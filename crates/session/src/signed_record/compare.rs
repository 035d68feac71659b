//! Two sides' records of the same sessions.

use super::line::{RecordEntry, SessionEntry};
use super::verify::{RecordLine, SignedRecord};

/// What the records of two sides have in common. Both have the other's signature of every step, so a step that only one
/// record has was removed from the end of the other, or the connection broke while it was being signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordComparison {
    /// Steps that both have.
    pub common: u64,
    /// Lines of theirs whose step is missing in ours.
    pub missing_in_ours: Vec<RecordLine>,
    /// Lines of ours whose step is missing in theirs.
    pub missing_in_theirs: Vec<RecordLine>,
    /// Whether the same side has signed both.
    pub has_same_owner: bool,
}

impl RecordComparison {
    /// Compares two intact records. Sessions with other partners do not count.
    pub fn new(ours: &SignedRecord, theirs: &SignedRecord) -> Self {
        let (own, others) = (lines_about(ours, theirs), lines_about(theirs, ours));
        let has = |lines: &[(&RecordLine, &SessionEntry)], entry: &SessionEntry| {
            lines
                .iter()
                .any(|(_, other)| other.step == entry.step && other.disclosure == entry.disclosure)
        };
        let missing = |from: &[(&RecordLine, &SessionEntry)],
                       among: &[(&RecordLine, &SessionEntry)]| {
            let missing = from.iter().filter(|(_, entry)| !has(among, entry));
            missing.map(|(line, _)| (*line).clone()).collect()
        };
        Self {
            common: own.iter().filter(|(_, entry)| has(&others, entry)).count() as u64,
            missing_in_ours: missing(&others, &own),
            missing_in_theirs: missing(&own, &others),
            has_same_owner: ours.owners().iter().any(|it| theirs.owners().contains(it)),
        }
    }

    /// Whether nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.missing_in_ours.is_empty() && self.missing_in_theirs.is_empty()
    }
}

/// The lines of a record about sessions with the owner of another. An empty record may have any owner.
fn lines_about<'a>(
    record: &'a SignedRecord,
    other: &SignedRecord,
) -> Vec<(&'a RecordLine, &'a SessionEntry)> {
    let partners = other.owners();
    let lines = record.lines.iter();
    lines
        .filter_map(|line| match &line.entry {
            RecordEntry::Session(entry) => Some((line, entry.as_ref())),
            RecordEntry::Withdrawal(_) => None,
        })
        .filter(|(line, _)| {
            let partner = line.partner();
            partners.is_empty() || partner.is_some_and(|it| partners.contains(&it))
        })
        .collect()
}
