//! `rockhound view`: who is answered, and that nothing a client sends ends the server.

use crate::run::{command, folder};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(path: &Path) -> Self {
        Self::start_with(path, &[])
    }

    fn start_with(path: &Path, options: &[&str]) -> Self {
        let mut child =
            command(&["view", "--no-open"]).args(options).arg(path).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let rest = url.trim().strip_prefix("http://").expect("an address is printed");
        let (address, token) = rest.split_once('/').unwrap();
        assert!(address.starts_with("127.0.0.1:"), "{url}");
        Server { child, address: address.to_owned(), token: token.trim_end_matches('/').to_owned() }
    }

    /// Status and body of the answer to what is sent.
    fn send(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        (status, answer)
    }

    fn get(&self, path: &str, host: &str) -> (u16, String) {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }
}

fn copy_of_example(test: &str) -> std::path::PathBuf {
    let dir = folder(test);
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/heat3d");
    for entry in std::fs::read_dir(example).unwrap().flatten() {
        std::fs::copy(entry.path(), dir.join(entry.file_name())).unwrap();
    }
    dir
}

/// Two runs in one folder; the second has two files, which are passes of it.
fn runs_in_one_folder(test: &str) -> std::path::PathBuf {
    const HEADER: &str = "Dispatch_Id,Kernel_Name,Grid_Size,Workgroup_Size,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n";
    let table = |kernels: &[&str], counter: &str| {
        let row = |(at, kernel): (usize, &&str)| {
            format!("{at},{kernel},64,64,{counter},7,{},{}\n", 1000 * at, 1000 * at + 500)
        };
        HEADER.to_owned() + &kernels.iter().enumerate().map(row).collect::<String>()
    };
    let dir = folder(test);
    for (name, text) in [
        ("a.csv", table(&["first_kernel"], "SQ_WAVES")),
        ("b.csv", table(&["second_kernel", "second_kernel"], "SQ_WAVES")),
        ("c.csv", table(&["second_kernel", "second_kernel"], "SQ_INSTS_VALU")),
    ] {
        std::fs::write(dir.join(name), text).unwrap();
    }
    dir
}

#[test]
fn runs_in_one_folder_are_chosen_from_or_merged() {
    let dir = runs_in_one_folder("view-runs");
    let each = Server::start_with(&dir, &["--runs", "--arch=mi300x"]);
    let page = |server: &Server, shown: &str| {
        server.get(&format!("/{}/?shown={shown}", server.token), &server.address)
    };
    let (status, first) = page(&each, "0");
    assert!(status == 200 && first.contains("first_kernel") && !first.contains("second_kernel"), "{status}");
    // A run of two files has the counters of both.
    let (status, second) = page(&each, "1");
    assert!(
        status == 200 && second.contains("second_kernel") && !second.contains("first_kernel"),
        "{status}"
    );
    assert!(second.contains("SQ_INSTS_VALU") && second.contains("SQ_WAVES"));
    assert_eq!(page(&each, "2").0, 400);
    let merged = Server::start_with(&dir, &["--runs=merged", "--arch=mi300x"]);
    let (status, all) = page(&merged, "0");
    assert!(status == 200 && all.contains("first_kernel") && all.contains("second_kernel"), "{status}");
}

#[test]
fn only_those_with_the_token_are_answered() {
    let server = Server::start(&copy_of_example("view-token"));
    let (token, host) = (&server.token, &server.address);
    let page = format!("/{token}/");
    let wrong = format!("/{}/", "0".repeat(token.len()));
    for (path, host, status) in [
        (page.as_str(), host.as_str(), 200),
        (&page, "localhost:1", 200),
        (&format!("{page}version"), host, 200),
        (&format!("{page}?kernel=heat&normal_unit=per_wave&time_unit=us"), host, 200),
        (&format!("{page}?kernel=%5B"), host, 200),
        (&format!("{page}?normal_unit=per_cake"), host, 400),
        (&format!("{page}?shown=7"), host, 400),
        (&format!("{page}?shown=-1"), host, 400),
        (&format!("{page}?kernel={}", "a".repeat(20_000)), host, 400),
        (&page, "evil.example", 403),
        (&page, "127.0.0.1.evil.example", 403),
        (&page, "", 403),
        ("/", host, 404),
        ("/index.html", host, 404),
        (&wrong, host, 404),
        ("/../../../../etc/passwd", host, 404),
        (&format!("{page}../../etc/passwd"), host, 404),
        (&format!("{page}%2e%2e%2fetc/passwd"), host, 404),
        (&format!("{page}..%5cpmc_perf.csv"), host, 404),
        (&format!("{page}pmc_perf.csv"), host, 404),
    ] {
        let (found, answer) = server.get(path, host);
        assert_eq!(found, status, "{path} {host}: {}", &answer[..answer.len().min(300)]);
        assert!(!answer.contains("root:x:0"), "{path}");
    }
    let (status, answer) = server.get(&format!("{page}?kernel=heat_step"), host);
    assert!(status == 200 && answer.contains("1 kernel") | answer.contains("heat_step"), "{status}");
    for garbage in
        ["", "\0\0\0\0", "GET\r\n\r\n", "POST / HTTP/1.1\r\n\r\n", "GET / HTTP/9.9\r\nHost:\r\n\r\n"]
    {
        let mut stream = TcpStream::connect(host).unwrap();
        let _ = stream.write_all(garbage.as_bytes());
    }
    let posted =
        format!("POST {page} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    assert_eq!(server.send(&posted).0, 405);
    assert_eq!(server.get(&page, host).0, 200);
}

#[test]
fn a_thousand_at_once() {
    let server = Server::start(&copy_of_example("view-thousand"));
    let page = format!("/{}/", server.token);
    let served = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..1000)
            .map(|at| {
                let (server, page) = (&server, &page);
                let path = if at % 5 == 0 { "/wrong/".to_owned() } else { page.clone() };
                std::thread::Builder::new()
                    .stack_size(1 << 18)
                    .spawn_scoped(scope, move || server.get(&path, &server.address).0)
                    .unwrap()
            })
            .collect();
        workers.into_iter().map(|it| it.join().unwrap()).fold((0, 0, 0), |sum, status| match status {
            200 => (sum.0 + 1, sum.1, sum.2),
            404 => (sum.0, sum.1 + 1, sum.2),
            _ => (sum.0, sum.1, sum.2 + 1),
        })
    });
    assert_eq!(served, (800, 200, 0));
}

#[test]
fn a_folder_that_changes_has_another_version() {
    let dir = copy_of_example("view-version");
    let server = Server::start(&dir);
    let version = || {
        let (status, answer) = server.get(&format!("/{}/version", server.token), &server.address);
        assert_eq!(status, 200);
        answer.rsplit("\r\n").next().unwrap_or_default().to_owned()
    };
    let before = version();
    assert_eq!(version(), before);
    let path = dir.join("pmc_perf.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    std::fs::write(&path, rows[..rows.len() - 2].join("\n") + "\n").unwrap();
    assert_ne!(version(), before);
    let (status, page) = server.get(&format!("/{}/", server.token), &server.address);
    assert!(status == 200 && page.contains("data-version"), "{status}");
}

#[test]
fn traces_have_a_timeline() {
    let dir = folder("view-trace");
    let path = dir.join("run.json");
    let event = r#"{"ph":"X","cat":"kernel","name":"copy","pid":2,"tid":0,"ts":10,"dur":5,"args":{"device":0,"stream":0}}"#;
    std::fs::write(&path, format!("{{\"traceEvents\":[{event}]}}")).unwrap();
    let server = Server::start(&path);
    let page = format!("/{}/", server.token);
    let (status, answer) = server.get(&page, &server.address);
    assert_eq!(status, 200, "{answer}");
    for part in ["id=\"timeline\"", "1 on the GPU", "data-version", "name=\"kernel\""] {
        assert!(answer.contains(part), "{part}");
    }
    assert!(!answer.contains("name=\"dispatch\""), "a trace has no dispatches to choose");
    let (status, answer) = server.get(&format!("{page}?kernel=%5B"), &server.address);
    assert!(status == 200 && answer.contains("1 on the GPU"), "the filter is not applied: {status}");
    let (_, before) = server.get(&format!("{page}version"), &server.address);
    std::fs::write(&path, format!("{{\"traceEvents\":[{event},{event}]}}")).unwrap();
    let (_, after) = server.get(&format!("{page}version"), &server.address);
    assert_ne!(before.lines().last(), after.lines().last(), "a trace that grows is another version");
    assert!(server.get(&page, &server.address).1.contains("2 on the GPU"));
}
