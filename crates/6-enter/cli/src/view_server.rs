//! `rockhound view`: recordings and traces as pages from a local server.
//!
//! A page is made from the folder at each request, so it is never out of date; concurrent requests for the
//! same page of the same folder share one.

mod guard;
mod store;

use crate::args::{NormalUnit, Ranks, TimeUnits, Units, View};
use crate::exit::Outcome;
use crate::page::{self, Wish};
use crate::trace::inputs;
use anyhow::{Context, Result, anyhow};
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use clap::ValueEnum;
use guard::Guard;
use host::Source;
use host::recording::{each, exists, read_runs};
use host::subjects::Asked;
use host::traces::are_traces;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use study::trace::Wanted as WantedTraces;
use view::{Note, NoteKind, PageLive, Wanted};

/// Pages kept; more than a reader looks at in turns.
const KEPT: usize = 8;
/// Deepest folder whose files are watched.
const DEPTH: usize = 3;
/// Longest filter.
const LONGEST: usize = 10_000;

/// State of the server.
struct Server {
    recordings: Vec<Source>,
    base: Option<usize>,
    arch: Option<String>,
    corrections: Option<String>,
    /// All recordings below a folder are one.
    merges_ranks: bool,
    /// All runs in a folder are one.
    merges_runs: bool,
    /// Finished pages by request and version.
    pages: Mutex<VecDeque<(Question, String, Bytes)>>,
    /// One page is made at a time.
    making: tokio::sync::Mutex<()>,
}

/// Content of a request.
#[derive(Clone, PartialEq, Eq)]
struct Question {
    shown: usize,
    base: Option<usize>,
    kernel: String,
    dispatch: String,
    normal_unit: String,
    time_unit: String,
}

/// Serves until the program is ended.
pub(crate) fn run(args: &View) -> Result<Outcome> {
    if let Some(address) = &args.store {
        let server = store::Server::new(address, args)?;
        return serve(args, |token| server.router(token));
    }
    let mut recordings: Vec<Source> = match (args.ranks, args.runs) {
        (Some(Ranks::Each), _) => args.paths.iter().flat_map(each).collect(),
        (_, Some(Ranks::Each)) => {
            let runs: Result<Vec<_>> = args.paths.iter().map(read_runs).collect();
            runs?.into_iter().flatten().map(|run| run.source).collect()
        }
        _ => args.paths.clone(),
    };
    let mut base = None;
    if let Some(path) = &args.base {
        base = Some(recordings.iter().position(|p| p == path).unwrap_or_else(|| {
            recordings.push(path.clone());
            recordings.len() - 1
        }));
    }
    for source in &recordings {
        source.open()?;
    }
    if let Some(missing) = recordings.iter().find(|source| !exists(source)) {
        return Err(anyhow!("`{missing}`: no such file or folder"));
    }
    let server = Arc::new(Server {
        recordings,
        base,
        arch: args.arch.clone(),
        corrections: args.specs_correction.clone(),
        merges_ranks: args.ranks == Some(Ranks::Merged),
        merges_runs: args.runs == Some(Ranks::Merged),
        pages: Mutex::new(VecDeque::new()),
        making: tokio::sync::Mutex::new(()),
    });
    serve(args, |token| {
        Router::new()
            .route(&format!("/{token}/"), get(show))
            .route(&format!("/{token}/version"), get(version))
            .with_state(server)
    })
}

/// Listens, prints the address, and answers with the routes that `router` makes for a token.
fn serve(args: &View, router: impl FnOnce(&str) -> Router) -> Result<Outcome> {
    let address = args.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let listener = TcpListener::bind(SocketAddr::new(address, args.port))
        .with_context(|| format!("cannot listen on {address}, port {}", args.port))?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    let guard = Guard::new(address)?;
    let shown = if address.is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { address };
    let url = format!("http://{}/{}/", SocketAddr::new(shown, bound.port()), guard.token());
    if !address.is_loopback() {
        eprintln!(
            "warning: listening on {address}: every machine that reaches it and has the address below sees the recordings, \
             unencrypted"
        );
    }
    println!("{url}");
    if !args.no_open {
        open(&url);
    }
    let router = router(guard.token()).layer(middleware::from_fn_with_state(Arc::new(guard), guard::check));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        axum::serve(listener, router).await
    })?;
    Ok(Outcome::Fine)
}

/// Starts the browser of the system; without one the printed address must suffice.
fn open(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if started.is_err() {
        eprintln!("hint: open the address above in a browser");
    }
}

/// The page for a query.
async fn show(State(server): State<Arc<Server>>, Query(query): Query<BTreeMap<String, String>>) -> Response {
    let question = match server.question(&query) {
        Ok(question) => question,
        Err(message) => return (StatusCode::BAD_REQUEST, message).into_response(),
    };
    let version = server.version(&question);
    if let Some(page) = server.kept(&question, &version) {
        return html(page);
    }
    let _making = server.making.lock().await;
    // Who waited finds what the one before made.
    if let Some(page) = server.kept(&question, &version) {
        return html(page);
    }
    let (maker, asked, of) = (Arc::clone(&server), question.clone(), version.clone());
    match tokio::task::spawn_blocking(move || maker.make(&asked, &of)).await {
        Ok(Ok(page)) => {
            let page = Bytes::from(page);
            let mut pages = server.pages.lock().unwrap_or_else(PoisonError::into_inner);
            pages.push_front((question, version, page.clone()));
            pages.truncate(KEPT);
            drop(pages);
            html(page)
        }
        // A folder that is being written may be readable a moment later.
        Ok(Err(error)) => {
            let refresh = [(header::REFRESH, HeaderValue::from_static("2"))];
            (StatusCode::SERVICE_UNAVAILABLE, refresh, format!("error: {error:#}\n")).into_response()
        }
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made\n").into_response(),
    }
}

fn html(page: Bytes) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))], page).into_response()
}

/// Version of the recordings from which the query's page would be made.
async fn version(
    State(server): State<Arc<Server>>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    match server.question(&query) {
        Ok(question) => server.version(&question).into_response(),
        Err(message) => (StatusCode::BAD_REQUEST, message).into_response(),
    }
}

impl Server {
    fn question(&self, query: &BTreeMap<String, String>) -> Result<Question, String> {
        let text = |name: &str, default: &str| {
            let text = query.get(name).map_or(default, |text| text.trim());
            if text.len() > LONGEST { Err(format!("`{name}` is too long\n")) } else { Ok(text.to_owned()) }
        };
        let recording = |name: &str| match query.get(name).map(String::as_str) {
            None | Some("") => Ok(None),
            Some(number) => match number.parse::<usize>() {
                Ok(at) if at < self.recordings.len() => Ok(Some(at)),
                _ => Err(format!("`{name}` is no recording\n")),
            },
        };
        let one_of = |name: &str, text: String, known: bool| {
            if known { Ok(text) } else { Err(format!("`{name}` is none of the choices\n")) }
        };
        let (normal, time) = (text("normal_unit", "per_kernel")?, text("time_unit", "ns")?);
        let known = (NormalUnit::from_str(&normal, false).is_ok(), TimeUnits::from_str(&time, false).is_ok());
        let shown = recording("shown")?.unwrap_or(0);
        let base = if query.contains_key("base") { recording("base")? } else { self.base };
        Ok(Question {
            shown,
            base: base.filter(|base| *base != shown),
            kernel: text("kernel", "")?,
            dispatch: text("dispatch", "")?,
            normal_unit: one_of("normal_unit", normal, known.0)?,
            time_unit: one_of("time_unit", time, known.1)?,
        })
    }

    fn kept(&self, question: &Question, version: &str) -> Option<Bytes> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.iter().find(|(q, v, _)| q == question && v == version).map(|(_, _, page)| page.clone())
    }

    /// Changes with names, sizes and times of the files.
    fn version(&self, question: &Question) -> String {
        let mut hash = DefaultHasher::new();
        for at in question.base.iter().chain([&question.shown]) {
            state_of(self.recordings[*at].path(), DEPTH, &mut hash);
        }
        format!("{:016x}", hash.finish())
    }

    /// Choices for a reader's next request.
    fn live(&self, question: &Question, version: &str, traces: bool) -> PageLive {
        PageLive {
            version_url: "version".to_owned(),
            version: version.to_owned(),
            recordings: self.recordings.iter().map(ToString::to_string).collect(),
            traces,
            shown: question.shown,
            base: question.base,
            kernel: question.kernel.clone(),
            dispatch: question.dispatch.clone(),
            normal_unit: question.normal_unit.clone(),
            time_unit: question.time_unit.clone(),
        }
    }

    /// The page of traces; `None` if the request is for a recording.
    fn of_traces(&self, question: &Question, version: &str) -> Result<Option<String>> {
        let sources: Vec<Source> =
            question.base.iter().chain([&question.shown]).map(|at| self.recordings[*at].clone()).collect();
        if self.merges_ranks
            || self.merges_runs
            || self.arch.is_some()
            || self.corrections.is_some()
            || !are_traces(&sources)
        {
            return Ok(None);
        }
        let kernels = Some(&question.kernel).filter(|it| !it.is_empty());
        let (wanted, refused) = match WantedTraces::kernels(kernels) {
            Ok(wanted) => (wanted, None),
            Err(error) => (WantedTraces::default(), Some(error)),
        };
        // The base is before the one that is shown.
        let (base, shown) = sources.split_at(sources.len() - 1);
        let (all, errors) = inputs::read(base.first(), shown, &wanted, true);
        if let Some(error) = errors.into_iter().next() {
            return Err(anyhow!("{}", error.message()));
        }
        let mut page = study::trace::compared(&inputs::inputs(&all), question.base.is_some())?;
        if let Some(error) = refused {
            let text = format!("the filter is not applied: {error}");
            page.survey.notes.insert(0, Note { kind: NoteKind::Error, text });
        }
        page.live = Some(self.live(question, version, true));
        Ok(Some(render::timeline(&page)))
    }

    fn make(&self, question: &Question, version: &str) -> Result<String> {
        if let Some(page) = self.of_traces(question, version)? {
            return Ok(page);
        }
        let mut wish = Wish {
            asked: Asked {
                sources: question
                    .base
                    .iter()
                    .chain([&question.shown])
                    .map(|at| self.recordings[*at].clone())
                    .collect(),
                arch: self.arch.clone(),
                corrections: self.corrections.clone(),
                wanted: Wanted {
                    kernels: Some(question.kernel.clone()).filter(|k| !k.is_empty()).into_iter().collect(),
                    dispatches: question.dispatch.split_whitespace().map(str::to_owned).collect(),
                    ..Wanted::default()
                },
                matches: Vec::new(),
                ranks: self.merges_ranks.then_some(host::subjects::Ranks::Merged),
                runs: self.merges_runs.then_some(host::subjects::Ranks::Merged),
            },
            units: Units {
                normal_unit: NormalUnit::from_str(&question.normal_unit, false).unwrap_or(NormalUnit::Kernel),
                time_unit: TimeUnits::from_str(&question.time_unit, false).unwrap_or(TimeUnits::Ns),
            },
        };
        let mut page = match page::make(&wish) {
            Ok((page, _)) => page,
            Err(error) if question.kernel.is_empty() && question.dispatch.is_empty() => return Err(error),
            // A filter that fits nothing: everything is shown, and what was wrong.
            Err(error) => {
                wish.asked.wanted = Wanted::default();
                let (mut page, _) = page::make(&wish)?;
                let text = format!("the filter is not applied: {error:#}");
                page.report.notes.insert(0, Note { kind: NoteKind::Error, text });
                page
            }
        };
        page.live = Some(self.live(question, version, false));
        Ok(render::page(&page))
    }
}

fn state_of(path: &Path, depth: usize, hash: &mut DefaultHasher) {
    path.hash(hash);
    // A run is known by its name in a folder that has its files.
    let path = if path.exists() { path } else { path.parent().unwrap_or(path) };
    if let Ok(meta) = path.metadata() {
        (meta.len(), meta.modified().ok()).hash(hash);
        if meta.is_dir() && depth > 0 {
            let mut below: Vec<PathBuf> =
                std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect();
            below.sort_unstable();
            below.iter().for_each(|path| state_of(path, depth - 1, hash));
        }
    }
}
