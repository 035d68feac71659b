//! A plan as names and numbers, for invitations and forms.

use crate::{Choice, Error, MetricName, MetricOptions, PlanOptions, SubstitutionChoice};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use veilpath_protocol::{Engine, EngineChoice, PairRule, Reveal, RevealTo};

/// A plan as names and numbers. Everything else is as in [`PlanOptions::new`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NamedPlan {
    /// The name of the metric.
    pub metric: String,
    /// The metric's parameters, by the names in [`NamedPlan::PARAMETERS`].
    pub parameters: BTreeMap<String, f64>,
    /// How to determine the cost of a replacement; `None` for the metric's default. Not a file.
    pub substitution: Option<String>,
    /// The positions to compare: `letters` or `fixations`.
    pub positions: String,
    /// Whether the left and right edges of the grid are joined.
    pub wrap: bool,
    /// `auto`, or the name of an engine without options.
    pub engine: String,
    /// Which scanpaths are compared with each other.
    pub pairs: String,
    /// What is revealed.
    pub reveal: String,
    /// Who gets the results: `both`, `host` or `join`.
    pub reveal_to: String,
    /// The length that every scanpath appears to have.
    pub pad_to: Option<u32>,
}

impl Default for NamedPlan {
    fn default() -> Self {
        Self {
            metric: MetricName::default().name().into(),
            parameters: BTreeMap::new(),
            substitution: None,
            positions: "letters".into(),
            wrap: false,
            engine: EngineChoice::AUTO.into(),
            pairs: PairRule::default().name().into(),
            reveal: Reveal::Score.to_string(),
            reveal_to: "both".into(),
            pad_to: None,
        }
    }
}

impl NamedPlan {
    /// The valid parameter names.
    pub const PARAMETERS: [&'static str; 11] = [
        "insert",
        "delete",
        "gap",
        "reward",
        "mismatch",
        "threshold",
        "scale",
        "precision",
        "radius",
        "line",
        "window",
    ];

    /// Converts the plan to options.
    pub fn options(&self) -> Result<PlanOptions, Error> {
        let mut metric = MetricOptions {
            name: parsed("metric", &self.metric)?,
            substitution: self.substitution()?,
            wrap: self.wrap,
            ..MetricOptions::default()
        };
        metric.non_alignment.positions = parsed("positions", &self.positions)?;
        for (name, &number) in &self.parameters {
            if !number.is_finite() {
                return Err(invalid(
                    "parameters",
                    format!("{name} is not a finite number"),
                ));
            }
            let field = match name.as_str() {
                "insert" => &mut metric.insert,
                "delete" => &mut metric.delete,
                "gap" => &mut metric.gap,
                "reward" => &mut metric.reward,
                "mismatch" => &mut metric.mismatch,
                "threshold" => &mut metric.threshold,
                "scale" => &mut metric.scale,
                "precision" => &mut metric.precision,
                "radius" => &mut metric.non_alignment.radius,
                "line" => {
                    metric.non_alignment.line = Some(count("line", number)?);
                    continue;
                }
                "window" => {
                    metric.non_alignment.window = Some(count("window", number)?);
                    continue;
                }
                other => {
                    return Err(invalid(
                        "parameters",
                        format!("there is no parameter {other:?}"),
                    ));
                }
            };
            *field = Some(number);
        }
        Ok(PlanOptions {
            pairs: parsed("pairs", &self.pairs)?,
            reveal: parsed("reveal", &self.reveal)?,
            reveal_to: RevealTo::named(&self.reveal_to)
                .map_err(|error| invalid("reveal_to", error.to_string()))?,
            pad_to: self.pad_to,
            ..PlanOptions::new(self.engine()?, metric)
        })
    }

    fn engine(&self) -> Result<EngineChoice, Error> {
        Ok(match self.engine.as_str() {
            EngineChoice::AUTO => EngineChoice::Auto,
            "plain" => Engine::Plain.into(),
            name => match Engine::proven(name) {
                Some(engine) => engine.into(),
                None => {
                    let problem = "expected auto, garbled, shares or plain";
                    return Err(invalid("engine", problem));
                }
            },
        })
    }

    /// Rejects files: a file on this machine means nothing to whoever sent the plan.
    fn substitution(&self) -> Result<Option<SubstitutionChoice>, Error> {
        let Some(name) = &self.substitution else {
            return Ok(None);
        };
        match SubstitutionChoice::named(name) {
            Some(choice) => Ok(Some(choice)),
            None => Err(invalid(
                "substitution",
                "expected unit, index, manhattan, euclidean or chebyshev",
            )),
        }
    }
}

fn parsed<T: FromStr<Err: Display>>(field: &'static str, text: &str) -> Result<T, Error> {
    text.parse().map_err(|error: T::Err| Error::PlanField {
        field,
        problem: error.to_string(),
    })
}

fn invalid(field: &'static str, problem: impl Into<String>) -> Error {
    Error::PlanField {
        field,
        problem: problem.into(),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked
fn count(name: &str, number: f64) -> Result<u32, Error> {
    match number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number) {
        true => Ok(number as u32),
        false => Err(invalid(
            "parameters",
            format!("{name} is not a whole number"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_field() {
        let plan = NamedPlan {
            parameters: NamedPlan::PARAMETERS.map(|it| (it.to_string(), 2.0)).into(),
            ..NamedPlan::default()
        };
        let metric = plan.options().unwrap().metric;
        let floats = [
            metric.insert,
            metric.delete,
            metric.gap,
            metric.reward,
            metric.mismatch,
            metric.threshold,
            metric.scale,
            metric.precision,
            metric.non_alignment.radius,
        ];
        assert_eq!(floats, [Some(2.0); 9]);
        assert_eq!(
            (metric.non_alignment.line, metric.non_alignment.window),
            (Some(2), Some(2))
        );
        for metric in MetricName::ALL {
            let metric = metric.name().to_string();
            let plan = NamedPlan {
                metric,
                ..NamedPlan::default()
            };
            assert!(plan.options().is_ok());
        }
    }

    #[test]
    fn parameters_are_serialised_by_name() {
        let plan: NamedPlan =
            serde_json::from_str(r#"{"parameters": {"gap": 2.0, "x": 1.0}}"#).unwrap();
        let written = serde_json::to_value(&plan).unwrap();
        assert_eq!(written["parameters"]["gap"], 2.0);
        let error = plan.options().unwrap_err().to_string();
        assert_eq!(error, "parameters: there is no parameter \"x\"");
    }

    #[test]
    fn unknown_values_are_refused() {
        let change = |change: fn(&mut NamedPlan)| {
            let mut plan = NamedPlan::default();
            change(&mut plan);
            let error = plan.options().unwrap_err();
            assert!(matches!(error, Error::PlanField { .. }), "{error}");
        };
        change(|plan| plan.metric = "x".into());
        change(|plan| plan.engine = "paillier".into());
        change(|plan| plan.reveal = "everything".into());
        change(|plan| plan.reveal_to = "me".into());
        change(|plan| plan.pairs = "some".into());
        change(|plan| plan.substitution = Some("Cargo.toml".into()));
        change(|plan| {
            plan.parameters.insert("gap".into(), f64::NAN);
        });
        change(|plan| {
            plan.parameters.insert("line".into(), 0.5);
        });
        change(|plan| {
            plan.parameters.insert("x".into(), 1.0);
        });
    }

    /// The names of parameters are not fields of a plan.
    #[test]
    fn problems_are_about_fields_of_the_plan() {
        for name in ["line", "window"] {
            let plan = NamedPlan {
                parameters: [(name.to_string(), 0.5)].into(),
                ..NamedPlan::default()
            };
            let error = plan.options().unwrap_err().to_string();
            assert_eq!(error, format!("parameters: {name} is not a whole number"));
        }
        let plan = NamedPlan {
            reveal_to: "me".into(),
            ..NamedPlan::default()
        };
        let error = plan.options().unwrap_err().to_string();
        assert_eq!(error, "reveal_to: \"me\" is not one of both, host, join");
    }
}
