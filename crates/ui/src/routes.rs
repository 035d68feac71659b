//! The routes of the server.

use crate::assets::{self, typed};
use crate::cohorts::areas_csv;
use crate::comparison::CompareForm;
use crate::files::{MAX_FILE_BYTES, NewFile, StoredFile};
use crate::forms::{LetterForm, ReadForm};
use crate::partner::PartnerForm;
use crate::problem::Problem;
use crate::session::StartForm;
use crate::workspace::lock;
use crate::{App, guard, picture};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::middleware::from_fn_with_state;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{delete, get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use veilpath::{FileKind, Invitation, NamedPlan};

/// The largest request that is not a file: many areas of interest.
const MAX_FORM_BYTES: usize = 4 << 20;

/// Where files are dropped.
const FILES: &str = "/api/files";

type Shared = State<Arc<App>>;

/// The response to a request, or its problem.
type Answer = Result<Json<Value>, ProblemResponse>;

/// A problem as a response.
pub(crate) struct ProblemResponse(Problem);

impl IntoResponse for ProblemResponse {
    fn into_response(self) -> Response {
        let body = json!({"problem": self.0});
        (StatusCode::UNPROCESSABLE_ENTITY, Json(body)).into_response()
    }
}

impl<E: Into<Problem>> From<E> for ProblemResponse {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// The maximum size of a request body, in bytes.
pub(crate) fn limit(path: &str) -> usize {
    match path {
        FILES => MAX_FILE_BYTES,
        _ => MAX_FORM_BYTES,
    }
}

pub(crate) fn router(app: &Arc<App>) -> Router {
    let upload = post(drop_file).layer(DefaultBodyLimit::max(MAX_FILE_BYTES));
    let scripts = assets::SCRIPTS.into_iter();
    let scripts = scripts.fold(Router::new(), |router, (address, text)| {
        router.route(address, get(async move || assets::script(text)))
    });
    scripts
        .route("/", get(assets::page))
        .route("/style.css", get(assets::style))
        .route("/api/state", get(state))
        .route("/api/events", get(events))
        .route("/api/options", post(set_options))
        .route("/api/files/{id}", delete(remove_file).post(change_file))
        .route("/api/folder", post(open_from_folder))
        .route("/api/picture", get(points))
        .route("/api/images/{id}", get(image))
        .route("/api/cohorts/{side}", get(cohort))
        .route("/api/areas", get(areas))
        .route("/api/plan", post(set_plan))
        .route("/api/compare", post(compare).delete(cancel))
        .route("/api/exports/{id}/{kind}", get(export))
        .route("/report/{id}/{own}", get(report))
        .route("/api/partner", post(set_partner))
        .route("/api/identity", post(identity))
        .route("/api/words", get(words))
        .route("/api/policy", get(policy))
        .route("/api/record", get(record))
        .route("/api/record.csv", get(record_csv))
        .route("/api/invitation", get(invitation))
        .route("/api/session/start", post(start))
        .route("/api/session/{action}", post(session))
        .route("/api/quit", post(quit))
        .layer(DefaultBodyLimit::max(MAX_FORM_BYTES))
        .route(FILES, upload)
        .layer(from_fn_with_state(Arc::clone(app), guard::check))
        .with_state(Arc::clone(app))
}

async fn state(State(app): Shared) -> Json<Value> {
    let mut workspace = lock(&app.workspace);
    workspace.unseen = None;
    Json(workspace.to_json())
}

async fn events(State(app): Shared) -> impl IntoResponse {
    Sse::new(app.hub.subscribe()).keep_alive(KeepAlive::default())
}

/// The name of a file, a stimulus or a fingerprint. A file's name is in the address, because the body is the file.
#[derive(Deserialize)]
struct NameQuery {
    name: String,
    /// Whether more files follow, so that encoding now would be wasted work.
    #[serde(default)]
    more: bool,
}

async fn drop_file(State(app): Shared, Query(file): Query<NameQuery>, body: Bytes) -> Answer {
    blocking(&app, move |app| {
        if Invitation::is_start_of(&body) {
            return app.open_invitation(&body);
        }
        let bytes: Arc<[u8]> = Arc::from(&body[..]);
        drop(body);
        lock(&app.workspace).has_room_for(bytes.len())?;
        // Recognising a large file takes a while. No lock is held, so other requests do not wait.
        let new_file = NewFile::dropped(&file.name, bytes)?;
        app.add(new_file, !file.more)
    })
    .await
}

async fn open_from_folder(State(app): Shared, Json(file): Json<NameQuery>) -> Answer {
    blocking(&app, move |app| {
        let folder = lock(&app.workspace).folder.clone();
        let new_file = NewFile::from_folder(folder.as_deref(), &file.name)?;
        if new_file.kind == FileKind::Invitation {
            return app.open_invitation(&new_file.content.bytes()?);
        }
        app.add(new_file, true)
    })
    .await
}

async fn remove_file(State(app): Shared, Path(id): Path<u64>) -> Answer {
    blocking(&app, move |app| {
        let mut workspace = lock(&app.workspace);
        workspace.files.retain(|file| file.id != id);
        // Options for removed recordings could be wrong for others, and the page no longer shows them.
        let is_gaze = |kind: &FileKind| matches!(kind, FileKind::Gaze(_) | FileKind::Unknown);
        if !workspace.files.iter().any(|file| is_gaze(&file.kind)) {
            workspace.read = ReadForm::default();
        }
        drop(workspace);
        app.encode(false);
        Ok(json!({}))
    })
    .await
}

/// What can be changed about a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileChange {
    side: Option<usize>,
    stimulus: Option<String>,
}

async fn change_file(
    State(app): Shared,
    Path(id): Path<u64>,
    Json(change): Json<FileChange>,
) -> Answer {
    blocking(&app, move |app| {
        let mut workspace = lock(&app.workspace);
        let mut files = workspace.files.iter_mut();
        let file = files.find(|file| file.id == id);
        let file = file.ok_or_else(|| Problem::new("there is no such file", ""))?;
        if let Some(side) = change.side {
            file.side = side.min(1);
        }
        if let Some(stimulus) = change.stimulus {
            file.stimulus = Some(stimulus).filter(|name| !name.is_empty());
        }
        drop(workspace);
        app.encode(false);
        Ok(json!({}))
    })
    .await
}

/// New options for reading or for letters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionsChange {
    read: Option<ReadForm>,
    letters: Option<LetterForm>,
    /// Files in a dropped folder that are not recordings.
    #[serde(default)]
    leave_out: Vec<u64>,
}

async fn set_options(State(app): Shared, Json(change): Json<OptionsChange>) -> Answer {
    blocking(&app, move |app| {
        let mut workspace = lock(&app.workspace);
        let is_kept = |file: &StoredFile| !change.leave_out.contains(&file.id);
        workspace.files.retain(is_kept);
        // A request without either is about files that have been added.
        let letters_only =
            change.read.is_none() && change.letters.is_some() && workspace.letters.detect == "runs";
        if let Some(read) = change.read {
            workspace.read = read;
        }
        if let Some(letters) = change.letters {
            workspace.letters = letters;
        }
        drop(workspace);
        app.encode(letters_only);
        Ok(json!({}))
    })
    .await
}

async fn points(State(app): Shared, Query(stimulus): Query<NameQuery>) -> Response {
    let traces = lock(&app.workspace).traces.clone();
    let made = tokio::task::spawn_blocking(move || picture::points(&traces, &stimulus.name)).await;
    typed("application/octet-stream", made.unwrap_or_default())
}

async fn image(State(app): Shared, Path(id): Path<u64>) -> Result<Response, ProblemResponse> {
    let content = {
        let workspace = lock(&app.workspace);
        let mut files = workspace.files.iter();
        let file = files.find(|file| file.id == id && file.kind == FileKind::Image);
        let file = file.ok_or_else(|| Problem::new("there is no such picture", ""))?;
        file.content.clone()
    };
    let bytes = value_of(&app, move |_| content.bytes()).await?;
    let media_type = match bytes.starts_with(b"\x89PNG") {
        true => "image/png",
        false => "image/jpeg",
    };
    Ok(typed(media_type, bytes.to_vec()))
}

async fn cohort(State(app): Shared, Path(side): Path<usize>) -> Result<Response, ProblemResponse> {
    let workspace = lock(&app.workspace);
    let cohort = workspace.cohorts.get(side).and_then(Option::as_ref);
    let cohort = cohort.ok_or_else(|| Problem::new("there is no such cohort", ""))?;
    let name = crate::cohorts::NAMES[side];
    Ok(saved(
        "text/csv; charset=utf-8",
        name,
        cohort.bytes.to_vec(),
    ))
}

async fn areas(State(app): Shared) -> Result<Response, ProblemResponse> {
    let workspace = lock(&app.workspace);
    let text = areas_csv(&workspace.letters, &workspace.traces)?;
    Ok(saved(
        "text/csv; charset=utf-8",
        "areas.csv",
        text.into_bytes(),
    ))
}

/// The plan of a comparison on this machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanChange {
    plan: NamedPlan,
    compare: CompareForm,
}

async fn set_plan(State(app): Shared, Json(change): Json<PlanChange>) -> Answer {
    change.plan.options()?;
    let mut workspace = lock(&app.workspace);
    workspace.plan = change.plan;
    workspace.compare = change.compare;
    drop(workspace);
    app.changed();
    Ok(Json(json!({})))
}

async fn compare(State(app): Shared) -> Answer {
    app.start_comparison()?;
    Ok(Json(json!({})))
}

async fn cancel(State(app): Shared) -> Json<Value> {
    lock(&app.workspace).cancel();
    Json(json!({}))
}

async fn export(
    State(app): Shared,
    Path((id, kind)): Path<(u64, String)>,
) -> Result<Response, ProblemResponse> {
    let result = lock(&app.workspace).result_of(id)?;
    let export = value_of(&app, move |_| result.export(&kind)).await?;
    Ok(saved(export.media_type, export.name, export.bytes))
}

async fn report(
    State(app): Shared,
    Path((id, own)): Path<(u64, String)>,
) -> Result<Response, ProblemResponse> {
    let result = lock(&app.workspace).result_of(id)?;
    let page = value_of(&app, move |_| result.page(own == "own")).await?;
    Ok(typed("text/html; charset=utf-8", page))
}

async fn set_partner(State(app): Shared, Json(form): Json<PartnerForm>) -> Answer {
    form.plan.options()?;
    let mut workspace = lock(&app.workspace);
    if workspace.session.is_running() {
        return Err(Problem::new("the plan cannot change while a session runs", "").into());
    }
    if workspace.partner != form {
        workspace.partner = form;
        workspace.session.needs_approval();
    }
    drop(workspace);
    app.changed();
    Ok(Json(json!({})))
}

async fn identity(State(app): Shared) -> Answer {
    blocking(&app, |app| app.identity()).await
}

async fn words(State(app): Shared, Query(fingerprint): Query<NameQuery>) -> Answer {
    Ok(Json(app.words(&fingerprint.name)?))
}

async fn policy(State(app): Shared) -> Answer {
    blocking(&app, |app| app.policy()).await
}

async fn record(State(app): Shared) -> Answer {
    blocking(&app, |app| app.record()).await
}

async fn record_csv(State(app): Shared) -> Result<Response, ProblemResponse> {
    let bytes = value_of(&app, |app| app.record_csv()).await?;
    Ok(saved("text/csv; charset=utf-8", "record.csv", bytes))
}

async fn invitation(State(app): Shared) -> Result<Response, ProblemResponse> {
    let invitation = value_of(&app, |app| lock(&app.workspace).invitation()).await?;
    let name = match invitation.meeting_place {
        Some(_) => "veilpath.invitation",
        None => "veilpath-answer.invitation",
    };
    let json = invitation.to_json().into_bytes();
    Ok(saved("application/json", name, json))
}

async fn session(State(app): Shared, Path(action): Path<String>) -> Answer {
    blocking(&app, move |app| {
        match action.as_str() {
            "connect" => app.connect(false)?,
            "resume" => app.connect(true)?,
            "stop" => lock(&app.workspace).stop(),
            "reset" => app.reset()?,
            _ => return Err(Problem::new("there is no such action", "")),
        }
        Ok(json!({}))
    })
    .await
}

async fn start(State(app): Shared, Json(form): Json<StartForm>) -> Answer {
    blocking(&app, move |app| app.approve(&form).map(|()| json!({}))).await
}

async fn quit(State(app): Shared) -> Json<Value> {
    app.hub.quit();
    Json(json!({}))
}

impl App {
    /// Encodes again, on this thread.
    fn encode(&self, letters_only: bool) {
        let job = self.begin_encoding(letters_only);
        self.finish_encoding(&job);
    }

    fn open_invitation(&self, bytes: &[u8]) -> Result<Value, Problem> {
        lock(&self.workspace).open_invitation(bytes)?;
        self.changed();
        Ok(json!({"kind": "invitation"}))
    }

    /// Adds a file, and encodes if no other file follows.
    fn add(&self, file: NewFile, is_last: bool) -> Result<Value, Problem> {
        let mut workspace = lock(&self.workspace);
        let id = workspace.add(file)?;
        let kind = workspace.files.last().map(StoredFile::kind_name);
        drop(workspace);
        if is_last {
            self.encode(false);
        }
        Ok(json!({"id": id, "kind": kind}))
    }
}

/// Runs work that takes a while on a thread that may block.
async fn blocking(
    app: &Arc<App>,
    work: impl FnOnce(&Arc<App>) -> Result<Value, Problem> + Send + 'static,
) -> Answer {
    value_of(app, work).await.map(Json)
}

/// Like [`blocking`], but returns the value itself.
async fn value_of<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&Arc<App>) -> Result<T, Problem> + Send + 'static,
) -> Result<T, ProblemResponse> {
    let app = Arc::clone(app);
    let done = tokio::task::spawn_blocking(move || work(&app)).await;
    Ok(done.map_err(|_| internal())??)
}

fn internal() -> Problem {
    Problem::new("something went wrong in the program", "Try again.")
}

/// A file that the browser saves.
fn saved(media_type: &'static str, name: &str, bytes: Vec<u8>) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (CONTENT_TYPE, media_type.to_string()),
        (CONTENT_DISPOSITION, disposition),
    ];
    (headers, bytes).into_response()
}
