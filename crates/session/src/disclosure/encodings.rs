//! Finds participants whose earlier answers used other encoding settings. The change of settings could hide that a single
//! recording was corrected.

use super::Tag;
use super::file::{self, Answer, AnswerView, Disclosures, Member};
use std::collections::BTreeMap;

/// How many participants of an answer are known only under other encoding settings, if either answer is about groups. A
/// stimulus does not count if a group answer with the same settings already had at least as many of the participant's
/// scanpaths of it: with fewer, one of them may be known under the other settings only. With as many, it may be another one,
/// which is not noticed.
pub(super) fn with_changed_encoding(disclosed: &Disclosures, answer: &Answer) -> u64 {
    let Some(encoding) = answer.encoding else {
        return 0;
    };
    let is_pairs = |parts: file::Parts| parts == file::Parts::Pairs;
    let earlier = disclosed.answers().filter(|it| it.encoding.is_some());
    let (same, others): (Vec<_>, Vec<_>) = earlier.partition(|it| it.encoding == Some(encoding));
    // The stimuli that a participant had in answers of some kind, and the most scanpaths of each in one answer; `None` if it
    // was in none.
    let stimuli =
        |answers: &[AnswerView<'_>], participant: Tag, is_kind: &dyn Fn(file::Parts) -> bool| {
            let of_kind = answers.iter().filter(|it| is_kind(it.parts));
            let found = of_kind.filter_map(|it| file::find(it.cohort, participant));
            found.map(scanpaths_by_stimulus).reduce(|mut all, other| {
                for (stimulus, count) in other {
                    let most = all.entry(stimulus).or_default();
                    *most = count.max(*most);
                }
                all
            })
        };
    let is_relevant = |parts| !is_pairs(parts) || !is_pairs(answer.parts);
    let is_changed = |member: &&Member| {
        let Some(before) = stimuli(&others, member.participant, &is_relevant) else {
            return false;
        };
        let Some(known) = stimuli(&same, member.participant, &|parts| !is_pairs(parts)) else {
            return true;
        };
        scanpaths_by_stimulus(member)
            .iter()
            .any(|(stimulus, asked)| {
                before.contains_key(stimulus)
                    && known.get(stimulus).is_none_or(|known| known < asked)
            })
    };
    answer.cohort.iter().filter(is_changed).count() as u64
}

/// How many scanpaths a participant has of each stimulus.
fn scanpaths_by_stimulus(member: &Member) -> BTreeMap<Tag, u64> {
    let mut counts = BTreeMap::new();
    for scanpath in &member.scanpaths {
        *counts.entry(scanpath.stimulus).or_default() += u64::from(scanpath.count);
    }
    counts
}
