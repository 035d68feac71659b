//! The user's substitution tables, from CSV text.
//!
//! A table is a square of numbers, with one row per letter of the first side (the host) and one column per letter of
//! the second, in alphabet order. It may have labels: then the first row and first column name the letters in any
//! order, and the corner is empty or a word. Fields are separated by commas, semicolons or tabs. `#` starts a comment
//! line. If the separator is not a comma, numbers may use decimal commas.

use crate::Alphabet;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A square table of numbers for the first letters of an alphabet.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    size: u32,
    values: Vec<f64>,
}

/// What a table's numbers mean, and so which numbers are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Costs to minimise. None is negative.
    Costs,
    /// Scores to maximise, of either sign.
    Scores,
}

/// An error in a table file, and its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct TableError {
    /// The line, from 1.
    pub line: usize,
    /// The field in the line, from 1; 0 means the whole line.
    pub column: usize,
    /// The problem, and a remedy.
    pub problem: String,
}

/// The largest number of rows. Tables are written to result files, which should not hold more than a million numbers.
const MAX_ROWS: usize = 1024;

impl Table {
    /// A table from its numbers, row by row. `None` if they do not form a square or are not finite.
    pub fn new(size: u32, values: Vec<f64>) -> Option<Self> {
        let square = u64::from(size).pow(2) == values.len() as u64;
        (square && size > 0 && values.iter().all(|value| value.is_finite()))
            .then_some(Self { size, values })
    }

    /// Reads CSV text. Labels, if any, are letters of `alphabet`.
    pub fn parse(text: &str, of: TableKind, alphabet: &Alphabet) -> Result<Self, TableError> {
        let mut lines = text
            .trim_start_matches('\u{feff}')
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line.trim_end()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .peekable();
        let Some(&(first_line, first)) = lines.peek() else {
            return Err(error(
                1,
                0,
                "the table is empty; expected a square of numbers separated by commas".into(),
            ));
        };
        let delimiter = delimiter_of(first);
        let decimal_comma = delimiter != ',';
        let corner = first.split(delimiter).next().unwrap_or_default();
        // NaN in the corner is an invalid number, not a table name.
        let labels = if any_number(corner, decimal_comma).is_none() {
            lines.next();
            let names: Vec<&str> = first.split(delimiter).skip(1).collect();
            Some(label_order(alphabet, first_line, &names)?)
        } else {
            None
        };
        let mut rows = Vec::new();
        for (line, content) in lines {
            let mut fields = content.split(delimiter);
            let letter = match &labels {
                Some(_) => Some(label(alphabet, line, 1, fields.next().unwrap_or_default())?),
                None => None,
            };
            let shift = usize::from(labels.is_some());
            let mut numbers = Vec::new();
            for (index, field) in fields.enumerate() {
                let wrong = |problem: &str| error(line, index + 1 + shift, problem.into());
                let value = any_number(field, decimal_comma).filter(|value| value.is_finite());
                let value = value.ok_or_else(|| {
                    wrong("expected a finite number with a decimal point (or a decimal comma, where semicolons or tabs separate)")
                })?;
                if value < 0.0 && of == TableKind::Costs {
                    return Err(wrong(
                        "a cost must not be negative; tables of signed scores are for smith-waterman",
                    ));
                }
                numbers.push(value);
            }
            rows.push((line, letter, numbers));
            if rows.len() > MAX_ROWS {
                return Err(error(
                    line,
                    0,
                    format!("a table has at most {MAX_ROWS} rows"),
                ));
            }
        }
        assemble(rows, labels, first_line)
    }

    /// The number of rows, and of columns.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The numbers, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Whether swapping the two letters of a pair never changes its number.
    pub fn is_symmetric(&self) -> bool {
        let size = self.size as usize;
        (0..size).all(|row| {
            (0..row).all(|column| {
                self.values.get(row * size + column) == self.values.get(column * size + row)
            })
        })
    }

    /// The numbers for pairs of the first `letters` letters, row by row.
    pub(crate) fn first(&self, letters: u32) -> impl Iterator<Item = f64> + Clone {
        let letters = letters.min(self.size) as usize;
        self.values
            .chunks_exact(self.size as usize)
            .take(letters)
            .flat_map(move |row| row[..letters].iter().copied())
    }

    /// A hash of the content, so that both sides can check that they have the same table.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.size.to_le_bytes());
        for value in &self.values {
            // −0 and 0 are the same cost.
            hash.update((value + 0.0).to_le_bytes());
        }
        hash.finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// Writes the numbers, so that a result can be recomputed, and a hash of them that people can compare.
impl Serialize for Table {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Table", 3)?;
        fields.serialize_field("rows", &self.size)?;
        fields.serialize_field("sha256", &self.fingerprint())?;
        fields.serialize_field("values", &self.values)?;
        fields.end()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedTable {
    rows: u32,
    sha256: String,
    values: Vec<f64>,
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = SerializedTable::deserialize(deserializer)?;
        let custom = <D::Error as serde::de::Error>::custom;
        let table = Table::new(written.rows, written.values)
            .filter(|table| table.size as usize <= MAX_ROWS)
            .ok_or_else(|| custom("the values of a table must be a square of finite numbers"))?;
        if table.fingerprint() != written.sha256 {
            return Err(custom("the values of a table do not match its sha256"));
        }
        Ok(table)
    }
}

fn error(line: usize, column: usize, problem: String) -> TableError {
    TableError {
        line,
        column,
        problem,
    }
}

fn unquoted(field: &str) -> &str {
    field.trim().trim_matches('"')
}

/// The delimiter of a line. Semicolons and tabs take precedence if all fields between them are numbers, so that decimal
/// commas are not mistaken for delimiters. Otherwise it is the most frequent candidate.
fn delimiter_of(line: &str) -> char {
    let numbers = |delimiter: &char| {
        let mut fields = line.split(*delimiter);
        line.contains(*delimiter) && fields.all(|field| any_number(field, true).is_some())
    };
    let most_frequent = [',', ';', '\t'].into_iter();
    let most_frequent = most_frequent.max_by_key(|&delimiter| line.matches(delimiter).count());
    [';', '\t']
        .into_iter()
        .find(numbers)
        .or(most_frequent)
        .unwrap_or(',')
}

/// A number, finite or not.
fn any_number(field: &str, decimal_comma: bool) -> Option<f64> {
    let field = unquoted(field);
    let swapped = || field.replacen(',', ".", 1).parse().ok();
    let number = field.parse().ok();
    number.or_else(|| decimal_comma.then(swapped).flatten())
}

fn label(alphabet: &Alphabet, line: usize, column: usize, field: &str) -> Result<u16, TableError> {
    match alphabet.parse(unquoted(field)) {
        Ok(scanpath) if scanpath.len() == 1 => Ok(scanpath.letters()[0]),
        _ => Err(error(
            line,
            column,
            // The field is not shown: if a cohort was passed by mistake, it is a participant's scanpath.
            format!(
                "this label is not a letter of the alphabet ({}); each label is a single letter",
                alphabet.in_words()
            ),
        )),
    }
}

fn label_order(alphabet: &Alphabet, line: usize, names: &[&str]) -> Result<Vec<u16>, TableError> {
    let letters = names
        .iter()
        .enumerate()
        .map(|(index, name)| label(alphabet, line, index + 2, name))
        .collect::<Result<Vec<u16>, _>>()?;
    check_order(&letters, |index| (line, index + 2))?;
    Ok(letters)
}

/// Checks that labels name the first letters of the alphabet, each once. `position` returns the line and field of a
/// label.
fn check_order(
    letters: &[u16],
    position: impl Fn(usize) -> (usize, usize),
) -> Result<(), TableError> {
    let mut seen = vec![false; letters.len()];
    for (index, &letter) in letters.iter().enumerate() {
        let (line, column) = position(index);
        match seen.get_mut(usize::from(letter)) {
            Some(slot) if !*slot => *slot = true,
            Some(_) => return Err(error(line, column, "this label occurs twice".into())),
            None => {
                return Err(error(
                    line,
                    column,
                    format!(
                        "with {} labels the table must name the first {0} letters of the alphabet, each once",
                        letters.len()
                    ),
                ));
            }
        }
    }
    Ok(())
}

type Row = (usize, Option<u16>, Vec<f64>);

fn assemble(
    rows: Vec<Row>,
    labels: Option<Vec<u16>>,
    first_line: usize,
) -> Result<Table, TableError> {
    let size = rows.len();
    let last_line = rows.last().map_or(first_line, |row| row.0);
    for (line, _, numbers) in &rows {
        if numbers.len() != size {
            return Err(error(
                *line,
                0,
                format!(
                    "the table is not square: {size} rows, but {} numbers in this one",
                    numbers.len()
                ),
            ));
        }
    }
    if labels.as_ref().is_some_and(|labels| labels.len() != size) || size == 0 {
        return Err(error(
            last_line,
            0,
            format!("the table is not square: it has {size} rows under its header"),
        ));
    }
    let row_letters: Vec<u16> = rows.iter().filter_map(|row| row.1).collect();
    let mut values = vec![0.0; size * size];
    match labels {
        None => {
            for (slot, value) in values
                .iter_mut()
                .zip(rows.into_iter().flat_map(|row| row.2))
            {
                *slot = value;
            }
        }
        Some(columns) => {
            check_order(&row_letters, |index| (rows[index].0, 1))?;
            for (row, (_, _, numbers)) in row_letters.iter().zip(&rows) {
                for (column, value) in columns.iter().zip(numbers) {
                    values[usize::from(*row) * size + usize::from(*column)] = *value;
                }
            }
        }
    }
    Ok(Table {
        size: u32::try_from(size).unwrap_or(u32::MAX),
        values,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Table, TableError> {
        Table::parse(text, TableKind::Costs, &Alphabet::letters(52).unwrap())
    }

    #[test]
    fn labels_put_rows_and_columns_in_the_alphabets_order() {
        let plain = parse("0,1,2\n1,0,3\n4,5,0\n").unwrap();
        let labelled = parse("# costs\n,B,A,C\nC,5,4,0\nA,1,0,2\nB,0,1,3\n").unwrap();
        assert_eq!(plain, labelled);
        assert_eq!(plain.fingerprint(), labelled.fingerprint());
        assert_eq!(
            parse("\u{feff}0;1\r\n1;0\r\n").unwrap().values(),
            [0.0, 1.0, 1.0, 0.0]
        );
    }

    #[test]
    fn decimal_commas_are_understood_where_the_comma_does_not_separate() {
        let plain = parse("0,1.5\n2.25,0\n").unwrap();
        for text in [
            "0;1,5\n2,25;0\n",
            "0,0;1,5\n2,25;0,0\n",
            "0\t1,5\n2,25\t0\n",
            "\u{feff};A;B\r\nA;0;1,5\r\nB;2,25;0\r\n",
        ] {
            assert_eq!(parse(text).unwrap(), plain, "{text}");
        }
        let error = parse("0;1\n1;1,5,0\n").unwrap_err();
        assert_eq!((error.line, error.column), (2, 2));
        assert!(error.problem.contains("semicolons"), "{error}");
    }

    #[test]
    fn scores_may_be_negative() {
        let table = Table::parse(
            "1,-1\n-1,1\n",
            TableKind::Scores,
            &Alphabet::letters(2).unwrap(),
        );
        assert_eq!(table.unwrap().values(), [1.0, -1.0, -1.0, 1.0]);
    }

    #[test]
    fn errors_name_line_and_field() {
        let position = |text: &str| {
            let error = parse(text).unwrap_err();
            (error.line, error.column)
        };
        assert_eq!(position(""), (1, 0));
        assert_eq!(position("0,1\n1,x\n"), (2, 2));
        assert_eq!(position("0,1\n1,NaN\n"), (2, 2));
        assert_eq!(position("0,1\n-1,0\n"), (2, 1));
        assert_eq!(position("0,1\n1\n"), (2, 0));
        assert_eq!(position("0,1\n"), (1, 0));
        assert_eq!(position(",A,A\nA,0,1\nB,1,0\n"), (1, 3));
        assert_eq!(position(",A,C\nA,0,1\nC,1,0\n"), (1, 3));
        assert_eq!(position(",A,?\nA,0,1\nB,1,0\n"), (1, 3));
        assert_eq!(position(",A,B\n"), (1, 0));
        assert_eq!(position("NaN,1\n1,0\n"), (1, 1));
        assert_eq!(position(",A,B\nA,0,1\nA,1,0\n"), (3, 1));
        assert_eq!(position(",A,B\nA,0,1\nC,1,0\n"), (3, 1));
    }

    #[test]
    fn errors_do_not_quote_a_cohort() {
        let error = parse("ABCDE\nQRSTU\n").unwrap_err();
        assert!(!error.problem.contains("QRSTU"), "{error}");
    }
}
