//! What the user has provided so far. All of it is lost when the server stops, except identities, journals and records,
//! which are stored where the command line stores them.

use crate::cohorts::CohortState;
use crate::comparison::{CompareForm, Inputs};
use crate::files::StoredFile;
use crate::forms::{LetterForm, ReadForm};
use crate::partner::PartnerForm;
use crate::problem::Problem;
use crate::results::ResultState;
use crate::session::SessionState;
use crate::{commands, files, forms};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use veilpath::encode::{SpaceKind, Summary, Trace, formats};
use veilpath::units::grouped;
use veilpath::{CancelToken, NamedPlan};

/// The number of scanpaths whose letters are shown.
const MAX_SHOWN: usize = 60;

/// The number of letters shown per scanpath.
const MAX_LETTERS: usize = 400;

/// How long a result that no page has shown yet is kept.
const UNSEEN_RESULT_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// The state of the page.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) folder: Option<PathBuf>,
    pub(crate) identity: Option<PathBuf>,
    pub(crate) next_id: u64,
    pub(crate) files: Vec<StoredFile>,
    pub(crate) read: ReadForm,
    pub(crate) letters: LetterForm,
    /// Counts changes to files and options, so that an outdated encoding is dropped.
    pub(crate) generation: u64,
    pub(crate) cohorts: [Option<Arc<CohortState>>; 2],
    pub(crate) traces: [Option<Arc<Trace>>; 2],
    /// The last generation that needed new traces.
    pub(crate) retrace: u64,
    /// The generation of the current traces.
    pub(crate) traced: u64,
    pub(crate) problem: Option<Problem>,
    pub(crate) plan: NamedPlan,
    pub(crate) compare: CompareForm,
    pub(crate) job: Option<JobState>,
    /// The result of the last comparison on this machine.
    pub(crate) result: Option<Arc<ResultState>>,
    /// The result of the last session with a partner, which cannot be recomputed at will.
    pub(crate) partner_result: Option<Arc<ResultState>>,
    pub(crate) partner: PartnerForm,
    pub(crate) session: SessionState,
    /// When a comparison or session ended, if no page has shown it since.
    pub(crate) unseen: Option<Instant>,
}

/// Why the program keeps running without a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// A job is running, or nobody has seen its result.
    Work,
    /// The user has provided files.
    Files,
    Nothing,
}

/// A comparison on this machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobState {
    pub(crate) running: bool,
    /// Ends the comparison.
    pub(crate) cancel: CancelToken,
    /// What went wrong, and with which inputs.
    pub(crate) problem: Option<(Problem, Inputs)>,
    pub(crate) notes: Vec<String>,
}

impl Workspace {
    pub(crate) fn new(folder: Option<PathBuf>, identity: Option<PathBuf>) -> Self {
        Self {
            folder,
            identity,
            next_id: 1,
            files: Vec::new(),
            read: ReadForm::default(),
            letters: LetterForm::default(),
            generation: 0,
            cohorts: [None, None],
            traces: [None, None],
            retrace: 0,
            traced: 0,
            problem: None,
            plan: NamedPlan {
                engine: "plain".into(),
                ..NamedPlan::default()
            },
            compare: CompareForm::default(),
            job: None,
            result: None,
            partner_result: None,
            partner: PartnerForm::default(),
            session: SessionState::default(),
            unseen: None,
        }
    }

    /// What would be lost if the program ended now.
    pub(crate) fn need(&self) -> Need {
        let is_kept = |ended: Instant| ended.elapsed() < UNSEEN_RESULT_TIMEOUT;
        match self.is_busy() || self.unseen.is_some_and(is_kept) {
            true => Need::Work,
            false if self.files.is_empty() => Need::Nothing,
            false => Need::Files,
        }
    }

    /// A result by its id.
    pub(crate) fn result_of(&self, id: u64) -> Result<Arc<ResultState>, Problem> {
        let mut results = [&self.result, &self.partner_result].into_iter().flatten();
        let found = results.find(|result| result.id == id).cloned();
        found.ok_or_else(|| Problem::new("this result has been replaced by another", ""))
    }

    /// Whether a comparison or a session is running.
    pub(crate) fn is_busy(&self) -> bool {
        self.job.as_ref().is_some_and(|job| job.running) || self.session.is_running()
    }

    /// Cancels the comparison on this machine, if one is running.
    pub(crate) fn cancel(&self) {
        if let Some(job) = &self.job {
            job.cancel.cancel();
        }
    }

    /// Ends a running comparison or session.
    pub(crate) fn stop(&mut self) {
        self.cancel();
        self.session.stop();
    }

    /// Everything that the page shows.
    pub(crate) fn to_json(&self) -> Value {
        let formats: Vec<Value> = formats()
            .iter()
            .map(|it| json!({"name": it.name, "title": it.title}))
            .collect();
        let inputs = Inputs::of(self);
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "folder": self.folder.as_deref().map(files::folder_state),
            "files": self.files.iter().map(StoredFile::to_json).collect::<Vec<_>>(),
            "read": self.read,
            "letters": self.letters,
            "formats": formats,
            "units": forms::unit_names(),
            "cohorts": self.cohorts.each_ref().map(|it| it.as_deref().map(cohort)),
            "headers": files::headers(&self.files),
            "stimuli": self.stimuli(),
            "traced": self.traced,
            "left_out": self.traces.iter().flatten().map(|it| it.left_out).sum::<u64>(),
            "found": self.detected_space(),
            "problem": self.problem,
            "plan": self.plan,
            "compare": self.compare,
            "job": self.job.as_ref().map(|job| json!({
                "running": job.running,
                "problem": job.problem.as_ref().filter(|it| it.1 == inputs).map(|it| &it.0),
                "notes": job.notes,
            })),
            "result": self.result.as_deref().map(|it| it.to_json(&inputs)),
            "partner_result": self.partner_result.as_deref().map(|it| it.to_json(&inputs)),
            "partner": self.partner,
            "session": self.session.to_json(),
            "commands": commands::all(self),
        })
    }

    /// The screen and the unit of coordinates, if all recordings have the same.
    fn detected_space(&self) -> Value {
        let traces = self.traces.iter().flatten();
        let mut spaces = traces
            .flat_map(|trace| &trace.recordings)
            .map(|it| it.space);
        let space = spaces.next().flatten();
        match space.filter(|space| spaces.all(|other| other == Some(*space))) {
            None => json!({"screen": null, "unit": null}),
            Some(space) => {
                let in_pixels = space.kind == SpaceKind::Pixels;
                let [width, height] = [space.right - space.left, space.bottom - space.top];
                json!({
                    "screen": in_pixels.then(|| format!("{}x{}", width.abs(), height.abs())),
                    "unit": match space.kind {
                        SpaceKind::Pixels => "pixels",
                        SpaceKind::CentredPixels => "pixels from the centre",
                        SpaceKind::Fractions | SpaceKind::PanoramaFractions => "parts of the stimulus",
                        SpaceKind::Globe => "longitude and latitude",
                        SpaceKind::VisualAngle { .. } => "degrees of visual angle",
                    },
                })
            }
        }
    }

    /// The stimuli of all recordings, and how many recordings each has.
    fn stimuli(&self) -> Vec<Value> {
        let mut stimuli: Vec<(Option<&str>, usize, usize, Option<f64>)> = Vec::new();
        let traces = self.traces.iter().flatten();
        for recording in traces.flat_map(|trace| &trace.recordings) {
            let name = recording.stimulus.as_deref();
            let points = recording.points.len();
            match stimuli.iter_mut().find(|it| it.0 == name) {
                Some(stimulus) => {
                    stimulus.1 += 1;
                    stimulus.2 += points;
                }
                None => {
                    let aspect = recording.space.and_then(|space| space.aspect());
                    stimuli.push((name, 1, points, aspect));
                }
            }
        }
        let shown = stimuli.into_iter().map(|(name, recordings, points, aspect)| {
            json!({"name": name, "recordings": recordings, "points": points, "aspect": aspect})
        });
        shown.collect()
    }
}

/// A cohort as the page shows it.
fn cohort(state: &CohortState) -> Value {
    let cohort = &state.cohort;
    let shown = cohort.entries.iter().take(MAX_SHOWN);
    let shown = shown.map(|entry| {
        let letters = cohort.alphabet.format(&entry.scanpath);
        json!({
            "participant": entry.participant,
            "stimulus": entry.stimulus,
            "group": entry.group,
            "length": entry.scanpath.len(),
            "letters": letters.chars().take(MAX_LETTERS).collect::<String>(),
        })
    });
    let notes = state.summary.iter().flat_map(|summary| {
        let notes = summary.notes.iter();
        // The page names the form fields of a note, including those without effect.
        notes.map(|note| json!({"text": note.to_string(), "fields": note.fields()}))
    });
    json!({
        "name": state.name,
        "entries": shown.collect::<Vec<_>>(),
        "scanpaths": cohort.entries.len(),
        "participants": veilpath::split::participants(cohort),
        "groups": cohort.group_sizes(),
        "alphabet": cohort.alphabet.to_string(),
        "encoding": cohort.encoding.0,
        "has_fixations": cohort.screen.is_some(),
        "summary": state.summary,
        // One list of texts for each file of the summary.
        "dropped": state.summary.iter().flat_map(dropped).collect::<Vec<_>>(),
        "notes": notes.collect::<Vec<_>>(),
        "remarks": state.remarks,
    })
}

/// Why rows of each file were dropped, and how many.
fn dropped(summary: &Summary) -> impl Iterator<Item = Vec<String>> {
    summary.files.iter().map(|file| {
        let reasons = file.dropped.iter();
        let reasons = reasons.map(|(reason, &rows)| format!("{} {reason}", grouped(rows)));
        reasons.collect()
    })
}

/// Poisoning is harmless: a request that panicked has changed only single fields.
pub(crate) fn lock(workspace: &Mutex<Workspace>) -> MutexGuard<'_, Workspace> {
    workspace.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath::encode::{Dropped, FileSummary};

    #[test]
    fn dropped_rows_have_the_words_of_the_summary() {
        let summary = Summary {
            files: vec![FileSummary {
                dropped: [(Dropped::Lost, 1200), (Dropped::TooShort, 1)].into(),
                ..FileSummary::default()
            }],
            ..Summary::default()
        };
        let texts: Vec<Vec<String>> = dropped(&summary).collect();
        let expected = [
            "1,200 lost: no coordinates, a blink or confidence 0",
            "1 shorter than half a temporal bin",
        ];
        assert_eq!(texts, [expected]);
    }

    #[test]
    fn an_unseen_result_keeps_the_server_running() {
        let mut workspace = Workspace::new(None, None);
        assert_eq!(workspace.need(), Need::Nothing);
        workspace.unseen = Some(Instant::now());
        assert_eq!(workspace.need(), Need::Work);
        assert!(!workspace.is_busy(), "another comparison can start");
        workspace.unseen = Instant::now().checked_sub(UNSEEN_RESULT_TIMEOUT);
        assert_eq!(workspace.need(), Need::Nothing);
    }
}
