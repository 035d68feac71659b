//! Event labels of gaze samples, in formats whose label column is known.

use crate::{EncodeField, EncodeNote, EventChoice, RecordingId, Sample, Sink, is_missing};

/// The labels to use. Samples with other labels have no point, but keep their place in time.
pub(super) struct SampleLabels {
    choice: Option<EventChoice>,
    is_fixation: fn(&str) -> bool,
    is_loss: fn(&str) -> bool,
    /// Whether each of the labels that the user asks for has occurred.
    occurred: Vec<bool>,
}

impl SampleLabels {
    /// Reports how the labels in this column are used.
    pub(super) fn new(
        column: &str,
        choice: Option<&EventChoice>,
        is_fixation: fn(&str) -> bool,
        is_loss: fn(&str) -> bool,
        sink: &mut dyn Sink,
    ) -> Self {
        let text = match choice {
            None => format!(
                "samples labelled as blinks or losses in the column \"{column}\" count as lost; all others were used"
            ),
            Some(EventChoice::All) => {
                format!("samples of all events in the column \"{column}\" were used")
            }
            Some(EventChoice::Fixations) => format!(
                "only samples that the column \"{column}\" labels as fixations were used; the others are gaps in time"
            ),
            Some(EventChoice::Labels(_)) => format!(
                "only samples with the requested labels in the column \"{column}\" were used; the others are gaps in time"
            ),
        };
        sink.assumed(&text, &[EncodeField::Events]);
        Self {
            choice: choice.cloned(),
            is_fixation,
            is_loss,
            occurred: match choice {
                Some(EventChoice::Labels(labels)) => vec![false; labels.len()],
                _ => Vec::new(),
            },
        }
    }

    /// Reports a sample with this label to the sink. Its point is used only if its label is.
    pub(super) fn report_sample(
        &mut self,
        label: &str,
        recording: RecordingId,
        sample: Sample<'_>,
        sink: &mut dyn Sink,
    ) {
        if self.is_chosen(label) {
            sink.sample(recording, sample);
        } else if self.choice.is_none() {
            let lost = Sample {
                point: None,
                ..sample
            };
            sink.sample(recording, lost);
        } else {
            let name = match is_missing(label) {
                true => "(no label)",
                false => label,
            };
            sink.unrequested_sample(recording, sample.time_ms, name);
        }
    }

    /// Whether a sample with this label is used.
    fn is_chosen(&mut self, label: &str) -> bool {
        match &self.choice {
            None => !(self.is_loss)(label),
            Some(EventChoice::All) => true,
            Some(EventChoice::Fixations) => (self.is_fixation)(label),
            Some(EventChoice::Labels(labels)) => {
                let is_label = |wanted: &String| wanted.trim().eq_ignore_ascii_case(label);
                let found = labels.iter().position(is_label);
                if let Some(occurred) = found.and_then(|at| self.occurred.get_mut(at)) {
                    *occurred = true;
                }
                found.is_some()
            }
        }
    }

    /// Notes the requested labels that did not occur, after the last row.
    pub(super) fn report(self, sink: &mut dyn Sink) {
        let Some(EventChoice::Labels(labels)) = self.choice else {
            return;
        };
        let missing = labels.into_iter().zip(self.occurred);
        let missing = missing.filter(|(_, occurred)| !occurred);
        let labels: Vec<String> = missing.map(|(label, _)| label).collect();
        if !labels.is_empty() {
            sink.note(EncodeNote::LabelsMissing { labels });
        }
    }
}
