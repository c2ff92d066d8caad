//! Changes over time: their code, pages, summaries, and bisections.

use crate::run::{Ran, command, fixture, folder, golden};
#[cfg(feature = "server")]
use std::io::{BufRead, BufReader, Read, Write};
#[cfg(feature = "server")]
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
#[cfg(feature = "server")]
use std::process::Stdio;

/// A kernel of the code objects of tests.
const KERNEL: &str = "transpose";

/// Two versions of its code.
fn before() -> String {
    fixture("rules/lds002/trigger.hsaco")
}

fn since() -> String {
    fixture("rules/mem003/trigger_shape.hsaco")
}

/// A recording of it that takes `time` nanoseconds, with its code.
fn recording(dir: &Path, time: u64, code: &str) {
    std::fs::create_dir_all(dir).unwrap();
    let row = |at: u64| {
        format!("{at},1,1024,256,{KERNEL},{},{},16,{}\n", at * 9000, at * 9000 + time + at, time / 10)
    };
    let csv = format!(
        "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,SQ_INSTS_VALU\n{}",
        (0..4).map(row).collect::<String>()
    );
    std::fs::write(dir.join("pmc_perf.csv"), csv).unwrap();
    std::fs::write(dir.join("sysinfo.csv"), "gpu_arch,gpu_model\ngfx942,MI300X\n").unwrap();
    std::fs::copy(code, dir.join("code.co")).unwrap();
}

fn rockhound(dir: &Path, args: &[&str]) -> Ran {
    command(args).current_dir(dir).env("ROCKHOUND_STORE", "runs.db").output().unwrap().into()
}

fn good(dir: &Path, args: &[&str]) -> String {
    let ran = rockhound(dir, args);
    assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

/// A database whose fourth recording of seven is the first slow one.
fn with_a_change(name: &str) -> std::path::PathBuf {
    let dir = folder(name);
    for at in 0..7 {
        let (time, code) = if at < 3 { (1000, before()) } else { (1500, since()) };
        recording(&dir.join("app"), time, &code);
        good(&dir, &["store", "add", "app", "--no-provenance", "-l", &format!("commit=c{at}")]);
    }
    dir
}

#[test]
fn a_change_has_its_code_on_terminal_and_page() {
    let dir = with_a_change("store-code");
    let text = good(&dir, &["store", "history", "--page", "history.html"]);
    assert!(text.contains("VGPRs"), "{text}");
    let page = std::fs::read_to_string(dir.join("history.html")).unwrap();
    assert_eq!(page.matches("<circle").count(), 7);
    assert!(page.contains("c3 +49.9 %") && page.contains("VGPRs"), "{page}");
    // The recordings are of now.
    let week = good(&dir, &["store", "summary", "--since", "7d"]);
    assert!(week.contains("| app") || week.contains("app |"), "{week}");
    assert!(week.contains("49.9"), "{week}");
    let old = good(&dir, &["store", "summary", "--since", "1h", "-l", "commit=c0"]);
    assert!(!old.contains("49.9"), "{old}");
    for (args, code) in [(&["--since", "x"][..], 64), (&["--since", "0d"], 64), (&["-l", "a=b"], 1)] {
        assert_eq!(rockhound(&dir, &[&["store", "summary"], args].concat()).code, code, "{args:?}");
    }
}

#[test]
fn stored_code_is_inspected_by_its_address() {
    let dir = with_a_change("store-inspect");
    let from = |path: &str| {
        let ran = rockhound(&dir, &["inspect", path, "--format", "json"]);
        format!("{} {}{}", ran.code, ran.stdout, ran.stderr)
    };
    let folder = from("app");
    assert!(folder.contains(KERNEL), "{folder}");
    assert_eq!(folder.replace("app/code.co", "store:7/code.co"), from("store:7"));
    assert_eq!(rockhound(&dir, &["inspect", "store:99"]).code, 1);
    // A recording without code is named by its address.
    std::fs::remove_file(dir.join("app/code.co")).unwrap();
    good(&dir, &["store", "add", "app", "--no-provenance", "-l", "commit=none"]);
    let ran = rockhound(&dir, &["diff", "store:8", "store:7"]);
    assert!(ran.code == 1 && ran.stderr.contains("store:8"), "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stderr.contains("/tmp/") && !ran.stderr.contains("rockhound-store-"), "{}", ran.stderr);
}

#[test]
fn git_finds_the_commit_with_a_bisection() {
    let dir = with_a_change("store-bisect");
    let repo = dir.join("repo");
    std::fs::create_dir_all(&repo).unwrap();
    let store = dir.join("runs.db").display().to_string();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@t.example"]).args(args).current_dir(&repo);
        let output = command.env("ROCKHOUND_STORE", &store).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    git(&["init", "-q"]);
    // Of twelve commits the eighth is the first slow one, and the sixth does not build.
    let mut hashes = Vec::new();
    for at in 0..12 {
        let code = if at < 7 { before() } else { since() };
        recording(&repo.join("app"), if at < 7 { 1001 } else { 1498 }, &code);
        std::fs::write(
            repo.join("build.sh"),
            if at == 5 { "exit 3" } else { "cp -r app $ROCKHOUND_RECORDING" },
        )
        .unwrap();
        std::fs::write(repo.join("number"), at.to_string()).unwrap();
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", "c"]);
        hashes.push(git(&["rev-parse", "HEAD"]).trim().to_owned());
    }
    let rockhound = command(&[]).get_program().to_string_lossy().into_owned();
    for more in [&[][..], &["-m", "SQ_INSTS_VALU", "--good", "1", "--bad", "7"]] {
        git(&["bisect", "start", &hashes[11], &hashes[0]]);
        let run =
            [&["bisect", "run", &rockhound, "store", "bisect"], more, &["--", "sh", "build.sh"]].concat();
        let said = git(&run);
        assert!(said.contains(&format!("{} is the first", hashes[7])), "{said}");
        git(&["bisect", "reset"]);
    }
}

#[test]
fn a_bisection_tells_a_bad_commit_from_one_without_a_value() {
    let dir = with_a_change("store-bisect-codes");
    recording(&dir.join("fast"), 1001, &before());
    recording(&dir.join("slow"), 1490, &since());
    recording(&dir.join("other"), 1000, &before());
    let path = dir.join("other/pmc_perf.csv");
    let text = std::fs::read_to_string(&path).unwrap().replace(KERNEL, "other_kernel");
    std::fs::write(&path, text).unwrap();
    for (args, script, code) in [
        (&[][..], "cp -r fast $ROCKHOUND_RECORDING", 0),
        (&[], "cp -r slow $ROCKHOUND_RECORDING; echo noise", 1),
        (&["--good", "7", "--bad", "1"], "cp -r fast $ROCKHOUND_RECORDING", 1),
        (&[], "cp -r other $ROCKHOUND_RECORDING", 125),
        (&[], "exit 7", 125),
        (&[], "true", 125),
        (&["-m", "SQ_WAVES"], "true", 128),
        (&["--store", "none.db"], "true", 128),
        (&["-m", "nonsense"], "true", 128),
    ] {
        let ran = rockhound(&dir, &[&["store", "bisect"], args, &["--", "sh", "-c", script]].concat());
        assert_eq!(ran.code, code, "{script}: {}{}", ran.stdout, ran.stderr);
        golden(&format!("bisect {} -- {script}", args.join(" ")), &format!("{}{}", ran.stdout, ran.stderr));
        assert!(!ran.stdout.contains("noise"), "{}", ran.stdout);
    }
}

/// A server that ends with the test.
#[cfg(feature = "server")]
struct Server(std::process::Child);

#[cfg(feature = "server")]
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[cfg(feature = "server")]
fn a_server_shows_a_database_to_who_has_the_token() {
    let dir = with_a_change("store-view");
    std::fs::write(dir.join("verdict.json"), crate::store::VERDICT).unwrap();
    let added = rockhound(&dir, &["store", "add", "verdict.json", "--no-provenance", "--store", "runs.db"]);
    assert_eq!(added.code, 0, "{}", added.stderr);
    let mut server = Server(
        command(&["view", "--no-open", "--store", "runs.db"])
            .current_dir(&dir)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut url = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let (address, token) = url.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
    assert!(address.starts_with("127.0.0.1:"), "{url}");
    let get = |path: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    for (path, status, expected) in [
        ("", "200", "store:7"),
        ("history", "200", "c3 +49.9 %"),
        ("history?metric=SQ_INSTS_VALU&label=commit%3Dc1", "200", "SQ_INSTS_VALU"),
        ("recording?id=7", "200", KERNEL),
        ("recording?id=7&base=1", "200", "change"),
        ("recording?id=8", "200", "verdict.json: store:8 of"),
        ("recording?id=8", "200", "hangs"),
        ("recording?id=8", "200", "L2 requests"),
        ("history?metric=nonsense", "400", "`nonsense`"),
        ("history?label=x", "400", "label"),
        ("recording?id=99", "400", "`99`"),
        ("recording?id=../x", "400", "`id`"),
    ] {
        let answer = get(&format!("/{token}{path}"));
        let found = answer.split(' ').nth(1).unwrap_or_default();
        assert!(found == status && answer.contains(expected), "{path}: {answer:.2000}");
    }
    assert!(!get("/").contains("store:7") && !get("/0123456789abcdef0123456789abcdef/").contains("store:7"));
    let none = rockhound(&dir, &["view", "--no-open", "--store", "none.db"]);
    assert_eq!(none.code, 1);
    none.golden("view without a database");
}
