//! Reads group answers one by one, so that an error names the position of its answer.

use super::refuse;
use crate::GroupAnswer;
use crate::result_format::{MAX_ANSWERS, ResultFormatError, check_text};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Checks each answer while the reader is still at its position.
pub(super) struct AnswerList<'a> {
    pub(super) problem: &'a mut Option<ResultFormatError>,
}

impl<'de> DeserializeSeed<'de> for AnswerList<'_> {
    type Value = Vec<GroupAnswer>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for AnswerList<'_> {
    type Value = Vec<GroupAnswer>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of group answers")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Self::Value, S::Error> {
        let mut answers = Vec::new();
        loop {
            let one = AnswerSeed {
                problem: &mut *self.problem,
                answers_before: answers.len(),
            };
            let Some(answer) = list.next_element_seed(one)? else {
                return Ok(answers);
            };
            answers.push(answer);
        }
    }
}

/// Checks an answer within its braces, where the reader still knows its position.
struct AnswerSeed<'a> {
    problem: &'a mut Option<ResultFormatError>,
    /// How many answers came before it.
    answers_before: usize,
}

impl<'de> DeserializeSeed<'de> for AnswerSeed<'_> {
    type Value = GroupAnswer;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<GroupAnswer, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for AnswerSeed<'_> {
    type Value = GroupAnswer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a group answer")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<GroupAnswer, M::Error> {
        if self.answers_before == MAX_ANSWERS {
            return Err(refuse(self.problem)(ResultFormatError::TooMany {
                what: "group answers",
                limit: MAX_ANSWERS,
            }));
        }
        let answer = GroupAnswer::deserialize(MapAccessDeserializer::new(map))?;
        check(&answer).map_err(refuse(self.problem))?;
        Ok(answer)
    }
}

fn check(answer: &GroupAnswer) -> Result<(), ResultFormatError> {
    answer.check()?;
    let groups = answer.groups();
    if groups.len() > 2 * MAX_ANSWERS {
        return Err(ResultFormatError::TooMany {
            what: "groups",
            limit: 2 * MAX_ANSWERS,
        });
    }
    let mut texts = groups.into_iter().chain(answer.texts());
    texts.try_for_each(|text| check_text("a group answer", text))
}
