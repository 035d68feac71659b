//! Results as a matrix of participants, for clustering and plots.

use crate::Error;
use crate::report::ResultFile;
use std::collections::{HashMap, HashSet};

/// The numbers of all pairs of participants. A pair without a number is NaN. If two participants have several pairs of
/// scanpaths, these are averaged, as in statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreMatrix {
    /// The measure shown.
    pub measure: String,
    /// The row participants: the first cohort.
    pub rows: Vec<String>,
    /// The column participants: the second cohort.
    pub columns: Vec<String>,
    /// The numbers, row by row.
    pub values: Vec<f64>,
}

/// The matrix of a measure; `None` uses the first one. `stimuli` limits the pairs that count; all count if it is empty.
/// `file` names the result in errors.
pub fn score_matrix(
    result: &ResultFile,
    file: &str,
    measure: Option<&str>,
    stimuli: &[String],
) -> Result<ScoreMatrix, Error> {
    let measures = result.measures();
    let column = match measure {
        None => Some(0),
        Some(name) => measures.iter().position(|measure| measure.name == name),
    };
    let found = column.and_then(|column| Some((column, measures.get(column)?)));
    let Some((column, measure)) = found else {
        return Err(Error::NoSuchMeasure {
            file: file.to_string(),
            measure: measure.unwrap_or_default().to_string(),
            known: measures
                .iter()
                .map(|measure| measure.name.clone())
                .collect(),
        });
    };
    let all = result.stimuli();
    if let Some(unknown) = stimuli.iter().find(|name| !all.contains(name)) {
        return Err(Error::NoSuchStimulus {
            file: file.to_string(),
            stimulus: unknown.clone(),
            known: all.to_vec(),
        });
    }
    let is_included: Vec<bool> = all.iter().map(|name| stimuli.contains(name)).collect();
    let rows = result.rows().filter(|row| {
        stimuli.is_empty() || row.stimulus.is_some_and(|stimulus| is_included[stimulus])
    });
    let mut sums: HashMap<[usize; 2], (f64, f64)> = HashMap::new();
    for row in rows {
        let (sum, count) = sums.entry([row.a, row.b]).or_insert((0.0, 0.0));
        let value = row.values[column];
        let bit = value.bit().map(|bit| f64::from(u8::from(bit)));
        if let Some(number) = value.number().or(bit) {
            *sum += number;
            *count += 1.0;
        }
    }
    let [rows, columns] = participant_order(result, &sums);
    let positions =
        |of: &[usize]| -> HashMap<usize, usize> { of.iter().copied().zip(0..).collect() };
    let (row_of, column_of) = (positions(&rows), positions(&columns));
    let mut values = vec![f64::NAN; rows.len() * columns.len()];
    for ([a, b], (sum, count)) in sums {
        // 0 / 0 is NaN.
        values[row_of[&a] * columns.len() + column_of[&b]] = sum / count;
    }
    let names = |indices: &[usize], all: &[String]| -> Vec<String> {
        indices.iter().map(|&index| all[index].clone()).collect()
    };
    Ok(ScoreMatrix {
        measure: measure.name.clone(),
        rows: names(&rows, result.a()),
        columns: names(&columns, result.b()),
        values,
    })
}

/// For each side, the participants with a pair that counts, in the order of their cohort. So if a cohort is compared
/// with itself, rows and columns have the same order.
fn participant_order(
    result: &ResultFile,
    pairs: &HashMap<[usize; 2], (f64, f64)>,
) -> [Vec<usize>; 2] {
    let in_use = |side: usize| -> HashSet<usize> { pairs.keys().map(|pair| pair[side]).collect() };
    let of_side = |side: usize, ids: &[String]| -> Vec<usize> {
        let used = in_use(side);
        let by_id: HashMap<&str, usize> = ids.iter().map(String::as_str).zip(0..).collect();
        let mut indices: Vec<usize> = match result.outcome() {
            Some(outcome) => {
                let labels = [&outcome.a, &outcome.b][side].iter();
                let found = labels.filter_map(|label| by_id.get(label.participant.as_str()));
                found.copied().collect()
            }
            None if same_ids(result) => {
                let found = result.a().iter().filter_map(|id| by_id.get(id.as_str()));
                found.copied().collect()
            }
            None => (0..ids.len()).collect(),
        };
        let mut seen = HashSet::new();
        indices.retain(|index| used.contains(index) && seen.insert(*index));
        indices
    };
    [of_side(0, result.a()), of_side(1, result.b())]
}

/// Whether both sides of a table have the same participants.
fn same_ids(result: &ResultFile) -> bool {
    let set = |ids: &[String]| -> HashSet<String> { ids.iter().cloned().collect() };
    set(result.a()) == set(result.b())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::read_result_from;

    fn result() -> ResultFile {
        let csv = "a,b,stimulus,score,similarity\np1,q1,s,1,0.5\np1,q2,s,2,0.25\np2,q1,s,3,0\np1,q1,t,5,0\n";
        read_result_from("r.csv", csv.as_bytes()).unwrap()
    }

    #[test]
    fn pairs_of_two_participants_are_averaged_and_missing_ones_are_nan() {
        let matrix = score_matrix(&result(), "r", None, &[]).unwrap();
        assert_eq!((matrix.rows.len(), matrix.columns.len()), (2, 2));
        assert_eq!(matrix.measure, "score");
        assert_eq!(matrix.values[..3], [3.0, 2.0, 3.0]);
        assert!(matrix.values[3].is_nan());
    }

    /// The second participant saw a different stimulus than the first, so the pairs are not in participant order.
    #[test]
    fn one_cohort_has_the_same_order_on_both_sides() {
        let csv = "a,b,stimulus,score,similarity\np1,p1,s,0,1\np1,p3,s,2,0\np2,p2,t,0,1\np3,p1,s,2,0\np3,p3,s,0,1\n";
        let result = read_result_from("r.csv", csv.as_bytes()).unwrap();
        let matrix = score_matrix(&result, "r", None, &[]).unwrap();
        assert_eq!(matrix.rows, ["p1", "p2", "p3"]);
        assert_eq!(matrix.rows, matrix.columns);
        assert_eq!(
            [matrix.values[0], matrix.values[4], matrix.values[8]],
            [0.0; 3]
        );
        assert_eq!(matrix.values[2], 2.0);
    }

    #[test]
    fn one_stimulus_and_one_measure_can_be_chosen() {
        let stimuli = ["t".to_string()];
        let matrix = score_matrix(&result(), "r", Some("similarity"), &stimuli).unwrap();
        assert_eq!(
            (matrix.rows.as_slice(), matrix.columns.as_slice()),
            (&["p1".to_string()][..], &["q1".to_string()][..])
        );
        assert_eq!(matrix.values, [0.0]);
        let unknown = score_matrix(&result(), "r", Some("shape"), &[]);
        assert!(matches!(unknown, Err(Error::NoSuchMeasure { .. })));
        let unknown = score_matrix(&result(), "r", None, &["u".to_string()]);
        assert!(matches!(unknown, Err(Error::NoSuchStimulus { .. })));
    }
}
