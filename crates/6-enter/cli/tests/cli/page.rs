//! Reports opened in Chromium: used, judged by axe, and with names that a page must survive.

use crate::run::{folder, rockhound, root};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Looked for once: tests that installed it side by side would disturb each other.
static BROWSER: LazyLock<Result<(PathBuf, PathBuf), String>> = LazyLock::new(browser);

/// The browser and the folder of its driver, installed there by npm as the lock file says; or why there is
/// none.
fn browser() -> Result<(PathBuf, PathBuf), String> {
    let answers = |program: &str| {
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    // The driver asks for a path, not a name.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let chromium = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)))
        .find(|program| program.is_file());
    let chromium =
        chromium.ok_or("no Chromium is installed; `cargo xtask setup` installs `chromium-headless-shell`")?;
    if !(answers("node") && answers("npm")) {
        return Err("`node` and `npm` are not installed; `cargo xtask setup` installs them".to_owned());
    }
    let tests = root().join("tests/page");
    // Written by npm when all is installed.
    if !tests.join("node_modules/.package-lock.json").is_file() {
        let installed =
            Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&tests).output();
        if !installed.is_ok_and(|output| output.status.success()) {
            return Err("`npm ci` in tests/page does not work".to_owned());
        }
    }
    Ok((chromium, tests))
}

/// Opens reports; without a browser says so, and fails where everything has to be there.
fn opens(reports: &[(&str, PathBuf)]) {
    let (chromium, tests) = match &*BROWSER {
        Ok(found) => found,
        Err(reason) => {
            testkit::absent(reason, "`cargo xtask setup`");
            return;
        }
    };
    let mut command = Command::new("node");
    command.arg("page.mjs").arg(chromium).current_dir(tests);
    command.args(reports.iter().map(|(name, path)| format!("{name}={}", path.display())));
    let output = command.output().unwrap();
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("ok "), "{out}\n{errors}");
}

/// Runs the program to a good end.
fn done(arguments: &[&str]) {
    let ran = rockhound(arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
}

fn report(dir: &Path, name: &str, arguments: &[&str]) -> PathBuf {
    let path = dir.join(format!("{name}.html"));
    let to = path.display().to_string();
    done(&[&["report"], arguments, &["-o", &to]].concat());
    path
}

#[test]
fn reports_of_examples_and_recordings_are_usable() {
    let dir = folder("page-examples");
    let example = root().join("examples/heat3d").display().to_string();
    let mut reports = vec![
        ("heat3d", report(&dir, "heat3d", &[&example])),
        ("compared", report(&dir, "compared", &[&example, "--base", &example])),
    ];
    let recorded = dir.join("vector_copy");
    let (launch, recorded) = (
        root().join("examples/vector_copy/LAUNCH.toml").display().to_string(),
        recorded.display().to_string(),
    );
    done(&["profile", &launch, "--breakdown", "-o", &recorded]);
    reports.push(("emulated", report(&dir, "emulated", &[&recorded])));
    if let Some(shared) = testkit::shared("workloads") {
        for (name, path) in [("rocpd", "vcopy/MI300X_A1_rocpd"), ("mi200", "vcopy/MI200")] {
            reports.push((name, report(&dir, name, &[&shared.join(path).display().to_string()])));
        }
    }
    opens(&reports);
}

/// A recording with these kernels, one dispatch after the other.
fn recording(dir: &Path, kernels: &[String], dispatches: usize) -> String {
    let example = root().join("examples/heat3d");
    std::fs::copy(example.join("sysinfo.csv"), dir.join("sysinfo.csv")).unwrap();
    let mut text = String::from(
        "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,SQ_INSTS_VALU,TCC_HIT_sum,TCC_MISS_sum,GRBM_GUI_ACTIVE\n",
    );
    for dispatch in 0..dispatches {
        let name = kernels[dispatch % kernels.len()].replace('"', "\"\"");
        let start = dispatch * 10_000;
        let end = start + 1000 + 7 * (dispatch % 613);
        text += &format!(
            "{dispatch},0,65536,256,0,0,32,0,16,64,\"{name}\",{start},{end},1024,{},{},{},9000\n",
            40_000 + dispatch,
            500 + dispatch % 97,
            100 + dispatch % 31
        );
    }
    std::fs::write(dir.join("pmc_perf.csv"), text).unwrap();
    dir.display().to_string()
}

/// Names that a page must survive.
fn hostile() -> Vec<String> {
    [
        "<script>alert(1)</script>",
        "</script><img src=x onerror=alert(2)>",
        "\"><svg onload=alert(3)>",
        "'; alert(4); //",
        "{{ 7 * 7 }} ${alert(5)}",
        "\u{202e}txet tfel ot thgir",
        "مرحبا<int>(نواة)",
        "a|b|!c",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(["n".repeat(10_000)])
    .collect()
}

#[test]
fn hostile_names_stay_text() {
    let dir = folder("page-names");
    let names = hostile();
    let input = recording(&dir, &names, 27);
    let path = report(&dir, "names", &[&input]);
    let html = std::fs::read_to_string(&path).unwrap();
    for forbidden in ["<script>alert", "<img src=x", "<svg onload"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    opens(&[("names", path)]);
}

/// A trace with a thread, two streams and these names, as the profiler of PyTorch writes it.
fn trace(path: &Path, names: &[String]) -> String {
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let mut events = Vec::new();
    for at in 0..40 * names.len() {
        let (name, id, start) = (quoted(&names[at % names.len()]), at + 1, at * 100);
        events.push(format!(
            r#"{{"ph":"X","cat":"cpu_op","name":{name},"pid":1,"tid":{name},"ts":{start},"dur":40,"args":{{"External id":{id}}}}}"#
        ));
        events.push(format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":{name},"ts":{}.5,"dur":2,"args":{{"External id":{id},"correlation":{id}}}}}"#,
            start + 5
        ));
        events.push(format!(
            r#"{{"ph":"X","cat":"kernel","name":{name},"pid":2,"tid":0,"ts":{},"dur":{}.25,"args":{{"External id":{id},"device":0,"stream":{},"correlation":{id}}}}}"#,
            start + 20,
            10 + at % 50,
            at % 2
        ));
    }
    let text = format!(
        r#"{{"deviceProperties":[{{"id":0,"name":{},"numSms":304}}],"traceEvents":[{}]}}"#,
        quoted(&names[0]),
        events.join(",\n")
    );
    std::fs::write(path, text).unwrap();
    path.display().to_string()
}

#[test]
fn traces_are_usable() {
    let dir = folder("page-traces");
    let plain =
        trace(&dir.join("train.json"), &["Cijk_Ailk", "aten::add", "ncclDevKernel"].map(str::to_owned));
    let mut reports = vec![("trace", report(&dir, "trace", &[&plain]))];
    let evil = trace(&dir.join("<img src=x onerror=alert(6)>.json"), &hostile());
    reports.push(("trace-names", report(&dir, "names", &[&evil])));
    let html = std::fs::read_to_string(&reports[1].1).unwrap();
    for forbidden in ["<script>alert", "<img src=x", "<svg onload", "\u{202e}"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    reports.push(("trace-ranks", report(&dir, "ranks", &[&plain, &evil])));
    reports.push(("trace-compared", report(&dir, "compared", &[&plain, "--base", &plain])));
    // A recording whose folder holds a trace beside its counters shows it.
    let recorded = dir.join("recorded");
    std::fs::create_dir_all(&recorded).unwrap();
    let names = ["Cijk_Ailk", "aten::add"].map(str::to_owned);
    recording(&recorded, &names, 10);
    trace(&recorded.join("run.json"), &names);
    let path = report(&dir, "recorded", &[&recorded.display().to_string()]);
    let html = std::fs::read_to_string(&path).unwrap();
    assert!(html.contains("80 on the GPU"), "spans of run.json");
    assert!(html.contains("from <bdi>run.json</bdi>"));
    reports.push(("recorded", path));
    opens(&reports);
}

#[test]
fn many_kernels_and_dispatches_fit_a_page() {
    let dir = folder("page-large");
    let names: Vec<String> = (0..5000)
        .map(|at| format!("void gemm_kernel<float, {at}, {}>(float const*, float*, int)", at % 17))
        .collect();
    let input = recording(&dir, &names, 100_000);
    let path = report(&dir, "large", &[&input]);
    let bytes = path.metadata().unwrap().len();
    assert!(bytes < 15_000_000, "{bytes} bytes");
    opens(&[("large", path)]);
}
