//! Ids and names that are too long for their place, cut to fit. The tables show ids in full.

use std::collections::HashSet;

/// Cuts an id or name to fit a drawing or a table header.
pub(crate) fn cut(id: &str) -> String {
    cut_to(id, 22)
}

/// Cuts out the middle: many ids start with the same words and end with a number.
pub(crate) fn cut_to(id: &str, characters: usize) -> String {
    without_middle(&letters_of(id), characters)
}

/// Cuts the ids of one side so that most stay different: drops the middle, the end, or the common start and the end.
pub(crate) fn cut_apart(ids: &[&str], characters: usize) -> Vec<String> {
    let ids: Vec<Vec<char>> = ids.iter().map(|id| letters_of(id)).collect();
    let prefix = common_prefix(&ids);
    let all = |cut: &dyn Fn(&[char]) -> String| ids.iter().map(|id| cut(id)).collect();
    let candidates: [Vec<String>; 3] = [
        all(&|id| without_middle(id, characters)),
        all(&|id| without_end(id, characters)),
        all(&|id| without_prefix_and_end(id, prefix, characters)),
    ];
    let different = |labels: &Vec<String>| labels.iter().collect::<HashSet<_>>().len();
    let best = candidates.iter().map(different).max().unwrap_or_default();
    let first = candidates
        .into_iter()
        .find(|labels| different(labels) == best);
    first.unwrap_or_default()
}

fn letters_of(id: &str) -> Vec<char> {
    crate::table::printable(id).chars().collect()
}

fn without_middle(id: &[char], characters: usize) -> String {
    if id.len() <= characters {
        return id.iter().collect();
    }
    let kept = characters.saturating_sub(1);
    let (start, end) = (&id[..kept.div_ceil(2)], &id[id.len() - kept / 2..]);
    start.iter().chain(&['…']).chain(end).collect()
}

fn without_end(id: &[char], characters: usize) -> String {
    if id.len() <= characters {
        return id.iter().collect();
    }
    let start = &id[..characters.saturating_sub(1)];
    start.iter().chain(&['…']).collect()
}

fn without_prefix_and_end(id: &[char], prefix: usize, characters: usize) -> String {
    if id.len() <= characters {
        return id.iter().collect();
    }
    let rest = without_end(&id[prefix..], characters.saturating_sub(1));
    format!("…{rest}")
}

/// How many characters all ids start with in common.
fn common_prefix(ids: &[Vec<char>]) -> usize {
    let Some((first, others)) = ids.split_first() else {
        return 0;
    };
    let in_common = |other: &Vec<char>| first.iter().zip(other).take_while(|(a, b)| a == b).count();
    others
        .iter()
        .map(in_common)
        .min()
        .unwrap_or(0)
        .min(first.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_keep_their_start_and_end() {
        assert_eq!(cut_to("participant-1", 13), "participant-1");
        assert_eq!(cut_to("participant-12", 13), "partic…ant-12");
        assert_eq!(cut_to("participant-12", 12), "partic…nt-12");
        assert_eq!(cut_to("a\u{7}b", 2), "a…");
        assert_eq!(cut_to("ab", 0), "…");
    }

    #[test]
    fn different_ids_get_different_labels() {
        let sets = [
            ["participant_from_the_clinic_in_", ""],
            ["", "-participant-of-the-study-of-reading-2019"],
            ["participant-of-the-study-", "-of-reading-and-writing-2019"],
            ["p", ""],
        ];
        for [start, end] in sets {
            let ids: Vec<String> = (1..=12).map(|at| format!("{start}{at}{end}")).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let labels = cut_apart(&ids, 13);
            assert_eq!(
                labels.iter().collect::<HashSet<_>>().len(),
                12,
                "{labels:?}"
            );
            assert!(
                labels.iter().all(|label| label.chars().count() <= 13),
                "{labels:?}"
            );
        }
        assert_eq!(cut_apart(&[], 13), [] as [String; 0]);
        let equal = "participant-of-the-study";
        assert_eq!(cut_apart(&[equal, equal], 13), ["partic…-study"; 2]);
    }
}
