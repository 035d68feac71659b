//! The plan in words: metric, costs, engine, encoding.
//!
//! The plan comes from a file. What this version knows is said in a sentence; all else is shown as it was written, so that a
//! later version's plan loses nothing.

use super::numbers::short;
use serde_json::{Map, Value};

/// Longer values are cut.
const MAX_CHARACTERS: usize = 300;

/// What is said about each part, in order.
pub(crate) fn in_words(spec: &Value) -> Vec<(String, String)> {
    let Value::Object(fields) = spec else {
        return Vec::new();
    };
    let mut said: Vec<(String, String)> = Vec::new();
    let mut say = |name: &str, words: Option<String>| {
        if let Some(words) = words {
            said.push((name.to_string(), words));
        }
    };
    say("Metric", fields.get("metric").map(metric));
    say("Engine", fields.get("engine").map(engine));
    say("Pairs", fields.get("pairs").map(pairs));
    say("Encoding", fields.get("encoding").map(encoding));
    say("Letters", fields.get("alphabet").map(letters));
    say("Told of each pair", fields.get("reveal").map(reveal));
    say("Results go to", fields.get("reveal_to").map(reveal_to));
    let padding = fields.get("pad_to").filter(|value| !value.is_null());
    say(
        "Lengths",
        padding.map(|length| {
            format!(
                "hidden: every scanpath looks {} letters long",
                plain(length)
            )
        }),
    );
    const KNOWN: [&str; 8] = [
        "metric",
        "engine",
        "pairs",
        "encoding",
        "alphabet",
        "reveal",
        "reveal_to",
        "pad_to",
    ];
    for (name, value) in fields
        .iter()
        .filter(|(name, _)| !KNOWN.contains(&name.as_str()))
    {
        say(&cut(name), Some(plain(value)));
    }
    said
}

/// The metric's name as people write it.
pub(crate) fn metric_name(spec: Option<&Value>) -> Option<String> {
    let name = spec?.get("metric")?.get("name")?.as_str()?;
    Some(match name {
        "levenshtein" => "Levenshtein".into(),
        "needleman-wunsch" => "Needleman–Wunsch".into(),
        "smith-waterman" => "Smith–Waterman".into(),
        "scanmatch" => "ScanMatch".into(),
        other => cut(other),
    })
}

/// The engine's name: a word, or the key of its settings.
pub(crate) fn engine_name(spec: Option<&Value>) -> Option<String> {
    match spec?.get("engine")? {
        Value::String(name) => Some(cut(name)),
        Value::Object(settings) => settings.keys().next().map(|name| cut(name)),
        _ => None,
    }
}

fn metric(metric: &Value) -> String {
    let number = |name: &str| metric.get(name).and_then(Value::as_f64).map(short);
    let word = |name: &str| metric.get(name).map(plain).unwrap_or_default();
    let known = |words: &[&str]| words.iter().all(|name| number(name).is_some());
    let n = |name: &str| number(name).unwrap_or_default();
    let text = match metric.get("name").and_then(Value::as_str) {
        Some("levenshtein") => {
            "Levenshtein: the fewest insertions, deletions and replacements that turn one scanpath into the other. \
             Similarity: 1 − distance / length of the longer scanpath"
                .into()
        }
        Some("needleman-wunsch") if known(&["match", "mismatch", "gap"]) => format!(
            "Needleman–Wunsch: the greatest score of an alignment. Equal letters give {}, different ones cost {}, a gap costs {}",
            n("match"), n("mismatch"), n("gap")
        ),
        Some("needleman-wunsch") if known(&["insert", "delete"]) => format!(
            "Needleman–Wunsch: the least cost of an alignment. A letter that only B has costs {}, one that only A has costs {}; {}. \
             Similarity: 1 − cost / largest cost for these lengths",
            n("insert"), n("delete"),
            metric.get("substitution").map(substitution).unwrap_or_default()
        ),
        Some("smith-waterman") if known(&["gap"]) => {
            let scoring = metric.get("scoring");
            let part = |name: &str| scoring.and_then(|scoring| scoring.get(name)?.as_f64()).map(short);
            let letters = match (part("match"), part("mismatch")) {
                (Some(reward), Some(mismatch)) => format!("Equal letters give {reward}, different ones cost {mismatch}"),
                _ => format!("Letters score by {}", scoring.map(table).unwrap_or_default()),
            };
            format!(
                "Smith–Waterman: the greatest score of an alignment of a part of one scanpath with a part of the other. {letters}, a gap costs {}. \
                 Similarity: score / largest score for these lengths",
                n("gap")
            )
        }
        Some("scanmatch") if known(&["threshold", "gap"]) => format!(
            "ScanMatch on a grid of {} cells{}: two cells are the more alike the nearer they are, and not at all from {} cells apart; a gap adds {}. \
             The score is normalised; the similarity is the score, cut to 0 to 1",
            grid(&word("grid")),
            if metric.get("wrap") == Some(&Value::Bool(true)) { ", joined left to right" } else { "" },
            n("threshold"), n("gap")
        ),
        _ => plain(metric),
    };
    let scale = number("scale").map_or_else(String::new, |scale| {
        format!(" (whole numbers, costs times {scale})")
    });
    format!("{text}{scale}.")
}

fn substitution(costs: &Value) -> String {
    let word = |name: &str| costs.get(name).map(plain).unwrap_or_default();
    match costs.get("kind").and_then(Value::as_str) {
        Some("unit") => format!("a replacement costs {}", word("mismatch")),
        Some("index") => "a replacement costs the difference of the letters' numbers".into(),
        Some("grid") => format!(
            "a replacement costs the {} distance of the two cells on a grid of {}",
            word("distance"),
            grid(&word("grid"))
        ),
        Some("table") => format!("replacements cost what {} says", table(costs)),
        _ => plain(costs),
    }
}

fn table(costs: &Value) -> String {
    let table = costs.get("table");
    let rows = table.and_then(|table| table.get("rows")?.as_u64());
    let hash = table.and_then(|table| table.get("sha256")?.as_str());
    match (rows, hash) {
        (Some(rows), Some(hash)) => {
            let start: String = hash.chars().take(12).collect();
            format!("a table of {rows} letters (SHA-256 {start}…)")
        }
        _ => plain(costs),
    }
}

fn engine(engine: &Value) -> String {
    match engine {
        Value::String(name) if name == "plain" => {
            "plain: in the clear. It protects nothing: whoever computes sees both cohorts.".into()
        }
        Value::String(name) => cut(name),
        Value::Object(settings) => {
            let named = settings.iter().map(|(name, settings)| match settings {
                Value::Object(settings) => format!("{}: {}", cut(name), listed(settings)),
                other => format!("{}: {}", cut(name), plain(other)),
            });
            named.collect::<Vec<_>>().join("; ")
        }
        other => plain(other),
    }
}

/// `key bits 2048, batch 256, packing yes`.
fn listed(settings: &Map<String, Value>) -> String {
    let parts = settings.iter().map(|(name, value)| {
        let value = match value {
            Value::Bool(true) => "yes".to_string(),
            Value::Bool(false) => "no".to_string(),
            value => plain(value),
        };
        format!("{} {value}", cut(&name.replace(['_', '-'], " ")))
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn encoding(encoding: &Value) -> String {
    let Value::Object(settings) = encoding else {
        return plain(encoding);
    };
    if settings.is_empty() {
        return "neither cohort says how its letters were made.".into();
    }
    let parts = settings.iter().map(|(name, value)| {
        let value = plain(value);
        match name.as_str() {
            "data" => format!("made from {value}"),
            "grid" => format!("grid of {} cells", grid(&value)),
            "outside" => format!("points off the stimulus {value}"),
            "areas" => format!("areas of interest: {value}"),
            "min-dwell" => format!("shortest dwell {value}"),
            "max-gap" => format!("longest gap {value}"),
            "bin" => format!("a letter for every {value}"),
            _ => format!("{} {value}", cut(&name.replace('-', " "))),
        }
    });
    format!("{}.", parts.collect::<Vec<_>>().join("; "))
}

/// `letters 49` the other way round.
fn letters(alphabet: &Value) -> String {
    let text = plain(alphabet);
    match text.split_once(' ') {
        Some((notation, size)) => format!("{size} {}.", notation.replace('-', " ")),
        None => text,
    }
}

fn pairs(rule: &Value) -> String {
    match rule.as_str() {
        Some("same-stimulus") => {
            "scanpaths of the same stimulus, where both cohorts have stimuli.".into()
        }
        Some("all") => "every scanpath of A with every one of B.".into(),
        _ => plain(rule),
    }
}

fn reveal(reveal: &Value) -> String {
    match reveal.as_str() {
        Some("score") => "its score.".into(),
        Some(text) if text.starts_with("threshold:") => {
            let threshold = cut(text.trim_start_matches("threshold:"));
            format!(
                "one bit: whether its score is at most {threshold}, or for similarities at least."
            )
        }
        _ => plain(reveal),
    }
}

fn reveal_to(who: &Value) -> String {
    match who.as_str() {
        Some("both") => "both sides.".into(),
        Some("host") => "the host (A) alone.".into(),
        Some("join") => "the joining side (B) alone.".into(),
        _ => plain(who),
    }
}

fn grid(text: &str) -> String {
    text.replacen('x', " × ", 1)
}

/// A value as it was written; text without its quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => cut(text),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), short),
        value => cut(&value.to_string()),
    }
}

fn cut(text: &str) -> String {
    let clean = crate::table::printable(text);
    if clean.chars().count() <= MAX_CHARACTERS {
        return clean;
    }
    clean.chars().take(MAX_CHARACTERS).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_metrics::{
        Alphabet, Distance, Grid, LocalScoring, Metric, Substitution, Table, TableOf,
    };

    fn words(metric: &Metric) -> String {
        super::metric(&serde_json::to_value(metric).unwrap())
    }

    /// Every metric as the plan really writes it: a sentence and no JSON.
    #[test]
    fn every_metric_is_said_in_words() {
        let costs = Table::parse("0,1\n1,0\n", TableOf::Costs, &Alphabet::letters(2).unwrap());
        let table = costs.unwrap();
        let substitutions = [
            Substitution::Unit { mismatch: 1.5 },
            Substitution::Index,
            Substitution::Grid {
                grid: Grid::default(),
                wrap: false,
                distance: Distance::Manhattan,
            },
            Substitution::Table {
                table: table.clone(),
            },
        ];
        let mut metrics: Vec<Metric> = substitutions
            .into_iter()
            .map(|substitution| Metric::NeedlemanWunsch {
                substitution,
                insert: 1.0,
                delete: 2.0,
                scale: Some(10),
            })
            .collect();
        metrics.extend([
            Metric::Levenshtein,
            Metric::NeedlemanWunschScore {
                reward: 2.0,
                mismatch: 1.0,
                gap: 1.0,
                scale: None,
            },
            Metric::SmithWaterman {
                scoring: LocalScoring::Unit {
                    reward: 2.0,
                    mismatch: 1.0,
                },
                gap: 1.0,
                scale: None,
            },
            Metric::SmithWaterman {
                scoring: LocalScoring::Table { table },
                gap: 1.0,
                scale: None,
            },
            Metric::ScanMatch {
                grid: Grid::default(),
                wrap: true,
                threshold: 3.5,
                gap: -0.5,
                scale: None,
            },
        ]);
        let said: Vec<String> = metrics.iter().map(words).collect();
        assert!(said.iter().all(|text| !text.contains('{')), "{said:#?}");
        assert!(
            said[0].contains("a replacement costs 1.5") && said[0].contains("costs times 10"),
            "{}",
            said[0]
        );
        assert!(
            said[2].contains("manhattan distance of the two cells on a grid of 7 × 7"),
            "{}",
            said[2]
        );
        assert!(
            said[3].contains("a table of 2 letters (SHA-256 "),
            "{}",
            said[3]
        );
        assert!(
            said[8].contains("joined left to right") && said[8].contains("a gap adds −0.5"),
            "{}",
            said[8]
        );
    }

    #[test]
    fn what_is_unknown_is_shown_as_it_was_written() {
        let spec = serde_json::json!({
            "metric": {"name": "dtw", "window": 5}, "engine": {"garbled": {"hash": "aes", "lanes": 8}}, "colour": [1, 2],
            "reveal": "threshold:3", "pad_to": 40
        });
        let said = in_words(&spec);
        let get = |name: &str| &said.iter().find(|(known, _)| known == name).unwrap().1;
        assert_eq!(get("Metric"), "{\"name\":\"dtw\",\"window\":5}.");
        assert_eq!(get("Engine"), "garbled: hash aes, lanes 8");
        assert_eq!(get("colour"), "[1,2]");
        assert!(get("Told of each pair").contains("at most 3, or"));
        assert!(get("Lengths").contains("40 letters"));
        assert!(in_words(&serde_json::json!("x")).is_empty());
    }
}
