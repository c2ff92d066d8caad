//! Rules that fire on tuning files: small files of this repository for each rule, and the counts in the
//! shared data's notes.
//!
//! Each rule has a file on which it fires and a near miss on which it must not.

use rockhound_rules::{TuneMachine, TuningEvidence, check_tunings};
use std::collections::BTreeSet;
use tunedb::Tunings;
use view::{Finding, Severity};

const HEAD: &str = "Validator,PT_VERSION,2.9.1\nValidator,HIP_VERSION,702\nValidator,HIPBLASLT_VERSION,1\nValidator,GCN_ARCH_NAME,gfx942:xnack-\nValidator,ROCBLAS_VERSION,5\n";
const AITER: &str = "gfx,cu_num,M,N,K,q_dtype_w,kernelId,splitK,us,kernelName,tflops,bw,errRatio\n";
const RECORD: &str = "16-13-13-1x1-5-13-13-16-0x0-1x1-1x1-0-NCHW-FP16-B=";
const LOGIC: &str = "- {MinimumRequiredVersion: 4.33.0}\n- aldebaran\n- gfx90a\n- [Device 0050]\n- DataType: 4\n- - DepthU: 16\n    SolutionIndex: 0\n  - DepthU: 32\n    SolutionIndex: 1\n- [2, 3, 0, 1]\n- - - [77, 4096, 16, 40]\n    - [0, 9.5]\n  - - [78, 4096, 16, 40]\n    - [1, 9.5]\n- null\n- null\n- DeviceEfficiency\n- Equality\n";

fn machine() -> TuneMachine {
    TuneMachine {
        target: Some("gfx942".to_owned()),
        cu_count: Some(304),
        model: Some("mi300x".to_owned()),
        ..TuneMachine::default()
    }
}

fn check(
    files: &[(&str, String)],
    machine: Option<&TuneMachine>,
    catalogue: Option<&BTreeSet<String>>,
) -> Vec<Finding> {
    let owned: Vec<(String, String)> =
        files.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect();
    let tunings: Vec<Tunings<'_>> = owned
        .iter()
        .map(|(name, text)| {
            tunedb::read(name, text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"))
        })
        .collect();
    let (findings, _) = check_tunings(&TuningEvidence { files: &tunings, machine, catalogue });
    crate::words::are_well_said(&findings);
    findings
}

/// A rule, files that are linted together, lines on which it fires.
type Case<'a> = (&'static str, Vec<(&'a str, String)>, &'static [u32]);

/// Lines of the main places of a rule's findings.
fn lines(findings: &[Finding], rule: &str) -> Vec<u32> {
    let of = findings.iter().filter(|it| it.rule == rule);
    of.map(|it| it.places[0].source.as_ref().expect("a file").line).collect()
}

#[test]
fn each_rule_fires_where_it_should_and_not_beside() {
    let row =
        |k: u32, kernel: &str, ms: &str| format!("GemmTunableOp_Half_TN,tn_4096_4096_{k},{kernel},{ms}\n");
    let results = |rows: &str| format!("{HEAD}{rows}");
    let tuning = |lead: &str| {
        format!(
            "Git Version: 7d9f\n    transA,transB,batch_count,m,n,k,lda,a_type,b_type,c_type,compute_type,us,solution_index\n    T,N,1,5,6,7,7,f32_r,f32_r,f32_r,f32_r,29.3,1\n    T,N,1,5,6,7,{lead},f32_r,f32_r,f32_r,f32_r,19.3,2\n"
        )
    };
    let moe = |tokens: &[u32]| {
        let entries: Vec<String> =
            tokens.iter().map(|it| format!("\"{it}\": {{\"BLOCK_SIZE_M\": 16}}")).collect();
        format!("{{{}}}", entries.join(",\n"))
    };
    // A column that is ten times too large in ten rows, and one row of another kind.
    let mut ten_times = AITER.to_owned();
    for k in 1..=10 {
        ten_times.push_str(&format!(
            "gfx942,304,4096,4096,{},torch.int8,1,0,100.0,k,{:.1},0,0\n",
            512 * k,
            1718.0 * f64::from(k)
        ));
    }
    ten_times.push_str("gfx942,304,4096,4096,64,torch.int8,1,0,100.0,k,400.0,0,0\n");
    let sold = "E=384,N=256,device_name=AMD_Instinct_MI300X,dtype=int4_w4a16.json";
    let asked = |device: &str| {
        format!(
            "INFO: start\nConfig file not found at /s/E=384,N=256,device_name={device},dtype=int4_w4a16.json\n"
        )
    };
    // The second of two configurations, with its time and its value.
    let cache = |time: &str, x: u32| {
        format!(
            "{{\"kernel_name\": \"k\", \"tune_params_keys\": [\"x\"], \"tune_params\": {{\"x\": [1, 2]}}, \"cache\": {{\n\"1\": \
             {{\"x\": 1, \"time\": 1.0}},\n\"{x}\": {{\"x\": {x}, \"time\": {time}}}}}}}\n"
        )
    };
    let tile = |m: u32, n: u32, k: u32, stages: u32| {
        format!(
            "{{\"1\": {{\"BLOCK_SIZE_M\": {m}, \"BLOCK_SIZE_N\": {n}, \"BLOCK_SIZE_K\": {k}, \"num_warps\": 8, \"num_stages\": {stages}}}}}"
        )
    };
    let rocblas = |default: f64, other: f64| {
        format!(
            "transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,ldd,batch_count,rocblas-Gflops,rocblas-GB/s,us,solution_index\nN,N,4096,64,4096,1,4096,0,4096,4096,4096,1,1,1,{default},0\nN,N,4096,64,4096,1,4096,0,4096,4096,4096,1,1,1,{other},18743\n"
        )
    };
    // One group of a configuration of TensileLite.
    let tensile = |edge: u32, mapping: &str, more: &str| {
        format!(
            "GlobalParameters:\n  DataInitTypeA: 1{more}\nBenchmarkProblems:\n  -\n    - DataType: b\n      TransposeA: 1\n    - ForkParameters:\n        - MatrixInstruction:\n          - [{edge}, {edge}, 8, 1, 1, 4, 4, 2, 2]\n        - WorkGroupMapping: {mapping}\n      BenchmarkFinalParameters:\n        - ProblemSizes:\n          - Exact: [128, 128, 1, 128]\n"
        )
    };
    let half = |types: &str| tensile(16, "[8]", "2").replace("DataType: b", types);
    let instances = |edge: u32| {
        let line = |n: u32| {
            format!(
                "Perf: 0.{n} ms, 1 TFlops, 1 GB/s, DeviceGemmXdl<256, 128, {n}, 4, 8, {edge}, 32, 4, 2>\n"
            )
        };
        format!("{}{}{}", line(16), line(32), line(64))
    };
    let bench = |lead: u32| {
        format!(
            "transA,transB,batch_count,m,n,k,lda,ldb,ldc,ldd,a_type,b_type,c_type,d_type,compute_type,hipblaslt-Gflops,hipblaslt-GB/s,us\nT,N,1,4096,4096,4096,{lead},{lead},4096,4096,f16_r,f16_r,f16_r,f16_r,f32_r,1,1,500.0\n"
        )
    };
    let validated = |norm: &str| {
        bench(4224).replace(",us\n", ",us,norm_error\n").replace(",500.0\n", &format!(",500.0,{norm}\n"))
    };
    let compared =
        |line: &str| format!("{line}\nPerf: 0.4 ms, 529.8 TFlops, 1200 GB/s, DeviceGemmXdlUniversal\n");
    let driven = |line: &str| {
        format!(
            "MIOpenDriver conv -n 4 -c 8 -H 20 -W 20 -k 8 -y 1 -x 1 -F 1\nGPU Kernel Time Forward Conv. Elapsed: 0.02 ms (average)\n{line}\n"
        )
    };
    let table: Vec<Case<'_>> = vec![
        ("TUN028", vec![("bench.log", validated("nan"))], &[2]),
        ("TUN028", vec![("bench.log", validated("0.93"))], &[2]),
        ("TUN028", vec![("bench.log", validated("0.01"))], &[]),
        (
            "TUN028",
            vec![("ck.log", compared("max err: 81, number of errors: 113, 96.3% wrong values"))],
            &[1],
        ),
        ("TUN028", vec![("ck.log", compared("found 24 instances"))], &[]),
        ("TUN028", vec![("miopen.log", driven("Forward Convolution FAILED: 0.257789 > 0.082"))], &[3]),
        (
            "TUN028",
            vec![("miopen.log", driven("Forward Convolution Verifies OK on GPU reference (0.0001 < 0.082)"))],
            &[],
        ),
        ("TUN023", vec![("c.yaml", tensile(32, "[8]", "2"))], &[7]),
        ("TUN023", vec![("c.yaml", tensile(16, "[8]", "2"))], &[]),
        ("TUN023", vec![("ck.log", instances(32))], &[1]),
        ("TUN023", vec![("ck.log", instances(16))], &[]),
        ("TUN024", vec![("c.yaml", tensile(16, "[1, 4, 12]", "2"))], &[7]),
        ("TUN024", vec![("c.yaml", tensile(16, "[1, 24]", "2"))], &[]),
        ("TUN025", vec![("bench.log", bench(4096))], &[2]),
        ("TUN025", vec![("bench.log", bench(4224 + 8))], &[]),
        ("TUN026", vec![("c.yaml", tensile(16, "[8]", ""))], &[0]),
        ("TUN026", vec![("c.yaml", tensile(16, "[8]", "2"))], &[]),
        ("TUN026", vec![("c.yaml", tensile(16, "[8]", "2\n  DataInitTypeAB: 0"))], &[0]),
        ("TUN027", vec![("c.yaml", half("DataType: h"))], &[13]),
        ("TUN027", vec![("c.yaml", half("DataType: b"))], &[]),
        ("TUN001", vec![("a.csv", results(&row(8, "A", "1")))], &[]),
        (
            "TUN001",
            vec![("a.csv", results(&row(8, "A", "1")).replace("Validator,ROCBLAS_VERSION,5\n", ""))],
            &[4],
        ),
        ("TUN001", vec![("a.csv", format!("Validator,CU_COUNT,304\n{}", results(&row(8, "A", "1"))))], &[1]),
        ("TUN001", vec![("a.csv", results(&row(8, "A", "1")).replace("gfx942", "gfx950"))], &[4]),
        ("TUN002", vec![("a.csv", results(&(row(8, "A", "1") + &row(8, "B", "0.5"))))], &[6]),
        ("TUN002", vec![("a.csv", results(&(row(8, "A", "1") + &row(9, "B", "0.5"))))], &[]),
        (
            "TUN002",
            vec![
                ("a_tuned_gemm.csv", format!("{AITER}gfx942,304,1,2,3,torch.int8,1,0,5.0,k,0,0,0\n")),
                ("b_tuned_gemm.csv", format!("{AITER}gfx942,304,1,2,3,torch.int8,1,0,5.5,k,0,0,0\n")),
            ],
            &[2],
        ),
        (
            "TUN002",
            vec![(
                "a_tuned_gemm.csv",
                format!(
                    "{AITER}gfx942,304,1,2,3,torch.int8,1,0,5.0,k,0,0,0\ngfx942,80,1,2,3,torch.int8,1,0,5.0,k,0,0,0\n"
                ),
            )],
            &[],
        ),
        (
            "TUN003",
            vec![(
                "a_tuned_gemm.csv",
                format!(
                    "{AITER}gfx942,304,4096,4096,4096,torch.int8,1,0,100.0,k,1374.4,0,0\ngfx942,304,4096,4096,2048,torch.int8,1,0,100.0,k,1374.4,0,0\n"
                ),
            )],
            &[3],
        ),
        ("TUN003", vec![("a_tuned_gemm.csv", ten_times)], &[2, 12]),
        ("TUN004", vec![("a.csv", results(&(row(4096, "A", "0.2") + &row(8192, "B", "0.002"))))], &[7]),
        ("TUN005", vec![("a.csv", results(&(row(8, "A", "1") + &row(9, "Default", "0"))))], &[7]),
        ("TUN005", vec![("a.csv", results(&row(8, "A", "1")))], &[]),
        ("TUN006", vec![("a.csv", results(&row(8, "A", "1")).replace('\n', "\r\n"))], &[1]),
        ("TUN006", vec![("a.csv", results(&format!("\n{}", row(8, "A", "1"))))], &[6]),
        ("TUN007", vec![("a.csv", results("GemmTunableOp_Half_TN,nt_8_8_8,A,1\n"))], &[6]),
        ("TUN007", vec![("a.csv", results(&row(8, "A", "1")))], &[]),
        (
            "TUN008",
            vec![("a_tuned_gemm.csv", format!("{AITER}gfx942,80,1,2,3,torch.int8,1,0,5.0,k,0,0,0\n"))],
            &[2],
        ),
        (
            "TUN008",
            vec![("a_tuned_gemm.csv", format!("{AITER}gfx942,304,1,2,3,torch.int8,1,0,5.0,k,0,0,0\n"))],
            &[],
        ),
        (
            "TUN009",
            vec![
                ("E=1,N=2,device_name=X,block_shape=[128,128].json", moe(&[1])),
                ("E=1,N=2,device_name=X,block_shape=[128, 128].json", moe(&[2])),
            ],
            &[0],
        ),
        (
            "TUN009",
            vec![("E=1,N=2,device_name=X.json", moe(&[1])), ("E=1,N=4,device_name=X.json", moe(&[2]))],
            &[],
        ),
        ("TUN010", vec![("E=1,N=2,device_name=X.json", moe(&[64, 8192]))], &[1]),
        ("TUN010", vec![("E=1,N=2,device_name=X.json", moe(&[1, 8192]))], &[]),
        (
            "TUN011",
            vec![("r0.csv", results(&row(8, "A", "1"))), ("r1.csv", results(&row(8, "B", "1")))],
            &[6],
        ),
        ("TUN011", vec![("r0.csv", results(&row(8, "A", "1"))), ("r1.csv", results(&row(8, "A", "1")))], &[]),
        (
            "TUN012",
            vec![
                (
                    "gfx942130.HIP.fdb.txt",
                    format!(
                        "{RECORD}A:1,0,miopenConvolutionBwdDataAlgoGEMM;B:2,0,miopenConvolutionBwdDataAlgoGEMM\n"
                    ),
                ),
                ("gfx942130.HIP.ufdb.txt", format!("{RECORD}A:1,0,miopenConvolutionBwdDataAlgoGEMM\n")),
            ],
            &[1],
        ),
        (
            "TUN013",
            vec![(
                "gfx942130.HIP.fdb.txt",
                format!(
                    "{RECORD}A:1,0,miopenConvolutionBwdDataAlgoGEMM;A:0.5,0,miopenConvolutionBwdDataAlgoGEMM\n"
                ),
            )],
            &[1],
        ),
        (
            "TUN013",
            vec![(
                "gfx942130.HIP.fdb.txt",
                format!("{RECORD}miopenConvolutionBwdDataAlgoGEMM:A,1,0,MIOpenGEMM,<unused>\n").repeat(3),
            )],
            &[1],
        ),
        (
            "TUN014",
            vec![(
                "a.csv",
                results(
                    &(row(8, "Gemm_Rocblas_7", "1")
                        + &row(9, "Gemm_Rocblas_8", "1")
                        + &row(10, "Default", "1")),
                ),
            )],
            &[7],
        ),
        ("TUN015", vec![("tuning.txt", tuning("8"))], &[3]),
        ("TUN015", vec![("tuning.txt", tuning("7"))], &[]),
        ("TUN016", vec![("tuning.txt", tuning("8"))], &[1]),
        ("TUN016", vec![("a.csv", results(&row(8, "A", "1")))], &[]),
        ("TUN017", vec![("l.yaml", LOGIC.to_owned())], &[]),
        ("TUN017", vec![("l.yaml", LOGIC.replace("[1, 9.5]", "[2, 9.5]"))], &[13, 8]),
        // The log asks for a virtual function's name; the file has the name as sold, or that very name.
        ("TUN018", vec![("server.log", asked("AMD_Instinct_MI300X_VF")), (sold, moe(&[1]))], &[2]),
        ("TUN018", vec![("server.log", asked("AMD_Instinct_MI325X")), (sold, moe(&[1]))], &[2]),
        ("TUN018", vec![(sold, moe(&[1]))], &[0]),
        ("TUN018", vec![("E=384,N=256,device_name=X.json", moe(&[1]))], &[]),
        // 64 x 128 and 128 x 128 elements of 16 bits are 48 KiB; of 8 bits half of it.
        ("TUN019", vec![("E=16,N=1024,device_name=AMD_Instinct_MI300X.json", tile(64, 128, 128, 3))], &[1]),
        ("TUN019", vec![("E=16,N=1024,device_name=AMD_Instinct_MI300X.json", tile(64, 128, 128, 2))], &[]),
        (
            "TUN019",
            vec![("E=16,N=1024,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8.json", tile(64, 128, 128, 3))],
            &[1],
        ),
        (
            "TUN019",
            vec![("E=16,N=1024,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8.json", tile(64, 64, 128, 3))],
            &[],
        ),
        (
            "TUN019",
            vec![("gfx942-GEMM-A16W16.json", tile(128, 256, 128, 2).replace("\"1\"", "\"any\""))],
            &[1],
        ),
        ("TUN019", vec![("gfx942-GEMM-A8W8.json", tile(128, 256, 128, 2).replace("\"1\"", "\"any\""))], &[]),
        // 4 bits of both: 2 x 128 x 256 x 256 / 2 is 32 KiB; 16 and 8 bits: 3 x 16 KiB + 32 KiB.
        (
            "TUN019",
            vec![("gfx942-GEMM-AFP4WFP4.json", tile(128, 128, 256, 2).replace("\"1\"", "\"any\""))],
            &[],
        ),
        (
            "TUN019",
            vec![("gfx942-GEMM-A16WFP4.json", tile(128, 256, 128, 2).replace("\"1\"", "\"any\""))],
            &[],
        ),
        (
            "TUN019",
            vec![("gfx942-MOE-INT8_W8A16.json", tile(128, 256, 256, 2).replace("\"1\"", "\"any\""))],
            &[1],
        ),
        // A GPU of another maker or target does not open the file.
        ("TUN019", vec![("E=16,N=1024,device_name=NVIDIA_H200.json", tile(64, 128, 128, 3))], &[]),
        ("TUN019", vec![("E=16,N=1024,device_name=AMD_Instinct_MI350X.json", tile(256, 256, 128, 3))], &[]),
        ("TUN008", vec![("E=16,N=1024,device_name=AMD_Instinct_MI350X.json", tile(64, 64, 64, 2))], &[0]),
        ("TUN008", vec![("E=16,N=1024,device_name=AMD_Instinct_MI300X_VF.json", tile(64, 64, 64, 2))], &[]),
        ("TUN020", vec![("a.csv", HEAD.to_owned())], &[1]),
        ("TUN020", vec![("a_tuned_gemm.csv", AITER.to_owned())], &[1]),
        ("TUN020", vec![("a.csv", results(&row(8, "A", "1")))], &[]),
        ("TUN021", vec![("rb.csv", rocblas(102.2, 55.1))], &[2]),
        ("TUN021", vec![("rb.csv", rocblas(55.1, 55.0))], &[]),
        ("TUN022", vec![("k.json", cache("\"RuntimeFailedConfig\"", 2))], &[3]),
        ("TUN022", vec![("k.json", cache("1.5", 1))], &[3]),
        ("TUN022", vec![("k.json", cache("1.5", 2))], &[]),
    ];
    let catalogue: BTreeSet<String> = ["7".to_owned()].into();
    for (rule, files, expected) in table {
        let catalogue = (rule == "TUN014").then_some(&catalogue);
        let findings = check(&files, Some(&machine()), catalogue);
        assert_eq!(lines(&findings, rule), expected, "{rule} on {files:?}: {findings:#?}");
    }
}

#[test]
fn every_rule_on_tunings_is_in_the_table() {
    let own = include_str!("tunings.rs");
    for rule in rockhound_rules::all().iter().filter(|rule| rule.tuning_check().is_some()) {
        assert!(own.contains(&format!("\"{}\",", rule.id)), "{} has no row", rule.id);
    }
}

#[test]
fn what_is_not_known_is_not_checked() {
    let text = format!("{HEAD}GemmTunableOp_Half_TN,tn_8_8_8,A,1\n");
    let files = [tunedb::read("a.csv", text.as_bytes()).unwrap()];
    let (_, not_checked) = check_tunings(&TuningEvidence { files: &files, machine: None, catalogue: None });
    let ids: Vec<&str> = not_checked.iter().map(|it| it.rule).collect();
    assert_eq!(ids, ["TUN008", "TUN014"]);
}

#[test]
fn counts_of_the_notes() {
    let Some(folder) = testkit::shared("tuning") else { return };
    let all = |names: &[&str], rule: &str, machine: Option<&TuneMachine>| -> Vec<Finding> {
        let bytes: Vec<Vec<u8>> =
            names.iter().map(|name| std::fs::read(folder.join(name)).expect(name)).collect();
        let files: Vec<_> =
            names.iter().zip(&bytes).map(|(name, bytes)| tunedb::read(name, bytes).expect(name)).collect();
        let (found, _) = check_tunings(&TuningEvidence { files: &files, machine, catalogue: None });
        found.into_iter().filter(|it| it.rule == rule).collect()
    };
    let tables = testkit::files(&folder.join("aiter/tuned"));
    let names: Vec<String> = tables.keys().map(|name| format!("aiter/tuned/{name}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // With the full key, no key is a duplicate, in a file or between files of a family.
    assert!(all(&names, "TUN002", None).is_empty());
    let contradictions = all(&names, "TUN003", None);
    assert_eq!(contradictions.len(), 50);
    assert!(
        contradictions.iter().all(|it| it.places[0].source.as_ref().unwrap().file.contains("qwen3_5_397b"))
    );
    let zeros: Vec<usize> = all(&names, "TUN005", None).iter().map(|it| it.places.len()).collect();
    assert_eq!(zeros, [8, 114]);
    let shifted = all(&names, "TUN007", None);
    assert_eq!(shifted.iter().filter(|it| it.severity == Severity::Severe).count(), 8);
    let other = all(&["aiter/tuned/tuned_fmoe.csv"], "TUN008", Some(&machine()));
    assert_eq!(other[0].severity, Severity::Severe);
    testkit::golden("TUN008 of tuned_fmoe.csv", &other[0].message);

    for (name, rule) in [("missing-validator", "TUN001"), ("extra-validator", "TUN001"), ("crlf", "TUN006")] {
        let found = all(&[&format!("tunableop/made-{name}.csv")], rule, None);
        testkit::golden(&format!("{rule} of {name}"), &found[0].message);
    }
    let duplicates = all(&["tunableop/made-duplicates.csv"], "TUN002", None);
    let severities: Vec<Severity> = duplicates.iter().map(|it| it.severity).collect();
    assert_eq!(severities, [Severity::Severe, Severity::Warning, Severity::Info], "{duplicates:#?}");
    testkit::golden("TUN002 of duplicates", &duplicates[0].message);
    assert_eq!(all(&["hipblaslt/made-tuning-conflicts.txt"], "TUN002", None).len(), 1);
    assert_eq!(all(&["hipblaslt/made-tuning-conflicts.txt"], "TUN015", None)[0].places.len(), 3);

    let user = "miopen/made-gfx942130.HIP.3_2_0_36bb7fd4a-dirty.ufdb.txt";
    let found = all(&["miopen/gfx942130.HIP.fdb.sample.txt", user], "TUN012", None);
    let lines_of = |part: &str| -> Vec<u32> {
        let of = found.iter().filter(|it| it.message.contains(part));
        of.map(|it| it.places[0].source.as_ref().unwrap().line).filter(|line| *line < 25).collect()
    };
    assert_eq!(lines_of(" lacks "), [2, 6, 10, 14, 18, 22]);
    let winners = lines_of("the winner is");
    for line in [1, 5, 9, 13, 17, 21] {
        assert!(winners.contains(&line), "{winners:?}");
    }
    let perf =
        ["miopen/made-gfx942130.sample.db.txt", "miopen/made-gfx942130.HIP.3_2_0_36bb7fd4a-dirty.udb.txt"];
    let found = all(&perf, "TUN012", None);
    let lines_of = |part: &str| -> Vec<u32> {
        let of = found.iter().filter(|it| it.message.contains(part));
        of.map(|it| it.places[0].source.as_ref().unwrap().line).collect()
    };
    assert_eq!(lines_of(" lacks "), [1, 6, 11, 16]);
    assert_eq!(lines_of("other parameters"), [3, 8, 13, 18]);
}

/// What a reader has to be told of each kind, in words that do not depend on the order of sentences.
#[test]
fn findings_say_what_to_copy_and_how_much_is_there() {
    let log =
        "Config file not found at /s/E=384,N=256,device_name=AMD_Instinct_MI350X_VF,dtype=int4_w4a16.json\n";
    let name = "configs/triton_3_6_0/E=384,N=256,device_name=AMD_Instinct_MI350X,dtype=int4_w4a16.json";
    let entry = "{\"1\": {\"BLOCK_SIZE_M\": 16}, \"8192\": {\"BLOCK_SIZE_M\": 16}}";
    let found = check(&[("server.log", log.to_owned()), (name, entry.to_owned())], None, None);
    let copy = found.iter().find(|it| it.rule == "TUN018").unwrap();
    assert!(
        copy.advice.starts_with("cp ")
            && copy.advice.contains("device_name=AMD_Instinct_MI350X_VF,dtype=int4_w4a16.json"),
        "{copy:?}"
    );
    let mut on_vf = machine();
    on_vf.versions.insert("device_name".to_owned(), "AMD Instinct MI350X VF".to_owned());
    for (versions, severity) in [(on_vf.versions, Severity::Warning), (machine().versions, Severity::Info)] {
        let mi350x = TuneMachine {
            model: Some("mi350x".to_owned()),
            target: Some("gfx950".to_owned()),
            cu_count: Some(256),
            versions,
        };
        let found = check(&[(name, entry.to_owned())], Some(&mi350x), None);
        let named: Vec<&Finding> = found.iter().filter(|it| it.rule == "TUN018").collect();
        assert_eq!(named.iter().map(|it| it.severity).collect::<Vec<_>>(), [severity], "{found:?}");
        assert!(
            named[0].message.contains("MI350X_VF") && named[0].advice.contains("cp configs/triton_3_6_0/"),
            "{named:?}"
        );
    }

    let tile =
        "{\"64\": {\"BLOCK_SIZE_M\": 64, \"BLOCK_SIZE_N\": 128, \"BLOCK_SIZE_K\": 128, \"num_stages\": 3}}";
    for (name, target, severity, bytes) in [
        ("E=16,N=1024,device_name=AMD_Instinct_MI300X.json", "gfx942", Some(Severity::Severe), "98,304 B"),
        ("E=16,N=1024,device_name=AMD_Instinct_MI300X.json", "gfx950", None, ""),
        (
            "E=16,N=1024,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8.json",
            "gfx942",
            Some(Severity::Warning),
            "73,728 B",
        ),
    ] {
        let gpu = TuneMachine { target: Some(target.to_owned()), ..TuneMachine::default() };
        let found = check(&[(name, tile.to_owned())], Some(&gpu), None);
        let need = found.iter().find(|it| it.rule == "TUN019");
        assert_eq!(need.map(|it| it.severity), severity, "{name} on {target}: {need:?}");
        assert!(
            need.is_none_or(|it| it.message.contains(bytes) && it.advice.contains("`num_stages` to 2")),
            "{need:?}"
        );
        // A name without a type leaves 8 bits possible.
        let narrow = need.is_some_and(|it| it.evidence.iter().any(|it| it.value.contains("73,728 B with")));
        assert_eq!(narrow, need.is_some_and(|it| !it.message.contains("73,728")), "{need:?}");
    }
}
