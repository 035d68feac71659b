//! The limits of a group answer, in words.

use veilpath::units;
use veilpath::{GroupQuestion, GroupSummary, Reveal};

/// The limits of a group answer.
pub(super) fn limit(groups: &GroupSummary, reveal: Reveal) -> String {
    let participants = units::counted(groups.minimum.into(), "participant");
    let minimum = match reveal.group_question() {
        Some(GroupQuestion::Nearest {
            rate_only: false, ..
        }) => format!("every group needs at least {participants}, and as many scanpaths vote"),
        _ => format!(
            "every group, stimulus and histogram range needs at least {participants} per side"
        ),
    };
    match groups.answers {
        Some(answers) => format!(
            "{minimum}; group answers for this partner: {answers} of at most {}, this one included (an answer may count as several)",
            groups.max_answers
        ),
        None => format!(
            "{minimum}; the partner does not get this answer, so it does not count as one of its group answers"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_count_is_shown_only_if_the_peer_learns_answers() {
        let groups = GroupSummary {
            minimum: 5,
            answers: Some(3),
            max_answers: 20,
        };
        let limit_text =
            |groups: &GroupSummary, question: &str| limit(groups, question.parse().unwrap());
        let text = limit_text(&groups, "mean");
        assert!(
            text.contains("5 participants per side")
                && text.contains("for this partner: 3 of at most 20, this")
        );
        let hidden = GroupSummary {
            answers: None,
            ..groups
        };
        let hidden_text = limit_text(&hidden, "mean");
        assert!(!hidden_text.contains("20") && hidden_text.contains("does not get this answer"));
        // Each label is about a single scanpath.
        assert!(!limit_text(&groups, "nearest:5").contains("every group, stimulus"));
    }
}
