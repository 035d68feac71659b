//! What both sides must agree on.

use crate::{Engine, Estimate, PairRule, Role, Work};
use serde::Serialize;
use std::collections::BTreeMap;
use veilpath_metrics::{Alphabet, Cohort, Comparison, Metric};

/// The plan of a comparison. Two sides can work together when theirs are equal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spec {
    /// How it is computed.
    pub engine: Engine,
    /// What is computed.
    pub metric: Metric,
    /// The letters.
    pub alphabet: Alphabet,
    /// How gaze became letters, setting by setting; empty where no cohort says.
    pub encoding: BTreeMap<String, String>,
    /// Which scanpath is compared with which.
    pub pairs: PairRule,
    /// Who gets the scores.
    pub reveal_to: RevealTo,
}

/// Who gets the scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RevealTo {
    /// Both sides.
    #[default]
    Both,
    /// The host alone.
    Host,
    /// The joining side alone.
    Join,
}

impl RevealTo {
    /// Whether a side gets the scores.
    pub fn includes(self, role: Role) -> bool {
        match self {
            RevealTo::Both => true,
            RevealTo::Host => role == Role::Host,
            RevealTo::Join => role == Role::Join,
        }
    }
}

/// Two cohorts that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// They were made from gaze in different ways.
    #[error(
        "the two cohorts are encoded differently: {setting} is \"{a}\" in the first and \"{b}\" in the second"
    )]
    Encoding {
        /// Which setting.
        setting: String,
        /// Its value in the first cohort.
        a: String,
        /// Its value in the second.
        b: String,
    },
    /// They are written in different letters.
    #[error(
        "the two cohorts use different alphabets: \"{a}\" in the first and \"{b}\" in the second"
    )]
    Alphabet {
        /// The first cohort's.
        a: Alphabet,
        /// The second's.
        b: Alphabet,
    },
}

impl Spec {
    /// The plan for two cohorts, or why they cannot be compared.
    pub fn new(
        engine: Engine,
        metric: Metric,
        pairs: PairRule,
        a: &Cohort,
        b: &Cohort,
    ) -> Result<Self, SpecError> {
        if let Some((setting, a, b)) = a.encoding.differences(&b.encoding).first() {
            return Err(SpecError::Encoding {
                setting: (*setting).to_string(),
                a: (*a).to_string(),
                b: (*b).to_string(),
            });
        }
        if a.alphabet != b.alphabet {
            return Err(SpecError::Alphabet {
                a: a.alphabet,
                b: b.alphabet,
            });
        }
        let declared = [&a.encoding, &b.encoding]
            .into_iter()
            .find(|encoding| !encoding.0.is_empty());
        Ok(Self {
            engine,
            metric,
            alphabet: a.alphabet,
            encoding: declared
                .map(|encoding| encoding.0.clone())
                .unwrap_or_default(),
            pairs,
            reveal_to: RevealTo::Both,
        })
    }
    /// What a job of this size will cost.
    pub fn estimate(&self, work: &Work) -> Estimate {
        match Comparison::new(self.metric.clone(), self.alphabet) {
            Ok(comparison) => self.engine.estimate(&comparison, work),
            // Such a job is refused before it costs anything.
            Err(_) => Estimate::default(),
        }
    }
}
