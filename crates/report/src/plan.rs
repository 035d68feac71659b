//! The plan in words: metric, costs, engine, encoding.

use crate::html::numbers::short;
use crate::table::printable;
use crate::units;
use std::iter;
use veilpath_metrics::{Distance, LocalScoring, Metric, Substitution, Table};
use veilpath_protocol::{Engine, PairRule, Reveal, RevealTo, Spec, named_measures};

mod encoding;
mod non_alignment;

/// Longer values are truncated.
const MAX_CHARACTERS: usize = 300;

const REVEALED: &str = "Revealed per pair";
const RECIPIENTS: &str = "Results go to";

/// The parts that are about the results of pairs.
pub(crate) const OF_RESULTS: [&str; 2] = [REVEALED, RECIPIENTS];

/// The text for each part, in order. `names` are those of the two cohorts. If both are on one machine and nothing is
/// hidden, no side is named as the recipient of results.
pub fn describe(
    spec: &Spec,
    names: &[String; 2],
    in_the_clear: bool,
) -> Vec<(&'static str, String)> {
    let mut parts = vec![
        ("Metric", metric(&spec.metric, names)),
        ("Engine", engine(spec.engine, in_the_clear)),
        ("Pairs", pairs(spec.pair_rule, names)),
        ("Encoding", encoding::describe(&spec.encoding)),
        ("Letters", letters(spec)),
        (REVEALED, reveal(spec)),
    ];
    if let Some(question) = spec.reveal.group_question() {
        let first = match in_the_clear {
            true => truncated(&names[0]),
            false => side(RevealTo::Host, names),
        };
        let words = iter::once(question.describe(&first));
        let words = words.chain(question.rounding(spec).map(String::from));
        let words: Vec<String> = words.collect();
        parts.push(("Revealed about groups", format!("{}.", words.join("; "))));
        if let Some(published) = question.describe_published() {
            parts.push(("Published", format!("{published}.")));
        }
    }
    if !in_the_clear {
        parts.push((RECIPIENTS, reveal_to(spec.reveal_to, names)));
    }
    if let Some(length) = spec.pad_to {
        parts.push((
            "Lengths",
            format!("hidden: every scanpath looks {length} letters long."),
        ));
    }
    parts
}

/// The metric's conventional name.
pub(crate) fn metric_name(metric: &Metric) -> &'static str {
    match metric {
        Metric::Levenshtein => "Levenshtein",
        Metric::NeedlemanWunsch { .. } | Metric::NeedlemanWunschScore { .. } => "Needleman–Wunsch",
        Metric::SmithWaterman { .. } => "Smith–Waterman",
        Metric::ScanMatch { .. } => "ScanMatch",
        Metric::SequenceScore => "Sequence Score",
        Metric::Dtw(_) => "Dynamic time warping",
        Metric::Frechet(_) => "Discrete Fréchet distance",
        Metric::Hausdorff(_) => "Hausdorff distance",
        Metric::Crqa(_) => "Cross-recurrence",
        Metric::ScaSim(_) => "ScaSim",
        Metric::MultiMatch(_) => "MultiMatch",
        Metric::SubsMatch(_) => "SubsMatch",
    }
}

/// A side in words: its role, and its cohort's name if that adds information.
pub(crate) fn side(side: RevealTo, names: &[String; 2]) -> String {
    let (words, name) = match side {
        RevealTo::Host => ("the host", &names[0]),
        RevealTo::Join => ("the joining side", &names[1]),
        RevealTo::Both => return "both sides".into(),
    };
    if *name == side.to_string() {
        return words.into();
    }
    format!("{words} ({})", truncated(name))
}

/// The two cohorts in a sentence: their names, or their sides if they have only the names of roles.
pub(crate) fn cohorts(names: &[String; 2]) -> [String; 2] {
    let roles = [RevealTo::Host, RevealTo::Join];
    let has_roles = roles.map(|role| role.to_string()) == *names;
    [0, 1].map(|at| match has_roles {
        true => side(roles[at], names),
        false => truncated(&names[at]),
    })
}

fn metric(metric: &Metric, names: &[String; 2]) -> String {
    // A cohort that is compared with itself has one name.
    let [first, second] = match names[0] == names[1] {
        true => ["first", "second"].map(|which| format!("the {which} scanpath")),
        false => names.each_ref().map(|name| truncated(name)),
    };
    let (text, scale) = match metric {
        Metric::Levenshtein => (
            "Levenshtein: the fewest insertions, deletions and replacements that turn one scanpath into the other. \
             Similarity: 1 − distance / length of the longer scanpath"
                .into(),
            None,
        ),
        Metric::NeedlemanWunschScore {
            reward,
            mismatch,
            gap,
            scale,
        } => (
            format!(
                "Needleman–Wunsch: the best score of an alignment. Equal letters give {}, different ones cost {}, a gap costs {}",
                short(*reward),
                short(*mismatch),
                short(*gap)
            ),
            scale.map(f64::from),
        ),
        Metric::NeedlemanWunsch {
            substitution,
            insert,
            delete,
            scale,
        } => (
            format!(
                "Needleman–Wunsch: the minimum cost of an alignment. A letter that only {} has costs {}, one that only {} has costs {}; {}. \
                 Similarity: 1 − cost / largest cost for these lengths",
                second,
                short(*insert),
                first,
                short(*delete),
                replacements(substitution)
            ),
            scale.map(f64::from),
        ),
        Metric::SmithWaterman {
            scoring,
            gap,
            scale,
        } => {
            let letters = match scoring {
                LocalScoring::Unit { reward, mismatch } => format!(
                    "Equal letters give {}, different ones cost {}",
                    short(*reward),
                    short(*mismatch)
                ),
                LocalScoring::Table { table } => format!("Letters score by {}", table_name(table)),
            };
            (
                format!(
                    "Smith–Waterman: the best score of an alignment of a part of one scanpath with a part of the other. {letters}, a gap costs {}. \
                     Similarity: score / largest score for these lengths",
                    short(*gap)
                ),
                scale.map(f64::from),
            )
        }
        Metric::ScanMatch {
            grid,
            wrap,
            threshold,
            gap,
            scale,
        } => (
            format!(
                "ScanMatch on a grid of {} cells{}: the nearer two grid cells are, the more similar they are; {} or more cells apart, they are not similar; a gap adds {}. \
                 The score is normalised; the similarity is the score, limited to 0 to 1",
                by(&grid.to_string()),
                if *wrap {
                    ", joined left to right"
                } else {
                    ""
                },
                short(*threshold),
                short(*gap)
            ),
            *scale,
        ),
        metric => return non_alignment::describe(metric),
    };
    let bound = metric.error_bound().map_or_else(String::new, |bound| {
        let bound = units::error_bound(bound);
        format!("; scores are accurate to ±{bound}")
    });
    let scale = scale.map_or_else(String::new, |scale| {
        format!(" (whole numbers, costs times {}{bound})", short(scale))
    });
    format!("{text}{scale}.")
}

fn replacements(costs: &Substitution) -> String {
    match costs {
        Substitution::Unit { mismatch } => format!("a replacement costs {}", short(*mismatch)),
        Substitution::Index => "a replacement costs the difference of the letters' numbers".into(),
        Substitution::Grid {
            grid,
            wrap,
            distance,
        } => format!(
            "a replacement costs the {} distance between the two grid cells on a grid of {}{}",
            match distance {
                Distance::Manhattan => "Manhattan",
                Distance::Euclidean => "Euclidean",
                Distance::Chebyshev => "Chebyshev",
            },
            by(&grid.to_string()),
            if *wrap { ", joined left to right" } else { "" }
        ),
        Substitution::Table { table } => {
            format!("replacements cost what {} says", table_name(table))
        }
    }
}

fn table_name(table: &Table) -> String {
    let start: String = table.fingerprint().chars().take(12).collect();
    format!("a table of {} letters (SHA-256 {start}…)", table.size())
}

fn engine(engine: Engine, in_the_clear: bool) -> String {
    let yes = |set: bool| if set { "yes" } else { "no" };
    match engine {
        Engine::Plain if in_the_clear => "plain: on this machine, without encryption.".into(),
        Engine::Plain => {
            "plain: in the clear. It protects nothing: the party that computes sees both cohorts."
                .into()
        }
        Engine::Garbled => "garbled: two-party computation with garbled circuits.".into(),
        Engine::Shares => "shares: two-party computation on secret shares.".into(),
        Engine::Paillier(options) => format!(
            "paillier: homomorphic encryption with a key of {}, batches of {}, packing {}, hardened masks {}.",
            options.key_size(),
            options.batch(),
            yes(options.packing()),
            yes(options.hardened())
        ),
    }
}

fn letters(spec: &Spec) -> String {
    let notation = spec.alphabet.notation().name().replace('-', " ");
    let noun = match notation.as_str() {
        "dna" => "bases",
        name => name,
    };
    format!("{} {noun}.", spec.alphabet.size())
}

fn pairs(rule: PairRule, [first, second]: &[String; 2]) -> String {
    match rule {
        PairRule::SameStimulus => {
            "scanpaths of the same stimulus, where both cohorts have stimuli.".into()
        }
        PairRule::All => format!(
            "every scanpath of {} with every one of {}.",
            truncated(first),
            truncated(second)
        ),
    }
}

fn reveal(spec: &Spec) -> String {
    match spec.reveal {
        Reveal::Score => format!("{}.", named_measures(&spec.metric, "its score")),
        Reveal::Group(_) => "nothing.".into(),
        Reveal::Threshold(threshold) => format!(
            "a yes or no: is {} at {} {threshold}?",
            named_measures(&spec.metric, "its score"),
            if spec.metric.is_distance() {
                "most"
            } else {
                "least"
            }
        ),
    }
}

fn reveal_to(who: RevealTo, names: &[String; 2]) -> String {
    match who {
        RevealTo::Both => "both sides.".into(),
        RevealTo::Host => format!("{} only.", side(RevealTo::Host, names)),
        RevealTo::Join => format!("{} only.", side(RevealTo::Join, names)),
    }
}

fn by(grid: &str) -> String {
    grid.replacen('x', " × ", 1)
}

pub(crate) fn truncated(text: &str) -> String {
    let clean = printable(text);
    if clean.chars().count() <= MAX_CHARACTERS {
        return clean;
    }
    clean.chars().take(MAX_CHARACTERS).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath_metrics::{Alphabet, Grid, TableKind};

    fn names() -> [String; 2] {
        ["Clinic".into(), "University".into()]
    }

    #[test]
    fn every_metric_is_described() {
        let costs = Table::parse(
            "0,1\n1,0\n",
            TableKind::Costs,
            &Alphabet::letters(2).unwrap(),
        );
        let table = costs.unwrap();
        let describe = |substitution: Substitution| {
            let metric = Metric::NeedlemanWunsch {
                substitution,
                insert: 1.0,
                delete: 2.0,
                scale: Some(10),
            };
            super::metric(&metric, &names())
        };
        let unit = describe(Substitution::Unit { mismatch: 1.5 });
        assert!(unit.contains("a replacement costs 1.5"), "{unit}");
        assert!(unit.contains("only University has costs 1"), "{unit}");
        assert!(unit.contains("costs times 10"), "{unit}");
        let grid = describe(Substitution::Grid {
            grid: Grid::default(),
            wrap: true,
            distance: Distance::Manhattan,
        });
        assert!(grid.contains("Manhattan distance"), "{grid}");
        assert!(grid.contains("7 × 7, joined left to right"), "{grid}");
        let table = describe(Substitution::Table { table });
        assert!(table.contains("a table of 2 letters (SHA-256 "), "{table}");
        let twice = Metric::NeedlemanWunsch {
            substitution: Substitution::Unit { mismatch: 1.5 },
            insert: 1.0,
            delete: 3.0,
            scale: None,
        };
        let everyone = ["everyone", "everyone"].map(String::from);
        let twice = super::metric(&twice, &everyone);
        assert!(
            twice.contains("A letter that only the second scanpath has costs 1, one that only the first scanpath has costs 3;"),
            "{twice}"
        );
        let scanmatch = Metric::ScanMatch {
            grid: Grid::default(),
            wrap: false,
            threshold: 3.5,
            gap: -0.5,
            scale: None,
        };
        let describe = |metric: &Metric| super::metric(metric, &names());
        let double = describe(&scanmatch);
        assert!(double.contains("a gap adds −0.5"), "{double}");
        assert!(!double.contains("whole numbers"), "{double}");
        let integers = describe(&scanmatch.with_automatic_scale(1e-3).unwrap());
        assert!(integers.contains("accurate to ±0.000"), "{integers}");
    }

    #[test]
    fn a_local_question_names_the_first_cohort() {
        let entry = |alphabet: Alphabet| veilpath_metrics::Entry {
            participant: "p".into(),
            group: None,
            stimulus: None,
            scanpath: alphabet.parse("AB").unwrap(),
            fixations: None,
        };
        let alphabet = Alphabet::letters(2).unwrap();
        let cohort = veilpath_metrics::Cohort {
            alphabet,
            encoding: veilpath_metrics::Encoding::default(),
            screen: None,
            entries: vec![entry(alphabet)],
        };
        let spec = Spec::new(
            Engine::Plain,
            Metric::Levenshtein,
            PairRule::All,
            &cohort,
            &cohort,
        );
        let mut spec = spec.unwrap();
        spec.reveal = "nearest:3".parse().unwrap();
        let words = |in_the_clear| describe(&spec, &names(), in_the_clear)[6].1.clone();
        assert!(words(true).starts_with("for each scanpath of Clinic, the majority"));
        assert!(words(false).starts_with("for each scanpath of the host (Clinic), "));
    }

    #[test]
    fn sides_are_described_by_role_and_name() {
        assert_eq!(side(RevealTo::Host, &names()), "the host (Clinic)");
        let roles = ["host".into(), "join".into()];
        assert_eq!(side(RevealTo::Join, &roles), "the joining side");
        assert_eq!(cohorts(&roles), ["the host", "the joining side"]);
        assert_eq!(cohorts(&names()), names());
        let long = names().map(|name| format!("{name} of a town with a long name"));
        assert_eq!(cohorts(&long), long);
        assert_eq!(side(RevealTo::Both, &names()), "both sides");
    }
}
