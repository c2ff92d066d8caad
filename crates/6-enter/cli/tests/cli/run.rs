//! Starting the program and looking at what it wrote.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).expect("crates/LAYER/CRATE").to_owned()
}

/// A small code object of one kernel whose registers are spilled.
pub(crate) fn spilling() -> String {
    fixture("rules/res001/trigger.hsaco")
}

/// A small code object of one kernel whose registers are not.
pub(crate) fn clean() -> String {
    fixture("rules/res001/miss.hsaco")
}

/// A file below `fixtures/`.
pub(crate) fn fixture(path: &str) -> String {
    let path = root().join("fixtures").join(path);
    assert!(path.exists(), "{} is part of the repository", path.display());
    path.display().to_string()
}

/// An empty folder of one test.
pub(crate) fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder for the test");
    path
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        let code = output.status.code().expect("an exit code, no signal");
        Ran { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Ran {
    /// Compares standard error with a section of the caller's golden file.
    #[track_caller]
    pub(crate) fn golden(&self, section: &str) {
        golden(section, &self.stderr);
    }

    /// Notes of the JSON answer on standard output.
    pub(crate) fn notes(&self) -> String {
        let answer: serde_json::Value = serde_json::from_str(&self.stdout).unwrap_or_default();
        let notes = answer["notes"].as_array().into_iter().flatten();
        notes
            .map(|it| format!("{}: {}\n", it["kind"].as_str().unwrap(), it["text"].as_str().unwrap()))
            .collect()
    }
}

/// Compares text with a section of the caller's golden file, which names folders of this machine by a word.
#[track_caller]
pub(crate) fn golden(section: &str, text: &str) {
    let programs = Path::new(env!("CARGO_BIN_EXE_rockhound")).parent().expect("a folder");
    let neutral = |text: &str| {
        text.replace(env!("CARGO_TARGET_TMPDIR"), "TMP").replace(&*programs.to_string_lossy(), "BIN")
    };
    testkit::golden(&neutral(section), &neutral(text));
}

/// The program with a known environment.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rockhound"));
    command.args(args).env_remove("NO_COLOR").env_remove("COLUMNS").env("TERM", "xterm").current_dir(root());
    command
}

/// Runs it to its end.
pub(crate) fn rockhound(args: &[&str]) -> Ran {
    rockhound_with_input(args, &[])
}

/// Runs it with something on standard input.
pub(crate) fn rockhound_with_input(args: &[&str], input: &[u8]) -> Ran {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // The program may end without reading its input.
    let writer = std::thread::spawn(move || drop(std::io::Write::write_all(&mut pipe, &input)));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("input is written");
    output.into()
}

/// Runs it in a folder, without the user's database.
pub(crate) fn run_in(dir: &Path, args: &[&str]) -> Ran {
    let mut command = command(args);
    command.current_dir(dir).env_remove("ROCKHOUND_STORE").output().expect("the program starts").into()
}

/// Notes of an answer, whether or not the command succeeds.
pub(crate) fn notes(args: &[&str]) -> String {
    rockhound(&[args, &["--format", "json"]].concat()).notes()
}

/// Runs it and expects success and silence on standard error.
pub(crate) fn good(args: &[&str]) -> String {
    let ran = rockhound(args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}: {}", ran.stdout);
    ran.stdout
}
