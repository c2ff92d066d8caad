//! Decisions of each loader by its documented rule, as a table: file, problem, line that is taken and how.

use super::*;

const VERSIONS: &str = "Validator,PT_VERSION,2.9.1\nValidator,GCN_ARCH_NAME,gfx950:sramecc+:xnack-\n";
const AITER: &str = "gfx,cu_num,M,N,K,libtype,kernelId,splitK,us,kernelName,tflops,bw,errRatio\n\
    gfx942,304,100,256,512,ck,1,0,9.0,a,0,0,0\n\
    gfx942,304,112,256,512,ck,2,0,9.0,b,0,0,0\n\
    gfx942,304,128,256,512,ck,3,0,9.0,c,0,0,0\n\
    gfx942,304,512,256,512,ck,4,0,9.0,d,0,0,0\n\
    gfx942,80,7,256,512,ck,5,0,9.0,e,0,0,0\n";
const MOE: &str = "cu_num,token,model_dim,inter_dim,expert,topk,act_type,dtype,q_dtype_a,q_dtype_w,q_type,use_g1u1,doweight_stage1,block_m,ksplit,us1,kernelName1,err1,us2,kernelName2,err2,us,run_1stage,tflops,bw,_tag\n\
    80,8,1,1,8,2,a,d,q,w,t,1,0,32,0,1,k1,0,1,k2,0,5.0,0,1,1,\n\
    80,16,1,1,8,2,a,d,q,w,t,1,0,32,0,1,k1,0,1,k2,0,5.0,0,1,1,flydsl_fallback\n\
    80,16,1,1,8,2,a,d,q,w,t,1,0,32,0,1,k1,0,1,k2,0,6.0,0,1,1,\n";
const LADDER: &str =
    "{\"1\": {\"BLOCK_SIZE_M\": 16},\n\"8\": {\"BLOCK_SIZE_M\": 32},\n\"64\": {\"BLOCK_SIZE_M\": 64}}";
const STEPS: &str = "{\"M_LEQ_16\": {\"BLOCK_SIZE_M\": 16},\n\"M_LEQ_64\": {\"BLOCK_SIZE_M\": 32},\n\"any\": {\"BLOCK_SIZE_M\": 64}}";
const ENDS: &str = "{\"M_LEQ_16\": {\"BLOCK_SIZE_M\": 16},\n\"M_LEQ_24\": {\"BLOCK_SIZE_M\": 24},\n\"M_GEQ_512\": {\"BLOCK_SIZE_M\": 32},\n\"M_GEQ_4096\": {\"BLOCK_SIZE_M\": 64}}";
const CLASSES: &str = "{\"small_M\": {\"BLOCK_SIZE_M\": 16},\n\"medium_M\": {\"BLOCK_SIZE_M\": 32},\n\"large_M\": {\"BLOCK_SIZE_M\": 64}}";
const NAMED: &str =
    "{\"fwd\": {\"default\": {\"BLOCK_M\": 16},\n\"pe\": {\"BLOCK_M\": 32}}, \"other\": {\"BLOCK_M\": 64}}";
const LOGIC: &str = "- {MinimumRequiredVersion: 4.33.0}\n- aldebaran\n- gfx90a\n- [Device 0050]\n- DataType: 4\n  TransposeA: 1\n- - DepthU: 16\n    SolutionIndex: 0\n- [2, 3, 0, 1]\n- - - [77, 4096, 16, 40, 77, 77, 40, 40]\n    - [0, 9.5]\n  - - [128, 64, 1, 32]\n    - [0, 0.0]\n- null\n- null\n- DeviceEfficiency\n- Equality\n";
const TUNING: &str = "Git Version: 7d9f\n    transA,transB,batch_count,m,n,k,lda,ldb,ldc,ldd,a_type,b_type,c_type,compute_type,us,solution_index,gcnArchName,CUs\n    T,N,1,5,6,7,7,7,5,5,f32_r,f32_r,f32_r,f32_r,29.3,1,gfx942,304\n    T,N,1,5,6,7,8,8,5,5,f32_r,f32_r,f32_r,f32_r,19.3,2,gfx942,304\n";
const FIND: &str = "16-13-13-1x1-5-13-13-16-0x0-1x1-1x1-0-NCHW-FP16-B=A:0.05,1,miopenConvolutionBwdDataAlgoGEMM;B:0.04,0,miopenConvolutionBwdDataAlgoDirect\n\
    16-13-13-1x1-6-13-13-16-0x0-1x1-1x1-0-NCHW-FP16-B=A:0,1,miopenConvolutionBwdDataAlgoGEMM;B:0.04,0,miopenConvolutionBwdDataAlgoDirect\n\
    16-13-13-1x1-5-13-13-16-0x0-1x1-1x1-0-NCHW-FP16-B=C:0.01,1,miopenConvolutionBwdDataAlgoGEMM\n";
const CACHE: &str = "{\"key\": [\"8\"], \"configs_timings\": [[{\"kwargs\": {\"B\": 1}}, [0.2871, 0.2864, 0.29]],\n[{\"kwargs\": {\"B\": 2}}, [Infinity, Infinity, Infinity]],\n[{\"kwargs\": {\"B\": 3}}, [0.2871, 0.2859, 0.3]]]}";

const TWICE: &str = "gfx,cu_num,M,N,K,libtype,kernelId,splitK,us,kernelName,tflops,bw,errRatio\n\
    gfx942,304,16,256,512,ck,1,0,9.0,a,0,0,0\n\
    gfx942,304,16,256,512,ck,2,0,7.0,b,0,0,0\n";
const SCHEMA: &str = "Git Version: 7d9f\n    transA,transB,batch_count,m,n,k,lda,ldb,ldc,ldd,a_type,b_type,c_type,compute_type,us,solution_index,gcnArchName,CUs,schema_version,kernel_name\n    T,N,1,5,6,7,7,7,5,5,f32_r,f32_r,f32_r,f32_r,29.3,1,gfx942,304,1,Cijk_a\n    T,N,1,5,6,7,8,8,5,5,f32_r,f32_r,f32_r,f32_r,19.3,2,gfx942,304,1,Cijk_b\n";
const PERF: &str = "16-13-13-1x1-5-13-13-16-0x0-1x1-1x1-0-NCHW-FP16-B=A:1,2;B:7\n\
    16-13-13-1x1-6-13-13-16-0x0-1x1-1x1-0-NCHW-FP16-B=A:3,4\n";

fn gemm(m: u64, n: u64, k: u64) -> Problem {
    Problem { mnk: Some([m, n, k]), ..Problem::default() }
}

fn tokens(tokens: u64) -> Problem {
    Problem { tokens: Some(tokens), ..Problem::default() }
}

fn key(key: &str) -> Problem {
    Problem { key: Some(key.to_owned()), ..Problem::default() }
}

fn on(target: &str, units: u32) -> Option<TuneMachine> {
    Some(TuneMachine { target: Some(target.to_owned()), cu_count: Some(units), ..TuneMachine::default() })
}

fn expects(name: &str, value: &str) -> Option<TuneMachine> {
    let versions = [(name.to_owned(), value.to_owned())].into();
    Some(TuneMachine { versions, ..TuneMachine::default() })
}

/// Name and text of a file, the problem, the machine, lines that are taken, and how.
type Case<'a> = (&'a str, &'a str, Problem, Option<TuneMachine>, &'static [u32], &'static str);

#[test]
fn decisions_by_each_loaders_rule() {
    let tunable = format!(
        "{VERSIONS}GemmTunableOp_Half_TN,tn_8_8_8,Gemm_Rocblas_1,0.5\nGemmTunableOp_Half_TN,tn_8_8_8,Gemm_Rocblas_2,0.1\nGemmTunableOp_Half_NN,nn_8_8_8,Default,0\n"
    );
    let crlf = tunable.replace('\n', "\r\n");
    let grid = LOGIC.replace("- Equality", "- GridBased");
    let prediction = LOGIC.replace("- Equality", "- Prediction");
    let (sizes, end) = (LOGIC.find("- - - [77").unwrap(), LOGIC.find("- null").unwrap());
    let free = format!("{}- null\n{}", &LOGIC[..sizes], &LOGIC[end..]).replace("- Equality", "- FreeSize");
    let moe = "E=8,N=4,device_name=X.json";
    let dense = "N=576,K=7168,device_name=X,dtype=fp8_w8a8,block_shape=[128,128].json";
    let header = AITER.lines().next().unwrap();
    let tall = format!(
        "{header}\ngfx942,304,8192,25600,512,ck,1,0,9.0,a,0,0,0\ngfx942,304,16384,4096,512,ck,2,0,9.0,b,0,0,0\n"
    );
    let many = MOE.lines().take(2).map(|line| line.replace("80,8,", "80,32768,") + "\n").collect::<String>();
    let with_layout = |problem: Problem, layout: &str| Problem { layout: Some(layout.to_owned()), ..problem };
    let with_leading = |problem: Problem, leading| Problem { leading: Some(leading), ..problem };
    let rows: Vec<Case<'_>> = vec![
        // TunableOp: first row of the key, whatever the times; a whole file is rejected.
        ("t.csv", &tunable, with_layout(gemm(8, 8, 8), "TN"), None, &[3], "exact"),
        ("t.csv", &tunable, gemm(8, 8, 8), None, &[3, 5], "exact"),
        ("t.csv", &tunable, gemm(8, 8, 9), None, &[], "default kernel"),
        ("t.csv", &tunable, gemm(8, 8, 8), on("gfx942", 304), &[], "rejects it on gfx942"),
        ("t.csv", &tunable, gemm(8, 8, 8), expects("PT_VERSION", "2.9.1"), &[3, 5], "exact"),
        ("t.csv", &tunable, gemm(8, 8, 8), expects("PT_VERSION", "2.8.0"), &[], "not `2.8.0`"),
        ("t.csv", &tunable, gemm(8, 8, 8), expects("ROCBLAS_VERSION", "5"), &[], "has no `ROCBLAS_VERSION`"),
        ("t.csv", &crlf, gemm(8, 8, 8), None, &[], "CR LF"),
        // AITER: exact, finely rounded, coarsely rounded; target and compute units are exact.
        ("a_tuned_gemm.csv", AITER, gemm(100, 256, 512), on("gfx942", 304), &[2], "exact"),
        ("a_tuned_gemm.csv", AITER, gemm(97, 256, 512), on("gfx942", 304), &[3], "M rounded up to 112"),
        ("a_tuned_gemm.csv", AITER, gemm(113, 256, 512), on("gfx942", 304), &[4], "M rounded up to 128"),
        ("a_tuned_gemm.csv", AITER, gemm(300, 256, 512), on("gfx942", 304), &[5], "M rounded up to 512"),
        ("a_tuned_gemm.csv", AITER, gemm(7, 256, 512), on("gfx942", 304), &[], "default path"),
        ("a_tuned_gemm.csv", AITER, gemm(100, 256, 512), on("gfx950", 256), &[], "no row is for this GPU"),
        // Beyond 8192 rows of a wide result that row, of a narrow one the next power of two.
        ("a_tuned_gemm.csv", &tall, gemm(96_322, 25_600, 512), None, &[2], "M rounded down to 8192"),
        ("a_tuned_gemm.csv", &tall, gemm(9_000, 4_096, 512), None, &[3], "M rounded up to 16384"),
        ("a_tuned_gemm.csv", &tall, gemm(9_000, 8_192, 512), None, &[], "default path"),
        // AITER: of rows with one key the fastest, and the loader stops.
        ("a_tuned_gemm.csv", TWICE, gemm(16, 256, 512), None, &[3], "1 keys have several rows"),
        // AITER's mixtures of experts: tokens rounded up to a power of two, fallback rows set aside.
        ("tuned_fmoe.csv", MOE, tokens(5), None, &[2], "tokens rounded up to 8"),
        ("tuned_fmoe.csv", MOE, tokens(16), None, &[4], "exact"),
        ("tuned_fmoe.csv", MOE, tokens(17), None, &[], "default path"),
        // From 32768 tokens on two rows serve all, and the larger one falls back to the smaller.
        ("tuned_fmoe.csv", &many, tokens(40_000), None, &[2], "tokens rounded down to 32768"),
        ("tuned_fmoe.csv", &many, tokens(200_000), None, &[2], "tokens rounded down to 32768"),
        ("tuned_fmoe.csv", &many, tokens(20_000), None, &[2], "tokens rounded up to 32768"),
        // vLLM and SGLang: nearest, the first of two that are equally near.
        (moe, LADDER, tokens(1), None, &[1], "exact"),
        (moe, LADDER, tokens(5), None, &[2], "nearest of the entries: 8 tokens"),
        (moe, LADDER, tokens(36), None, &[2], "nearest of the entries: 8 tokens"),
        (moe, LADDER, tokens(100_000), None, &[3], "nearest of the entries: 64 tokens"),
        // Products with scales by block: the nearest M, in the file of N and K.
        (dense, LADDER, gemm(5, 576, 7168), None, &[2], "nearest of the entries: 8 tokens"),
        (dense, LADDER, gemm(5, 576, 512), None, &[], "is for N 576 and K 7168"),
        // AITER's Triton files: the first that is large enough.
        ("gfx942-GEMM-A.json", STEPS, gemm(16, 1, 1), None, &[1], "entry `M_LEQ_16`"),
        ("gfx942-GEMM-A.json", STEPS, gemm(17, 1, 1), None, &[2], "entry `M_LEQ_64`"),
        ("gfx942-GEMM-A.json", STEPS, gemm(65, 1, 1), None, &[3], "entry `any`"),
        ("gfx942-GEMM-A.json", ENDS, gemm(1, 1, 1), None, &[1], "entry `M_LEQ_16`"),
        ("gfx942-GEMM-A.json", ENDS, gemm(5000, 1, 1), None, &[4], "entry `M_GEQ_4096`"),
        ("gfx942-GEMM-A.json", ENDS, gemm(4096, 1, 1), None, &[4], "entry `M_GEQ_4096`"),
        ("gfx942-GEMM-A.json", ENDS, gemm(1000, 1, 1), None, &[3], "entry `M_GEQ_512`"),
        ("gfx942-GEMM-A.json", ENDS, gemm(100, 1, 1), None, &[], "no `any`"),
        // Only a kernel with its own bounds asks for other bounds.
        ("gfx942-GEMM-A.json", ENDS, gemm(20, 1, 1), None, &[], "no `any`"),
        // The path is half of the key.
        ("gfx942-GEMM-A-N=8-K=16.json", STEPS, gemm(1, 8, 16), None, &[1], "entry `M_LEQ_16`"),
        ("gfx942-GEMM-A-N=8-K=16.json", STEPS, gemm(1, 8, 32), None, &[], "is for N=8 and K=16"),
        ("gfx942-GEMM-A.json", STEPS, gemm(1, 1, 1), on("gfx950", 256), &[], "is for gfx942"),
        ("gfx942-GEMM-A.json", STEPS, gemm(1, 1, 1), on("gfx942", 304), &[1], "entry `M_LEQ_16`"),
        // A mixture of experts: by 256 and 1024 rows.
        ("gfx942-MOE-INT8.json", CLASSES, tokens(255), None, &[1], "below 256 rows"),
        ("gfx942-MOE-INT8.json", CLASSES, tokens(256), None, &[2], "below 1024 rows"),
        ("gfx942-MOE-INT8.json", CLASSES, tokens(1024), None, &[3], "1024 rows or more"),
        // Elsewhere the code names the entry.
        ("gfx942-MHA-DEFAULT.json", NAMED, key("fwd.pe"), None, &[2], "by name"),
        ("gfx942-MHA-DEFAULT.json", NAMED, key("bwd"), None, &[], "no entry of that name"),
        ("gfx942-MHA-DEFAULT.json", NAMED, gemm(1, 1, 1), None, &[], "--key"),
        // TensileLite: the exact size; leading dimensions count where the entry has them.
        ("l.yaml", LOGIC, with_leading(gemm(77, 4096, 40), [40, 40, 77]), None, &[10], "exact"),
        ("l.yaml", LOGIC, with_leading(gemm(77, 4096, 40), [64, 64, 128]), None, &[], "grid-based"),
        ("l.yaml", LOGIC, with_leading(gemm(128, 64, 32), [64, 64, 128]), None, &[12], "exact"),
        // hipBLASLt's file without a schema version: leading dimensions are not compared.
        ("tuning.txt", TUNING, with_leading(gemm(5, 6, 7), [8, 8, 5]), None, &[3, 4], "one of them is taken"),
        ("tuning.txt", TUNING, gemm(5, 6, 8), None, &[], "heuristic"),
        (
            "tuning.txt",
            TUNING,
            gemm(5, 6, 7),
            expects("Git Version", "abcd"),
            &[],
            "rows without a name are not used",
        ),
        // With a schema version the whole problem counts, and another build is not a reason.
        ("tuning.txt", SCHEMA, with_leading(gemm(5, 6, 7), [8, 8, 5]), None, &[4], "exact"),
        ("tuning.txt", SCHEMA, with_leading(gemm(5, 6, 7), [9, 9, 5]), None, &[], "heuristic"),
        ("tuning.txt", SCHEMA, gemm(5, 6, 7), expects("Git Version", "abcd"), &[3, 4], "exact"),
        // TensileLite's other kinds of libraries.
        ("l.yaml", &grid, gemm(77, 4096, 40), None, &[10], "exact"),
        ("l.yaml", &grid, gemm(78, 4096, 40), None, &[10], "nearest grid point"),
        ("l.yaml", &grid, gemm(120, 60, 40), None, &[12], "nearest grid point"),
        ("l.yaml", &free, gemm(77, 4096, 40), None, &[], "serve every size"),
        ("l.yaml", &prediction, gemm(77, 4096, 40), None, &[], "`Prediction` is not documented"),
        // MIOpen: the first record of a key, in it the smallest time, and 0 is small.
        ("gfx942130.HIP.fdb.txt", FIND, key("1x1-5-"), None, &[1], "smallest time of the record"),
        ("gfx942130.HIP.fdb.txt", FIND, key("1x1-6-"), None, &[2], "nobody measured it"),
        ("gfx942130.HIP.fdb.txt", FIND, key("1x1-7-"), None, &[], "measures all solvers"),
        ("gfx942130.HIP.fdb.txt", FIND, key("1x1-5-"), on("gfx90a", 104), &[], "does not open it on gfx90a"),
        ("gfx942130.HIP.fdb.txt", FIND, key("1x1-5-"), on("gfx942", 38), &[1], "smallest time of the record"),
        // PerfDb: every solver of the record gets its parameters.
        ("gfx942130.db.txt", PERF, key("1x1-5-"), None, &[1, 1], "parameters of the solver"),
        ("gfx942130.db.txt", PERF, key("1x1-6-"), None, &[2], "parameters of the solver"),
        ("gfx942130.db.txt", PERF, key("1x1-8-"), None, &[], "default parameters"),
        // No loader looks anything up in a list.
        ("shapes.txt", "8 16 32\n", gemm(8, 16, 32), None, &[], "no library looks problems up"),
        // Triton: median, then the 20th percentile.
        ("k.autotune.json", CACHE, Problem::default(), None, &[3], "smallest timing"),
        ("k.autotune.json", CACHE, key("9"), None, &[], "is for the key (8)"),
    ];
    for (name, text, problem, machine, lines, how) in rows {
        let file = tunedb::read(name, text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let choice = choose(&file, &problem, machine.as_ref());
        let found: Vec<u32> = choice.taken.iter().map(|it| it.row.line).collect();
        assert_eq!(found, lines, "{name} {problem:?}: {choice:?}");
        let words: Vec<&str> =
            choice.taken.iter().map(|it| it.how.as_str()).chain(choice.note.as_deref()).collect();
        assert!(words.iter().any(|it| it.contains(how)), "{name} {problem:?}: {words:?} without `{how}`");
        assert!(!choice.rule.is_empty() || choice.taken.is_empty());
    }
}

#[test]
fn the_record_of_miopen_gives_its_fastest_solver() {
    let file = tunedb::read("gfx942130.HIP.fdb.txt", FIND.as_bytes()).unwrap();
    let choice = choose(&file, &key("1x1-5-"), None);
    assert_eq!(choice.taken[0].row.candidate.as_deref(), Ok("B"));
    let file = tunedb::read("gfx942130.HIP.fdb.txt", FIND.as_bytes()).unwrap();
    let choice = choose(&file, &key("1x1-6-"), None);
    assert_eq!(choice.taken[0].row.candidate.as_deref(), Ok("A"));
}

#[test]
fn the_file_of_sizes_stands_before_the_default() {
    let names = ["c/gfx942-GEMM-A.json", "c/gfx942-GEMM-A-N=8-K=16.json", "d/gfx942-GEMM-A.json"];
    let files = names.map(|name| tunedb::read(name, STEPS.as_bytes()).unwrap());
    for (problem, taken) in [(gemm(1, 8, 16), [0, 1, 1]), (gemm(1, 8, 32), [1, 0, 1])] {
        let report = query(&files, &problem, None, 0);
        let found: Vec<usize> = report.tables.iter().map(|it| it.rows.len()).collect();
        assert_eq!(found, taken, "{problem:?}");
    }
    let report = query(&files, &gemm(1, 8, 16), None, 0);
    assert!(report.tables[0].notes[0].contains("`gfx942-GEMM-A-N=8-K=16.json`"), "{report:?}");
}

#[test]
fn records_of_users_stand_before_those_of_the_system() {
    let user = FIND.lines().next().unwrap().replace("A:0.05", "C:0.05") + "\n";
    for (names, expected) in [
        (["gfx942130.HIP.fdb.txt", "gfx942130.HIP.3_5_0.ufdb.txt"], [1, 1]),
        (["gfx942130.HIP.fdb.txt", "gfx942131.HIP.fdb.txt"], [2, 1]),
    ] {
        let files = [
            tunedb::read(names[0], FIND.as_bytes()).unwrap(),
            tunedb::read(names[1], user.as_bytes()).unwrap(),
        ];
        // The user has a record for one of the two keys.
        let report = query(&files, &key("13-13-16"), None, 0);
        let found: Vec<usize> = report.tables.iter().map(|it| it.rows.len()).collect();
        assert_eq!(found, expected, "{names:?}");
    }
    // Of PerfDb only the solvers that the user's record has are hidden.
    let user = "16-13-13-1x1-5-13-13-16-0x0-1x1-1x1-0-NCHW-FP16-B=A:5,5\n";
    let files = [
        tunedb::read("gfx942130.db.txt", PERF.as_bytes()).unwrap(),
        tunedb::read("gfx942130.HIP.3_5_0.udb.txt", user.as_bytes()).unwrap(),
    ];
    let report = query(&files, &key("1x1-5-"), None, 0);
    let found: Vec<usize> = report.tables.iter().map(|it| it.rows.len()).collect();
    assert_eq!(found, [1, 1]);
}
