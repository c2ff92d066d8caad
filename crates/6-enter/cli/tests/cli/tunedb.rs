//! `rockhound tunedb` as its users run it.

use crate::run::{folder, good, rockhound};
use serde_json::Value;

const HEAD: &str = "Validator,PT_VERSION,2.9.1\nValidator,HIP_VERSION,702\nValidator,HIPBLASLT_VERSION,1\nValidator,GCN_ARCH_NAME,gfx942:xnack-\nValidator,ROCBLAS_VERSION,5\n";

fn write(path: &std::path::Path, rows: &str) -> String {
    std::fs::write(path, format!("{HEAD}{rows}")).expect("a file");
    path.display().to_string()
}

#[test]
fn show_lint_and_merge_results() {
    let folder = folder("tunedb");
    let a = write(
        &folder.join("r0.csv"),
        "GemmTunableOp_Half_TN,tn_4096_16_8,Gemm_Rocblas_1,0.5\nGemmTunableOp_Half_TN,tn_4096_16_8,Gemm_Rocblas_2,0.25\n",
    );
    let b = write(&folder.join("r1.csv"), "GemmTunableOp_Half_TN,tn_4096_32_8,Gemm_Rocblas_3,0.5\n");
    let shown = good(&["tunedb", "show", &a, "--width", "160"]);
    assert!(
        shown.contains("TunableOp results") && shown.contains("4096x16x8") && shown.contains("500.0"),
        "{shown}"
    );
    let json: Value = serde_json::from_str(&good(&["tunedb", "show", &a, "--format", "json"])).unwrap();
    assert_eq!((&json["schema"], &json["question"]), (&"rockhound.tunedb/1".into(), &"show".into()));
    assert_eq!(json["tables"][0]["rows"][1]["time_us"], 250.0);
    assert_eq!(json["tables"][0]["rows"][0]["gpu"], "gfx942");

    let lint = rockhound(&["tunedb", "lint", &a, "--gpu", "mi300x", "--fail-on", "TUN002"]);
    assert_eq!(lint.code, 2, "{lint:?}");
    assert!(
        lint.stdout.contains("severe  TUN002") && lint.stderr.contains("`--fail-on TUN002`: findings 1"),
        "{lint:?}"
    );
    let github = rockhound(&["tunedb", "lint", &a, "--format", "github"]).stdout;
    assert!(github.starts_with("::error file=") && github.contains(",line=6,title=TUN002::"), "{github}");
    let sarif: Value = serde_json::from_str(&good(&["tunedb", "lint", &a, "--format", "sarif"])).unwrap();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], 6);

    let out = folder.join("merged.csv").display().to_string();
    let report = good(&["tunedb", "merge", &a, &b, "-o", &out, "--explain"]);
    assert!(report.contains("faster") && report.contains("only one"), "{report}");
    let merged = std::fs::read_to_string(&out).unwrap();
    let expected = "GemmTunableOp_Half_TN,tn_4096_16_8,Gemm_Rocblas_2,0.25\nGemmTunableOp_Half_TN,tn_4096_32_8,Gemm_Rocblas_3,0.5\n";
    assert_eq!(merged, format!("{HEAD}{expected}"));
    let diff = good(&["tunedb", "diff", &a, &out]);
    assert!(diff.contains("other kernel, faster") && diff.contains("only in the new file"), "{diff}");
    let query = good(&["tunedb", "query", &a, "--mnk", "4096,16,8"]);
    assert!(query.contains("first row") && query.contains("Gemm_Rocblas_1"), "{query}");
    let advice = good(&["tunedb", "advise", &a]);
    assert!(
        advice.contains("PYTORCH_TUNABLEOP_TUNING=0") && advice.contains("hipblaslt-bench -m 4096"),
        "{advice}"
    );
}

#[test]
fn a_refused_merge_writes_nothing() {
    let folder = folder("tunedb-refused");
    let a = write(&folder.join("a.csv"), "GemmTunableOp_Half_TN,tn_8_8_8,A,1\n");
    let b = folder.join("b.csv").display().to_string();
    std::fs::write(&b, HEAD.replace("702", "701") + "GemmTunableOp_Half_TN,tn_8_8_8,B,1\n").unwrap();
    let out = folder.join("out.csv");
    std::fs::write(&out, "old").unwrap();
    let ran = rockhound(&["tunedb", "merge", &a, &b, "-o", &out.display().to_string()]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("HIP_VERSION is 702 and 701") && ran.stderr.contains("hint: "), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "old");
    let unknown = rockhound(&["tunedb", "show", "README.md"]);
    assert_eq!(unknown.code, 1, "{unknown:?}");
    assert!(unknown.stderr.contains("no tuning database that is known"), "{unknown:?}");
}
