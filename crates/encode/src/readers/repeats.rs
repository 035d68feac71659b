//! Names for a stimulus that a participant sees in several trials.

use crate::{EncodeNote, Sink};
use std::collections::HashMap;

/// Numbers repeated trials of a stimulus: `name`, `name (2)`, `name (3)`.
///
/// The number counts viewings, not trials. The order of trials differs between participants, and first viewings must be
/// compared under the stimulus' own name.
#[derive(Default)]
pub(crate) struct Repeats {
    /// The trials of each stimulus; the key is participant, line break, stimulus.
    trials_of: HashMap<String, Vec<String>>,
    again: u64,
}

impl Repeats {
    /// The name of a stimulus in a trial.
    pub(crate) fn name(&mut self, participant: &str, stimulus: &str, trial: &str) -> String {
        let key = format!("{participant}\n{stimulus}");
        let trials = self.trials_of.entry(key).or_default();
        let index = trials.iter().position(|other| other == trial);
        let index = index.unwrap_or_else(|| {
            trials.push(trial.to_string());
            self.again += u64::from(trials.len() > 1);
            trials.len() - 1
        });
        match index {
            0 => stimulus.to_string(),
            again => format!("{stimulus} ({})", again + 1),
        }
    }

    /// Notes repeated stimuli, at the end of a file.
    pub(crate) fn report(&self, sink: &mut dyn Sink) {
        if self.again > 0 {
            sink.note(EncodeNote::StimuliRepeated { trials: self.again });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::recorder::Recorder;

    #[test]
    fn later_trials_are_numbered_for_each_participant() {
        let mut repeats = Repeats::default();
        assert_eq!(repeats.name("p", "cat", "5"), "cat");
        let mut recorder = Recorder::default();
        repeats.report(&mut recorder);
        assert!(recorder.notes.is_empty());
        assert_eq!(repeats.name("p", "cat", "9"), "cat (2)");
        assert_eq!(repeats.name("p", "cat", "5"), "cat");
        assert_eq!(repeats.name("p", "cat", "12"), "cat (3)");
        assert_eq!(repeats.name("q", "cat", "9"), "cat");
        repeats.report(&mut recorder);
        assert_eq!(recorder.notes, [EncodeNote::StimuliRepeated { trials: 2 }]);
    }
}
