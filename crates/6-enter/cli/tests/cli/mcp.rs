//! `mcp`: a client of the public SDK asks every tool, and what a hostile client may try.

use crate::run::{command, folder, golden, root};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ProgressNotificationParam,
    ReadResourceRequestParams,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ServiceExt as _};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Bytes of an answer, as promised.
const LIMIT: usize = 2000;

/// A client that counts reports of progress.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl ClientHandler for Counting {
    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        assert!(told.message.is_some());
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Client {
    service: RunningService<RoleClient, Counting>,
    progress: Counting,
}

impl Client {
    async fn start(folder: &Path, options: &[&str]) -> Client {
        let mut words = vec!["mcp", "--folder", folder.to_str().unwrap()];
        words.extend(options);
        let progress = Counting::default();
        let transport = TokioChildProcess::new(tokio_command(&words)).unwrap();
        Client { service: progress.clone().serve(transport).await.unwrap(), progress }
    }

    /// Whether the answer is an error, and its text.
    async fn ask(&self, tool: &str, arguments: Value) -> (bool, String) {
        let mut asked = CallToolRequestParams::new(tool.to_owned());
        asked.arguments = arguments.as_object().cloned();
        let answer = self.service.call_tool(asked).await.unwrap();
        let text = answer.content[0].as_text().unwrap().text.clone();
        assert!(text.len() <= LIMIT, "{tool}: {} bytes: {text}", text.len());
        (answer.is_error == Some(true), text)
    }

    /// The answer as a value.
    async fn answer(&self, tool: &str, arguments: Value) -> Value {
        let (is_error, text) = self.ask(tool, arguments.clone()).await;
        assert!(!is_error, "{tool} {arguments}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// The text of an error.
    async fn refusal(&self, tool: &str, arguments: Value) -> String {
        let (is_error, text) = self.ask(tool, arguments.clone()).await;
        assert!(is_error && text.starts_with("error: "), "{tool} {arguments}: {text}");
        text
    }
}

fn tokio_command(words: &[&str]) -> tokio::process::Command {
    tokio::process::Command::from(command(words))
}

/// A copy of some examples, so that nothing is written into the repository.
fn examples(test: &str) -> PathBuf {
    let to = folder(test);
    for name in ["heat3d", "judge", "tiled_matmul", "tune", "vector_copy"] {
        let from = root().join("examples").join(name);
        std::fs::create_dir(to.join(name)).unwrap();
        for entry in std::fs::read_dir(from).unwrap().flatten().filter(|it| it.path().is_file()) {
            std::fs::copy(entry.path(), to.join(name).join(entry.file_name())).unwrap();
        }
    }
    to
}

fn in_time<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test)
}

#[test]
fn every_tool_answers_and_its_ids_open() {
    let folder = examples("mcp_tools");
    in_time(async {
        let client = Client::start(&folder, &[]).await;
        let tools = client.service.list_all_tools().await.unwrap();
        let mut asked = std::collections::BTreeSet::new();
        let mut ask = async |tool: &'static str, arguments: Value| {
            asked.insert(tool);
            client.answer(tool, arguments).await
        };

        let code = ask("inspect", json!({ "files": ["tiled_matmul/tiled_matmul.gfx942.hsaco"] })).await;
        let kernel = &code["kernels"][0];
        assert_eq!((&code["answer"], &kernel["id"]), (&json!("a1"), &json!("kernel:tiled_matmul")));
        assert_eq!(kernel["findings"][1]["id"], "finding:MAT002@2");
        assert_eq!(kernel["resources"]["lds_bytes"], 8192);
        let finding = ask("open", json!({ "id": "finding:MAT002@2" })).await;
        assert!(finding["advice"].is_string() && !finding["evidence"].as_array().unwrap().is_empty());
        let rest = ask("open", json!({ "id": "kernel:tiled_matmul" })).await;
        assert!(rest["mix"]["valu"].as_u64() > Some(0));
        let listing = ask("open", json!({ "id": "listing:tiled_matmul#3-5" })).await;
        assert_eq!((&listing["lines"], listing["text"].as_str().unwrap().lines().count()), (&json!(71), 3));

        // A source is compiled wherever code is read, so that an agent needs no compiler.
        let source = ask("inspect", json!({ "files": ["judge/base.hip"] })).await;
        assert_eq!(source["kernels"][0]["target"], "gfx942", "{source}");
        let template = ask("template", json!({ "file": "judge/base.hip" })).await;
        let text = template["launch_file"].as_str().unwrap();
        assert!(text.contains("[[argument]]") && text.contains("base.hip"), "{text}");
        let own = std::fs::read_to_string(folder.join("judge/LAUNCH.toml")).unwrap();
        let code = own.lines().find(|it| it.starts_with("code")).unwrap();
        std::fs::write(folder.join("judge/own.toml"), own.replace(code, "code = \"base.hip\"")).unwrap();
        let unfilled = client.refusal("profile", json!({ "launch": "judge/own.toml" })).await;
        assert!(unfilled.contains("--shape N=1000") && !unfilled.contains("inspect"), "{unfilled}");
        let made =
            ask("profile", json!({ "launch": "judge/own.toml", "shape": "N=4096", "output": "of-source" }));
        assert_eq!(made.await["kernels"].as_array().unwrap().len(), 1);

        let guide = ask("guide", json!({ "recording": "heat3d" })).await;
        assert_eq!(guide["verdict"]["bound_by"], "HBM");
        let table = ask("open", json!({ "id": "a5/table:2.1", "from": 2 })).await;
        assert!(table["rows"][0].as_str().unwrap().starts_with("MFMA FLOPs"));
        let page = ask("explain", json!({ "name": "a5/finding:SYN004@1" })).await;
        assert!(page.to_string().contains("pack_face_x"), "{page}");
        // The answer of `explain` has no findings and tables: ids are of the latest answer that has them.
        let finding = ask("open", json!({ "id": "finding:SYN004@1" })).await;
        assert_eq!(finding["answer"], "a5", "{finding}");
        let table = ask("open", json!({ "id": "table:2.1" })).await;
        assert_eq!(table["answer"], "a5", "{table}");
        let metric = ask("explain", json!({ "name": "l2.hit_rate" })).await;
        assert!(metric.to_string().contains("TCC_HIT"), "{metric}");

        let titled = ask("open", json!({ "id": "table:2.1 Speed-of-Light" })).await;
        assert_eq!(titled["rows"], table["rows"], "{titled}");
        let panel = ask("open", json!({ "id": "table:17", "kernel": "1" })).await;
        assert_eq!(panel["tables"][0]["id"], "table:17.1", "{panel}");

        let made = ask("profile", json!({ "launch": "vector_copy/LAUNCH.toml" })).await;
        assert_eq!(made["verdict"]["bound_by"], "HBM", "{made}");
        let steps = ask("open", json!({ "id": "at:/steps" })).await;
        let called: Vec<_> = steps.as_array().unwrap().iter().filter_map(|it| it["tool"].as_str()).collect();
        for tool in ["open", "profile", "guide", "judge"] {
            assert!(called.contains(&tool), "{tool}: {steps}");
        }
        for step in steps.as_array().unwrap().iter().filter(|it| it["tool"] == "open") {
            ask("open", step["arguments"].clone()).await;
        }
        assert!(folder.join("workloads/vector_copy/pmc_perf.csv").exists());
        let again = ask("profile", json!({ "launch": "vector_copy/LAUNCH.toml", "gpu": "mi300a" })).await;
        assert!(again["path"].as_str().unwrap().ends_with("workloads/vector_copy-2"));
        let both = json!({ "before": "workloads/vector_copy", "after": "workloads/vector_copy-2" });
        ask("compare", both).await;

        let judged = ask(
            "judge",
            json!({ "base": "judge/base.hip", "candidates": ["judge/halves.hip", "judge/racy.hip"],
                    "launch": "judge/LAUNCH.toml", "shapes": ["N=1000"], "seeds": 1 }),
        );
        let judged = judged.await.to_string();
        assert!(judged.contains("unsafe") && judged.contains("finding:JDG002@"), "{judged}");

        std::fs::write(folder.join("job.log"), "[rank3] torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 191.98 GiB of which 1.2 GiB is free.\n").unwrap();
        let triage = ask("triage", json!({ "files": ["job.log"] })).await;
        assert_eq!(triage["incidents"][0]["facts"][0]["value"], "hip-out-of-memory", "{triage}");

        // The search starts programs.
        let refused = client.refusal("tune", json!({ "space": "tune/tune.toml" })).await;
        assert!(refused.contains("--allow-run"), "{refused}");
        asked.insert("tune");
        assert_eq!(asked.len(), tools.len(), "every tool was asked: {asked:?}");

        let resources = client.service.list_all_resources().await.unwrap();
        let has = |uri: &str| resources.iter().any(|it| it.uri == uri);
        assert!(
            has("rule:MEM001")
                && has(&format!("recording:{}/heat3d", folder.canonicalize().unwrap().display()))
        );
        let page = client.service.read_resource(ReadResourceRequestParams::new("rule:MEM001")).await.unwrap();
        assert!(serde_json::to_string(&page).unwrap().contains("# MEM001: "));
        let recording = resources.iter().find(|it| it.uri.ends_with("/heat3d")).unwrap().uri.clone();
        let guide = client.service.read_resource(ReadResourceRequestParams::new(recording)).await.unwrap();
        assert!(serde_json::to_string(&guide).unwrap().contains("HBM"));
        client.service.cancel().await.unwrap();
    });
}

#[test]
fn a_search_runs_where_the_user_allows_it() {
    let folder = examples("mcp_tune");
    in_time(async {
        let client = Client::start(&folder, &["--allow-run"]).await;
        let found = client.answer("tune", json!({ "space": "tune/tune.toml", "budget": "4" })).await;
        assert!(found.to_string().contains("TILE"), "{found}");
        client.service.cancel().await.unwrap();
    });
}

#[test]
fn what_is_wrong_is_refused_with_what_to_do() {
    let folder = examples("mcp_wrong");
    let outside = crate::run::folder("mcp_outside");
    std::fs::write(outside.join("secret.log"), "error: secret\n").unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("link")).unwrap();
    let outside = outside.canonicalize().unwrap();
    let secret = outside.join("secret.log").display().to_string();
    // A launch file that names code outside.
    let launch = std::fs::read_to_string(folder.join("vector_copy/LAUNCH.toml")).unwrap();
    let code = root().join("examples/vector_copy/vector_copy.gfx942.hsaco");
    let launch = launch.replace("vector_copy.gfx942.hsaco", &code.display().to_string());
    std::fs::write(folder.join("stray.toml"), launch).unwrap();
    std::fs::write(folder.join("script.py"), "print(1)").unwrap();
    let cases = [
        ("judge", json!({ "base": "script.py", "candidates": ["script.py"] })),
        ("triage", json!({ "files": [secret] })),
        ("triage", json!({ "files": ["link/secret.log"] })),
        ("triage", json!({ "files": ["../mcp_outside/secret.log"] })),
        ("triage", json!({ "files": ["missing.log"] })),
        ("triage", json!({ "files": [] })),
        ("triage", json!({ "files": [7] })),
        ("triage", json!({})),
        ("triage", json!({ "files": ["--output=/tmp/x"] })),
        ("guide", json!({ "recording": "heat3d", "colour": "red" })),
        ("guide", json!({ "recording": "heat3d", "kernel": "no_such" })),
        ("guide", json!({ "recording": "judge" })),
        ("profile", json!({ "launch": "stray.toml", "output": "w" })),
        ("profile", json!({ "launch": "vector_copy/LAUNCH.toml", "output": "../escape" })),
        ("profile", json!({ "launch": "vector_copy/LAUNCH.toml", "output": "link/w" })),
        ("profile", json!({})),
        ("profile", json!({ "program": ["sh", "-c", "true"] })),
        ("explain", json!({ "name": "MEM999" })),
        ("explain", json!({ "name": "TCC_HITS" })),
        ("explain", json!({ "name": "--help" })),
        ("open", json!({ "id": "table:2.1" })),
        ("fly", json!({})),
    ];
    in_time(async {
        let client = Client::start(&folder, &[]).await;
        for (tool, arguments) in cases {
            golden(&format!("{tool} {arguments}"), &client.refusal(tool, arguments).await);
        }
        client.answer("guide", json!({ "recording": "heat3d" })).await;
        for id in ["finding:SYN004@9", "a9/finding:SYN004@1"] {
            golden(&format!("open {id}"), &client.refusal("open", json!({ "id": id })).await);
        }
        client.service.cancel().await.unwrap();
    });
}

#[test]
fn programs_stay_inside_of_the_folders_and_end_when_asked() {
    let folder = folder("mcp_programs");
    let outside = crate::run::folder("mcp_kept_out").canonicalize().unwrap();
    std::fs::write(outside.join("secret"), "secret").unwrap();
    let script = format!("cat {0}/secret > got; echo x > {0}/written; echo here > inside", outside.display());
    in_time(async {
        let client = Client::start(&folder, &["--allow-run", "--time", "4"]).await;
        // No kernel was launched, so there is no recording.
        client.refusal("profile", json!({ "program": ["sh", "-c", script] })).await;
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert_eq!((read("inside").trim(), read("got").as_str()), ("here", ""));
        assert!(!outside.join("written").exists());

        let begun = Instant::now();
        golden("sleep 600", &client.refusal("profile", json!({ "program": ["sleep", "600"] })).await);
        assert!(client.progress.0.load(Ordering::Relaxed) > 0, "long questions report progress");
        assert!(begun.elapsed() < Duration::from_secs(30));

        let mut asked = CallToolRequestParams::new("profile");
        asked.arguments = json!({ "program": ["sleep", "601"] }).as_object().cloned();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(asked));
        let options = PeerRequestOptions::no_options();
        let handle = client.service.send_cancellable_request(request, options).await.unwrap();
        while !runs("601") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        handle.cancel(None).await.unwrap();
        let begun = Instant::now();
        while runs("601") {
            assert!(begun.elapsed() < Duration::from_secs(10), "the program runs on");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        client.service.cancel().await.unwrap();
    });
}

/// Whether a `sleep` with this argument runs anywhere.
fn runs(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let expected = format!("sleep\0{argument}\0");
    processes
        .into_iter()
        .any(|it| std::fs::read(it.path().join("cmdline")).is_ok_and(|it| it == expected.as_bytes()))
}

#[test]
fn nonsense_and_huge_requests_leave_the_server_alive() {
    let folder = folder("mcp_nonsense");
    let mut server = command(&["mcp", "--folder", folder.to_str().unwrap()]);
    let mut server =
        server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut send = |line: &str| writeln!(input, "{line}").unwrap();
    send(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    );
    send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    send("nonsense");
    send("[1, 2");
    send(r#"{"jsonrpc":"2.0","id":7,"method":"no/such","params":{}}"#);
    send(&format!(
        r#"{{"jsonrpc":"2.0","id":8,"method":"ping","params":{{"pad":"{}"}}}}"#,
        "x".repeat(3 << 20)
    ));
    send(
        r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"explain","arguments":{"name":"MEM001"}}}"#,
    );
    let answered = std::iter::from_fn(|| lines.next()?.ok()).find_map(|line| {
        let value: Value = serde_json::from_str(&line).unwrap();
        (value["id"] == 9).then_some(value)
    });
    let text = answered.unwrap()["result"]["content"][0]["text"].to_string();
    assert!(text.contains("MEM001"), "{text}");
    drop(input);
    assert!(server.wait().unwrap().success(), "the end of the input ends the server");
}
