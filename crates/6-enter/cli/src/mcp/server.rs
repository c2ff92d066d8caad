//! The server: tools, resources, progress and cancellation.

use super::answers::Latest;
use super::question::{Question, Surroundings};
use super::tools;
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Questions answered at a time; others wait.
const AT_ONCE: usize = 2;
/// Time between two reports of progress.
const PAUSE: Duration = Duration::from_secs(2);
/// Recordings that are listed, and how deep they are looked for.
const RECORDINGS: (usize, usize) = (100, 5);
/// Each recording has one of these files.
const OF_RECORDINGS: [&str; 3] = ["sysinfo.csv", "pmc_perf.csv", "pmc_dispatch_info.csv"];

/// A client reads it once.
const INSTRUCTIONS: &str = "Performance of kernels on AMD Instinct GPUs, without a GPU. The loop: `inspect` a HIP source or compiled code, `profile` a launch file (`template` writes a first one), read the finding that costs most (`explain` it), change the kernel, `judge` old against new: only `faster` counts, and never claim a time that `judge` did not give. Counters are exact, times are modelled with the error they state. Answers are short; ids in them (`finding:…`, `table:…`, `at:…`) are opened by `open`, and next steps name a tool with its arguments; a step that has a `command` is for the user's shell.";

/// The server.
pub(super) struct Server {
    shared: Arc<Shared>,
    places: Semaphore,
}

struct Shared {
    around: Surroundings,
    latest: Mutex<Latest>,
}

impl Server {
    pub(super) fn new(around: Surroundings) -> Self {
        let shared = Arc::new(Shared { around, latest: Mutex::default() });
        Server { shared, places: Semaphore::new(AT_ONCE) }
    }

    /// The answer to a question, asked in its own thread; cancelled with the request.
    async fn ask(
        &self,
        name: &str,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<String, String> {
        let Some(tool) = tools::by_name(name) else {
            let names: Vec<&str> = tools::ALL.iter().map(|it| it.name).collect();
            return Err(format!("error: there is no such tool\nhint: tools are {}", names.join(", ")));
        };
        let begun = Instant::now();
        let stop = Arc::new(AtomicBool::new(false));
        let _place = tokio::select! {
            place = self.places.acquire() => place,
            () = context.ct.cancelled() => return Err("error: cancelled".to_owned()),
        };
        let (shared, stopped) = (self.shared.clone(), stop.clone());
        let mut asked = tokio::task::spawn_blocking(move || {
            let Shared { around, latest } = &*shared;
            Question { tool, arguments: &arguments, around, latest, stop: &stopped }.answer()
        });
        let mut is_cancelled = false;
        loop {
            tokio::select! {
                answer = &mut asked => {
                    return answer.unwrap_or_else(|_| Err(format!("error: `{name}` failed; this is a defect of Rockhound")));
                }
                () = context.ct.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    stop.store(true, Ordering::Relaxed);
                }
                () = tokio::time::sleep(PAUSE) => {
                    if let Some(token) = context.meta.get_progress_token() {
                        let seconds = begun.elapsed().as_secs_f64().round();
                        let told = ProgressNotificationParam::new(token, seconds)
                            .with_message(format!("{name} has run for {seconds} s"));
                        // A client that listens no more gets the answer all the same.
                        let _ = context.peer.notify_progress(told).await;
                    }
                }
            }
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("rockhound", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::ALL.iter().map(tools::Definition::tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::by_name(name).map(tools::Definition::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = self.ask(&request.name, request.arguments.unwrap_or_default(), &context).await;
        let result = match answer {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let shared = self.shared.clone();
        let found = tokio::task::spawn_blocking(move || recordings(&shared.around.folders)).await;
        let recordings = found.unwrap_or_default().into_iter().map(|path| {
            let name = path.display().to_string();
            Resource::new(format!("recording:{name}"), name).with_mime_type("application/json")
        });
        let rules = study::rules().into_iter().map(|rule| {
            Resource::new(format!("rule:{}", rule.id), format!("{}: {}", rule.id, rule.title))
                .with_mime_type("text/markdown")
        });
        Ok(ListResourcesResult::with_all_items(recordings.chain(rules).collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let (kind, name) = uri.split_once(':').unwrap_or_default();
        let unknown =
            || ErrorData::resource_not_found("resources are `rule:ID` and `recording:PATH`".to_owned(), None);
        let contents = match kind {
            "rule" => {
                let rule = study::rules().into_iter().find(|it| it.id == name).ok_or_else(unknown)?;
                ResourceContents::text(format!("# {}: {}\n\n{}", rule.id, rule.title, rule.page), uri.clone())
                    .with_mime_type("text/markdown")
            }
            "recording" => {
                let arguments = JsonObject::from_iter([("recording".to_owned(), name.into())]);
                let answer = self.ask("guide", arguments, &context).await;
                let text = answer.map_err(|text| ErrorData::resource_not_found(text, None))?;
                ResourceContents::text(text, uri.clone()).with_mime_type("application/json")
            }
            _ => return Err(unknown()),
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

/// Folders with recordings below folders, by name.
fn recordings(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    folders.iter().for_each(|it| look(it, RECORDINGS.1, &mut found));
    found.sort();
    found
}

fn look(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if OF_RECORDINGS.iter().any(|it| folder.join(it).is_file()) {
        found.push(folder.to_owned());
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    // Links lead out of the folders.
    let inner = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir()));
    for entry in inner.filter(|it| !it.file_name().as_encoded_bytes().starts_with(b".")) {
        if depth > 0 && found.len() < RECORDINGS.0 {
            look(&entry.path(), depth - 1, found);
        }
    }
}
