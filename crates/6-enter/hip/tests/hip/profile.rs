//! `rockhound profile` and `rockhound run` on real HIP programs: what is recorded, and what stays however a
//! program ends.
//!
//! The recording is looked at as a file, not through the command that wrote it.

use crate::compiled::{self, built, counter, prepared};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The command.
pub(crate) fn rockhound() -> Command {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let mut command = Command::new(PATH.get_or_init(|| built("rockhound", "rockhound")));
    command.env_remove("LD_LIBRARY_PATH").env_remove("LD_PRELOAD");
    command
}

/// Profiles a part of the program `ending` into an empty folder.
fn profile(programs: &Path, test: &str, options: &[&str], arguments: &[&str]) -> (Output, PathBuf) {
    let folder = empty(test);
    let mut command = rockhound();
    command.arg("profile").arg("-o").arg(&folder).args(options).arg("--").arg(programs.join("ending"));
    (command.args(arguments).output().unwrap(), folder)
}

pub(crate) fn empty(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hip-profile").join(test);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// IDs of the dispatches of a recording.
fn ids(folder: &Path) -> Vec<u64> {
    let text = std::fs::read_to_string(folder.join("pmc_perf.csv")).unwrap_or_default();
    text.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn kernels_and_dispatches_are_selected_as_analyze_selects() {
    let Some(programs) = prepared() else { return };
    // (options, exit code, dispatches, part of what is said)
    let cases: [(&[&str], i32, &[u64], &str); 12] = [
        (&[], 0, &[0, 1, 2, 3, 4, 5], "no AMD GPU found: emulating MI300X (gfx942)"),
        (&["-k", "sec.*"], 0, &[1, 3, 5], "wrote "),
        (&["-k", "first(int*)"], 0, &[0, 2, 4], "wrote "),
        (&["-k", "^f", "^s", "-d", "1-2", ">4"], 0, &[1, 2, 5], "wrote "),
        (&["-d", "<=1,3"], 0, &[0, 1, 3], "wrote "),
        (&["-k", "second", "--dispatch-limit", "2"], 0, &[1, 3], "wrote "),
        (&["-k", "second", "--no-results"], 0, &[1, 3, 5], "wrote "),
        (
            &["-k", "third"],
            0,
            &[],
            "no kernel was selected by `third`\nhint: kernels are first(int*), second(int*)",
        ),
        (&["-d", "100"], 0, &[], "no dispatch was selected\nhint: the program has 6, from 0 on"),
        (&["-k", "0"], 64, &[], "`-k 0` is a place in the list of kernels by time"),
        (&["-k", "[a"], 64, &[], "`[a` is no regular expression: unclosed character class"),
        (&["-d", "x"], 64, &[], "`x` names no dispatches"),
    ];
    for (number, (options, code, expected, message)) in cases.into_iter().enumerate() {
        let (output, folder) = profile(programs, &format!("selected{number}"), options, &["end", "3"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{options:?}: {said}");
        assert_eq!(ids(&folder), expected, "{options:?}");
        assert!(said.contains(message), "{options:?}: {said}");
    }
}

#[test]
fn the_kernel_after_a_copy_from_the_host_writes_back_what_it_wrote() {
    let Some(programs) = prepared() else { return };
    let folder = empty("released");
    let mut command = rockhound();
    command.args(["profile", "--gpu", "mi210", "-o"]).arg(&folder).arg("--").arg(programs.join("session"));
    let output = command.args(["copies", "262144"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // A copy to the GPU comes before the first kernel, one from the GPU before the second; 2 MiB stay in the
    // L2.
    let found =
        ["TCC_ALL_TC_OP_WB_WRITEBACK_sum", "TCC_EA0_WRREQ_64B_sum"].map(|name| counter(&folder, name));
    assert_eq!(found[1][0], 32_768.0, "halves of lines");
    assert!(found[0][0] > 8192.0 && found[0][1] == 0.0 && found[1][1] < 16_384.0, "{found:?}");
}

#[test]
fn the_report_shows_the_blocks_asked_for() {
    let Some(programs) = prepared() else { return };
    let (output, _) = profile(programs, "blocks", &["-b", "10.1", "7.1"], &["end", "1"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("10.1  Overall Instruction Mix") && text.contains("\n7.1  "), "{text}");
    assert!(!text.contains("16.3") && !text.contains("3.1  Memory chart"), "{text}");
}

#[test]
fn finished_dispatches_stay_however_the_program_ends() {
    let Some(programs) = prepared() else { return };
    // (how, rounds, exit code, part of what is said)
    for (how, rounds, code, message) in [
        ("code", 20, 7, ""),
        ("crash", 50, 139, "rockhound: the program was ended by SIGSEGV"),
        ("killed", 50, 137, "rockhound: the program was ended by SIGKILL"),
        ("fork", 20, 0, ""),
        ("thread", 20, 9, ""),
    ] {
        let (output, folder) = profile(programs, how, &[], &[how, &rounds.to_string()]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{how}: {said}");
        assert!(said.contains(message), "{how}: {said}");
        assert_eq!(ids(&folder), (0..2 * rounds).collect::<Vec<_>>(), "{how}: {said}");
        assert!(!folder.with_file_name(format!("{how}-2")).exists(), "a forked process records nothing");
    }
}

/// Whether a process is there and not just waiting for somebody to take note of its end.
fn is_running(process: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.rsplit(')').next().and_then(|rest| rest.trim().chars().next()).is_some_and(|state| state != 'Z')
}

#[test]
fn a_signal_ends_the_program_within_a_second() {
    let Some(programs) = prepared() else { return };
    // Ctrl-C reaches the whole group; SIGTERM is sent to the command alone.
    for (signal, to_group) in [(libc::SIGINT, true), (libc::SIGTERM, false)] {
        let folder = empty(&format!("signal{signal}"));
        let mut command = rockhound();
        command.arg("profile").arg("-o").arg(&folder).arg("--").arg(programs.join("ending"));
        command.args(["forever", "3"]).process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let program: i32 = line.trim().strip_prefix("waiting ").unwrap().parse().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let start = Instant::now();
        let command = child.id() as i32;
        // SAFETY: sends a signal to processes started above.
        assert_eq!(unsafe { libc::kill(if to_group { -command } else { command }, signal) }, 0);
        while is_running(program) && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let took = start.elapsed();
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        let status = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&status.stderr);
        assert!(took < Duration::from_secs(1), "{took:?}: {said}");
        assert_eq!(ids(&folder), [0, 1, 2, 3, 4, 5], "{said}");
        if to_group {
            assert_eq!(status.status.code(), Some(130), "{said}");
            assert!(said.contains("SIGINT"), "{said}");
        }
    }
}

#[test]
fn an_endless_kernel_is_stopped_with_its_loop() {
    let Some(programs) = prepared() else { return };
    let (output, folder) = profile(programs, "endless", &["--max-instructions", "100000"], &["forever", "2"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(134), "{said}");
    for part in [" 100000 instructions ", " from 0x", "`forever(int volatile*)`", "`--max-instructions N`"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(ids(&folder), [0, 1, 2, 3]);
}

#[test]
fn a_kernel_that_waits_for_nobody_is_stopped_without_being_asked_to() {
    let Some(programs) = prepared() else { return };
    let endless = "endless loop";
    // (how, workgroups, exit code, what is said, what is not)
    for (how, workgroups, code, said, unsaid) in [
        ("stuck", "1", 134, [endless, "`waiting(int volatile*)`"], "cooperative"),
        ("stuck", "5", 134, [endless, "nobody"], "cooperative"),
        ("host", "1", 0, ["wrote ", ""], endless),
    ] {
        let (output, _) = profile(programs, &format!("{how}{workgroups}"), &[], &[how, workgroups]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{how}: {text}");
        assert!(said.iter().all(|it| text.contains(it)) && !text.contains(unsaid), "{how}: {text}");
    }
}

#[test]
fn a_sample_of_workgroups_stands_for_all() {
    let Some(programs) = prepared() else { return };
    let (output, _) = profile(programs, "unasked", &["--sample-workgroups", "16"], &["shapes", "0"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert!(said.contains("`--no-results`"), "{said}");

    let (_, whole) = profile(programs, "whole", &[], &["shapes", "0"]);
    let options = ["--sample-workgroups", "16", "--no-results"];
    let (output, sampled) = profile(programs, "sampled", &options, &["shapes", "0"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains(" 16 workgroups "));
    for name in ["SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_VMEM_RD", "TCP_TOTAL_ACCESSES_sum"] {
        let (all, some) = (counter(&whole, name), counter(&sampled, name));
        let error = |(all, some): (&f64, &f64)| (some - all).abs() / all.max(1.0);
        let errors: Vec<f64> = all.iter().zip(&some).map(error).collect();
        println!("{name}: {all:?}, from the sample {some:?}, relative errors {errors:?}");
        // Workgroups of a triangle differ by their number; workgroups of the other kernel do not, except for
        // the last one.
        assert!(errors[0] < 0.05, "{name}: {all:?} {some:?}");
        assert_eq!(all[1], some[1], "{name}");
    }
}

#[test]
fn programs_see_the_devices_asked_for() {
    let Some(programs) = prepared() else { return };
    for (options, expected) in [(vec![], "1 devices\n"), (vec!["--devices", "4"], "4 devices\n")] {
        let mut command = rockhound();
        command.arg("run").args(options).arg("--").arg(programs.join("ending")).args(["devices", "1"]);
        assert_eq!(String::from_utf8_lossy(&command.output().unwrap().stdout), expected);
    }
}

#[test]
fn programs_find_the_library_that_compiles() {
    let Some(programs) = prepared() else { return };
    let mut command = rockhound();
    let output = command.arg("run").arg("--").arg(programs.join("compiling")).arg("whole").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 failed\n", "{output:?}");
}

/// Compiles C or HIP code for one of the tests below.
fn compile(folder: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
    let file = folder.join(format!("{name}.cpp"));
    std::fs::write(&file, source).unwrap();
    let made = folder.join(name);
    // Options up to the first library or object precede the source.
    let objects = options.iter().position(|it| it.starts_with("-l") || it.ends_with(".o"));
    let (before, after) = options.split_at(objects.unwrap_or(options.len()));
    let mut compiler = Command::new("clang++-19");
    compiler
        .current_dir(folder)
        .args(before)
        .arg(&file)
        .args(["-x", "none"])
        .args(after)
        .arg("-o")
        .arg(&made);
    compiled::run(&mut compiler);
    made
}

/// A HIP program that needs nothing of the device libraries.
const SMALL: &str = r#"
#include <cstdio>
struct dim3 { unsigned x, y, z; };
typedef int hipError_t; typedef void *hipStream_t;
extern "C" {
hipError_t hipGetDeviceCount(int *);
unsigned __hipPushCallConfiguration(dim3, dim3, unsigned long = 0, hipStream_t = 0);
hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, hipStream_t);
unsigned __hipPopCallConfiguration(dim3 *, dim3 *, unsigned long *, hipStream_t *);
}
__attribute__((global)) void nothing() {}
int main() { int count = 0; hipGetDeviceCount(&count); printf("%d devices\n", count); dim3 one = {1, 1, 1}; if (count == 0) nothing<<<one, one>>>(); }
"#;

#[test]
fn programs_that_cannot_run_are_told_why() {
    let Some(programs) = prepared() else { return };
    let folder = empty("wrong");
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    let mut bytes = std::fs::read(programs.join("ending")).unwrap();
    bytes[4] = 1;
    std::fs::copy(programs.join("ending"), folder.join("small")).unwrap();
    std::fs::write(folder.join("small"), bytes).unwrap();
    std::fs::write(folder.join("text"), "no program").unwrap();
    compile(&folder, "fixed", "int main() {}", &["-static"]);
    let hip = ["-w", "-x", "hip", "--offload-arch=gfx90a", "-nogpuinc", "-nogpulib", "-no-hip-rt"];
    let own = "extern \"C\" { void *__hipRegisterFatBinary(void *) { return 0; } void __hipUnregisterFatBinary(void *) {} \
               void __hipRegisterFunction() {} int hipGetDeviceCount(int *) { return 0; } int hipLaunchKernel() { return 0; } \
               int __hipPushCallConfiguration() { return 0; } int __hipPopCallConfiguration() { return 0; } }";
    compile(&folder, "runtime.o", own, &["-c"]);
    compile(&folder, "whole", SMALL, &[&hip[..], &["runtime.o"]].concat());
    compile(&folder, "libgone.so", "extern \"C\" void gone() {}", &["-shared", "-fPIC"]);
    compile(&folder, "lacking", "extern \"C\" void gone(); int main() { gone(); }", &["-L.", "-lgone"]);
    std::fs::remove_file(folder.join("libgone.so")).unwrap();
    let (ending, none) = (programs.join("ending").display().to_string(), &[][..]);
    // (options, program, exit code, what is said)
    for (options, program, code, parts) in [
        (none, path("nowhere"), 64, ["` does not exist", "hint: give a program behind `--`"]),
        (none, path("text"), 64, ["` is not an executable file", "hint: "]),
        (none, "no-such-program".to_string(), 64, ["no program `no-such-program` in PATH", ""]),
        (none, path("small"), 64, ["` is a 32-bit program", "64 bits only"]),
        (none, path("fixed"), 64, ["` is statically linked", "hint: link the HIP runtime dynamically"]),
        (none, path("whole"), 64, ["` has the HIP runtime linked into itself", "hint: link it dynamically"]),
        (none, path("lacking"), 127, ["libgone.so: cannot open shared object file", "never called"]),
        (
            none,
            "true".to_string(),
            0,
            ["`true` never called Rockhound's HIP runtime; nothing was emulated", "hint: "],
        ),
        (
            &["--gpu", "mi355x"],
            ending,
            64,
            [
                "` has code for gfx90a, gfx942, and none for MI355X (gfx950)",
                "hint: compile with `--offload-arch=gfx950`",
            ],
        ),
    ] {
        let output = rockhound().arg("run").args(options).arg("--").arg(&program).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{program}: {said}");
        assert!(parts.iter().all(|part| said.contains(part)), "{program}: {said}");
        assert_eq!(output.stdout.len(), 0, "{program}");
    }
}

#[test]
fn programs_with_a_path_of_their_own_get_this_runtime() {
    let Some(_) = prepared() else { return };
    let folder = empty("rpath");
    std::fs::create_dir_all(folder.join("vendor")).unwrap();
    let vendor = "#include <cstdio>\nextern \"C\" { int hipGetDeviceCount(int *count) { *count = 77; return 0; } int hipLaunchKernel() { return 0; } \
                  void *__hipRegisterFatBinary(void *) { return 0; } void __hipUnregisterFatBinary(void *) {} void __hipRegisterFunction() {} \
                  int __hipPushCallConfiguration() { return 0; } int __hipPopCallConfiguration() { return 0; } }";
    let library = ["-shared", "-fPIC", "-Wl,-soname,libamdhip64.so.6"];
    let made = compile(&folder, "vendor.so", vendor, &library);
    std::fs::copy(made, folder.join("vendor/libamdhip64.so.6")).unwrap();
    std::os::unix::fs::symlink("libamdhip64.so.6", folder.join("vendor/libamdhip64.so")).unwrap();
    let rpath = format!("-Wl,-rpath,{}", folder.join("vendor").display());
    let hip = ["-w", "-x", "hip", "--offload-arch=gfx90a", "-nogpuinc", "-nogpulib", "-L", "vendor", &rpath];
    for (name, tags, alone) in [
        ("old", "-Wl,--disable-new-dtags", "77 devices\n"),
        ("new", "-Wl,--enable-new-dtags", "77 devices\n"),
    ] {
        let program = compile(&folder, name, SMALL, &[&hip[..], &[tags, "-lamdhip64"]].concat());
        let plain = Command::new(&program).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&plain.stdout), alone, "{name}");
        let output = rockhound().args(["run", "--"]).arg(&program).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1 devices\n", "{name}: {output:?}");
    }
}
