//! `judge`: variants of a kernel with one seeded fault each, and variants that are right.

use crate::run::{folder, golden, root, run_in};
use crate::schema::Schema;

use serde_json::Value;
use std::path::Path;

/// A kernel whose results depend on global memory, LDS, barriers and the size.
const BASE: &str = r#"#include "kernel.h"
GLOBAL void smooth(const float* x, float* y, float* sums, int n) {
  SHARED static float tile[256];
  SHARED static float more[256];
  unsigned t = thread(), i = block() * 256 + t;
  float v = i < n ? x[i] : 0.0f;
  tile[t] = v;
  if (t < 128) more[t] = v;
  barrier();
  if (i < n) y[i] = v + 0.5f * tile[(t + 1) & 255] + 0.0f * more[t & 127];
  for (unsigned s = 128; s > 0; s /= 2) {
    barrier();
    if (t < s) tile[t] += tile[t + s];
    barrier();
  }
  if (t == 0) sums[block()] = tile[0];
}
"#;

const LAUNCH: &str = "code = \"none.hsaco\"\nkernel = \"smooth\"\ngpu = \"mi300x\"\ngrid = [{(N + 255) // 256 * 256}]\nworkgroup = [256]\n[[argument]]\nname = \"x\"\ntype = \"f32\"\nshape = [{N}]\ninitial = \"random\"\n[[argument]]\nname = \"y\"\ntype = \"f32\"\nshape = [{N}]\n[[argument]]\nname = \"sums\"\ntype = \"f32\"\nshape = [{(N + 255) // 256}]\n[[argument]]\nname = \"n\"\ntype = \"i32\"\nvalue = {N}\n";

/// Name, what is replaced in the base and by what, verdict, a part of the grounds: rule, buffer, place.
const VARIANTS: [(&str, &str, &str, &str, &str); 18] = [
    ("off_by_one", "x[i] :", "x[i ? i - 1 : 0] :", "wrong", "element 0 of `y`"),
    ("race", "    barrier();\n    if", "    if", "unsafe", "CHK001"),
    ("missing_mask", "if (i < n) y[i]", "y[i]", "unsafe", "allocation"),
    ("stale", "if (i < n) y", "if (i < n && t != 77) y", "unsafe", "element 77 of `y`"),
    ("one_shape", "i < n ?", "i < (n & ~63) ?", "wrong", "element 959 of `y`"),
    ("uninitialised", "more[t & 127]", "more[t]", "unsafe", "CHK003"),
    ("cheat", "0.5f *", "0.4999f *", "wrong", "differ"),
    ("constant", "v + 0.5f * tile[(t + 1) & 255]", "0.75f", "wrong", "base"),
    ("past_end", "? x[i]", "? x[i + (i == n - 1 ? 4096 : 0)]", "unsafe", "allocation"),
    (
        "order",
        "sums[block()] = tile[0];",
        "{ __hip_atomic_exchange((unsigned*)&sums[block()], __builtin_bit_cast(unsigned, tile[0]), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); __hip_atomic_fetch_add(&sums[block() & ~1u], tile[0] * 1e-6f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }",
        "unsafe",
        "workgroups",
    ),
    ("hang", "tile[t] = v;", "tile[t] = v; while (true) __builtin_amdgcn_s_sleep(1);", "hangs", "loop"),
    ("writes_input", "tile[t] = v;", "tile[t] = v; if (i < n) ((float*)x)[i] = 0.0f;", "unsafe", "`x`"),
    ("same", "", "", "not_faster", "equal"),
    ("commuted", "v + 0.5f * tile[(t + 1) & 255]", "0.5f * tile[(t + 1) & 255] + v", "not_faster", ""),
    ("unsigned", "int n)", "unsigned n)", "not_faster", ""),
    ("more_barriers", "tile[t] = v;", "barrier(); tile[t] = v; barrier();", "not_faster", ""),
    (
        "more_work",
        "tile[t] = v;",
        "tile[t] = v; float w = v; for (int k = 0; k < 999; k++) w = w * 1.01f + 1.0f; if (w == 1234.5f) tile[t] = w;",
        "slower",
        "vector instructions",
    ),
    ("other_sum", "tile[t] += tile[t + s];", "tile[t] = tile[t + s] + tile[t];", "not_faster", ""),
];

fn judged(dir: &Path, arguments: &[&str]) -> (i32, Value) {
    let ran = run_in(
        dir,
        &[&["judge", "--launch", "LAUNCH.toml", "base.hip", "--format", "json"], arguments].concat(),
    );
    let value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
    assert_eq!(Schema::of("judge-1").problems(&value), [""; 0]);
    (ran.code, value)
}

fn prepared(name: &str) -> std::path::PathBuf {
    let dir = folder(name);
    std::fs::write(dir.join("LAUNCH.toml"), LAUNCH).unwrap();
    std::fs::write(dir.join("base.hip"), BASE).unwrap();
    std::fs::copy(root().join("examples/judge/kernel.h"), dir.join("kernel.h")).unwrap();
    dir
}

#[test]
fn seeded_faults_are_refused_for_their_reason_and_right_ones_pass() {
    let dir = prepared("judge-variants");
    let mut files = Vec::new();
    for (name, from, to, ..) in VARIANTS {
        assert!(BASE.contains(from), "{name}");
        let file = format!("{name}.hip");
        std::fs::write(
            dir.join(&file),
            if from.is_empty() { BASE.to_owned() } else { BASE.replacen(from, to, 1) },
        )
        .unwrap();
        files.push(file);
    }
    let mut arguments = vec!["--shape", "N=4096", "--shape", "N=1000"];
    arguments.extend(files.iter().map(String::as_str));
    let (code, value) = judged(&dir, &arguments);
    assert_eq!(code, 2);
    assert_eq!(value["cases"], 6);
    let candidates = value["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), VARIANTS.len());
    for ((name, _, _, verdict, word), it) in VARIANTS.iter().zip(candidates) {
        assert_eq!(it["verdict"], *verdict, "{name}: {it}");
        assert!(it["because"].as_str().unwrap().contains(word), "{name}: {it}");
    }
    assert_eq!(candidates[4]["inputs"], "N=1000, seed 0");
    // The same again, to the byte.
    assert_eq!(judged(&dir, &arguments).1, value);
}

#[test]
fn one_right_candidate_is_a_short_answer_and_claims_are_checked() {
    let dir = prepared("judge-one");
    std::fs::write(dir.join("same.hip"), BASE).unwrap();
    let (code, value) = judged(&dir, &["same.hip", "--shape", "N=4096"]);
    assert_eq!((code, &value["candidates"][0]["verdict"]), (0, &"not_faster".into()));
    assert!(value.to_string().len() < 2048, "{value}");
    for (claim, code, verdict) in
        [("0", 2, "impossible"), ("0.0001", 2, "impossible"), ("9", 0, "not_faster")]
    {
        let (ended, value) = judged(&dir, &["same.hip", "--shape", "N=4096", "--claim", claim]);
        assert_eq!((ended, &value["candidates"][0]["verdict"]), (code, &verdict.into()), "{claim}");
    }
    assert_eq!(judged(&dir, &["same.hip", "--shape", "N=4096", "--fail-on", "JDG004"]).0, 2);
}

#[test]
fn what_cannot_be_judged_is_refused() {
    let dir = prepared("judge-refused");
    std::fs::write(dir.join("broken.hip"), "nothing").unwrap();
    std::fs::write(dir.join("bench.py"), "").unwrap();
    std::fs::write(dir.join("wrong.hip"), BASE.replace("? x[i]", "? x[i + 9999]")).unwrap();
    let judge = |arguments: &[&str]| {
        let ran = run_in(&dir, &[&["judge"], arguments].concat());
        (ran.code, ran.stdout.is_empty())
    };
    // What is wrong is said in a line, and nothing about files that are right.
    let ran = run_in(&dir, &["judge", "--launch", "LAUNCH.toml", "base.hip", "wrong.hip", "--shape", "M=8"]);
    assert_eq!(ran.code, 1);
    ran.golden("a shape without a value");
    for arguments in [
        &["base.hip", "wrong.hip"][..],
        &["--launch", "LAUNCH.toml", "base.hip", "wrong.hip"],
        &["--launch", "LAUNCH.toml", "wrong.hip", "base.hip", "--shape", "N=4096"],
        &["--launch", "LAUNCH.toml", "base.hip", "bench.py", "--shape", "N=4096"],
        &["--launch", "LAUNCH.toml", "base.hip", "wrong.hip", "--shape", "N"],
        &["--launch", "LAUNCH.toml", "base.hip", "--variants", "none", "--shape", "N=4096"],
        &["--launch", "LAUNCH.toml", "base.hip", "base.hip", "--shape", "N=4096", "--claim", "fast"],
        &["--launch", "LAUNCH.toml", "base.hip", "base.hip", "--shape", "N=4096", "--rounds", "9"],
        &["--launch", "LAUNCH.toml", "base.hip", "base.hip", "--shape", "N=4096", "--on", "gpu"],
    ] {
        let (code, is_silent) = judge(arguments);
        assert!((code == 1 || code == 64) && is_silent, "{arguments:?}: {code}");
    }
    // A candidate's launch file may not choose another GPU, and nothing of the base is lost where all candidates fail.
    std::fs::write(dir.join("other.toml"), LAUNCH.replace("mi300x", "mi210")).unwrap();
    let (code, value) = judged(&dir, &["other.toml", "--shape", "N=4096"]);
    assert_eq!((code, &value["candidates"][0]["verdict"]), (1, &"not_run".into()), "{value}");
    assert!(value["base_us"].as_f64().is_some_and(|it| it > 0.0), "{value}");
    // One that does not compile is named, and the others are judged.
    let (code, value) = judged(&dir, &["broken.hip", "base.hip", "--shape", "N=4096"]);
    assert_eq!((code, &value["candidates"][0]["verdict"]), (1, &"not_run".into()), "{value}");
    assert_eq!(value["candidates"][1]["verdict"], "not_faster");
}

/// A script with a kernel of Triton; what is replaced in it, and what is expected.
const SCRIPT: &str = r#"import sys
import torch, triton
import triton.language as tl

@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, at < n), at < n)

n = int(sys.argv[1])
torch.manual_seed(0)
x = torch.rand(n, device="cuda")
y = torch.empty_like(x)
scale[(triton.cdiv(n, 256),)](x, y, n, BLOCK=256)
assert y.shape == x.shape
print(y.cpu().sum())
"#;

#[test]
fn scripts_are_compared_by_tensors_that_reach_the_cpu() {
    let Some(python) = testkit::python_with_torch() else { return };
    let dir = folder("judge_scripts");
    std::fs::write(dir.join("base.py"), SCRIPT).unwrap();
    let cases = [
        ("wide.py", "BLOCK=256", "BLOCK=256, num_warps=2", None),
        ("wrong.py", "2 * tl", "2.01 * tl", Some(("wrong", "(as f32)"))),
        ("short.py", "triton.cdiv(n, 256)", "n // 256", Some(("unsafe", ""))),
        ("fails.py", "assert y.shape == x.shape", "assert False, 'own-check'", Some(("wrong", "own-check"))),
        ("silent.py", "print(y.cpu().sum())", "torch.cuda.synchronize()", Some(("wrong", "0 copies"))),
    ];
    let mut words = vec!["judge", "base.py"];
    for (name, from, to, _) in &cases {
        assert!(SCRIPT.contains(from), "{name}");
        std::fs::write(dir.join(name), SCRIPT.replace(from, to)).unwrap();
        words.push(name);
    }
    let python = python.display().to_string();
    words.extend(["--python", &python, "--format", "json", "--", "1000"]);
    let ran = run_in(&dir, &words);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(Schema::of("judge-1").problems(&answer), [""; 0]);
    for ((name, _, _, expected), candidate) in cases.iter().zip(answer["candidates"].as_array().unwrap()) {
        assert_eq!(candidate["name"], *name);
        let verdict = candidate["verdict"].as_str().unwrap();
        match expected {
            Some((expected, part)) => {
                assert_eq!(verdict, *expected, "{candidate}");
                assert!(candidate["because"].as_str().unwrap().contains(part), "{candidate}");
            }
            None => assert!(["slower", "not_faster", "faster"].contains(&verdict), "{candidate}"),
        }
    }
}

/// A kernel that reads floats at places, adds sizes of rows and writes floats.
const GATHER: &str = r#"#include "kernel.h"
GLOBAL void gather(const float* x, const int* places, const int* rows, float* y) {
  unsigned i = block() * 64 + thread();
  y[i] = x[places[i]] * 0.7f + (float)(rows[i + 1] - rows[i]);
}
"#;
const COMPUTED: &str = "y[i] = x[places[i]] * 0.7f + (float)(rows[i + 1] - rows[i]);";

/// The launch file of a launch whose output the launch before has written already, and its files.
fn captured(dir: &Path) -> Vec<f32> {
    let bytes = |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
    let x: Vec<f32> = (0..256).map(|it| 0.25 + (it * 37 % 256) as f32 / 11.0).collect();
    let places: Vec<u32> = (0..256).map(|it| it * 29 % 128).collect();
    let rows: Vec<u32> = (0..257).map(|it| it * it / 9).collect();
    let one = |i: usize| x[places[i] as usize].mul_add(0.7, (rows[i + 1] - rows[i]) as f32);
    let y: Vec<f32> = (0..256).map(one).collect();
    let of = |floats: &[f32]| bytes(&floats.iter().map(|it| it.to_bits()).collect::<Vec<_>>());
    let mut launch =
        "code = \"none.hsaco\"\nkernel = \"gather\"\ngpu = \"mi300x\"\ngrid = [256]\nworkgroup = [64]\n"
            .to_owned();
    for (name, kind, data) in [
        ("x", "f32", of(&x)),
        ("places", "i32", bytes(&places)),
        ("rows", "i32", bytes(&rows)),
        ("y", "f32", of(&y)),
    ] {
        let (file, count) = (format!("{name}.bin"), data.len() / 4);
        std::fs::write(dir.join(&file), data).unwrap();
        launch += &format!(
            "[[argument]]\nname = \"{name}\"\ntype = \"{kind}\"\nshape = [{count}]\nfile = \"{file}\"\n"
        );
    }
    std::fs::write(dir.join("LAUNCH.toml"), launch).unwrap();
    y
}

#[test]
fn candidates_that_know_the_captured_results_are_found() {
    let dir = prepared("judge-captured");
    let y = captured(&dir);
    let words: Vec<String> = y.iter().map(|it| format!("{it:?}f")).collect();
    let known = format!("static const float known[256] = {{{}}}; y[i] = known[i];", words.join(", "));
    let variants = [
        ("right", "y[i] = (float)(rows[i + 1] - rows[i]) - x[places[i]] * -0.7f;", "not_faster"),
        ("last_bits", "y[i] = (x[places[i]] + (float)(rows[i + 1] - rows[i]) / 0.7f) * 0.7f;", ""),
        ("known", &known, "wrong"),
        ("stale", "if (places[i] > 9999) y[i] = 0;", "unsafe"),
    ];
    std::fs::write(dir.join("base.hip"), GATHER).unwrap();
    for (name, text, _) in &variants {
        std::fs::write(dir.join(format!("{name}.hip")), GATHER.replace(COMPUTED, text)).unwrap();
    }
    let files: Vec<String> = variants.iter().map(|it| format!("{}.hip", it.0)).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let (code, value) = judged(&dir, &files);
    assert_eq!((code, &value["cases"]), (2, &3.into()), "{value}");
    for ((name, _, verdict), it) in variants.iter().zip(value["candidates"].as_array().unwrap()) {
        let found = it["verdict"].as_str().unwrap();
        match *verdict {
            "wrong" => assert_eq!((found, &it["inputs"]), ("wrong", &"seed 1".into()), "{name}: {it}"),
            // The results of the launch before are there: this one is found by what the buffer held.
            "unsafe" => {
                assert!(found == "unsafe" && it["because"].as_str().unwrap().contains("`y` depends"), "{it}")
            }
            _ => assert!(["slower", "not_faster", "faster"].contains(&found), "{name}: {it}"),
        }
    }
    let note = |value: &Value| {
        (value["notes"][0]["kind"].clone(), value["notes"][0]["text"].as_str().unwrap().to_owned())
    };
    let (kind, text) = note(&value);
    assert_eq!(kind, "info", "{text}");
    golden("contents that change", &text);
    // One set of inputs, or none but the captured one: nothing is found, and the answer says so.
    let keep = ["known.hip", "--keep", "x", "--keep", "y", "--keep", "places"];
    for arguments in [&keep[..], &["known.hip", "--seeds", "1"]] {
        let (code, value) = judged(&dir, arguments);
        let (kind, text) = note(&value);
        assert_eq!((code, &kind), (0, &"warning".into()), "{value}");
        golden(&arguments.join(" "), &text);
    }
    // A base that leaves its buffers with other integers: floats alone change.
    let apart = GATHER.replace("x[places[i]]", "x[(places[i] - (int)(i * 29 % 128)) * 999999]");
    for name in ["base", "right"] {
        std::fs::write(dir.join(format!("{name}.hip")), &apart).unwrap();
    }
    let (code, value) = judged(&dir, &["right.hip"]);
    let (kind, text) = note(&value);
    assert_eq!((code, &kind), (0, &"info".into()), "{value}");
    golden("floats that change", text.split(": load of").next().unwrap());
}

#[test]
fn a_source_is_code_wherever_code_is_read() {
    let dir = folder("judge-source");
    let source = "#include <hip/hip_runtime.h>\n#include <math.h>\n__global__ void norm(const float* x, float* y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = rsqrtf(x[i] + 1.0f);\n}\n";
    std::fs::write(dir.join("norm.hip"), source).unwrap();
    let ran = run_in(&dir, &["inspect", "norm.hip", "--arch", "gfx90a", "--format", "json"]);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    assert_eq!((&value["kernels"][0]["target"], ran.code), (&"gfx90a".into(), 0), "{}", ran.stderr);
    // Inputs have contents in a template, outputs have none.
    let ran = run_in(&dir, &["launch-template", "norm.hip"]);
    let template = ran.stdout.replace("1048576", "{N}").replace("value = 1\n", "value = {N}\n");
    assert_eq!(template.matches("\ninitial = \"random\"").count(), 1, "{template}{}", ran.stderr);
    std::fs::write(dir.join("LAUNCH.toml"), template).unwrap();
    let profile = |more: &[&str]| {
        run_in(&dir, &[&["profile", "LAUNCH.toml", "-o", "recording", "--overwrite"], more].concat())
    };
    let ran = profile(&[]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    ran.golden("a source without a shape");
    let ran = profile(&["--shape", "N=4096"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let about = std::fs::read_to_string(dir.join("recording/sysinfo.csv")).unwrap();
    assert!(about.contains("--shape N=4096"), "{about}");
    std::fs::write(dir.join("short.hip"), source.replace("i < n", "i < n - 1")).unwrap();
    let ran = run_in(
        &dir,
        &[
            "judge",
            "LAUNCH.toml",
            "short.hip",
            "--launch",
            "LAUNCH.toml",
            "--shape",
            "N=4096",
            "--format",
            "json",
        ],
    );
    let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    assert_eq!(value["candidates"][0]["verdict"], "unsafe", "{value}");
    // Host code needs what is not here; a mistake is named with its line.
    for (text, part) in [
        (source.replace("y[i] =", "y[j] ="), "norm.hip:5:"),
        ("#include \"absent.h\"\n".to_owned(), "absent.h"),
    ] {
        std::fs::write(dir.join("norm.hip"), text).unwrap();
        let ran = run_in(&dir, &["inspect", "norm.hip"]);
        assert!(ran.code == 1 && ran.stderr.contains(part), "{}", ran.stderr);
    }
}
