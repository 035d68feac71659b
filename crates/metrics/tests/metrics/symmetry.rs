//! What happens to each measure when the two scanpaths are swapped.

// Test helpers may panic too.
#![allow(clippy::unwrap_used, clippy::panic)]

use veilpath_metrics::{
    Alphabet, Comparison, Crqa, CrqaMeasure, LocalScoring, Metric, RecurrenceRule, SubsMatch,
    Substitution, Symmetry, Table, Undefined,
};

fn needleman_wunsch(insert: f64, substitution: Substitution) -> Metric {
    Metric::NeedlemanWunsch {
        substitution,
        insert,
        delete: 1.0,
        scale: None,
    }
}

/// Scores in which A–B differs from B–A.
fn table() -> Table {
    Table::new(3, vec![0.0, 1.0, 1.0, 2.0, 0.0, 1.0, 1.0, 1.0, 0.0]).unwrap()
}

fn crqa() -> Metric {
    Metric::Crqa(Crqa {
        rule: RecurrenceRule::SameLetter,
        line: 2,
        measures: CrqaMeasure::in_the_clear(),
        undefined: Undefined::Missing,
        rounded: false,
    })
}

fn names(metric: &Metric, symmetry: Symmetry) -> Vec<&'static str> {
    let measures = metric.measures().into_iter();
    let found = measures.filter(|measure| measure.symmetry == symmetry);
    found.map(|measure| measure.name).collect()
}

#[test]
fn every_measure_says_what_swapping_does() {
    let unit = || Substitution::Unit { mismatch: 1.0 };
    let local = |table| Metric::SmithWaterman {
        scoring: LocalScoring::Table { table },
        gap: 1.0,
        scale: None,
    };
    let metrics = [
        Metric::Levenshtein,
        Metric::SequenceScore,
        Metric::SubsMatch(SubsMatch { window: 1 }),
        needleman_wunsch(1.0, unit()),
        needleman_wunsch(3.0, unit()),
        needleman_wunsch(1.0, Substitution::Table { table: table() }),
        local(table()),
        crqa(),
    ];
    let alphabet = Alphabet::letters(3).unwrap();
    let texts = [["AAB", "BBACC"], ["ABCA", "AABBB"], ["CCCAB", "ACCB"]];
    let pairs = texts.map(|pair| pair.map(|text| alphabet.parse(text).unwrap()));
    for metric in metrics {
        let measures = metric.measures();
        let comparison = Comparison::new(metric.clone(), alphabet).unwrap();
        let mut changed = vec![false; measures.len()];
        for [a, b] in &pairs {
            let there = comparison.compare(a, b).unwrap();
            let back = comparison.compare(b, a).unwrap();
            for (at, measure) in measures.iter().enumerate() {
                let (there, back) = (there.number(at), back.number(at));
                changed[at] |= there != back;
                if measure.symmetry == Symmetry::Antisymmetric {
                    assert_eq!(there, back.map(|number| -number), "{}", measure.name);
                }
            }
        }
        for (measure, changed) in measures.iter().zip(changed) {
            let name = (metric.name(), measure.name);
            assert_eq!(measure.symmetry.depends_on_order(), changed, "{name:?}");
        }
    }
    assert_eq!(names(&crqa(), Symmetry::Antisymmetric), ["corm"]);
}
