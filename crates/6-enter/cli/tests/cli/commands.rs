//! Help, exit codes, colours, widths, pipes, and the small commands.

use crate::run::{clean, command, folder, golden, good, rockhound, rockhound_with_input, spilling};
use std::io::Read;
use std::process::Stdio;

const COMMANDS: [&str; 6] = ["inspect", "diff", "explain", "occupancy", "completions", "man"];

#[test]
fn every_command_has_help_with_examples() {
    for name in COMMANDS {
        let help = good(&[name, "--help"]);
        assert!(help.contains("Examples:\n  rockhound "), "{name}: {help}");
    }
    assert!(good(&["--help"]).contains("Exit codes:"));
    assert_eq!(good(&["help", "trace"]), good(&["trace", "--help"]));
    assert!(good(&["--version"]).starts_with("rockhound "));
}

#[test]
fn a_wrong_command_line_exits_with_64() {
    let spilling = spilling();
    for args in [
        &["inspect"][..],
        &["frobnicate"],
        &["inspect", &spilling, "--kernel", "a("],
        &["inspect", &spilling, "--arch", "sm_80"],
        &["inspect", &spilling, "--fail-on", "RES999"],
        &["inspect", &spilling, "--sort", "colour"],
        &["explain", "XYZ123"],
        &["occupancy", "--arch", "sm_80"],
        &["occupancy", "--arch", "gfx942", "--lds", "many"],
        &["man", "nothing"],
        &["--verbose", "explain"],
        &["diff", &spilling, &spilling, "--match", "x"],
        &["run", "--threads", "-1", "--", "/bin/true"],
        &["run", "--max-instructions", "-1", "--", "/bin/true"],
        // The program does not run: its output would be there.
        &["profile", "-o", "/proc/x", "--", "/bin/echo", "ran"],
    ] {
        let ran = rockhound(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{args:?}: {}", ran.stderr);
        // Which GPU the machine has is said before.
        let error = ran.stderr.find("error: ").unwrap_or_default();
        golden(&args.join(" "), &ran.stderr[error..]);
    }
    let ran = rockhound(&[]);
    assert!(ran.code == 64 && ran.stdout.is_empty() && ran.stderr.contains("Usage"), "{}", ran.stderr);
}

#[test]
fn the_long_version_says_how_it_was_built_and_what_it_finds() {
    for flags in [&["--version", "--verbose"][..], &["-vV"], &["-Vv"], &["--verbose", "-V"]] {
        let text = good(flags);
        for line in [
            "commit ",
            "profile ",
            "target ",
            "features ",
            "build ",
            "HIP library ",
            "clang ",
            "llvm-objdump ",
        ] {
            assert!(text.lines().any(|it| it.starts_with(line)), "{flags:?}: no `{line}` in\n{text}");
        }
        assert!(text.contains(&format!("{}-", std::env::consts::ARCH)), "{text}");
    }
    assert_eq!(good(&["--version"]).lines().count(), 1);
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let pages = folder("man");
    good(&["man", "--output", &pages.display().to_string()]);
    let names: Vec<String> = std::fs::read_dir(&pages)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in COMMANDS {
        let page = std::fs::read_to_string(pages.join(format!("rockhound-{name}.1"))).unwrap();
        assert!(page.contains(&format!("rockhound\\-{name}")), "{name}: {page}");
    }
    assert!(names.contains(&"rockhound.1".to_owned()) && names.len() > COMMANDS.len(), "{names:?}");
}

#[test]
fn fail_on_decides_the_exit_code() {
    let (spilling, clean) = (spilling(), clean());
    // Its message on registers (RES009) is part of RES003's.
    let joined = crate::run::fixture("rules/res003/trigger.hsaco");
    for (file, condition, code) in [
        (&joined, "RES003", 2),
        (&joined, "RES009", 2),
        (&joined, "RES001", 0),
        (&spilling, "RES001", 2),
        (&spilling, "res001", 2),
        (&spilling, "info", 2),
        (&clean, "RES001", 0),
        (&clean, "severe", 0),
    ] {
        let ran = rockhound(&["inspect", file, "--fail-on", condition]);
        assert_eq!(ran.code, code, "{file} {condition}: {}", ran.stderr);
        assert_eq!(ran.stderr.contains("failed: `--fail-on"), code == 2, "{}", ran.stderr);
    }
    let ran = rockhound(&["inspect", &spilling, "/no/such/file", "--fail-on", "RES001"]);
    assert_eq!(ran.code, 1, "an unreadable input stands before a threshold");
}

#[test]
fn colour_is_for_terminals() {
    let spilling = spilling();
    let colored = |args: &[&str], no_color: &str| {
        let mut command = command(&["inspect", &spilling]);
        command.args(args).env("NO_COLOR", no_color);
        String::from_utf8(command.output().unwrap().stdout).unwrap().contains('\x1b')
    };
    assert!(!colored(&[], ""), "a pipe is no terminal");
    assert!(!colored(&["--color", "never"], ""));
    assert!(colored(&["--color", "always"], ""));
    assert!(colored(&["--color", "always"], "1"), "what the user asks for now stands before the environment");
}

#[test]
fn terminals_get_colour_unless_no_color() {
    // `script` gives the program a terminal.
    if !testkit::needs(&["script"]) {
        return;
    }
    let on_terminal = |variable: &str| {
        let line = format!("{} inspect {}", env!("CARGO_BIN_EXE_rockhound"), spilling());
        let mut command = std::process::Command::new("script");
        command
            .args(["-qec", &line, "/dev/null"])
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdin(Stdio::null());
        if !variable.is_empty() {
            command.env(variable, if variable == "TERM" { "dumb" } else { "1" });
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(on_terminal("").contains("\x1b["));
    assert!(!on_terminal("NO_COLOR").contains("\x1b["));
    assert!(!on_terminal("TERM").contains("\x1b["));
}

#[test]
fn text_fits_the_width() {
    let fixtures = crate::run::fixture("rules");
    for width in [80, 160] {
        let columns = width.to_string();
        for args in [
            vec!["inspect", &fixtures],
            vec!["inspect", &fixtures, "--details"],
            vec!["explain", "RES001"],
            vec!["explain"],
        ] {
            let mut args = args;
            args.extend(["--width", &columns]);
            for line in good(&args).lines() {
                assert!(line.chars().count() <= width, "{args:?}: {line}");
            }
        }
    }
}

#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let fixtures = crate::run::fixture("rules");
    for args in [
        vec!["inspect", &fixtures, "--format", "json", "--asm"],
        vec!["inspect", &fixtures, "--details"],
        vec!["explain", "RES001"],
        vec!["completions", "bash"],
        vec!["--help"],
    ] {
        let mut child = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let status = child.wait().unwrap();
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((status.code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn messages_that_nobody_reads_end_the_program_without_a_panic() {
    let mut child = command(&["inspect", "/no/such/file"]).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn standard_input_is_a_file_too() {
    let bytes = std::fs::read(spilling()).unwrap();
    let ran = rockhound_with_input(&["inspect", "-"], &bytes);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains("<stdin>") && ran.stdout.contains("spills_in_loop"), "{}", ran.stdout);
}

#[test]
fn output_goes_where_it_is_sent() {
    let path = folder("output").join("kernels.json");
    let path = path.display().to_string();
    assert_eq!(good(&["inspect", &spilling(), "--format", "json", "-o", &path]), "");
    let written = std::fs::read_to_string(&path).unwrap();
    serde_json::from_str::<serde_json::Value>(&written).unwrap();
    let ran = rockhound(&["inspect", &spilling(), "-o", "/no/such/folder/file"]);
    assert_eq!(ran.code, 1);
    ran.golden("-o /no/such/folder/file");
}

#[test]
fn few_kernels_are_cards_and_many_a_table() {
    let fixtures = crate::run::fixture("rules");
    let one = good(&["inspect", &spilling()]);
    assert!(one.contains("\n  registers VGPR "), "{one}");
    let sorted = good(&["inspect", &fixtures, "--sort", "vgprs", "--top", "1"]);
    assert!(sorted.starts_with("kernel ") && sorted.contains("more kernel"), "{sorted}");
    let chosen = good(&["inspect", &fixtures, "--kernel", "^spills_in_loop$"]);
    assert!(chosen.starts_with("spills_in_loop\n"), "{chosen}");
    let listing = good(&["inspect", &spilling(), "--asm"]);
    assert!(listing.contains("s_endpgm") && listing.contains("live"), "{listing}");
}

/// What people type who know another command.
#[test]
fn options_have_the_names_of_other_commands() {
    let code =
        format!("{}/../../../examples/vector_copy/vector_copy.gfx942.hsaco", env!("CARGO_MANIFEST_DIR"));
    for words in [
        &["inspect", "--arch", "gfx942"][..],
        &["inspect", "--arch", "mi300x"],
        &["inspect", "--gpu", "MI300A"],
        &["launch-template", "--gpu", "mi300x"],
    ] {
        let ran = rockhound(&[words, &[&code]].concat());
        assert!(
            ran.code == 0 && ran.stdout.contains("vector_copy"),
            "{words:?}: {} {}",
            ran.stdout,
            ran.stderr
        );
    }
    let ran = rockhound(&["inspect", "--gpu", "mi210", &code]);
    assert!(ran.code == 1 && ran.stderr.contains("gfx942"), "{}", ran.stderr);
    let ran = rockhound(&["inspect", "--gpu", "nothing", &code]);
    assert!(ran.code == 64 && ran.stderr.contains("`--arch nothing`"), "{}", ran.stderr);
    for words in [["occupancy", "--gpu", "mi300x"], ["tile", "--arch", "mi300x"]] {
        let ran = rockhound(&[&words[..], &["--help"]].concat());
        assert_eq!(ran.code, 0, "{words:?}: {}", ran.stderr);
    }
}

#[test]
fn rules_are_explained() {
    let list = good(&["explain"]);
    let first = list.split_whitespace().next().unwrap();
    let page = good(&["explain", &first.to_lowercase()]);
    assert!(page.starts_with(first), "{page}");
    let rules: serde_json::Value = serde_json::from_str(&good(&["explain", "--format", "json"])).unwrap();
    assert_eq!(rules.as_array().unwrap().len(), list.lines().filter(|line| !line.starts_with(' ')).count());
    for rule in rules.as_array().unwrap() {
        let id = rule["id"].as_str().unwrap();
        assert!(good(&["explain", id]).lines().count() > 5, "{id}");
    }
    let group = good(&["explain", "RES"]);
    assert!(group.lines().all(|line| line.starts_with("RES") || line.starts_with(' ')), "{group}");
}

#[test]
fn occupancy_is_calculated() {
    let args = ["occupancy", "--arch", "gfx942", "--vgpr", "170", "--lds", "16K", "--waves", "4"];
    let text = good(&args);
    golden("one limit", &text);
    let both = good(&["occupancy", "--arch", "gfx942", "--vgpr", "170", "--lds", "32768", "--waves", "4"]);
    golden("two limits", &both);
    let mut json_args = args.to_vec();
    json_args.extend(["--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&good(&json_args)).unwrap();
    assert_eq!(report["schema"], "rockhound.occupancy/2");
    assert_eq!(report["result"]["waves_per_simd"], 2.0);
    let here: Vec<_> = report["boundaries"][0]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["here"] == true)
        .collect();
    assert_eq!((here.len(), &here[0]["at_most"]), (1, &serde_json::json!(256)));
    let by_model = good(&["occupancy", "--arch", "mi300x", "--vgpr", "170", "--lds", "16K", "--waves", "4"]);
    assert_eq!(by_model, text);
    let none = good(&["occupancy", "--arch", "gfx942", "--lds", "900K"]);
    golden("no workgroup fits", &none);
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(good(&["completions", shell]).contains("occupancy"), "{shell}");
    }
    assert!(good(&["man"]).contains(".TH rockhound 1"));
    for name in COMMANDS {
        let page = good(&["man", name]);
        assert!(page.contains(&format!(".TH rockhound-{name} 1")), "{page}");
    }
    assert!(good(&["man", "store", "add"]).contains(".TH rockhound-store-add 1"));
    let folder = crate::run::folder("manual");
    good(&["man", "--output", &folder.display().to_string()]);
    // Every page that a page names is there.
    for entry in std::fs::read_dir(&folder).unwrap().flatten() {
        let page = std::fs::read_to_string(entry.path()).unwrap().replace('\\', "");
        for (at, _) in page.match_indices("(1)") {
            let name = page[..at].rsplit(|it: char| !it.is_ascii_alphanumeric() && it != '-').next().unwrap();
            assert!(folder.join(format!("{name}.1")).is_file(), "{}: {name}", entry.path().display());
        }
    }
}

#[test]
fn a_run_reports_what_it_relied_on() {
    let report = crate::run::folder("run_report").join("fidelity.json");
    let path = report.display().to_string();
    let junit = report.with_extension("xml").display().to_string();
    let words = ["run", "--report", &path, "--junit", &junit, "--check", "races", "--", "sh", "-c", "exit 3"];
    let ran = rockhound(&words);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    // It fails, and calls no GPU; nothing was stopped and no mistake found.
    let tests = std::fs::read_to_string(&junit).unwrap();
    assert!(tests.contains("<testsuites tests=\"4\" failures=\"2\" errors=\"0\">"), "{tests}");
    let written: serde_json::Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    assert_eq!(crate::schema::Schema::of("fidelity-1").problems(&written), [""; 0]);
    assert_eq!((&written["exit_code"], &written["emulated"]), (&3.into(), &false.into()));
    let ran = rockhound(&["run", "--report", "/nowhere/x.json", "--", "sh", "-c", "true"]);
    assert!(ran.code != 0 && ran.stderr.contains("/nowhere/x.json"), "{}", ran.stderr);
}
