//! A comparison of two cohorts on this machine.

use crate::App;
use crate::cohorts::CohortState;
use crate::problem::Problem;
use crate::results::{ResultState, result_file};
use crate::workspace::{JobState, Workspace, lock};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use veilpath::encode::Groups;
use veilpath::split::{SplitOptions, split};
use veilpath::stats::{NamedResult, StatsError, StatsOptions, statistics};
use veilpath::{
    CancelToken, CompareOptions, Error, Event, EventSink, Input, NamedPlan, Outcome, PlanOptions,
    RawCohort, compare, part_of_cohort, plan,
};

/// How often the page gets progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(150);

/// Why there is no test of the two cohorts.
const TOO_FEW: &str = "whether the two cohorts differ cannot be tested: each needs at least two participants with the same stimulus";

/// The form fields of a comparison besides its plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CompareForm {
    /// The seed of a random split of the first cohort, if there is no second one.
    pub(crate) seed: String,
    /// What the two cohorts are called.
    pub(crate) first: String,
    pub(crate) second: String,
    /// Whether to test if the two cohorts differ.
    pub(crate) sites: bool,
}

impl Default for CompareForm {
    fn default() -> Self {
        Self {
            seed: "1".into(),
            first: String::new(),
            second: String::new(),
            sites: true,
        }
    }
}

impl CompareForm {
    /// Whether the first cohort is split, because there is no second one.
    pub(crate) fn is_split(&self, workspace: &Workspace) -> bool {
        workspace.files.iter().all(|file| file.side == 0)
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed.trim().parse().unwrap_or(1)
    }

    pub(crate) fn names(&self, workspace: &Workspace) -> [String; 2] {
        let default = match self.is_split(workspace) {
            true => ["half a", "half b"],
            false => ["first", "second"],
        };
        let given = [&self.first, &self.second];
        [0, 1].map(|side| match given[side].trim() {
            "" => default[side].to_string(),
            name => name.to_string(),
        })
    }
}

/// The inputs of a result or a problem, which is outdated once the page has other inputs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inputs {
    plan: NamedPlan,
    form: CompareForm,
    cohorts: [Option<Arc<[u8]>>; 2],
}

impl Inputs {
    pub(crate) fn of(workspace: &Workspace) -> Self {
        let bytes = |cohort: &Option<Arc<CohortState>>| {
            let bytes = cohort.as_ref().map(|it| &it.bytes);
            bytes.map(Arc::clone)
        };
        Self {
            plan: workspace.plan.clone(),
            form: workspace.compare.clone(),
            cohorts: workspace.cohorts.each_ref().map(bytes),
        }
    }

    /// The cohort file for comparisons with a partner.
    pub(crate) fn own(&self) -> Option<&Arc<[u8]>> {
        self.cohorts[0].as_ref()
    }
}

/// A snapshot of everything that a comparison needs.
struct Job {
    inputs: Inputs,
    options: PlanOptions,
    cohorts: [Option<Arc<CohortState>>; 2],
    form: CompareForm,
    is_split: bool,
    names: [String; 2],
    id: u64,
    cancel: CancelToken,
}

/// Where a comparison reports to, and what cancels it.
struct Sink<'a, F: Fn(Event) + Sync> {
    report: F,
    cancel: &'a CancelToken,
}

impl<F: Fn(Event) + Sync> EventSink for Sink<'_, F> {
    fn event(&self, event: Event) {
        (self.report)(event);
    }

    fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }
}

impl App {
    /// Starts a comparison on its own thread.
    pub(crate) fn start_comparison(self: &Arc<Self>) -> Result<(), Problem> {
        let job = {
            let mut workspace = lock(&self.workspace);
            if workspace.is_busy() {
                return Err(Problem::new("another comparison is still running", ""));
            }
            if workspace.cohorts[0].is_none() {
                return Err(Problem::new(
                    "there is no cohort to compare yet",
                    "Drop recordings or a cohort file under Data.",
                ));
            }
            let options = workspace.plan.options()?;
            workspace.next_id += 1;
            let cancel = CancelToken::default();
            let inputs = Inputs::of(&workspace);
            workspace.job = Some(JobState {
                running: true,
                cancel: cancel.clone(),
                ..JobState::default()
            });
            Job {
                inputs,
                options,
                cohorts: workspace.cohorts.clone(),
                form: workspace.compare.clone(),
                is_split: workspace.compare.is_split(&workspace),
                names: workspace.compare.names(&workspace),
                id: workspace.next_id,
                cancel,
            }
        };
        let app = Arc::clone(self);
        std::thread::spawn(move || {
            let notes = Mutex::new(Vec::new());
            let result = app.run(&job, &notes);
            let notes = notes.into_inner().unwrap_or_else(PoisonError::into_inner);
            app.finish(result, notes, job);
        });
        self.hub.send(&json!({"event": "changed"}));
        Ok(())
    }

    fn finish(&self, result: Result<ResultState, Problem>, notes: Vec<String>, job: Job) {
        let mut workspace = lock(&self.workspace);
        let mut ended = JobState {
            notes: notes.clone(),
            ..JobState::default()
        };
        match result {
            Ok(result) => {
                workspace.result = Some(Arc::new(ResultState {
                    notes,
                    inputs: Some(job.inputs),
                    ..result
                }));
            }
            // The user cancelled, so no message is needed. An earlier result stays.
            Err(_) if job.cancel.is_cancelled() => {}
            Err(problem) => ended.problem = Some((problem, job.inputs)),
        }
        workspace.job = Some(ended);
        workspace.unseen = Some(Instant::now());
        drop(workspace);
        self.hub.send(&json!({"event": "changed"}));
    }

    fn run(&self, job: &Job, notes: &Mutex<Vec<String>>) -> Result<ResultState, Problem> {
        let [first, second] = job.sides()?;
        let last = Mutex::new(Instant::now());
        let report = |event: Event| match event {
            Event::Progress(progress) => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                if progress.done == progress.total || last.elapsed() > REPORT_INTERVAL {
                    *last = Instant::now();
                    let left = progress.time_left().map(|left| left.as_secs_f64());
                    self.hub.send(&json!({
                        "event": "progress",
                        "done": progress.done,
                        "total": progress.total,
                        "seconds_left": left,
                    }));
                }
            }
            Event::Note(note) => push(notes, note.to_string()),
            Event::CohortNote { file, note } => push(notes, format!("{file}: {note}")),
            _ => {}
        };
        let events = Sink {
            report,
            cancel: &job.cancel,
        };
        let cohorts = [&first, &second];
        let compared = |a: usize, b: usize| -> Result<Outcome, Problem> {
            let planned = plan([cohorts[a], cohorts[b]], &job.options, &events)?;
            let outcome = compare(&planned, CompareOptions::default(), &events)?;
            match job.cancel.is_cancelled() {
                true => Err(Error::Cancelled.into()),
                false => Ok(outcome.with_names([a, b].map(|side| job.names[side].clone()))),
            }
        };
        let outcome = compared(0, 1)?;
        let answers_pairs = job.options.reveal.group_question().is_none();
        let statistics = match answers_pairs && !outcome.one_cohort {
            false => None,
            true => {
                let mut results = vec![result_file(&outcome)?];
                if job.form.sites {
                    results.push(result_file(&compared(0, 0)?)?);
                    results.push(result_file(&compared(1, 1)?)?);
                }
                let names = ["scores.json", "within-a.json", "within-b.json"];
                let named: Vec<NamedResult<'_>> = names
                    .iter()
                    .zip(&results)
                    .map(|(name, file)| NamedResult { name, file })
                    .collect();
                let options = StatsOptions {
                    groups: job.groups()?,
                    ..StatsOptions::default()
                };
                let all = match statistics(&named, &options, &events) {
                    Err(Error::Stats(StatsError::NoPairs { .. })) if job.form.sites => {
                        push(notes, TOO_FEW.into());
                        statistics(&named[..1], &options, &events)
                    }
                    all => all,
                };
                match all {
                    Ok(outcome) => Some(outcome),
                    Err(Error::Cancelled) => return Err(Error::Cancelled.into()),
                    Err(error) => {
                        push(notes, format!("no statistics: {error}"));
                        None
                    }
                }
            }
        };
        Ok(ResultState {
            id: job.id,
            with_partner: false,
            outcome,
            statistics,
            own: job.cohorts[0].as_ref().map(|it| Arc::clone(&it.bytes)),
            notes: Vec::new(),
            inputs: None,
        })
    }
}

impl Job {
    /// The groups of both sides, if both have groups.
    fn groups(&self) -> Result<[Option<Groups>; 2], Problem> {
        let of = |cohort: &CohortState| -> Result<Groups, Problem> {
            let input = Input::from_shared(&cohort.name, Arc::clone(&cohort.bytes))?;
            Ok(Groups::read(input)?)
        };
        let has_groups = |cohort: &CohortState| cohort.cohort.has_groups();
        Ok(match &self.cohorts {
            [Some(whole), None] if has_groups(whole) => [Some(of(whole)?), Some(of(whole)?)],
            [Some(first), Some(second)] if has_groups(first) && has_groups(second) => {
                [Some(of(first)?), Some(of(second)?)]
            }
            _ => [None, None],
        })
    }

    /// The two cohorts: as given, or the halves of the first.
    fn sides(&self) -> Result<[RawCohort; 2], Problem> {
        let missing = || Problem::new("there is no second cohort", "");
        match (&self.cohorts, self.is_split) {
            ([Some(first), Some(second)], _) => Ok([first.raw()?, second.raw()?]),
            ([Some(whole), None], true) => {
                let options = SplitOptions {
                    seed: Some(self.form.seed()),
                    ..SplitOptions::default()
                };
                let raw = whole.raw()?;
                let halves = split(whole.cohort.clone(), options)?.cohorts;
                let part = |at: usize| part_of_cohort(&self.names[at], &raw, &halves[at]);
                Ok([part(0)?, part(1)?])
            }
            _ => Err(missing()),
        }
    }
}

fn push(notes: &Mutex<Vec<String>>, note: String) {
    let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
    if !notes.contains(&note) {
        notes.push(note);
    }
}
