//! What both sides must agree on.

use crate::engines::alignment::private_metric::ends_in_padding;
use crate::engines::shares;
use crate::results::is_possible;
use crate::{
    Answer, Engine, Estimate, GroupQuestion, JobError, Link, MeasureColumn, PairCount, PairRule,
    ProtocolError, Reveal, RevealTo, TreeLevels, Workload,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use veilpath_metrics::{
    Alphabet, Cohort, Comparison, DEFAULT_PRECISION, DurationDivisor, MeasureKind, Metric,
};

/// The plan of a comparison. Two sides can run a comparison if their plans are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The engine that computes it.
    pub engine: Engine,
    /// The metric.
    pub metric: Metric,
    /// The letters.
    pub alphabet: Alphabet,
    /// The settings with which gaze was encoded as letters; empty if no cohort specifies them.
    pub encoding: BTreeMap<String, String>,
    /// Which scanpath is compared with which.
    pub pair_rule: PairRule,
    /// What is revealed: the score or one bit of each pair, or a group answer.
    pub reveal: Reveal,
    /// The sides that get it.
    pub reveal_to: RevealTo,
    /// The length to which every scanpath is padded; `None` if the other side sees the lengths.
    pub pad_to: Option<u32>,
}

/// The longest padding, as long as the longest scanpath of a session.
pub const MAX_PADDING: u32 = 1 << 24;

/// Something that not every engine can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Computing this metric.
    Metric(&'static str),
    /// Computing this metric, which is only possible in the clear.
    PlainEngineOnly(&'static str),
    /// Computing the number, lengths and entropy of the lines in a recurrence plot.
    LineStatistics,
    /// Computing this metric on fixations that are not rounded to letters.
    UnroundedFixations(&'static str),
    /// Dividing a score by the durations of both sides, which are secret.
    DividedByDurations,
    /// Results for one side only.
    OneSidedResults,
    /// One bit instead of a score.
    Threshold,
    /// Hidden lengths, for this metric.
    HiddenLengths(&'static str),
    /// This group answer instead of single pairs.
    GroupAnswer(GroupQuestion),
}

/// An engine that cannot do what the plan says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The engine.
    pub engine: &'static str,
    /// The missing capability.
    pub capability: Capability,
    /// The engines that have it.
    pub instead: Vec<&'static str>,
}

impl std::error::Error for Unsupported {}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.instead.is_empty() {
            true => f.write_str("no engine can ")?,
            false => write!(f, "the {} engine cannot ", self.engine)?,
        }
        match self.capability {
            Capability::Metric(metric) => write!(f, "compute the metric {metric}")?,
            Capability::PlainEngineOnly("subsmatch") => f.write_str(
                "compute subsmatch, which counts all short sequences of letters: hiding these counts would cost far more than other metrics",
            )?,
            Capability::PlainEngineOnly(metric) => write!(
                f,
                "compute {metric}, which takes medians of angles and lengths over aligned saccades: hiding these would cost far more than other metrics"
            )?,
            Capability::LineStatistics => f.write_str(
                "compute statistics of the lines of crqa: hiding how many lines of each length there are would cost far more than its other numbers",
            )?,
            Capability::UnroundedFixations(metric) => write!(
                f,
                "compute {metric} on unrounded fixations: coordinates must be rounded to the cells of a grid that both sides agree on"
            )?,
            Capability::DividedByDurations => {
                f.write_str("divide by the durations of rounded fixations")?
            }
            Capability::OneSidedResults => f.write_str("reveal the results to one side only")?,
            Capability::Threshold => f.write_str("reveal whether a score reaches a threshold without revealing the score")?,
            Capability::GroupAnswer(
                GroupQuestion::Groups { .. } | GroupQuestion::TestGroups { .. },
            ) => f.write_str(
                "use groups that each side keeps secret: it adds up results only with weights that both sides know",
            )?,
            Capability::GroupAnswer(_) => f.write_str(
                "compare results of single pairs, as this answer requires: it only adds them up",
            )?,
            Capability::HiddenLengths(metric) => {
                write!(f, "hide the lengths of scanpaths with the metric {metric}")?
            }
        }
        match self.instead.as_slice() {
            [] => Ok(()),
            [name] => write!(f, "; the {name} engine can"),
            [names @ .., last] => {
                write!(f, "; the {} and {last} engines can", names.join(", "))
            }
        }
    }
}

/// Why two cohorts cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// They are encoded differently.
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
    /// They use different alphabets.
    #[error(
        "the two cohorts use different alphabets: \"{a}\" in the first and \"{b}\" in the second"
    )]
    Alphabet {
        /// The first cohort's alphabet.
        a: Alphabet,
        /// The second cohort's alphabet.
        b: Alphabet,
    },
}

impl Spec {
    /// The plan for two cohorts, or why they cannot be compared.
    pub fn new(
        engine: Engine,
        metric: Metric,
        pair_rule: PairRule,
        a: &Cohort,
        b: &Cohort,
    ) -> Result<Self, SpecError> {
        let [settings_a, settings_b] = [a, b].map(|cohort| cohort.settings(&metric));
        if let Some((setting, a, b)) = settings_a.differences(&settings_b).first() {
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
        let declared = [settings_a, settings_b]
            .into_iter()
            .find(|encoding| !encoding.0.is_empty());
        Ok(Self {
            engine,
            metric,
            alphabet: a.alphabet,
            encoding: declared.unwrap_or_default().0,
            pair_rule,
            reveal: Reveal::Score,
            reveal_to: RevealTo::Both,
            pad_to: None,
        })
    }

    /// Checks that the engine can run the plan, and that the plan's numbers are consistent.
    pub fn check(&self) -> Result<(), ProtocolError> {
        let supports = |engine: &Engine, capability: Capability| match capability {
            Capability::Metric(_)
            | Capability::PlainEngineOnly(_)
            | Capability::LineStatistics
            | Capability::UnroundedFixations(_)
            | Capability::DividedByDurations => engine.can_compute(&self.metric),
            Capability::OneSidedResults => engine.can_reveal_to(self.reveal_to),
            Capability::Threshold => engine.can_reveal(self.reveal),
            Capability::HiddenLengths(_) => engine.can_hide_lengths(&self.metric),
            Capability::GroupAnswer(_) => engine.can_reveal(self.reveal),
        };
        let needed = [
            Some(self.metric_capability()),
            (self.reveal_to != RevealTo::Both).then_some(Capability::OneSidedResults),
            matches!(self.reveal, Reveal::Threshold(_)).then_some(Capability::Threshold),
            self.reveal.group_question().map(Capability::GroupAnswer),
            self.pad_to
                .map(|_| Capability::HiddenLengths(self.metric.name())),
        ];
        for capability in needed.into_iter().flatten() {
            if !supports(&self.engine, capability) {
                // The most private engine first.
                let others = Engine::ALL
                    .iter()
                    .rev()
                    .filter(|other| supports(other, capability));
                return Err(ProtocolError::Unsupported(Unsupported {
                    engine: self.engine.name(),
                    capability,
                    instead: others.map(|other| other.name()).collect(),
                }));
            }
        }
        if self.reveal != Reveal::Score {
            self.check_one_measure()?;
        }
        if let Reveal::Threshold(threshold) = self.reveal {
            threshold.check(&self.metric)?;
        }
        if self.engine == Engine::Shares {
            let padding = usize::from(self.pad_to.is_some());
            let letters = self.alphabet.size() as usize + padding;
            shares::check_alphabet_size(letters).map_err(ProtocolError::Job)?;
        }
        if self
            .pad_to
            .is_some_and(|length| length == 0 || length > MAX_PADDING)
        {
            return Err(ProtocolError::Job(JobError::PaddingOutOfRange {
                pad_to: self.pad_to.unwrap_or_default(),
                limit: MAX_PADDING,
            }));
        }
        Ok(())
    }

    /// The capability that an engine needs for the metric.
    fn metric_capability(&self) -> Capability {
        let name = self.metric.name();
        match &self.metric {
            Metric::MultiMatch(_) | Metric::SubsMatch(_) => Capability::PlainEngineOnly(name),
            Metric::Crqa(crqa) if crqa.has_lines() => Capability::LineStatistics,
            metric if metric.needs_fixations() => Capability::UnroundedFixations(name),
            Metric::ScaSim(scasim) if scasim.divisor == DurationDivisor::Durations => {
                Capability::DividedByDurations
            }
            _ => Capability::Metric(name),
        }
    }

    /// Checks that a bit or a group answer is about one measure, which every pair must have.
    fn check_one_measure(&self) -> Result<(), ProtocolError> {
        if self.metric.is_alignment() {
            return Ok(());
        }
        let measures = self.metric.measures();
        match measures[..] {
            [measure] if measure.may_be_undefined => {
                Err(ProtocolError::Job(JobError::UndefinedMeasure {
                    measure: measure.name,
                }))
            }
            [_] => Ok(()),
            _ => Err(ProtocolError::Job(JobError::SeveralMeasures {
                metric: self.metric.name(),
            })),
        }
    }

    /// The measures of each pair.
    pub fn measures(&self) -> Vec<MeasureColumn> {
        match self.reveal {
            Reveal::Score => {
                let measures = self.metric.measures().into_iter();
                measures
                    .map(|measure| MeasureColumn::new(measure.name, measure.kind))
                    .collect()
            }
            Reveal::Threshold(_) => vec![MeasureColumn::new("within", MeasureKind::Bit)],
            Reveal::Group(_) => Vec::new(),
        }
    }

    /// Whether an answer reveals what was agreed on and nothing else.
    pub fn allows(&self, answer: &Answer) -> bool {
        let Some(score) = answer.pair_score() else {
            return self.reveal.is_answered_by(answer);
        };
        // A similarity together with a score would reveal the hidden lengths.
        let reveals_lengths =
            self.pad_to.is_some() && self.metric.is_alignment() && score.similarity().is_some();
        self.reveal.is_answered_by(answer) && is_possible(&score, &self.metric) && !reveals_lengths
    }

    /// What is learned, in words. If an engine reveals more about single pairs than a group answer, the text
    /// does not claim otherwise.
    pub fn describe_answer(&self) -> String {
        match self.reveal.group_question() {
            Some(question) if !self.engine.opens_outputs_by_halves() => {
                question.describe("the host")
            }
            _ => self.reveal.describe(&self.metric),
        }
    }

    /// The largest difference between a score of this plan and its double-precision value, if scores are computed with rounded
    /// numbers and normalised (ScanMatch in integers).
    pub fn error_bound(&self) -> Option<f64> {
        match self.engine {
            Engine::Plain => self.metric.error_bound(),
            _ => {
                let metric = self.metric.clone();
                metric
                    .with_automatic_scale(DEFAULT_PRECISION)
                    .ok()?
                    .error_bound()
            }
        }
    }

    /// The matrix cells of these pairs, for lengths as the other side sees them.
    pub fn cells(&self, count: &PairCount) -> u64 {
        match self.pad_to {
            None => count.cells,
            Some(length) => {
                let length = u64::from(length) + u64::from(ends_in_padding(&self.metric));
                count.pairs.saturating_mul(length * length)
            }
        }
    }

    /// Estimates a job of this size over this connection, with the engine's fastest options.
    pub fn estimate(&self, work: &Workload, link: &Link) -> Estimate {
        match self.engine {
            Engine::Shares => self.proven_estimates(work, link).shares,
            _ => self.estimate_with(work, link, TreeLevels::default()),
        }
    }

    /// The same, with seed trees of this depth for the `shares` engine.
    pub fn estimate_with(&self, work: &Workload, link: &Link, levels: TreeLevels) -> Estimate {
        match Comparison::new(self.metric.clone(), self.alphabet) {
            Ok(comparison) => {
                let scores = self.engine.estimate(&comparison, work, link, levels);
                match self.reveal.group_question() {
                    None => scores,
                    Some(question) => {
                        scores.and(question.estimate(&comparison, work, link, levels))
                    }
                }
            }
            // Such a job is rejected before it costs anything.
            Err(_) => Estimate::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_metrics::{Crqa, CrqaMeasure, LineMeasure, RecurrenceRule, Undefined};

    #[test]
    fn statistics_of_lines_are_computed_in_the_clear_only() {
        let spec = |engine, measures: &[CrqaMeasure]| Spec {
            engine,
            metric: Metric::Crqa(Crqa {
                rule: RecurrenceRule::SameLetter,
                line: 2,
                measures: measures.to_vec(),
                undefined: Undefined::Zero,
                rounded: true,
            }),
            alphabet: Alphabet::letters(49).unwrap(),
            encoding: Default::default(),
            pair_rule: PairRule::All,
            reveal: Reveal::Score,
            reveal_to: RevealTo::Both,
            pad_to: None,
        };
        let lines = [CrqaMeasure::Rec, CrqaMeasure::Line(LineMeasure::Lines)];
        spec(Engine::Plain, &lines).check().unwrap();
        for engine in [Engine::Shares, Engine::Garbled] {
            spec(engine, &lines[..1]).check().unwrap();
            let refused = spec(engine, &lines).check().unwrap_err().to_string();
            let expected = format!(
                "the {} engine cannot compute statistics of the lines of crqa",
                engine.name()
            );
            assert!(refused.starts_with(&expected), "{refused}");
        }
    }
}
