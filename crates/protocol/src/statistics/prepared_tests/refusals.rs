//! Plans that have no group answer.

use super::{cohort, spec};
use crate::{Engine, JobError, ProtocolError};
use veilpath_metrics::{Crqa, CrqaMeasure, Metric, RecurrenceRule, Undefined};

/// An answer is about one number that every pair has.
#[test]
fn several_or_undefined_numbers_are_refused() {
    let (a, b) = (cohort(4, 1..9, 0, 11), cohort(3, 1..9, 0, 12));
    let crqa = |measures: &[CrqaMeasure], undefined| {
        Metric::Crqa(Crqa {
            rule: RecurrenceRule::SameLetter,
            line: 2,
            measures: measures.to_vec(),
            undefined,
            rounded: true,
        })
    };
    let [rec, det, ..] = CrqaMeasure::ALL;
    for engine in [Engine::Plain, Engine::Garbled, Engine::Shares] {
        for question in ["mean", "groups", "test:groups", "nearest:3", "histogram:5"] {
            let check = |metric: &Metric| spec(engine, metric, question, &a, &b).check();
            let several = JobError::SeveralMeasures { metric: "crqa" };
            assert_eq!(
                check(&crqa(&[rec, det], Undefined::Zero)),
                Err(ProtocolError::Job(several))
            );
            let undefined = JobError::UndefinedMeasure { measure: "det" };
            assert_eq!(
                check(&crqa(&[det], Undefined::Missing)),
                Err(ProtocolError::Job(undefined))
            );
            for named in [
                crqa(&[det], Undefined::Zero),
                crqa(&[rec], Undefined::Missing),
            ] {
                assert_eq!(check(&named), Ok(()), "{question}");
            }
        }
    }
}
