//! From the user's files to the two cohorts.

use crate::App;
use crate::files::StoredFile;
use crate::forms::{LetterForm, ReadForm};
use crate::problem::Problem;
use crate::workspace::lock;
use serde_json::json;
use std::sync::Arc;
use veilpath::encode::{
    Areas, Detector, EncodeField, EncodeOptions, Encoded, LetterMap, Source, Summary, Trace,
    TracePoint, TracedRecording, area_file, encode, trace,
};
use veilpath::{
    Cohort, Event, FileKind, Input, RawCohort, decode_cohort, read_cohort_from, write_cohort,
};

/// A cohort, ready to be compared.
#[derive(Debug)]
pub(crate) struct CohortState {
    pub(crate) name: String,
    /// The cohort file.
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) cohort: Cohort,
    /// What happened to the rows of recordings; `None` for a cohort file.
    pub(crate) summary: Option<Summary>,
    /// What was assumed about a cohort file.
    pub(crate) remarks: Vec<String>,
}

impl CohortState {
    /// Parses the cohort file again.
    pub(crate) fn raw(&self) -> Result<RawCohort, Problem> {
        let input = Input::from_shared(&self.name, Arc::clone(&self.bytes))?;
        Ok(read_cohort_from(input)?)
    }
}

/// Files and options, as they were when an encoding started.
#[derive(Debug)]
pub(crate) struct EncodeJob {
    generation: u64,
    files: Vec<StoredFile>,
    read: ReadForm,
    letters: LetterForm,
    /// The traces of an earlier encoding, if neither files nor reading options have changed.
    traces: Option<[Option<Arc<Trace>>; 2]>,
}

/// The result of an encoding.
#[derive(Debug, Default)]
struct EncodedCohorts {
    /// Whether the traces of all files are complete.
    is_traced: bool,
    cohorts: [Option<Arc<CohortState>>; 2],
    traces: [Option<Arc<Trace>>; 2],
}

impl App {
    /// Records that files or options have changed. With `letters_only`, traces that are up to date are kept.
    pub(crate) fn begin_encoding(&self, letters_only: bool) -> EncodeJob {
        let mut workspace = lock(&self.workspace);
        workspace.generation += 1;
        workspace.session.needs_approval();
        // With a detector, traces contain the detected fixations, which depend on the letter options. Traces that an
        // earlier change made outdated are not kept, even if new ones are not made yet.
        let reuse_traces = letters_only
            && workspace.letters.detect == "runs"
            && workspace.traced >= workspace.retrace;
        if !reuse_traces {
            workspace.retrace = workspace.generation;
        }
        EncodeJob {
            generation: workspace.generation,
            files: workspace.files.clone(),
            read: workspace.read.clone(),
            letters: workspace.letters.clone(),
            traces: reuse_traces.then(|| workspace.traces.clone()),
        }
    }

    /// Encodes, unless something has changed in the meantime.
    pub(crate) fn finish_encoding(&self, job: &EncodeJob) {
        let is_current = || lock(&self.workspace).generation == job.generation;
        if !is_current() {
            return;
        }
        let mut encoded = EncodedCohorts::default();
        let result = job.run(&mut encoded);
        let mut workspace = lock(&self.workspace);
        if workspace.generation != job.generation {
            return;
        }
        workspace.cohorts = encoded.cohorts;
        workspace.traces = encoded.traces;
        if job.traces.is_none() && encoded.is_traced {
            workspace.traced = job.generation;
        }
        workspace.problem = result.err();
        drop(workspace);
        self.hub.send(&json!({"event": "changed"}));
    }
}

impl EncodeJob {
    fn run(&self, encoded: &mut EncodedCohorts) -> Result<(), Problem> {
        let options = self.read.options()?;
        for side in 0..2 {
            encoded.traces[side] = match &self.traces {
                Some(traces) => traces[side].clone(),
                None => self.trace(side, &options)?,
            };
        }
        encoded.is_traced = true;
        let options = EncodeOptions {
            letters: self.letters.options(self.letter_map(&encoded.traces)?)?,
            ..options
        };
        for side in 0..2 {
            encoded.cohorts[side] = self.cohort(side, &options)?.map(Arc::new);
        }
        if options.letters.detection.detector != Detector::Runs {
            for side in 0..2 {
                self.show_detected(side, &options, encoded)?;
            }
        }
        Ok(())
    }

    fn gaze(&self, side: usize) -> Vec<&StoredFile> {
        let files = self.files.iter().filter(|file| file.side == side);
        let is_gaze = |kind: &FileKind| matches!(kind, FileKind::Gaze(_) | FileKind::Unknown);
        files.filter(|file| is_gaze(&file.kind)).collect()
    }

    fn sources(&self, side: usize) -> Result<Vec<Source>, Problem> {
        let gaze = self.gaze(side);
        let metadata = self.files.iter();
        let metadata = metadata.filter(|file| file.kind == FileKind::Metadata);
        // Recordings as well: the two eyes of a BIDS recording are in separate files.
        let dropped = gaze
            .iter()
            .copied()
            .filter(|file| file.content.is_in_memory());
        let companions = metadata
            .chain(dropped)
            .map(|file| Ok((file.name.clone(), file.content.bytes()?)))
            .collect::<Result<Arc<[_]>, Problem>>()?;
        let sources = gaze.iter().map(|file| file.source(&companions));
        Ok(sources.collect::<Result<_, _>>()?)
    }

    fn trace(&self, side: usize, options: &EncodeOptions) -> Result<Option<Arc<Trace>>, Problem> {
        let sources = self.sources(side)?;
        match sources.is_empty() {
            true => Ok(None),
            false => Ok(Some(Arc::new(trace(sources, options)?))),
        }
    }

    fn letter_map(&self, traces: &[Option<Arc<Trace>>; 2]) -> Result<LetterMap, Problem> {
        if let Some(letter_map) = self.letters.letter_map()? {
            return Ok(letter_map);
        }
        // Cohort files already contain letters, and have no picture to draw areas on.
        if traces.iter().all(Option::is_none) {
            return Ok(LetterMap::default());
        }
        let text = areas_csv(&self.letters, traces)?;
        let input = Input::from_bytes("areas.csv", text.into_bytes())?;
        Ok(LetterMap::AoiFile(Areas::read(input)?))
    }

    fn cohort(&self, side: usize, options: &EncodeOptions) -> Result<Option<CohortState>, Problem> {
        let cohorts: Vec<&StoredFile> = self
            .files
            .iter()
            .filter(|file| file.side == side && file.kind == FileKind::Cohort)
            .collect();
        match (self.gaze(side).is_empty(), &cohorts[..]) {
            (true, []) => Ok(None),
            (true, [file]) => cohort_file(file).map(Some),
            (true, _) => Err(Problem::new(
                "a side takes one cohort file",
                "Move the other cohort file to the other side, or remove it.",
            )),
            (false, []) => self.encoded(side, options).map(Some),
            (false, _) => Err(Problem::new(
                "recordings and a cohort file are on the same side",
                "Move one of them to the other side, or remove it.",
            )),
        }
    }

    fn encoded(&self, side: usize, options: &EncodeOptions) -> Result<CohortState, Problem> {
        let Encoded { cohort, summary } = encode(self.sources(side)?, options, &())?;
        let mut bytes = Vec::new();
        write_cohort(&cohort, summary.aspect, &[], &mut bytes)
            .map_err(|error| Problem::new(error.to_string(), ""))?;
        Ok(CohortState {
            name: NAMES[side].into(),
            bytes: bytes.into(),
            cohort,
            summary: Some(summary),
            remarks: Vec::new(),
        })
    }

    /// Replaces the samples of a trace with the fixations detected in them.
    fn show_detected(
        &self,
        side: usize,
        options: &EncodeOptions,
        encoded: &mut EncodedCohorts,
    ) -> Result<(), Problem> {
        let has_samples = |trace: &Trace| trace.recordings.iter().any(|it| !it.is_fixations);
        let Some(samples) = encoded.traces[side].take_if(|trace| has_samples(trace)) else {
            return Ok(());
        };
        let mut keeping = options.clone();
        keeping.letters.keep_fixations = true;
        let cohort = encode(self.sources(side)?, &keeping, &())?.cohort;
        let Some(screen) = cohort.screen else {
            encoded.traces[side] = Some(samples);
            return Ok(());
        };
        let recordings = cohort.entries.iter().map(|entry| {
            let same_stimulus = samples.recordings.iter();
            let same_stimulus = same_stimulus.filter(|it| it.stimulus == entry.stimulus);
            let fixations = entry.fixations.iter().flat_map(|it| it.list());
            TracedRecording {
                participant: entry.participant.clone(),
                stimulus: entry.stimulus.clone(),
                is_fixations: true,
                space: same_stimulus.map(|it| it.space).next().flatten(),
                points: fixations
                    .map(|fixation| TracePoint {
                        x: fixation.x / screen.width(),
                        y: fixation.y / screen.height(),
                        duration_ms: Some(fixation.duration),
                    })
                    .collect(),
            }
        });
        encoded.traces[side] = Some(Arc::new(Trace {
            recordings: recordings.collect(),
            left_out: 0,
        }));
        Ok(())
    }
}

/// The names of encoded cohorts.
pub(crate) const NAMES: [&str; 2] = ["first.csv", "second.csv"];

/// The drawn areas as an AOI file.
pub(crate) fn areas_csv(
    letters: &LetterForm,
    traces: &[Option<Arc<Trace>>; 2],
) -> Result<String, Problem> {
    let areas = letters.drawn()?;
    if areas.is_empty() {
        return Err(Problem {
            fields: vec![EncodeField::AoiFile],
            ..Problem::new(
                "there is no area of interest yet",
                "Draw one on the picture, or choose a grid.",
            )
        });
    }
    let mut all = Trace::default();
    for trace in traces.iter().flatten() {
        let recordings = trace.recordings.iter();
        // Only the recordings' names and coordinates matter here.
        all.recordings.extend(recordings.map(|it| TracedRecording {
            points: Vec::new(),
            ..it.clone()
        }));
    }
    Ok(area_file(&areas, &all)?)
}

fn cohort_file(file: &StoredFile) -> Result<CohortState, Problem> {
    let raw = read_cohort_from(file.input()?)?;
    let remarks = std::sync::Mutex::new(Vec::new());
    let note = |event: Event| {
        if let (Event::CohortNote { note, .. }, Ok(mut remarks)) = (event, remarks.lock()) {
            remarks.push(note.to_string());
        }
    };
    let cohort = decode_cohort(&raw, &note)?;
    Ok(CohortState {
        name: file.name.clone(),
        bytes: file.content.bytes()?,
        cohort,
        summary: None,
        remarks: remarks.into_inner().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Server, ServerOptions};

    /// A new file and a new grid arrive at almost the same time. The encoding for the grid is newer, and must also read the
    /// file.
    #[test]
    fn a_change_of_letters_does_not_keep_outdated_pictures() {
        let server = Server::bind(ServerOptions::default()).unwrap();
        let app = &server.app;
        let read = app.begin_encoding(false);
        let letters = app.begin_encoding(true);
        assert!(letters.traces.is_none(), "nothing has been read yet");
        app.finish_encoding(&letters);
        app.finish_encoding(&read);
        let traced = lock(&app.workspace).traced;
        assert_eq!(traced, letters.generation);
        // With nothing else to read, the traces are kept.
        let again = app.begin_encoding(true);
        assert!(again.traces.is_some());
        app.finish_encoding(&again);
        assert_eq!(lock(&app.workspace).traced, traced);
    }
}
