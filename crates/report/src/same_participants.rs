//! Pairs of two cohorts that may be of one person.

/// The number of pairs whose scanpaths have the same participant id. `None` if there are none, or if all ids are numbers:
/// both institutions may have numbered their own participants.
pub fn pairs_of_one_id<'a>(pairs: impl IntoIterator<Item = [&'a str; 2]>) -> Option<usize> {
    let is_number = |id: &str| id.bytes().all(|byte| byte.is_ascii_digit());
    let (mut same, mut has_names) = (0, false);
    for ids in pairs {
        same += usize::from(ids[0] == ids[1]);
        has_names |= !ids.into_iter().all(is_number);
    }
    (same > 0 && has_names).then_some(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_are_only_numbers_say_nothing() {
        assert_eq!(pairs_of_one_id([["p1", "p1"], ["p1", "p2"]]), Some(1));
        assert_eq!(pairs_of_one_id([["1", "1"], ["1", "p2"]]), Some(1));
        assert_eq!(pairs_of_one_id([["1", "1"], ["1", "2"]]), None);
        assert_eq!(pairs_of_one_id([["p1", "p2"]]), None);
    }
}
