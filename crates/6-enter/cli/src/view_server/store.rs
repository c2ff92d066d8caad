//! A database of recordings as pages: its recordings, kernels over time, one recording or two compared.

use crate::args::{NormalUnit, Place, StoreHistory, StoreSeries, StoreWrite, TimeUnits, Units, View};
use crate::page::{self, Wish};
use crate::store::history;
use anyhow::{Result, anyhow};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use host::Source;
use host::store::Archive;
use host::store::recordings::{Selection, TIME};
use host::stored;
use host::subjects::Asked;
use std::collections::BTreeMap;
use std::sync::Arc;
use view::{Answer, Format, StoreLive, Stored};

/// Newest recordings that are listed and can be chosen.
const LISTED: u64 = 500;
/// Kernels of a history.
const KERNELS: usize = 10;
/// Newest values in the table of a kernel.
const TOP: usize = 50;

type Parameters = BTreeMap<String, String>;

/// A database that is shown. Pages are made at each request, so they are never out of date.
pub(super) struct Server {
    address: String,
    arch: Option<String>,
    corrections: Option<String>,
    /// One page is made at a time.
    making: tokio::sync::Mutex<()>,
}

impl Server {
    /// A server of a database; an empty address means the environment's.
    pub(super) fn new(address: &str, args: &View) -> Result<Arc<Server>> {
        let address = stored::address(Some(address).filter(|it| !it.is_empty()));
        // A database that cannot be read ends the command before it listens.
        Archive::open_to_read(&address)?;
        let (arch, corrections) = (args.arch.clone(), args.specs_correction.clone());
        Ok(Arc::new(Server { address, arch, corrections, making: tokio::sync::Mutex::new(()) }))
    }

    pub(super) fn router(self: Arc<Server>, token: &str) -> Router {
        Router::new()
            .route(&format!("/{token}/"), get(list))
            .route(&format!("/{token}/history"), get(kernels))
            .route(&format!("/{token}/recording"), get(recording))
            .with_state(self)
    }

    /// The page of an answer, with the choices for the next one.
    fn page(&self, archive: &mut Archive, answer: &Answer<Stored>, asked: &Parameters) -> Result<String> {
        let text = |name: &str| asked.get(name).cloned().unwrap_or_default();
        let all = archive.list(&Selection { newest: Some(LISTED), ..Selection::default() })?;
        let name = |it: &view::StoredRecording| {
            let commit = it.labels.get("commit").map_or_else(String::new, |it| format!(" {it:.12}"));
            (it.id, format!("store:{} {}{commit}", it.id, it.name))
        };
        let live = StoreLive {
            recordings: all.iter().rev().map(name).collect(),
            kernel: text("kernel"),
            metric: text("metric"),
            label: text("label"),
        };
        Ok(render::stored(answer, env!("CARGO_PKG_VERSION"), Some(&live)))
    }

    fn list(&self, asked: &Parameters) -> Result<String> {
        let mut archive = Archive::open_to_read(&self.address)?;
        let newest = archive.list(&Selection { newest: Some(LISTED), ..Selection::default() })?;
        let answer = study::stored::list("list", archive.place(), newest);
        self.page(&mut archive, &answer, asked)
    }

    fn history(&self, asked: &Parameters) -> Result<String> {
        let text = |name: &str| asked.get(name).map(|it| it.trim()).filter(|it| !it.is_empty());
        let label = match text("label").map(|it| (it, it.split_once('='))) {
            None => Vec::new(),
            Some((_, Some((name, value)))) => vec![(name.to_owned(), value.to_owned())],
            Some((it, None)) => return Err(anyhow!("`{it}` is no label: write `NAME=VALUE`")),
        };
        let series = StoreSeries {
            kernel: text("kernel").map(str::to_owned).into_iter().collect(),
            metric: text("metric").unwrap_or(TIME).to_owned(),
            label,
            kernels: KERNELS,
            place: Place { store: Some(self.address.clone()) },
        };
        let write = StoreWrite { format: Format::Json, output: None };
        let answer = history::run(&StoreHistory { series, top: TOP, page: None, write })?;
        self.page(&mut Archive::open_to_read(&self.address)?, &answer, asked)
    }

    /// The page of `report` on one recording, or of two compared.
    fn recording(&self, asked: &Parameters) -> Result<String> {
        let number = |name: &str| match asked.get(name).map(|it| it.trim()).filter(|it| !it.is_empty()) {
            None => Ok(None),
            Some(it) => it.parse::<u32>().map(Some).map_err(|_| anyhow!("`{name}` is no number")),
        };
        let shown = number("id")?.ok_or_else(|| anyhow!("`id` names no recording"))?;
        let base = number("base")?.filter(|it| *it != shown);
        let mut archive = Archive::open_to_read(&self.address)?;
        let entry = |archive: &mut Archive, id: u32| archive.resolve(&id.to_string());
        if !entry(&mut archive, shown)?.sort.is_recording() {
            let answer = crate::store::shown(&mut archive, &shown.to_string())?;
            return self.page(&mut archive, &answer, asked);
        }
        if let Some(base) = base
            && !entry(&mut archive, base)?.sort.is_recording()
        {
            return Err(anyhow!("store:{base} is not a recording, so nothing can be compared with it"));
        }
        let source = |id: u32| Source::stored(&self.address, &id.to_string());
        let wish = Wish {
            asked: Asked {
                sources: base.into_iter().chain([shown]).map(source).collect(),
                arch: self.arch.clone(),
                corrections: self.corrections.clone(),
                ..Asked::default()
            },
            units: Units { normal_unit: NormalUnit::Kernel, time_unit: TimeUnits::Ns },
        };
        Ok(render::page(&page::make(&wish)?.0))
    }
}

async fn list(state: State<Arc<Server>>, asked: Query<Parameters>) -> Response {
    made(state, asked, Server::list).await
}

async fn kernels(state: State<Arc<Server>>, asked: Query<Parameters>) -> Response {
    made(state, asked, Server::history).await
}

async fn recording(state: State<Arc<Server>>, asked: Query<Parameters>) -> Response {
    made(state, asked, Server::recording).await
}

/// Makes a page on a thread that may wait.
async fn made(
    State(server): State<Arc<Server>>,
    Query(asked): Query<Parameters>,
    make: fn(&Server, &Parameters) -> Result<String>,
) -> Response {
    if asked.values().any(|it| it.len() > super::LONGEST) {
        return (StatusCode::BAD_REQUEST, "a parameter is too long\n").into_response();
    }
    let maker = Arc::clone(&server);
    let _making = server.making.lock().await;
    match tokio::task::spawn_blocking(move || make(&maker, &asked)).await {
        Ok(Ok(page)) => super::html(Bytes::from(page)),
        Ok(Err(error)) => (StatusCode::BAD_REQUEST, format!("error: {error:#}\n")).into_response(),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made\n").into_response(),
    }
}
