//! The GitHub Action in the root of the repository: its scripts, run as a runner does.

use crate::run::{clean, folder, root, spilling};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, channel};

/// Runs `judge.sh` with inputs in a folder; outputs and summary are files there.
fn judge(dir: &Path, inputs: &[(&str, &str)]) -> Output {
    let mut command = Command::new("bash");
    command.arg(root().join("action/judge.sh")).current_dir(dir);
    command.env("ROCKHOUND", env!("CARGO_BIN_EXE_rockhound")).env("RUNNER_TEMP", dir);
    command.env("GITHUB_OUTPUT", dir.join("outputs")).env("GITHUB_STEP_SUMMARY", dir.join("summary.md"));
    command.envs(inputs.iter().copied());
    command.output().expect("bash")
}

/// An output of the step.
fn output(dir: &Path, name: &str) -> String {
    let text = std::fs::read_to_string(dir.join("outputs")).unwrap_or_default();
    let line = text.lines().rev().find_map(|line| line.strip_prefix(&format!("{name}=")));
    line.unwrap_or_default().to_owned()
}

/// Inputs, the exit code, and words of the report.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a [&'a str]);

fn empty(test: &str) -> Option<PathBuf> {
    testkit::needs(&["bash", "python3"]).then(|| folder(test))
}

#[test]
fn a_change_is_judged_against_its_base() {
    let Some(dir) = empty("action-judge") else { return };
    let (spilling, clean) = (spilling(), clean());
    let cases: [Case<'_>; 5] = [
        // What the base has too is known.
        (&[("ROCKHOUND_HEAD", &spilling), ("ROCKHOUND_BASE", &spilling)], "0", &["1 known, 0 new"]),
        (&[("ROCKHOUND_HEAD", &spilling), ("ROCKHOUND_BASE", &clean)], "2", &["new: RES001", "<details>"]),
        (&[("ROCKHOUND_HEAD", &spilling)], "0", &["RES001", "| kernel |"]),
        (&[("ROCKHOUND_HEAD", &spilling), ("ROCKHOUND_FAIL_ON", "LDS001 severe")], "2", &["**fails**"]),
        (&[("ROCKHOUND_HEAD", "missing.hsaco")], "1", &["could not be read"]),
    ];
    for (inputs, code, words) in cases {
        let _ = std::fs::remove_file(dir.join("summary.md"));
        let ran = judge(&dir, inputs);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "the gate is the last step's: {inputs:?} {said}");
        assert_eq!(output(&dir, "code"), code, "{inputs:?} {said}");
        let report = std::fs::read_to_string(output(&dir, "report")).unwrap();
        assert_eq!(report, std::fs::read_to_string(dir.join("summary.md")).unwrap());
        for word in words {
            assert!(report.contains(word), "{inputs:?}: {word} in\n{report}");
        }
        let annotations = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(annotations.contains("title=RES001::"), code != "1", "{inputs:?} {annotations}");
    }
    let sarif = [
        ("ROCKHOUND_HEAD", spilling.as_str()),
        ("ROCKHOUND_SARIF", "gpu.sarif"),
        ("ROCKHOUND_ANNOTATE", "false"),
    ];
    let ran = judge(&dir, &sarif);
    assert!(ran.stdout.is_empty() && dir.join("gpu.sarif").is_file());
    let ran = judge(&dir, &[("ROCKHOUND_HEAD", &spilling), ("ROCKHOUND", "/no/rockhound.tar.gz")]);
    assert!(!ran.status.success() && String::from_utf8_lossy(&ran.stdout).contains("::error"), "{ran:?}");
}

#[test]
fn variants_of_a_kernel_are_judged() {
    let Some(dir) = empty("action-variants") else { return };
    let example = |name: &str| root().join("examples/judge").join(name).display().to_string();
    let (base, launch) = (example("base.hip"), format!("--launch {} --shape N=1000", example("LAUNCH.toml")));
    for (head, conditions, code, word) in [
        ("halves.hip", "", "0", "right"),
        ("racy.hip", "", "2", "JDG002"),
        ("base.hip", "JDG004", "2", "JDG004"),
    ] {
        let _ = std::fs::remove_file(dir.join("summary.md"));
        let head = example(head);
        let inputs = [
            ("ROCKHOUND_COMMAND", "judge"),
            ("ROCKHOUND_BASE", &base),
            ("ROCKHOUND_HEAD", &head),
            ("ROCKHOUND_ARGS", &launch),
            ("ROCKHOUND_FAIL_ON", conditions),
        ];
        let ran = judge(&dir, &inputs);
        assert_eq!(output(&dir, "code"), code, "{head}: {ran:?}");
        let report = std::fs::read_to_string(output(&dir, "report")).unwrap();
        assert!(report.contains(word), "{head}: {report}");
    }
}

#[test]
fn the_command_comes_from_an_archive() {
    let Some(dir) = empty("action-archive") else { return };
    let bin = dir.join("rockhound-1/bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_rockhound"), bin.join("rockhound")).unwrap();
    let packed = Command::new("tar").args(["-czf", "r.tar.gz", "rockhound-1"]).current_dir(&dir).status();
    assert!(packed.is_ok_and(|it| it.success()));
    let ran = judge(&dir, &[("ROCKHOUND", "r.tar.gz"), ("ROCKHOUND_HEAD", &spilling())]);
    assert_eq!(output(&dir, "code"), "0", "{ran:?}");
}

/// A server that answers the requests of `comment.py`: comments of the pull request, then `{}`.
fn server(comments: &'static str) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let request = read_request(stream, comments);
            if send.send(request).is_err() {
                return;
            }
        }
    });
    (address, receive)
}

/// Reads one request with its body and answers it.
fn read_request(mut stream: TcpStream, comments: &str) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        text.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&text).into_owned();
    let length =
        head.lines().find_map(|it| it.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).unwrap();
    let answer = if head.starts_with("GET") { comments } else { "{}" };
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    );
    format!("{}\n{}", head.lines().next().unwrap_or_default(), String::from_utf8_lossy(&body))
}

fn comment(dir: &Path, api: &str, event: &str) -> Output {
    std::fs::write(dir.join("event.json"), event).unwrap();
    std::fs::write(dir.join("report.md"), "| kernel |\n").unwrap();
    Command::new("python3")
        .arg(root().join("action/comment.py"))
        .arg("report.md")
        .current_dir(dir)
        .env("GITHUB_API_URL", api)
        .env("GITHUB_EVENT_PATH", dir.join("event.json"))
        .env("GITHUB_REPOSITORY", "owner/name")
        .env("GITHUB_TOKEN", "secret")
        .env("NO_PROXY", "127.0.0.1")
        .env("no_proxy", "127.0.0.1")
        .output()
        .expect("python3")
}

#[test]
fn the_report_is_commented_once() {
    let Some(dir) = empty("action-comment") else { return };
    let event = "{\"pull_request\":{\"number\":7}}";
    for (comments, expected) in [
        ("[{\"id\":3,\"body\":\"hello\"}]", "POST /repos/owner/name/issues/7/comments"),
        ("[{\"id\":3,\"body\":\"<!-- rockhound -->\\nold\"}]", "PATCH /repos/owner/name/issues/comments/3"),
    ] {
        let (address, requests) = server(comments);
        let ran = comment(&dir, &address, event);
        assert!(ran.status.success() && ran.stdout.is_empty(), "{ran:?}");
        let requests: Vec<String> = requests.try_iter().collect();
        assert!(requests[0].starts_with("GET /repos/owner/name/issues/7/comments?"), "{requests:?}");
        assert!(requests[1].starts_with(expected) && requests[1].contains("| kernel |"), "{requests:?}");
    }
    // A push has no pull request, and a token may only read: neither fails the job.
    let ran = comment(&dir, "http://127.0.0.1:9", "{}");
    assert!(ran.status.success() && String::from_utf8_lossy(&ran.stdout).contains("::notice"), "{ran:?}");
    let ran = comment(&dir, "http://127.0.0.1:9", event);
    assert!(ran.status.success() && String::from_utf8_lossy(&ran.stdout).contains("::warning"), "{ran:?}");
}

#[test]
fn inputs_and_files_of_the_description_exist() {
    let text = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let declared: Vec<&str> = text
        .lines()
        .skip_while(|line| *line != "inputs:")
        .take_while(|line| *line != "outputs:")
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':').filter(|it| !it.starts_with(' ')))
        .collect();
    assert!(declared.contains(&"head") && declared.len() > 8, "{declared:?}");
    let used: Vec<&str> =
        text.split("inputs.").skip(1).map(|it| it.split([' ', '}']).next().unwrap_or_default()).collect();
    for name in &used {
        assert!(declared.contains(name), "{name} is not declared");
    }
    for name in declared {
        assert!(used.contains(&name), "{name} is not used");
    }
    let scripts: Vec<&str> = text
        .split("$GITHUB_ACTION_PATH/")
        .skip(1)
        .map(|it| it.split('"').next().unwrap_or_default())
        .collect();
    assert_eq!(scripts.len(), 2);
    assert!(scripts.iter().all(|it| root().join(it).is_file()), "{scripts:?}");
}
