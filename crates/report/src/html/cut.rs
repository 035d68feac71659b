//! Ids and names that are too long for their place, cut to fit. The tables show ids in full.

use super::text_width::char_width;
use std::collections::HashSet;

/// Cuts an id or name to fit a drawing or a table header.
pub(crate) fn cut(id: &str) -> String {
    cut_to(id, 22)
}

/// The two cohorts in a sentence, cut.
pub(crate) fn cohorts(names: &[String; 2]) -> [String; 2] {
    crate::plan::cohorts(names).map(|name| cut(&name))
}

/// Cuts out the middle: many ids start with the same words and end with a number.
pub(crate) fn cut_to(id: &str, characters: usize) -> String {
    without_middle(&characters_of(id), characters as f64, &|_| 1.0)
}

/// The same for a drawing that has room for a text of this width, in em.
pub(crate) fn fit(id: &str, room: f64) -> String {
    without_middle(&characters_of(id), room, &char_width)
}

/// Cuts the ids of one side to a width in em so that most stay different: drops the middle, the end, or the common start
/// and the end.
pub(crate) fn fit_apart(ids: &[&str], room: f64) -> Vec<String> {
    let ids: Vec<Vec<char>> = ids.iter().map(|id| characters_of(id)).collect();
    let prefix = common_prefix(&ids);
    let all = |cut: &dyn Fn(&[char]) -> String| ids.iter().map(|id| cut(id)).collect();
    let candidates: [Vec<String>; 3] = [
        all(&|id| without_middle(id, room, &char_width)),
        all(&|id| without_end(id, room)),
        all(&|id| without_prefix_and_end(id, prefix, room)),
    ];
    let different = |labels: &Vec<String>| labels.iter().collect::<HashSet<_>>().len();
    let best = candidates.iter().map(different).max().unwrap_or_default();
    let first = candidates
        .into_iter()
        .find(|labels| different(labels) == best);
    first.unwrap_or_default()
}

fn characters_of(id: &str) -> Vec<char> {
    crate::table::printable(id).chars().collect()
}

fn width_of(id: &[char], width: &dyn Fn(char) -> f64) -> f64 {
    id.iter().map(|&character| width(character)).sum()
}

fn without_middle(id: &[char], room: f64, width: &dyn Fn(char) -> f64) -> String {
    if width_of(id, width) <= room {
        return id.iter().collect();
    }
    let mut left = room - width('…');
    let (mut start, mut end) = (0, id.len());
    // One character of the start and one of the end, in turn.
    while start < end {
        let from_start = start <= id.len() - end;
        let next = id[if from_start { start } else { end - 1 }];
        left -= width(next);
        if left < 0.0 {
            break;
        }
        if from_start {
            start += 1;
        } else {
            end -= 1;
        }
    }
    let (start, end) = (&id[..start], &id[end..]);
    start.iter().chain(&['…']).chain(end).collect()
}

fn without_end(id: &[char], room: f64) -> String {
    if width_of(id, &char_width) <= room {
        return id.iter().collect();
    }
    let mut left = room - char_width('…');
    let start = id.iter().take_while(|&&character| {
        left -= char_width(character);
        left >= 0.0
    });
    start.chain(&['…']).collect()
}

fn without_prefix_and_end(id: &[char], prefix: usize, room: f64) -> String {
    if width_of(id, &char_width) <= room {
        return id.iter().collect();
    }
    let rest = without_end(&id[prefix..], room - char_width('…'));
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
    use super::super::text_width::text_width;
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
    fn wide_letters_leave_room_for_fewer() {
        assert_eq!(fit("participant-12", 8.1), "participant-12");
        assert_eq!(fit("participant-123", 8.1), "partic…nt-123");
        assert_eq!(fit("PATIENT_MEMORY_GROUP_00c6", 8.1), "PATIE…_00c6");
        assert_eq!(fit("WWWWWWWWWWWWWWWW", 8.1), "WWWW…WWW");
        assert_eq!(fit("WWWW", 0.5), "…");
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
            let labels = fit_apart(&ids, 8.1);
            assert_eq!(
                labels.iter().collect::<HashSet<_>>().len(),
                12,
                "{labels:?}"
            );
            assert!(
                labels.iter().all(|label| text_width(label) <= 8.1),
                "{labels:?}"
            );
        }
        assert_eq!(fit_apart(&[], 8.1), [] as [String; 0]);
        let equal = "participant-of-the-study";
        assert_eq!(fit_apart(&[equal, equal], 8.1), ["partic…-study"; 2]);
    }
}
