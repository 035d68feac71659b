//! Who belongs to which group, where both sides have agreed to publish it.
//!
//! The message Labels has one byte for each participant, in the order of their first scanpaths in the roster: the index
//! of the group among the sorted names. It is covered by the commitment in [`GroupTerms`](super::GroupTerms), so that
//! neither side can choose its labels after it has seen the other's, or the coins.

use std::collections::HashMap;
use veilpath_protocol::{GroupSizes, ScanpathId};

/// The labels of a side's participants, given the group of each scanpath.
pub(crate) fn encode(
    scanpath_ids: &[ScanpathId],
    groups: &[String],
    sizes: &GroupSizes,
) -> Option<Vec<u8>> {
    let names = sizes.names();
    let mut of_participant: HashMap<&str, &str> = HashMap::new();
    let mut bytes = Vec::new();
    for (id, group) in scanpath_ids.iter().zip(groups) {
        let index = names.binary_search(group).ok()?;
        match of_participant.insert(&id.participant, group) {
            None => bytes.push(u8::try_from(index).ok()?),
            Some(earlier) if earlier == group => {}
            Some(_) => return None,
        }
    }
    Some(bytes)
}

/// The group of each of the peer's scanpaths; `None` if the labels do not match the roster and the sizes that the peer announced.
pub(crate) fn decode(
    bytes: &[u8],
    scanpath_ids: &[ScanpathId],
    sizes: &GroupSizes,
) -> Option<Vec<String>> {
    let names = sizes.names();
    let mut of_participant: HashMap<&str, &String> = HashMap::new();
    let mut rest = bytes.iter();
    let mut groups = Vec::with_capacity(scanpath_ids.len());
    for id in scanpath_ids {
        let group = match of_participant.get(id.participant.as_str()) {
            Some(group) => *group,
            None => {
                let group = names.get(usize::from(*rest.next()?))?;
                of_participant.insert(&id.participant, group);
                group
            }
        };
        groups.push(group.clone());
    }
    let is_consistent = rest.next().is_none() && GroupSizes::of(scanpath_ids, &groups) == *sizes;
    is_consistent.then_some(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanpath_ids() -> Vec<ScanpathId> {
        let id = |participant: &str| ScanpathId {
            participant: participant.into(),
            stimulus: None,
        };
        ["P2", "P1", "P2", "P3"].map(id).to_vec()
    }

    #[test]
    fn labels_are_read_as_they_are_written() {
        let groups = ["patient", "control", "patient", "patient"].map(String::from);
        let sizes = GroupSizes::of(&scanpath_ids(), &groups);
        let bytes = encode(&scanpath_ids(), &groups, &sizes).unwrap();
        assert_eq!(bytes, [1, 0, 1]);
        let read = decode(&bytes, &scanpath_ids(), &sizes).unwrap();
        assert_eq!(read, groups);
        // One participant is in two groups.
        let torn = ["patient", "control", "control", "patient"].map(String::from);
        assert_eq!(encode(&scanpath_ids(), &torn, &sizes), None);
    }

    #[test]
    fn inconsistent_labels_are_refused() {
        let groups = ["patient", "control", "patient", "patient"].map(String::from);
        let sizes = GroupSizes::of(&scanpath_ids(), &groups);
        for bytes in [
            &[1, 0][..],
            &[1, 0, 1, 1],
            &[1, 0, 2],
            &[1, 1, 1],
            &[0, 0, 1],
            &[],
        ] {
            assert_eq!(decode(bytes, &scanpath_ids(), &sizes), None, "{bytes:?}");
        }
        // The same sizes with another member.
        assert!(decode(&[0, 1, 1], &scanpath_ids(), &sizes).is_some());
    }
}
