//! MATLAB files (level 5: `save` with `-v6` or `-v7`) with scanpaths as ScanMatch expects them: matrices of n rows and
//! the columns x (pixels), y (pixels) and optionally duration (milliseconds).
//!
//! Each variable is one participant, named after the variable. If the user or the name pattern names the participant,
//! the whole file is theirs and its variables are stimuli.

mod elements;

use self::elements::{Class, Matrix, Variables};
use super::common::{pixel_space, report_fixation};
use super::{Format, only_fixations};
use crate::{Head, Input, Kind, NamesInFile, ReadError, ReadOptions, Recording, Sink, TimeUnit};

/// MATLAB files.
#[derive(Debug)]
pub(super) struct Matlab;

impl Format for Matlab {
    fn name(&self) -> &'static str {
        "matlab"
    }

    fn title(&self) -> &'static str {
        "MATLAB .mat (level 5) with matrices of x, y and duration, as for ScanMatch"
    }

    fn recognises(&self, head: &Head) -> bool {
        head.start.starts_with(elements::MAGIC)
    }

    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        only_fixations(&input, options)?;
        let file = input.name().to_string();
        let mut names = Names::new(&input, options)?;
        let mut variables = Variables::open(&file, input.into_reader())?;
        let mut left_out = Vec::new();
        let mut used = 0;
        while let Some(matrix) = variables.next_matrix()? {
            match not_a_scanpath(&matrix) {
                None => {
                    let (participant, stimulus) = names.of_variable(&file, &matrix)?;
                    emit(&matrix, &participant, stimulus.as_deref(), options, sink)?;
                    used += 1;
                }
                Some(what) => left_out.push(what),
            }
        }
        if used == 0 {
            let found = if left_out.is_empty() {
                "it has no variables at all".to_string()
            } else {
                format!("it has {}", left_out.join(", "))
            };
            return Err(ReadError::new(&file, format!("there is no matrix of fixations in this file: {found}"))
                .with_remedy("save each scanpath as a separate variable, a matrix with a row per fixation and the columns x, y and duration in ms: save('file.mat', 'anna', 'ben', '-v7')"));
        }
        if !left_out.is_empty() {
            sink.assumed(
                &format!(
                    "variables that are not matrices of two or three columns were left out: {}",
                    left_out.join(", ")
                ),
                &[],
            );
        }
        Ok(())
    }
}

/// Names of participants and stimuli, as described at the top of the module.
struct Names {
    participant: Option<String>,
    stimulus: Option<String>,
    variables: usize,
}

impl Names {
    fn new(input: &Input, options: &ReadOptions) -> Result<Self, ReadError> {
        let found = super::names_found(input, options, NamesInFile::default())?;
        Ok(Self {
            participant: found.participant,
            stimulus: found.stimulus,
            variables: 0,
        })
    }

    fn of_variable(
        &mut self,
        file: &str,
        matrix: &Matrix,
    ) -> Result<(String, Option<String>), ReadError> {
        self.variables += 1;
        let variable = matrix.name.clone();
        match (&self.participant, &self.stimulus) {
            (None, stimulus) => Ok((variable, stimulus.clone())),
            (Some(participant), None) => Ok((participant.clone(), Some(variable))),
            (Some(_), Some(_)) if self.variables > 1 => Err(ReadError::new(
                file,
                "a participant and a stimulus were given, but the file has several scanpaths",
            )
            .with_remedy("give only one of the two; the names of the variables become the other")),
            (Some(participant), Some(stimulus)) => {
                Ok((participant.clone(), Some(stimulus.clone())))
            }
        }
    }
}

/// Why a variable is not a scanpath, in a few words; `None` if it is one.
fn not_a_scanpath(matrix: &Matrix) -> Option<String> {
    let (rows, columns) = (matrix.rows, matrix.columns);
    match matrix.class {
        Class::Other(kind) => Some(kind.to_string()),
        // The size of a screen is more likely than a scanpath of one fixation without duration.
        Class::Numbers if (rows, columns) == (1, 2) => Some("a pair of numbers".to_string()),
        Class::Numbers if columns == 2 || columns == 3 => None,
        Class::Numbers => Some(format!("a matrix of {rows}×{columns}")),
    }
}

fn emit(
    matrix: &Matrix,
    participant: &str,
    stimulus: Option<&str>,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Result<(), ReadError> {
    if options.units.is_none() {
        sink.assumed(
            "the first two columns are x and y in pixels with the origin at the top left",
            &[],
        );
    }
    let unit = options.time_unit.unwrap_or(TimeUnit::Milliseconds);
    if matrix.columns == 3 && options.time_unit.is_none() {
        sink.assumed("the third column is the duration in milliseconds", &[]);
    }
    let recording = sink.recording(&Recording {
        participant,
        stimulus,
        kind: Kind::Fixations,
        space: pixel_space(None, options),
    })?;
    for row in 0..matrix.rows {
        let at = |column: usize| matrix.value(row, column).filter(|value| value.is_finite());
        let duration_ms = at(2).map(|duration| duration * unit.in_ms());
        let point = at(0).zip(at(1));
        report_fixation(sink, recording, point, None, duration_ms, None);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
